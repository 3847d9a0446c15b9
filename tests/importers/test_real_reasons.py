"""A file that cannot be read is refused for what is really wrong with it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app

MERGE = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> branch\n"


def refused(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    outcome = CliRunner().invoke(app, ["describe", str(path)])
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    return outcome.stderr


@pytest.mark.parametrize("name", ["scores.yaml", "scores.yml"])
def test_yaml_is_called_yaml(tmp_path: Path, name: str):
    said = refused(tmp_path, name, "dqn:\n  pong: 18.0\n  venture: 3\n")
    assert "is YAML, which cannot be read. Save it as CSV" in said


@pytest.mark.parametrize(
    "text",
    [
        '{"pong": {"dqn": 1.5, "ppo": 2}, "venture": {"dqn": 2, "ppo": 3}}',
        '{\n "pong": {"dqn": 1.5, "ppo": 2},\n "venture": {"dqn": 2, "ppo": 3}\n}\n',
        '{"pong": [1, 2, 3], "venture": [4, 5, 6]}',
        '{"pong": 1.5, "venture": 2.5}\n',
        '{\n "agent": "dqn", "task": "pong",\n "score": 1.5, "n": 2\n}',
    ],
)
def test_a_valid_object_is_called_an_object(tmp_path: Path, text: str):
    said = refused(tmp_path, "scores.json", text)
    assert "is one JSON object with " in said
    assert "not a list of records" in said
    assert "not a whole JSON object" not in said


def test_one_record_on_one_line_is_read(tmp_path: Path):
    path = tmp_path / "scores.json"
    path.write_text('{"agent": "dqn", "task": "pong", "score": 1.5}')
    assert ex.read(path).measure().tolist() == [1.5]


def test_a_line_that_is_cut_off_is_still_named(tmp_path: Path):
    said = refused(tmp_path, "scores.jsonl", '{"agent": "a", "task": "t", "score": 1}\n{"agent": ')
    assert "line 2 is not a whole JSON object" in said


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", MERGE.format("agent,task,score", "agent,game,score") + "a,pong,1\n", 1),
        ("b.csv", "agent,task,score\n" + MERGE.format("a,pong,1", "a,pong,2"), 2),
        ("c.csv", "agent,pong\n" + MERGE.format("a,1", "a,2"), 2),
        ("d.json", '[{"agent": "a"},\n' + MERGE.format("{}", "{}") + "]", 2),
        ("e.json", "{\n" + MERGE.format('"a": 1', '"a": 2') + "}", 2),
        ("f.jsonl", '{"agent": "a", "task": "t", "score": 1}\n' + MERGE.format("{}", "{}"), 2),
        ("g.yaml", "dqn: 1\n" + MERGE.format("ppo: 1", "ppo: 2"), 2),
        ("h.md", "# Scores\n" + MERGE.format("| a | 1 |", "| a | 2 |"), 2),
        ("i.txt", "aliens 0\n" + MERGE.format("aliens 1", "aliens 2"), 2),
    ],
)
def test_the_marks_of_a_merge_are_named_in_any_file(
    tmp_path: Path, name: str, text: str, line: int
):
    said = refused(tmp_path, name, text)
    assert f"line {line}, is a mark of an unresolved git merge" in said


def test_the_marks_of_a_merge_are_named_in_a_folder(tmp_path: Path):
    (tmp_path / "a.csv").write_text(MERGE.format("agent,task,score", "agent,game,score"))
    with pytest.raises(ex.InputError, match="unresolved git merge"):
        ex.read(tmp_path)


def test_a_text_page_is_called_so(tmp_path: Path):
    said = refused(
        tmp_path, "benchmark.md", "# Scores\n\n| algo | env | mean |\n|--|--|--|\n|a|t|1|\n"
    )
    assert "is a text page (.md), which cannot be read. Save its table as CSV" in said


@pytest.mark.parametrize("value", ["fast", "1,5 s", "12.3 ± 4.5", "3/5"])
def test_text_in_a_measure_names_line_and_value(tmp_path: Path, value: str):
    said = refused(tmp_path, "s.csv", f'agent,task,score\na,pong,1\na,venture,"{value}"\n')
    assert f"line 3: The score of row 2 is '{value}', not a number" in said


@pytest.mark.parametrize(
    ("header", "row", "reason"),
    [
        ("agent,,pong", "a,3,1", "column 2 of 3 has no name (after 'agent')"),
        ("agent,task,score,", "a,pong,1,", "column 4 of 4 has no name (after 'score')"),
        ("agent, ,score", "a,pong,1", "column 2 of 3 has no name (after 'agent')"),
    ],
)
def test_a_column_without_a_name_is_named_by_its_place(
    tmp_path: Path, header: str, row: str, reason: str
):
    assert reason in refused(tmp_path, "s.csv", f"{header}\n{row}\n")

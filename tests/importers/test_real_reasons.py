"""A file that cannot be read is refused for what is really wrong with it."""

import warnings
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


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            '{"a": {"dqn": 1.5}, "b": {"dqn": 2}}',
            "Tasks: `--tasks-are rows`; agents: `--tasks-are col",
        ),
        ('{"a": [1, 2], "b": [4, 5]}', "`--tasks-are rows --path '{agent}'`; agents: `--tasks-are"),
        (
            '{"pong": [1, 2], "venture": [4, 5]}',
            "and no agent. Take it from the path: `--path '{agent}'",
        ),
        (
            '{"pong": 1.5, "venture": 2.5}\n',
            "and no agent. Take it from the path: `--path '{agent}'",
        ),
        ('{"a": {"n": "x", "pass@1": {"t": 2}}}', "`--measure pass@1 --tasks-are columns`"),
        ('{"a": {"n": "x", "acc": 0.5}}', "`--measure acc --tasks-are columns --path '{task}'`"),
        ('{"a": {"b": {"c": {"d": 1}}}}', "not a list of records. If names stand in levels"),
    ],
)
def test_an_object_is_refused_with_what_to_add(tmp_path: Path, text: str, what: str):
    said = refused(tmp_path, "scores.json", text)
    assert what in said
    assert "not a whole JSON object" not in said


def test_an_object_of_known_tasks_is_read_with_its_lists_as_runs(tmp_path: Path):
    text = '{"Alien": [368.7, 452.5, 437.2], "Pong": [14, null, 3]}'
    for agent in ("iris", "spr"):
        (tmp_path / f"{agent}.json").write_text(text)
    with pytest.warns(
        ex.ExaminerWarning, match="numbers of one task and agent in a JSON object are read as runs"
    ):
        results = ex.read(tmp_path, path="{agent}")
    assert results.agents == ("iris", "spr") and results.tasks == ("Alien", "Pong")
    assert results.measure().tolist() == [368.7, 452.5, 437.2, 14, 3] * 2
    assert results.column("run") == [0, 1, 2, 0, 2] * 2


@pytest.mark.parametrize("way", ["rows", "columns"])
def test_an_object_of_objects_is_a_wide_table_whose_rows_are_its_keys(tmp_path: Path, way: str):
    path = tmp_path / "scores.json"
    path.write_text('{"x": {"u": 1, "v": 2}, "y": {"u": 3}}')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        results = ex.read(path, tasks_are=way)
        (tmp_path / "scores.csv").write_text("name,u,v\nx,1,2\ny,3,\n")
        table = ex.read(tmp_path / "scores.csv", tasks_are=way)
    assert (results.agents, results.tasks) == (table.agents, table.tasks)
    assert results.measure().tolist() == table.measure().tolist()


def test_records_with_an_object_of_scores_are_read_by_its_name(tmp_path: Path):
    path = tmp_path / "results.json"
    path.write_text(
        '{"gpt": {"link": "x", "size": 8.0, "pass@1": {"humaneval": 81.7, "mbpp": null}},'
        ' "llama": {"link": "y", "size": 7.0, "pass@1": {"humaneval": 50, "mbpp": 40}}}'
    )
    results = ex.read(path, measure="pass@1", tasks_are="columns")
    assert results.agents == ("gpt", "llama") and results.tasks == ("humaneval", "mbpp")
    assert results.measure("pass@1").tolist() == [81.7, 50, 40]


def test_a_folder_of_one_record_each_is_one_table(tmp_path: Path):
    for name, score in (("a", "94.78"), ("b", "88.5")):
        record = f'{{\n "link": "x",\n "dataset": "cifar10",\n "clean_acc": "{score}"\n}}'
        (tmp_path / f"{name}.json").write_text(record)
    with pytest.raises(ex.InputError, match=r"no column for the agent.*`--path '\{agent\}'`"):
        ex.read(tmp_path)
    with pytest.raises(ex.InputError, match=r"No measure found.*`--measure clean_acc`"):
        ex.read(tmp_path, path="{agent}")
    results = ex.read(tmp_path, path="{agent}", measure="clean_acc")
    assert results.agents == ("a", "b") and results.tasks == ("cifar10",)
    assert results.measure("clean_acc").tolist() == [94.78, 88.5]


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
    said = refused(tmp_path, "benchmark.md", "# Scores\n\nDQN has a score of 3.\n")
    assert "is a text page (.md) without a table of numbers, which cannot be read" in said


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


@pytest.mark.parametrize(
    "text", ["1000 2.5\n900 3.5\n", "1000,2.5\n900,3.5\n", "1000\t2.5\n900\t1\n"]
)
def test_a_table_without_a_header_is_called_so(tmp_path: Path, text: str):
    said = refused(tmp_path, "0.txt", text)
    assert "There is no header: the first line holds only numbers ('1000 2.5')" in said
    assert "such as 'step,score'" in said and "--path '{agent}/{task}/{run}'" in said


def test_cells_with_a_spread_are_read_as_their_means_and_it_is_noted(tmp_path: Path):
    path = tmp_path / "printed.csv"
    path.write_text("game,A,B\nPong,18.5 ± 2.1,-3 +/- 1\nVenture,1e3±5,nan ± nan\n")
    with pytest.warns(
        ex.ExaminerWarning, match=r"Cells such as '18.5 ± 2.1' are read as their first"
    ):
        results = ex.read(path)
    assert results.measure().tolist() == [18.5, 1000, -3]
    assert results.column("stated_error") == [2.1, 5, 1]
    path.write_text("agent,game,score\nA,Pong,18.5 ± 2.1\nA,Venture,1e3±5\n")
    assert ex.read(path).column("stated_error") == [2.1, 5]


def test_shares_in_per_cent_are_numbers(tmp_path: Path):
    path = tmp_path / "board.csv"
    path.write_text("model,task,accuracy\na,t,81.7%\nb,t,50 %\n")
    with pytest.warns(
        ex.ExaminerWarning, match="Cells such as '81.7%' are read as their first number"
    ):
        assert ex.read(path).measure("accuracy").tolist() == [81.7, 50]


def test_an_archive_is_to_be_unpacked(tmp_path: Path):
    assert "is a zip archive. Unpack it (`unzip runs.zip`)" in refused(
        tmp_path, "runs.zip", "PK\3\4"
    )
    with pytest.raises(ex.InputError, match="is a zip archive"):
        ex.read(tmp_path)

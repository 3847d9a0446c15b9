"""Counts and groups are said with correct plurals, whatever a column is called."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.messages import counted, plural


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("task", "tasks"),
        ("family", "families"),
        ("difficulty", "difficulties"),
        ("play", "plays"),
        ("class", "classes"),
        ("box", "boxes"),
        ("match", "matches"),
        ("missing cell", "missing cells"),
        ("task_type", "values of task_type"),
    ],
)
def test_plurals_follow_the_rules_of_english(noun: str, expected: str) -> None:
    assert plural(noun) == expected
    assert counted(2, noun) == f"2 {expected}"
    assert counted(1, noun) == f"1 {noun}"


def test_a_total_by_families_is_over_families(tmp_path: Path) -> None:
    table = "agent,task,score\n" + "".join(f"{a},{t},{a == 'a':d}\n" for a in "ab" for t in "tuv")
    (tmp_path / "r.csv").write_text(table)
    (tmp_path / "t.csv").write_text("task,family\nt,x\nu,x\nv,y\n")
    words = ["scores", "r.csv", "--tasks", "t.csv", "--by", "family", "--average", "macro"]
    words = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    answer = CliRunner().invoke(app, words)
    assert "2 families" in answer.output and "familys" not in answer.output


@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_counts_of_py_irt_are_said_in_words(tmp_path: Path) -> None:
    line = {"subject_id": "a", "responses": {"q1": {"successes": 4, "trials": 5}, "q2": 1}}
    (tmp_path / "r.jsonl").write_text(json.dumps(line) + "\n")
    notes = " ".join(ex.read(tmp_path / "r.jsonl").notes)
    assert "correctes" not in notes
    assert "'successes'" in notes and "'correct'" in notes

"""py-irt's lines with counts, as Terminal-Bench publishes them: every trial becomes a row."""

from __future__ import annotations

from pathlib import Path

import pytest

import examiner as ex
from importers.evaluation_files import lines_of

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def written(folder: Path, **responses: object) -> Path:
    path = folder / "responses.jsonl"
    path.write_bytes(lines_of([{"subject_id": "a", "responses": responses}]))
    return path


def test_counts_become_runs_beside_plain_responses(tmp_path: Path):
    path = written(
        tmp_path, q1={"successes": 4, "trials": 5}, q2=1, q3={"successes": 0, "trials": 2}
    )
    results = ex.read(path)
    assert results.measures == ("correct",)
    assert results.column("task") == ["q1"] * 5 + ["q2"] + ["q3"] * 2
    assert results.column("trial") == [0, 1, 2, 3, 4, 0, 0, 1]
    assert results.measure().sum() == 5
    assert results.column("run") == results.column("trial"), "each attempt is a run of its own"


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"successes": 6, "trials": 5}, "6 successes of 5 trials"),
        ({"successes": 1.5, "trials": 5}, "whole number from 0 on belongs"),
        ({"successes": 1}, "line 1, has .* Give 0, 1 or null, or both `successes` and `trials`"),
        ({"successes": "many", "trials": 5}, "Give 0, 1 or null"),
    ],
)
def test_counts_that_are_none_are_refused(counts: object, message: str, tmp_path: Path):
    with pytest.raises(ex.InputError, match=message):
        ex.read(written(tmp_path, q1=counts))


def test_no_trials_are_not_observed(tmp_path: Path):
    path = written(tmp_path, q1={"successes": 1, "trials": 1}, q2={"successes": 0, "trials": 0})
    assert ex.read(path).counts()["missing_cells"] == 1


def test_a_subject_twice_is_still_refused(tmp_path: Path):
    line = {"subject_id": "a", "responses": {"q1": {"successes": 1, "trials": 2}}}
    (tmp_path / "x.jsonl").write_bytes(lines_of([line, line]))
    with pytest.raises(ex.InputError, match=r"Lines 1 and 2 of .* same subject to the same item"):
        ex.read(tmp_path / "x.jsonl")

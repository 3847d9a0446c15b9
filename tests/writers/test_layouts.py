"""Every layout: what was written reads back the same, and what cannot be written is said."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.results import in_order

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def scores(runs: int = 3) -> ex.Results:
    values = np.random.default_rng(0).normal(size=(4, 5, runs))
    return ex.Results.from_numpy(values, agents=["a", "é", "allow_pickle", "file"])


def responses() -> ex.Results:
    values = np.array([[1.0, 0.0, np.nan], [0.0, 1.0, 1.0]])
    return ex.Results.from_numpy(values, ["bert", 'quo"te'], ["q1", "q2", "ünï"], measure="correct")


def test_py_irt_round_trip_keeps_every_response(tmp_path: Path):
    path = ex.write(responses(), tmp_path / "x.jsonl", layout="py-irt")
    assert ex.read(path) == responses()


def test_rliable_round_trip_keeps_every_score_and_name(tmp_path: Path):
    path = ex.write(scores(), tmp_path / "x.npz", layout="rliable")
    again = ex.read(path)
    assert again.to_polars().equals(in_order(scores()).to_polars())


def test_rliable_files_hold_runs_by_tasks_and_no_pickles(tmp_path: Path):
    path = ex.write(scores(), tmp_path / "x.npz", layout="rliable")
    with np.load(path, allow_pickle=False) as arrays:
        assert sorted(arrays.files) == ["a", "allow_pickle", "file", "tasks", "é"]
        assert arrays["a"].shape == (3, 5)


def test_rliable_averages_trials_within_runs(tmp_path: Path):
    table = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1]}
    results = ex.Results.from_dict(table | {"score": [1.0, 3.0, 5.0, 5.0]})
    path = ex.write(results, tmp_path / "x.npz", layout="rliable")
    with np.load(path) as arrays:
        assert arrays["a"].tolist() == [[2.0], [5.0]]


def test_py_irt_needs_success_first(tmp_path: Path):
    with pytest.raises(
        ex.InputError, match=r"responses of 0 or 1, and the measure 'score' has .*Mark"
    ):
        ex.write(scores(1), tmp_path / "x.jsonl", layout="py-irt")
    assert not list(tmp_path.iterdir())


def test_py_irt_needs_one_trial_each(tmp_path: Path):
    table = {"agent": ["a"] * 2, "task": ["t"] * 2, "trial": [0, 1], "win": [0, 1]}
    with pytest.raises(ex.InputError, match=r"up to 2 trials of one\. Keep one trial each"):
        ex.write(ex.Results.from_dict(table), tmp_path / "x.jsonl", layout="py-irt")


def test_rliable_names_what_is_missing(tmp_path: Path):
    values = np.ones((2, 2, 2))
    values[1, 0, 1] = np.nan
    results = ex.Results.from_numpy(values, ["dqn", "ppo"], ["pong", "alien"])
    with pytest.raises(
        ex.InputError, match=r"up to 2 runs, and fewer of 'ppo on pong \(1\)'\. Keep"
    ):
        ex.write(results, tmp_path / "x.npz", layout="rliable")


@pytest.mark.parametrize(("agent", "layout"), [("tasks", "rliable"), ("a/b", "rliable")])
def test_agents_an_archive_cannot_name_are_refused(agent: str, layout: str, tmp_path: Path):
    results = ex.Results.from_numpy([[1.0]], [agent], ["t"])
    with pytest.raises(ex.InputError, match=r"cannot hold an array called '.*'\. Rename the agent"):
        ex.write(results, tmp_path / "x.npz", layout=layout)


@pytest.mark.parametrize(
    ("name", "layout", "message"),
    [
        ("x.csv", "py-irt", r"'py-irt' is written to '\.jsonl', '\.ndjson', not to"),
        ("x.jsonl", "rliable", r"'rliable' is written to '\.npz', not to"),
        ("x.npz", "tidy", r"Known endings: '\.csv'"),
        ("x.csv", "tall", r"Unknown layout 'tall'.*'py-irt', 'rliable', 'tidy', 'wide'"),
    ],
)
def test_a_wrong_ending_or_layout_is_refused(name: str, layout: str, message: str, tmp_path: Path):
    with pytest.raises(ex.InputError, match=message):
        ex.write(scores(), tmp_path / name, layout=layout)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz"])
def test_wide_round_trip_keeps_means_and_gaps(ending: str, tmp_path: Path):
    values = np.array([[1.5, np.nan], [2.5, 3.0]])
    results = ex.Results.from_numpy(values, ["a", "b"], ["s", "t"])
    again = ex.read(ex.write(results, tmp_path / f"x.{ending}", layout="wide"))
    assert again.counts()["missing_cells"] == 1
    assert again.measure().tolist() == [1.5, 2.5, 3.0]


def test_wide_tables_of_many_tasks_are_written_at_once(tmp_path: Path):
    results = ex.Results.from_numpy(np.ones((3, 20_000)))
    assert ex.write(results, tmp_path / "x.parquet", layout="wide").stat().st_size > 0


# ------------------------------------------------------------------ for spreadsheets

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "\t=1", "＝1+1")


@pytest.mark.parametrize("layout", ["tidy", "wide"])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_no_cell_for_a_spreadsheet_is_a_formula(layout: str, ending: str, tmp_path: Path):
    values = np.arange(36.0).reshape(6, 6) - 10
    results = ex.Results.from_numpy(values, agents=FORMULAS, tasks=FORMULAS)
    path = ex.write(results, tmp_path / f"x{ending}", layout, for_spreadsheets=True)
    separator = "," if ending == ".csv" else "\t"
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream, delimiter=separator))
    texts = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.]+", cell)]
    assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "＝"))]
    assert "'=cmd|' /C calc'!A0" in texts
    assert "-10.0" in rows[1] or "-10.0" in [row[-1] for row in rows]  # a number stays a number


def test_without_being_asked_names_are_written_as_they_are(tmp_path: Path):
    results = ex.Results.from_numpy([[1.0]], agents=["=1+1"], tasks=["-t"])
    assert ex.read(ex.write(results, tmp_path / "x.csv")).agents == ("=1+1",)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".ndjson", ".csv.gz"])
def test_a_full_disk_is_said_in_words_whatever_is_written(ending: str, tmp_path: Path):
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full here")
    path = tmp_path / f"x{ending}"
    path.symlink_to("/dev/full")
    with pytest.raises(ex.InputError, match=r"Cannot write .*free space"):
        ex.write(ex.Results.from_numpy(np.zeros((50, 2000))), path)

"""Tables of successes and trials: the same results as a row for each trial."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.importers import cells


def written(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_counts_give_the_responses_that_were_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    trials = rng.integers(0, 9, size=(5, 7))
    successes = rng.binomial(trials, 0.6)
    rows = [f"a{a},t{t},{successes[a, t]},{trials[a, t]}" for a in range(5) for t in range(7)]
    results = ex.read(written(tmp_path / "counts.csv", "agent,task,successes,trials", rows))
    made = ex.responses(results)
    np.testing.assert_array_equal(made.successes, successes)
    np.testing.assert_array_equal(made.trials, trials)
    assert results.measures == ("success",)
    assert "are read as counts: " in results.notes[0]


def test_counts_are_read_as_a_row_for_each_trial_is(tmp_path: Path) -> None:
    counted = ["x,t,2,3,easy", "x,u,0,1,hard", "y,t,1,2,easy"]
    single = ["x,t,1,easy", "x,t,1,easy", "x,t,0,easy", "x,u,0,hard", "y,t,1,easy", "y,t,0,easy"]
    one = ex.read(written(tmp_path / "c.csv", "agent,task,successes,trials,kind", counted))
    two = ex.read(written(tmp_path / "s.csv", "agent,task,success,kind", single))
    assert one.counts() == two.counts() and one.agents == two.agents and one.tasks == two.tasks
    np.testing.assert_array_equal(one.measure(), two.measure())
    assert list(one.column("kind")) == list(two.column("kind"))


def test_a_frame_of_counts_is_read_too() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"agent": ["a", "b"], "task": ["t", "t"], "successes": [2, 1], "trials": [4, 4]}
    )
    assert ex.scores.cells.cell_means(ex.read(table)).tolist() == [[0.5], [0.25]]


def test_missing_counts_are_not_observed(tmp_path: Path) -> None:
    rows = ["a,t,n/a,5", "a,u,3,5", "b,t,2,5", "b,u,0,0"]
    results = ex.read(written(tmp_path / "c.csv", "agent,task,successes,trials", rows))
    assert np.isnan(ex.responses(results).to_numpy()).tolist() == [[True, False], [False, True]]


def test_a_named_measure_or_a_known_one_has_its_way(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", "agent,task,successes,trials,score", ["a,t,1,3,0.7"])
    assert ex.read(path).measure().tolist() == [0.7]
    assert ex.read(path, measure="successes").measure().tolist() == [1.0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,t,4,3", "has 4 successes of 3 trials"),
        (
            "a,t,1.5,3",
            "has '1.5' in the column 'successes', where a whole number from 0 on belongs",
        ),
        ("a,t,-1,3", "has '-1' in the column 'successes'"),
        ("a,t,one,3", "has 'one' in the column 'successes'"),
        (",t,1,3", "agent"),
    ],
)
def test_wrong_counts_are_refused_by_their_line(tmp_path: Path, row: str, said: str) -> None:
    path = written(tmp_path / "c.csv", "agent,task,successes,trials", ["b,t,9,12", row])
    with pytest.raises(ex.InputError, match=said) as problem:
        ex.read(path)
    assert "line 3" in str(problem.value)


def test_more_trials_than_rows_could_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MOST_TRIALS", 10)
    path = written(tmp_path / "c.csv", "agent,task,successes,trials", ["a,t,1,6", "b,t,1,6"])
    with pytest.raises(ex.InputError, match=r"12 trials, too many.*ResponseMatrix.from_counts"):
        ex.read(path)


def test_results_made_of_a_frame_directly_say_where_counts_are_taken() -> None:
    table = {"agent": ["a"], "task": ["t"], "successes": [2], "trials": [4]}
    with pytest.raises(ex.InputError, match="give one row a trial with a 0/1 column"):
        ex.Results.from_dict(table)


def test_counts_of_one_trial_are_rows_already_however_many(monkeypatch):
    monkeypatch.setattr(cells, "MOST_TRIALS", 2)
    frame = pl.DataFrame(
        {
            "agent": ["a", "a", "b"],
            "task": ["t", "u", "t"],
            "successes": [1, 0, 1],
            "trials": [1, 1, 1],
        }
    )
    counted, note = cells.counted_out(frame)
    assert counted["success"].to_list() == [1.0, 0.0, 1.0]
    assert "3 trials" in note

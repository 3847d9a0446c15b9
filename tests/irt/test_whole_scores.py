"""Scores are the benchmark's own: tasks that all agents solve, or none, count as what they are."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

RNG = np.random.default_rng(3)
ABILITY = RNG.normal(size=40)
DIFFICULTY = RNG.normal(size=20)
WON = (RNG.random((40, 20)) < 1 / (1 + np.exp(DIFFICULTY - ABILITY[:, None]))).astype(float)
TABLE = np.column_stack([WON, np.zeros((40, 6)), np.ones((40, 2))])
"""Twenty tasks that differ, six that nobody solves, and two that everybody does."""


def results_of(rows: slice, tasks: int = 28) -> ex.Results:
    names = [f"agent {row}" for row in range(40)][rows]
    columns = [f"task {column}" for column in range(28)][:tasks]
    return ex.Results.from_numpy(TABLE[rows, :tasks], names, columns)


@pytest.fixture(scope="module")
def fit() -> ex.irt.IRTFit:
    return ex.irt.fit(results_of(slice(0, 30)), recipe=ex.Recipe(success=1.0))


def test_a_fit_tells_the_mean_over_all_tasks(fit: ex.irt.IRTFit) -> None:
    told = ex.irt.indicators(fit)
    np.testing.assert_allclose(told.mean, TABLE[:30].mean(axis=1))
    assert sorted({(task.reason, task.value) for task in fit.dropped}) == [
        ("every agent always succeeded", 1.0),
        ("no agent ever succeeded", 0.0),
    ]


def test_an_agent_that_met_all_tasks_has_its_own_score(fit: ex.irt.IRTFit) -> None:
    placements = ex.irt.place(results_of(slice(30, 40)), fit)
    assert any("count in the means" in note for note in placements.notes)
    for row, placed in enumerate(placements):
        assert placed.predicted_mean == pytest.approx(TABLE[30 + row].mean())
        assert placed.mean == pytest.approx(TABLE[30 + row].mean())


def test_tasks_not_met_count_as_what_they_were_for_all(fit: ex.irt.IRTFit) -> None:
    """By twenty tasks of twenty-eight: the other eight are 0 six times and 1 twice."""
    for row, placed in enumerate(ex.irt.place(results_of(slice(30, 40), 20), fit)):
        own = WON[30 + row].sum()
        assert placed.predicted_mean == pytest.approx((own + 2) / 28)
        assert placed.mean == pytest.approx(own / 20)


def test_whole_scores_survive_storing(fit: ex.irt.IRTFit, tmp_path) -> None:
    ex.save(fit, tmp_path / "fit.json")
    again = ex.load_saved(tmp_path / "fit.json")
    (first, *_), (second, *_) = (
        ex.irt.place(results_of(slice(30, 40), 20), one) for one in (fit, again)
    )
    assert first.predicted_mean == second.predicted_mean
    np.testing.assert_array_equal(again.means, fit.means)


def test_a_new_agent_that_solves_what_nobody_did_is_given_it(fit: ex.irt.IRTFit) -> None:
    better = TABLE[30:31].copy()
    better[0, 20] = 1.0
    new = ex.Results.from_numpy(better, ["new"], [f"task {column}" for column in range(28)])
    assert ex.irt.place(new, fit)[0].predicted_mean == pytest.approx(better.mean())

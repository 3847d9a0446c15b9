"""What is in a table, as one frozen value."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import examiner as ex
from examiner.results import Scales, TaskScale

TABLE = {
    "agent": ["a", "a", "b", "b"],
    "task": ["t", "t", "t", "u"],
    "run": [0, 0, 0, 0],
    "trial": [0, 1, 0, 0],
    "score": [1.0, 3.0, None, 10.0],
    "note": ["x", "y", "z", "w"],
}


@pytest.fixture
def results() -> ex.Results:
    scales = Scales([TaskScale("t", random=0.0)])
    return ex.Results.from_dict(TABLE, scales=scales).with_notes("Odd.")


def test_a_description_counts_ranges_and_names(results: ex.Results) -> None:
    told = results.describe()
    assert (told.agents, told.tasks, told.runs, told.trials, told.rows) == (2, 2, 1, 2, 4)
    assert told.missing_cells == 2
    (score,) = told.measure_ranges
    assert (score.observed, score.least, score.median, score.most) == (3, 1.0, 3.0, 10.0)
    assert score.mean == pytest.approx(14 / 3)
    assert (told.agent_names, told.task_names, told.item) == (("a", "b"), ("t", "u"), ("task",))
    assert (told.attributes, told.tasks_with_scale, told.notes) == (("note",), 1, ("Odd.",))
    assert (told.training_log, told.reduction) == (False, None)
    assert {name: getattr(told, name) for name in results.counts()} == results.counts()


def test_a_description_cannot_be_changed_and_shows_itself(results: ex.Results) -> None:
    told = results.describe()
    with pytest.raises(dataclasses.FrozenInstanceError):
        told.agents = 3  # type: ignore[misc]
    assert repr(told).startswith("memory (dict): 2 agents × 2 tasks, 4 rows; measures: 'score'.")
    assert "<table>" in told._repr_html_() and "Odd." in told._repr_html_()


def test_a_description_is_plain_values_in_a_dictionary(results: ex.Results) -> None:
    plain = results.describe().to_dict()
    assert list(plain)[:4] == ["schema", "headline", "source", "format"]
    assert plain["measure_ranges"][0]["measure"] == "score"
    assert plain["notes"] == ["Odd."]
    assert ex.load("atari-arena").describe().training_log


def test_what_was_never_observed_has_no_range() -> None:
    results = ex.Results.from_numpy([[1.0, 2.0], [3.0, 4.0]])
    lost = results.with_measure("score", results.measure() * float("nan"), "lost")
    (found,) = lost.describe().measure_ranges
    assert (
        found.observed == 0 and np.isnan([found.least, found.mean, found.median, found.most]).all()
    )


def test_the_mean_of_the_largest_numbers_is_one_of_them() -> None:
    (found,) = ex.Results.from_numpy([[1e308, 1.2e308, 1.4e308, 1.6e308]]).describe().measure_ranges
    assert (found.mean, found.median) == pytest.approx((1.3e308, 1.3e308))


def test_a_description_counts_the_plays_of_every_agent_that_were_observed(
    results: ex.Results,
) -> None:
    second, first = results.describe().plays
    assert (first.agent, first.plays, first.tasks, first.plays_per_task) == ("a", 2, 1, 2.0)
    assert (second.agent, second.plays, second.tasks, second.plays_per_task) == ("b", 1, 1, 1.0)


def test_an_agent_that_was_never_observed_has_no_plays_per_task() -> None:
    results = ex.Results.from_numpy([[1.0, 2.0], [3.0, 4.0]])
    scores = np.where(results.agent_codes == 1, np.nan, results.measure())
    second = results.with_measure("score", scores).describe().plays["agent 2"]
    assert (second.plays, second.tasks) == (0, 0) and np.isnan(second.plays_per_task)

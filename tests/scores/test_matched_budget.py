"""Runs are compared at one time, and agents that were not trained so long are named."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def log(ends: dict[str, int], runs: int = 3) -> ex.Results:
    """Evaluations every 100,000 steps up to an end of each agent, worth the step and the run."""
    rows = [
        (agent, "Pong", run, step, step / 1e5 + run)
        for agent, end in ends.items()
        for run in range(runs)
        for step in range(100_000, end + 1, 100_000)
    ]
    names = ("agent", "task", "run", "global_step", "score")
    return ex.read({name: [row[n] for row in rows] for n, name in enumerate(names)})


def test_every_run_counts_as_it_was_at_the_budget() -> None:
    results = log({"short": 1_000_000, "long": 3_000_000})
    reduced = ex.reduce(results, "at:1e6")
    assert reduced.provenance.reduction == "at:1000000"
    scores = dict(zip(reduced.column("agent"), reduced.measure(), strict=True))
    assert set(scores) == {"short", "long"}
    np.testing.assert_array_equal(np.sort(reduced.measure()), [10, 10, 11, 11, 12, 12])


def test_a_budget_between_two_evaluations_takes_the_one_before() -> None:
    assert np.sort(ex.reduce(log({"a": 500_000}), "at:250000").measure()).tolist() == [2, 3, 4]


def test_agents_with_a_smaller_budget_are_named_and_have_no_value() -> None:
    reduced = ex.reduce(log({"short": 500_000, "long": 3_000_000}), "at:1e6")
    assert reduced.agents == ("long",)
    note = "No value at 1,000,000 steps for 'short' (to 500,000): 3 of 6 runs ended before, or were logged "
    assert f"{note}only later." in reduced.notes


def test_a_budget_that_no_run_reached_is_refused() -> None:
    with pytest.raises(
        ex.InputError, match=r"No run has a value at 10,000,000 steps: the longest ends at 500,000"
    ):
        ex.reduce(log({"a": 500_000}), "at:1e7")


def test_a_log_without_time_has_no_budget() -> None:
    table = ex.Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1.0]})
    with pytest.raises(ex.InputError, match="without a column 'frames' or 'steps'"):
        ex.reduce(table, "at:1e6")

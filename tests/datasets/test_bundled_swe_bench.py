"""The leaderboard of SWE-bench Verified: counts of its source, levels, and no cell without an attempt."""

from __future__ import annotations

import numpy as np

from examiner.datasets import load


def test_counts_are_those_of_the_source() -> None:
    """Counted in the JSON lines by plain Python: 134 lines of 500 responses, 34,485 of them 1."""
    results = load("swebench-verified")
    assert (len(results.agents), len(results.tasks), len(results)) == (134, 500, 67_000)
    assert results.measure("resolved").sum() == 34_485
    assert results.counts()["missing_cells"] == 0
    solved = np.bincount(results.task_codes, weights=results.measure(), minlength=500)
    assert (solved == 0).sum() == 32
    assert (solved == 134).sum() == 0


def test_levels_and_dates_are_attributes() -> None:
    results = load("swebench-verified")
    about = results.task_attributes
    assert set(about.aligned(results.tasks, "benchmark")) == {"SWE-bench verified"}
    repositories = about.aligned(results.tasks, "subtask")
    assert len(set(repositories)) == 12
    assert repositories.count("django/django") == sum(
        task.startswith("django__django-") for task in results.tasks
    )
    dates = results.agent_attributes.aligned(results.agents, "date")
    assert dates[0] == "2023-10-10"
    assert list(dates) == sorted(dates)

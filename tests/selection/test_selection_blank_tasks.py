"""Tasks on which nobody has a comparable value are no part of a benchmark."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

SCORES = np.random.default_rng(0).normal(size=(12, 6)) + np.arange(12)[:, None]
TASKS = [f"t{n}" for n in range(6)]


def test_a_task_without_a_scale_is_left_out_and_said() -> None:
    scales = ex.results.Scales(
        ex.results.TaskScale(task, random=0.0, reference=10.0) for task in TASKS[:5]
    )
    with pytest.warns(ex.ExaminerWarning):
        results = ex.Results.from_numpy(SCORES, tasks=TASKS).with_scales(scales)
        whole = ex.selection.benchmark(results, ex.Recipe(normaliser="human"))
    assert whole.tasks == tuple(TASKS[:5])
    assert whole.agents == results.agents
    assert any("1 task left out, since no agent has a comparable value" in n for n in whole.notes)


def test_a_selection_given_first_is_refused_in_words() -> None:
    results = ex.Results.from_numpy(SCORES / 20)
    chosen = ex.selection.select(results, 2, "spread", rng=0)
    with pytest.raises(ex.InputError, match=r"`place\(results, selection\)`"):
        ex.selection.place(chosen, results)  # type: ignore[arg-type]


def test_agents_who_are_all_alike_are_selected_from_without_a_rank() -> None:
    """Scores that never vary have no comparable value on the scale of z-scores."""
    alike = ex.Results.from_numpy(np.full((6, 7, 2), 300.0))
    with pytest.warns(ex.ExaminerWarning):
        found = ex.selection.judge(alike, [2], ["spread"], rng=0)
        assert len(found.predictions("spread", 2)) == 0
        added = ex.selection.adds(alike, "task 7", rng=0, reps=5)
    assert "nan" not in added.headline


@pytest.mark.parametrize(("size", "units"), [(1e200, "larger units"), (1e-200, "smaller units")])
def test_scores_whose_squares_no_number_holds_are_refused(size: float, units: str) -> None:
    results = ex.Results.from_numpy(SCORES * size)
    with pytest.raises(ex.InputError, match=f"Give them in {units}"):
        ex.selection.select(results, 2, rng=0)
    with pytest.raises(ex.InputError, match=f"Give them in {units}"):
        ex.irt.fit(ex.responses(results), "normal")

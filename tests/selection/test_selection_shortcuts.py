"""Shortcuts of the search say what the long way round says: one regression, one table, for each set."""

from __future__ import annotations

import numpy as np
import pytest

from examiner.selection.ridge import ridge_fits, with_one_more


@pytest.mark.parametrize("chosen", [[], [3], [7, 2, 5], list(range(11))])
def test_adding_a_task_by_one_rank_is_fitting_the_larger_set(chosen: list[int]) -> None:
    rng = np.random.default_rng(1)
    design = rng.normal(size=(15, 1)) + rng.normal(size=(15, 12))
    design[:, 9] = design[:, 2]  # a twin, so that a set is singular but for the penalty
    design -= design.mean(axis=0)
    target = design[:, :6].mean(axis=1) + 0.1 * rng.normal(size=15)
    found = with_one_more(design, target, chosen)
    for task in range(12):
        if task in chosen:
            assert np.isnan(found.errors[task])
            continue
        long_way = ridge_fits(design, target, np.array([[*chosen, task]]))
        assert found.errors[task] == pytest.approx(np.abs(long_way.left_out).mean(), rel=1e-9)
    if chosen:
        alone = np.abs(ridge_fits(design, target, np.array([chosen])).left_out).mean()
    else:
        others = (target.sum() - target) / (len(target) - 1)
        alone = np.abs(target - others).mean()
    assert found.alone == pytest.approx(alone, rel=1e-9)


def test_many_tasks_are_scanned_in_blocks_without_a_seam() -> None:
    rng = np.random.default_rng(2)
    design = rng.normal(size=(40, 1_000))
    design -= design.mean(axis=0)
    target = design[:, :50].mean(axis=1)
    found = with_one_more(design, target, [0, 1]).errors
    places = np.array([[0, 1, task] for task in (2, 408, 409, 410, 411, 999)])
    long_way = np.abs(ridge_fits(design, target, places).left_out).mean(axis=1)
    np.testing.assert_allclose(found[places[:, 2]], long_way)

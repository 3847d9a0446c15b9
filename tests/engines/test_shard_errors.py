"""Errors of tasks from shards equal those in memory had the same way, and draws follow them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from engines.like_fits import MATRIX, holed
from engines.test_shards import in_small_blocks, tidy, written
from examiner.engines import ParquetSource
from examiner.irt import IRTFit, JointErrors

TOLD = ("slope", "intercept", "covariance", "difficulty", "slope_low", "difficulty_high")


def in_shards(matrix: ex.ResponseMatrix, folder: Path) -> ParquetSource:
    return in_small_blocks(ex.engines.sharded(written(tidy(matrix), folder / "shards", 2)))


def assert_errors_of(matrix: ex.ResponseMatrix, fit: IRTFit, within: float = 1e-6) -> None:
    """The errors of a fit are those of the same tasks with all responses in memory."""
    row = [matrix.agents.index(agent) for agent in fit.abilities.agents]
    column = [matrix.tasks.index(task) for task in fit.items.tasks]
    how = fit.priors, fit.quadrature, fit.population_sd, fit.slope_scale
    model = ex.irt.MODELS[fit.model]
    close = max(1e-7, 0.01 * within)  # covariances may be next to nothing
    joint = JointErrors.of(matrix.take(row, column), fit.items, model, *how)
    here = joint.tasks
    assert fit.errors is not None and fit.errors.method == here.method
    for name in TOLD:
        told, expected = getattr(fit.errors, name), getattr(here, name)
        np.testing.assert_allclose(told, expected, rtol=within, atol=close, err_msg=name)
    (_, own, total), _ = joint.abilities()
    np.testing.assert_allclose(fit.abilities.posterior, own, rtol=within, atol=1e-7)
    np.testing.assert_allclose(fit.abilities.error, total, rtol=within, atol=1e-7)
    apart = replace(fit.abilities, joint=joint).differences()[1]
    np.testing.assert_allclose(fit.abilities.differences()[1], apart, rtol=0.06, atol=1e-7)


@pytest.mark.parametrize(
    ("model", "missing"), [("2pl", 0.0), ("2pl", 0.6), ("rasch", 0.0), ("1pl", 0.6), ("3pl", 0.6)]
)
def test_errors_of_shards_equal_those_in_memory(model: str, missing: float, tmp_path: Path) -> None:
    matrix = holed(MATRIX, missing) if missing else MATRIX
    assert_errors_of(matrix, ex.irt.fit(in_shards(matrix, tmp_path), model, starts=1))


@pytest.mark.parametrize(("missing", "within"), [(0.0, 1e-6), (0.6, 1e-4)])
def test_errors_of_very_many_tasks_are_had_by_directions_and_blocks(
    missing: float, within: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("examiner.irt.errors.information.MOST_TOGETHER", 10)
    matrix = holed(MATRIX, missing) if missing else MATRIX
    source = in_shards(matrix, tmp_path)
    fit = ex.irt.fit(source, starts=1)
    assert fit.errors is not None and "16 directions shared by all tasks" in fit.errors.method
    assert_errors_of(matrix, fit, within)
    before = source.passes
    ex.irt.fit(source, starts=1, errors=False)
    # an E-step, three times all directions, abilities
    assert source.passes - before == before - 5


def test_draws_from_shards_spread_as_errors_say(tmp_path: Path) -> None:
    fit = ex.irt.fit(in_shards(MATRIX, tmp_path), starts=1)
    drawn = fit.draws(80, rng=1)
    intercepts = np.array([items.intercept for items in drawn.items])
    assert fit.errors is not None and drawn.agents == fit.abilities.agents
    np.testing.assert_allclose(intercepts.std(axis=0), fit.errors.intercept, rtol=0.3)
    apart = drawn.ability.mean(axis=0) - fit.abilities.ability
    assert np.abs(apart / fit.abilities.error).max() < 0.6
    assert (drawn.ability.std(axis=0) / fit.abilities.error).mean() == pytest.approx(1.0, abs=0.1)


def test_errors_that_need_more_memory_than_given_are_left_out_and_said(tmp_path: Path) -> None:
    source = in_shards(MATRIX, tmp_path)
    source.memory = 0.25  # enough for the fit alone
    fit = ex.irt.fit(source, starts=1)
    assert fit.errors is None
    assert fit.notes[-1] == "Standard errors of tasks need 0.3 GB of memory, and 0.25 are given."

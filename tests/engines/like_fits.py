"""A table with and without holes, and what it means that two fits are the same."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.irt import IRTFit, ItemParameters
from examiner.validation import Floats

TASKS = [f"task {n}" for n in range(30)]
BANK = ItemParameters.of(TASKS, np.linspace(0.5, 2.0, 30), np.linspace(-1.5, 1.5, 30))
MATRIX = ex.irt.simulate(BANK, 400, rng=1)


def holed(matrix: ex.ResponseMatrix, share: float) -> ex.ResponseMatrix:
    values = matrix.to_numpy().copy()
    values[np.random.default_rng(2).random(values.shape) < share] = np.nan
    return ex.ResponseMatrix.from_array(values, matrix.agents, matrix.tasks)


def assert_same_fit(there: IRTFit, here: IRTFit, within: float = 2e-5) -> None:
    """The same by name: tables in shards have agents and tasks in the order in which they were met."""
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-8)
    tasks = [here.items.tasks.index(task) for task in there.items.tasks]
    agents = [here.abilities.agents.index(agent) for agent in there.abilities.agents]
    assert sorted(tasks) == list(range(len(here.items)))
    assert sorted(agents) == list(range(len(here.abilities.agents)))
    close = np.testing.assert_allclose
    close(there.items.slope, here.items.slope[tasks], atol=within)
    close(there.items.intercept, here.items.intercept[tasks], atol=within)
    close(there.abilities.ability, here.abilities.ability[agents], atol=within)
    close(own_errors(there), own_errors(here)[agents], atol=within)
    assert there.means is not None and here.means is not None
    close(there.means, here.means[agents], rtol=1e-6)


def own_errors(fit: IRTFit) -> Floats:
    """What agents' own results leave open, whether errors of tasks are counted beside it or not."""
    found = fit.abilities
    return found.error if found.posterior is None else found.posterior

r"""Abilities and difficulties estimated together, where attributes of tasks explain difficulty.

.. math:: \operatorname{logit} P_{ji} = t_j - b_i, \quad t_j \sim N(0, \sigma_t^2), \quad
          b = X\beta + Gu + e, \quad u \sim N(0, \sigma_u^2), \quad e \sim N(0, \sigma^2)

with attributes X [tasks, columns] and families G of tasks. This is the linear logistic test model with a
residual (De Boeck 2008). Regressing difficulties that a prior has already shrunk would weaken effects; here
abilities and difficulties are integrated by Laplace's method, β has a flat prior and is integrated too, and
the three deviations maximise what is left. Each deviation has the prior Γ(2, 1), which keeps it off zero
(Chung et al. 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats, sigmoid_pair
from examiner.irt.share_cells import ShareCells

FLAT = 1e4
"""Prior variance of effects on standardised attributes: nothing is known of them."""
_LOG_BOUNDS = (-4.0, 2.5)


class _Mode(NamedTuple):
    """The mode of abilities and difficulties, and their information around it.

    `agents` [agents] is diagonal; `weights` [agents, tasks] are minus the mixed part; `tasks`
    [tasks, tasks] is what is left of the tasks' part once abilities are integrated out.
    """

    height: float
    ability: Floats
    difficulty: Floats
    agents: Floats
    weights: Floats
    tasks: Floats


@dataclass(frozen=True, slots=True)
class CrossedFit:
    """Effects, abilities and difficulties with their joint covariance.

    `spread`, `residual` and `family` are σ_t, σ and σ_u; `family` is 0 without families.
    """

    effects: Floats
    effect_covariance: Floats
    ability: Floats
    ability_error: Floats
    difficulty: Floats
    difficulty_error: Floats
    spread: float
    residual: float
    family: float

    def predicted(self, design: Floats) -> tuple[Floats, Floats]:
        """Return the difficulty of new tasks of new families, and its error: `design` [tasks, columns]."""
        of_effects = np.einsum("tk,kl,tl->t", design, self.effect_covariance, design)
        return design @ self.effects, np.sqrt(of_effects + self.residual**2 + self.family**2)


def fit_crossed(
    cells: ShareCells,
    design: Floats,
    families: NDArray[np.int64] | None,
    near: CrossedFit | None = None,
) -> CrossedFit:
    """Fit the crossed model: `design` [tasks, columns] begins with ones, `families` [tasks] are codes.

    >>> rng = np.random.default_rng(0)
    >>> minutes = np.linspace(-2, 2, 40)
    >>> chance = sigmoid_pair(rng.normal(size=(30, 1)) - minutes)[0]
    >>> cells = ShareCells((rng.random((30, 40)) < chance).astype(float), np.ones((30, 40)))
    >>> fitted = fit_crossed(cells, np.column_stack([np.ones(40), minutes]), None)
    >>> bool(abs(fitted.effects[1] - 1) < 3 * fitted.effect_covariance[1, 1] ** 0.5)
    True
    """
    from scipy.optimize import minimize

    shared = None if families is None else (families[:, None] == families).astype(np.float64)
    known = FLAT * design @ design.T
    start = np.zeros(cells.won.shape[0]), np.zeros(cells.won.shape[1])

    def cost(logs: Floats) -> float:
        nonlocal start
        mode = _mode(cells, np.exp(logs[0]), _covariance(logs, shared, len(design)) + known, start)
        start = mode.ability, mode.difficulty  # the next deviations are near these
        return -mode.height - float((logs - np.exp(logs)).sum())

    begin = np.array([0.2, -0.3] + [-0.7] * (shared is not None))
    if near is not None:
        deviations = (near.spread, near.residual, near.family)
        begin = np.log(np.maximum(deviations[: len(begin)], np.exp(_LOG_BOUNDS[0])))
    best = minimize(
        cost,
        begin,
        method="L-BFGS-B",
        bounds=[_LOG_BOUNDS] * len(begin),
        options={"ftol": 1e-7, "eps": 1e-4, "maxiter": 60},
    ).x
    own = _covariance(best, shared, len(design))
    return _summary(_mode(cells, np.exp(best[0]), own + known, start), design, own, best)


def _covariance(logs: Floats, shared: Floats | None, tasks: int) -> Floats:
    """The covariance of difficulties around what attributes predict."""
    own = np.exp(2 * logs[1]) * np.eye(tasks)
    return np.asarray(own if shared is None else own + np.exp(2 * logs[2]) * shared)


def _mode(
    cells: ShareCells, spread: float, covariance: Floats, start: tuple[Floats, Floats]
) -> _Mode:
    """Newton's method for the mode of abilities and difficulties, and Laplace's integral around it."""
    from scipy.linalg import cho_factor, cho_solve

    root = cho_factor(covariance, lower=True)
    precision = cho_solve(root, np.eye(len(covariance)))
    ability, difficulty = start
    while True:
        success, failure = sigmoid_pair(ability[:, None] - difficulty)
        off = cells.won - cells.trials * success
        weights = cells.trials * success * failure
        agents = weights.sum(axis=1) + spread**-2
        tasks = precision + np.diag(weights.sum(axis=0)) - weights.T @ (weights / agents[:, None])
        by_ability = off.sum(axis=1) - ability / spread**2
        by_difficulty = -off.sum(axis=0) - precision @ difficulty
        step = np.linalg.solve(tasks, by_difficulty + weights.T @ (by_ability / agents))
        move = (by_ability + weights @ step) / agents
        largest = max(np.abs(step).max(), np.abs(move).max())
        shorter = min(1.0, 2.0 / largest) if largest > 0 else 1.0
        ability, difficulty = ability + shorter * move, difficulty + shorter * step
        if largest < 1e-7:
            break
    success, failure = (np.maximum(part, 1e-300) for part in (success, failure))
    height = float(
        (cells.won * np.log(success) + (cells.trials - cells.won) * np.log(failure)).sum()
        - 0.5 * (ability @ ability) / spread**2
        - len(ability) * np.log(spread)
        - 0.5 * difficulty @ precision @ difficulty
        - np.log(np.diag(root[0])).sum()
        - 0.5 * np.log(agents).sum()
        - 0.5 * np.linalg.slogdet(tasks)[1]
    )
    return _Mode(height, ability, difficulty, agents, weights, tasks)


def _summary(mode: _Mode, design: Floats, own: Floats, logs: Floats) -> CrossedFit:
    """Effects and their covariance, given the difficulties and their covariance around the mode."""
    of_tasks = np.linalg.inv(mode.tasks)
    lean = mode.weights / mode.agents[:, None]  # how abilities move with difficulties
    of_agents = 1.0 / mode.agents + np.einsum("jt,tu,ju->j", lean, of_tasks, lean)
    weighted = np.linalg.solve(own, design)
    given_tasks = np.linalg.inv(design.T @ weighted)
    from_tasks = given_tasks @ weighted.T
    spread, residual, *family = np.exp(logs).tolist()
    return CrossedFit(
        from_tasks @ mode.difficulty,
        from_tasks @ of_tasks @ from_tasks.T + given_tasks,
        mode.ability,
        np.sqrt(of_agents),
        mode.difficulty,
        np.sqrt(np.diag(of_tasks)),
        spread,
        residual,
        family[0] if family else 0.0,
    )

r"""Abilities and difficulties estimated together, where attributes explain difficulty; held-out tasks.

.. math:: \operatorname{logit} P_{ji} = t_j - b_i, \quad t_j \sim N(0, \sigma_t^2), \quad
          b = X\beta + Gu + e, \quad u \sim N(0, \sigma_u^2), \quad e \sim N(0, \sigma^2)

with attributes X [tasks, columns] and families G of tasks. This is the linear logistic test model with a
residual (De Boeck 2008). Regressing difficulties that a prior has already shrunk would shrink effects; here
abilities and difficulties are integrated by Laplace's method, β has a flat prior and is integrated too, and
the three deviations maximise the remaining likelihood. Each deviation has the prior Γ(2, 1), which keeps it
off zero (Chung et al. 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats, sigmoid_pair
from examiner.irt.share_cells import ShareCells

_LOG_BOUNDS = (-4.0, 2.5)
_GRID = np.linspace(-12.0, 12.0, 241)
"""Difficulties at which the likelihood of a held-out task is computed, in logits."""
_DEVIATIONS = np.geomspace(0.15, 6.0, 60)
"""Deviations of held-out difficulties around predictions, of which the most likely is used."""


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
    effects = 1e4 * design @ design.T  # a flat prior of effects
    start = np.zeros(cells.won.shape[0]), np.zeros(cells.won.shape[1])

    def cost(logs: Floats) -> float:
        nonlocal start
        mode = _mode(
            cells, np.exp(logs[0]), _covariance(logs, shared, len(design)) + effects, start
        )
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
    residual = _covariance(best, shared, len(design))
    mode = _mode(cells, np.exp(best[0]), residual + effects, start)
    return _summary(mode, design, residual, best)


def _covariance(logs: Floats, shared: Floats | None, tasks: int) -> Floats:
    """The covariance of difficulties around the prediction from attributes."""
    residual = np.exp(2 * logs[1]) * np.eye(tasks)
    return np.asarray(residual if shared is None else residual + np.exp(2 * logs[2]) * shared)


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


def _summary(mode: _Mode, design: Floats, residual_covariance: Floats, logs: Floats) -> CrossedFit:
    """Effects and their covariance, given the difficulties and their covariance around the mode."""
    of_tasks = np.linalg.inv(mode.tasks)
    ratio = mode.weights / mode.agents[:, None]  # change of abilities with difficulties
    of_agents = 1.0 / mode.agents + np.einsum("jt,tu,ju->j", ratio, of_tasks, ratio)
    weighted = np.linalg.solve(residual_covariance, design)
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


class HeldOutDifficulties(NamedTuple):
    """Predicted difficulties of held-out tasks, [tasks], and the share of variance that is explained."""

    predicted: Floats
    error: Floats
    share: float
    share_low: float
    share_high: float


def predict_held_out(
    cells: ShareCells,
    design: Floats,
    families: NDArray[np.int64] | None,
    near: CrossedFit,
    *,
    folds: int,
    rng: np.random.Generator,
) -> HeldOutDifficulties:
    """Predict each task from the others, and compare the error with that of the other tasks' mean.

    Families stay whole. Difficulties are not observed: the variance around the predictions is estimated by
    maximum likelihood from the responses to held-out tasks, so that the noise of responses does not count
    as unexplained variance, nor a task that nobody solves as infinitely hard. The share is negative if
    attributes predict worse than the mean.
    """
    unit = np.arange(len(design)) if families is None else families
    predicted, error = np.full(len(design), np.nan), np.full(len(design), np.nan)
    explained, plain = (np.zeros((len(design), len(_DEVIATIONS))) for _ in range(2))
    units = np.unique(unit)
    for part in np.array_split(rng.permutation(units), min(folds, len(units))):
        tasks = np.flatnonzero(np.isin(unit, part))
        others = np.setdiff1d(np.arange(len(design)), tasks)
        fit = fit_crossed(
            cells.of_tasks(others),
            design[others],
            None if families is None else families[others],
            near,
        )
        predicted[tasks], error[tasks] = fit.predicted(design[tasks])
        mean = np.full(len(tasks), float(design[others].mean(axis=0) @ fit.effects))
        log_likelihood = _log_likelihood(cells.of_tasks(tasks), fit)
        explained[tasks] = _by_deviation(log_likelihood, predicted[tasks])
        plain[tasks] = _by_deviation(log_likelihood, mean)
    members = [np.flatnonzero(unit == name) for name in units]
    drawn = []
    for _ in range(1000):
        rows = np.concatenate([members[n] for n in rng.integers(len(members), size=len(members))])
        drawn.append(_share(explained[rows], plain[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return HeldOutDifficulties(predicted, error, _share(explained, plain), low, high)


def _log_likelihood(cells: ShareCells, fit: CrossedFit) -> Floats:
    """Log-likelihoods of tasks at the difficulties of the grid, abilities integrated, [tasks, grid]."""
    from scipy.special import logsumexp

    nodes, weights = np.polynomial.hermite_e.hermegauss(7)
    total = np.zeros((cells.won.shape[1], len(_GRID)))
    for agent, (ability, error) in enumerate(zip(fit.ability, fit.ability_error, strict=True)):
        success, failure = sigmoid_pair(ability + error * nodes[:, None] - _GRID)  # [nodes, grid]
        won, lost = cells.won[agent], cells.trials[agent] - cells.won[agent]
        parts = won[:, None, None] * np.log(success) + lost[:, None, None] * np.log(failure)
        total += logsumexp(parts + np.log(weights / weights.sum())[:, None], axis=1)
    return total


def _by_deviation(log_likelihood: Floats, centre: Floats) -> Floats:
    """Log-likelihood of each task under N(centre, deviation²) of its difficulty, [tasks, deviations]."""
    from scipy.special import logsumexp

    away = -0.5 * ((_GRID - centre[:, None])[:, None] / _DEVIATIONS[:, None]) ** 2
    away -= logsumexp(away, axis=2, keepdims=True)
    return np.asarray(logsumexp(log_likelihood[:, None] + away, axis=2))


def _share(explained: Floats, plain: Floats) -> float:
    """One minus the variance around the predictions over that around the mean."""
    left, whole = (_likeliest(part.sum(axis=0)) for part in (explained, plain))
    return float(1.0 - np.exp(2.0 * (left - whole)))


def _likeliest(height: Floats) -> float:
    """The logarithm of the most likely deviation: the top of a parabola through the three highest."""
    top = int(np.clip(height.argmax(), 1, len(height) - 2))
    left, middle, right = height[top - 1 : top + 2].tolist()
    bend = left - 2.0 * middle + right
    off = np.clip(0.5 * (left - right) / bend, -1.0, 1.0) if bend < 0 else 0.0
    logs = np.log(_DEVIATIONS)
    return float(logs[top] + off * (logs[1] - logs[0]))

"""How well attributes predict the difficulty of tasks that took no part in the fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.explained.crossed import CrossedFit, fit_crossed
from examiner.irt.items import Floats, sigmoid_pair
from examiner.irt.share_cells import ShareCells

_GRID = np.linspace(-12.0, 12.0, 241)
"""Difficulties at which the likelihood of a held-out task is computed, in logits."""
_DEVIATIONS = np.geomspace(0.15, 6.0, 60)
"""Deviations of held-out difficulties around what is predicted: the maximum of the likelihood is taken."""
_RESAMPLES = 1000


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

    Families stay whole. Difficulties are not observed: the variance around the predictions is the one
    under which the responses to held-out tasks are most likely, so that the noise of responses is not
    counted as unexplained, nor a task that nobody solves as infinitely hard. The share is negative where
    attributes predict worse than the mean.
    """
    unit = np.arange(len(design)) if families is None else families
    predicted, error = np.full(len(design), np.nan), np.full(len(design), np.nan)
    explained, plain = (np.zeros((len(design), len(_DEVIATIONS))) for _ in range(2))
    for tasks in _folds(unit, folds, rng):
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
    drawn = [_share(explained[rows], plain[rows]) for rows in _resamples(unit, rng)]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return HeldOutDifficulties(predicted, error, _share(explained, plain), low, high)


def _folds(
    unit: NDArray[np.int64], folds: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Tasks of each fold: units are divided at random."""
    names = rng.permutation(np.unique(unit))
    for part in np.array_split(names, min(folds, len(names))):
        yield np.flatnonzero(np.isin(unit, part))


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


def _resamples(unit: NDArray[np.int64], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Rows of bootstrap samples of whole units."""
    members = [np.flatnonzero(unit == name) for name in np.unique(unit)]
    for _ in range(_RESAMPLES):
        yield np.concatenate([members[n] for n in rng.integers(len(members), size=len(members))])

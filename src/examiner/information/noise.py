"""Noise: how much an agent varies on a task, and what replaces it where that was not observed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from examiner.information.observations import Moments
from examiner.messages import InputError, shorten
from examiner.scores import ratio
from examiner.validation import Floats

NoiseKind = Literal["trial", "mean"]
Deviations = Literal["own", "pooled"] | float
Spread = Literal["sum", "quadrature"]


@dataclass(frozen=True, slots=True)
class Noise:
    """What counts as noise, and what replaces it where none was observed.

    `kind` is "trial" (the deviation of one trial, as in papers/004) or "mean" (the standard error of all
    trials of a cell). `deviations` is "own" (each cell's own), "pooled" (one
    for all agents of a task) or a number: a deviation stated as a share of the task's spread between
    agents. `floor` is the least deviation, as a share of that spread. With `literal_wins`, zeros and ones
    are treated like any score, as in papers/004: an agent that always wins then has the floor.

    >>> Noise(kind="both")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The noise is 'both'. Choose 'trial' or 'mean'.
    """

    kind: NoiseKind = "trial"
    deviations: Deviations = "own"
    floor: float = 0.001
    literal_wins: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("trial", "mean"):
            raise InputError(f"The noise is {shorten(self.kind)}. Choose 'trial' or 'mean'.")
        stated = isinstance(self.deviations, (int, float)) and self.deviations > 0
        if not stated and self.deviations not in ("own", "pooled"):
            raise InputError(
                f"The deviations are {shorten(self.deviations)}. Choose 'own', 'pooled', or a number "
                f"above 0: a share of the task's spread between agents."
            )
        if not 0 < self.floor < 1:
            raise InputError(
                f"The floor is {self.floor}. Give a share of the spread between agents in (0, 1)."
            )


@dataclass(frozen=True, slots=True)
class ChannelModel:
    """How results are converted to bits: what counts as noise, and which of the paper's equations.

    With `correlated`, the correlation of measures within cells is modelled (the Mahalanobis distance that
    papers/004 suggests in section V-A). `spread` says how the deviations of two agents
    are combined: their "sum" (eq. 1), or in "quadrature". With `exact`, bits are a mutual information
    instead of eq. 3: see `gain`.

    >>> ChannelModel(spread="max")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The spread is 'max'. Choose 'sum' or 'quadrature'.
    """

    noise: Noise = field(default_factory=Noise)
    correlated: bool = False
    spread: Spread = "sum"
    exact: bool = False

    def __post_init__(self) -> None:
        if self.spread not in ("sum", "quadrature"):
            raise InputError(f"The spread is {shorten(self.spread)}. Choose 'sum' or 'quadrature'.")


class CellDeviations(NamedTuple):
    """Deviations [agents, tasks], NaN where nothing or no deviation was observed; and two counts."""

    deviation: Floats
    borrowed: int
    floored: int


def cell_deviations(cells: Moments, noise: Noise) -> CellDeviations:
    """Return the deviation of each cell, how many cells borrowed theirs, and how many have the floor.

    >>> ones = np.ones((1, 2))
    >>> cells = Moments(ones * 3, ones * 3, np.array([[0.0, 0.5]]), ones * 2, ones * 2)
    >>> cell_deviations(cells, Noise(floor=0.01)).deviation
    array([[1., 1.]])
    """
    observed = np.isfinite(cells.mean)
    between = task_spread(cells.mean)
    square, draws = (
        (cells.square, cells.trials) if noise.kind == "trial" else (cells.unit_square, cells.units)
    )
    freedom = np.maximum(draws - 1, 0)
    borrowed = 0
    if isinstance(noise.deviations, str):
        pooled = pooled_deviation(square, freedom)
        if noise.deviations == "pooled":
            pooled = _lent(pooled, between)
        deviation = np.broadcast_to(pooled, observed.shape).copy()
        borrowed = int((observed & (freedom == 0) & np.isfinite(pooled)).sum())
        if noise.deviations == "own":
            own = freedom > 0
            deviation[own] = np.sqrt(square[own] / freedom[own])
    else:
        deviation = np.broadcast_to(noise.deviations * between, observed.shape).copy()
    if noise.kind == "mean":
        deviation /= np.sqrt(np.maximum(draws, 1))
    deviation[~observed] = np.nan
    least = noise.floor * _least(between, deviation)
    floored = int((deviation < least).sum())
    return CellDeviations(np.maximum(deviation, least), borrowed, floored)


def task_spread(means: Floats) -> Floats:
    """Return the deviation of the agents' means on each task; NaN where no agent was observed.

    >>> task_spread(np.array([[0.0, 1.0], [2.0, np.nan]]))
    array([1., 0.])
    """
    observed = np.isfinite(means)
    count = np.where(observed.any(axis=0), observed.sum(axis=0), np.nan)
    centre = np.where(observed, means, 0.0).sum(axis=0) / count
    return np.asarray(np.sqrt(np.where(observed, (means - centre) ** 2, 0.0).sum(axis=0) / count))


def pooled_deviation(square: Floats, freedom: Floats) -> Floats:
    """Return one deviation for each task from all its repeated cells; NaN where none is repeated.

    >>> pooled_deviation(np.array([[2.0], [6.0]]), np.array([[1.0], [1.0]]))
    array([2.])
    """
    repeated = np.where(freedom > 0, square, 0.0).sum(axis=0)
    return np.sqrt(ratio(repeated, freedom.sum(axis=0)))


def _lent(pooled: Floats, between: Floats) -> Floats:
    """Give tasks without repeated trials the typical share of the spread between agents."""
    varied = np.isfinite(pooled) & (between > 0)
    if not varied.any():
        return pooled
    typical = float(np.median(pooled[varied] / between[varied]))
    return np.where(np.isnan(pooled), typical * between, pooled)


def _least(between: Floats, deviation: Floats) -> Floats:
    """The spread between agents; where there is none, the spread within; where neither, one."""
    observed = np.isfinite(deviation)
    count = np.maximum(observed.sum(axis=0), 1)
    within = np.sqrt((np.where(observed, deviation, 0.0) ** 2).sum(axis=0) / count)
    spread = np.where(between > 1e-12, between, within)
    return np.where(spread > 1e-12, spread, 1.0)

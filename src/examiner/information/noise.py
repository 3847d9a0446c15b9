"""Noise: what counts as it, and how much each agent varies on each task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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


def share_deviations(cells: Moments, noise: Noise, *, runs: bool) -> tuple[Floats, Floats]:
    r"""Return the smoothed share of wins of each cell, and the deviation that it implies.

    `runs` says that cells have several runs, which may differ by more than their trials explain.

    >>> ones = np.ones((1, 1))
    >>> share_deviations(Moments(ones, ones, ones * 0.5, ones, ones), Noise(), runs=False)
    (array([[0.5]]), array([[0.5]]))
    """
    share = (cells.mean * cells.trials + 0.5) / (cells.trials + 1)
    deviation = np.sqrt(share * (1 - share))
    if noise.kind == "mean":
        deviation = deviation / np.sqrt(np.maximum(cells.trials, 1))
        if runs:
            freedom = np.maximum(cells.units - 1, 1) * np.maximum(cells.units, 1)
            deviation = np.maximum(deviation, np.sqrt(cells.unit_square / freedom))
    # A task that is always won or always lost gives no information, however many trials agents have.
    low, high = np.fmin.reduce(cells.mean, axis=0), np.fmax.reduce(cells.mean, axis=0)
    constant = ((low == high) & ((low == 0) | (low == 1))) & np.isfinite(share)
    return np.where(constant, 0.5, share), np.where(constant, 0.5, deviation)


def score_deviations(cells: Moments, noise: Noise) -> tuple[Floats, int, int]:
    """Return the deviation of each cell, how many cells borrowed theirs, and how many have the floor.

    NaN where nothing or no deviation was observed.

    >>> ones = np.ones((1, 2))
    >>> cells = Moments(ones * 3, ones * 3, np.array([[0.0, 0.5]]), ones * 2, ones * 2)
    >>> score_deviations(cells, Noise(floor=0.01))[0]
    array([[1., 1.]])
    """
    observed = np.isfinite(cells.mean)
    count = np.where(observed.any(axis=0), observed.sum(axis=0), np.nan)
    centre = np.where(observed, cells.mean, 0.0).sum(axis=0) / count
    apart = np.where(observed, cells.mean - centre, 0.0)
    between = np.sqrt((apart**2).sum(axis=0) / count)  # the spread of agents on each task
    square, draws = (
        (cells.square, cells.trials) if noise.kind == "trial" else (cells.unit_square, cells.units)
    )
    freedom = np.maximum(draws - 1, 0)
    borrowed = 0
    if isinstance(noise.deviations, str):
        pooled = pooled_deviation(square, freedom)
        varied = np.isfinite(pooled) & (between > 0)
        if noise.deviations == "pooled" and varied.any():
            # Tasks without repeated trials have the typical share of the spread between agents.
            typical = float(np.median(pooled[varied] / between[varied]))
            pooled = np.where(np.isnan(pooled), typical * between, pooled)
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
    # The floor is a share of the spread between agents; where there is none, of that within; else of one.
    count = np.maximum(np.isfinite(deviation).sum(axis=0), 1)
    within = np.sqrt((np.nan_to_num(deviation) ** 2).sum(axis=0) / count)
    spread = np.where(between > 1e-12, between, np.where(within > 1e-12, within, 1.0))
    least = noise.floor * spread
    return np.maximum(deviation, least), borrowed, int((deviation < least).sum())


def pooled_deviation(square: Floats, freedom: Floats) -> Floats:
    """Return one deviation for each task from all its repeated cells; NaN where none is repeated.

    >>> pooled_deviation(np.array([[2.0], [6.0]]), np.array([[1.0], [1.0]]))
    array([2.])
    """
    repeated = np.where(freedom > 0, square, 0.0).sum(axis=0)
    return np.sqrt(ratio(repeated, freedom.sum(axis=0)))

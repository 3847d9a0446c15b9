"""Channels: the mean and the deviation of each agent on each task, one channel for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.information.deviations import CellDeviations, cell_deviations
from examiner.information.mixing import whitening
from examiner.information.observations import Moments, Observations, moments, observe
from examiner.results import Results
from examiner.wording import InputError, counted, listed, shorten

NoiseKind = Literal["trial", "mean"]
Deviations = Literal["own", "pooled"] | float


@dataclass(frozen=True, slots=True)
class Noise:
    """What is taken for noise, and what stands in where none was seen.

    `kind` is "trial" (what one trial tells, as papers/004 prints it) or "mean" (the standard error:
    what all trials of a cell tell together). `deviations` is "own" (each cell's own), "pooled" (one
    for all agents of a task) or a number: a deviation stated as a share of the task's spread between
    agents. `floor` is the least deviation, as a share of that spread.

    >>> Noise(kind="both")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The noise is 'both'. Say 'trial' or 'mean'.
    """

    kind: NoiseKind = "trial"
    deviations: Deviations = "own"
    floor: float = 0.001

    def __post_init__(self) -> None:
        if self.kind not in ("trial", "mean"):
            raise InputError(f"The noise is {shorten(self.kind)}. Say 'trial' or 'mean'.")
        stated = isinstance(self.deviations, (int, float)) and self.deviations > 0
        if not stated and self.deviations not in ("own", "pooled"):
            raise InputError(
                f"The deviations are {shorten(self.deviations)}. Say 'own', 'pooled', or a number "
                f"above 0: a share of the task's spread between agents."
            )
        if not 0 < self.floor < 1:
            raise InputError(
                f"The floor is {self.floor}. Give a share of the spread between agents in (0, 1)."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Channels:
    """Means and deviations of agents on tasks, each measure a channel (papers/004, section V-B).

    `mean` and `deviation` have shape [measures, agents, tasks], NaN where nothing was observed; the
    values of a score stand on a scale of its task's own. `whitening` has shape [tasks, measures,
    measures] where measures are taken with their correlation, else it is None.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    measures: tuple[str, ...]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    whitening: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def max_bits(self) -> float:
        """Return the most that any set of tasks can tell: log₂ of the number of agents."""
        return float(np.log2(len(self.agents)))

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Which tasks have a channel seen on at least two agents; shape [tasks]."""
        seen = np.isfinite(self.deviation).sum(axis=1) >= 2
        usable: NDArray[np.bool_] = seen.any(axis=0)
        return usable

    def only(self, measure: str) -> Channels:
        """Return the channel of one measure alone.

        >>> both = {"agent": ["a", "b"] * 2, "task": ["t"] * 4, "win": [0, 1] * 2, "score": [1, 2, 3, 4]}
        >>> channels(Results.from_dict(both), ["win", "score"]).only("win").measures
        ('win',)
        """
        place = [self.measures.index(measure)]
        return Channels(
            self.agents, self.tasks, (measure,), self.mean[place], self.deviation[place]
        )


def channels(
    results: Results,
    measures: Sequence[str] | None = None,
    noise: Noise | None = None,
    *,
    correlated: bool = False,
) -> Channels:
    r"""Return each agent's mean and deviation on each task, for one or several measures.

    Trials are averaged within runs, and runs within a cell. For a measure of zeros and ones, k wins of
    n trials give

    .. math:: \tilde p = \frac{k + 1/2}{n + 1}, \qquad \sigma = \sqrt{\tilde p (1 - \tilde p)}

    so that an agent that always wins still has a deviation. Any other measure has the deviation of its
    trials, at least `noise.floor` times the spread between agents. With `correlated`, measures are not
    taken for independent but with their correlation within cells (the Mahalanobis distance that
    papers/004 suggests in section V-A).

    >>> results = Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]])
    >>> channels(results).mean.ravel(), channels(results).deviation.ravel().round(3)
    (array([-0.4 ,  0.45]), array([0.141, 0.071]))
    """
    seen = observe(results, measures)
    check_agents(seen)
    noise = noise or Noise()
    mixed = whitening(results, seen.measures) if correlated and len(seen.measures) > 1 else None
    return channels_of(seen, moments(seen), noise, mixed)


def check_agents(seen: Observations) -> None:
    """Refuse a table with one agent: there is nothing to tell apart."""
    if len(seen.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(seen.agents[0])}, and nothing to tell it apart from. "
            f"Give results of at least two."
        )


def channels_of(
    seen: Observations,
    found: Moments,
    noise: Noise,
    whitening: NDArray[np.float64] | None = None,
) -> Channels:
    """Return the channels of moments that may be resampled or permuted."""
    mean, deviation = found.mean.copy(), np.empty_like(found.mean)
    notes: list[str] = []
    for place, (measure, share) in enumerate(zip(seen.measures, seen.shares, strict=True)):
        one = Moments(*(part[place] for part in found))
        if share:
            mean[place], deviation[place] = _shares(one, noise, seen.unit == "run")
            continue
        cells = cell_deviations(one, noise.kind, noise.deviations, noise.floor)
        deviation[place] = cells.deviation
        notes += _notes(seen, measure, one, cells, noise.floor)
    mean[np.isnan(deviation)] = np.nan
    if whitening is not None:  # a cell counts where all measures were seen
        lacking = np.isnan(deviation).any(axis=0)
        mean[:, lacking] = deviation[:, lacking] = np.nan
    for array in (mean, deviation):
        read_only(array)
    return Channels(
        seen.agents, seen.tasks, seen.measures, mean, deviation, whitening, tuple(notes)
    )


def _shares(
    found: Moments, noise: Noise, runs: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    share = (found.mean * found.trials + 0.5) / (found.trials + 1)
    deviation = np.sqrt(share * (1 - share))
    if noise.kind == "mean":
        deviation = deviation / np.sqrt(np.maximum(found.trials, 1))
        if runs:  # runs of one agent may differ by more than their trials explain
            freedom = np.maximum(found.units - 1, 1) * np.maximum(found.units, 1)
            deviation = np.maximum(deviation, np.sqrt(found.unit_square / freedom))
    # Always won or always lost, a task tells nothing, however often each agent tried.
    low, high = np.fmin.reduce(found.mean, axis=0), np.fmax.reduce(found.mean, axis=0)
    constant = ((low == high) & ((low == 0) | (low == 1))) & np.isfinite(share)
    return np.where(constant, 0.5, share), np.where(constant, 0.5, deviation)


def _notes(
    seen: Observations, measure: str, found: Moments, cells: CellDeviations, floor: float
) -> list[str]:
    observed = np.isfinite(found.mean)
    lost = np.any(observed & np.isnan(cells.deviation), axis=0)
    if lost.all():
        raise InputError(
            f"Every cell of {shorten(measure)} is a single trial, so how much an agent varies cannot "
            f"be told. Repeat the trials, fold levels into trials (`--item task`), or state a "
            f"deviation as a share of the spread between agents (`--deviations 0.2`)."
        )
    notes = []
    if cells.borrowed:
        notes.append(
            f"{counted(cells.borrowed, 'cell')} of {shorten(measure)} with a single trial took the "
            f"deviation that is pooled from repeated trials."
        )
    if cells.floored:
        notes.append(
            f"{counted(cells.floored, 'cell')} of {shorten(measure)} varied by less than {floor:g} of the "
            f"spread between agents, most often not at all, and were given that: their bits rest on it."
        )
    if lost.any():
        names = [task for task, without in zip(seen.tasks, lost, strict=True) if without]
        notes.append(
            f"{counted(len(names), 'task')} without any repeated trial of {shorten(measure)} told "
            f"nothing by it: {listed(names, limit=5)}. 'pooled' deviations would borrow from others."
        )
    return notes

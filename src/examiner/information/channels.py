"""Channels: the mean and the deviation of each agent on each task, one channel for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from examiner.information.noise import CellDeviations, ChannelModel, Noise, cell_deviations
from examiner.information.observations import Moments, Observations, moments, observe
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results
from examiner.scores.cells import RowCodes
from examiner.scores.common_rows import column_blocks
from examiner.validation import Floats, read_only


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Channels:
    """Means and deviations of agents on tasks, each measure a channel (papers/004, section V-B).

    `mean` and `deviation` have shape [measures, agents, tasks], NaN where nothing was observed; the
    values of a score stand on a scale of its task's own. `whitening` has shape [tasks, measures,
    measures] where measures are taken with their correlation, else it is None.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    measures: tuple[str, ...]
    mean: Floats
    deviation: Floats
    whitening: Floats | None = None
    notes: tuple[str, ...] = ()
    model: ChannelModel = field(default_factory=ChannelModel)

    @classmethod
    def of(cls, source: Results | Channels) -> Channels:
        """Return channels as they are, and those of results by their first measure.

        >>> Channels.of(Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]])).measures
        ('score',)
        """
        return source if isinstance(source, Channels) else channels(source)

    @property
    def max_bits(self) -> float:
        """Return the most that any set of tasks can tell: log₂ of the number of agents."""
        return float(np.log2(len(self.agents)))

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Which tasks have a channel seen on at least two agents; shape [tasks]."""
        seen = np.isfinite(self.deviation).sum(axis=1) >= 2
        return np.asarray(seen.any(axis=0))

    def only(self, measure: str) -> Channels:
        """Return the channel of one measure alone.

        >>> both = {"agent": ["a", "b"] * 2, "task": ["t"] * 4, "win": [0, 1] * 2, "score": [1, 2, 3, 4]}
        >>> channels(Results.from_dict(both), ["win", "score"]).only("win").measures
        ('win',)
        """
        part = [self.measures.index(measure)]
        return replace(
            self,
            measures=(measure,),
            mean=self.mean[part],
            deviation=self.deviation[part],
            whitening=None,
            notes=(),
        )

    def take(self, columns: Sequence[int]) -> Channels:
        """Return the channels of some tasks, in the order given.

        >>> Channels.of(Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]], tasks="t")).take([0]).tasks
        ('t',)
        """
        return replace(
            self,
            tasks=tuple(self.tasks[column] for column in columns),
            mean=self.mean[:, :, columns],
            deviation=self.deviation[:, :, columns],
            whitening=None if self.whitening is None else self.whitening[columns],
        )

    def columns(self, tasks: Sequence[str] | None = None) -> list[int]:
        """Return where named tasks stand; those that can tell anything where none are named.

        >>> Channels.of(Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]], tasks="t")).columns(["t"])
        [0]
        """
        if tasks is None:
            return np.flatnonzero(self.usable).tolist()
        known = {task: column for column, task in enumerate(self.tasks)}
        unknown = [task for task in tasks if task not in known]
        if unknown:
            raise InputError(
                f"There is no task {shorten(unknown[0])} among {len(known):,}. Name tasks as they were "
                f"read."
            )
        return [known[task] for task in tasks]

    def __repr__(self) -> str:
        size = f"{counted(len(self.agents), 'agent')} × {counted(len(self.tasks), 'task')}"
        return f"Channels: {size} by {', '.join(self.measures)}, at most {self.max_bits:.3g} bits"


def channels(
    results: Results, measures: Sequence[str] | None = None, model: ChannelModel | None = None
) -> Channels:
    r"""Return each agent's mean and deviation on each task, for one or several measures.

    Trials are averaged within runs, and runs within a cell. For a measure of zeros and ones, k wins of
    n trials give

    .. math:: \tilde p = \frac{k + 1/2}{n + 1}, \qquad \sigma = \sqrt{\tilde p (1 - \tilde p)}

    so that an agent that always wins still has a deviation. Any other measure has the deviation of its
    trials, at least `model.noise.floor` times the spread between agents; so have wins taken literally.

    >>> results = Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]])
    >>> channels(results).mean.ravel(), channels(results).deviation.ravel().round(3)
    (array([-0.4 ,  0.45]), array([0.141, 0.071]))
    """
    model = model or ChannelModel()
    seen = observed(results, measures, model)
    check_agents(seen)
    return channels_of(seen, moments(seen), model)


def observed(results: Results, measures: Sequence[str] | None, model: ChannelModel) -> Observations:
    """Gather what a model of channels needs of results.

    >>> wins = Results.from_numpy([[[0.0, 1.0]], [[1.0, 1.0]]])
    >>> observed(wins, None, ChannelModel(Noise(literal_wins=True))).shares
    (False,)
    """
    seen = observe(results, measures, correlated=model.correlated)
    if model.noise.literal_wins:
        seen = seen._replace(shares=(False,) * len(seen.measures))
    return seen


def single_successes(results: Results, measure: str | None = None) -> bool:
    """Tell whether every cell is a single trial of 0 or 1, which does not say how an agent varies.

    >>> single_successes(Results.from_numpy([[0.0, 1.0]])), single_successes(Results.from_numpy([[0.5]]))
    (True, False)
    """
    if not results.is_binary(measure):
        return False
    codes, known = RowCodes.of(results), ~np.isnan(results.measure(measure))
    if not known.all():
        codes = codes._replace(agent=codes.agent[known], task=codes.task[known])
    return codes.single() is not None


def check_agents(seen: Observations) -> None:
    """Refuse a table with one agent: there is nothing to tell apart."""
    if len(seen.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(seen.agents[0])}, and nothing to tell it apart from. "
            f"Give results of at least two."
        )


def channels_of(seen: Observations, found: Moments, model: ChannelModel) -> Channels:
    """Return the channels of moments that may be resampled or permuted."""
    mean, deviation = found.mean.copy(), np.empty_like(found.mean)
    notes: list[str] = []
    for index, (measure, share) in enumerate(zip(seen.measures, seen.shares, strict=True)):
        alone = Moments(*(part[index] for part in found))
        if share:
            for block in column_blocks(seen.shape):
                part = Moments(*(table[:, block] for table in alone))
                found_here = _shares(part, model.noise, seen.unit == "run")
                mean[index, :, block], deviation[index, :, block] = found_here
            continue
        cells = cell_deviations(alone, model.noise)
        deviation[index] = cells.deviation
        notes += _notes(seen, measure, alone, cells, model.noise.floor)
    mean[np.isnan(deviation)] = np.nan
    if seen.whitening is not None:  # a cell counts where all measures were seen
        lacking = np.isnan(deviation).any(axis=0)
        mean[:, lacking] = deviation[:, lacking] = np.nan
    read_only(mean, deviation)
    names = seen.agents, seen.tasks, seen.measures
    return Channels(*names, mean, deviation, seen.whitening, tuple(notes), model)


def _shares(found: Moments, noise: Noise, runs: bool) -> tuple[Floats, Floats]:
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
            f'be told. Repeat the trials, fold levels into trials (`item=["task"]`), or state a '
            f"deviation as a share of the spread between agents (`deviations=0.2`)."
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

"""Channels: the mean and the deviation of each agent on each task, one channel per measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, name, number
from examiner.information.noise import ChannelModel, score_deviations, share_deviations
from examiner.information.observations import Moments, Observations, moments, observe
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, reads_results
from examiner.scores import RowCodes
from examiner.validation import Floats, check_known, read_only

MAX_BITS = "Information that identifies the agent: log₂ of the number of agents"


class ChannelCells(Table):
    """Means and deviations of cells, in the order of the results."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    measure: tuple[str, ...] = name("Measure")
    mean: Floats = number("Mean, on the task's own scale from −½ to ½ unless it is a share")
    deviation: Floats = number("Standard deviation, on the same scale")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Channels(Answer):
    """Means and deviations of agents on tasks; each measure is a channel (papers/004, section V-B).

    `mean` and `deviation` have shape [measures, agents, tasks], NaN where nothing was observed; the
    values of a score are on a scale of its task. `whitening` has shape [tasks, measures, measures] where
    the correlation of measures is modelled, else it is None.
    """

    kind = "channels"

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
        """The information that identifies the agent: log₂ of the number of agents."""
        return float(np.log2(len(self.agents)))

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Which tasks have a channel observed on at least two agents; shape [tasks]."""
        return np.asarray((np.isfinite(self.deviation).sum(axis=1) >= 2).any(axis=0))

    @property
    def headline(self) -> str:
        """How many agents and tasks there are, and how many bits identify an agent."""
        size = f"{counted(len(self.agents), 'agent')} × {counted(len(self.tasks), 'task')}"
        measures = ", ".join(self.measures)
        return f"{size} by {measures}: at most {self.max_bits:.3g} bits identify an agent."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Cells, one row per agent, task and measure."""
        agents, tasks, measures = len(self.agents), len(self.tasks), len(self.measures)
        cells = ChannelCells(
            agent=np.repeat(self.agents, tasks * measures),
            task=np.tile(np.repeat(self.tasks, measures), agents),
            measure=self.measures * (agents * tasks),
            mean=self.mean.transpose(1, 2, 0).ravel(),
            deviation=self.deviation.transpose(1, 2, 0).ravel(),
        )
        return {"cells": cells}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The information that identifies the agent."""
        return {"max_bits": Scalar(self.max_bits, MAX_BITS, "bits")}

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
        """Return the columns of named tasks; those of all usable tasks where none are named.

        >>> Channels.of(Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]], tasks="t")).columns(["t"])
        [0]
        """
        if tasks is None:
            return np.flatnonzero(self.usable).tolist()
        column_of = {task: column for column, task in enumerate(self.tasks)}
        for task in tasks:
            check_known("task", task, column_of)
        return [column_of[task] for task in tasks]


@reads_results
def channels(
    results: Results, measures: Sequence[str] | None = None, model: ChannelModel | None = None
) -> Channels:
    r"""Return each agent's mean and deviation on each task, for one or several measures.

    Trials are averaged within runs, and runs within a cell. For a measure of zeros and ones, k wins of
    n trials give

    .. math:: \tilde p = \frac{k + 1/2}{n + 1}, \qquad \sigma = \sqrt{\tilde p (1 - \tilde p)}

    so that an agent that always wins still has a deviation. Any other measure has the deviation of its
    trials, at least `model.noise.floor` times the spread between agents; so have literal wins.

    >>> results = Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]])
    >>> channels(results).mean.ravel(), channels(results).deviation.ravel().round(3)
    (array([-0.4 ,  0.45]), array([0.141, 0.071]))
    """
    model = model or ChannelModel()
    observations = observed(results, measures, model)
    return channels_of(observations, moments(observations), model)


def observed(results: Results, measures: Sequence[str] | None, model: ChannelModel) -> Observations:
    """Collect the observations that a model of channels needs, of at least two agents.

    >>> from examiner.information.noise import Noise
    >>> wins = Results.from_numpy([[[0.0, 1.0]], [[1.0, 1.0]]])
    >>> observed(wins, None, ChannelModel(Noise(literal_wins=True))).shares
    (False,)
    """
    observations = observe(results, measures, correlated=model.correlated)
    if model.noise.literal_wins:
        observations = observations._replace(shares=(False,) * len(observations.measures))
    if len(observations.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(observations.agents[0])}, and no other to compare it with. "
            f"Give results of at least two."
        )
    return observations


def single_successes(results: Results, measure: str | None = None) -> bool:
    """Return whether every cell is a single trial of 0 or 1, which does not show how an agent varies.

    >>> single_successes(Results.from_numpy([[0.0, 1.0]])), single_successes(Results.from_numpy([[0.5]]))
    (True, False)
    """
    if not results.is_binary(measure):
        return False
    codes, observed_rows = RowCodes.of(results), ~np.isnan(results.measure(measure))
    if not observed_rows.all():
        codes = codes._replace(agent=codes.agent[observed_rows], task=codes.task[observed_rows])
    return codes.single() is not None


def channels_of(observations: Observations, cells: Moments, model: ChannelModel) -> Channels:
    """Return the channels of moments that may be resampled or permuted."""
    mean, deviation = cells.mean.copy(), np.empty_like(cells.mean)
    notes: list[str] = []
    for index, measure in enumerate(observations.measures):
        alone = Moments(*(part[index] for part in cells))
        if observations.shares[index]:
            several = observations.unit == "run"
            mean[index], deviation[index] = share_deviations(alone, model.noise, runs=several)
        else:
            deviation[index], borrowed, floored = score_deviations(alone, model.noise)
            unusable = np.any(np.isfinite(alone.mean) & np.isnan(deviation[index]), axis=0)
            lacking = [observations.tasks[task] for task in np.flatnonzero(unusable).tolist()]
            floor = model.noise.floor
            notes += _notes(measure, lacking, observations.shape[1], borrowed, floored, floor)
    mean[np.isnan(deviation)] = np.nan
    if observations.whitening is not None:  # a cell counts where all measures were observed
        incomplete = np.isnan(deviation).any(axis=0)
        mean[:, incomplete] = deviation[:, incomplete] = np.nan
    read_only(mean, deviation)
    names = observations.agents, observations.tasks, observations.measures
    return Channels(*names, mean, deviation, observations.whitening, tuple(notes), model)


def _notes(
    measure: str, lacking: Sequence[str], tasks: int, borrowed: int, floored: int, floor: float
) -> Iterator[str]:
    """Say how many cells have another deviation than their own, and which tasks are `lacking` any."""
    if len(lacking) == tasks:
        raise InputError(
            f"Every cell of {shorten(measure)} is a single trial, so how much an agent varies is not "
            f'known. Repeat the trials, treat levels as trials (`item=["task"]`), or state a deviation as '
            f"a share of the spread between agents (`deviations=0.2`)."
        )
    if borrowed:
        yield (
            f"{counted(borrowed, 'cell')} of {shorten(measure)} with a single trial "
            f"{'uses' if borrowed == 1 else 'use'} the deviation pooled from repeated trials."
        )
    if floored:
        yield (
            f"{counted(floored, 'cell')} of {shorten(measure)} varied by less than {floor:g} of "
            f"the spread between agents, most often not at all: their deviation was set to this minimum."
        )
    if lacking:
        yield (
            f"{counted(len(lacking), 'task')} without any repeated trial of {shorten(measure)} "
            f"{'gives' if len(lacking) == 1 else 'give'} no information by it: {listed(lacking, limit=5)}. "
            f"'pooled' deviations borrow from other tasks."
        )

"""Observations: run by run, for bits and their uncertainty; cell by cell, for similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.task_scale import task_scaled, whitening
from examiner.results import ContentOrder, Results
from examiner.scores import (
    NORMALISERS,
    RowCodes,
    TaskScores,
    cell_means,
    column_range,
    judged_runs,
    ratio,
)
from examiner.validation import Floats

Unit = Literal["run", "trial"]


class Observations(NamedTuple):
    """Runs (or trials, where every cell is one run) of every agent on every task.

    A unit is what is permuted. `cell` has shape [units] and holds agent · tasks + task;
    `trials`, `mean` and `square` have shape [measures, units]: trials with the measure, their mean, and
    the sum of squares about it. Values are on a scale of the task, from −½ to ½, since bits do not
    change when a score is rescaled; zeros and ones stay as they are, and `shares` says which measures
    consist of them. `whitening` [tasks, measures, measures] is present where the correlation of measures
    is modelled.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    measures: tuple[str, ...]
    unit: Unit
    cell: NDArray[np.int64]
    trials: Floats
    mean: Floats
    square: Floats
    shares: tuple[bool, ...]
    whitening: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of agents and of tasks."""
        return len(self.agents), len(self.tasks)

    @property
    def repeated(self) -> bool:
        """Whether some cell has two units."""
        observed = np.zeros(len(self.agents) * len(self.tasks), dtype=bool)
        observed[self.cell] = True
        return int(np.count_nonzero(observed)) < len(self.cell)

    def ordered(self, order: ContentOrder) -> Observations:
        """Return agents and tasks in an order by content, units by cell and value.

        Draws from these depend neither on names nor on the order of rows.
        """
        agent, task = np.divmod(self.cell, len(self.tasks))
        agent_rank, task_rank = (np.argsort(part) for part in order)
        cell = agent_rank[agent] * len(self.tasks) + task_rank[task]
        units = np.lexsort((*self.square, *self.trials, *self.mean, cell))
        return self._replace(
            agents=tuple(self.agents[row] for row in order.agents),
            tasks=tuple(self.tasks[column] for column in order.tasks),
            cell=cell[units],
            trials=self.trials[:, units],
            mean=self.mean[:, units],
            square=self.square[:, units],
            whitening=None if self.whitening is None else self.whitening[order.tasks],
        )

    def of_tasks(self, columns: Sequence[int]) -> Observations:
        """Return the names and scales of some tasks, for moments of these; units stay those of all."""
        return self._replace(
            tasks=tuple(self.tasks[column] for column in columns),
            whitening=None if self.whitening is None else self.whitening[list(columns)],
        )


class Moments(NamedTuple):
    """Each cell's units, trials, mean and sums of squares; shape [measures, agents, tasks]."""

    units: Floats
    trials: Floats
    mean: Floats  # of the units' means; NaN where nothing was observed
    square: Floats  # of the trials, about the cell's mean
    unit_square: Floats  # of the units' means, about the cell's mean

    def of_agents(self, rows: NDArray[np.intp]) -> Moments:
        """Return those of some agents, in the order given."""
        return Moments(*(_rows_of(part, rows) for part in self))

    def of_tasks(self, columns: Sequence[int]) -> Moments:
        """Return those of some tasks, in the order given."""
        return Moments(*(part[:, :, columns] for part in self))


def _rows_of(part: Floats, rows: NDArray[np.intp]) -> Floats:
    if not any(part.strides):  # one broadcast number
        return np.broadcast_to(part[:1, :1, :1], (len(part), len(rows), part.shape[2]))
    return part[:, rows]


def observe(
    results: Results, measures: Sequence[str] | None = None, *, correlated: bool = False
) -> Observations:
    """Collect the runs of each cell; where no cell has two runs, its trials.

    With `correlated`, the correlation of several measures is estimated too.

    >>> runs = observe(Results.from_numpy([[[1.0, 3.0]], [[5.0, 5.0]]]))
    >>> runs.unit, runs.mean
    ('run', array([[-0.5,  0. ,  0.5,  0.5]]))
    """
    results = judged_runs(results)
    wanted = measures or results.measures[:1]
    names = tuple(dict.fromkeys(results.measure_name(name) for name in wanted))
    n_tasks = len(results.tasks)
    single = RowCodes.of(results).single()
    if single is not None:
        return _single_trials(results, names, single, correlated=correlated)
    rows = results.agent_codes.astype(np.int64) * n_tasks + results.task_codes
    runs = results.run_numbers
    first = np.unique(runs, return_index=True)[1]
    repeated = np.bincount(rows[first]).max() > 1
    unit_of_row = runs if repeated else np.arange(len(rows))
    cell = rows[first] if repeated else rows
    parts = [_summed(results, name, unit_of_row, len(cell)) for name in names]
    count, mean, square = (np.stack(part) for part in zip(*parts, strict=True))
    return Observations(
        results.agents,
        results.tasks,
        names,
        "run" if repeated else "trial",
        cell,
        count,
        mean,
        square,
        tuple(results.is_binary(name) for name in names),
        whitening(results, names) if correlated and len(names) > 1 else None,
    )


def _single_trials(
    results: Results,
    names: tuple[str, ...],
    single: slice | NDArray[np.int64],
    *,
    correlated: bool,
) -> Observations:
    """Return one trial per cell, without copying values; constant arrays are one broadcast number."""
    rows = len(results)
    cell = single
    if isinstance(cell, slice):
        cell = np.arange(rows, dtype=np.int32 if rows < 1 << 31 else np.int64)
    tasks, parts = results.task_codes, []
    for name in names:
        values = results.measure(name)
        if not results.is_binary(name):
            values = task_scaled(values, tasks.astype(np.int64), len(results.tasks))
        observed = ~np.isnan(values)
        count = np.broadcast_to(1.0, rows) if observed.all() else observed.astype(np.float64)
        parts.append((count, values if observed.all() else np.where(observed, values, 0.0)))
    if len(parts) == 1:
        count, mean = (part[None] for part in parts[0])
    else:
        count, mean = (np.stack(part) for part in zip(*parts, strict=True))
    return Observations(
        *(results.agents, results.tasks, names, "trial", cell, count, mean),
        np.broadcast_to(0.0, mean.shape),
        tuple(results.is_binary(name) for name in names),
        whitening(results, names) if correlated and len(names) > 1 else None,
    )


def moments(
    observations: Observations, cell: NDArray[np.int64] | None = None, weight: Floats | None = None
) -> Moments:
    """Average units within cells; `cell` reassigns the units, `weight` weights them.

    >>> cells = moments(observe(Results.from_numpy([[[1.0, 3.0]], [[5.0, 5.0]]])))
    >>> cells.mean.ravel(), cells.square.ravel()
    (array([-0.25,  0.5 ]), array([0.125, 0.   ]))
    """
    if cell is None and weight is None and _in_order(observations):
        return _single_moments(observations)
    cell = observations.cell if cell is None else cell
    sums = observations.trials, observations.mean, observations.square
    parts = [
        _cell_moments(cell, observations.shape, *arrays, weight)
        for arrays in zip(*sums, strict=True)
    ]
    return Moments(*(np.stack(part) for part in zip(*parts, strict=True)))


def _in_order(observations: Observations) -> bool:
    """Whether units are the cells themselves, all of them and in order."""
    agents, tasks = observations.shape
    if len(observations.cell) != agents * tasks:
        return False
    step = 1 << 22
    starts = range(0, len(observations.cell), step)
    return all(
        (
            observations.cell[at : at + step]
            == np.arange(at, min(at + step, len(observations.cell)))
        ).all()
        for at in starts
    )


def _single_moments(observations: Observations) -> Moments:
    """Return moments of cells that are one unit each, without copies where none is missing."""
    shape = len(observations.measures), *observations.shape
    none = np.broadcast_to(0.0, shape)
    if observations.trials.strides[-1] == 0:  # one broadcast number
        once = np.broadcast_to(1.0, shape)
        return Moments(once, once, observations.mean.reshape(shape), none, none)
    trials, square = observations.trials.reshape(shape), observations.square.reshape(shape)
    units = (trials > 0).astype(np.float64)
    return Moments(
        units, trials, np.where(trials > 0, observations.mean.reshape(shape), np.nan), square, none
    )


def _cell_moments(
    cell: NDArray[np.int64],
    shape: tuple[int, int],
    count: Floats,
    mean: Floats,
    square: Floats,
    weight: Floats | None,
) -> tuple[Floats, ...]:
    size = shape[0] * shape[1]
    once = (count > 0).astype(np.float64) if weight is None else weight * (count > 0)

    def total(values: Floats) -> Floats:
        return np.bincount(cell, weights=values, minlength=size).astype(np.float64, copy=False)

    units, trials = total(once), total(once * count)
    centre = ratio(total(once * mean), units)
    apart = (mean - np.nan_to_num(centre)[cell]) ** 2
    parts = (units, trials, centre, total(once * (square + count * apart)), total(once * apart))
    return tuple(part.reshape(shape) for part in parts)


def _summed(
    results: Results, measure: str, unit: NDArray[np.int64], units: int
) -> tuple[Floats, Floats, Floats]:
    values = results.measure(measure)
    if not results.is_binary(measure):
        values = task_scaled(values, results.task_codes.astype(np.int64), len(results.tasks))
    observed = ~np.isnan(values)
    unit, values = unit[observed], values[observed]
    count = np.bincount(unit, minlength=units).astype(np.float64)
    mean = np.zeros(units)
    np.divide(np.bincount(unit, weights=values, minlength=units), count, out=mean, where=count > 0)
    apart = (values - mean[unit]) ** 2
    square = np.bincount(unit, weights=apart, minlength=units).astype(np.float64, copy=False)
    return count, mean, square


def task_signs(results: Results, measure: str | None = None) -> Floats:
    """Return +1 for tasks where higher is better and −1 where lower is; shape [tasks].

    >>> task_signs(Results.from_numpy([[1.0, 2.0]]), "score")
    array([1., 1.])
    """
    return results.scales.aligned(results.task_names, results.measure_name(measure)).sign


def oriented_means(results: Results, measure: str | None = None) -> Floats:
    """Return the mean of each cell, higher being better; shape [agents, tasks], NaN for no result.

    >>> oriented_means(Results.from_numpy([[1.0, 2.0]]), "score")
    array([[1., 2.]])
    """
    means, signs = cell_means(results, measure), task_signs(results, measure)
    return means if (signs > 0).all() else means * signs


def shares(means: Floats, like: Floats | None = None) -> Floats:
    """Return means as shares: as they are within [0, 1], else each task from its worst agent to its best.

    `like` gives another table whose worst and best are used. A task without differences between agents
    is NaN.

    >>> shares(np.array([[0.2, 0.5], [0.4, 1.0]])).tolist()
    [[0.2, 0.5], [0.4, 1.0]]
    >>> shares(np.array([[2.0], [7.0], [12.0]])).ravel()
    array([0. , 0.5, 1. ])
    """
    like = means if like is None else like
    low, high = column_range(like)
    if (np.fmin.reduce(low, initial=0.0) >= 0) and (np.fmax.reduce(high, initial=1.0) <= 1):
        return means
    if len(like) < 2:
        return np.full_like(means, np.nan)
    scaled = NORMALISERS["min-max"]
    names = [[str(number) for number in range(count)] for count in means.shape]
    scale = scaled.learn(TaskScores.of_cells(like, *names))
    return scaled.apply(scale, TaskScores.of_cells(means, *names)).reshape(means.shape)

"""Observations: run by run, on a scale of each task, for bits and their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import ContentOrder, Results
from examiner.scores import ROUNDING, judged_runs, ratio
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
        return int(np.bincount(self.cell).max(initial=0)) > 1

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
        return Moments(*(part[:, rows] for part in self))

    def of_tasks(self, columns: Sequence[int]) -> Moments:
        """Return those of some tasks, in the order given."""
        return Moments(*(part[:, :, columns] for part in self))


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
    tasks = results.task_codes.astype(np.int64)
    cell = results.agent_codes.astype(np.int64) * len(results.tasks) + tasks
    runs = results.run_numbers
    first = np.unique(runs, return_index=True)[1]
    repeated = np.bincount(cell[first]).max() > 1
    unit = runs if repeated else np.arange(len(cell))
    cell = cell[first] if repeated else cell
    parts = []
    for name in names:
        values = results.measure(name)
        if not results.is_binary(name):
            values = task_scaled(values, tasks, len(results.tasks))
        parts.append(_of_units(values, unit, len(cell)))
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


def _of_units(
    values: Floats, unit: NDArray[np.integer], units: int
) -> tuple[Floats, Floats, Floats]:
    """Trials with a value, their mean and the sum of squares about it; [units] each."""
    observed = ~np.isnan(values)
    unit, values = unit[observed], values[observed]
    count = np.bincount(unit, minlength=units).astype(np.float64)
    mean = np.nan_to_num(ratio(np.bincount(unit, weights=values, minlength=units), count))
    apart = (values - mean[unit]) ** 2
    return count, mean, np.bincount(unit, weights=apart, minlength=units).astype(np.float64)


def moments(
    observations: Observations, cell: NDArray[np.int64] | None = None, weight: Floats | None = None
) -> Moments:
    """Average units within cells; `cell` reassigns the units, `weight` weights them.

    >>> cells = moments(observe(Results.from_numpy([[[1.0, 3.0]], [[5.0, 5.0]]])))
    >>> cells.mean.ravel(), cells.square.ravel()
    (array([-0.25,  0.5 ]), array([0.125, 0.   ]))
    """
    cell = observations.cell if cell is None else cell
    size = observations.shape[0] * observations.shape[1]

    def total(values: Floats) -> Floats:
        return np.bincount(cell, weights=values, minlength=size).astype(np.float64, copy=False)

    parts = []
    for count, mean, square in zip(
        observations.trials, observations.mean, observations.square, strict=True
    ):
        once = (count > 0) * (1.0 if weight is None else weight)
        units = total(once)
        centre = ratio(total(once * mean), units)
        apart = (mean - np.nan_to_num(centre)[cell]) ** 2
        squares = total(once * (square + count * apart)), total(once * apart)
        parts.append((units, total(once * count), centre, *squares))
    shape = -1, *observations.shape
    return Moments(*(np.stack(part).reshape(shape) for part in zip(*parts, strict=True)))


def task_scaled(values: Floats, task: NDArray[np.integer], tasks: int) -> Floats:
    """Return the values of each task on a scale from −½ to ½; a constant task is 0 throughout.

    Not the normaliser 'min-max', which compares agents: this is a scale for single trials on which squares
    neither overflow nor lose digits. Bits do not depend on it.

    >>> task_scaled(np.array([10.0, 30.0, 7.0]), np.array([0, 0, 1]), 2)
    array([-0.5,  0.5,  0. ])
    """
    observed = ~np.isnan(values)
    low, high = np.full(tasks, np.inf), np.full(tasks, -np.inf)
    np.minimum.at(low, task[observed], values[observed])
    np.maximum.at(high, task[observed], values[observed])
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    # Halves first: the range of two huge numbers of opposite sign is beyond float64.
    half, middle = high / 2 - low / 2, high / 2 + low / 2
    varied = half > ROUNDING * np.maximum(np.abs(low), np.abs(high))
    scale = np.where(varied, half, 1.0)
    scaled: Floats = (values / 2 - middle[task] / 2) / scale[task]
    return np.where(varied[task] | ~observed, scaled, 0.0)


def whitening(results: Results, measures: Sequence[str]) -> Floats:
    r"""Return for each task the matrix that makes its measures' noise uncorrelated.

    With R the correlation of the measures within cells, pooled over the agents of a task,

    .. math:: z^\top R^{-1} z = \lVert W z \rVert^2

    R is shrunk towards no correlation, more with fewer trials (by M + 1 of the degrees of freedom plus
    M + 1), and no eigenvalue is below 0.05. Shape [tasks, measures, measures].

    >>> table = {"agent": ["a"] * 4, "task": ["t"] * 4, "score": [0, 1, 2, 3], "win": [0, 0, 1, 1]}
    >>> matrix = whitening(Results.from_dict(table), ["score", "win"])[0]
    >>> np.linalg.inv(matrix.T @ matrix).round(3)
    array([[1.   , 0.447],
           [0.447, 1.   ]])
    """
    n_tasks, n_measures = len(results.tasks), len(measures)
    tasks = results.task_codes.astype(np.int64)
    values = np.stack([task_scaled(results.measure(name), tasks, n_tasks) for name in measures])
    observed = ~np.isnan(values).any(axis=0)
    values, tasks = values[:, observed], tasks[observed]
    cells = results.agent_codes.astype(np.int64)[observed] * n_tasks + tasks
    _, first, cells = np.unique(cells, return_index=True, return_inverse=True)
    centre = np.stack([np.bincount(cells, weights=row) / np.bincount(cells) for row in values])
    centred = values - centre[:, cells]
    products = np.empty((n_tasks, n_measures, n_measures))
    for left, right in np.ndindex(n_measures, n_measures):
        both = centred[left] * centred[right]
        products[:, left, right] = np.bincount(tasks, weights=both, minlength=n_tasks)
    freedom = np.bincount(tasks, minlength=n_tasks) - np.bincount(tasks[first], minlength=n_tasks)
    scale = np.sqrt(np.einsum("tmm->tm", products))
    correlation = np.nan_to_num(ratio(products, scale[:, :, None] * scale[:, None, :]))
    correlation *= (freedom / (freedom + n_measures + 1))[:, None, None]
    correlation[:, np.arange(n_measures), np.arange(n_measures)] = 1.0
    eigenvalues, vectors = np.linalg.eigh(correlation)
    # The differences of measures that are perfectly correlated would otherwise have infinite weight
    lengths = 1 / np.sqrt(np.maximum(eigenvalues, 0.05))
    return np.asarray(lengths[:, :, None] * vectors.transpose(0, 2, 1))

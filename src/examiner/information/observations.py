"""What was observed, run by run: the little that bits, their intervals and their chance are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results

Unit = Literal["run", "trial"]
Array = NDArray[np.float64]

ROUNDING = 1e-13
"""A range this small beside the values themselves is what rounding leaves, not variation."""


class Observations(NamedTuple):
    """Runs (or trials, where every cell is one run) of every agent on every task.

    A unit is what is resampled and permuted. `cell` has shape [units] and holds agent · tasks + task;
    `trials`, `mean` and `square` have shape [measures, units]: trials with the measure, their mean, and
    the sum of squares about it. Values stand on a scale of the task's own, from −½ to ½, since bits do
    not change when a score is rescaled; zeros and ones stay as they are, and `shares` says which
    measures are made of them.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    measures: tuple[str, ...]
    unit: Unit
    cell: NDArray[np.int64]
    trials: Array
    mean: Array
    square: Array
    shares: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of agents and of tasks."""
        return len(self.agents), len(self.tasks)


class Moments(NamedTuple):
    """Each cell's units, trials, mean and sums of squares; shape [measures, agents, tasks]."""

    units: Array
    trials: Array
    mean: Array  # of the units' means; NaN where nothing was observed
    square: Array  # of the trials, about the cell's mean
    unit_square: Array  # of the units' means, about the cell's mean


def observe(results: Results, measures: Sequence[str] | None = None) -> Observations:
    """Gather the runs of each cell; where no cell has two runs, its trials.

    >>> seen = observe(Results.from_numpy([[[1.0, 3.0]], [[5.0, 5.0]]]))
    >>> seen.unit, seen.mean
    ('run', array([[-0.5,  0. ,  0.5,  0.5]]))
    """
    wanted = measures or results.measures[:1]
    names = tuple(dict.fromkeys(results.measure_name(name) for name in wanted))
    n_tasks = len(results.tasks)
    rows = results.agent_codes.astype(np.int64) * n_tasks + results.task_codes
    runs = results.run_numbers
    first = np.unique(runs, return_index=True)[1]
    repeated = np.bincount(rows[first]).max() > 1
    unit_of_row = runs if repeated else np.arange(len(rows))
    cell = rows[first] if repeated else rows
    parts = [_summed(results, name, unit_of_row, len(cell)) for name in names]
    count, mean, square = (np.stack([part[place] for part in parts]) for place in range(3))
    shares = tuple(results.is_binary(name) for name in names)
    unit: Unit = "run" if repeated else "trial"
    return Observations(
        results.agents, results.tasks, names, unit, cell, count, mean, square, shares
    )


def task_scaled(values: Array, task: NDArray[np.integer], tasks: int) -> Array:
    """Put the values of each task on a scale from −½ to ½; a constant task is 0 throughout.

    >>> task_scaled(np.array([10.0, 30.0, 7.0]), np.array([0, 0, 1]), 2)
    array([-0.5,  0.5,  0. ])
    """
    seen = ~np.isnan(values)
    low, high = np.full(tasks, np.inf), np.full(tasks, -np.inf)
    np.minimum.at(low, task[seen], values[seen])
    np.maximum.at(high, task[seen], values[seen])
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    # Halves first: the range of two huge numbers of opposite sign is beyond float64.
    half, middle = high / 2 - low / 2, high / 2 + low / 2
    varied = half > ROUNDING * np.maximum(np.abs(low), np.abs(high))
    scale = np.where(varied, half, 1.0)
    scaled: Array = (values / 2 - middle[task] / 2) / scale[task]
    return np.where(varied[task] | ~seen, scaled, 0.0)


def moments(
    seen: Observations, cell: NDArray[np.int64] | None = None, weight: Array | None = None
) -> Moments:
    """Average units within cells; `cell` reassigns the units, `weight` counts some more than once.

    >>> found = moments(observe(Results.from_numpy([[[1.0, 3.0]], [[5.0, 5.0]]])))
    >>> found.mean.ravel(), found.square.ravel()
    (array([-0.25,  0.5 ]), array([0.125, 0.   ]))
    """
    cell = seen.cell if cell is None else cell
    parts = [
        _cell_moments(cell, seen.shape, *arrays, weight)
        for arrays in zip(seen.trials, seen.mean, seen.square, strict=True)
    ]
    return Moments(*(np.stack([part[place] for part in parts]) for place in range(5)))


def _cell_moments(
    cell: NDArray[np.int64],
    shape: tuple[int, int],
    count: Array,
    mean: Array,
    square: Array,
    weight: Array | None,
) -> tuple[Array, ...]:
    size = shape[0] * shape[1]
    once = (count > 0).astype(np.float64) if weight is None else weight * (count > 0)

    def total(values: Array) -> Array:
        return np.bincount(cell, weights=values, minlength=size).astype(np.float64, copy=False)

    units, trials = total(once), total(once * count)
    centre = np.full(size, np.nan)
    np.divide(total(once * mean), units, out=centre, where=units > 0)
    apart = (mean - np.nan_to_num(centre)[cell]) ** 2
    parts = (units, trials, centre, total(once * (square + count * apart)), total(once * apart))
    return tuple(part.reshape(shape) for part in parts)


def _summed(
    results: Results, measure: str, unit: NDArray[np.int64], units: int
) -> tuple[Array, Array, Array]:
    values = results.measure(measure)
    if not results.is_binary(measure):
        values = task_scaled(values, results.task_codes.astype(np.int64), len(results.tasks))
    seen = ~np.isnan(values)
    unit, values = unit[seen], values[seen]
    count = np.bincount(unit, minlength=units).astype(np.float64)
    mean = np.zeros(units)
    np.divide(np.bincount(unit, weights=values, minlength=units), count, out=mean, where=count > 0)
    apart = (values - mean[unit]) ** 2
    square = np.bincount(unit, weights=apart, minlength=units).astype(np.float64, copy=False)
    return count, mean, square

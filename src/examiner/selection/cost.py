"""What running tasks costs: from a column of the results or of the table of tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.selection.selection import Selection
from examiner.wording import InputError, listed, shorten

Array = NDArray[np.float64]


def task_costs(results: Results, column: str = "cost") -> Array:
    """Return the cost of each task, shape [tasks], NaN where it is not known.

    A column of the table of tasks says it outright. A column of the results (frames, seconds, tokens)
    is summed over the trials of each run and averaged over the runs of all agents on the task.

    >>> table = {"agent": ["a", "a", "b"], "task": ["t"] * 3, "run": [0, 0, 0], "trial": [0, 1, 0]}
    >>> task_costs(Results.from_dict(table | {"score": [1, 2, 3], "seconds": [1, 2, 5]}), "seconds")
    array([4.])
    """
    if column in results.task_attributes.columns:
        return results.task_attributes.numbers(results.task_names, column)
    if column not in (*results.attributes, *results.measures):
        known = (*results.task_attributes.columns, *results.attributes, *results.measures)
        raise InputError(
            f"No column {shorten(column)} says what a task costs. Known columns: {listed(known)}."
        )
    values = results.numbers(column)
    seen = np.isfinite(values)
    if column == "frames":  # cumulative within a run, so its last value is what the run took
        runs = np.full(int(results.run_numbers.max()) + 1, np.nan)
        np.fmax.at(runs, results.run_numbers[seen], values[seen])
    else:
        total = np.bincount(results.run_numbers[seen], weights=values[seen])
        count = np.bincount(results.run_numbers[seen])
        runs = np.where(count > 0, total, np.nan)
    first = np.unique(results.run_numbers, return_index=True)[1]
    task = results.task_codes[first][: len(runs)]
    known = np.isfinite(runs)
    number = np.bincount(task[known], minlength=len(results.tasks))
    cost = np.bincount(task[known], weights=runs[known], minlength=len(results.tasks))
    return np.where(number > 0, cost / np.maximum(number, 1), np.nan)


def cost_of(selection: Selection, cost: Array) -> float:
    """Return the total cost of a selection.

    >>> cost_of(Selection("random", ("t",), (1,), np.zeros(1), "draws", 1.0), np.array([1.0, 4.0]))
    4.0
    """
    return float(cost[list(selection.places)].sum())

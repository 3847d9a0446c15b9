"""What tasks tell for what they cost: columns beside those of any table of tasks, and their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.table import Record, ShownColumn
from examiner.results import Results
from examiner.scores import Per, ratio, task_cost_notes, task_costs
from examiner.validation import Floats


class TaskPrices(NamedTuple):
    """What tasks cost by name, in what, and what a reader should know of it."""

    cost: str
    price: dict[str, float]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, results: Results, cost: str, per: Per = "attempt") -> TaskPrices:
        """Price the tasks of results by a column.

        >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1, 0], "seconds": [1, 3]}
        >>> TaskPrices.of(Results.from_dict(table), "seconds").price
        {'t': 2.0}
        """
        values = task_costs(results, cost, per=per).tolist()
        notes = task_cost_notes(results, cost, per=per)
        return cls(cost, dict(zip(results.tasks, values, strict=True)), notes)


def priced(rows: list[Record], prices: TaskPrices | None, *amounts: str) -> list[Record]:
    """Give each task its cost and what it tells for it, and begin with those that tell most for it.

    Tasks whose cost is not known, or nothing, come last: what they tell for it cannot be said.

    >>> prices = TaskPrices("seconds", {"t": 4.0, "u": 1.0}, ())
    >>> rows = [{"task": "t", "bits": 2.0}, {"task": "u", "bits": 1.0}]
    >>> [(row["task"], row["bits_per_cost"]) for row in priced(rows, prices, "bits")]
    [('u', 1.0), ('t', 0.5)]
    """
    if prices is None:
        return rows
    cost = np.array([prices.price.get(row["task"], np.nan) for row in rows])
    gained: dict[str, Floats] = {
        f"{name}_per_cost": ratio(np.array([row[name] for row in rows], dtype=float), cost)
        for name in amounts
    }
    order = np.argsort(-gained[f"{amounts[0]}_per_cost"], kind="stable")  # NaN comes last
    return [
        rows[at] | {"cost": float(cost[at])} | {name: float(of[at]) for name, of in gained.items()}
        for at in order
    ]


def cost_columns(prices: TaskPrices | None, *amounts: str) -> list[ShownColumn]:
    """Return the columns of cost and of what is told for it; none where nothing says what tasks cost.

    >>> [column.title for column in cost_columns(TaskPrices("seconds", {}, ()), "bits")]
    ['cost', 'bits/cost']
    """
    if prices is None:
        return []
    each = [ShownColumn(f"{name}/cost", "number", key=f"{name}_per_cost") for name in amounts]
    return [ShownColumn("cost", "number", f"in {prices.cost}"), *each]

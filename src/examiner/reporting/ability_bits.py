"""What tasks reveal about ability, where every cell is a single trial: sentences and tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.answers import Answer, Column, StoredAnswer, Table
from examiner.irt import AbilityInformation
from examiner.messages import counted
from examiner.reporting.finding import Finding, Text, shown_table
from examiner.reporting.prose import Prose, Sentence, enumerated, three_digits
from examiner.results import Results
from examiner.scores import Per, ratio, task_cost_notes, task_costs

WHY = (
    "Every cell is a single trial of 0 or 1, which says nothing about how an agent varies: bits about "
    "which agent is playing need several trials per cell. Shown are bits about ability, under the "
    "fitted model."
)


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

    def added_to(self, tasks: Table) -> Table:
        """Give each task its cost and bits per cost, tasks with most bits per cost first.

        >>> columns = [Column("task", "name", "Task"), Column("bits", "number", "Bits")]
        >>> table = Table.of(columns, {"task": ["t", "u"], "bits": [2.0, 1.0]})
        >>> TaskPrices("seconds", {"t": 4.0, "u": 1.0}, ()).added_to(table).task
        ('u', 't')
        """
        cost = np.array([self.price.get(task, np.nan) for task in tasks.values("task")])
        unit = f"bits per {self.cost}"
        per = Column("bits_per_cost", "number", "Bits for their cost", unit, title="bits/cost")
        priced = tasks.with_column(Column("cost", "number", "Cost of an attempt", self.cost), cost)
        priced = priced.with_column(per, ratio(np.array(tasks.values("bits")), cost))
        return priced.sorted_by("bits_per_cost", descending=True)


def render_ability_information(
    found: AbilityInformation,
    prices: TaskPrices | None = None,
    *,
    seed: int = 0,
    not_shown: str = "",
) -> Finding:
    """Show the bits of tasks about ability, with their cost where that is known, and of the best set.

    >>> from examiner.irt import ItemParameters, ability_information, known
    >>> from examiner.reporting.prose import said
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 2.0], [0.0, 0.0]))
    >>> said(render_ability_information(ability_information(fit, rng=0, size=1)).lead)[:54]
    '1 of 2 tasks carry 0.333 of the 0.416 bits that all ca'
    """
    answer: Answer = found
    tables = dict(found.tables)
    columns = ["task", "bits", "bits_low", "bits_high", "fisher_information"]
    if prices is not None:
        tables["tasks"] = prices.added_to(tables["tasks"])
        columns[1:1] = ["bits_per_cost", "cost"]
        answer = StoredAnswer(found.schema, found.headline, tables, found.scalars)
    blocks = (
        Text(WHY),
        shown_table(tables["tasks"], columns, "Tasks"),
        shown_table(tables["chosen"], caption="Tasks that carry most information together"),
    )
    about = f"{counted(found.agents, 'agent')}, under the fitted model; seed {seed}"
    lead, beside = _lead(found, not_shown), {"about": "ability"}
    return Finding(lead=lead, blocks=blocks, beside=beside, about=about, answer=answer)


def _lead(found: AbilityInformation, not_shown: str) -> Prose:
    if not_shown:
        return ("No task reveals significantly about ability. ", Sentence(not_shown))
    if len(found.chosen) == len(found.tasks):
        bits = three_digits(found.whole_bits)
        return f"All {counted(len(found.tasks), 'task')} together give {bits} bits about ability."
    few, all_of_them = (three_digits(bits) for bits in (found.chosen_bits[-1], found.whole_bits))
    return (
        f"{len(found.chosen)} of {counted(len(found.tasks), 'task')} carry {few} of the {all_of_them} bits "
        f"that all carry about ability: ",
        *enumerated(found.chosen, 5),
        ".",
    )

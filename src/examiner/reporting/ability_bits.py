"""What tasks tell about ability, told where every cell is a single trial: sentences, tables and data."""

from __future__ import annotations

import numpy as np

from examiner.irt import AbilityInformation
from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.per_cost import TaskPrices, cost_columns, priced
from examiner.reporting.prose import Prose, Sentence, enumerated, three_digits
from examiner.reporting.table import Record, ShownColumn, ShownTable, records

WHY = (
    "Every cell is a single trial of 0 or 1, which tells nothing of how an agent varies: bits about which "
    "agent is playing need several trials of a cell. Told here are bits about ability, under the fitted "
    "model."
)


def render_ability_information(
    found: AbilityInformation,
    prices: TaskPrices | None = None,
    *,
    seed: int = 0,
    not_shown: str = "",
) -> Finding:
    """Tell the bits of tasks about ability, for what they cost where that is known, and of the best set.

    >>> from examiner.irt import ItemParameters, ability_information, known
    >>> from examiner.reporting.prose import said
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 2.0], [0.0, 0.0]))
    >>> said(render_ability_information(ability_information(fit, rng=0, size=1)).lead)[:54]
    '1 of 2 tasks tell 0.333 of the 0.416 bits that all tel'
    """
    data = _data(found, prices)
    ends = [
        ShownColumn("low", "number", "95 % of draws lie above"),
        ShownColumn("high", "number", "and below"),
    ]
    told = [
        ShownColumn("task", "name"),
        *cost_columns(prices, "bits", "fisher"),
        ShownColumn("bits", "number", "about the ability of an agent like these, from one trial"),
        *ends,
        ShownColumn("Fisher", "number", "mean over the agents, at their abilities", "fisher"),
    ]
    if prices is None:  # a terminal has no room for all; they are in the JSON
        told.append(ShownColumn("Fisher: low", "number", key="fisher_low"))
        told.append(ShownColumn("Fisher: high", "number", key="fisher_high"))
    greedy = [
        ShownColumn("task", "name"),
        ShownColumn("bits so far", "number", key="cumulative_bits"),
    ]
    blocks = (
        Text(WHY),
        ShownTable.of(data["tasks"], told, "Tasks"),
        ShownTable.of(data["greedy"], greedy, "Tasks that tell most together"),
    )
    about = f"{counted(found.agents, 'agent')}, under the fitted model; seed {seed}"
    return Finding(lead=_lead(found, not_shown), blocks=blocks, beside=data, about=about)


def _lead(found: AbilityInformation, not_shown: str) -> Prose:
    if not_shown:
        return ("No task is shown to tell of ability. ", Sentence(not_shown))
    if len(found.chosen) == len(found.tasks):
        bits = three_digits(found.whole_bits)
        return f"All {counted(len(found.tasks), 'task')} together give {bits} bits about ability."
    few, all_of_them = (three_digits(bits) for bits in (found.chosen_bits[-1], found.whole_bits))
    return (
        f"{len(found.chosen)} of {counted(len(found.tasks), 'task')} tell {few} of the {all_of_them} bits "
        f"that all tell about ability: ",
        *enumerated(found.chosen, 5),
        ".",
    )


def _data(found: AbilityInformation, prices: TaskPrices | None) -> Record:
    each = records(
        task=found.tasks,
        bits=found.bits,
        low=found.bits_low,
        high=found.bits_high,
        fisher=found.fisher,
        fisher_low=found.fisher_low,
        fisher_high=found.fisher_high,
    )
    first = [each[task] for task in np.argsort(-found.bits, kind="stable")]
    return {
        "about": "ability",
        "agents": found.agents,
        "whole_bits": found.whole_bits,
        "tasks": priced(first, prices, "bits", "fisher"),
        "greedy": records(task=found.chosen, cumulative_bits=found.chosen_bits),
    }

"""A few chosen tasks: why each is in the set, what it costs, and the proof on held-out agents."""

from __future__ import annotations

from collections.abc import Sequence

from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name, Prose, enumerated
from examiner.reporting.table import Column, Piece, Record, Table
from examiner.selection import Benchmark, Comparison, SelectedTask, Selection

GAINS = {
    "share of the target's variance explained": "how much of what varies in the aggregate the task, beside "
    "those above it, explains",
    "error of the aggregate removed": "by how much the task, beside those above it, lowers the error of "
    "predicting left-out agents",
    "bits": "what the task, beside those above it, tells about which agent is playing",
    "mean log information": "by how much the task, beside those above it, raises the logarithm of the "
    "precision (Fisher information) of abilities, on average over agents",
    "slope at the abilities": "how steeply success on the task rises with ability where the agents are",
    "tasks it stands for": "how many tasks this one stands for",
    "nearness to an even step": "how near the task's difficulty is to its step on an even ladder",
    "lot drawn": "the lot drawn",
}
"""What the gains of methods mean, by their unit."""
FIGURES = {
    "r2": ("R²", "of the predicted aggregate; 1 is perfect"),
    "r2_remainder": ("R² of remainder", "of the mean of the tasks not chosen"),
    "relative_error": ("error", "mean absolute, as a share of the aggregate"),
    "kendall": ("Kendall", "agreement of orders, from -1 to 1"),
    "top1": ("top 1", "how often the best agent was found"),
    "coverage": ("coverage", "share inside their 90 % intervals"),
    "minimum_detectable_difference": ("smallest difference", "that is ordered right 9 times of 10"),
    "optimistic_r2": ("optimistic R²", "on the same agents that chose: too good"),
}
"""The figures of the proof, with their names for people and what they are."""


def tell(
    material: Benchmark,
    chosen: Selection,
    why: Sequence[SelectedTask],
    comparison: Comparison | None = None,
    *,
    method: str = "best_of",
    seed: int = 0,
) -> Finding:
    """Tell which tasks were chosen and why, and, where the choice was judged, how good it is.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import benchmark, reasons, select
    >>> material = benchmark(Results.from_numpy(np.eye(8, 6)))
    >>> chosen = select(material, 2, "spread", rng=0)
    >>> len(tell(material, chosen, reasons(material, chosen), method="spread").data["tasks"])
    2
    """
    data = _data(material, chosen, why, comparison, method)
    took = "" if data["took"] == data["method"] else f" (took {data['took']})"
    about = (
        f"{len(data['tasks'])} of {data['of_tasks']} tasks by {data['method']}{took}, {data['agents']} "
        f"agents, {data['target']}; seed {seed}, input {data['input']}"
    )
    blocks: list[Piece] = [_chosen(data)]
    if data["priced"]:
        budget = "" if data["budget"] is None else f" of a budget of {data['budget']:,.6g}"
        told = f"Cost: {data['cost']:,.6g}{budget}; all tasks cost {data['cost_of_all']:,.6g}"
        blocks.append(Text(told))
    if comparison is not None:
        blocks.append(_proof(data))
    lead: Prose = ("Selected without validation: ", *enumerated(chosen.tasks), ".")
    if comparison is not None:
        lead = (Name(comparison.answer),)
    return Finding(lead=lead, blocks=tuple(blocks), data=data, about=about)


def _chosen(data: Record) -> Table:
    told = f"in predicting the {data['target']}, and with it"
    columns = [
        Column("task", "name"),
        *([Column("cost", "number")] if data["priced"] else []),
        Column("gain", "number", GAINS.get(data["unit"], str(data["unit"]))),
        Column("weight", "number", told),
        Column("correlation", "number", told),
        Column("most like it", "name"),
    ]
    rows = [row | {"most like it": [each["task"] for each in row["alike"]]} for row in data["why"]]
    return Table.of(rows, columns, "Chosen")


def _proof(data: Record) -> Table:
    columns = (
        Column("", "text", key="label"),
        Column("chosen", "number"),
        Column("random", "number"),
        Column("", "text", key="meaning"),
    )
    rows = [
        {
            "label": label,
            "chosen": data["quality"][name],
            "random": data["random"][name],
            "meaning": meaning,
        }
        for name, (label, meaning) in FIGURES.items()
    ]
    return Table.of(rows, columns, f"On held-out agents ({data['folds']})")


def _data(
    material: Benchmark,
    chosen: Selection,
    why: Sequence[SelectedTask],
    comparison: Comparison | None,
    method: str,
) -> Record:
    terms = material.terms
    name = "best_of" if method.replace("-", "_") == "best_of" else chosen.method
    judged: dict[str, object] = dict.fromkeys(
        ("folds", "quality", "random", "rank_changes", "stability", "answer")
    )
    if comparison is not None:
        size = comparison.sizes[-1]
        ranks = comparison.rank_changes(name, size)
        judged = {
            "folds": comparison.folds,
            "quality": comparison.row(name, size).to_dict(),
            "random": comparison.row("random", size).to_dict(),
            "rank_changes": {
                agent: {"full": full, "few": few} for agent, (full, few) in ranks.items()
            },
            "stability": [
                each._asdict() for each in comparison.stability if each.method == chosen.method
            ],
            "answer": comparison.answer,
        }
    return {
        "method": name,
        "took": chosen.method,
        "tasks": list(chosen.tasks),
        "gain": chosen.gain.tolist(),
        "unit": chosen.unit,
        "cost": chosen.cost,
        "cost_of_all": float(terms.cost.sum()) if terms.priced else float(len(material.tasks)),
        "priced": terms.priced,
        "budget": terms.budget,
        "target": material.target,
        "agents": len(material.agents),
        "of_tasks": len(material.tasks),
        "why": [
            each._asdict() | {"alike": [{"task": task, "correlation": r} for task, r in each.alike]}
            for each in why
        ],
        **judged,
        "input": chosen.fingerprint,
    }

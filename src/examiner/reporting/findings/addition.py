"""What a new task adds to a set of others."""

from __future__ import annotations

from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Piece, Table
from examiner.selection import Added

MEANINGS = {
    "bits": ("bits added", "about which agent is playing, beyond those of the set"),
    "told": ("told by the set", "R² of the task, predicted for left-out agents; 1 repeats the set"),
    "error_removed": ("error removed", "share of the left-out error on the tasks outside the set"),
}


def tell(found: Added) -> Finding:
    """Tell what a task adds, what it repeats, and whether that could be chance.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import adds
    >>> scores = np.random.default_rng(0).normal(size=(9, 4))
    >>> tell(adds(Results.from_numpy(scores), "task 4", rng=0, reps=5)).data["task"]
    'task 4'
    """
    data = found.to_dict()
    chance = {"bits": found.bits_chance, "error_removed": found.error_chance}
    rows = [
        data[key] | {"label": label, "chance": chance.get(key, float("nan")), "meaning": meaning}
        for key, (label, meaning) in MEANINGS.items()
    ]
    columns = (
        Column("", "text", key="label"),
        Column("value", "number"),
        Column("low", "number"),
        Column("high", "number"),
        Column("chance", "number"),
        Column("", "text", key="meaning"),
    )
    like = ", ".join(f"{task} ({r:.2f})" for task, r in found.nearest)
    blocks: list[Piece] = [
        Table.of(rows, columns, "Added"),
        Text(("Most like it in the set: ", Name(like or "none"))),
        Text(("In one cluster with: ", Name(", ".join(found.cluster) or "no other task"))),
    ]
    about = f"beside {counted(len(found.to), 'task')}, by {counted(found.agents, 'agent')}"
    return Finding(lead=(Name(found.sentence),), blocks=tuple(blocks), data=data, about=about)

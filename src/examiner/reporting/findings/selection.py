"""A few selected tasks: why each is in the set, what it costs, and its validation on held-out agents."""

from __future__ import annotations

from examiner.reporting.finding import Finding, Piece, Text, shown_table
from examiner.reporting.prose import Sentence
from examiner.reporting.validation_tables import validation_tables
from examiner.selection import Selection

COLUMNS = ("task", "cost", "gain", "weight", "correlation", "similar")
GAINS = {
    "share of the target's variance explained": "share of the variance of the aggregate that the task "
    "explains in addition to those above it",
    "error of the aggregate removed": "reduction of the error for held-out agents by adding the task to "
    "those above it",
    "bits": "information about which agent is playing that the task adds to those above it",
    "mean log information": "increase of the mean logarithm of the Fisher information about abilities",
    "slope at the abilities": "slope of success with ability, at the abilities of the agents",
    "tasks it stands for": "number of tasks that the task represents",
    "nearness to an even step": "closeness of the task's difficulty to its step on an even scale",
    "correlation with the other tasks": "correlation of the task with the mean of all others",
    "lot drawn": "order of the random draw",
}
"""What the gains of methods mean, by their unit."""


def render_selection(selection: Selection) -> Finding:
    """Show which tasks are selected and why, and, where the selection was judged, how good it is.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import select
    >>> len(render_selection(select(Results.from_numpy(np.eye(8, 6)), 2, "spread", rng=0)).data["tasks"])
    2
    """
    tasks, judgement = selection.tasks, selection.judgement
    about = (
        f"{len(selection)} of {len(selection.predictor.all_tasks)} tasks by {selection.method}, "
        f"{len(selection.predictor.agents)} agents, {selection.target}; seed {selection.seed}, input "
        f"{selection.fingerprint}"
    )
    columns = [column for column in COLUMNS if column in tasks.columns]
    caption = f"Selected tasks; gain: {GAINS.get(selection.unit, selection.unit)}"
    blocks: list[Piece] = [shown_table(tasks, columns, caption)]
    if tasks.cost is not None:
        budget = "" if selection.budget is None else f" of a budget of {selection.budget:,.6g}"
        whole = f"all tasks cost {selection.cost_of_all:,.6g}"
        blocks.append(Text(f"Cost: {selection.cost:,.6g}{budget}; {whole}"))
    if judgement is not None:
        if judgement.limits:
            blocks.append(Text(judgement.limits))
        if selection.beyond is not None:
            blocks.append(Text(selection.beyond.sentence()))
        blocks += validation_tables(judgement, judgement.sizes[-1:])
    return Finding(
        lead=(Sentence(selection.headline),),
        blocks=tuple(blocks),
        about=about,
        answer=selection,
    )

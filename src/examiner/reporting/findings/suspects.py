"""The audit: tasks that deserve a look, with why, and groups that move together beyond ability."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt import Audit, audit
from examiner.irt.suspects.reasons import KINDS
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import Figure, Finding, NothingToTellError, Text, noted
from examiner.reporting.prose import Prose, enumerated, labels
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Piece, Record, Table

FEWEST_AGENTS, FEWEST_TASKS = 5, 5
MOST_NAMED = 6
LABEL_LIMIT = 60
SHORT = {
    "negative": "wrong way round",
    "unsteady": "trials disagree",
    "scorers": "scorers disagree",
    "flat": "flat",
    "repeat": "repeats",
    "nobody": "solved by nobody",
    "everybody": "solved by everybody",
}


def finding(study: Study) -> Finding:
    """Tell which tasks deserve a look, with a picture of how all of them discriminate."""
    agents, tasks = study.comparable.shape
    if agents < FEWEST_AGENTS or tasks < FEWEST_TASKS:
        few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
        needed = f"{FEWEST_AGENTS} agents and {FEWEST_TASKS} tasks"
        raise NothingToTellError(f"{few} are too few to suspect a task: have {needed}.")
    small, note = study.for_pairs
    found = audit(small.results, recipe=study.recipe, rng=study.seed)
    told = tell(found)
    notes = (f"{note} `examiner audit` uses all results.",) if note else ()
    return replace(told, blocks=(*told.blocks, *noted(notes)))


def tell(found: Audit) -> Finding:
    """Tell the suspects, the groups, and what was looked for.

    >>> from examiner.results import Results
    >>> tell(audit(Results.from_numpy(np.triu(np.ones((6, 6)))), rng=0)).data["suspects"][0]["task"]
    'task 6'
    """
    rows = [_row(found, rank) for rank in range(len(found.suspects))]
    agents = len(found.agents)
    columns = [
        Column("task", "name"),
        Column("why", "text"),
        Column("solved", "number", f"by how many of {counted(agents, 'agent')}, or the mean score"),
        Column(
            "with others", "number", "correlation with what agents did elsewhere", "correlation"
        ),
        Column("usual", "number", "the same if it discriminated as tasks do", "expected"),
        Column(
            "see",
            "name",
            "the other task of a pair, or a strong agent that failed it and a weak one that did not",
            "see",
        ),
    ]
    if any(row["text"] for row in rows):
        columns.append(Column("text", "name"))
    blocks: list[Piece] = []
    if rows:
        shown = [
            row | {name: round(row[name], 2) for name in ("solved", "correlation", "expected")}
            for row in rows
        ]
        table = Table.of(shown, columns, "Flagged tasks, the most serious first")
        blocks.append(replace(table, records=tuple(_flat_row(row) for row in rows)))
    blocks += _groups(found)
    blocks += _figure(found)
    blocks.append(Text(_meanings(found)))
    return Finding(
        lead=_lead(found),
        blocks=(*blocks, *noted(found.notes)),
        data=_data(found, rows),
        about=f"{counted(agents, 'agent')} × {counted(len(found.tasks), 'task')}",
    )


def _row(found: Audit, rank: int) -> Record:
    each = found.suspects[rank]
    others = dict.fromkeys(name for why in each.reasons for name in why.tasks)
    odd = dict.fromkeys(name for why in each.reasons for name in why.agents)
    named = list(others) or list(odd)
    see = ", ".join(dict.fromkeys((named[0], named[-1]))) if named else ""
    return {
        "task": each.task,
        "why": ", ".join(SHORT[kind] for kind in each.kinds),
        "kinds": list(each.kinds),
        "reasons": [why.sentence for why in each.reasons],
        "solved": each.solved,
        "agents": each.agents,
        "correlation": each.correlation,
        "expected": each.expected,
        "with_tasks": list(others),
        "odd_agents": list(odd),
        "see": see,
        "text": each.text,
    }


def _flat_row(row: Record) -> Record:
    """One row of a spreadsheet: lists become text, and only what is known stays."""
    return {
        name: "; ".join(value) if isinstance(value, list) else value
        for name, value in row.items()
        if name not in ("see", "why")
    }


def _lead(found: Audit) -> Prose:
    total = counted(len(found.tasks), "task")
    if not found.suspects and not found.groups:
        return "No task is flagged."
    counts = Counter(kind for each in found.suspects for kind in each.kinds)
    parts = [f"{counts[kind]:,} {SHORT[kind]}" for kind in KINDS if counts[kind]]
    verb = "is" if len(found.suspects) == 1 else "are"
    start = f"{len(found.suspects):,} of {total} {verb} flagged"
    told = f"{start}: {', '.join(parts)}" if parts else start
    if found.groups:
        verb = "depends" if len(found.groups) == 1 else "depend"
        told += f"; {counted(len(found.groups), 'group')} of tasks {verb} on more than ability"
    first = [each.task for each in found.suspects[:3]]
    return (f"{told}. ", "First: ", *enumerated(first), ".") if first else f"{told}."


def _groups(found: Audit) -> list[Piece]:
    if not found.groups:
        return []
    rows = [
        {
            "group": group.name or "found",
            "tasks": len(group.tasks),
            "excess": group.excess,
            "by chance": group.cutoff,
            "names": ", ".join(group.tasks[:MOST_NAMED])
            + (", …" if group.tasks[MOST_NAMED:] else ""),
        }
        for group in found.groups
    ]
    columns = [
        Column("group", "name", "as the table of tasks has it, or found from residuals"),
        Column("tasks", "count"),
        Column("excess", "number", "how far they go together beyond ability, in deviations"),
        Column("by chance", "number", "what chance exceeds in one table of twenty"),
        Column("names", "name"),
    ]
    caption = "Groups that move together beyond ability: a shared environment, or a second ability"
    return [Table.of(rows, columns, caption)]


def _meanings(found: Audit) -> str:
    told = [
        f"{SHORT[kind]}: {KINDS[kind]}"
        for kind in KINDS
        if found.of_kind(kind) and SHORT[kind] != KINDS[kind]
    ]
    rate = "Each kind is tested at 5 % over all tasks; tasks solved by nobody or everybody are counted."
    looked = ", ".join(SHORT[kind] for kind in KINDS if kind in found.looked_for)
    meaning = f"{'; '.join(told)}. " if told else ""
    return f"{meaning}{rate} Looked for: {looked}."


class DiscriminationData(NamedTuple):
    """Share solved, or mean, of each task and its correlation with the others; which are suspects."""

    tasks: tuple[str, ...]
    share: Floats
    correlation: Floats
    usual: Floats
    suspect: NDArray[np.bool_]


def draw(data: DiscriminationData) -> chart.Drawing:
    """Draw discrimination over how many solve a task, suspects marked, and what is usual.

    >>> one = np.array([0.5, 0.6])
    >>> made = DiscriminationData(("t", "u"), one, one, one, np.array([True, False]))
    >>> [trace["name"] for trace in draw(made)["data"]]
    ['usual', 'other tasks', 'flagged']
    """
    order = np.argsort(data.share, kind="stable")
    axis = stretch_for(data.share)
    along = axis.positions(data.share)
    traces = [chart.line(along[order], data.usual[order], "usual", chart.MEAN)]
    names = labels(data.tasks, LABEL_LIMIT)
    hover = "%{customdata[0]}: %{y:.2f} at %{customdata[1]:.2f}"
    marked = (("other tasks", ~data.suspect, "circle"), ("flagged", data.suspect, "x"))
    for name, where, symbol in marked:
        rows = np.flatnonzero(where)
        told = [[names[row], data.share[row]] for row in rows]
        colour = chart.DOTS if symbol == "circle" else chart.MEAN
        if not len(rows):
            continue
        ends = along[rows], data.correlation[rows]
        points = chart.dots(*ends, name, colour, hover, symbol=symbol, customdata=told)
        traces.append(points | chart.linked("tasks", [data.tasks[row] for row in rows]))
    title = "share solved" if solved(data.share) else "mean score"
    x, y = axis.axis(title, data.share, room=0.12), chart.axis("correlation with the others")
    return chart.figure(traces, 310, x, y)


def solved(share: Floats) -> bool:
    """Whether these are shares of successes: scores may be anything.

    >>> solved(np.array([0.0, 0.5])), solved(np.array([-0.2, 3.0]))
    (True, False)
    """
    return bool((share >= 0).all() and (share <= 1).all())


def _figure(found: Audit) -> list[Piece]:
    known = np.flatnonzero(np.isfinite(found.correlation) & np.isfinite(found.expected))
    if len(known) < FEWEST_TASKS:
        return []
    named = {each.task for each in found.suspects}
    drawn = DiscriminationData(
        tuple(found.tasks[task] for task in known),
        found.share[known],
        found.correlation[known],
        found.expected[known],
        np.array([found.tasks[task] in named for task in known], dtype=np.bool_),
    )
    return [
        Figure(
            key="suspects",
            drawn=drawn,
            drawing=draw(drawn),
            caption="How tasks go together with the others, by how well agents do on them.",
            description="Dots of tasks: correlation with the other tasks over the share that solves them.",
            legend="The line is what is usual if all tasks discriminated alike; crosses are flagged.",
            narrowest=420,
        )
    ]


def _data(found: Audit, rows: list[Record]) -> Record:
    return {
        "suspects": [{name: row[name] for name in row if name != "see"} for row in rows],
        "groups": [group._asdict() | {"tasks": list(group.tasks)} for group in found.groups],
        "looked_for": list(found.looked_for),
        "agents_differ": found.evidence.p_value,
        "agents": len(found.agents),
        "tasks": len(found.tasks),
    }

"""What was added to a fit: agents, tasks, and which old tasks have moved."""

from __future__ import annotations

from examiner.irt import Grown
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, Text
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Table


def tell(grown: Grown) -> Finding:
    """Tell the new agents and tasks, and the old tasks that moved.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, grow, known
    >>> from examiner.results import ResponseMatrix
    >>> fit = known(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> finding = tell(grow(fit, ResponseMatrix.from_array([[1]], ["new"], ["t"])))
    >>> finding.lead
    '1 agent was placed, and 0 tasks were calibrated.'
    """
    drift, fit = grown.drift, grown.fit
    moved = [
        {"task": task, "shift": float(drift.shift[index]), "p": float(drift.p[index])}
        for task in drift.moved
        for index in (drift.tasks.index(task),)
    ]
    agents = [row for row in fit.agents.records() if row["agent"] in set(grown.agents)]
    tasks = [row for row in fit.tasks.records() if row["task"] in set(grown.tasks)]
    aside = [{"task": task.name, "reason": task.reason} for task in grown.dropped]
    were = ["was" if len(part) == 1 else "were" for part in (agents, tasks)]
    columns = [
        Column("agent", "name"),
        Column("ability", "number"),
        Column("±", "number", key="ability_error"),
    ]
    of_tasks = [
        Column("task", "name"),
        Column("difficulty", "number"),
        Column("±", "number", key="difficulty_error"),
        Column("discrimination", "number"),
        Column("±", "number", key="discrimination_error"),
    ]
    shifted = [
        Column("task", "name"),
        Column("shift", "number", "of difficulty, by new agents"),
        Column("p", "number", "adjusted for all tasks"),
    ]
    tables = (
        *([Table.of(moved, shifted, "Tasks that moved")] if moved else []),
        *([Table.of(tasks, of_tasks, "New tasks")] if tasks else []),
        *([Table.of(agents, columns, "New agents, the highest ability first")] if agents else []),
    )
    notes = tuple((Name(row["task"]), f": {row['reason']}") for row in aside)
    return Finding(
        lead=f"{counted(len(agents), 'agent')} {were[0]} placed, and {counted(len(tasks), 'task')} "
        f"{were[1]} calibrated.",
        blocks=(
            Text((Name(drift.sentence()),)),
            *([Text(_kept(grown.known))] if grown.known else []),
            *tables,
            *([Text(_TASKS_KNOWN)] if agents else []),
            *([Notes("Not calibrated", notes)] if notes else []),
        ),
        data={
            "agents": agents,
            "tasks": tasks,
            "dropped": aside,
            "moved": moved,
            "drift": drift.sentence(),
            "known_agents": grown.known,
        },
    )


_TASKS_KNOWN = (
    "±: tasks taken as known; `examiner place` also counts what is not known of them, and says a "
    "little more."
)


def _kept(agents: int) -> str:
    """Say what becomes of results of agents that were fitted before."""
    return (
        f"{counted(agents, 'agent')} of the fit keep their ability: what they did on old tasks is not "
        f"counted again. Fit all again to count it."
    )

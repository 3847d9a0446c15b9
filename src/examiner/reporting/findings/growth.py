"""What was added to a fit: agents, tasks, and which old tasks have moved."""

from __future__ import annotations

from examiner.irt import Grown
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, Text, shown_table
from examiner.reporting.prose import Name, Sentence


def render_growth(grown: Grown) -> Finding:
    """Show the new agents and tasks, and the old tasks that moved.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, grow, known
    >>> from examiner.results import ResponseMatrix
    >>> fit = known(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> finding = render_growth(grow(fit, ResponseMatrix.from_array([[1]], ["new"], ["t"])))
    >>> finding.lead
    '1 agent was placed, and 0 tasks were calibrated.'
    """
    tables = grown.tables
    shown = {
        "moved": (("task", "shift", "p_value"), "Tasks that moved"),
        "tasks": (
            ("task", "difficulty", "difficulty_error", "discrimination", "discrimination_error"),
            "New tasks",
        ),
        "agents": (("agent", "ability", "ability_error"), "New agents, the highest ability first"),
    }
    notes = tuple((Name(task.name), f": {task.reason}") for task in grown.dropped)
    return Finding(
        lead=grown.headline,
        blocks=(
            Text((Sentence(grown.drift.sentence()),)),
            *([Text(_kept(grown.known))] if grown.known else []),
            *(
                shown_table(tables[key], columns, caption)
                for key, (columns, caption) in shown.items()
                if len(tables[key])
            ),
            *([Text(_TASKS_KNOWN)] if grown.agents else []),
            *([Notes("Not calibrated", notes)] if notes else []),
        ),
        answer=grown,
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

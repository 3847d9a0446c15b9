"""Values outside 0 to 1 where all others lie inside: slips that must not decide how scores are treated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted, shorten
from examiner.results import Results

SHOWN = 3


def in_shares(results: Results, measure: str | None = None) -> bool:
    """Tell whether values lie between 0 and 1, but for isolated ones.

    >>> in_shares(Results.from_numpy([[0.5], [1.0]])), in_shares(Results.from_numpy([[50.0], [70.0]]))
    (True, False)
    """
    outside = _outside(results, measure)
    return not outside.any() or len(isolated_rows(results, measure)) > 0


def isolated_rows(results: Results, measure: str | None = None) -> NDArray[np.intp]:
    """Return the rows outside 0 to 1 if each is the only one of its agent and of its task, else none.

    Then no agent and no task has a unit of its own: all others say what the unit is. A task whose values
    lie outside, or an agent whose do, has one. Two others on the task are needed: one value is no range.

    >>> cells = np.full((4, 3), 0.5)
    >>> cells[1, 2] = -2.0
    >>> isolated_rows(Results.from_numpy(cells))
    array([5])
    """
    none = np.zeros(0, dtype=np.intp)
    outside = _outside(results, measure)
    if np.count_nonzero(outside) > min(len(results.agents), len(results.tasks)):
        return none
    rows = np.flatnonzero(outside)
    agents, tasks = results.agent_codes[rows], results.task_codes[rows]
    if len(np.unique(agents)) < len(rows) or len(np.unique(tasks)) < len(rows):
        return none
    known = ~np.isnan(results.measure(measure))
    beside = np.bincount(results.task_codes[known], minlength=len(results.tasks))[tasks] - 1
    return rows if (beside >= 2).all() else none


def _outside(results: Results, measure: str | None) -> NDArray[np.bool_]:
    values = results.measure(measure)
    return np.asarray((values < 0) | (values > 1))


def isolated_values(results: Results, measure: str | None = None) -> str:
    """Name the values outside 0 to 1 where all others lie inside; nothing where there are none.

    >>> isolated_values(Results.from_numpy([[0.5, 0.5], [0.5, -2.0], [0.0, 1.0]]))
    "1 of 6 values of 'score' lies outside 0 to 1, where all others lie: -2 (agent 'agent 2', task \
'task 2')."
    """
    measure = results.measure_name(measure)
    rows = isolated_rows(results, measure)
    if not len(rows):
        return ""
    values = results.measure(measure)
    cells = [
        f"{values[row]:g} (agent {shorten(results.agents[results.agent_codes[row]])}, task "
        f"{shorten(results.tasks[results.task_codes[row]])})"
        for row in rows[:SHOWN].tolist()
    ]
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return (
        f"{len(rows):,} of {counted(int((~np.isnan(values)).sum()), 'value')} of {shorten(measure)} "
        f"{'lies' if len(rows) == 1 else 'lie'} outside 0 to 1, where all others lie: "
        f"{', '.join(cells)}{more}."
    )


def isolated_notes(results: Results, measure: str | None = None) -> tuple[str, ...]:
    """Name the values outside 0 to 1 where all others lie inside, and say how they are treated.

    >>> isolated_notes(Results.from_numpy([[0.5, 1.0]]))
    ()
    """
    named = isolated_values(results, measure)
    if not named:
        return ()
    treatment = (
        "Nothing is changed: the value is used as it is, and does not decide how scores are normalised. "
        "Correct the table, or exclude the agent or the task."
    )
    return (f"{named} {treatment}",)

"""How many tasks are enough, in one sentence, and what so few agents cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from examiner.answers import Row
from examiner.messages import counted
from examiner.selection.benchmark import Benchmark
from examiner.selection.proof.figures import JudgedMethods

GIVEN = "given"
"""The method of tasks that are named by hand."""


class JudgedAnswer(NamedTuple):
    """How many tasks are enough, and what the agents at hand cannot show."""

    headline: str
    limits: str = ""


def answer_of(
    rows: JudgedMethods, names: Sequence[str], whole: Benchmark, tolerance: float
) -> JudgedAnswer:
    """Say how many tasks predict the aggregate within the tolerance, and what remains unknown.

    The tolerance bounds the mean relative error of held-out agents. With a budget, there is one set of
    each method, of as many tasks as it buys.
    """
    target, budget, agents = whole.target, whole.terms.budget, len(whole.agents)
    method = "best_of" if "best_of" in names else names[0]
    rows_of_method = sorted((row for row in rows if row.method == method), key=lambda row: row.size)
    if all(math.isnan(row.relative_error) or math.isnan(row.r2) for row in rows_of_method):
        return JudgedAnswer(
            "No task discriminates between agents: they are all alike, or too few to be compared."
        )
    if method == GIVEN:
        return JudgedAnswer(_given(rows_of_method[0], target), _limits(rows_of_method[0], agents))
    best = next((row for row in rows_of_method if row.relative_error <= tolerance), None)
    if best is None and len(rows_of_method) > 1:
        best = min(rows_of_method, key=lambda row: row.relative_error)
        start = (
            f"Selected by {method}, no judged number of tasks predicts the {target} of held-out agents "
            f"with a mean relative error of {tolerance:.1%} or less; the lowest is "
            f"{best.relative_error:.1%}, with {counted(best.size, 'task')}"
        )
    else:
        within = "within" if best is not None else "above"
        best = best or rows_of_method[0]
        subject, verb = _subject(best.size, method, budget)
        start = (
            f"{subject} {verb} the {target} of held-out agents with a mean relative error of "
            f"{best.relative_error:.1%}, {within} the tolerance of {tolerance:.1%}"
        )
    if math.isnan(best.r2):
        return JudgedAnswer(
            f"{start}.", "Agents are all alike, or too few: there are no differences to explain."
        )
    return JudgedAnswer(f"{start} (R² {_number(best.r2)}).", _limits(best, agents))


def _given(row: Row, target: str) -> str:
    subject = "This task predicts" if row.size == 1 else f"These {row.size:,} tasks predict"
    return (
        f"{subject} the {target} of held-out agents with R² {_number(row.r2)} and a mean absolute "
        f"error of {_number(row.mae)}."
    )


def _subject(size: int, method: str, budget: float | None) -> tuple[str, str]:
    """The selected tasks as the subject of a sentence, and its verb."""
    if budget is not None:
        return f"The tasks that a budget of {budget:g} buys, selected by {method},", "predict"
    selected = f"{counted(size, 'task').capitalize()} selected by {method}"
    return selected, "predicts" if size == 1 else "predict"


def _limits(row: Row, agents: int) -> str:
    least = row.minimum_detectable_difference
    if math.isnan(least):
        orders = "There are too few agents to show which of them the set orders correctly."
    elif math.isinf(least):
        orders = (
            "No pair of agents is ordered correctly nine times in ten, not even the most different."
        )
    else:
        high = row.minimum_detectable_difference_high
        upper = "" if not math.isfinite(high) else f" (at most {_number(high)})"
        orders = f"Agents closer than {_number(least)}{upper} cannot be ordered reliably."
    if math.isnan(row.r2_low):
        return orders
    ends = f"{_number(row.r2_low)} and {_number(row.r2_high)}"
    doubt = f"With {counted(agents, 'agent')}, R² may lie between {ends}"
    few = "; that is too few to distinguish good methods" if agents < 20 else ""
    return f"{orders} {doubt}{few}."


def _number(value: float) -> str:
    return f"{value:.3g}"

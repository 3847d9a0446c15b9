"""How many tasks are enough, in one sentence, and what so few agents cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from examiner.messages import counted
from examiner.selection.benchmark import Benchmark
from examiner.selection.proof.rows import Row

FEW_AGENTS = 20


def answer_of(rows: Sequence[Row], names: Sequence[str], whole: Benchmark, tolerance: float) -> str:
    """Say how many tasks predict the aggregate within the tolerance, and what remains unknown.

    The tolerance bounds the relative error of agents that had no part in choosing. With a budget, sets
    have as many tasks as it buys, and there is one of each method.
    """
    target, budget, agents = whole.target, whole.terms.budget, len(whole.agents)
    method = "best_of" if "best_of" in names else names[0]
    own = sorted((row for row in rows if row.method == method), key=lambda row: row.size)
    if all(math.isnan(row.relative_error.value) for row in own):
        return "No task tells two agents apart: they are all alike, or too few, and nothing can be said."
    shown = next((row for row in own if row.relative_error.value <= tolerance), None)
    within = f"the {target} of held-out agents within {tolerance:.1%}"
    if shown is not None:
        chosen, verb = _subject(shown.size, method, budget)
        predict = "predicts" if verb == "does" else "predict"
        start = f"{chosen} {predict} {within}: off by {shown.relative_error.value:.1%} on average"
    elif len(own) == 1:
        shown = own[0]
        chosen, verb = _subject(shown.size, method, budget)
        start = f"{chosen} {verb} not predict {within}: off by {shown.relative_error.value:.1%} on average"
    else:
        shown = min(own, key=lambda row: row.relative_error.value)
        start = (
            f"No size compared predicts {within}: {method} comes nearest with "
            f"{counted(shown.size, 'task')}, off by {shown.relative_error.value:.1%} on average"
        )
    if math.isnan(shown.r2.value):
        return f"{start}. But agents are all alike, or too few: there is nothing to explain."
    return f"{start} (R² {_number(shown.r2.value)}). {_limits(shown, agents)}"


def _subject(size: int, method: str, budget: float | None) -> tuple[str, str]:
    """What was chosen, as the subject of a sentence, and its 'do' or 'does'."""
    if budget is not None:
        return f"What a budget of {budget:g} buys, chosen by {method},", "does"
    return f"{counted(size, 'task').capitalize()} chosen by {method}", "does" if size == 1 else "do"


def _limits(row: Row, agents: int) -> str:
    least = row.minimum_detectable_difference.value
    if math.isnan(least):
        orders = "There are too few agents to show which of them the set orders correctly."
    elif math.isinf(least):
        orders = "It orders no pair of agents correctly nine times in ten, not even those furthest apart."
    else:
        high = row.minimum_detectable_difference.high
        upper = "" if not math.isfinite(high) else f" (at most {_number(high)})"
        orders = f"Agents closer than {_number(least)}{upper} cannot be ordered reliably."
    if math.isnan(row.r2.low):
        return orders
    ends = f"{_number(row.r2.low)} and {_number(row.r2.high)}"
    doubt = f"With {counted(agents, 'agent')}, R² may lie between {ends}"
    few = "; that is too few to distinguish good methods" if agents < FEW_AGENTS else ""
    return f"{orders} {doubt}{few}."


def _number(value: float) -> str:
    return f"{value:.3g}"

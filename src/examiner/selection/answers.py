"""How many tasks are enough, in one sentence, and what so few agents cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from examiner.results.checks import counted
from examiner.selection.rows import Row

FEW_AGENTS = 20


def answer_of(
    rows: Sequence[Row], names: Sequence[str], agents: int, tolerance: float, target: str
) -> str:
    """Say how many tasks predict the aggregate within the tolerance, and what remains unknown.

    The tolerance bounds the relative error of agents that had no part in choosing.
    """
    method = "best_of" if "best_of" in names else names[0]
    own = sorted((row for row in rows if row.method == method), key=lambda row: row.size)
    enough = next((row for row in own if row.relative_error <= tolerance), None)
    if enough is None:
        least = min(own, key=lambda row: row.relative_error)
        start = (
            f"No size compared predicts the {target} of held-out agents within {tolerance:.1%}: "
            f"{method} comes nearest with {counted(least.size, 'task')}, off by {least.relative_error:.1%}"
        )
        shown = least
    else:
        verb = "predicts" if enough.size == 1 else "predict"
        start = (
            f"{counted(enough.size, 'task').capitalize()} chosen by {method} {verb} the {target} of "
            f"held-out agents within {tolerance:.1%}: off by {enough.relative_error:.1%} on average"
        )
        shown = enough
    if math.isnan(shown.r2):
        return f"{start}. But agents are all alike, or too few: there is nothing to explain."
    return f"{start} (R² {_number(shown.r2)}). {_limits(shown, agents)}"


def _limits(row: Row, agents: int) -> str:
    least = row.minimum_detectable_difference
    if math.isnan(least):
        orders = "So few agents cannot show which of them the set orders right."
    elif math.isinf(least):
        orders = (
            "It orders no pair of agents right nine times of ten, not even those furthest apart."
        )
    else:
        high = row.minimum_detectable_difference_high
        upper = "" if not math.isfinite(high) else f", perhaps {_number(high)}"
        orders = f"Agents closer than {_number(least)}{upper} it cannot order safely."
    if math.isnan(row.r2_low):
        return orders
    ends = f"{_number(row.r2_low)} and {_number(row.r2_high)}"
    doubt = f"With {counted(agents, 'agent')}, R² may lie between {ends}"
    few = "; that is too few to tell good methods apart" if agents < FEW_AGENTS else ""
    return f"{orders} {doubt}{few}."


def _number(value: float) -> str:
    return f"{value:.3g}"

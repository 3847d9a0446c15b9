"""Progress: ability and generality by the year that agents come from."""

from __future__ import annotations

import math

from examiner.irt import OverTime
from examiner.reporting.finding import Finding, noted, shown_table


def render_years(made: OverTime) -> Finding:
    """Show a row per year, and whether ability and generality correlate with the year.

    >>> from examiner.irt import ItemParameters, indicators, known, over_time
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), [1.0] * 4, difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> years = {"a": 2013, "b": 2013, "c": 2015, "d": 2015}
    >>> [row["agents"] for row in render_years(over_time(indicators(fit, bins=2), years)).data["years"]]
    [2, 2]
    """
    with_year = {"Ability": made.with_ability, "Generality": made.with_generality}
    sentences = " ".join(
        f"{name} correlates with the year by {one.pearson:.2f} "
        f"({one.pearson_low:.2f} to {one.pearson_high:.2f}, {one.agents} agents)."
        for name, one in with_year.items()
        if math.isfinite(one.pearson)
    )
    table = shown_table(made.tables["years"], caption="By year of agents, 95 % intervals")
    return Finding("years", "Progress", sentences, (table, *noted(made.notes)), answer=made)

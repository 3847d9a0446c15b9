"""Progress: ability and generality by the year that agents come from."""

from __future__ import annotations

import math

from examiner.irt import OverTime
from examiner.reporting.finding import Finding
from examiner.reporting.renderers import shown_table


def render_years(made: OverTime) -> Finding:
    """Tell a row a year, and whether ability and generality go with the year.

    >>> from examiner.irt import ItemParameters, indicators, known, over_time
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), [1.0] * 4, difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> years = {"a": 2013, "b": 2013, "c": 2015, "d": 2015}
    >>> [row["agents"] for row in render_years(over_time(indicators(fit, bins=2), years)).data["years"]]
    [2, 2]
    """
    found = {"ability": made.with_ability, "generality": made.with_generality}
    said = " ".join(
        f"{name.capitalize()} correlates with the year by {one.pearson:.2f} "
        f"({one.pearson_low:.2f} to {one.pearson_high:.2f}, {one.agents} agents)."
        for name, one in found.items()
        if math.isfinite(one.pearson)
    )
    correlations = {
        name: {
            "pearson": one.pearson,
            "low": one.pearson_low,
            "high": one.pearson_high,
            "agents": one.agents,
        }
        for name, one in found.items()
    }
    table = shown_table(made.years, caption="By year of agents, 95 % intervals")
    return Finding(
        "years",
        "Progress",
        said,
        (table,),
        {"years": [dict(row) for row in made.years], "correlations": correlations},
    )

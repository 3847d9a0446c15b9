"""Progress: ability and generality by the year that agents come from."""

from __future__ import annotations

import math

from examiner.irt import OverTime
from examiner.reporting.finding import Finding
from examiner.reporting.table import ShownColumn, ShownTable


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
    rows = [
        {
            "year": f"{year:g}",
            "agents": made.counts[place],
            **{
                f"{name}{end}": float(getattr(made, f"{name}{end}")[place])
                for name in ("ability", "generality")
                for end in ("", "_low", "_high")
            },
        }
        for place, year in enumerate(made.years)
    ]
    columns = [
        ShownColumn("year", "text"),
        ShownColumn("agents", "number"),
        ShownColumn("ability", "number"),
        ShownColumn("from", "number", key="ability_low"),
        ShownColumn("to", "number", key="ability_high"),
        ShownColumn("generality", "number"),
        ShownColumn("from", "number", key="generality_low"),
        ShownColumn("to", "number", key="generality_high"),
    ]
    found = {"ability": made.with_ability, "generality": made.with_generality}
    said = " ".join(
        f"{name.capitalize()} correlates with the year by {one.pearson:.2f} "
        f"({one.low:.2f} to {one.high:.2f}, {one.agents} agents)."
        for name, one in found.items()
        if math.isfinite(one.pearson)
    )
    correlations = {
        name: {"pearson": one.pearson, "low": one.low, "high": one.high, "agents": one.agents}
        for name, one in found.items()
    }
    table = ShownTable.of(rows, columns, "By year of agents, 95 % intervals")
    return Finding(
        "years", "Progress", said, (table,), {"years": rows, "correlations": correlations}
    )

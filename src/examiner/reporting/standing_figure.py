"""The figure next to the verdict: the best agents, and which differ significantly from the first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from examiner.reporting.figures.standing import StandingData, draw
from examiner.reporting.finding import Figure, Sides
from examiner.reporting.study import Study
from examiner.reporting.table import Record

MOST_DRAWN = 16


def standing_figure(study: Study, data: Mapping[str, Record]) -> Figure | None:
    """The agents at the front with their intervals: the figure that says most of who is better."""
    rows = [row for row in data.get("intervals", {}).get("agents", ()) if "mean" in row]
    if len(rows) < 2:
        return None
    by_agent = {row["agent"]: row for row in rows}
    names = [study.results.agents[agent] for agent in study.order]
    drawn = [name for name in names if name in by_agent][:MOST_DRAWN]
    tests = data.get("significance", {})
    alike = set(tests.get("alike", names))
    group = [1 if study.none_better or name in alike else 2 for name in drawn]
    if not study.none_better:
        leading = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
        group = [0 if name in leading else each for name, each in zip(drawn, group, strict=True)]
    value, low, high = (
        np.array([by_agent[name][end] for name in drawn], dtype=np.float64)
        for end in ("mean", "mean_low", "mean_high")
    )
    shown = StandingData(tuple(drawn), value, low, high, tuple(group))
    total = len(names)
    first = f" The first {len(drawn)} of {total:,} agents." if total > len(drawn) else ""
    unit = study.resampled.unit
    other = "runs of the same tasks" if unit == "runs" else unit
    by_test = " Colours are by tests of pairs, not by whether intervals overlap."
    legend = "" if study.none_better or not tests else by_test
    return Figure(
        key="standing",
        drawn=shown,
        drawing=draw(shown, f"mean {study.axis_title}"),
        caption=f"Means with 95 % intervals over other {other}.",
        legend=f"{legend}{first}".strip(),
        description=(
            "One row per agent: its mean with an interval, and whether it differs significantly from the "
            "first."
        ),
        narrowest=300,
        sides=Sides(rows="agents"),
    )

"""Progress over years as figures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from examiner.information import GeneralFactorByGroup
from examiner.irt import Indicators
from examiner.irt import over_time as told_over_time
from examiner.messages import counted
from examiner.reporting.figures.by_year import YearsData, draw_years
from examiner.reporting.plots.plot import Plot, drawn_alone


def over_time(
    told: Indicators,
    years: Mapping[str, float],
    factors: GeneralFactorByGroup | None = None,
) -> Plot:
    """Draw ability, generality and the general factor by year of agents (papers/003, section 5).

    `factors` are those of `ex.information.general_factor_by` with the same years; without them there are
    two panels.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> over_time(indicators(fit, bins=2), {"a": 2013, "b": 2013, "c": 2015, "d": 2015})
    Plot 'over_time': Ability and generality of 4 agents from 2 years.
    """
    made = told_over_time(told, years).years
    distinct = [float(year) for year in made.year]
    rows = [
        (made.ability, made.ability_low, made.ability_high),
        (made.generality, made.generality_low, made.generality_high),
    ]
    nothing = np.full(len(made), np.nan)
    titles, chance = ["ability", "generality"], [nothing, nothing]
    if factors:
        found = [factors.factors.get(year) for year in distinct]
        for title, name in (
            ("mean correlation of tasks", "mean_task_correlation"),
            ("share of the first factor", "first_factor_share"),
        ):
            empty = (np.nan, np.nan, np.nan)
            table = np.array([empty if each is None else getattr(each, name) for each in found])
            titles.append(title)
            rows.append((table[:, 0], table[:, 1], table[:, 2]))
            chance.append(nothing)
        chance[-1] = np.array(
            [np.nan if each is None else each.first_factor_by_chance for each in found]
        )
    points = [
        (row, float(years[agent]), float(values[place]))
        for row, values in enumerate((told.ability, told.generality))
        for place, agent in enumerate(told.agents)
        if agent in years and np.isfinite(values[place])
    ]
    value, low, high = (np.array([row[part] for row in rows]) for part in range(3))
    shape = tuple(titles), np.array(distinct), value, low, high, np.array(chance)
    drawn = YearsData(*shape, np.array(points).reshape(-1, 3))
    words = "Ability, generality and the general factor" if factors else "Ability and generality"
    count = counted(int(made.agents.sum()), "agent")
    caption = f"{words} of {count} from {counted(len(made), 'year')}."
    return drawn_alone("over_time", drawn, draw_years(drawn), caption)

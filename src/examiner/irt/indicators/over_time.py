"""Progress: ability and generality of agents by the year they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Row, Scalar, Table, bound, count, name, number
from examiner.irt.estimates import interval
from examiner.irt.indicators.comparison import indicator_correlations
from examiner.irt.indicators.generality import Indicators
from examiner.irt.items import Floats
from examiner.messages import InputError, counted, listed
from examiner.scores import Estimate

LEVEL = 0.95


class YearTable(Table):
    """Means of ability and generality by year."""

    year: tuple[str, ...] = name("Year")
    agents: NDArray[np.int64] = count("Agents of the year")
    ability: Floats = number("Mean ability", unit="logits")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    generality: Floats = number("Mean generality of agents with a finite one")
    generality_low: Floats = bound("generality", "low")
    generality_high: Floats = bound("generality", "high")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OverTime(Answer):
    """Means of ability and generality in each year with 95 % intervals.

    `generality` is over agents with a finite one. `with_ability` and
    `with_generality` correlate the year with both, over all agents.
    """

    kind: ClassVar[str] = "over-time"

    years: YearTable
    with_ability: Row
    with_generality: Row
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """How ability correlates with the year."""
        found = self.with_ability
        return (
            f"The ability of {found.agents:,} agents correlates with the year by {found.pearson:.2f} "
            f"(95 %: {found.pearson_low:.2f} to {found.pearson_high:.2f})."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Correlations with the year, over all agents."""
        return {
            "ability_correlation": Scalar(
                self.with_ability.pearson, "Correlation of ability with the year"
            ),
            "generality_correlation": Scalar(
                self.with_generality.pearson, "Correlation of generality with the year"
            ),
        }


def year_of(told: object) -> float:
    """Return the year of a number or of a date as text; NaN where there is none.

    >>> year_of(2015), year_of("2024-06-12"), year_of(None), year_of("soon")
    (2015.0, 2024.0, nan, nan)
    """
    text = str(told)
    if isinstance(told, int | float) and not isinstance(told, bool):
        return float(told)
    return float(text[:4]) if text[:4].isdecimal() and not text[4:5].isdecimal() else float("nan")


def over_time(told: Indicators, years: Mapping[str, float]) -> OverTime:
    r"""Tell ability and generality by the years of agents.

    .. math:: \bar\theta_y \pm t_{n_y - 1} \, s_y / \sqrt{n_y}

    The spread of a year's agents holds the errors of their estimates; a year with one agent has that
    agent's own interval of ability, and none of generality, which is never below 0. Infinite generality
    (no variance in any bin) is left out, and counted in the notes. The intervals, and those of the
    correlations, take agents as independent; variants of one method are not.

    References: papers/003, section 5, asks it.

    >>> from examiner.irt import ItemParameters, known
    >>> from examiner.irt.indicators.generality import indicators
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> made = over_time(indicators(fit, bins=2), {"a": 2013, "b": 2013, "c": 2015, "d": 2015})
    >>> made.years.year, bool(made["2015"].ability > made["2013"].ability)
    (('2013', '2015'), True)
    """
    known = np.array([float(years.get(agent, np.nan)) for agent in told.agents])
    distinct = tuple(sorted({float(year) for year in known[np.isfinite(known)]}))
    if len(distinct) < 2:
        raise InputError(
            f"{counted(len(distinct), 'year')} of agents tell nothing over time. Give the years of "
            f"agents from two years or more, by name."
        )
    general = np.where(np.isfinite(told.generality), told.generality, np.nan)
    members = [np.flatnonzero(known == year) for year in distinct]
    ability = [_mean(told.ability[rows], told.ability_error[rows]) for rows in members]
    generality = [_mean(general[rows], np.full(len(rows), np.nan)) for rows in members]
    columns = {"year": known, "ability": told.ability, "generality": general}
    correlations = indicator_correlations(columns)
    table = YearTable.from_rows(
        {
            "year": f"{year:g}",
            "agents": len(rows),
            "ability": mean.value,
            "ability_low": mean.low,
            "ability_high": mean.high,
            "generality": other.value,
            "generality_low": np.maximum(other.low, 0.0),
            "generality_high": other.high,
        }
        for year, rows, mean, other in zip(distinct, members, ability, generality, strict=True)
    )
    return OverTime(
        table,
        correlations["year", "ability"],
        correlations["year", "generality"],
        _notes(told, known),
    )


def _mean(values: Floats, errors: Floats) -> Estimate:
    from scipy.special import stdtrit

    seen = np.isfinite(values)
    values, errors = values[seen], errors[seen]
    if not len(values):
        return Estimate(float("nan"))
    if len(values) == 1:
        low, high = interval(float(values[0]), float(errors[0]))
        return Estimate(float(values[0]), float(low), float(high))
    middle = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = float(stdtrit(len(values) - 1, 0.5 + LEVEL / 2)) * error
    return Estimate(middle, middle - reach, middle + reach)


def _notes(told: Indicators, known: Floats) -> tuple[str, ...]:
    notes = []
    unknown = [agent for agent, year in zip(told.agents, known, strict=True) if np.isnan(year)]
    if unknown:
        notes.append(f"{counted(len(unknown), 'agent')} without a year: {listed(unknown)}.")
    infinite = int(np.isinf(told.generality[np.isfinite(known)]).sum())
    if infinite:
        notes.append(f"Infinite generality of {counted(infinite, 'agent')} is left out.")
    return tuple(notes)

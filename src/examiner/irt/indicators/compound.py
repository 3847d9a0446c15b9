"""Ability and generality together: a compound of both, agents that reach a limit, and means by year."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Row, Scalar, Table, bound, count, name, number, scalar
from examiner.irt.estimates import interval
from examiner.irt.indicators.comparison import indicator_correlations
from examiner.irt.indicators.generality import Indicators
from examiner.irt.items import Floats
from examiner.messages import InputError, counted, listed, shorten
from examiner.scores import Estimate, midranks

_COMPARISONS: MappingProxyType[str, Callable[[Any, float], Any]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)
_CONDITION = re.compile(r"\s*(ability|generality|regularity|slope|mean)\s*(>=|<=|>|<)\s*(\S+)\s*")


class CompoundTable(Table):
    """Compounds of agents, the largest first."""

    agent: tuple[str, ...] = name("Agent")
    value: Floats = number("Weighted sum of the standard scores of ability and generality")
    ability_part: Floats = number("Part of ability")
    generality_part: Floats = number("Part of generality")
    best_rank: Floats = number("Best rank under some weight")
    worst_rank: Floats = number("Worst rank under some weight")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compound(Answer):
    """A weighted sum of the standard scores of ability and generality, and its parts, by agent.

    `best_rank` and `worst_rank` are the ranks (1 is first) that an agent has under some weight;
    `undecided` is the share of pairs of agents whose order depends on the weight.
    Agents whose generality is infinite or not known have no compound, and are listed in `notes`.
    """

    kind: ClassVar[str] = "compound"

    agents: CompoundTable
    weight: float = field(metadata=scalar("Weight of ability"))
    undecided: float = field(metadata=scalar("Share of pairs whose order depends on the weight"))
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """How often the order of two agents depends on the weight."""
        return f"The order of {self.undecided:.0%} of pairs of agents depends on the weight."


def compound(estimates: Indicators, weight: float = 0.5) -> Compound:
    r"""Combine ability and generality in one number, and report how much depends on the weight.

    .. math:: c_j = w \, z(\theta_j) + (1 - w) \, z(\gamma_j)

    with z the standard score over the agents that have both. papers/002, section V, proposes "a compound
    metric" without defining one: any weight is a choice, so 101 weights from 0 to 1 are tried. Two agents
    keep their order under every weight only if one has both more ability and more generality.

    >>> from examiner.irt import ItemParameters, known
    >>> from examiner.irt.indicators.generality import indicators
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abc", "tuvw"))
    >>> answer = compound(indicators(fit, bins=2))
    >>> [answer[agent].best_rank for agent in "abc"], round(answer.undecided, 2)
    ([1.5, 2.0, 1.0], 0.33)
    """
    if not 0 <= weight <= 1:
        raise InputError(f"The weight of ability is {weight}. Give a number between 0 and 1.")
    both = np.isfinite(estimates.ability) & np.isfinite(estimates.generality)
    if both.sum() < 2:
        raise InputError(
            f"{counted(int(both.sum()), 'agent')} with an ability and a finite generality make no "
            f"compound. Have two or more."
        )
    ability, generality = (
        _standard(part, both) for part in (estimates.ability, estimates.generality)
    )
    weights = np.linspace(0.0, 1.0, 101)[:, None]
    ranks = midranks(-(weights * ability[both] + (1 - weights) * generality[both]))
    best, worst = (np.full(len(estimates.agents), np.nan) for _ in range(2))
    best[both], worst[both] = ranks.min(axis=0), ranks.max(axis=0)
    lacking = [agent for agent, has in zip(estimates.agents, both, strict=True) if not has]
    note = (
        f"No compound of {counted(len(lacking), 'agent')}: generality is infinite or not known: "
        f"{listed(lacking)}."
    )
    table = CompoundTable(
        agent=estimates.agents,
        value=weight * ability + (1 - weight) * generality,
        ability_part=ability,
        generality_part=generality,
        best_rank=best,
        worst_rank=worst,
    )
    rows, columns = np.triu_indices(int(both.sum()), 1)
    gaps = (part[both][rows] - part[both][columns] for part in (ability, generality))
    undecided = float((np.prod(list(gaps), axis=0) < 0).mean())  # more able, but less general
    return Compound(
        table.sorted_by("value", descending=True), weight, undecided, (note,) if lacking else ()
    )


def _standard(values: Floats, both: np.ndarray) -> Floats:
    chosen = values[both]
    spread = float(chosen.std())
    scores = np.where(both, (values - chosen.mean()) / spread if spread > 0 else 0.0, np.nan)
    return scores.round(9)  # smaller differences are rounding errors


def qualified(indicators: Indicators, condition: str) -> tuple[str, ...]:
    """Return the agents that meet a condition: "generality >= 3", "ability > 0".

    A limit is an alternative to a compound of ability and generality (papers/002, section V). Agents whose
    indicator is not known do not qualify; an infinite generality does.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> fit = known(items, ResponseMatrix.from_array([[0, 0], [1, 1]], "ab", "tu"))
    >>> qualified(indicators(fit, bins=1), "ability > 0")
    ('b',)
    """
    parts = _CONDITION.fullmatch(condition)
    try:
        limit = float(parts[3]) if parts else np.nan
    except ValueError:
        limit = np.nan
    if parts is None or np.isnan(limit):
        raise InputError(
            f"The condition {shorten(condition)} is not understood. Compare ability, generality, "
            f"regularity, slope or mean with a number: 'generality >= 3'."
        )
    values = getattr(indicators, parts[1])
    meets = _COMPARISONS[parts[2]](values, limit) & ~np.isnan(values)
    if not meets.any():
        best = f"{np.nanmin(values):.3g} to {np.nanmax(values):.3g}"
        raise InputError(
            f"No agent has {condition.strip()}; {parts[1]} is {best}. Choose another limit."
        )
    return tuple(agent for agent, meet in zip(indicators.agents, meets, strict=True) if meet)


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
        row = self.with_ability
        return (
            f"The ability of {row.agents:,} agents correlates with the year by {row.pearson:.2f} "
            f"(95 %: {row.pearson_low:.2f} to {row.pearson_high:.2f})."
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


def year_of(value: object) -> float:
    """Return the year of a number or of a date as text; NaN where there is none.

    >>> year_of(2015), year_of("2024-06-12"), year_of(None), year_of("soon")
    (2015.0, 2024.0, nan, nan)
    """
    text = str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return float(text[:4]) if text[:4].isdecimal() and not text[4:5].isdecimal() else float("nan")


def over_time(estimates: Indicators, years: Mapping[str, float]) -> OverTime:
    r"""Return mean ability and generality of the agents of each year.

    .. math:: \bar\theta_y \pm t_{n_y - 1} \, s_y / \sqrt{n_y}

    The variance between a year's agents includes the errors of their estimates. A year with one agent has
    that agent's interval of ability, and none of generality, which is never below 0. Infinite generality
    (no variance in any bin) is excluded, and counted in the notes. The intervals, and those of the
    correlations, take agents as independent, which variants of one method are not.

    References: papers/003, section 5.

    >>> from examiner.irt import ItemParameters, known
    >>> from examiner.irt.indicators.generality import indicators
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> trend = over_time(indicators(fit, bins=2), {"a": 2013, "b": 2013, "c": 2015, "d": 2015})
    >>> trend.years.year, bool(trend["2015"].ability > trend["2013"].ability)
    (('2013', '2015'), True)
    """
    year_of_agent = np.array([float(years.get(agent, np.nan)) for agent in estimates.agents])
    distinct = tuple(sorted({float(year) for year in year_of_agent[np.isfinite(year_of_agent)]}))
    if len(distinct) < 2:
        raise InputError(
            f"{counted(len(distinct), 'year')} of agents show no change over time. Give the years of "
            f"agents from two years or more, by name."
        )
    general = np.where(np.isfinite(estimates.generality), estimates.generality, np.nan)
    members = [np.flatnonzero(year_of_agent == year) for year in distinct]
    ability = [_mean(estimates.ability[rows], estimates.ability_error[rows]) for rows in members]
    generality = [_mean(general[rows], np.full(len(rows), np.nan)) for rows in members]
    columns = {"year": year_of_agent, "ability": estimates.ability, "generality": general}
    correlations = indicator_correlations(columns)
    notes = []
    unknown = [agent for agent in estimates.agents if np.isnan(years.get(agent, np.nan))]
    if unknown:
        notes.append(f"{counted(len(unknown), 'agent')} without a year: {listed(unknown)}.")
    infinite = int(np.isinf(estimates.generality[np.isfinite(year_of_agent)]).sum())
    if infinite:
        notes.append(f"Infinite generality of {counted(infinite, 'agent')} is excluded.")
    rows_of_years = [
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
    ]
    table = YearTable.from_rows(rows_of_years, caption="By year of agents, 95 % intervals")
    return OverTime(
        table,
        correlations["year", "ability"],
        correlations["year", "generality"],
        tuple(notes),
    )


def _mean(values: Floats, errors: Floats) -> Estimate:
    from scipy.special import stdtrit

    finite = np.isfinite(values)
    values, errors = values[finite], errors[finite]
    if not len(values):
        return Estimate(float("nan"))
    if len(values) == 1:
        low, high = interval(float(values[0]), float(errors[0]))
        return Estimate(float(values[0]), float(low), float(high))
    middle = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = float(stdtrit(len(values) - 1, 0.975)) * error
    return Estimate(middle, middle - reach, middle + reach)

"""The general factor of groups of agents, for example by year."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from examiner.answers import Answer, Table, bound, name, number
from examiner.information.decomposition import GeneralFactor, general_factor
from examiner.results import Results, reads_results
from examiner.validation import Floats, Randomness, generator

FEWEST_OF_A_GROUP = 4
"""Agents below which the jackknife gives no interval."""


class GroupStatistics(Table):
    """Statistics of the general factor of each group of agents."""

    group: tuple[str, ...] = name("Group of agents")
    statistic: tuple[str, ...] = name("Statistic")
    value: Floats = number("Its value")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    chance: Floats = number("Mean with agents permuted within each task", title="by chance")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneralFactorByGroup(Answer):
    """The general factor of each group of agents; `factors` maps groups to them."""

    kind = "general_factor_by"

    factors: Mapping[Hashable, GeneralFactor]
    seed: int | None = None

    @property
    def headline(self) -> str:
        """In which group tasks correlate most."""
        means = {
            group: factor.mean_task_correlation.value
            for group, factor in self.factors.items()
            if not np.isnan(factor.mean_task_correlation.value)
        }
        if not means:
            return "No group has enough agents for a general factor."
        best = max(means, key=lambda group: means[group])
        return f"Tasks correlate most in group {best}: {means[best]:.2g} on average."

    @property
    def groups(self) -> GroupStatistics:
        """One row per group and statistic."""
        rows = [
            {"group": group} | row
            for group, factor in self.factors.items()
            for row in factor.statistics.records()
        ]
        columns = {name: [row[name] for row in rows] for name in GroupStatistics.declared}
        return GroupStatistics(**columns)  # type: ignore[arg-type]  # lists, which a table converts

    @property
    def tables(self) -> Mapping[str, Table]:
        """Groups of agents."""
        return {"groups": self.groups}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed."""
        return {"seed": self.seed}


@reads_results
def general_factor_by(
    results: Results,
    groups: Mapping[str, Hashable],
    measure: str | None = None,
    *,
    rng: Randomness = 0,
    level: float = 0.95,
    reps: int = 100,
) -> GeneralFactorByGroup:
    """Return the general factor of each group of agents, for example of each year, in order.

    Groups of fewer than 4 agents have none. The share of a first factor is larger in smaller groups even
    by chance: compare it with `first_factor_by_chance`, and groups by the mean correlation.

    References: papers/003, section 5, asks whether the general factor grows with time.

    >>> rows = [[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0], [3.5, 7.0, 14.0], [9.0, 9.0, 9.0]]
    >>> old = {f"agent {number}": 2013 for number in range(1, 5)}
    >>> by_year = general_factor_by(Results.from_numpy(rows), old | {"agent 5": 2015})
    >>> round(by_year["2013", "mean_task_correlation"].value, 6)
    1.0
    """
    seed, rng = rng if isinstance(rng, int) else None, generator(rng)
    group_of = np.array([groups.get(agent) for agent in results.agents], dtype=object)
    factors_of = {}
    for group in sorted({group for group in group_of if group is not None}, key=_sortable):
        chosen = np.array([one == group for one in group_of])
        if chosen.sum() >= FEWEST_OF_A_GROUP:
            part = results.where(chosen[results.agent_codes])
            factors_of[group] = general_factor(part, measure, rng=rng, level=level, reps=reps)
    return GeneralFactorByGroup(factors_of, seed)


def _sortable(group: Hashable) -> tuple[bool, float, str]:
    """Return a key that sorts numbers first, then words."""
    number = float(group) if isinstance(group, int | float) else 0.0
    return not isinstance(group, int | float), number, str(group)

"""One number for ability and generality together, and what it hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from examiner.answers import Answer, Scalar, Table, name, number
from examiner.irt.indicators.generality import Indicators
from examiner.irt.items import Floats
from examiner.messages import InputError, counted, listed
from examiner.scores import midranks

STEPS = 101
"""Weights tried from 0 to 1: ranks change at few of them."""

_DIGITS = 9
"""Of standard scores: agents that differ by less are equal, and differ by rounding."""


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
    `undecided` is the share of pairs of agents whose order depends on the weight: what one number hides.
    Agents whose generality is infinite or not known have no compound, and are told in `notes`.
    """

    kind: ClassVar[str] = "compound"

    agents: CompoundTable
    weight: float
    undecided: float
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """How often the order of two agents depends on the weight."""
        return f"The order of {self.undecided:.0%} of pairs of agents depends on the weight."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The weight, and how much depends on it."""
        return {
            "weight": Scalar(self.weight, "Weight of ability"),
            "undecided": Scalar(self.undecided, "Share of pairs whose order depends on the weight"),
        }


def compound(told: Indicators, weight: float = 0.5) -> Compound:
    r"""Put ability and generality into one number, and say what depends on how.

    .. math:: c_j = w \, z(\theta_j) + (1 - w) \, z(\gamma_j)

    with z the standard score over the agents that have both. papers/002, section V, wishes for such "a
    compound metric" without giving one: any weight is a choice, so all of them are tried. Two agents
    keep their order under every weight only where one has both more ability and more generality.

    >>> from examiner.irt import ItemParameters, known
    >>> from examiner.irt.indicators.generality import indicators
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abc", "tuvw"))
    >>> found = compound(indicators(fit, bins=2))
    >>> [found[agent].best_rank for agent in "abc"], round(found.undecided, 2)
    ([1.5, 2.0, 1.0], 0.33)
    """
    if not 0 <= weight <= 1:
        raise InputError(f"The weight of ability is {weight}. Give a number between 0 and 1.")
    both = np.isfinite(told.ability) & np.isfinite(told.generality)
    if both.sum() < 2:
        raise InputError(
            f"{counted(int(both.sum()), 'agent')} with an ability and a finite generality make no "
            f"compound. Have two or more."
        )
    ability, generality = (_standard(part, both) for part in (told.ability, told.generality))
    weights = np.linspace(0.0, 1.0, STEPS)[:, None]
    ranks = midranks(-(weights * ability[both] + (1 - weights) * generality[both]))
    best, worst = (np.full(len(told.agents), np.nan) for _ in range(2))
    best[both], worst[both] = ranks.min(axis=0), ranks.max(axis=0)
    lacking = [agent for agent, has in zip(told.agents, both, strict=True) if not has]
    notes = (
        (
            f"No compound of {counted(len(lacking), 'agent')}: generality is infinite or not known: "
            f"{listed(lacking)}.",
        )
        if lacking
        else ()
    )
    table = CompoundTable(
        agent=told.agents,
        value=weight * ability + (1 - weight) * generality,
        ability_part=ability,
        generality_part=generality,
        best_rank=best,
        worst_rank=worst,
    )
    undecided = _undecided(ability[both], generality[both])
    return Compound(table.sorted_by("value", descending=True), weight, undecided, notes)


def _standard(values: Floats, both: np.ndarray) -> Floats:
    chosen = values[both]
    spread = float(chosen.std())
    scores = np.where(both, (values - chosen.mean()) / spread if spread > 0 else 0.0, np.nan)
    return scores.round(_DIGITS)


def _undecided(ability: Floats, generality: Floats) -> float:
    """The share of pairs of which one is abler and the other more general."""
    rows, columns = np.triu_indices(len(ability), 1)
    apart = (ability[rows] - ability[columns]) * (generality[rows] - generality[columns])
    return float((apart < 0).mean())

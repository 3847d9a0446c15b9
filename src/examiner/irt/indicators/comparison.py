"""Two by two: agents, by who solves whatever the other solves; indicators, by how they correlate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, count, name, number
from examiner.irt.estimates import interval
from examiner.irt.evidence import LEVEL, Evidence
from examiner.irt.fitted import Abilities
from examiner.irt.items import Floats, positions
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import correlate_columns, holm
from examiner.validation import Randomness, generator, seed_of

_CELLS = 20_000_000
MOST_AGENTS = 5_000
MOST_JOINT = 3_000
"""Agents up to whom differences have joint errors; those of more are taken as independent."""
FEWEST_AGENTS = 4
"""Fisher's interval of a correlation divides by √(n − 3)."""


class DominanceTable(Table):
    """Agents, those that no other dominates first."""

    agent: tuple[str, ...] = name("Agent")
    dominates: NDArray[np.int64] = count("Agents that it dominates")
    dominated_by: NDArray[np.int64] = count("Agents that dominate it")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dominance(Answer):
    """How agents (rows) compare with others (columns) task by task, each array [agents, agents].

    `better` counts the shared tasks on which the row's result is higher, `shared` all they share;
    `dominates` is true where the row is nowhere worse and somewhere better. `abler` is the chance that
    the row's ability is the higher one, NaN without abilities. `undominated` names agents that no
    other dominates.
    """

    kind: ClassVar[str] = "dominance"

    agents: tuple[str, ...]
    better: NDArray[np.int64]
    shared: NDArray[np.int64]
    dominates: NDArray[np.bool_]
    abler: Floats

    @property
    def headline(self) -> str:
        """How many agents no other dominates."""
        agents = counted(len(self.agents), "agent")
        return f"No other agent dominates {len(self.undominated):,} of {agents}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """How many agents each dominates, and is dominated by."""
        table = DominanceTable(
            agent=self.agents,
            dominates=self.dominates.sum(axis=1),
            dominated_by=self.dominates.sum(axis=0),
        )
        return {"agents": table.sorted_by("dominated_by")}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """How often one of two agents dominates the other."""
        meaning = "Share of pairs that differ in which one dominates the other"
        return {"transitive_share": Scalar(self.transitive_share, meaning)}

    @property
    def undominated(self) -> tuple[str, ...]:
        """Agents that no other agent dominates."""
        beaten = self.dominates.any(axis=0)
        return tuple(self.agents[row] for row in np.flatnonzero(~beaten))

    @property
    def transitive_share(self) -> float:
        """Share of comparable pairs in which one dominates the other: 1 where tasks rank agents alike.

        Pairs with the same result on every shared task are left out; NaN where there are no others.
        """
        differ = (self.better + self.better.T > 0) & (self.shared > 0)
        upper = np.triu(differ, k=1)
        if not upper.any():
            return float("nan")
        either = self.dominates | self.dominates.T
        return float((either & upper).sum() / upper.sum())


def dominance(matrix: ResponseMatrix, abilities: Abilities | None = None) -> Dominance:
    r"""Compare every two agents on the tasks they share.

    With abilities, :math:`P(\theta_a > \theta_b) = \Phi((\theta_a - \theta_b) / \sqrt{s_a^2 + s_b^2})`.
    Two perfectly general agents are always in dominance (papers/002, section II-B): "whatever is
    solved by B is solved by A".

    >>> matrix = ResponseMatrix.from_array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], ["a", "b", "c"])
    >>> made = dominance(matrix)
    >>> made.undominated, bool(made.dominates[0, 1])
    (('a', 'c'), True)
    """
    count = len(matrix.agents)
    if count > MOST_AGENTS:
        raise InputError(
            f"{count:,} agents make too many pairs to compare. Take at most {MOST_AGENTS:,}."
        )
    results, seen = matrix.to_numpy(), matrix.observed
    better = np.zeros((count, count), dtype=np.int64)
    step = max(1, _CELLS // max(1, results.size))
    for first in range(0, count, step):
        block = results[first : first + step, None, :]
        with np.errstate(invalid="ignore"):
            better[first : first + step] = (block > results[None, :, :]).sum(axis=2)
    as_numbers = seen.astype(np.float64)
    shared = np.rint(as_numbers @ as_numbers.T).astype(np.int64)
    dominates: NDArray[np.bool_] = (better > 0) & (better.T == 0)
    return Dominance(matrix.agents, better, shared, dominates, _abler(matrix, abilities))


def _abler(matrix: ResponseMatrix, abilities: Abilities | None) -> Floats:
    count = len(matrix.agents)
    if abilities is None:
        return np.full((count, count), np.nan)
    from scipy.special import ndtr

    rows = positions(abilities.agents, matrix.agents)
    unknown = rows < 0
    apart, spread = (part[np.ix_(rows, rows)] for part in abilities.differences())
    apart[unknown] = np.nan
    apart[:, unknown] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.asarray(ndtr(apart / spread))
    chance[np.diag_indices(count)] = 0.5
    return chance


def leading(abilities: Abilities, evidence: Evidence | None = None) -> tuple[str, ...]:
    """Return the agent with the highest ability, then those it cannot be told apart from.

    One name is the ablest agent; none where the `evidence` shows no difference, or nothing is known.
    Differences have their joint errors, and are tested one-sided at 5 % after Holm's correction for all
    other agents.

    >>> error = np.array([0.2, 0.2, 0.2])
    >>> leading(Abilities(("a", "b", "c"), np.array([2.0, 0.0, 0.1]), error, ""))
    ('a',)
    >>> leading(Abilities(("a", "b", "c"), np.array([2.0, 0.0, 1.9]), error, ""))
    ('a', 'c')
    """
    from scipy.special import ndtr

    known = np.flatnonzero(np.isfinite(abilities.ability))
    if not known.size or (evidence is not None and not evidence.abilities_differ):
        return ()
    order = known[np.argsort(-abilities.ability[known], kind="stable")]
    first, others = order[0], order[1:]
    apart = abilities.ability[first] - abilities.ability[others]
    error = np.hypot(abilities.error[first], abilities.error[others])
    if len(abilities.agents) <= MOST_JOINT:
        error = abilities.differences()[1][first, others]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(ndtr(-apart / error), nan=0.5)
    near = others[holm(p) >= LEVEL]
    return tuple(abilities.agents[agent] for agent in (first, *near))


class IndicatorCorrelations(Table):
    """Correlations between indicators over the agents that have both."""

    first: tuple[str, ...] = name("First indicator", title="of")
    second: tuple[str, ...] = name("Second indicator", title="and")
    pearson: Floats = number("Pearson's correlation", title="correlation")
    pearson_low: Floats = bound("pearson", "low")
    pearson_high: Floats = bound("pearson", "high")
    spearman: Floats = number("Spearman's correlation", title="rank correlation")
    agents: NDArray[np.int64] = count("Agents that have both indicators")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IndicatorComparison(Answer):
    """How every two indicators correlate, over the agents that have both."""

    kind: ClassVar[str] = "indicator-correlations"

    correlations: IndicatorCorrelations
    settings: Mapping[str, int | None]

    @property
    def headline(self) -> str:
        """The two indicators that correlate most."""
        pairs = [row for row in self.correlations if np.isfinite(row.pearson)]
        if not pairs:
            return "No two indicators vary over the same agents."
        most = max(pairs, key=lambda row: abs(row.pearson))
        return (
            f"{most.first} and {most.second} correlate most, by {most.pearson:.2f} "
            f"(95 %: {most.pearson_low:.2f} to {most.pearson_high:.2f})."
        )


def indicator_correlations(
    columns: Mapping[str, Floats], *, rng: Randomness | None = None, reps: int = 2000
) -> IndicatorComparison:
    r"""Correlate every two indicators over the agents for which both are finite.

    The interval is Fisher's, :math:`\tanh(\operatorname{artanh} r \pm 1.96 / \sqrt{n - 3})`, which
    supposes normal indicators; with a generator, agents are resampled instead (percentiles of `reps`
    bootstraps), which does not.

    >>> one = np.array([1.0, 2.0, 3.0, 4.0, np.inf])
    >>> found = indicator_correlations({"ability": one, "regularity": -one})[0]
    >>> round(found.pearson, 12), found.agents
    (-1.0, 4)
    """
    drawing = None if rng is None else generator(rng)
    table = np.stack(list(columns.values()), axis=1)
    table = np.where(np.isfinite(table), table, np.nan)
    (pearson, agents), (spearman, _) = (
        correlate_columns(table),
        correlate_columns(table, "spearman"),
    )
    rows = []
    for pair in combinations(range(len(columns)), 2):
        r, count, ends = float(pearson[pair]), int(agents[pair]), (float("nan"), float("nan"))
        if np.isfinite(r) and count >= FEWEST_AGENTS:
            ends = (
                _fisher(r, count) if drawing is None else _resampled(table[:, pair], drawing, reps)
            )
        a, b = (list(columns)[column] for column in pair)
        row = (a, b, r, *ends, float(spearman[pair]), count)
        rows.append(dict(zip(IndicatorCorrelations.declared, row, strict=True)))
    settings = {"reps": reps, "seed": seed_of(rng)} if rng is not None else {}
    return IndicatorComparison(IndicatorCorrelations.from_rows(rows), settings)


def _fisher(r: float, count: int) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        low, high = interval(float(np.arctanh(r)), float(1 / np.sqrt(count - 3)))
    return float(np.tanh(low)), float(np.tanh(high))


def _resampled(pair: Floats, rng: np.random.Generator, reps: int) -> tuple[float, float]:
    known = pair[np.isfinite(pair).all(axis=1)]
    drawn = rng.integers(len(known), size=(reps, len(known)))
    made = [correlate_columns(known[rows])[0][0, 1] for rows in drawn]
    low, high = np.nanpercentile(made, (2.5, 97.5))
    return float(low), float(high)

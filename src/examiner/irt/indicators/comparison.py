"""Pairs of agents, by dominance over tasks, and pairs of indicators, by correlation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number, scalar, setting
from examiner.irt.estimates import interval
from examiner.irt.evidence import LEVEL, Evidence
from examiner.irt.fitted import Abilities
from examiner.irt.items import Floats, positions
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import correlate_columns, holm
from examiner.validation import Randomness, generator, seed_of


class DominanceTable(Table):
    """Agents, those that no other dominates first."""

    agent: tuple[str, ...] = name("Agent")
    dominates: NDArray[np.int64] = count("Agents that it dominates")
    dominated_by: NDArray[np.int64] = count("Agents that dominate it")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dominance(Answer):
    """How agents (rows) compare with others (columns) task by task, each array [agents, agents].

    `better` counts the shared tasks on which the row's result is higher, `shared` all shared tasks;
    `dominates` is true if the row is worse on none and better on at least one. `more_able` is the
    probability that the row's ability is higher, NaN without abilities. `transitive_share` is 1 if all
    tasks rank agents in the same order; it excludes pairs with the same result on every shared task, and is
    NaN where there are no others.
    """

    kind: ClassVar[str] = "dominance"

    agents: tuple[str, ...]
    better: NDArray[np.int64]
    shared: NDArray[np.int64]
    dominates: NDArray[np.bool_]
    more_able: Floats
    transitive_share: float = field(
        metadata=scalar("Share of pairs that differ in which one dominates the other")
    )

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
    def undominated(self) -> tuple[str, ...]:
        """Agents that no other agent dominates."""
        beaten = self.dominates.any(axis=0)
        return tuple(self.agents[row] for row in np.flatnonzero(~beaten))


def dominance(matrix: ResponseMatrix, abilities: Abilities | None = None) -> Dominance:
    r"""Compare every two agents on the tasks they share.

    With abilities, :math:`P(\theta_a > \theta_b) = \Phi((\theta_a - \theta_b) / \sqrt{s_a^2 + s_b^2})`.
    Two perfectly general agents are always in dominance (papers/002, section II-B): "whatever is
    solved by B is solved by A".

    >>> matrix = ResponseMatrix.from_array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], ["a", "b", "c"])
    >>> pairs = dominance(matrix)
    >>> pairs.undominated, bool(pairs.dominates[0, 1])
    (('a', 'c'), True)
    """
    count = len(matrix.agents)
    if count > 5_000:
        raise InputError(f"{count:,} agents make too many pairs to compare. Take at most 5,000.")
    results = matrix.to_numpy()
    better = np.zeros((count, count), dtype=np.int64)
    step = max(1, 20_000_000 // max(1, results.size))  # bounds memory
    for first in range(0, count, step):
        block = results[first : first + step, None, :]
        with np.errstate(invalid="ignore"):
            better[first : first + step] = (block > results[None, :, :]).sum(axis=2)
    observed = matrix.observed.astype(np.float64)
    shared = np.rint(observed @ observed.T).astype(np.int64)
    dominates: NDArray[np.bool_] = (better > 0) & (better.T == 0)
    differ = np.triu((better + better.T > 0) & (shared > 0), k=1)
    either = differ & (dominates | dominates.T)
    transitive = float(either.sum() / differ.sum()) if differ.any() else float("nan")
    more_able = np.full((count, count), np.nan)
    if abilities is not None:
        from scipy.special import ndtr

        rows = positions(abilities.agents, matrix.agents)
        difference, error = (part[np.ix_(rows, rows)] for part in abilities.differences())
        with np.errstate(divide="ignore", invalid="ignore"):
            more_able = np.asarray(ndtr(difference / error))
        more_able[rows < 0] = more_able[:, rows < 0] = np.nan
        np.fill_diagonal(more_able, 0.5)
    return Dominance(matrix.agents, better, shared, dominates, more_able, transitive)


def leading(abilities: Abilities, evidence: Evidence | None = None) -> tuple[str, ...]:
    """Return the agent with the highest ability, then those not significantly below it.

    Nobody where the `evidence` shows no difference, or no ability is known. Differences have their joint
    errors (with more than 3,000 agents errors are taken as independent), and are tested one-sided at 5 %
    after Holm's correction for all other agents.

    >>> error = np.array([0.2, 0.2, 0.2])
    >>> leading(Abilities(("a", "b", "c"), np.array([2.0, 0.0, 0.1]), error, ""))
    ('a',)
    >>> leading(Abilities(("a", "b", "c"), np.array([2.0, 0.0, 1.9]), error, ""))
    ('a', 'c')
    """
    from scipy.special import ndtr

    placed = np.flatnonzero(np.isfinite(abilities.ability))
    if not placed.size or (evidence is not None and not evidence.abilities_differ):
        return ()
    order = placed[np.argsort(-abilities.ability[placed], kind="stable")]
    first, others = order[0], order[1:]
    difference = abilities.ability[first] - abilities.ability[others]
    error = np.hypot(abilities.error[first], abilities.error[others])
    if len(abilities.agents) <= 3_000:
        error = abilities.differences()[1][first, others]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(ndtr(-difference / error), nan=0.5)
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
    reps: int | None = field(default=None, metadata=setting())
    seed: int | None = None

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
    columns: Mapping[str, Floats], *, reps: int | None = None, rng: Randomness = 0
) -> IndicatorComparison:
    r"""Correlate every two indicators over the agents for which both are finite.

    The interval is Fisher's, :math:`\tanh(\operatorname{artanh} r \pm 1.96 / \sqrt{n - 3})`, which
    assumes normal indicators; with `reps`, agents are resampled that often instead (percentiles).

    >>> one = np.array([1.0, 2.0, 3.0, 4.0, np.inf])
    >>> row = indicator_correlations({"ability": one, "regularity": -one})[0]
    >>> round(row.pearson, 12), row.agents
    (-1.0, 4)
    """
    seed = seed_of(rng)
    drawing = generator(seed)
    table = np.stack(list(columns.values()), axis=1)
    table = np.where(np.isfinite(table), table, np.nan)
    (pearson, agents), (spearman, _) = (
        correlate_columns(table),
        correlate_columns(table, "spearman"),
    )
    rows = []
    for pair in combinations(range(len(columns)), 2):
        r, count, ends = float(pearson[pair]), int(agents[pair]), (float("nan"), float("nan"))
        if np.isfinite(r) and count >= 4:  # Fisher's interval divides by √(n − 3)
            ends = _fisher(r, count) if reps is None else _resampled(table[:, pair], drawing, reps)
        a, b = (list(columns)[column] for column in pair)
        row = (a, b, r, *ends, float(spearman[pair]), count)
        rows.append(dict(zip(IndicatorCorrelations.declared, row, strict=True)))
    return IndicatorComparison(IndicatorCorrelations.from_rows(rows), reps, seed)


def _fisher(r: float, count: int) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        low, high = interval(float(np.arctanh(r)), float(1 / np.sqrt(count - 3)))
    return float(np.tanh(low)), float(np.tanh(high))


def _resampled(pair: Floats, rng: np.random.Generator, reps: int) -> tuple[float, float]:
    complete = pair[np.isfinite(pair).all(axis=1)]
    drawn = rng.integers(len(complete), size=(reps, len(complete)))
    correlations = [correlate_columns(complete[rows])[0][0, 1] for rows in drawn]
    low, high = np.nanpercentile(correlations, (2.5, 97.5))
    return float(low), float(high)

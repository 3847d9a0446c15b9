"""Score against cost: who is on the Pareto front, how surely, and by whom the others are dominated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Scalar, Table, bound, flag, name, number, words
from examiner.messages import InputError, counted, joined, listed, shorten
from examiner.results import NO_SCALES, Results, reads_results
from examiner.scores.aggregate import AGGREGATES, mean
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    Progress,
    Replicates,
    Resampling,
    each_agent,
)
from examiner.scores.cells import cell_means, judged_runs
from examiner.scores.costs import attempt_costs
from examiner.scores.intervals import AggregateIntervals, intervals_of
from examiner.scores.normalise import score_unit
from examiner.scores.runs import RunScores, Unit, run_scores
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, read_only, seed_of

DIGITS = 12
"""Means that agree in so many digits of the largest are equal: what differs beyond is rounding."""


class Dominating(NamedTuple):
    """An agent on the front that scores no less for no more, and in what share of resamples it does."""

    agent: str
    share: float


class ParetoOptions(TypedDict, total=False):
    """How resamples are drawn, as keyword arguments."""

    reps: int | None
    unit: Unit | None
    level: float
    progress: Progress | None


class FrontAgents(Table):
    """Agents by mean score and mean cost, best first by score."""

    agent: tuple[str, ...] = name("Agent")
    score: Floats = number("Mean score", unit="score")
    score_low: Floats = bound("score", "low")
    score_high: Floats = bound("score", "high")
    cost: Floats = number("Mean cost of an attempt at a task, failed or not")
    cost_low: Floats = bound("cost", "low")
    cost_high: Floats = bound("cost", "high")
    on_front: NDArray[np.bool_] = flag("Whether no agent dominates it")
    front_share: Floats = number(
        "Share of resamples in which no agent dominates it", title="front share"
    )
    dominated_by: tuple[tuple[str, ...], ...] = words(
        "Agents on the front that score no less for no more"
    )


class DominatedAgents(Table):
    """Which agent on the front dominates which other, and in what share of resamples."""

    agent: tuple[str, ...] = name("Agent that is dominated")
    dominated_by: tuple[str, ...] = name("Agent on the front that scores no less for no more")
    share: Floats = number("Share of resamples in which it does")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class ParetoFront(ByResampling):
    """Agents by mean score and mean cost of an attempt at an item; arrays of shape [agents].

    Agents come best first by score. `on_front` says whom no agent dominates, `share` in what share of
    resamples that is so, NaN where nothing can be resampled. `dominated_by` holds, for each agent, those
    on the front that dominate it, the most frequent first. `left_out` have no cost, or were not observed
    on enough items.
    """

    kind = "cost"

    agent_names: tuple[str, ...]
    measure: str
    cost_name: str
    score: Floats
    score_low: Floats
    score_high: Floats
    cost: Floats
    cost_low: Floats
    cost_high: Floats
    on_front: NDArray[np.bool_]
    share: Floats
    dominated_by: tuple[tuple[Dominating, ...], ...]
    left_out: tuple[str, ...]

    score_unit: str = ""

    @property
    def headline(self) -> str:
        """Which agents are on the front."""
        verb = "is" if len(self.front) == 1 else "are"
        start = f"{joined(self.front, 6)} {verb} on the Pareto front of {self.measure} and "
        return f"{start}{self.cost_name}, of {counted(len(self.agent_names), 'agent')}."

    @property
    def agents(self) -> FrontAgents:
        """One row per agent."""
        return FrontAgents(
            agent=self.agent_names,
            score=self.score,
            score_low=self.score_low,
            score_high=self.score_high,
            cost=self.cost,
            cost_low=self.cost_low,
            cost_high=self.cost_high,
            on_front=self.on_front,
            front_share=self.share,
            dominated_by=[[one.agent for one in better] for better in self.dominated_by],
            level=self.level,
            score_unit=self.score_unit,
        )

    @property
    def dominated(self) -> DominatedAgents:
        """One row per dominated agent and agent that dominates it."""
        rows = [
            (agent, one)
            for agent, better in zip(self.agent_names, self.dominated_by, strict=True)
            for one in better
        ]
        return DominatedAgents(
            agent=[agent for agent, _ in rows],
            dominated_by=[one.agent for _, one in rows],
            share=[one.share for _, one in rows],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents, and which of them dominate which others."""
        return {"agents": self.agents, "dominated": self.dominated}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """What is set against what, and who is on the front or excluded."""
        return {
            "measure": Scalar(self.measure, "Measure of the score"),
            "cost": Scalar(self.cost_name, "Column of the cost"),
            "front": Scalar(self.front, "Agents on the front, best first"),
            "left_out": Scalar(self.left_out, "Agents excluded for lack of scores or costs"),
        }

    @property
    def front(self) -> tuple[str, ...]:
        """The agents on the front, best first."""
        return tuple(self.agent_names[row] for row in np.flatnonzero(self.on_front))


@reads_results
def pareto(
    results: Results,
    cost: str,
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    total: Total | None = None,
    coverage: float = 0.9,
    **how: Unpack[ParetoOptions],
) -> ParetoFront:
    r"""Find the agents that no other dominates: none scores as much for less, or more for as little.

    .. math:: b \succ a \iff \bar s_b \ge \bar s_a,\; \bar c_b \le \bar c_a,
              \text{ and } \bar s_b > \bar s_a \text{ or } \bar c_b < \bar c_a

    Scores and costs (see `attempt_costs`) are means over items of the mean attempt, successes and
    failures alike; `total` says how items make a mean. Scores and costs are resampled together, by runs
    or by items as `intervals` does by default, so that both stay paired and scores have the same
    intervals. An agent is left out whose score or cost is not known on at least `coverage` of the items.

    >>> table = {"agent": ["a", "a", "b", "b"], "task": ["t", "u"] * 2, "score": [1, 0, 1, 1]}
    >>> pareto(Results.from_dict(table | {"cost": [1.0, 2.0, 3.0, 4.0]}), "cost", rng=0).front
    ('b', 'a')
    """
    results = judged_runs(results)
    measure = results.measure_name(measure)
    costed = _CostedAgents.of(results, cost, measure, coverage)
    seed = seed_of(rng)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    mean_of, shares = [AGGREGATES["mean"]], results.is_binary(measure)
    scores = intervals_of(
        bootstrap, mean_of, seed, shares=shares
    )  # of all, as `intervals` gives them
    scores = scores.of([agent for agent in scores.agent_names if agent not in costed.left_out])
    paid = Bootstrap.of(costed.costs_kept, costed.named, bootstrap.how, total)
    costs = intervals_of(paid, mean_of, seed, shares=False).of(scores.agent_names)
    drawn = np.full((2, len(scores.agent_names), 1), np.nan)
    if bootstrap.reason is None:
        rows = [bootstrap.scores.row(agent) for agent in scores.agent_names]
        evaluate = partial(_both, costs=run_scores(costed.costs, costed.named, total))
        drawn = bootstrap.replicates(evaluate, np.random.default_rng(seed))[:, rows]
    score, price = scores.value[:, 0], costs.value[:, 0]
    front = on_front(score, price)
    return ParetoFront(
        how=bootstrap.how,
        seed=seed,
        notes=tuple(dict.fromkeys((*costed.notes, *_notes(scores, costs)))),
        agent_names=scores.agent_names,
        measure=measure,
        cost_name=cost,
        score=score,
        score_low=scores.low[:, 0],
        score_high=scores.high[:, 0],
        cost=price,
        cost_low=np.maximum(costs.low[:, 0], 0.0),
        cost_high=costs.high[:, 0],
        on_front=front,
        share=_share(on_front(*drawn), drawn),
        dominated_by=_dominated_by(scores.agent_names, score, price, front, drawn),
        left_out=costed.left_out,
        score_unit=score_unit(results, measure),
    )


def on_front(score: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Tell which rows no other dominates, shape [agents] or [agents, replicates]; NaN is none.

    By cost, and by falling score where costs are equal, a row is on the front when it scores more than
    all before it; or as much as the best of them for the same cost.

    >>> on_front(np.array([0.5, 0.5, 0.4, 0.9]), np.array([1.0, 2.0, 0.5, 2.0]))
    array([ True, False,  True,  True])
    """
    unknown = np.isnan(score) | np.isnan(cost)
    up, price = _without_dust(score), _without_dust(cost)
    up, price = np.where(unknown, -np.inf, up), np.where(unknown, np.inf, price)
    order = np.lexsort((-up, price), axis=0)
    up, price = (np.take_along_axis(one, order, axis=0) for one in (up, price))
    best = np.maximum.accumulate(up, axis=0)
    before = np.concatenate([np.full_like(best[:1], -np.inf), best[:-1]])
    first = up > before
    # Where the best so far was first reached, and so what it costs.
    reached = np.maximum.accumulate(np.where(first, price, -np.inf), axis=0)
    sorted_front = (up == best) & (price == reached)
    front = np.empty_like(sorted_front)
    np.put_along_axis(front, order, sorted_front, axis=0)
    return np.asarray(front & ~unknown)


class _CostedAgents(NamedTuple):
    """Costs as the measure `named`, of all agents and of those whose scores and costs are known."""

    costs: Results
    costs_kept: Results
    named: str
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, results: Results, cost: str, measure: str, coverage: float) -> _CostedAgents:
        if not 0 < coverage <= 1:
            raise InputError(f"The coverage is {coverage:g}. Give a share of the tasks in (0, 1].")
        named = f"{cost} (cost)"
        costs = replace(results, scales=NO_SCALES).with_measure(named, attempt_costs(results, cost))
        paid = np.isfinite(cell_means(costs, named))
        observed = paid & np.isfinite(cell_means(results, measure))
        kept = observed.mean(axis=1) >= coverage - 1e-12
        free, few = ~paid.any(axis=1), paid.any(axis=1) & ~kept
        notes = [
            f"{counted(int(some.sum()), 'agent')} left out, {why}: "
            f"{listed([results.agents[row] for row in np.flatnonzero(some)])}."
            for some, why in (
                (free, "whose cost is not known"),
                (few, f"whose score and cost are not known on {coverage:.0%} of the tasks"),
            )
            if some.any()
        ]
        if not kept.any():
            raise InputError(
                f"No agent can be told by {shorten(cost)}: {' '.join(notes)} Name another column, or allow "
                f"less (`coverage=...`)."
            )
        gone = tuple(results.agents[row] for row in np.flatnonzero(~kept))
        rows = kept[results.agent_codes]
        return cls(costs, costs.where(rows), named, gone, tuple(notes))


def _both(block: Replicates, costs: RunScores) -> Floats:
    """Mean scores and mean costs on the same draws, shape [2, agents, replicates]."""
    if block.unit == "tasks":
        paid = replace(block, scores=costs)
        return np.stack([each_agent(one, (mean,))[:, 0] for one in (block, paid)])
    both = np.full((2, len(costs.strata), block.replicates), np.nan)
    alone = replace(block, scores=costs, order=costs.draw_order)
    for row, (score, cost) in enumerate(zip(block.scores.strata, costs.strata, strict=True)):
        if not len(score.tasks) or not len(cost.tasks):
            continue
        sample = block.sample(row)
        both[0, row] = mean(sample)
        same = np.array_equal(score.tasks, cost.tasks) and np.array_equal(score.runs, cost.runs)
        # Where the costs of some runs are not known, the others are drawn by themselves.
        both[1, row] = mean(sample._replace(scores=cost.scores) if same else alone.sample(row))
    return both


def _without_dust(values: Floats) -> Floats:
    """Round to what sums in another order have in common."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    return values if largest == 0 else np.round(values / largest, DIGITS)


def _share(fronts: NDArray[np.bool_], drawn: Floats) -> Floats:
    finite = np.asarray(np.isfinite(drawn).all(axis=0))
    share = np.full(len(fronts), np.nan)
    np.divide(
        (fronts & finite).sum(axis=1), finite.sum(axis=1), out=share, where=finite.any(axis=1)
    )
    read_only(share)
    return share


def _dominated_by(
    agents: tuple[str, ...], score: Floats, cost: Floats, front: NDArray[np.bool_], drawn: Floats
) -> tuple[tuple[Dominating, ...], ...]:
    """For each agent, who on the front dominates it, the surest first: one always does, if any agent."""
    up, price = _without_dust(score), _without_dust(cost)
    ups, prices = _without_dust(drawn[0]), _without_dust(drawn[1])
    resampled = bool(np.isfinite(drawn).any())
    rows = []
    for row in range(len(agents)):
        better = np.flatnonzero(front & _dominates(up, price, up[row], price[row]))
        often = _dominates(ups[better], prices[better], ups[row], prices[row]).mean(axis=1)
        shares = [
            Dominating(agents[other], float(share) if resampled else float("nan"))
            for other, share in zip(better, often, strict=True)
        ]
        rows.append(tuple(sorted(shares, key=lambda one: -one.share)))
    return tuple(rows)


def _dominates(
    up: Floats, price: Floats, than: Floats | float, paid: Floats | float
) -> NDArray[np.bool_]:
    return (up >= than) & (price <= paid) & ((up > than) | (price < paid))


def _notes(scores: AggregateIntervals, costs: AggregateIntervals) -> list[str]:
    return [*scores.notes, *(f"Costs: {note}" for note in costs.notes if note not in scores.notes)]

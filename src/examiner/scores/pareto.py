"""Score against cost: who is on the Pareto front, how surely, and by whom the others are dominated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, flag, name, number, scalar, words
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
from examiner.scores.cells import cell_means, ratio
from examiner.scores.comparable import OwnFunction
from examiner.scores.costs import attempt_costs, needed_cost
from examiner.scores.intervals import intervals_of
from examiner.scores.normalise import comparable_runs, score_unit
from examiner.scores.runs import RunScores, Unit, run_scores
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, seed_of


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
    """Agents by mean score and mean cost of an attempt at a task, and who dominates whom: `pareto`.

    `left_out` have no cost, or were not observed on enough tasks. Shares of resamples are NaN where nothing
    can be resampled.
    """

    kind = "cost"

    agents: FrontAgents
    dominated: DominatedAgents
    measure: str = field(metadata=scalar("Measure of the score"))
    cost_name: str = field(metadata=scalar("Column of the cost", name="cost"))
    front: tuple[str, ...] = field(metadata=scalar("Agents on the front, best first"))
    left_out: tuple[str, ...] = field(
        metadata=scalar("Agents excluded for lack of scores or costs")
    )

    @property
    def headline(self) -> str:
        """Which agents are on the front, in nearly all resamples, and how many are dominated."""
        shares, total = self.agents.front_share, counted(len(self.agents), "agent")
        front = f"on the Pareto front of {self.measure} and {self.cost_name}"
        if np.isnan(shares).all():
            return f"Of {total} these are {front}: {joined(self.front, 6)}."
        certain = [agent for agent in self.front if self.agents[agent].front_share >= 0.95]
        dominated = int((shares <= 0.05).sum())
        end = f"; {dominated:,} {'is' if dominated == 1 else 'are'} dominated" if dominated else ""
        if unknown := len(shares) - len(certain) - dominated:
            end += f"; of {unknown:,} it is not certain"
        verb = "is" if len(certain) == 1 else "are"
        start = f"{len(certain):,} of {total} {verb} {front} in at least 95 % of resamples"
        names = joined(certain, 6) if certain else f"as observed {joined(self.front, 6)}"
        return f"{start}: {names}{end}."


@reads_results
def pareto(
    results: Results,
    cost: str | None = None,
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    coverage: float = 0.9,
    **how: Unpack[ParetoOptions],
) -> ParetoFront:
    r"""Find the agents that no other dominates: none scores as much for less, or more for as little.

    .. math:: b \succ a \iff \bar s_b \ge \bar s_a,\; \bar c_b \le \bar c_a,
              \text{ and } \bar s_b > \bar s_a \text{ or } \bar c_b < \bar c_a

    Scores and costs (see `attempt_costs`; by default the first of cost, tokens and seconds) are means over
    items of the mean attempt, successes and failures alike; `total` says how items make a mean. Scores and
    costs are resampled together, by runs or by items as `intervals` does by default, so that both stay
    paired and scores have the same intervals. An agent is left out whose score or cost is not known on at
    least `coverage` of the items.

    >>> table = {"agent": ["a", "a", "b", "b"], "task": ["t", "u"] * 2, "score": [1, 0, 1, 1]}
    >>> pareto(Results.from_dict(table | {"cost": [1.0, 2.0, 3.0, 4.0]}), "cost", rng=0).front
    ('b', 'a')
    """
    measure = results.measure_name(measure)
    cost = needed_cost(results, cost)
    results = comparable_runs(results, normalise, measure)
    costs, named, kept, notes = _costed(results, cost, measure, coverage)
    seed = seed_of(rng)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    mean_of, shares = [AGGREGATES["mean"]], results.is_binary(measure)
    of_all = intervals_of(bootstrap, mean_of, seed, shares=shares)  # as `intervals` gives them
    agents = tuple(agent for agent in of_all.agent_names if agent in kept)
    scores = of_all.of(agents)
    costed = np.isin(results.agents, agents)[results.agent_codes]
    paid = Bootstrap.of(costs.where(costed), named, bootstrap.how, total)
    prices = intervals_of(paid, mean_of, seed, shares=False).of(agents)
    drawn = np.full((2, len(agents), 1), np.nan)
    if bootstrap.reason is None:
        rows = [bootstrap.scores.row(agent) for agent in agents]
        evaluate = partial(_both, costs=run_scores(costs, named, total))
        drawn = bootstrap.replicates(evaluate, np.random.default_rng(seed))[:, rows]
    score, price = scores.value[:, 0], prices.value[:, 0]
    front, drawn_front = on_front(score, price), on_front(*drawn)
    finite = np.isfinite(drawn).all(axis=0)
    dominated = _dominated(agents, score, price, front, drawn)
    better: dict[str, list[str]] = {agent: [] for agent in agents}
    for agent, other in zip(dominated.agent, dominated.dominated_by, strict=True):
        better[agent].append(other)
    notes += [*scores.notes]
    notes += [f"Costs: {note}" for note in prices.notes if note not in scores.notes]
    return ParetoFront(
        agents=FrontAgents(
            agent=agents,
            score=score,
            score_low=scores.low[:, 0],
            score_high=scores.high[:, 0],
            cost=price,
            cost_low=np.maximum(prices.low[:, 0], 0.0),
            cost_high=prices.high[:, 0],
            on_front=front,
            front_share=ratio((drawn_front & finite).sum(axis=1), finite.sum(axis=1)),
            dominated_by=list(better.values()),
            level=bootstrap.how.level,
            score_unit=score_unit(results, measure),
        ),
        dominated=dominated,
        measure=measure,
        cost_name=cost,
        front=tuple(agents[row] for row in np.flatnonzero(front)),
        left_out=tuple(agent for agent in results.agents if agent not in kept),
        how=bootstrap.how,
        seed=seed,
        notes=tuple(dict.fromkeys(notes)),
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


def _costed(
    results: Results, cost: str, measure: str, coverage: float
) -> tuple[Results, str, set[str], list[str]]:
    """Costs as a measure and its name, the agents whose scores and costs are known, and notes."""
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
    return costs, named, {results.agents[row] for row in np.flatnonzero(kept)}, notes


def _both(block: Replicates, costs: RunScores) -> Floats:
    """Mean scores and mean costs on the same draws, shape [2, agents, replicates]."""
    if block.unit == "tasks":
        paid = replace(block, scores=replace(costs, drawn_by=block.scores.strata))
        return np.stack([each_agent(one, (mean,))[:, 0] for one in (block, paid)])
    both = np.full((2, len(costs.strata), block.replicates), np.nan)
    alone = replace(block, scores=costs)
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
    """Round to what sums in another order have in common: twelve digits of the largest."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    return values if largest == 0 else np.round(values / largest, 12)


def _dominated(
    agents: Sequence[str], score: Floats, cost: Floats, front: NDArray[np.bool_], drawn: Floats
) -> DominatedAgents:
    """For each agent, who on the front dominates it, the surest first: one always does, if any agent."""
    up, price = _without_dust(score), _without_dust(cost)
    ups, prices = _without_dust(drawn[0]), _without_dust(drawn[1])
    rows = []
    for row, agent in enumerate(agents):
        better = np.flatnonzero(front & _dominates(up, price, up[row], price[row]))
        shares = _dominates(ups[better], prices[better], ups[row], prices[row]).mean(axis=1)
        if np.isnan(drawn).all():
            shares = np.full(len(better), np.nan)
        rows += [
            {"agent": agent, "dominated_by": agents[better[place]], "share": shares[place]}
            for place in np.argsort(-shares, kind="stable")
        ]
    return DominatedAgents.from_rows(rows)


def _dominates(
    up: Floats, price: Floats, than: Floats | float, paid: Floats | float
) -> NDArray[np.bool_]:
    return (up >= than) & (price <= paid) & ((up > than) | (price < paid))

"""Rank uncertainty: the probability of each rank for each agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, count, name, number, scalar
from examiner.messages import InputError, counted, listed
from examiner.results import Results, reads_results
from examiner.scores.aggregate import (
    Aggregate,
    UserFunction,
    aggregate_named,
    check_total,
    point_values,
)
from examiner.scores.bootstrap import (
    Bootstrap,
    ByResampling,
    DrawingOptions,
    Resampling,
    each_agent,
)
from examiner.scores.cells import codes_of, ratio
from examiner.scores.comparable import OwnFunction
from examiner.scores.normalise import comparable_runs
from examiner.scores.runs import RunScores
from examiner.scores.signed_ranks import ranks_and_ties
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, generator, read_only, seed_of


class RankedAgents(Table):
    """Where agents stand in resamples, best first by what was observed."""

    agent: tuple[str, ...] = name("Agent")
    expected_rank: Floats = number("Mean rank over resamples")
    probability_first: Floats = number("Share of resamples in which the agent is first")


class RankShares(Table):
    """How probable each rank of each agent is."""

    agent: tuple[str, ...] = name("Agent")
    rank: NDArray[np.int64] = count("Rank; 1 is the best")
    probability: Floats = number("Share of resamples in which the agent has this rank")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RankProbabilities(ByResampling):
    """How probably each agent has each rank, shape [agents, ranks]; rows and columns sum to one.

    The first column is rank 1, the best. All NaN where ranks cannot be resampled, and a note says why.
    """

    kind = "ranks"

    agent_names: tuple[str, ...]
    aggregate: str
    probability: Floats
    same_leader: float = field(
        default=float("nan"),
        metadata=scalar(
            "Share of random splits with the same first agent on both halves of the tasks"
        ),
    )

    @property
    def halves(self) -> str:
        """How often the leader stays first when tasks are split in half; empty where that is not known."""
        if np.isnan(self.same_leader):
            return ""
        return (
            f"Split at random, the agent that is first on one half of the tasks is first on the other in "
            f"{100 * self.same_leader:.0f} % of splits."
        )

    @property
    def headline(self) -> str:
        """Which agent is first most often."""
        first = self.probability[:, 0]
        if np.isnan(first).any():
            return "These results do not permit to resample ranks."
        best = int(np.argmax(first))
        share = f"{100 * first[best]:.3g} %"
        return f"{self.agent_names[best]} ranks first in {share} of the resamples."

    @property
    def agents(self) -> RankedAgents:
        """One row per agent: its ranks in resamples, and how often it is first."""
        return RankedAgents(
            agent=self.agent_names,
            expected_rank=self.probability @ np.arange(1.0, len(self.agent_names) + 1),
            probability_first=self.probability[:, 0],
            level=self.level,
        )

    @property
    def probabilities(self) -> RankShares:
        """One row per agent and rank."""
        agents = len(self.agent_names)
        return RankShares(
            agent=[agent for agent in self.agent_names for _ in range(agents)],
            rank=np.tile(np.arange(1, agents + 1), agents),
            probability=self.probability.ravel(),
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents, and the probability of each rank."""
        return {"agents": self.agents, "probabilities": self.probabilities}


@reads_results
def ranks(
    results: Results,
    aggregate: str | Aggregate | UserFunction = "mean",
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    **how: Unpack[DrawingOptions],
) -> RankProbabilities:
    """Rank the agents in every resample, and count how often each has each rank.

    Ties share their ranks: two agents that tie for the lead have half of rank 1 and half of rank 2.
    Runs of agents are resampled independently; tasks, where they are resampled, are the same for
    all agents. `Resampling` describes what is resampled, and `total` how tasks are averaged. Agents
    come best first.

    References: Agarwal et al. (2021), section 4; Laird & Louis (1989).

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[0.0, 1.0]] * 3], agents=["new", "old"])
    >>> ranks(results, rng=0).probability
    array([[1., 0.],
           [0., 1.]])
    """
    results = comparable_runs(results, normalise, measure)
    check_total([aggregate_named(aggregate)], total)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    return ranks_of(bootstrap, aggregate, seed_of(rng))


def ranks_of(
    bootstrap: Bootstrap, aggregate: str | Aggregate | UserFunction, seed: int
) -> RankProbabilities:
    """Rank agents whose runs are arranged already: see `ranks`.

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[0.0, 1.0]] * 3], agents=["new", "old"])
    >>> ranks_of(Bootstrap.of(results, None, Resampling()), "iqm", 0).agents.expected_rank
    array([1., 2.])
    """
    chosen, agents = aggregate_named(aggregate), bootstrap.scores.agents
    probability = np.full((len(agents),) * 2, np.nan)
    if bootstrap.reason is None:
        empty = [strata.agent for strata in bootstrap.scores.strata if not len(strata.tasks)]
        if empty:
            raise InputError(
                f"{counted(len(empty), 'agent')} without any score cannot be ranked: {listed(empty)}. "
                f"Leave them out."
            )
        evaluate = partial(each_agent, statistics=(chosen.statistic,))
        values = bootstrap.replicates(evaluate, generator(seed))[:, 0]
        probability = rank_shares(values if chosen.higher_is_better else -values)
    value = point_values(bootstrap.scores, [chosen])[:, 0]
    order = best_first(agents, value, higher_is_better=chosen.higher_is_better)
    probability = probability[order]
    read_only(probability)
    return RankProbabilities(
        agent_names=tuple(agents[row] for row in order),
        aggregate=chosen.name,
        probability=probability,
        same_leader=split_halves(bootstrap.scores, seed) if chosen.name == "mean" else float("nan"),
        how=bootstrap.how,
        seed=seed,
        notes=bootstrap.notes,
    )


def split_halves(scores: RunScores, seed: int, splits: int = 1000) -> float:
    """Return how often the agent that is first on one half of the tasks is first on the other half too.

    Tasks, or the groups in which they are drawn, are split at random; agents that tie for the first place
    share it. NaN where there are no two halves.

    >>> from examiner.scores.runs import run_scores
    >>> table = run_scores(Results.from_numpy([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]))
    >>> split_halves(table, 0)
    1.0
    """
    tasks = len(scores.tasks)
    nest = scores.nest
    place = scores.draw_order.tasks
    if (
        nest.sampled is not None
    ):  # groups in the order of their first task, whatever the order of rows
        place = codes_of(nest.sampled[np.argsort(place)].tolist())[place]
    units = int(place.max(initial=-1)) + 1
    if units < 2 or len(scores.agents) < 2:
        return float("nan")
    order = np.argsort(generator(seed).random((splits, units)), axis=1)
    first_half = (order < units // 2)[:, place]
    weight, value = np.zeros((2, len(scores.agents), tasks))
    for row, strata in enumerate(scores.strata):
        weight[row, strata.tasks], value[row, strata.tasks] = strata.shares, strata.means
    leads = []
    for half in (first_half, ~first_half):
        means = np.nan_to_num(ratio((weight * value) @ half.T, weight @ half.T), nan=-np.inf)
        best = means >= np.max(means, axis=0) - 1e-12
        leads.append(best / np.maximum(best.sum(axis=0), 1))
    return float((leads[0] * leads[1]).sum(axis=0).mean())


def rank_shares(values: Floats) -> Floats:
    """Return how often each row has each rank among the rows, over the columns; ties share ranks.

    Columns with NaN are left out. Values alike to twelve digits tie: sums in another order may differ in
    the last.

    >>> rank_shares(np.array([[3.0, 1.0], [2.0, 1.0]]))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    values = values[:, ~np.isnan(values).any(axis=0)]
    values = np.round(values / (float(np.abs(values).max(initial=0.0)) or 1.0), 12)
    agents, replicates = values.shape
    ranks, ties = ranks_and_ties(-values.T)
    cell = np.arange(agents) * agents + (ranks - (ties + 1) / 2).astype(np.int64)
    counts: Floats = np.zeros(agents * agents)
    for later in range(int(ties.max(initial=0.0))):  # a tie of n has a share of n ranks
        tied = ties > later
        counts += np.bincount(cell[tied] + later, weights=1 / ties[tied], minlength=agents * agents)
    shares: Floats = counts.reshape(agents, agents) / max(replicates, 1)
    return shares

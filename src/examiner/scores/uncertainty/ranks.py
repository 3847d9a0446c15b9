"""Rank uncertainty: the probability of each rank for each agent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np

from examiner.messages import InputError, counted, listed
from examiner.results import Results
from examiner.results.display import html_table
from examiner.scores.aggregate import (
    Aggregate,
    UserFunction,
    aggregate_named,
    check_total,
    point_values,
)
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.scores.uncertainty.bootstrap import (
    Bootstrap,
    ByResampling,
    DrawingOptions,
    Resampling,
    each_agent,
)
from examiner.validation import Floats, Randomness, generator, read_only, seed_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RankProbabilities(ByResampling):
    """How probably each agent has each rank, shape [agents, ranks]; rows and columns sum to one.

    The first column is rank 1, the best. All NaN where the data cannot tell, and a note says why.
    """

    agents: tuple[str, ...]
    aggregate: str
    probability: Floats

    def __repr__(self) -> str:
        return f"RankProbabilities of {counted(len(self.agents), 'agent')} by {self.aggregate}"

    def _repr_html_(self) -> str:
        header = ["agent", *(f"rank {rank + 1}" for rank in range(len(self.agents)))]
        table = [[agent, *row] for agent, row in zip(self.agents, self.probability, strict=True)]
        return html_table(repr(self), header, table, self.notes)

    @property
    def expected(self) -> Floats:
        """The mean rank of each agent, shape [agents]."""
        return self.probability @ np.arange(1.0, len(self.agents) + 1)


def ranks(
    results: Results,
    aggregate: str | Aggregate | UserFunction = "mean",
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    total: Total | None = None,
    **how: Unpack[DrawingOptions],
) -> RankProbabilities:
    """Rank the agents on every resample, and count.

    Ties share their ranks: two agents that tie for the lead have half of rank 1 and half of rank 2.
    Runs of agents are resampled independently; tasks, where they are resampled, are the same for
    all agents. What is resampled is said as in `Resampling`, and how tasks make a mean by `total`. Agents
    come best first.

    References: Agarwal et al. (2021), section 4; Laird & Louis (1989).

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[0.0, 1.0]] * 3], agents=["new", "old"])
    >>> ranks(results, rng=0).probability
    array([[1., 0.],
           [0., 1.]])
    """
    check_total([aggregate_named(aggregate)], total)
    bootstrap = Bootstrap.of(results, measure, Resampling(**how), total)
    return ranks_of(bootstrap, aggregate, seed_of(rng))


def ranks_of(
    bootstrap: Bootstrap, aggregate: str | Aggregate | UserFunction, seed: int
) -> RankProbabilities:
    """Rank agents whose runs are arranged already: see `ranks`.

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[0.0, 1.0]] * 3], agents=["new", "old"])
    >>> ranks_of(Bootstrap.of(results, None, Resampling()), "iqm", 0).expected
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
        agents=tuple(agents[row] for row in order),
        aggregate=chosen.name,
        probability=probability,
        how=bootstrap.how,
        seed=seed,
        notes=bootstrap.notes,
    )


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
    order = np.argsort(-values, axis=0, kind="stable")
    shares = np.zeros((agents, agents))
    sorted_values = np.take_along_axis(values, order, axis=0)
    tied = (sorted_values[1:] == sorted_values[:-1]).any(axis=0)
    rank = np.broadcast_to(np.arange(agents)[:, None], order.shape)[:, ~tied]
    np.add.at(shares, (order[:, ~tied], rank), 1.0)
    for agent in range(agents if tied.any() else 0):
        shares[agent] += _shared(values[:, tied], agent)
    shares /= max(replicates, 1)
    return shares


def _shared(values: Floats, agent: int) -> Floats:
    """How often a row has each rank where ties share theirs, shape [ranks]."""
    better = (values > values[agent]).sum(axis=0)
    alike = (values == values[agent]).sum(axis=0)
    shares = np.zeros(len(values))
    for tied in np.unique(alike).tolist():
        first = np.bincount(better[alike == tied], minlength=len(values)) / tied
        for later in range(tied):
            shares[later:] += first[: len(values) - later]
    return shares

"""The search for favourable tasks, on which an agent leads by most, and tests of whether it wins there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.decomposition import standard_scores
from examiner.information.first_factors import singular
from examiner.information.noise import pooled_deviation
from examiner.information.observations import Moments, shares
from examiner.scores import LEVEL, Progress
from examiner.validation import Floats

LEAST_LEAD = 1e-12
MOST_CONTENDERS = 100
MOST_FACTORS = 10
ROUNDS = 60


def leads(chosen_on: Floats, means: Floats, sets: list[list[int]]) -> Floats:
    """Return the lead of each agent on its tasks, as shares of the table used for choosing them."""
    table = filled(shares(means, like=chosen_on))
    return np.array([_lead(table, agent, chosen) for agent, chosen in enumerate(sets)])


def contenders(table: Floats) -> NDArray[np.intp]:
    """Return the agents for which tasks are searched: the first by mean."""
    return np.argsort(-table.mean(axis=1), kind="stable")[:MOST_CONTENDERS]


def winning_sets(
    means: Floats, size: int, progress: Progress | None = None
) -> tuple[list[list[int]], dict[int, list[list[int]]]]:
    """Return the best set for each agent, and the sets that singular values alone suggest, by agent."""
    table = filled(shares(means))
    near = singular(
        np.nan_to_num(standard_scores(means), copy=False), min(MOST_FACTORS, *means.shape)
    )
    best = contenders(table)
    scores = table[best]
    candidates = [
        *(_top(rows, size) for rows in _approximated(near, best)),
        _weighted(scores, size, progress),
    ]
    least = np.stack([_totals(scores, chosen).min(axis=1) for chosen in candidates])
    first = least.argmax(axis=0)
    sets: list[list[int]] = [[] for _ in table]
    for row, agent in enumerate(best.tolist()):
        margins = np.delete(scores[row] - scores, row, axis=0)
        sets[agent] = _swapped(margins, candidates[first[row]][row].tolist())
    return sets, dict(zip(best.tolist(), np.stack(candidates[:-1], axis=1).tolist(), strict=True))


def wins_by_factors(means: Floats, suggested: dict[int, list[list[int]]]) -> NDArray[np.bool_]:
    """Return which agents win on a set that singular values alone suggest."""
    table = filled(shares(means))
    wins = np.zeros(len(table), dtype=bool)
    for agent, candidates in suggested.items():
        wins[agent] = any(_lead(table, agent, chosen) > LEAST_LEAD for chosen in candidates)
    return wins


def _approximated(
    near: tuple[Floats, Floats, Floats], agents: NDArray[np.intp]
) -> Iterator[Floats]:
    """Yield agents' rows approximated by the first one, two, … factors; [agents, tasks] each."""
    left, values, right = near
    rows = np.zeros((len(agents), right.shape[1]))
    for factor, value in enumerate(values):
        rows = rows + (left[agents, factor] * value)[:, None] * right[factor]
        yield rows


def _weighted(scores: Floats, size: int, progress: Progress | None = None) -> NDArray[np.intp]:
    """Choose tasks with weights on rivals, more on those that lead, in several rounds.

    For all agents [agents, tasks] at once, each against all others; [agents, size].
    """
    agents = len(scores)
    best = np.tile(np.arange(size), (agents, 1))
    if agents < 2:
        return best
    diagonal = np.arange(agents)
    sums, most = np.zeros((agents, agents)), np.full(agents, -np.inf)
    for round_number in range(ROUNDS):
        if progress:
            progress("favourable tasks", round_number, ROUNDS)
        sums[diagonal, diagonal] = np.inf
        weight = np.exp(-(sums - sums.min(axis=1, keepdims=True)) / max(size / 4, 1.0))
        chosen = _top(weight.sum(axis=1)[:, None] * scores - weight @ scores, size)
        total = _totals(scores, chosen)
        sums += total
        lead = total.min(axis=1)
        better = lead > most
        best[better], most[better] = chosen[better], lead[better]
    return best


def _totals(scores: Floats, chosen: NDArray[np.intp]) -> Floats:
    """Return leads of agents over rivals on tasks chosen for each, [agents, rivals]; inf to themselves."""
    inside = np.zeros(scores.shape)
    np.put_along_axis(inside, chosen, 1.0, axis=1)
    total = (inside * scores).sum(axis=1)[:, None] - inside @ scores.T
    np.fill_diagonal(total, np.inf)
    return np.asarray(total)


def _swapped(margins: Floats, chosen: list[int]) -> list[int]:
    """Exchange one task at a time while the lead over the nearest rival grows."""
    chosen = list(chosen)
    if not len(margins):
        return chosen
    total = margins[:, chosen].sum(axis=1)
    reach = float(margins.max() - margins.min()) + LEAST_LEAD
    improved = True
    while improved:
        improved = False
        for index, task in enumerate(chosen):
            without = total - margins[:, task]
            # A rival that cannot become the nearest by any exchange is skipped.
            near = without <= without.min() + reach
            least = (without[near, None] + margins[near]).min(axis=0)
            least[chosen] = -np.inf
            other = int(least.argmax())
            if least[other] > total.min() + LEAST_LEAD:
                chosen[index], total, improved = other, without + margins[:, other], True
    return chosen


def _lead(table: Floats, agent: int, chosen: list[int]) -> float:
    if not chosen:
        return float("nan")
    means = table[:, chosen].mean(axis=1)
    others = np.delete(means, agent)
    return float(means[agent] - others.max()) if len(others) else float("nan")


def _top(values: Floats, size: int) -> NDArray[np.intp]:
    """Return the places of the largest values of each row, the first of equals; [rows, size]."""
    tasks = values.shape[1]
    least = np.partition(values, tasks - size, axis=1)[:, tasks - size, None]
    above, equal = values > least, values == least
    missing = size - above.sum(axis=1, keepdims=True)
    chosen = np.nonzero(above | (equal & (np.cumsum(equal, axis=1) <= missing)))[1]
    places = chosen.reshape(len(values), size)
    order = np.argsort(-np.take_along_axis(values, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)


def filled(table: Floats) -> Floats:
    """Return the table with the mean of the task in missing cells; 0 where a task has no shares."""
    observed = np.isfinite(table)
    if observed.all():
        return table
    mean = np.where(observed, table, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return np.where(observed, table, mean)


class FavourableTest(NamedTuple):
    """The p-value of each agent [agents], adjusted for their number; NaN for those not searched."""

    p_values: Floats
    method: str

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which agents win significantly, at 5 % over all agents."""
        return np.asarray(np.nan_to_num(self.p_values, nan=1.0) <= LEVEL)


def by_permutations(lead: Floats, chance: Floats) -> FavourableTest:
    """Compare leads [agents] with the largest lead of any agent in permuted tables [tables].

    >>> by_permutations(np.array([0.5, 0.1]), np.array([0.2, 0.3, 0.4])).p_values
    array([0.25, 1.  ])
    """
    most = np.array([np.fmax.reduce(lead), *chance])
    p = np.array([(most >= agent_lead - LEAST_LEAD).mean() for agent_lead in lead])
    return FavourableTest(
        np.where(np.isnan(lead), np.nan, p), f"permutation test, {len(chance)} tables"
    )


def by_held_out_runs(
    halves: tuple[Floats, Moments], whole: Moments, sign: Floats, sets: list[list[int]]
) -> FavourableTest:
    r"""Test each agent against its rivals on its tasks S, on held-out runs.

    .. math:: t_b = \frac{\bar d_b}{s_b}, \qquad
              s_b^2 = \frac{1}{k^2} \sum_{g \in S} v_g \Big(\frac{1}{n_{ag}} + \frac{1}{n_{bg}}\Big)

    with :math:`\bar d_b` the mean difference to rival b over S and v the variance of runs within cells,
    pooled over agents. An agent wins where it beats every rival (the largest p-value; Berger, 1982), after
    Bonferroni over agents. `halves` are the means used for choosing tasks and the held-out moments.
    """
    from scipy.special import stdtr  # slow to import

    chosen_on, held_out = halves
    means = held_out.mean[0] * sign
    table = np.nan_to_num(shares(means, like=chosen_on))
    unit = np.nan_to_num(shares(means + 1.0, like=chosen_on)) - table  # of a share, on each task
    freedom = np.maximum(whole.units[0] - 1, 0)
    deviation = pooled_deviation(whole.unit_square[0], freedom)
    variance = (unit * np.nan_to_num(deviation)) ** 2 / np.maximum(held_out.units[0], 1)
    p = np.full(len(table), np.nan)
    searched = sum(bool(chosen) for chosen in sets)
    for agent, chosen in enumerate(sets):
        rivals = np.flatnonzero(np.arange(len(table)) != agent)
        if not chosen or not len(rivals):
            continue
        differences = (table[agent, chosen] - table[rivals][:, chosen]).mean(axis=1)
        error = np.sqrt((variance[agent, chosen] + variance[rivals][:, chosen]).sum(axis=1))
        ahead = differences > LEAST_LEAD
        t = np.where(ahead, differences * len(chosen) / np.maximum(error, 1e-300), 0.0)
        p_values = np.where(ahead, stdtr(freedom[:, chosen].sum(), -t), 1.0)
        p[agent] = min(1.0, searched * float(p_values.max()))
    return FavourableTest(p, "t tests on held-out runs against every other agent, Bonferroni")

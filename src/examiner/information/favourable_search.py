"""The search for favourable tasks: those on which an agent leads all others by most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.factors import filled, shares, singular, standard_scores
from examiner.scores import Progress
from examiner.validation import Floats

LEAST_LEAD = 1e-12
MOST_CONTENDERS = 100


class WinningSets(NamedTuple):
    """The best set for each contender (the first agents by mean), and what the first factors suggest."""

    contenders: NDArray[np.intp]
    tasks: NDArray[np.intp]  # [contenders, size]
    by_factors: NDArray[np.intp]  # [factors, contenders, size]

    def leads(self, table: Floats) -> Floats:
        """Return the mean lead of each agent on its tasks by a table of shares; NaN for others."""
        lead = np.full(len(table), np.nan)
        total = margins(table, self.contenders, self.tasks).min(axis=1)
        lead[self.contenders] = np.where(np.isfinite(total), total, np.nan) / self.tasks.shape[1]
        return lead


def winning_sets(means: Floats, size: int, progress: Progress | None = None) -> WinningSets:
    """Search for the sets of this size on which agents lead by most."""
    table = filled(shares(means))
    best = np.argsort(-table.mean(axis=1), kind="stable")[:MOST_CONTENDERS]
    left, values, right = singular(
        np.nan_to_num(standard_scores(means), copy=False), min(10, *means.shape)
    )
    scores, every = table[best], np.arange(len(best))
    # Contenders' rows approximated by the first one, two, … factors: [factors, contenders, tasks]
    approximated = np.cumsum((left[best] * values).T[:, :, None] * right[:, None], axis=0)
    by_factors = np.stack([_top(rows, size) for rows in approximated])
    candidates = np.concatenate([by_factors, _weighted(scores, size, progress)[None]])
    least = np.stack([margins(scores, every, chosen).min(axis=1) for chosen in candidates])
    first = candidates[least.argmax(axis=0), every]
    tasks = [
        _swapped(np.delete(scores[row] - scores, row, axis=0), chosen)
        for row, chosen in enumerate(first.tolist())
    ]
    return WinningSets(best, np.array(tasks, dtype=np.intp), by_factors)


def margins(table: Floats, agents: NDArray[np.intp], chosen: NDArray[np.intp]) -> Floats:
    """Return leads of agents over all on tasks chosen for each, [agents, rivals]; inf over themselves."""
    inside = np.zeros((len(agents), table.shape[1]))
    np.put_along_axis(inside, chosen, 1.0, axis=1)
    lead = (inside * table[agents]).sum(axis=1)[:, None] - inside @ table.T
    lead[np.arange(len(agents)), agents] = np.inf
    return np.asarray(lead)


def _weighted(scores: Floats, size: int, progress: Progress | None = None) -> NDArray[np.intp]:
    """Choose tasks with weights on rivals, more on those that lead, in several rounds.

    For all agents [agents, tasks] at once, each against all others; [agents, size].
    """
    agents, rounds = len(scores), 60
    best = np.tile(np.arange(size), (agents, 1))
    if agents < 2:
        return best
    every = np.arange(agents)
    sums, most = np.zeros((agents, agents)), np.full(agents, -np.inf)
    for round_number in range(rounds):
        if progress:
            progress("favourable tasks", round_number, rounds)
        sums[every, every] = np.inf
        weight = np.exp(-(sums - sums.min(axis=1, keepdims=True)) / max(size / 4, 1.0))
        chosen = _top(weight.sum(axis=1)[:, None] * scores - weight @ scores, size)
        total = margins(scores, every, chosen)
        sums += total
        lead = total.min(axis=1)
        better = lead > most
        best[better], most[better] = chosen[better], lead[better]
    return best


def _swapped(margins: Floats, chosen: list[int]) -> list[int]:
    """Exchange one task at a time while the lead over the nearest rival [rivals, tasks] grows."""
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

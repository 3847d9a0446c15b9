"""The search for favourable tasks: sets on which an agent leads by most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.information.decomposition import standard_scores
from examiner.information.favourable_tests import LEAST_LEAD
from examiner.information.first_factors import singular
from examiner.information.observations import shares
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Floats

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
) -> tuple[list[list[int]], NDArray[np.bool_]]:
    """Return the best set for each agent, and whether singular values alone give a winning one."""
    table = filled(shares(means))
    near = singular(
        np.nan_to_num(standard_scores(means), copy=False), min(MOST_FACTORS, *means.shape)
    )
    best = contenders(table)
    sets: list[list[int]] = [[] for _ in table]
    by_factors = np.zeros(len(table), dtype=bool)
    for rank, agent in enumerate(best.tolist()):
        if progress:
            progress("favourable tasks", rank, len(best))
        candidates = [_top(row, size) for row in _approximated(near, agent)]
        by_factors[agent] = max(_lead(table, agent, chosen) for chosen in candidates) > LEAST_LEAD
        margins = np.delete(table[agent] - table[best], np.flatnonzero(best == agent), axis=0)
        candidates.append(_weighted(margins, size))
        sets[agent] = _swapped(margins, _best_of(margins, candidates))
    return sets, by_factors


def _best_of(margins: Floats, candidates: list[list[int]]) -> list[int]:
    leads = [margins[:, chosen].sum(axis=1).min(initial=np.inf) for chosen in candidates]
    return candidates[int(np.argmax(leads))]


def _approximated(near: tuple[Floats, Floats, Floats], agent: int) -> Floats:
    """Return an agent's row approximated by the first one, two, … factors; shape [factors, tasks]."""
    left, values, right = near
    return np.asarray(np.cumsum((left[agent] * values)[:, None] * right, axis=0))


def _weighted(margins: Floats, size: int) -> list[int]:
    """Choose tasks with weights on rivals, more on those that lead, in several rounds."""
    if not len(margins):
        return list(range(size))
    score_sums = np.zeros(len(margins))
    best, most = list(range(size)), -np.inf
    for _ in range(ROUNDS):
        weight = np.exp(-(score_sums - score_sums.min()) / max(size / 4, 1.0))
        chosen = _top(weight @ margins, size)
        total = margins[:, chosen].sum(axis=1)
        score_sums += total
        if total.min() > most:
            best, most = chosen, float(total.min())
    return best


def _swapped(margins: Floats, chosen: list[int]) -> list[int]:
    """Exchange one task at a time while the lead over the nearest rival grows."""
    chosen = list(chosen)
    if not len(margins):
        return chosen
    total = margins[:, chosen].sum(axis=1)
    improved = True
    while improved:
        improved = False
        for index, task in enumerate(chosen):
            without = total - margins[:, task]
            leads = (without[:, None] + margins).min(axis=0)
            leads[chosen] = -np.inf
            other = int(leads.argmax())
            if leads[other] > total.min() + LEAST_LEAD:
                chosen[index], total, improved = other, without + margins[:, other], True
    return chosen


def _lead(table: Floats, agent: int, chosen: list[int]) -> float:
    if not chosen:
        return float("nan")
    means = table[:, chosen].mean(axis=1)
    others = np.delete(means, agent)
    return float(means[agent] - others.max()) if len(others) else float("nan")


def _top(values: Floats, size: int) -> list[int]:
    """Return the places of the largest values, the first of equals."""
    least = np.partition(values, len(values) - size)[len(values) - size]
    near = np.flatnonzero(values >= least)
    top: list[int] = near[np.argsort(-values[near], kind="stable")[:size]].tolist()
    return top


def filled(table: Floats) -> Floats:
    """Return the table with the mean of the task in missing cells; 0 where a task has no shares."""
    observed = np.isfinite(table)
    if observed.all():
        return table
    mean = np.where(observed, table, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return np.where(observed, table, mean)

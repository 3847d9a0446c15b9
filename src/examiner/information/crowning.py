"""Who could be crowned: for each agent, the few tasks under which it would win."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats, Randomness, generator
from examiner.information.decomposition import standard_scores
from examiner.information.first_factors import singular
from examiner.information.observations import (
    Observations,
    moments,
    observe,
    oriented_means,
    shares,
    task_signs,
)
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.cells import RowCodes
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.wording import InputError, counted

MOST_CONTENDERS = 100
MOST_FACTORS = 10
ROUNDS = 60
USUAL_SIZE = 10
LEAST_LEAD = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crowning:
    """For each agent the tasks under which it leads by most, shape [agents] each.

    `lead` is its mean share on them less that of the best other agent; above 0 it wins. `by_factors` says
    whether the tasks found by singular values alone make it win. `held_out` says whether tasks chosen on
    one half of the trials make it win on the other, None where no cell has two. Agents that were not
    searched for (beyond the first hundred by mean) have no tasks.
    """

    agents: tuple[str, ...]
    size: int
    tasks: tuple[tuple[str, ...], ...]
    lead: Floats
    by_factors: NDArray[np.bool_]
    held_out: NDArray[np.bool_] | None
    notes: tuple[str, ...] = ()

    @property
    def wins(self) -> NDArray[np.bool_]:
        """Which agents win on the tasks chosen for them; shape [agents]."""
        return self.lead > LEAST_LEAD

    @property
    def crownable(self) -> int:
        """How many agents can be made winners: on trials held out, where there are any."""
        return int((self.wins if self.held_out is None else self.held_out).sum())

    @property
    def searched(self) -> int:
        """For how many agents winning tasks were sought: the first by mean."""
        return sum(bool(chosen) for chosen in self.tasks)

    def __repr__(self) -> str:
        of = counted(len(self.agents), "agent")
        if self.searched < len(self.agents):
            of = f"the first {self.searched:,} of {of}"
        return (
            f"Crowning: {self.crownable:,} of {of} can be made to win by a choice of "
            f"{counted(self.size, 'task')}"
        )

    def _repr_html_(self) -> str:
        tasks = [", ".join(names) for names in self.tasks]
        columns = {"agent": self.agents, "lead": self.lead, "wins": self.wins, "tasks": tasks}
        return html_columns(repr(self), columns, self.notes)


def crowns(
    results: Results,
    measure: str | None = None,
    *,
    rng: Randomness,
    size: int | None = None,
    progress: Progress | None = None,
) -> Crowning:
    r"""Find for each agent the tasks under which it would win.

    Agents are ranked by their mean share over a set S of tasks; agent a wants

    .. math:: \max_{|S| = k} \; \min_{b \neq a} \; \frac1k \sum_{g \in S} (x_{ag} - x_{bg})

    Sets come from the agent's place on the first factors of the table (papers/004, section I: "a simple
    singular value decomposition"), and from a search: weights on the strongest rivals, then swaps. The
    search is not exhaustive, so an agent without a winning set may still have one. The more agents can
    be crowned, the less a ranking by this benchmark says.

    >>> scores = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.4, 0.4, 0.4]]
    >>> crowns(Results.from_numpy(scores, agents="abc"), size=1, rng=0).wins
    array([ True,  True,  True])
    """
    means = oriented_means(results, measure)
    size = min(USUAL_SIZE, len(results.tasks)) if size is None else size
    if not 1 <= size <= len(results.tasks):
        raise InputError(
            f"Cannot choose {size} of {counted(len(results.tasks), 'task')}. "
            f"Choose a size between 1 and {len(results.tasks)}."
        )
    sets, by_factors = _winning_sets(means, size, progress)
    table = _filled(shares(means))
    lead = np.array([_lead(table, agent, chosen) for agent, chosen in enumerate(sets)])
    tasks = tuple(tuple(results.tasks[column] for column in chosen) for chosen in sets)
    held_out = _held_out(results, measure, size, generator(rng), progress)
    return Crowning(
        results.agents, size, tasks, lead, by_factors, held_out, _notes(means, held_out)
    )


def _winning_sets(
    means: Floats, size: int, progress: Progress | None
) -> tuple[list[list[int]], NDArray[np.bool_]]:
    """The best set found for each agent, and whether singular values alone found a winning one."""
    table = _filled(shares(means))
    near = singular(
        np.nan_to_num(standard_scores(means), copy=False), min(MOST_FACTORS, *means.shape)
    )
    best = np.argsort(-table.mean(axis=1), kind="stable")[:MOST_CONTENDERS]
    sets: list[list[int]] = [[] for _ in table]
    by_factors = np.zeros(len(table), dtype=bool)
    for done, agent in enumerate(best.tolist()):
        if progress:
            progress("who could be crowned", done, len(best))
        offered = [_top(told, size) for told in _as_told(near, agent)]
        by_factors[agent] = max(_lead(table, agent, chosen) for chosen in offered) > LEAST_LEAD
        margins = np.delete(table[agent] - table[best], np.flatnonzero(best == agent), axis=0)
        offered.append(_weighed(margins, size))
        sets[agent] = _swapped(margins, _best_of(margins, offered))
    return sets, by_factors


def _best_of(margins: Floats, offered: list[list[int]]) -> list[int]:
    leads = [margins[:, chosen].sum(axis=1).min(initial=np.inf) for chosen in offered]
    return offered[int(np.argmax(leads))]


def _as_told(near: tuple[Floats, Floats, Floats], agent: int) -> Floats:
    """An agent's row as the first one, two, … factors tell it; shape [factors, tasks]."""
    left, values, right = near
    return np.asarray(np.cumsum((left[agent] * values)[:, None] * right, axis=0))


def _weighed(margins: Floats, size: int) -> list[int]:
    """Play tasks against rivals: each round the tasks that do most against the rivals that lead."""
    if not len(margins):
        return list(range(size))
    standing = np.zeros(len(margins))
    best, most = list(range(size)), -np.inf
    for _ in range(ROUNDS):
        weight = np.exp(-(standing - standing.min()) / max(size / 4, 1.0))
        chosen = _top(weight @ margins, size)
        total = margins[:, chosen].sum(axis=1)
        standing += total
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
            offered = (without[:, None] + margins).min(axis=0)
            offered[chosen] = -np.inf
            other = int(offered.argmax())
            if offered[other] > total.min() + LEAST_LEAD:
                chosen[index], total, improved = other, without + margins[:, other], True
    return chosen


def _held_out(
    results: Results,
    measure: str | None,
    size: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> NDArray[np.bool_] | None:
    """Choose on half of the runs of each cell, judge on the other half."""
    if RowCodes.of(results).single() is not None:
        return None
    seen = observe(results, None if measure is None else [measure])
    count = np.bincount(seen.cell, minlength=len(results.agents) * len(results.tasks))
    if (count[count > 0] < 2).any():
        return None
    sign = task_signs(results, measure)
    halves = [moments(seen, weight=part).mean[0] * sign for part in _halves(seen, rng)]
    sets, _ = _winning_sets(halves[0], size, progress)
    judged = _filled(shares(halves[1], like=halves[0]))
    return np.array([_lead(judged, agent, told) > LEAST_LEAD for agent, told in enumerate(sets)])


def _halves(seen: Observations, rng: np.random.Generator) -> tuple[Floats, Floats]:
    order = np.lexsort((rng.random(len(seen.cell)), seen.cell))
    start = np.searchsorted(seen.cell[order], seen.cell[order])
    first = np.empty(len(order))
    first[order] = (np.arange(len(order)) - start) % 2 == 0
    return first, 1 - first


def _lead(table: Floats, agent: int, chosen: list[int]) -> float:
    if not chosen:
        return float("nan")
    means = table[:, chosen].mean(axis=1)
    others = np.delete(means, agent)
    return float(means[agent] - others.max()) if len(others) else float("nan")


def _top(values: Floats, size: int) -> list[int]:
    """The places of the largest values, the first of equals."""
    least = np.partition(values, len(values) - size)[len(values) - size]
    near = np.flatnonzero(values >= least)
    top: list[int] = near[np.argsort(-values[near], kind="stable")[:size]].tolist()
    return top


def _filled(table: Floats) -> Floats:
    """A missing cell takes the mean of its task: it speaks neither for nor against the agent.

    A task on which all are alike has no shares: 0 for everyone, so that nobody leads by it.
    """
    seen = np.isfinite(table)
    if seen.all():
        return table
    mean = np.where(seen, table, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.where(seen, table, mean)


def _notes(means: Floats, held_out: NDArray[np.bool_] | None) -> tuple[str, ...]:
    notes = []
    if held_out is None:
        notes.append(
            "Some cells are a single trial, so that winners were judged on the trials that chose their "
            "tasks: fewer may win on others."
        )
    missing = int(np.isnan(means).sum())
    if missing:
        notes.append(
            f"{counted(missing, 'missing cell')} took the mean of the task where winners were sought."
        )
    if len(means) > MOST_CONTENDERS:
        notes.append(f"Winning tasks were sought for the first {MOST_CONTENDERS} agents by mean.")
    return tuple(notes)

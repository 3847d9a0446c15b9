"""Who could be crowned: for each agent, the few tasks under which it would win."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.crown_tests import (
    LEAST_LEAD,
    CrownTest,
    by_held_out_runs,
    by_permutations,
)
from examiner.information.decomposition import standard_scores
from examiner.information.first_factors import singular
from examiner.information.observations import (
    Observations,
    in_name_order,
    moments,
    observe,
    oriented_means,
    shares,
    task_signs,
)
from examiner.information.permutation import FEWEST_TABLES, permuted_within_columns
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.results.names import name_order
from examiner.scores.cells import RowCodes
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Floats, Randomness, generator

MOST_CONTENDERS = 100
MOST_FACTORS = 10
ROUNDS = 60
USUAL_SIZE = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crowning:
    """For each agent the tasks under which it leads by most, shape [agents] each.

    `lead` is its mean share on them less that of the best other agent; above 0 it wins. `by_factors` says
    whether the tasks found by singular values alone make it win. `held_out` says whether tasks chosen on
    one half of the trials make it win on the other, None where no cell has two. `test` says whether it
    wins beyond chance. Agents that were not searched for (beyond the first hundred by mean) have no tasks.
    """

    agents: tuple[str, ...]
    size: int
    tasks: tuple[tuple[str, ...], ...]
    lead: Floats
    by_factors: NDArray[np.bool_]
    held_out: NDArray[np.bool_] | None
    test: CrownTest
    notes: tuple[str, ...] = ()

    @property
    def wins(self) -> NDArray[np.bool_]:
        """Which agents win on the tasks chosen for them; shape [agents]."""
        return self.lead > LEAST_LEAD

    @property
    def crownable(self) -> int:
        """How many agents can be made winners by more than chance."""
        return int(self.test.beyond.sum())

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
            f"{counted(self.size, 'task')}, beyond chance"
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
    be crowned, the less a ranking by this benchmark says. A search finds winners in noise as well: so an
    agent has to beat every other on held-out runs (`by_held_out_runs`); where cells are single trials, its
    lead is compared with the largest in tables with agents exchanged within each task.

    >>> scores = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.4, 0.4, 0.4]]
    >>> crowns(Results.from_numpy(scores, agents="abc"), size=1, rng=0).wins
    array([ True,  True,  True])
    """
    rows, columns = (np.argsort(name_order(names)) for names in (results.agents, results.tasks))
    means = in_name_order(oriented_means(results, measure), results)
    size = min(USUAL_SIZE, len(results.tasks)) if size is None else size
    if not 1 <= size <= len(results.tasks):
        raise InputError(
            f"Cannot choose {size} of {counted(len(results.tasks), 'task')}. "
            f"Choose a size between 1 and {len(results.tasks)}."
        )
    sets, by_values = _winning_sets(means, size, progress)
    lead = _leads(means, means, sets)
    table = _filled(shares(means))
    by_factors = np.zeros(len(table), dtype=bool)
    for agent, offered in by_values.items():
        by_factors[agent] = any(_lead(table, agent, chosen) > LEAST_LEAD for chosen in offered)
    drawing = generator(rng)
    halves = _repeated(results, measure)
    held_out = None
    if halves is None:
        test = by_permutations(lead, _leads_by_chance(means, size, drawing, progress))
    else:
        held_out, test = _held_out(halves, task_signs(results, measure)[columns], size, drawing)
    place = np.argsort(rows)  # from names back to the order of the results
    return Crowning(
        agents=results.agents,
        size=size,
        tasks=tuple(tuple(results.tasks[columns[task]] for task in sets[row]) for row in place),
        lead=lead[place],
        by_factors=by_factors[place],
        held_out=None if held_out is None else held_out[place],
        test=test._replace(p_values=test.p_values[place]),
        notes=_notes(means, halves is not None),
    )


def _leads(chosen_on: Floats, means: Floats, sets: list[list[int]]) -> Floats:
    """The lead of each agent on its tasks, as shares of the table that they were chosen on."""
    table = _filled(shares(means, like=chosen_on))
    return np.array([_lead(table, agent, chosen) for agent, chosen in enumerate(sets)])


def _leads_by_chance(
    means: Floats, size: int, rng: np.random.Generator, progress: Progress | None
) -> Floats:
    """The largest lead of any agent in tables with agents exchanged within each task: [tables]."""
    contenders = _contenders(_filled(shares(means)))
    means, most = means[np.sort(contenders)], []
    for done in range(FEWEST_TABLES):  # a search each: some seconds for a hundred agents
        if progress:
            progress("who could be crowned by chance", done, FEWEST_TABLES)
        permuted = permuted_within_columns(means, rng)
        leads = _leads(permuted, permuted, _winning_sets(permuted, size)[0])
        most.append(float(np.fmax.reduce(leads, initial=-np.inf)))
    return np.array(most)


def _contenders(table: Floats) -> NDArray[np.intp]:
    """Agents for whom winning tasks are sought: the first by mean."""
    return np.argsort(-table.mean(axis=1), kind="stable")[:MOST_CONTENDERS]


def _winning_sets(
    means: Floats, size: int, progress: Progress | None = None
) -> tuple[list[list[int]], dict[int, list[list[int]]]]:
    """The best set found for each agent, and the sets that singular values alone suggest, by agent."""
    table = _filled(shares(means))
    near = singular(
        np.nan_to_num(standard_scores(means), copy=False), min(MOST_FACTORS, *means.shape)
    )
    best = _contenders(table)
    scores = table[best]
    offered = [
        *(_top(told, size) for told in _as_told(near, best)),
        _weighed(scores, size, progress),
    ]
    leads = np.stack([_totals(scores, chosen).min(axis=1) for chosen in offered])
    first = leads.argmax(axis=0)
    sets: list[list[int]] = [[] for _ in table]
    for row, agent in enumerate(best.tolist()):
        margins = np.delete(scores[row] - scores, row, axis=0)
        sets[agent] = _swapped(margins, offered[first[row]][row].tolist())
    return sets, dict(zip(best.tolist(), np.stack(offered[:-1], axis=1).tolist(), strict=True))


def _as_told(near: tuple[Floats, Floats, Floats], agents: NDArray[np.intp]) -> Iterator[Floats]:
    """Agents' rows as the first one, two, … factors tell them; [agents, tasks] each."""
    left, values, right = near
    told = np.zeros((len(agents), right.shape[1]))
    for factor, value in enumerate(values):
        told = told + (left[agents, factor] * value)[:, None] * right[factor]
        yield told


def _weighed(scores: Floats, size: int, progress: Progress | None = None) -> NDArray[np.intp]:
    """Play tasks against rivals: each round the tasks that do most against the rivals that lead.

    All agents [agents, tasks] play at once, each against all others; [agents, size].
    """
    agents = len(scores)
    best = np.tile(np.arange(size), (agents, 1))
    if agents < 2:
        return best
    own = np.arange(agents)
    standing, most = np.zeros((agents, agents)), np.full(agents, -np.inf)
    for round_number in range(ROUNDS):
        if progress:
            progress("who could be crowned", round_number, ROUNDS)
        standing[own, own] = np.inf
        least = standing.min(axis=1, keepdims=True)
        weight = np.exp(-(standing - least) / max(size / 4, 1.0))
        chosen = _top(weight.sum(axis=1)[:, None] * scores - weight @ scores, size)
        total = _totals(scores, chosen)
        standing += total
        lead = total.min(axis=1)
        better = lead > most
        best[better], most[better] = chosen[better], lead[better]
    return best


def _totals(scores: Floats, chosen: NDArray[np.intp]) -> Floats:
    """By how much agents lead each other on tasks chosen for each, [agents, rivals]; inf to themselves."""
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
            # a rival too far behind to be the nearest, whatever task is taken, is not looked at
            near = without <= without.min() + reach
            offered = (without[near, None] + margins[near]).min(axis=0)
            offered[chosen] = -np.inf
            other = int(offered.argmax())
            if offered[other] > total.min() + LEAST_LEAD:
                chosen[index], total, improved = other, without + margins[:, other], True
    return chosen


def _repeated(results: Results, measure: str | None) -> Observations | None:
    """What was observed, agents and tasks by name, where every cell has two runs or trials; else None."""
    if RowCodes.of(results).single() is not None:
        return None
    seen = observe(results, None if measure is None else [measure])
    count = np.bincount(seen.cell, minlength=len(results.agents) * len(results.tasks))
    if (count[count > 0] < 2).any():
        return None
    return seen.by_name().observations


def _held_out(
    seen: Observations, sign: Floats, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], CrownTest]:
    """Choose on half of the runs of each cell, judge on the other half: who wins, and beyond chance."""
    first, second = (moments(seen, weight=part) for part in _halves(seen, rng))
    chosen_on = first.mean[0] * sign
    sets, _ = _winning_sets(chosen_on, size)
    lead = _leads(chosen_on, second.mean[0] * sign, sets)
    return lead > LEAST_LEAD, by_held_out_runs((chosen_on, second), moments(seen), sign, sets)


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


def _top(values: Floats, size: int) -> NDArray[np.intp]:
    """The places of the largest values of each row, the first of equals; [rows, size]."""
    tasks = values.shape[1]
    least = np.partition(values, tasks - size, axis=1)[:, tasks - size, None]
    above, equal = values > least, values == least
    missing = size - above.sum(axis=1, keepdims=True)
    chosen = np.nonzero(above | (equal & (np.cumsum(equal, axis=1) <= missing)))[1]
    places = chosen.reshape(len(values), size)
    order = np.argsort(-np.take_along_axis(values, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)


def _filled(table: Floats) -> Floats:
    """A missing cell takes the mean of its task: it speaks neither for nor against the agent.

    A task on which all are alike has no shares: 0 for everyone, so that nobody leads by it.
    """
    seen = np.isfinite(table)
    if seen.all():
        return table
    mean = np.where(seen, table, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.where(seen, table, mean)


def _notes(means: Floats, held_out: bool) -> tuple[str, ...]:
    notes = []
    if not held_out:
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

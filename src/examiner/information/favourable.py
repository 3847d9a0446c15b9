"""Favourable tasks: for each agent, the few tasks on which it would win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, flag, name, number, words
from examiner.information.favourable_search import (
    LEAST_LEAD,
    MOST_CONTENDERS,
    FavourableTest,
    by_held_out_runs,
    by_permutations,
    contenders,
    filled,
    leads,
    winning_sets,
    wins_by_factors,
)
from examiner.information.observations import (
    Observations,
    moments,
    observe,
    oriented_means,
    shares,
    task_signs,
)
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results, results_in_content_order
from examiner.scores import FEWEST_TABLES, Progress, RowCodes, permuted_within_columns
from examiner.validation import Floats, Randomness, generator

USUAL_SIZE = 10


class AgentLeads(Table):
    """Agents with the tasks that favour them most, the largest lead first."""

    agent: tuple[str, ...] = name("Agent")
    lead: Floats = number(
        "Mean share on its tasks less that of the best other agent; above 0 it wins"
    )
    p_value: Floats = number("Against every other agent, adjusted for their number", title="p")
    significant: NDArray[np.bool_] = flag("Whether it wins significantly")
    wins: NDArray[np.bool_] = flag("Whether it wins on the trials that chose its tasks")
    held_out: NDArray[np.bool_] | None = flag(
        "Whether tasks chosen on half of the trials make it win on the other half", default=None
    )
    by_factors: NDArray[np.bool_] = flag("Whether tasks chosen by singular values make it win")
    tasks: tuple[tuple[str, ...], ...] = words("Tasks that favour it most")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FavourableTasks(Answer):
    """For each agent the tasks on which it leads by most.

    Agents that were not searched for (beyond the first hundred by mean) have no tasks. The column
    `held_out` is absent where some cell has one trial.
    """

    kind = "favourable_tasks"

    agents: AgentLeads
    size: int
    test: str
    seed: int | None
    notes: tuple[str, ...] = ()

    @property
    def winners(self) -> tuple[str, ...]:
        """The agents that win significantly on tasks chosen for them."""
        return tuple(row.agent for row in self.agents if row.significant)

    @property
    def searched(self) -> int:
        """For how many agents favourable tasks were searched: the first by mean."""
        return sum(bool(tasks) for tasks in self.agents.tasks)

    @property
    def headline(self) -> str:
        """How many agents could be made to win."""
        winners, size = len(self.winners), counted(self.size, "task")
        agents = counted(len(self.agents), "agent")
        if self.searched < len(self.agents):
            agents = f"the first {self.searched:,} of {agents} by mean"
        if not winners:
            return f"No choice of {size} makes any of {agents} win significantly."
        return f"{winners:,} of {agents} would win significantly on some choice of {size}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Numbers of agents."""
        winners = "Agents that win significantly on some choice of tasks"
        return {
            "possible_winners": Scalar(len(self.winners), winners),
            "searched_agents": Scalar(self.searched, "Agents for which tasks were searched"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the number of tasks and the test."""
        return {"seed": self.seed, "size": self.size, "test": self.test}


@reads_results
def favourable_tasks(
    results: Results,
    measure: str | None = None,
    *,
    rng: Randomness = 0,
    size: int | None = None,
    progress: Progress | None = None,
) -> FavourableTasks:
    r"""Return for each agent the tasks on which it would win.

    Agents are ranked by their mean share over a set S of tasks; for agent a

    .. math:: \max_{|S| = k} \; \min_{b \neq a} \; \frac1k \sum_{g \in S} (x_{ag} - x_{bg})

    Sets come from the agent's scores on the first factors of the table (papers/004, section I: "a simple
    singular value decomposition"), and from a search: weights on the strongest rivals, then swaps. The
    search is not exhaustive, so an agent without a winning set may still have one. The more agents can
    win, the less a ranking by this benchmark means. A search finds winners in noise as well: so an agent
    must beat every other on held-out runs (`by_held_out_runs`); where cells are single trials, its lead is
    compared with the largest in tables with agents permuted within each task.

    >>> scores = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.4, 0.4, 0.4]]
    >>> favourable_tasks(Results.from_numpy(scores, agents="abc"), size=1).agents.wins
    array([ True,  True,  True])
    """
    given, results = results.agents, results_in_content_order(results)
    place = {agent: row for row, agent in enumerate(results.agents)}
    means = oriented_means(results, measure)
    size = min(USUAL_SIZE, len(results.tasks)) if size is None else size
    if not 1 <= size <= len(results.tasks):
        raise InputError(
            f"Cannot choose {size} of {counted(len(results.tasks), 'task')}. "
            f"Choose a size between 1 and {len(results.tasks)}."
        )
    sets, suggested = winning_sets(means, size, progress)
    lead = leads(means, means, sets)
    drawing = generator(rng)
    halves = _repeated(results, measure)
    held_out = None
    if halves is None:
        test = by_permutations(lead, _leads_by_chance(means, size, drawing, progress))
    else:
        held_out, test = _held_out(halves, task_signs(results, measure), size, drawing)
    table = AgentLeads(
        agent=results.agents,
        lead=lead,
        p_value=test.p_values,
        significant=test.significant,
        wins=lead > LEAST_LEAD,
        held_out=held_out,
        by_factors=wins_by_factors(means, suggested),
        tasks=[[results.tasks[task] for task in chosen] for chosen in sets],
    )
    return FavourableTasks(
        # Ties are in the order of the results.
        table.take([place[agent] for agent in given]).sorted_by("lead", descending=True),
        size,
        test.method,
        rng if isinstance(rng, int) else None,
        _notes(means, halves is not None),
    )


def _leads_by_chance(
    means: Floats, size: int, rng: np.random.Generator, progress: Progress | None
) -> Floats:
    """Return the largest lead of any agent in tables with agents permuted within each task: [tables]."""
    best, most = contenders(filled(shares(means))), []
    means = means[np.sort(best)]
    for permutation in range(FEWEST_TABLES):  # a search each: some seconds for a hundred agents
        if progress:
            progress("favourable tasks by chance", permutation, FEWEST_TABLES)
        permuted = permuted_within_columns(means, rng)
        by_chance = leads(permuted, permuted, winning_sets(permuted, size)[0])
        most.append(float(np.fmax.reduce(by_chance, initial=-np.inf)))
    return np.array(most)


def _repeated(results: Results, measure: str | None) -> Observations | None:
    """Return observations where every cell has two runs or trials; else None."""
    if RowCodes.of(results).single() is not None:
        return None
    observations = observe(results, None if measure is None else [measure])
    count = np.bincount(observations.cell, minlength=len(results.agents) * len(results.tasks))
    if (count[count > 0] < 2).any():
        return None
    return observations


def _held_out(
    observations: Observations, sign: Floats, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], FavourableTest]:
    """Choose on half of the runs of each cell and evaluate on the other half: who wins, with a test."""
    first, second = (moments(observations, weight=part) for part in _halves(observations, rng))
    chosen_on = first.mean[0] * sign
    sets, _ = winning_sets(chosen_on, size)
    lead = leads(chosen_on, second.mean[0] * sign, sets)
    test = by_held_out_runs((chosen_on, second), moments(observations), sign, sets)
    return lead > LEAST_LEAD, test


def _halves(observations: Observations, rng: np.random.Generator) -> tuple[Floats, Floats]:
    cell = observations.cell
    order = np.lexsort((rng.random(len(cell)), cell))
    start = np.searchsorted(cell[order], cell[order])
    first = np.empty(len(order))
    first[order] = (np.arange(len(order)) - start) % 2 == 0
    return first, 1 - first


def _notes(means: Floats, held_out: bool) -> tuple[str, ...]:
    notes = []
    if not held_out:
        notes.append(
            "Some cells are a single trial, so winners were evaluated on the trials that chose their "
            "tasks: fewer may win on other trials."
        )
    missing = int(np.isnan(means).sum())
    if missing:
        notes.append(
            f"In the search for favourable tasks, {counted(missing, 'missing cell')} took the task's mean."
        )
    if len(means) > MOST_CONTENDERS:
        notes.append(f"Tasks were searched for the first {MOST_CONTENDERS} agents by mean.")
    return tuple(notes)

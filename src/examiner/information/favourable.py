"""Favourable tasks: for each agent, the few tasks on which it would win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, flag, name, number, setting, words
from examiner.information.factors import filled, oriented_means, shares, task_signs
from examiner.information.favourable_search import (
    LEAST_LEAD,
    MOST_CONTENDERS,
    WinningSets,
    winning_sets,
)
from examiner.information.noise import pooled_deviation
from examiner.information.observations import Moments, moments, observe
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results, results_in_content_order
from examiner.scores import FEWEST_TABLES, LEVEL, Progress, RowCodes, permuted_within_columns
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
    size: int = field(metadata=setting())
    test: str = field(metadata=setting())
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
    table, sets = filled(shares(means)), winning_sets(means, size, progress)
    lead, drawing = sets.leads(table), generator(rng)
    halves, held_out = _halves(results, measure, drawing), None
    if halves is None:
        test = f"permutation test, {FEWEST_TABLES} tables"
        p_values = _by_permutations(means, sets, size, drawing, progress)
    else:
        test = "t tests on held-out runs against every other agent, Bonferroni"
        held_out, p_values = by_held_out_runs(halves, task_signs(results, measure), size)
    by_factors = [sets._replace(tasks=chosen).leads(table) for chosen in sets.by_factors]
    names: list[list[str]] = [[] for _ in results.agents]
    for agent, tasks in zip(sets.contenders.tolist(), sets.tasks.tolist(), strict=True):
        names[agent] = [results.tasks[task] for task in tasks]
    rows = AgentLeads(
        agent=results.agents,
        lead=lead,
        p_value=p_values,
        significant=np.nan_to_num(p_values, nan=1.0) <= LEVEL,
        wins=lead > LEAST_LEAD,
        held_out=held_out,
        by_factors=(np.array(by_factors) > LEAST_LEAD).any(axis=0),
        tasks=names,
    )
    return FavourableTasks(
        # Ties are in the order of the results.
        rows.take([place[agent] for agent in given]).sorted_by("lead", descending=True),
        size,
        test,
        rng if isinstance(rng, int) else None,
        _notes(means, halves is not None),
    )


def _by_permutations(
    means: Floats,
    sets: WinningSets,
    size: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> Floats:
    """Compare leads with the largest lead of any agent in tables with agents permuted within each task.

    Returns p-values [agents], adjusted for their number; NaN for agents that were not searched.
    """
    lead = sets.leads(filled(shares(means)))
    most = [np.fmax.reduce(lead)]
    means = means[np.sort(sets.contenders)]
    for permutation in range(FEWEST_TABLES):  # a search each: some seconds for a hundred agents
        if progress:
            progress("favourable tasks by chance", permutation, FEWEST_TABLES)
        permuted = permuted_within_columns(means, rng)
        by_chance = winning_sets(permuted, size).leads(filled(shares(permuted)))
        most.append(np.fmax.reduce(by_chance, initial=-np.inf))
    p_values = (np.array(most) >= lead[:, None] - LEAST_LEAD).mean(axis=1)
    return np.where(np.isnan(lead), np.nan, p_values)


class _Halves(NamedTuple):
    """Moments of all runs of each cell, and of two halves of them."""

    whole: Moments
    first: Moments
    second: Moments


def _halves(results: Results, measure: str | None, rng: np.random.Generator) -> _Halves | None:
    """Split the runs (or trials) of each cell; None where some cell has one."""
    if RowCodes.of(results).single() is not None:
        return None
    observations = observe(results, None if measure is None else [measure])
    cell = observations.cell
    count = np.bincount(cell)
    if (count[count > 0] < 2).any():
        return None
    order = np.lexsort((rng.random(len(cell)), cell))
    start = np.searchsorted(cell[order], cell[order])
    first = np.empty(len(order))
    first[order] = (np.arange(len(order)) - start) % 2 == 0
    parts = (moments(observations, weight=weight) for weight in (first, 1 - first))
    return _Halves(moments(observations), *parts)


def by_held_out_runs(halves: _Halves, sign: Floats, size: int) -> tuple[NDArray[np.bool_], Floats]:
    r"""Choose on half of the runs, and test each agent against its rivals on its tasks S on the others.

    .. math:: t_b = \frac{\bar d_b}{s_b}, \qquad
              s_b^2 = \frac{1}{k^2} \sum_{g \in S} v_g \Big(\frac{1}{n_{ag}} + \frac{1}{n_{bg}}\Big)

    with :math:`\bar d_b` the mean difference to rival b over S and v the variance of runs within cells,
    pooled over agents. An agent wins where it beats every rival (the largest p-value; Berger, 1982), after
    Bonferroni over agents. Returns who leads on the other half, and p-values [agents].
    """
    from scipy.special import stdtr  # slow to import

    whole, held_out = halves.whole, halves.second
    chosen_on, means = halves.first.mean[0] * sign, held_out.mean[0] * sign
    sets = winning_sets(chosen_on, size)
    lead = sets.leads(filled(shares(means, like=chosen_on)))
    table = np.nan_to_num(shares(means, like=chosen_on))
    unit = np.nan_to_num(shares(means + 1.0, like=chosen_on)) - table  # of a share, on each task
    freedom = np.maximum(whole.units[0] - 1, 0)
    deviation = pooled_deviation(whole.unit_square[0], freedom)
    variance = (unit * np.nan_to_num(deviation)) ** 2 / np.maximum(held_out.units[0], 1)
    p = np.full(len(table), np.nan)
    for agent, chosen in zip(sets.contenders.tolist(), sets.tasks, strict=True):
        rivals = np.flatnonzero(np.arange(len(table)) != agent)
        if not len(rivals):
            continue
        differences = (table[agent, chosen] - table[rivals][:, chosen]).mean(axis=1)
        error = np.sqrt((variance[agent, chosen] + variance[rivals][:, chosen]).sum(axis=1))
        ahead = differences > LEAST_LEAD
        t = np.where(ahead, differences * size / np.maximum(error, 1e-300), 0.0)
        p_values = np.where(ahead, stdtr(freedom[:, chosen].sum(), -t), 1.0)
        p[agent] = min(1.0, len(sets.tasks) * float(p_values.max()))
    return lead > LEAST_LEAD, p


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

"""Benchmark: what tasks are chosen from, and judged on, before any fold has looked at it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.information import (
    ChannelModel,
    Channels,
    Moments,
    Noise,
    Observations,
    channels_of,
    moments,
    observe,
)
from examiner.irt import agents_differ
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import (
    Connections,
    ContentOrder,
    ResponseMatrix,
    Results,
    check_results,
    find_agent_column,
    order_of_results,
)
from examiner.scores import (
    NORMALISERS,
    LearntScale,
    Recipe,
    RowCodes,
    TaskScores,
    cell_means,
    codes_of,
    column_range,
    mean_cells,
    responses,
    task_cost_notes,
    task_costs,
    task_scores,
)
from examiner.selection.constraints import Constraints, Terms, task_groups, terms_of
from examiner.selection.resampling import is_very_large, note_of_sample, sampled_agents
from examiner.selection.targets import (
    RANKED,
    Target,
    aggregate,
    check_target,
    total_for,
    weights_of,
)
from examiner.validation import Floats, check_known, check_squares

LEAST_SHARE = 0.2
"""An agent observed on a smaller share of the tasks shows hardly anything of how tasks correlate."""
LEAST_AGENTS = 4
"""Two choose, two are judged: with fewer nothing can be proven."""
STATED_DEVIATION = 0.2
"""Assumed where no cell was repeated, as a share of the task's spread between agents; a note says so."""

Examined = Literal["same", "newer"]
"""Which agents a selection is for: more of the same population, or newer ones, which will be better."""

SUITABLE = Recipe(normaliser="auto")


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Agents on tasks as they were observed, and how they will be looked at inside each fold.

    `scores` are comparable as far as no agent is compared with another; a normaliser that compares
    agents is learnt inside each fold. `success` [agents, tasks] are shares of successes, or None: then
    each task's median over the fold's own agents is the threshold. `families` [agents] are never split
    between folds. `observed` and `moments` are for bits. `given_target` [agents] replaces the
    aggregate, where something else is to be predicted. `judged` [agents] says who was observed on
    enough tasks for its aggregate to be known; the others help to choose, and are not judged. `order` is
    that of agents and tasks by content, in which agents are drawn. `sample`
    [agents] flags those used where choosing is repeated in folds: everybody but of very large tables.
    `examined` says which agents a selection is for, and `dates` when those here appeared, where known.
    """

    scores: TaskScores
    recipe: Recipe
    terms: Terms
    target: Target
    families: tuple[str, ...]
    groups: tuple[str, ...] | None
    success: Floats | None
    observed: Observations
    moments: Moments
    noise: Noise
    order: ContentOrder
    given_target: Floats | None
    judged: NDArray[np.bool_]
    sample: NDArray[np.bool_]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    examined: Examined = "same"
    dates: tuple[str, ...] | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, one a row."""
        return self.scores.agents

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, one a column."""
        return self.scores.tasks

    @cached_property
    def everyone(self) -> NDArray[np.intp]:
        """The rows of all agents."""
        return np.arange(len(self.agents))

    @cached_property
    def values(self) -> Floats:
        """Means of cells before any agent is compared with another, higher is better; [agents, tasks]."""
        sign = self.scores.sign
        return self.scores.agent_means if (sign > 0).all() else self.scores.agent_means * sign

    @cached_property
    def family_codes(self) -> NDArray[np.int64]:
        """The family of each agent as a number from 0, in the order of their content: [agents]."""
        return codes_in_order(self.families, self.order.agents)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names and values: the same input has the same one."""
        content = hashlib.sha256()
        for name in (*self.agents, "\0", *self.tasks):
            content.update(name.encode("utf-8", "replace") + b"\0")
        content.update(np.ascontiguousarray(self.values).data)
        return content.hexdigest()[:16]

    def learn(self, rows: NDArray[np.intp]) -> LearntScale | None:
        """Learn from some agents alone how scores are compared; None where agents are not compared.

        >>> whole = benchmark(Results.from_numpy(9 * np.arange(30.0).reshape(6, 5)))
        >>> whole.learn(np.array([0, 1, 2])).marks.shape
        (3, 5)
        """
        if not self.recipe.relative:
            return None
        return NORMALISERS[str(self.recipe.normaliser)].learn(self.scores.of_agents(rows))

    def comparable(self, rows: NDArray[np.intp], scale: LearntScale | None) -> Floats:
        """Return some agents' values on a scale learnt from the same or others; [rows, tasks].

        >>> whole = benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2)), Recipe(normaliser="rank"))
        >>> whole.comparable(np.array([3]), whole.learn(np.array([0, 1])))
        array([[1., 1.]])
        """
        if scale is None:
            everybody = len(rows) == len(self.agents) and np.array_equal(rows, self.everyone)
            return self.values if everybody else self.values[rows]
        scores = self.scores.of_agents(rows)
        values = NORMALISERS[str(self.recipe.normaliser)].apply(scale, scores)
        return mean_cells(values, scores.codes)

    def truth(self, rows: NDArray[np.intp], values: Floats) -> Floats:
        """Return what is to be predicted of agents whose comparable values are given; NaN if not judged.

        >>> whole = benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2)))
        >>> whole.truth(np.array([0]), np.array([[0.25, 0.75]]))
        array([0.5])
        """
        return np.where(self.judged[rows], self.aggregates(rows, values), np.nan)

    def aggregates(self, rows: NDArray[np.intp], values: Floats) -> Floats:
        """Return the aggregate of some agents over the values there are, whoever is judged.

        >>> whole = benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2)))
        >>> whole.aggregates(np.array([0]), np.array([[np.nan, 0.75]]))
        array([0.75])
        """
        if self.given_target is not None:
            return self.given_target[rows]
        return aggregate(values, self.target, self.recipe.total)

    @cached_property
    def weights(self) -> Floats | None:
        """How much each task counts in the target, [tasks]; None where that depends on the values."""
        if self.given_target is not None:
            return None
        return weights_of(self.target, len(self.tasks), self.recipe.total)

    @cached_property
    def of_shares(self) -> bool:
        """Whether the target is a weighted mean of numbers between 0 and 1, taken as they are.

        >>> benchmark(Results.from_numpy(np.eye(5))).of_shares
        True
        """
        if self.weights is None or self.recipe.relative or self.recipe.lexicographic:
            return False
        low, high = column_range(self.values)
        least, most = np.fmin.reduce(low, initial=1.0), np.fmax.reduce(high, initial=0.0)
        return bool(least >= 0 and most <= 1)

    def successes(self, rows: NDArray[np.intp]) -> Floats:
        """Return shares of successes, or who is above the median of these agents; [rows, tasks].

        >>> benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2))).successes(np.array([0, 3]))
        array([[0., 0.],
               [1., 1.]])
        """
        if self.success is not None:
            return self.success[rows]
        raw = self.values[rows]
        with np.errstate(invalid="ignore"):
            threshold = np.nanmedian(raw, axis=0)
        return np.where(np.isnan(raw), np.nan, (raw > threshold).astype(np.float64))

    def channels(self, rows: NDArray[np.intp]) -> Channels | None:
        """Return means and deviations of some agents alone; None where bits cannot be estimated.

        >>> whole = benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2)))
        >>> whole.channels(np.array([0, 3])).agents
        ('agent 1', 'agent 4')
        """
        observations = self.observed._replace(
            agents=tuple(self.agents[row] for row in rows.tolist())
        )
        try:
            return channels_of(observations, self.moments.of_agents(rows), ChannelModel(self.noise))
        except InputError:
            return None

    def in_folds(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows that are used in place of these where choosing is repeated in folds.

        >>> benchmark(Results.from_numpy(np.arange(8.0).reshape(4, 2))).in_folds(np.array([0, 3]))
        array([0, 3])
        """
        large = is_very_large(len(rows), len(self.tasks)) and self.sample[rows].any()
        return rows[self.sample[rows]] if large else rows

    def on_agents(self, agents: Sequence[str]) -> Benchmark:
        """Return the benchmark of some agents alone.

        >>> whole = benchmark(Results.from_numpy(9 * np.arange(30.0).reshape(6, 5)))
        >>> whole.on_agents(["agent 2", "agent 5"]).agents
        ('agent 2', 'agent 5')
        """
        rows = np.array([self.agents.index(agent) for agent in agents], dtype=np.intp)
        return replace(
            self,
            scores=self.scores.of_agents(rows),
            families=tuple(self.families[row] for row in rows.tolist()),
            success=None if self.success is None else self.success[rows],
            moments=self.moments.of_agents(rows),
            order=self.order._replace(agents=np.argsort(np.argsort(self.order.agents)[rows])),
            given_target=None if self.given_target is None else self.given_target[rows],
            judged=self.judged[rows],
            sample=self.sample[rows],
            dates=None if self.dates is None else tuple(self.dates[row] for row in rows.tolist()),
        )

    def __repr__(self) -> str:
        agents, tasks = counted(len(self.agents), "agent"), counted(len(self.tasks), "task")
        return f"Benchmark: {agents} × {tasks}, to predict their {self.target}"


def benchmark(
    results: Results,
    recipe: Recipe = SUITABLE,
    *,
    target: str | Mapping[str, float] = "mean",
    constraints: Constraints | None = None,
    families: str | Mapping[str, str] | None = None,
    coverage: float = 0.9,
    deviations: Literal["own", "pooled"] | float | None = None,
    examined: Examined = "same",
) -> Benchmark:
    """Gather all that choosing and judging tasks needs, without any agent looking at another.

    The recipe says which values are comparable (by default what suits: human where scales are known,
    z-score where values leave [0, 1]), how tasks make a total, and what counts as success for curves of
    tasks; without that, each fold's median of the task does. `target` is the aggregate to predict, or a
    number for each agent. A task that has no scale where the recipe needs one is excluded; notes say
    which. An agent observed on less than `coverage` of the tasks helps to choose and is not judged.
    `families` is a column of the agents' table: families stay whole. `examined` says which agents will be
    examined: more of the "same" population, or "newer" ones, which are better than these.

    >>> benchmark(Results.from_numpy(9 * np.arange(20.0).reshape(5, 4))).recipe.normaliser
    'z-score'
    """
    check_known("population", examined, get_args(Examined))
    goal = check_target(target if isinstance(target, str) else "mean")
    demands = constraints or Constraints()
    if goal in RANKED:
        recipe = replace(recipe, normaliser=RANKED[goal])
    results = recipe.ready(check_results(results))
    settled, absolute, scores = _settled(results, recipe)
    blank = np.asarray(np.isnan(scores.agent_means).all(axis=0))
    if blank.any() and not blank.all():
        results = results.where(~blank[results.task_codes]).with_notes(_blank_note(results, blank))
        settled, absolute, scores = _settled(results, recipe)
    share = _observed_share(scores, coverage)
    kept = share >= min(LEAST_SHARE, coverage) - 1e-12
    left_out = _names(scores.agents, ~kept)
    everybody = results
    judged = share[kept] >= coverage - 1e-12
    if left_out:
        results = results.where(kept[results.agent_codes])
        settled, absolute, scores = _settled(results, recipe)
    observations = _observed(absolute, settled)
    cell_moments = moments(observations)
    noise, notes = _noise(cell_moments, observations, deviations)
    price, priced = _priced(everybody, results.tasks, demands)
    groups = task_groups(results, demands.groups)
    labels = None if groups is None else tuple("unknown" if one is None else one for one in groups)
    settled = replace(settled, total=total_for(goal, recipe.total, results.tasks, labels))
    relatives = _families(results, families)
    order = order_of_results(results)
    sample = sampled_agents(codes_in_order(relatives, order.agents), len(results.tasks))
    return Benchmark(
        scores,
        settled,
        terms_of(demands, results.tasks, results.task_names, groups, price),
        goal,
        relatives,
        labels,
        _success(results, settled),
        observations,
        cell_moments,
        noise,
        order,
        _given(target, results.agents),
        judged,
        sample,
        left_out,
        (
            *results.notes,
            *_told(left_out, _names(scores.agents, ~judged), coverage, settled, goal),
            *notes,
            *priced,
            *_nothing_to_see(scores),
            *note_of_sample(sample),
        ),
        examined,
        _dates(results),
    )


def codes_in_order(labels: Sequence[str], order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Number labels from 0 as they appear in an order of their places.

    >>> codes_in_order(["x", "y", "x"], np.array([1, 0, 2]))
    array([1, 0, 1])
    """
    codes = np.empty(len(labels), dtype=np.int64)
    codes[order] = codes_of([labels[place] for place in order.tolist()])
    return codes


def benchmark_of(source: Any) -> Benchmark:  # Any: a benchmark, or all that `ex.read` takes
    """Return a benchmark as it is, and gather one by default from anything else that `ex.read` takes.

    >>> benchmark_of({f"agent {row}": [[float(row), 1.0]] for row in range(5)}).tasks
    ('task 1', 'task 2')
    """
    return source if isinstance(source, Benchmark) else benchmark(source)


def _priced(
    everybody: Results, tasks: Sequence[str], demands: Constraints
) -> tuple[Floats | None, tuple[str, ...]]:
    """What each task costs, and whose costs these are; agents that are not judged have paid too."""
    cost = demands.cost
    if cost is None:
        present = "cost" in (*everybody.task_attributes.columns, *everybody.attributes)
        usual = demands.cost_of is not None or (demands.budget is not None and present)
        cost = "cost" if usual else None
    if not isinstance(cost, str):
        return cost, ()
    costs = task_costs(everybody, cost, demands.cost_of)
    cost_of_task = dict(zip(everybody.tasks, costs.tolist(), strict=True))
    notes = task_cost_notes(everybody, cost, demands.cost_of)
    return np.array([cost_of_task[task] for task in tasks]), notes


def _nothing_to_see(scores: TaskScores) -> tuple[str, ...]:
    """Say where agents may be alike, or cannot be compared: sets then predict chance."""
    sign = scores.sign
    means = scores.agent_means if (sign > 0).all() else scores.agent_means * sign
    matrix = ResponseMatrix.from_array(means, scores.agents, scores.tasks)
    apart = Connections.by_groups(matrix.agents, matrix.tasks, matrix.observed)
    if apart.separate:
        return apart.warnings
    chance = agents_differ(matrix, 0)
    if chance.shown:
        return ()
    consequence = "what few tasks predict of them is chance too"
    return (f"Agents are not shown to differ over these tasks: {chance.often}; {consequence}.",)


def _blank_note(results: Results, blank: NDArray[np.bool_]) -> str:
    names = [task for task, gone in zip(results.tasks, blank, strict=True) if gone]
    return (
        f"{counted(len(names), 'task')} left out, since no agent has a comparable value there: "
        f"{listed(names)}."
    )


def _settled(results: Results, recipe: Recipe) -> tuple[Recipe, Results, TaskScores]:
    """The recipe after it learnt, results as far as no agent is compared with another, and their scores.

    An order of measures takes results as they are.
    """
    learnt = recipe.learn(results)
    if learnt.lexicographic:
        values = learnt.values(results)
        return learnt, results, TaskScores.of_cells(values, results.agents, results.tasks)
    absolute = learnt.absolute(results)
    return learnt, absolute, task_scores(absolute, learnt.measure)


def _names(agents: Sequence[str], which: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(agent for agent, one in zip(agents, which, strict=True) if one)


def _observed_share(scores: TaskScores, coverage: float) -> Floats:
    """The share of tasks each agent was observed on, [agents], after refusing too few agents to judge."""
    if not 0 < coverage <= 1:
        raise InputError(f"The coverage is {coverage:g}. Give a share of the tasks in (0, 1].")
    values, agents = scores.agent_means, scores.agents
    check_squares(values)
    share: Floats = np.isfinite(values).mean(axis=1)
    enough = int((share >= coverage - 1e-12).sum())
    if enough < LEAST_AGENTS:
        if len(agents) < LEAST_AGENTS:
            raise InputError(
                f"The results hold {counted(len(agents), 'agent')}, and choosing tasks needs "
                f"{LEAST_AGENTS}. Give results of more agents."
            )
        raise InputError(
            f"{counted(enough, 'agent')} of {len(agents)} were observed on at least "
            f"{coverage:.0%} of the tasks; choosing tasks needs {LEAST_AGENTS}. Lower the coverage "
            f"(`coverage=...`), or leave out tasks that few agents played (`results.dropping(...)`)."
        )
    return share


def _observed(results: Results, recipe: Recipe) -> Observations:
    if recipe.lexicographic:
        return observe(results, [name.removeprefix("-") for name in recipe.lexicographic])
    return observe(results, results.measures[:1])


def _noise(
    cell_moments: Moments,
    observations: Observations,
    deviations: Literal["own", "pooled"] | float | None,
) -> tuple[Noise, tuple[str, ...]]:
    if deviations is not None:
        return Noise("trial", deviations), ()
    if all(observations.shares) or (cell_moments.trials > 1).any():
        return Noise("trial", "own"), ()
    return Noise("trial", STATED_DEVIATION), (
        f"No cell was repeated, so bits take a deviation of {STATED_DEVIATION:g} of the spread between "
        f"agents on each task; state another with `deviations=...`.",
    )


def _families(results: Results, families: str | Mapping[str, str] | None) -> tuple[str, ...]:
    agents = results.agents
    if families is None:
        return agents
    if isinstance(families, str):
        labels = find_agent_column(results, families)
        if labels is None:
            column_names = (*results.agent_attributes.columns, *results.attributes)
            columns = f" Known columns: {listed(column_names)}." if column_names else ""
            raise InputError(
                f"No column {shorten(families)} says which agents belong together.{columns} Give a "
                f"table of agents that has it."
            )
    else:
        labels = tuple(families.get(agent) for agent in agents)
    return tuple(
        agent if label is None else f"family {label}"
        for agent, label in zip(agents, labels, strict=True)
    )


DATES = ("date", "released", "release_date", "year")
"""Columns of the agents' table that say when an agent appeared."""


def _dates(results: Results) -> tuple[str, ...] | None:
    for column in DATES:
        try:
            dates = find_agent_column(results, column) or ()
        except InputError:  # dates of evaluations, several for one agent
            continue
        if len(set(dates)) > 1 and None not in dates:
            return tuple(map(str, dates))
    return None


def _given(target: str | Mapping[str, float], agents: Sequence[str]) -> Floats | None:
    if isinstance(target, str):
        return None
    lacking = [agent for agent in agents if agent not in target]
    if lacking:
        raise InputError(
            f"The target of {listed(lacking, limit=5)} is not given. Give one for each agent."
        )
    return np.array([target[agent] for agent in agents], dtype=np.float64)


def _success(results: Results, recipe: Recipe) -> Floats | None:
    if recipe.success is not None:
        return recipe.responses(results).to_numpy()
    if not results.is_binary():
        return None
    # Of one trial a cell the share of successes is what was observed.
    single = RowCodes.of(results).single() is not None
    return cell_means(results) if single else responses(results).to_numpy()


def _told(
    left_out: tuple[str, ...],
    unjudged: tuple[str, ...],
    coverage: float,
    recipe: Recipe,
    target: Target,
) -> tuple[str, ...]:
    notes = []
    if left_out:
        least = min(LEAST_SHARE, coverage)
        notes.append(
            f"{counted(len(left_out), 'agent')} observed on less than {least:.0%} of the tasks "
            f"{'was' if len(left_out) == 1 else 'were'} left out: {listed(left_out, limit=5)}."
        )
    if unjudged:
        notes.append(
            f"{counted(len(unjudged), 'agent')} observed on less than {coverage:.0%} of the tasks "
            f"{'helps' if len(unjudged) == 1 else 'help'} to choose and "
            f"{'is' if len(unjudged) == 1 else 'are'} not judged: {listed(unjudged, limit=5)}."
        )
    if recipe.relative and not recipe.lexicographic and target not in RANKED:
        notes.append(
            f"Normalised by {recipe.normaliser!r} inside each fold, from its agents alone."
        )
    return tuple(notes)

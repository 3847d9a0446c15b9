"""Run scores arranged by agent and task: the strata within which runs are resampled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Hashes, Results, divided_sentence, groups_of, mixed
from examiner.scores.cells import (
    RowCodes,
    RunMeans,
    codes_of,
    judged_runs,
    mean_runs,
    single_values,
)
from examiner.scores.total import GroupedError, Nest, Total, grouped_error, task_labels
from examiner.validation import Floats, NaturalKey, check_known, natural_key, read_only

STEPS = 1 << 24
"""Scores are compared in steps of their range: fine enough to differ, too coarse for rounding to matter."""
OFFSET = 0.377
"""Keeps simple fractions away from the middle between two steps, where rounding would decide."""
ROUNDS = 2
"""Times that agents and tasks describe each other; the second separates agents with equal scores."""


class DrawOrder(NamedTuple):
    """What agents' random streams start from, and the place of each task in the order of drawing.

    `streams` holds for each agent a hash of its own scores, and a number that separates agents with equal
    hashes. `tasks` has shape [tasks]. `strata` are those whose scores decide: other names, another order of
    agents, tasks, runs or rows, and positive multiples of all scores give the same draws.
    """

    strata: tuple[Strata, ...]
    streams: tuple[tuple[int, int], ...]
    tasks: NDArray[np.int64]

    def rows(self, agent: int) -> NDArray[np.intp]:
        """Return the rows of an agent's strata in the order of drawing.

        By its own scores first, so that further agents change nothing where these differ.
        """
        strata = self.strata[agent]
        return np.lexsort((self.tasks[strata.tasks], _cells(strata)))

    def runs(self, agent: int, rows: NDArray[np.intp], runs: int) -> NDArray[np.intp]:
        """Return the runs of some rows of an agent in the order of drawing, shape [rows, runs]."""
        return np.argsort(self.strata[agent].scores[rows, :runs], axis=1, kind="stable")


def draw_order(strata: tuple[Strata, ...], tasks: int) -> DrawOrder:
    """Order agents and tasks by their scores alone; `tasks` is how many the table has.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> table = np.array([[[1.0, 2.0], [5.0, 9.0]], [[3.0, 3.0], [4.0, 6.0]]])
    >>> plain = run_scores(Results.from_numpy(table)).draw_order
    >>> turned = run_scores(Results.from_numpy(table[::-1, ::-1])).draw_order
    >>> plain.streams == turned.streams[::-1], bool((plain.tasks == turned.tasks[::-1]).all())
    (True, True)
    """
    own = [_sum(_cells(one)) for one in strata]
    level = np.zeros(len(strata), dtype=np.int64)
    seen = [row for row, one in enumerate(strata) if len(one.tasks)]
    level[seen] = _steps(np.array([strata[row].means.mean() for row in seen]))
    refined = mixed(np.array(own, dtype=np.uint64) ^ mixed(level.astype(np.uint64)))
    agents = [int(each) for each in refined]
    described = np.zeros(tasks, dtype=np.uint64)
    for _ in range(ROUNDS):
        described = np.zeros(tasks, dtype=np.uint64)
        for one, agent in zip(strata, agents, strict=True):
            described[one.tasks] += mixed(_cells(one) ^ np.uint64(agent))
        agents = [_sum(mixed(_cells(one) ^ described[one.tasks])) for one in strata]
    place = np.empty(tasks, dtype=np.int64)
    place[np.argsort(described, kind="stable")] = np.arange(tasks)
    read_only(place)
    keys = [
        (int(step), refined, natural_key(one.agent))
        for step, refined, one in zip(level, agents, strata, strict=True)
    ]
    return DrawOrder(strata, _numbered(own, keys), place)


def _numbered(
    hashes: Sequence[int], keys: Sequence[tuple[int, int, NaturalKey]]
) -> tuple[tuple[int, int], ...]:
    """Each agent's hash, and its number among those with the same, by level, then by the refined hash.

    Names decide between agents whose scores are equal throughout.
    """
    numbers = [0] * len(hashes)
    counts: Counter[int] = Counter()
    for row in sorted(range(len(hashes)), key=keys.__getitem__):
        numbers[row] = counts[hashes[row]]
        counts[hashes[row]] += 1
    return tuple(zip(hashes, numbers, strict=True))


def _cells(strata: Strata) -> Hashes:
    """A hash of the runs of each task, in whatever order, relative to the agent's own range: [tasks]."""
    if not len(strata.tasks):
        return np.zeros(0, dtype=np.uint64)
    hashes = mixed(_steps(strata.scores).astype(np.uint64))
    if strata.scores.shape[1] == 1:
        return hashes[:, 0]
    return mixed(np.where(strata.present, hashes, np.uint64(0)).sum(axis=1, dtype=np.uint64))


def _steps(values: Floats) -> NDArray[np.int64]:
    """Values as whole steps between their least and their greatest."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not high > low:
        return np.zeros(values.shape, dtype=np.int64)
    with np.errstate(over="ignore"):
        size = high - low
        relative = (values - low) / size if np.isfinite(size) else values / high - low / high
    return np.asarray(np.floor(relative * STEPS + OFFSET), dtype=np.int64)


def _sum(hashes: Hashes) -> int:
    return int(hashes.sum(dtype=np.uint64))


Unit = Literal["runs", "tasks", "both"]
UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, eq=False)
class Strata:
    """The run scores of one agent: a row a task it was observed on, trials averaged within runs.

    `tasks` are positions in the table's tasks; `runs` counts the runs of each, shape [tasks].
    `scores` has shape [tasks, most runs]; where a task has fewer runs, its first score fills the row
    and must be given no weight. `nest` says how tasks make a total, None where all count alike.
    """

    agent: str
    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    scores: Floats
    nest: Nest | None = None
    binary: bool = False  # one trial of 0 or 1 on each task

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which places of `scores` hold a run, shape [tasks, most runs]."""
        return np.arange(self.scores.shape[1]) < self.runs[:, None]

    @cached_property
    def means(self) -> Floats:
        """The mean of each task's runs, shape [tasks]."""
        if self.scores.shape[1] == 1:
            return self.scores[:, 0]
        sums: Floats = np.where(self.present, self.scores, 0.0).sum(axis=1)
        return sums / self.runs

    @cached_property
    def error(self) -> GroupedError:
        """The standard error of the agent's total over tasks like its own."""
        return grouped_error(self.means, self.nest or Nest.flat(len(self.tasks)))

    @property
    def effective_tasks(self) -> float:
        """How many independent tasks would give the same error; NaN where none is known."""
        return effective_number(self.means, self.nest or Nest.flat(len(self.tasks)), self.error)

    @property
    def shares(self) -> Floats:
        """How much each task counts in the total, shape [tasks]; sums to 1."""
        if self.nest is not None:
            return self.nest.shares
        return np.full(len(self.tasks), 1 / max(len(self.tasks), 1))

    @property
    def deviations(self) -> Floats:
        """Each run's score less its task's mean, 0 where there is no run; shape [tasks, most runs]."""
        return np.where(self.present, self.scores - self.means[:, None], 0.0)


@dataclass(frozen=True, eq=False)
class RunScores:
    """Every agent's strata, and what a reader should know about them.

    >>> scores = run_scores(Results.from_numpy([[[1.0, 3.0], [2.0, np.nan]]], tasks=["t", "u"]))
    >>> scores.strata[0].runs, scores.notes
    (array([2, 1]), ('Runs are uneven: from 1 to 2 in a cell. Every task weighs the same.',))
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    strata: tuple[Strata, ...]
    notes: tuple[str, ...]
    total: Total | None = None
    nest: Nest | None = None  # the total by position
    groups: TaskGroups | None = None
    drawn_by: tuple[Strata, ...] | None = None  # whose scores order the draws, if not those above

    @cached_property
    def draw_order(self) -> DrawOrder:
        """The order in which runs and tasks are drawn, by the scores alone."""
        return draw_order(self.drawn_by or self.strata, len(self.tasks))

    @property
    def most_runs(self) -> int:
        """The greatest number of runs of any agent on any task."""
        return max(int(one.runs.max(initial=0)) for one in self.strata)

    @property
    def group_notes(self) -> tuple[str, ...]:
        """In which groups tasks are drawn, and how many independent ones they are worth."""
        if self.groups is None:
            return ()
        numbers = np.array([one.effective_tasks for one in self.strata if len(one.tasks)])
        worth = np.nanmedian(numbers) if np.isfinite(numbers).any() else np.nan
        found = f" ({self.groups.why})" if self.groups.why else ""
        names = f"{self.groups.number:,} groups by {shorten(self.groups.column)}{found}"
        return (
            f"{counted(len(self.tasks), 'task')} in groups are worth about {worth:,.0f} independent ones: "
            f'{names} are drawn as a whole. `group="none"` takes tasks as independent.',
        )

    def of(self, agent: str) -> Strata:
        """Return the strata of one agent, by name."""
        return self.strata[self.row(agent)]

    def row(self, agent: str) -> int:
        """Return where an agent stands, or refuse a name that is none."""
        check_known("agent", agent, self.agents)
        return self.agents.index(agent)


class TaskGroups(NamedTuple):
    """Groups of tasks that are drawn as a whole: the column, the group of each task, [tasks], and more.

    `stratum` [tasks] are fixed groups within which these are drawn; `why` says how they were found.
    """

    column: str
    code: NDArray[np.int64]
    stratum: NDArray[np.int64]
    why: str

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.code.max()) + 1


GROUP_COLUMNS = ("repository", "repo", "passage")
"""Columns of tasks that name what tasks share, where nobody names one."""
FEWEST_GROUPS = 8
"""Fewer groups of a total are fixed unless somebody asks: so few say nothing of others like them."""


def task_groups(results: Results, group: str | None, total: Total | None) -> TaskGroups | None:
    """Return the groups in which tasks are drawn: of a column, else those found; None where there are none.

    Found are the groups of a total, if there are at least eight, then levels of a task, then a column that
    names a repository or a passage. "none" takes tasks as independent, and the groups of a total as fixed.

    >>> table = {"agent": ["a"] * 3, "task": ["t", "u", "v"], "repo": ["x", "x", "y"], "score": [1, 0, 1]}
    >>> task_groups(Results.from_dict(table), None, None).code
    array([0, 0, 1])
    """
    none, tasks = np.zeros(len(results.tasks), dtype=np.int64), len(results.tasks)
    if group == "none":
        return None
    if group is not None:
        code = codes_of(task_labels(results, group))
        if tasks > 1 and not code.any():
            raise InputError(
                f"All tasks have the same {shorten(group)}, and nothing is known of others. Name a column "
                f'with several groups, or none (`group="none"`).'
            )
        fixed = none if total is None or not total.by else codes_of(total.innermost)
        return TaskGroups(group, code, fixed, "") if code.max(initial=0) + 1 < tasks else None
    if total is not None and total.by:
        outer = codes_of(total.groups[-2]) if len(total.by) > 1 else none
        found = TaskGroups(total.by[-1], codes_of(total.innermost), outer, "those of the total")
        return found if FEWEST_GROUPS <= found.number < tasks else None
    attributes = {*results.task_attributes.columns, *results.attributes}
    columns = [name for name in GROUP_COLUMNS if name in attributes]
    for column in (["task"] if results.item else []) + columns:
        try:
            code = codes_of(task_labels(results, column))
        except InputError:  # a column that does not say one thing of every task
            continue
        if 1 < code.max(initial=0) + 1 < tasks:
            why = "levels of one task" if column == "task" else "found in the table"
            return TaskGroups(column, code, none, why)
    return None


def effective_number(values: Floats, nest: Nest, error: GroupedError) -> float:
    """Return how many independent tasks would have this error, at most those there are.

    >>> nest = replace(Nest.flat(4), sampled=np.array([0, 0, 1, 1]))
    >>> values = np.array([1.0, 1.0, 2.0, 2.0])
    >>> round(effective_number(values, nest, grouped_error(values, nest)), 2)
    1.33
    """
    if nest.sampled is None or not error.size > 0:
        return float(len(values)) if nest.sampled is None else float("nan")
    alone = grouped_error(values, replace(nest, sampled=None, stratum=np.zeros_like(nest.stratum)))
    return len(values) * min(1.0, (alone.size / error.size) ** 2)


def run_scores(
    results: Results,
    measure: str | None = None,
    total: Total | None = None,
    group: str | None = None,
) -> RunScores:
    """Arrange the scores of runs by agent and task; `total` says how tasks make one number.

    `group` names the column of groups in which tasks are drawn (`task_groups`).

    >>> scores = run_scores(Results.from_numpy([[[1.0, 3.0]], [[2.0, 2.0]]], agents=["a", "b"]))
    >>> scores.of("a").scores
    array([[1., 3.]])
    """
    results = judged_runs(results)
    known = None if total is None else total.on(results.tasks)
    nest = None if known is None else known.nest()
    groups = task_groups(results, group, known)
    if groups is not None:
        nest = replace(
            nest or Nest.flat(len(results.tasks)), stratum=groups.stratum, sampled=groups.code
        )
    codes, values = RowCodes.of(results), results.measure(measure)
    single = codes.single()
    if single is not None:
        strata = _single_runs(results.agents, single_values(values, single, codes.shape), nest)
    else:
        strata = _several_runs(results.agents, mean_runs(values, codes), nest)
    notes = (*_notes(results, strata), *_groups_missed(strata, known))
    if results.is_binary(measure):
        alone = single_trials(results, measure)
        strata = tuple(
            replace(one, binary=bool(once)) for one, once in zip(strata, alone, strict=True)
        )
    return RunScores(results.agents, results.tasks, strata, notes, known, nest, groups)


def single_trials(results: Results, measure: str | None = None) -> NDArray[np.bool_]:
    """Which agents have at most one trial per task, [agents].

    >>> single_trials(Results.from_numpy([[[1.0, 1.0], [0.0, 0.0]], [[1.0, np.nan]] * 2]))
    array([False,  True])
    """
    agents, tasks = len(results.agents), len(results.tasks)
    if RowCodes.of(results).single() is not None:
        return np.ones(agents, dtype=np.bool_)
    observed = np.isfinite(results.measure(measure))
    cells = results.agent_codes[observed].astype(np.int64) * tasks + results.task_codes[observed]
    trials = np.bincount(cells, minlength=agents * tasks).reshape(agents, tasks)
    return np.asarray(trials.max(axis=1, initial=0) <= 1)


def _several_runs(agents: Sequence[str], runs: RunMeans, nest: Nest | None) -> tuple[Strata, ...]:
    ends = np.searchsorted(runs.agent, np.arange(len(agents) + 1))
    return tuple(
        arranged(agent, runs.task[start:stop], runs.value[start:stop], nest)
        for agent, start, stop in zip(agents, ends[:-1], ends[1:], strict=True)
    )


def _single_runs(agents: Sequence[str], table: Floats, nest: Nest | None) -> tuple[Strata, ...]:
    """Strata of one run a cell: views of the table [agents, tasks], which may be very large."""
    every, once = all_rows(table.shape[1]), np.ones(table.shape[1], dtype=np.int64)
    read_only(once)
    made = []
    for agent, row in zip(agents, table, strict=True):
        seen = ~np.isnan(row)
        tasks, scores = every, row[:, None]
        if not seen.all():
            tasks = np.flatnonzero(seen)
            scores = row[tasks][:, None] if len(tasks) else np.empty((0, 0))
        read_only(tasks, scores)
        part = None if nest is None else nest.rows(tasks)
        made.append(Strata(agent, tasks, once[: len(tasks)], scores, part))
    return tuple(made)


@lru_cache(maxsize=4)  # comparisons of thousands of agents ask for the same
def all_rows(count: int) -> NDArray[np.int64]:
    """Return the positions of so many rows, to be looked at and not changed.

    >>> all_rows(3)
    array([0, 1, 2])
    """
    rows = np.arange(count)
    read_only(rows)
    return rows


def shared_rows(first: Strata, second: Strata) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the tasks that two agents share stand in the strata of each.

    >>> one, two = (Strata(name, np.array(tasks), np.ones(2, int), np.ones((2, 1)))
    ...             for name, tasks in (("a", [0, 4]), ("b", [4, 7])))
    >>> shared_rows(one, two)
    (array([1]), array([0]))
    """
    if first.tasks is second.tasks or np.array_equal(first.tasks, second.tasks):
        rows = all_rows(len(first.tasks))
        return rows, rows
    _, rows_a, rows_b = np.intersect1d(first.tasks, second.tasks, return_indices=True)
    return rows_a, rows_b


def same_sign(results: Results, measure: str | None = None) -> None:
    """Refuse to average tasks where higher is better with tasks where lower is.

    >>> same_sign(Results.from_numpy([[1.0]]))
    """
    if not len(results.scales):
        return
    signs = results.scales.aligned(results.task_names, results.measure_name(measure)).sign
    if (signs < 0).any():
        lower = [task for task, sign in zip(results.tasks, signs, strict=True) if sign < 0]
        raise InputError(
            f"Lower is better on {listed(lower)}, and averages here take higher as better. Normalise "
            f'first (`ex.normalise(results, "human")`, or by "rank", "z-score" or "min-max"), which turns '
            f"them round."
        )


def arranged(
    agent: str, task: NDArray[np.int64], value: Floats, nest: Nest | None = None
) -> Strata:
    """Put the scores of an agent's runs, sorted by task, into one row a task.

    >>> arranged("a", np.array([4, 4, 7]), np.array([1.0, 2.0, 3.0])).scores
    array([[1., 2.],
           [3., 3.]])
    """
    tasks, first, runs = np.unique(task, return_index=True, return_counts=True)
    most = int(runs.max(initial=0))
    scores = np.repeat(value[first], most).reshape(len(tasks), most)
    scores[np.arange(most) < runs[:, None]] = value  # runs are sorted by task
    read_only(tasks, runs, scores)
    return Strata(agent, tasks, runs, scores, None if nest is None else nest.rows(tasks))


def _notes(results: Results, strata: tuple[Strata, ...]) -> tuple[str, ...]:
    notes = []
    seen = [one for one in strata if len(one.tasks)]
    if not seen:
        return ("No agent has any score.",)
    fewest = min(int(one.runs.min()) for one in seen)
    most = max(int(one.runs.max()) for one in seen)
    if fewest < most:
        notes.append(
            f"Runs are uneven: from {fewest} to {most} in a cell. Every task weighs the same."
        )
    total = len(results.tasks)
    fewer = [one.agent for one in strata if len(one.tasks) < total]
    if fewer:
        notes.append(
            f"{counted(len(fewer), 'agent')} of {len(strata):,} {'lacks' if len(fewer) == 1 else 'lack'} "
            f"some of the {counted(total, 'task')}, and each is aggregated over its own: {listed(fewer)}."
        )
        notes += _divided(strata, total)
    return tuple(notes)


def _groups_missed(strata: tuple[Strata, ...], total: Total | None) -> list[str]:
    """Say who has no result in some group: its total is of the other groups."""
    if total is None or not total.by:
        return []
    code = codes_of(total.innermost)
    groups = int(code.max()) + 1
    lacking = {one.agent: groups - len(np.unique(code[one.tasks])) for one in strata}
    lacking = {agent: count for agent, count in lacking.items() if 0 < count < groups}
    if not lacking:
        return []
    return [
        f"{counted(len(lacking), 'agent')} {'has' if len(lacking) == 1 else 'have'} no result in up to "
        f"{max(lacking.values()):,} of the {counted(groups, total.by[-1])}, and a total of the others: "
        f"{listed(lacking)}."
    ]


def _divided(strata: tuple[Strata, ...], tasks: int) -> list[str]:
    """Say which agents share no task with others, so that nobody compares what has nothing in common."""
    observed = np.zeros((len(strata), tasks), dtype=np.bool_)
    for row, one in enumerate(strata):
        observed[row, one.tasks] = True
    group = groups_of(observed)[0]
    count = int(group.max(initial=-1)) + 1
    if count < 2:
        return []
    names = [[strata[row].agent for row in np.flatnonzero(group == each)] for each in range(count)]
    return [f"{divided_sentence(names)} Aggregates across groups are of different tasks."]


def usual_unit(scores: RunScores) -> Unit:
    """Return what would be another sample: runs where every cell has several, else tasks.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> usual_unit(run_scores(Results.from_numpy([[[1.0, 3.0], [2.0, np.nan]]])))
    'tasks'
    """
    fewest = min((int(one.runs.min()) for one in scores.strata if len(one.tasks)), default=1)
    return "runs" if fewest > 1 else "tasks"


class Sample(NamedTuple):
    """One agent's resampled runs, as weights.

    `scores` has shape [tasks, runs], `weights` [tasks, runs, replicates]: how often each score
    counts. `draws` says how many draws stand for one task, shape [tasks]; `times` how often each
    task counts, shape [tasks, replicates], None where each counts once. `whole` says that tasks were
    drawn with all their runs, so that their means are the same in every replicate. `nest` says how
    tasks make a total, None where all count alike.
    """

    scores: Floats
    weights: NDArray[np.integer] | Floats
    draws: NDArray[np.int64]
    times: NDArray[np.integer] | None = None
    whole: bool = False
    nest: Nest | None = None


def observed(strata: Strata) -> Sample:
    """Return the runs as they were observed, each once: the sample that gives point values.

    >>> scores = np.array([[1.0, 3.0]])
    >>> observed(Strata("a", np.array([0]), np.array([2]), scores)).weights.shape
    (1, 2, 1)
    """
    once = strata.present[:, :, None].astype(np.uint8)
    return Sample(strata.scores, once, strata.runs, nest=strata.nest)

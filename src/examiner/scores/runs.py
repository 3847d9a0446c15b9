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
    codes_of,
    counted_cells,
    judged_runs,
    mean_runs,
    single_values,
)
from examiner.scores.nest import Nest, effective_number, grouped_error
from examiner.scores.normalise import stated_choice
from examiner.scores.total import TaskGroups, Total, task_groups
from examiner.validation import Floats, check_known, natural_key, read_only

STEPS = 1 << 24
"""Scores are compared in steps of their range: fine enough to differ, too coarse for rounding to matter."""


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

    Agents and tasks describe each other twice: the second time separates agents with equal scores. Names
    decide between agents whose scores are equal throughout.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> table = np.array([[[1.0, 2.0], [5.0, 9.0]], [[3.0, 3.0], [4.0, 6.0]]])
    >>> plain = run_scores(Results.from_numpy(table)).draw_order
    >>> turned = run_scores(Results.from_numpy(table[::-1, ::-1])).draw_order
    >>> plain.streams == turned.streams[::-1], bool((plain.tasks == turned.tasks[::-1]).all())
    (True, True)
    """
    cells = [_cells(one) for one in strata]
    alone = [_sum(hashes) for hashes in cells]
    level = np.zeros(len(strata), dtype=np.int64)
    observed = [row for row, one in enumerate(strata) if len(one.tasks)]
    level[observed] = _steps(np.array([strata[row].means.mean() for row in observed]))
    agents = mixed(np.array(alone, dtype=np.uint64) ^ mixed(level.astype(np.uint64))).tolist()
    for _ in range(2):
        described = np.zeros(tasks, dtype=np.uint64)
        for one, hashes, agent in zip(strata, cells, agents, strict=True):
            described[one.tasks] += mixed(hashes ^ np.uint64(agent))
        agents = [
            _sum(mixed(hashes ^ described[one.tasks]))
            for one, hashes in zip(strata, cells, strict=True)
        ]
    place = np.empty(tasks, dtype=np.int64)
    place[np.argsort(described, kind="stable")] = np.arange(tasks)
    read_only(place)
    names = [natural_key(one.agent) for one in strata]
    keys = list(zip(level.tolist(), agents, names, strict=True))
    streams, counts = [(0, 0)] * len(strata), Counter[int]()
    for row in sorted(range(len(strata)), key=keys.__getitem__):
        streams[row] = alone[row], counts[alone[row]]
        counts[alone[row]] += 1
    return DrawOrder(strata, tuple(streams), place)


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
    # The offset keeps simple fractions away from the middle between two steps, where rounding would decide.
    return np.asarray(np.floor(relative * STEPS + 0.377), dtype=np.int64)


def _sum(hashes: Hashes) -> int:
    return int(hashes.sum(dtype=np.uint64))


Unit = Literal["runs", "tasks", "both"]
UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, eq=False)
class Strata:
    """The run scores of one agent: a row a task it was observed on, trials averaged within runs.

    `tasks` are positions in the table's tasks; `runs` counts the runs of each, shape [tasks].
    `scores` has shape [tasks, most runs]; where a task has fewer runs, its first score fills the row
    and must be given no weight. `levels` says how tasks make a total, None where all count alike.
    """

    agent: str
    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    scores: Floats
    levels: Nest | None = None
    binary: bool = False  # one trial of 0 or 1 on each task

    @property
    def nest(self) -> Nest:
        """How tasks make a total."""
        return self.levels or Nest.flat(len(self.tasks))

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

    @property
    def shares(self) -> Floats:
        """How much each task counts in the total, shape [tasks]; sums to 1."""
        return self.nest.shares

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
    levels: Nest | None = None  # the total by position, None where all tasks count alike
    groups: TaskGroups | None = None
    drawn_by: tuple[Strata, ...] | None = None  # whose scores order the draws, if not those above

    @cached_property
    def draw_order(self) -> DrawOrder:
        """The order in which runs and tasks are drawn, by the scores alone."""
        return draw_order(self.drawn_by or self.strata, len(self.tasks))

    @property
    def nest(self) -> Nest:
        """How tasks make a total."""
        return self.levels or Nest.flat(len(self.tasks))

    @property
    def most_runs(self) -> int:
        """The greatest number of runs of any agent on any task."""
        return max(int(one.runs.max(initial=0)) for one in self.strata)

    @property
    def group_notes(self) -> tuple[str, ...]:
        """In which groups tasks are drawn, and how many independent ones they are worth."""
        if self.groups is None:
            return ()
        observed = [one for one in self.strata if len(one.tasks)]
        numbers = np.array(
            [
                effective_number(one.means, one.nest, grouped_error(one.means, one.nest).size)
                for one in observed
            ]
        )
        worth = np.nanmedian(numbers) if np.isfinite(numbers).any() else np.nan
        why = f" ({self.groups.why})" if self.groups.why else ""
        names = f"{self.groups.number:,} groups by {shorten(self.groups.column)}{why}"
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
    total = None if total is None else total.on(results.tasks)
    nest = None if total is None else total.nest()
    groups = task_groups(results, group, total)
    if groups is not None:
        flat = Nest.flat(len(results.tasks))
        nest = replace(nest or flat, stratum=groups.stratum, sampled=groups.code)
    codes, values = RowCodes.of(results), results.measure(measure)
    single = codes.single()
    if single is not None:
        table = single_values(values, single, codes.shape)
        rows = zip(results.agents, table, strict=True)
        strata = [_single_runs(agent, row, nest) for agent, row in rows]
    else:
        runs = mean_runs(values, codes)
        ends = np.searchsorted(runs.agent, np.arange(len(results.agents) + 1))
        strata = [
            arranged(agent, runs.task[start:stop], runs.value[start:stop], nest)
            for agent, start, stop in zip(results.agents, ends[:-1], ends[1:], strict=True)
        ]
    if results.is_binary(measure):
        observed = np.isfinite(values)
        trials = (
            np.ones((len(strata), 1))
            if single is not None
            else counted_cells(codes.agent[observed], codes.task[observed], codes.shape)
        )
        alone = trials.max(axis=1, initial=0) <= 1
        strata = [replace(one, binary=bool(once)) for one, once in zip(strata, alone, strict=True)]
    notes = (
        *stated_choice(results),
        *_notes(strata, len(results.tasks)),
        *_groups_missed(strata, total),
    )
    return RunScores(results.agents, results.tasks, tuple(strata), notes, total, nest, groups)


def _single_runs(agent: str, row: Floats, nest: Nest | None) -> Strata:
    """Strata of one run a cell: views of a row of the table, which may be very large."""
    tasks = all_rows(len(row))
    observed = ~np.isnan(row)
    if not observed.all():
        tasks, row = tasks[observed], row[observed]
        read_only(tasks, row)
    levels = None if nest is None else nest.rows(tasks)
    return Strata(agent, tasks, np.broadcast_to(np.int64(1), tasks.shape), row[:, None], levels)


@lru_cache(maxsize=4)  # comparisons of thousands of agents ask for the same
def all_rows(count: int) -> NDArray[np.int64]:
    """Return the positions of so many rows, to be looked at and not changed.

    >>> all_rows(3)
    array([0, 1, 2])
    """
    rows = np.arange(count)
    read_only(rows)
    return rows


class Pair(NamedTuple):
    """Two agents, each with the places of their common tasks in its strata, and how these make a total."""

    agents: tuple[tuple[Strata, NDArray[np.intp]], tuple[Strata, NDArray[np.intp]]]
    nest: Nest

    @classmethod
    def of(cls, first: Strata, second: Strata) -> Pair:
        """Find the common tasks of two agents, or refuse those that have none.

        >>> one, two = (arranged(name, np.array(tasks), np.ones(2))
        ...             for name, tasks in (("a", [0, 4]), ("b", [4, 7])))
        >>> Pair.of(one, two).tasks
        array([4])
        """
        if first.tasks is second.tasks or np.array_equal(first.tasks, second.tasks):
            rows_a = rows_b = all_rows(len(first.tasks))
        else:
            _, rows_a, rows_b = np.intersect1d(first.tasks, second.tasks, return_indices=True)
        if not len(rows_a):
            raise InputError(
                f"The agents {shorten(first.agent)} and {shorten(second.agent)} share no task. Choose "
                f"agents that were observed on the same tasks."
            )
        return cls(((first, rows_a), (second, rows_b)), first.nest.rows(rows_a))

    @property
    def tasks(self) -> NDArray[np.int64]:
        """The common tasks, by position in the table."""
        first, rows = self.agents[0]
        return first.tasks[rows]

    @property
    def means(self) -> tuple[Floats, Floats]:
        """The means of both agents on each common task."""
        (first, rows_a), (second, rows_b) = self.agents
        return first.means[rows_a], second.means[rows_b]


def share_tasks(first: Strata, second: Strata) -> bool:
    """Whether two agents have a common task.

    >>> share_tasks(arranged("a", np.array([0, 4]), np.ones(2)), arranged("b", np.array([4]), np.ones(1)))
    True
    """
    return first.tasks is second.tasks or bool(np.isin(first.tasks, second.tasks).any())


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


def _notes(strata: Sequence[Strata], tasks: int) -> list[str]:
    """Say where runs are uneven, and which agents lack tasks or share none."""
    notes = []
    observed = [one for one in strata if len(one.tasks)]
    if not observed:
        return ["No agent has any score."]
    fewest = min(int(one.runs.min()) for one in observed)
    most = max(int(one.runs.max()) for one in observed)
    if fewest < most:
        notes.append(
            f"Runs are uneven: from {fewest} to {most} in a cell. Every task weighs the same."
        )
    fewer = [one.agent for one in strata if len(one.tasks) < tasks]
    if fewer:
        notes.append(
            f"{counted(len(fewer), 'agent')} of {len(strata):,} {'lacks' if len(fewer) == 1 else 'lack'} "
            f"some of the {counted(tasks, 'task')}, and each is aggregated over its own: {listed(fewer)}."
        )
        met = np.zeros((len(strata), tasks), dtype=np.bool_)
        for row, one in enumerate(strata):
            met[row, one.tasks] = True
        group = groups_of(met)[0]
        apart = [
            [one.agent for one, place in zip(strata, group, strict=True) if place == each]
            for each in range(int(group.max(initial=-1)) + 1)
        ]
        if len(apart) > 1:
            notes.append(
                f"{divided_sentence(apart)} Aggregates across groups are of different tasks."
            )
    return notes


def _groups_missed(strata: Sequence[Strata], total: Total | None) -> list[str]:
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
    counts. `draws` says how many draws stand for one task, shape [tasks]; `nest` how tasks make a total;
    `times` how often each task counts, shape [tasks, replicates], None where each counts once. `whole` says
    that tasks were drawn with all their runs, so that their means are the same in every replicate.
    """

    scores: Floats
    weights: NDArray[np.integer] | Floats
    draws: NDArray[np.int64]
    nest: Nest
    times: NDArray[np.integer] | None = None
    whole: bool = False


def observed(strata: Strata) -> Sample:
    """Return the runs as they were observed, each once: the sample that gives point values.

    >>> observed(arranged("a", np.array([0, 0]), np.array([1.0, 3.0]))).weights.shape
    (1, 2, 1)
    """
    once = strata.present[:, :, None].astype(np.uint8)
    return Sample(strata.scores, once, strata.runs, strata.nest)

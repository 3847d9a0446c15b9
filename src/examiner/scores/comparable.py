"""What a normaliser is: it learns a scale from scores, and puts scores on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results import Anchor, ScaleArrays, Scales, matched
from examiner.scores.cells import RowCodes
from examiner.validation import Axes, Floats, read_only


@dataclass(frozen=True, slots=True)
class TaskScores:
    """Scores of one measure, row by row, with what is known about their tasks.

    `values` and the codes have shape [rows]; `agent_means` has shape [agents, tasks] and NaN where
    nothing was observed.
    """

    values: Floats
    codes: RowCodes
    agent_means: Floats
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    task_names: tuple[str, ...]
    measure: str = "score"
    scales: Scales = field(default_factory=Scales)

    @classmethod
    def of_cells(cls, cells: Floats, agents: Sequence[str], tasks: Sequence[str]) -> TaskScores:
        """Take a table [agents, tasks] of which higher is better, NaN for what was not observed.

        >>> TaskScores.of_cells(np.array([[1.0, np.nan]]), ["a"], ["t", "u"]).values
        array([ 1., nan])
        """
        agent, task = (codes.ravel() for codes in np.indices(cells.shape))
        codes = RowCodes(agent, task, np.zeros(cells.size, dtype=np.int64), cells.shape)
        return cls(cells.ravel(), codes, cells, tuple(agents), tuple(tasks), tuple(tasks))

    @property
    def agent_codes(self) -> NDArray[np.integer]:
        """For each row, the position of its agent in `agents`."""
        return self.codes.agent

    @property
    def task_codes(self) -> NDArray[np.integer]:
        """For each row, the position of its task in `tasks`."""
        return self.codes.task

    @property
    def sign(self) -> Floats:
        """+1 for tasks where higher is better, −1 where lower is; shape [tasks]."""
        return self.scales.aligned(self.task_names, self.measure).sign

    def of_agents(self, rows: NDArray[np.intp]) -> TaskScores:
        """Return the scores of some agents alone, in the order given.

        >>> TaskScores.of_cells(np.array([[1.0], [2.0]]), ["a", "b"], ["t"]).of_agents(np.array([1])).values
        array([2.])
        """
        code = np.full(len(self.agents), -1)
        code[rows] = np.arange(len(rows))
        agent = code[self.agent_codes]
        kept = agent >= 0
        shape = len(rows), len(self.tasks)
        return replace(
            self,
            values=self.values[kept],
            codes=RowCodes(agent[kept], self.task_codes[kept], self.codes.run[kept], shape),
            agent_means=self.agent_means[rows],
            agents=tuple(self.agents[row] for row in rows),
        )

    def scale(
        self, *marks: Floats, notes: Sequence[str] = (), agents: Sequence[str] = ()
    ) -> LearntScale:
        """Return a scale of these tasks from arrays of shape [tasks], one for each mark.

        >>> TaskScores.of_cells(np.array([[3.0]]), ["a"], ["t"]).scale(np.array([2.0])).marks
        array([[2.]])
        """
        values = np.array(marks, dtype=np.float64).reshape(len(marks), len(self.tasks))
        return LearntScale(self.tasks, values, self.sign, tuple(agents), tuple(notes))

    def anchored(self, what: str, needs: Sequence[Anchor]) -> tuple[ScaleArrays, tuple[str, ...]]:
        """Return the scales of the tasks that `what` needs, and a note that names those without.

        >>> from examiner.results import TaskScale
        >>> from examiner.results import Results
        >>> from examiner.scores.normalise import task_scores
        >>> table = Results.from_numpy([[3.0, 4.0]], tasks=["t", "u"])
        >>> table = table.with_scales(Scales([TaskScale("t", random=1.0)]))
        >>> task_scores(table).anchored("the normaliser 'random-only'", ["random"])[1]
        ("1 of 2 tasks have no random score and are left out of the normaliser 'random-only': 'u'.",)
        """
        scales = self.scales.aligned(self.task_names, self.measure, needs=needs)
        anchored = np.ones(len(self.tasks), dtype=bool)
        for anchor in needs:
            anchored &= ~np.isnan(getattr(scales, anchor))
        if anchored.all():
            return scales, ()
        missing = [task for task, found in zip(self.tasks, anchored, strict=True) if not found]
        scores = " and ".join(needs)
        if not anchored.any():
            raise InputError(
                f"{what[0].upper()}{what[1:]} needs the {scores} score of each task, and none of "
                f"{counted(len(self.tasks), 'task')} has one for the measure {self.measure!r}. "
                f"{self._remedy(missing)}, or choose what "
                f"needs none: the normalisers 'rank', 'z-score' and 'min-max', a number as success."
            )
        return scales, (
            f"{len(missing)} of {len(self.tasks)} tasks have no {scores} score and are left out of "
            f"{what}: {listed(missing)}.",
        )

    def _remedy(self, missing: Sequence[str]) -> str:
        """What to do where no task has a scale; where some are attached, their names do not match."""
        if not len(self.scales):
            return 'Attach scales (`results.with_scales(ex.load("atari-human-random"))`)'
        theirs = dict.fromkeys(entry.task for entry in self.scales)
        measures = dict.fromkeys(entry.measure for entry in self.scales)
        return (
            f"Scales are attached, of {listed(theirs)} (measure {listed(measures)}), and the tasks are "
            f"called {listed(missing)}: rename one of them"
        )

    def needs_several_agents(self, method: str) -> None:
        """Refuse to compare one agent with itself.

        >>> TaskScores.of_cells(np.ones((1, 1)), ["a"], ["t"]).needs_several_agents("rank")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The normaliser 'rank' compares agents with each other, and \
there is only 1. Add agents, or choose one with scales ('human', 'random-only').
        """
        if len(self.agent_means) < 2:
            raise InputError(
                f"The normaliser {method!r} compares agents with each other, and there is only "
                f"{len(self.agent_means)}. Add agents, or choose one with scales ('human', 'random-only')."
            )

    def constant_tasks(self, method: str) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """Return which tasks gave all agents the same score, and a note that names them.

        >>> cells = np.array([[1.0, 2.0], [1.0, 3.0]])
        >>> TaskScores.of_cells(cells, ["a", "b"], ["t", "u"]).constant_tasks("z-score")[0]
        array([ True, False])
        """
        low, high = column_range(self.agent_means)
        constant = ~(high > low)  # NaN, an unobserved task, counts as constant too
        if not constant.any():
            return constant, ()
        names = [task for task, flat in zip(self.tasks, constant, strict=True) if flat]
        return constant, (
            f"{counted(len(names), 'task')} on which no two observed agents differ cannot be scaled "
            f"by {method!r} and are left out: {listed(names)}.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class LearntScale:
    """What a normaliser knows of each task: `marks` [marks, tasks], NaN where a task cannot be scaled.

    Where the marks are what agents did, `agents` are these agents, one for each mark: an agent is
    then compared with the others, never with itself.
    """

    tasks: Annotated[tuple[str, ...], Axes("scaled tasks")]
    marks: Annotated[Floats, Axes("marks", "scaled tasks")]
    sign: Annotated[Floats, Axes("scaled tasks")]
    agents: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.marks)

    def fits(self, normaliser: Normaliser) -> bool:
        """Tell whether a normaliser can have learnt this scale.

        >>> scale = LearntScale(("t",), np.zeros((2, 1)), np.ones(1), ("a",))
        >>> scale.fits(Normaliser(lambda scores: scale, lambda scale, scores: scores.values, "", 2))
        True
        """
        marks = len(self.marks)
        return (
            marks == normaliser.marks if normaliser.marks is not None else marks >= len(self.agents)
        )

    def __eq__(self, other: object) -> bool:
        """Same marks of the same tasks and agents; notes are not compared."""
        if not isinstance(other, LearntScale):
            return NotImplemented
        return (
            (self.tasks, self.agents) == (other.tasks, other.agents)
            and np.array_equal(self.marks, other.marks, equal_nan=True)
            and np.array_equal(self.sign, other.sign)
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, and too large to hash

    def aligned(self, tasks: Sequence[str]) -> LearntScale:
        """Return the scale of these tasks, in this order; a game is found under any of its names.

        >>> scale = LearntScale(("pong", "go"), np.array([[1.0, 2.0]]), np.ones(2))
        >>> scale.aligned(["go", "chess", "ALE/Pong-v5"]).marks
        array([[ 2., nan,  1.]])
        """
        if tuple(tasks) == self.tasks:
            return self
        columns = matched(tasks, self.tasks)
        positions = np.array([-1 if column is None else column for column in columns], dtype=int)
        marks = np.where(positions >= 0, self.marks[:, positions], np.nan)
        sign = np.where(positions >= 0, self.sign[positions], 1.0)
        return LearntScale(tuple(tasks), marks, sign, self.agents)

    def own_marks(self, scores: TaskScores) -> Floats:
        """Return what the agent of each row did on its task where the scale counts it, else NaN; [rows].

        >>> scale = LearntScale(("t",), np.array([[1.0], [2.0]]), np.ones(1), ("a", "b"))
        >>> scale.own_marks(TaskScores.of_cells(np.array([[5.0], [6.0]]), ["b", "c"], ["t"]))
        array([ 2., nan])
        """
        row_of = {agent: row for row, agent in enumerate(self.agents)}
        rows = np.array([row_of.get(agent, -1) for agent in scores.agents], dtype=int)
        row = rows[scores.agent_codes]
        return np.where(row >= 0, self.marks[row, scores.task_codes], np.nan)


class Landmark(NamedTuple):
    """A value of the comparable score that means something, and what it means."""

    value: float
    meaning: str


class Normaliser(NamedTuple):
    """A way of making scores comparable: learn a scale of each task, and put scores on it.

    `apply` gets the scale of the scores' own tasks and returns one value a row. `marks` is how many
    marks a task has, None for one of each agent. `relative` says that agents are compared with each
    other, so that the scale depends on who is at hand. No value lies outside `bounds`.
    """

    learn: Callable[[TaskScores], LearntScale]
    apply: Callable[[LearntScale, TaskScores], Floats]
    unit: str
    marks: int | None
    relative: bool = False
    landmark: Landmark | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)


class Normalised(NamedTuple):
    """What a function of one's own may return: values [rows], what 1.0 (or the range) means, and notes."""

    values: Floats
    unit: str
    notes: tuple[str, ...] = ()


OwnFunction: TypeAlias = Callable[[TaskScores], Normalised | Floats]
"""A normaliser without a name: a function of scores that returns one value a row."""


def column_range(values: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest observed value of each column; NaN where there is none.

    >>> column_range(np.array([[1.0, np.nan], [3.0, np.nan]]))
    (array([ 1., nan]), array([ 3., nan]))
    """
    return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)


def column_size(values: Floats) -> Floats:
    """Return the largest absolute value of each column, 1 where there is none but zero.

    Divided by it, columns can be squared and summed without overflow, whatever their unit.

    >>> column_size(np.array([[1.0, 0.0], [-3.0, np.nan]]))
    array([3., 1.])
    """
    low, high = column_range(values)
    size = np.fmax(np.abs(low), np.abs(high))
    return np.where(size > 0, size, 1.0)

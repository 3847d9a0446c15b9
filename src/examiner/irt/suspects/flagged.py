"""What an audit returns: tasks flagged for review, groups that correlate beyond ability, and all tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, flag, name, number, text, words
from examiner.irt.evidence import ChanceTest
from examiner.irt.items import Floats
from examiner.irt.suspects.reasons import FLAGS, KINDS, Kind, Reason
from examiner.messages import counted


class FlaggedTask(NamedTuple):
    """A task that is flagged for review, why, how many solved it, and its correlation with the others.

    `correlation` is that with the agents' results on other tasks, `expected` what it would be if the task
    discriminated as tasks do on average; NaN where agents do not differ. `solved` is the mean where results
    are scores.
    """

    task: str
    reasons: tuple[Reason, ...]
    solved: float
    agents: int
    correlation: float
    expected: float
    text: str = ""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it is flagged for, the most serious first."""
        return tuple(dict.fromkeys(reason.kind for reason in self.reasons))


class DependentGroup(NamedTuple):
    """Tasks whose results correlate beyond ability, by how much, and what is exceeded in 5 % of tables.

    `name` is the column and value of a group that was given, empty for one that was found.
    """

    tasks: tuple[str, ...]
    name: str
    excess: float
    cutoff: float


class FlaggedTasks(Table):
    """Tasks flagged for review, the most serious first."""

    task: tuple[str, ...] = name("Task")
    flags: tuple[tuple[str, ...], ...] = words("What the task is flagged for")
    solved: Floats = number("Trials solved, or the mean score")
    agents: NDArray[np.int64] = count("Agents with a result")
    correlation: Floats = number("Correlation with the agents' results on other tasks")
    expected_correlation: Floats = number(
        "The same correlation if the task discriminated as tasks do on average", title="expected"
    )
    reasons: tuple[tuple[str, ...], ...] = words("Why, in sentences")
    related_tasks: tuple[tuple[str, ...], ...] = words("The other tasks concerned")
    notable_agents: tuple[tuple[str, ...], ...] = words(
        "Strong agents that failed the task and weak agents that solved it"
    )
    text: tuple[str, ...] | None = text("Text of the task", default=None)


class DependentGroups(Table):
    """Groups of tasks whose results correlate beyond ability."""

    group: tuple[str, ...] = name("Group given in the table of tasks, or found from residuals")
    size: NDArray[np.int64] = count("Tasks of the group", title="tasks")
    excess: Floats = number("Residual correlation beyond ability", unit="standard deviations")
    cutoff: Floats = number("Value that is exceeded by chance in 5 % of tables")
    members: tuple[tuple[str, ...], ...] = words("Names of the tasks")


class AuditedTasks(Table):
    """All tasks: how many solve them, and how they correlate with the others."""

    task: tuple[str, ...] = name("Task")
    share: Floats = number("Share of trials solved, or the mean score")
    correlation: Floats = number("Correlation with the agents' results on other tasks")
    expected_correlation: Floats = number(
        "The same correlation if the task discriminated as tasks do on average", title="expected"
    )
    flagged: NDArray[np.bool_] = flag("Whether the task is flagged for review")


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Answer):
    """Tasks flagged for review, the most serious first, and groups that correlate beyond ability.

    Arrays have shape [tasks]; `share` is of trials solved, or the mean score. `evidence` says whether
    agents differ at all: without that nothing is said of discrimination. `tested` are the flags that
    could be tested with these results.
    """

    kind: ClassVar[str] = "audit"

    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    flagged: tuple[FlaggedTask, ...]
    groups: tuple[DependentGroup, ...]
    solved: Floats
    share: Floats
    correlation: Floats
    expected: Floats
    evidence: ChanceTest
    tested: tuple[Kind, ...]
    notes: tuple[str, ...]
    seed: int | None = None

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """Return the tasks flagged for something, in the order of the list.

        >>> from examiner.irt import audit
        >>> from examiner.results import Results
        >>> audit(Results.from_numpy(np.triu(np.ones((6, 6))))).of_kind("everybody")
        ('task 6',)
        """
        return tuple(task.task for task in self.flagged if kind in task.kinds)

    @property
    def headline(self) -> str:
        """How many tasks are flagged, and for what."""
        total = counted(len(self.tasks), "task")
        if not self.flagged and not self.groups:
            return f"None of {total} is flagged for review."
        counts = Counter(kind for task in self.flagged for kind in task.kinds)
        parts = [f"{counts[kind]:,} {FLAGS[kind]}" for kind in KINDS if counts[kind]]
        verb = "is" if len(self.flagged) == 1 else "are"
        sentence = f"{len(self.flagged):,} of {total} {verb} flagged for review"
        sentence = f"{sentence}: {', '.join(parts)}" if parts else sentence
        if self.groups:
            verb = "correlates" if len(self.groups) == 1 else "correlate"
            sentence += f"; {counted(len(self.groups), 'group')} of tasks {verb} beyond ability"
        return f"{sentence}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Flagged tasks, groups that correlate beyond ability, and all tasks."""
        texts = any(task.text for task in self.flagged)
        flagged = FlaggedTasks.from_rows(
            {
                "task": task.task,
                "flags": [FLAGS[kind] for kind in task.kinds],
                "solved": task.solved,
                "agents": task.agents,
                "correlation": task.correlation,
                "expected_correlation": task.expected,
                "reasons": [reason.sentence for reason in task.reasons],
                "related_tasks": dict.fromkeys(
                    other for reason in task.reasons for other in reason.tasks
                ),
                "notable_agents": dict.fromkeys(
                    agent for reason in task.reasons for agent in reason.agents
                ),
                **({"text": task.text} if texts else {}),
            }
            for task in self.flagged
        )
        groups = DependentGroups.from_rows(
            {
                "group": group.name or "found",
                "size": len(group.tasks),
                "excess": group.excess,
                "cutoff": group.cutoff,
                "members": group.tasks,
            }
            for group in self.groups
        )
        names = {task.task for task in self.flagged}
        tasks = AuditedTasks(
            task=self.tasks,
            share=self.share,
            correlation=self.correlation,
            expected_correlation=self.expected,
            flagged=np.array([task in names for task in self.tasks]),
        )
        return {"flagged": flagged, "groups": groups, "tasks": tasks}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """How many agents there are, and whether they differ."""
        tested = ", ".join(FLAGS[kind] for kind in KINDS if kind in self.tested)
        return {
            "agents": Scalar(len(self.agents), "Agents"),
            "agents_p_value": Scalar(
                self.evidence.p_value, "p-value of the test that agents do not differ"
            ),
            "tested": Scalar(tested, "Flags that could be tested with these results"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of permutations."""
        return {"seed": self.seed}

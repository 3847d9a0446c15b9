"""What an audit returns: tasks flagged for review, groups that correlate beyond ability, and all tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, flag, name, number, scalar, text, words
from examiner.irt.items import Floats
from examiner.irt.suspects.reasons import FLAGS, Kind
from examiner.messages import counted


class FlaggedTasks(Table):
    """Tasks flagged for review, the most serious first.

    The correlations are NaN where agents do not differ.
    """

    task: tuple[str, ...] = name("Task")
    flags: tuple[tuple[str, ...], ...] = words("What the task is flagged for, most serious first")
    rank: NDArray[np.int64] = count("Rank among the tasks with the same first flag")
    solved: Floats = number(
        "Trials solved, of all agents together; the mean score where results are no successes",
        title="trials solved, or mean",
    )
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
    url: tuple[str, ...] | None = text("Link to the task", default=None)
    text: tuple[str, ...] | None = text("Text of the task", default=None)


class DependentGroups(Table):
    """Groups of tasks whose results correlate beyond ability."""

    group: tuple[str, ...] = name("Group given in the table of tasks, or found from residuals")
    size: NDArray[np.int64] = count("Tasks of the group", title="tasks")
    excess: Floats = number("Residual correlation beyond ability", unit="standard deviations")
    cutoff: Floats = number("Value that is exceeded by chance in 5 % of tables")
    members: tuple[tuple[str, ...], ...] = words("Names of the tasks")


class ConstantTasks(Table):
    """Tasks on which the best agents all succeed, or all fail."""

    task: tuple[str, ...] = name("Task")
    result: tuple[str, ...] = text("Whether all of the best agents solved it, or none")


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

    `constant` are the tasks without information on the `top` best agents. Discrimination is not tested
    unless agents differ.
    """

    kind: ClassVar[str] = "audit"

    flagged: FlaggedTasks
    groups: DependentGroups
    tasks: AuditedTasks
    constant: ConstantTasks
    agents: int = field(metadata=scalar("Agents"))
    agents_p_value: float = field(metadata=scalar("p-value of the test that agents do not differ"))
    top: int | None = field(metadata=scalar("Number of the best agents for the table `constant`"))
    tested: str = field(metadata=scalar("Flags that could be tested with these results"))
    notes: tuple[str, ...]
    seed: int | None = None

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """Return the tasks flagged for something, in the order of the list.

        >>> from examiner.irt import audit
        >>> from examiner.results import Results
        >>> audit(Results.from_numpy(np.triu(np.ones((6, 6))))).of_kind("everybody")
        ('task 6',)
        """
        of = zip(self.flagged.task, self.flagged.flags, strict=True)
        return tuple(task for task, flags in of if FLAGS[kind] in flags)

    @property
    def to_review(self) -> FlaggedTasks:
        """The flagged tasks without those that every agent solves: these are not faulty."""
        only_easy = {FLAGS["everybody"]}
        return self.flagged.take([set(flags) != only_easy for flags in self.flagged.flags])

    @property
    def headline(self) -> str:
        """How many tasks are flagged for review, and for what."""
        total = counted(len(self.tasks), "task")
        review = self.to_review.flags
        if not review and not len(self.groups):
            return f"None of {total} is flagged for review.{self._top_sentence()}"
        counts = Counter(flag for flags in review for flag in flags)
        parts = [f"{flag} ({counts[flag]:,})" for flag in FLAGS.values() if counts[flag]]
        verb = "is" if len(review) == 1 else "are"
        sentence = f"{len(review):,} of {total} {verb} flagged for review"
        sentence = f"{sentence}: {', '.join(parts)}" if parts else sentence
        if len(self.groups):
            verb = "correlates" if len(self.groups) == 1 else "correlate"
            sentence += f"; {counted(len(self.groups), 'group')} of tasks {verb} beyond ability"
        return f"{sentence}.{self._top_sentence()}"

    def _top_sentence(self) -> str:
        if self.top is None:
            return ""
        return (
            f" {len(self.constant):,} of {counted(len(self.tasks), 'task')} are constant among the best "
            f"{self.top:,} agents."
        )

    def checklist(self) -> str:
        """Return the flagged tasks as a Markdown checklist for maintainers, grouped by the first flag.

        >>> from examiner.irt import audit
        >>> from examiner.results import Results
        >>> print(audit(Results.from_numpy(np.triu(np.ones((6, 6))))).checklist())
        # None of 6 tasks is flagged for review.
        <BLANKLINE>
        ## solved by every agent (1 task)
        <BLANKLINE>
        `task 6`
        """
        lines = [f"# {self.headline}"]
        heading, everybody = "", FLAGS["everybody"]
        for row in self.flagged:
            if row.flags[0] == everybody:
                break  # nothing to check, and the last flag
            if row.flags[0] != heading:
                heading = row.flags[0]
                lines += ["", f"## {heading}", ""]
            name = f"`{row.task}`"
            url = row.get("url")
            line = f"- [ ] {f'[{name}]({url})' if url else name}: {'; '.join(row.reasons)}"
            if row.notable_agents:
                line += f" (see {', '.join(row.notable_agents)})"
            lines.append(line)
            if row.get("text"):
                lines.append(f"  > {' '.join(row.text.split())[:200]}")
        solved = [f"`{row.task}`" for row in self.flagged if row.flags[0] == everybody]
        if solved:
            lines += ["", f"## {everybody} ({counted(len(solved), 'task')})", "", ", ".join(solved)]
        return "\n".join(lines)

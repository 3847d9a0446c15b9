"""Sections of a report, one analysis per file; `FINDINGS` lists them in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from examiner.messages import InputError
from examiner.reporting.finding import Finding, Notes

if TYPE_CHECKING:
    from examiner.reporting.study import Need, Study


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding of the table: its function as `file.function`, its title and chapter, and what it needs.

    `reads` is one sentence on how to read its first figure or table. `needs` is what the study must have:
    without it the file is not loaded. `default` is when a report contains the finding if no sections are
    named: always, if there are scores other than 0 and 1, or never.
    """

    key: str
    location: str
    title: str
    reads: str = ""
    chapter: str = "evidence"
    needs: Need | None = None
    default: Literal["always", "scores", "never"] = "always"

    def __call__(self, study: Study) -> Finding:
        """Return the finding of a study, or one that says why the study has none."""
        try:
            study.check(self.needs)
            file, _, function = self.location.partition(".")
            finding: Finding = getattr(import_module(f"{__name__}.{file}"), function)(study)
            if self.needs == "fit":
                note = study.fitted.note
                finding = replace(finding, blocks=(*finding.blocks, Notes([note] if note else [])))
        except InputError as problem:
            finding = Finding(lead=str(problem), applies=False)
        return replace(
            finding, key=self.key, title=self.title, chapter=self.chapter, reads=self.reads
        )


CHAPTERS = MappingProxyType(
    {
        "agents": "Who is better?",
        "tasks": "Which tasks matter?",
        "exam": "How short can it be?",
        "evidence": "Evidence",
        "end": "What this is based on",
    }
)
"""Chapter → its title, in the order of a report. Sections of one's own stand in the last but one."""


def default_sections(study: Study) -> list[str]:
    """Return the sections of a report where none are named."""
    shown = ("always",) if study.binary else ("always", "scores")
    names = [name for name, entry in FINDINGS.items() if entry.default in shown]
    # tasks of a large study are compared in pairs by `cluster`, which takes all of them
    return [name for name in names if name != "similarity" or not study.for_pairs[1]]


_ENTRIES = (
    Entry(
        "ranking",
        "ranking.finding",
        "Who is better",
        "Dots are means, lines their intervals. Agents share tasks, so intervals may overlap "
        "where the tests find a significant difference.",
        chapter="agents",
    ),
    Entry(
        "tasks",
        "overview.finding",
        "Which tasks matter",
        "The most informative tasks come first, below flagged ones. Click a task to see who solves "
        "it.",
        chapter="tasks",
    ),
    Entry(
        "selection",
        "selection.finding",
        "How short can it be",
        "Move the slider: tasks are selected without the agents they are judged on.",
        chapter="exam",
        needs="held-out agents",
    ),
    Entry(
        "heatmap",
        "heatmap.finding",
        "Agents × tasks",
        "Each cell is one agent on one task. A row of one colour is a consistent agent, a "
        "column of one colour a task that does not discriminate.",
    ),
    Entry(
        "intervals",
        "uncertainty.intervals",
        "Other averages",
        "Dots are scores, lines their intervals.",
        default="scores",
    ),
    Entry(
        "strips",
        "ranking.strips",
        "Scores on single tasks",
        "Each row is an agent: small dots are its tasks, large marks its aggregates; further "
        "right is better.",
        default="never",
    ),
    Entry(
        "rank_probabilities",
        "distributions.rank_probabilities",
        "How certain the ranks are",
        "A row shows which ranks an agent takes in bootstrap samples; one bright cell is a "
        "certain rank.",
        default="never",
    ),
    Entry(
        "significance",
        "pairs.finding",
        "Which agents differ",
        "Agents are drawn at their mean, best on the left; a bar joins agents that are not "
        "significantly different.",
        default="never",
    ),
    Entry(
        "profiles",
        "distributions.profiles",
        "Performance profiles",
        "A line shows the share of an agent's scores above each value; higher is better.",
        default="scores",
    ),
    Entry(
        "cost",
        "cost.finding",
        "Scores and their cost",
        "Up is better and left is cheaper: no agent is above and to the left of one on the line.",
        needs="costs",
    ),
    Entry(
        "learning",
        "learning.finding",
        "Learning curves",
        "Lines rise as agents learn; where bands overlap, no agent is significantly better.",
        needs="training",
    ),
    Entry(
        "curves",
        "curves.finding",
        "Summaries of learning curves",
        "Lines that cross are agents whose order depends on how learning is summarised.",
        needs="training",
    ),
    Entry(
        "ability_generality",
        "indicators.ability_generality",
        "Ability and generality",
        "Further right is more able; a higher agent is better at everything that is easy for "
        "it and at nothing else.",
        needs="fit",
    ),
    Entry(
        "agent_curves",
        "indicators.agent_curves",
        "Agent characteristic curves",
        "A line falls where tasks become too difficult for its agent: further right is more able.",
        needs="fit",
    ),
    Entry(
        "information",
        "information.finding",
        "Which tasks discriminate between agents",
        "The higher a task's mark, or the longer its bar, the more its scores reveal about the "
        "agent.",
    ),
    Entry(
        "wright_map",
        "tasks.wright_map",
        "Agents and tasks on one scale",
        "An agent has even chances on tasks at its own height; gaps are abilities that no task "
        "measures well.",
        needs="fit",
    ),
    Entry(
        "task_curves",
        "tasks.task_curves",
        "Task characteristic curves",
        "A steep line separates strong from weak agents at the ability where it rises; a flat "
        "one does not.",
        needs="fit",
    ),
    Entry(
        "task_table",
        "fit.finding",
        "Difficulty and discrimination",
        "Further right is more difficult, higher discriminates more; a task at 0 does not "
        "discriminate.",
        needs="fit",
    ),
    Entry(
        "suspects",
        "suspects.finding",
        "Flagged tasks",
        "Crosses are flagged tasks: they correlate with the other tasks less, or more, than usual.",
    ),
    Entry(
        "similarity",
        "similarity.finding",
        "Similar tasks, and which agents could win",
        "A blue block is a cluster of tasks that rank agents in a similar order: one of them could "
        "represent all.",
    ),
    Entry(
        "typology",
        "typology.finding",
        "Kinds of task",
        "Cells count the tasks that have both features; empty cells are kinds of task that are "
        "missing.",
        needs="classification",
    ),
    Entry(
        "editions",
        "editions.finding",
        "Two editions",
        "Agents on the dotted line kept their rank; those above it rank higher in this edition.",
        needs="an earlier edition",
    ),
    Entry(
        "decision",
        "uncertainty.decision",
        "More runs or more tasks?",
        "Lower is more precise: move right along a line for more tasks, from line to line for "
        "more runs.",
    ),
    Entry(
        "next_task",
        "next_task.finding",
        "Examining the next agent, task by task",
        "The band is the interval of the agent's ability: it narrows with each task.",
        needs="fit",
    ),
    Entry("reading", "reading.finding", "What was read", chapter="end"),
)
FINDINGS: Mapping[str, Entry] = MappingProxyType({entry.key: entry for entry in _ENTRIES})
"""Name → finding. A new one is a file in this folder and an entry above."""

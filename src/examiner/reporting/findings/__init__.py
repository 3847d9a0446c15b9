"""Sections of a report, one analysis per file; `FINDINGS` lists them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from examiner.messages import InputError
from examiner.reporting.finding import Finding, NothingToTellError, noted

if TYPE_CHECKING:
    from examiner.reporting.study import Need, Study


class Home(NamedTuple):
    """Where a finding is told: file and function, its title, its chapter, and what it says and needs.

    `reads` says in one sentence how its first figure, or its table, is read. `failed` is said before the
    reason where the analysis refuses the results: a report is made of the others. `needs` is what the
    study must have: without it, the file is not even loaded. `default` says whether a report has it where
    no sections are named: always, where scores are not only 0 and 1, or never.
    """

    where: str
    title: str
    chapter: str = ""
    reads: str = ""
    failed: str = "Not available"
    needs: Need | None = None
    default: Literal["always", "scores", "never"] = "always"

    def tell(self, study: Study) -> Finding:
        """Tell the finding; where it cannot be told, the finding says why."""
        try:
            study.check(self.needs)
            file, _, function = self.where.partition(".")
            found: Finding = getattr(import_module(f"{__name__}.{file}"), function)(study)
            if self.needs == "fit" and study.fitted.note:
                found = replace(found, blocks=(*found.blocks, *noted((study.fitted.note,))))
            return found
        except NothingToTellError as why:
            return Finding(lead=str(why), applies=False)
        except InputError as problem:
            return Finding(lead=f"{self.failed}: {problem}", applies=False)


@dataclass(frozen=True, slots=True, eq=False)
class Findings(Mapping[str, "Callable[[Study], Finding]"]):
    """Names and the functions that tell, each loaded when it is asked for.

    >>> Findings({"ranking": Home("ranking.finding", "Ranking")})["ranking"].__name__
    'ranking'
    """

    homes: Mapping[str, Home]

    def __getitem__(self, name: str) -> Callable[[Study], Finding]:
        home = self.homes[name]

        def told(study: Study) -> Finding:
            found = home.tell(study)
            return replace(
                found, key=name, title=home.title, chapter=home.chapter, reads=home.reads
            )

        told.__name__ = name
        return told

    def __iter__(self) -> Iterator[str]:
        return iter(self.homes)

    def __len__(self) -> int:
        return len(self.homes)


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
    names = [name for name, home in FINDINGS.homes.items() if home.default in shown]
    # tasks of a large study are compared in pairs by `cluster`, which takes all of them
    return [name for name in names if name != "similarity" or not study.for_pairs[1]]


FINDINGS = Findings(
    {
        "ranking": Home(
            "ranking.finding",
            "Who is better",
            "agents",
            "Dots are means, lines their intervals. Agents share tasks, so intervals may overlap "
            "where the tests find a significant difference.",
        ),
        "tasks": Home(
            "overview.finding",
            "Which tasks matter",
            "tasks",
            "The most informative tasks come first, below flagged ones. Click a task to see who solves "
            "it.",
            failed="No overview",
        ),
        "selection": Home(
            "comparison.finding",
            "How short can it be",
            "exam",
            "Move the slider: tasks are selected without the agents they are judged on.",
            failed="No selection",
            needs="held-out agents",
        ),
        "heatmap": Home(
            "heatmap.finding",
            "Agents × tasks",
            "evidence",
            "Each cell is one agent on one task. A row of one colour is a consistent agent, a "
            "column of one colour a task that does not discriminate.",
        ),
        "intervals": Home(
            "uncertainty.intervals",
            "Other averages",
            "evidence",
            "Dots are scores, lines their intervals.",
            failed="No intervals",
            default="scores",
        ),
        "strips": Home(
            "ranking.strips",
            "Scores on single tasks",
            "evidence",
            "Each row is an agent: small dots are its tasks, large marks its aggregates; further "
            "right is better.",
            failed="No strips",
            default="never",
        ),
        "rank_probabilities": Home(
            "distributions.rank_probabilities",
            "How certain the ranks are",
            "evidence",
            "A row shows which ranks an agent takes in bootstrap samples; one bright cell is a "
            "certain rank.",
            failed="No rank probabilities",
            default="never",
        ),
        "significance": Home(
            "significance.finding",
            "Which agents differ",
            "evidence",
            "Agents are drawn at their mean, best on the left; a bar joins agents that are not "
            "significantly different.",
            failed="No tests",
            default="never",
        ),
        "profiles": Home(
            "distributions.profiles",
            "Performance profiles",
            "evidence",
            "A line shows the share of an agent's scores above each value; higher is better.",
            failed="No profiles",
            default="scores",
        ),
        "cost": Home(
            "cost.finding",
            "Scores and their cost",
            "evidence",
            "Up is better and left is cheaper: no agent is above and to the left of one on the "
            "line.",
            failed="No Pareto front",
            needs="costs",
        ),
        "learning": Home(
            "learning.finding",
            "Learning curves",
            "evidence",
            "Lines rise as agents learn; where bands overlap, no agent is significantly better.",
            failed="No learning curves",
            needs="training",
        ),
        "curves": Home(
            "curves.finding",
            "Summaries of learning curves",
            "evidence",
            "Lines that cross are agents whose order depends on how learning is summarised.",
            failed="No summaries of learning",
            needs="training",
        ),
        "ability_generality": Home(
            "indicators.ability_generality",
            "Ability and generality",
            "evidence",
            "Further right is more able; a higher agent is better at everything that is easy for "
            "it and at nothing else.",
            needs="fit",
        ),
        "agent_curves": Home(
            "indicators.agent_curves",
            "Agent characteristic curves",
            "evidence",
            "A line falls where tasks become too difficult for its agent: further right is more "
            "able.",
            needs="fit",
        ),
        "information": Home(
            "information.finding",
            "Which tasks discriminate between agents",
            "evidence",
            "The higher a task's mark, or the longer its bar, the more its scores reveal about the "
            "agent.",
            failed="No information",
        ),
        "wright_map": Home(
            "tasks.wright_map",
            "Agents and tasks on one scale",
            "evidence",
            "An agent has even chances on tasks at its own height; gaps are abilities that no task "
            "measures well.",
            needs="fit",
        ),
        "task_curves": Home(
            "tasks.task_curves",
            "Task characteristic curves",
            "evidence",
            "A steep line separates strong from weak agents at the ability where it rises; a flat "
            "one does not.",
            needs="fit",
        ),
        "task_table": Home(
            "fit.finding",
            "Difficulty and discrimination",
            "evidence",
            "Further right is more difficult, higher discriminates more; a task at 0 does not "
            "discriminate.",
            needs="fit",
        ),
        "suspects": Home(
            "suspects.finding",
            "Flagged tasks",
            "evidence",
            "Crosses are flagged tasks: they correlate with the other tasks less, or more, than "
            "usual.",
            failed="No audit",
        ),
        "similarity": Home(
            "similarity.finding",
            "Similar tasks, and which agents could win",
            "evidence",
            "A blue block is a cluster of tasks that rank agents in a similar order: one of them could "
            "represent all.",
            failed="No clusters",
        ),
        "typology": Home(
            "typology.finding",
            "Kinds of task",
            "evidence",
            "Cells count the tasks that have both features; empty cells are kinds of task that are "
            "missing.",
            needs="classification",
        ),
        "editions": Home(
            "editions.finding",
            "Two editions",
            "evidence",
            "Agents on the dotted line kept their rank; those above it rank higher in this "
            "edition.",
            failed="No comparison of editions",
            needs="an earlier edition",
        ),
        "decision": Home(
            "uncertainty.decision",
            "More runs or more tasks?",
            "evidence",
            "Lower is more precise: move right along a line for more tasks, from line to line for "
            "more runs.",
            failed="No decision study",
        ),
        "next_task": Home(
            "next_task.finding",
            "Examining the next agent, task by task",
            "evidence",
            "The band is the interval of the agent's ability: it narrows with each task.",
            needs="fit",
        ),
        "reading": Home("reading.finding", "What was read", "end"),
    }
)
"""Name → where in this folder it is told. A new finding is one file, and one entry here."""

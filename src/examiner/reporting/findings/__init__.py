"""Sections of a report, one analysis per file; `FINDINGS` lists them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from examiner.messages import InputError
from examiner.reporting.finding import Finding, NothingToTellError, noted

if TYPE_CHECKING:
    from examiner.reporting.study import Need, Study


class Home(NamedTuple):
    """Where a finding is told: file and function, its title, its chapter, and what it says and needs.

    `reads` says in one sentence how its first figure, or its table, is read. `failed` is said before the
    reason where the analysis refuses the results: a report is made of the others. `needs` is what the
    study must have: without it, the file is not even loaded.
    """

    where: str
    title: str
    chapter: str = ""
    reads: str = ""
    failed: str = "Not available"
    needs: Need | None = None

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
        "agents": "The agents",
        "tasks": "The tasks",
        "exam": "The exam",
        "next": "The next agent",
        "end": "What this is based on",
    }
)
"""Chapter → its title, in the order of a report. Sections of one's own stand in the last but one."""

FINDINGS = Findings(
    {
        "ranking": Home(
            "ranking.finding",
            "Ranking",
            "agents",
            "Each row is an agent: small dots are its tasks, large marks its aggregates; further right is "
            "better.",
        ),
        "heatmap": Home(
            "heatmap.finding",
            "Agents × tasks",
            "agents",
            "Each cell is one agent on one task. A row of one colour is a consistent agent, "
            "a column of one "
            "colour a task that does not discriminate.",
        ),
        "intervals": Home(
            "uncertainty.intervals",
            "How certain the ranking is",
            "agents",
            "Dots are scores, lines their intervals. Agents share tasks, so intervals may "
            "overlap where the "
            "tests below find a significant difference.",
            "No intervals",
        ),
        "rank_probabilities": Home(
            "distributions.rank_probabilities",
            "How certain the ranks are",
            "agents",
            "A row shows which ranks an agent takes in bootstrap samples; one bright cell is "
            "a certain rank.",
            "No rank probabilities",
        ),
        "significance": Home(
            "significance.finding",
            "Which agents differ",
            "agents",
            "Agents are drawn at their mean, best on the left; a bar joins agents that are not "
            "significantly different.",
            "No tests",
        ),
        "profiles": Home(
            "distributions.profiles",
            "Performance profiles",
            "agents",
            "A line shows the share of an agent's scores above each value; higher is better.",
            "No profiles",
        ),
        "cost": Home(
            "cost.finding",
            "Scores and their cost",
            "agents",
            "Up is better and left is cheaper: no agent is above and to the left of one on the line.",
            "No Pareto front",
            "costs",
        ),
        "learning": Home(
            "learning.finding",
            "Learning curves",
            "agents",
            "Lines rise as agents learn; where bands overlap, no agent is significantly better.",
            "No learning curves",
            "training",
        ),
        "curves": Home(
            "curves.finding",
            "Summaries of learning curves",
            "agents",
            "Lines that cross are agents whose order depends on how learning is summarised.",
            "No summaries of learning",
            "training",
        ),
        "ability_generality": Home(
            "indicators.ability_generality",
            "Ability and generality",
            "agents",
            "Further right is more able; a higher agent is better at everything that is easy for it and at "
            "nothing else.",
            needs="fit",
        ),
        "agent_curves": Home(
            "indicators.agent_curves",
            "Agent characteristic curves",
            "agents",
            "A line falls where tasks become too difficult for its agent: further right is more able.",
            needs="fit",
        ),
        "information": Home(
            "information.finding",
            "Which tasks discriminate between agents",
            "tasks",
            "The higher a task's mark, or the longer its bar, the more its scores reveal about the agent.",
            "No information",
        ),
        "wright_map": Home(
            "tasks.wright_map",
            "Agents and tasks on one scale",
            "tasks",
            "An agent has even chances on tasks at its own height; gaps are abilities that "
            "no task measures well.",
            needs="fit",
        ),
        "task_curves": Home(
            "tasks.task_curves",
            "Task characteristic curves",
            "tasks",
            "A steep line separates strong from weak agents at the ability where it rises; a "
            "flat one does not.",
            needs="fit",
        ),
        "task_table": Home(
            "fit.finding",
            "Difficulty and discrimination",
            "tasks",
            "Further right is more difficult, higher discriminates more; a task at 0 does "
            "not discriminate.",
            needs="fit",
        ),
        "suspects": Home(
            "suspects.finding",
            "Flagged tasks",
            "tasks",
            "Crosses are flagged tasks: they correlate with the other tasks less, or more, than usual.",
            "No audit",
        ),
        "similarity": Home(
            "similarity.finding",
            "Similar tasks, and which agents could win",
            "tasks",
            "A blue block is a cluster of tasks that rank agents alike: one of them could represent all.",
            "No clusters",
        ),
        "typology": Home(
            "typology.finding",
            "Kinds of task",
            "tasks",
            "Cells count the tasks that have both features; empty cells are kinds of task "
            "that are missing.",
            needs="classification",
        ),
        "editions": Home(
            "editions.finding",
            "Two editions",
            "exam",
            "Agents on the dotted line kept their rank; those above it rank higher in this edition.",
            "No comparison of editions",
            "an earlier edition",
        ),
        "decision": Home(
            "uncertainty.decision",
            "More runs or more tasks?",
            "exam",
            "Lower is more precise: move right along a line for more tasks, from line to "
            "line for more runs.",
            "No decision study",
        ),
        "selection": Home(
            "comparison.finding",
            "How few tasks suffice",
            "exam",
            "The sooner a line comes near 1, the fewer tasks predict the mean of held-out agents.",
            "No selection",
            "held-out agents",
        ),
        "next_task": Home(
            "next_task.finding",
            "Examining the next agent, task by task",
            "next",
            "The band is the interval of the agent's ability: it narrows with each task.",
            needs="fit",
        ),
        "trial": Home(
            "trial.finding",
            "Try it",
            "next",
            "Move the slider, or tick tasks: ranks are predicted from the ticked tasks alone.",
            "No prediction",
            "held-out agents",
        ),
        "reading": Home("reading.finding", "What was read", "end"),
    }
)
"""Name → where in this folder it is told. A new finding is one file, and one entry here."""

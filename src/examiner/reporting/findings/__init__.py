"""What can be told of results, one analysis a file; `FINDINGS` lists the sections of a report in order."""

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
    failed: str = "It cannot be told"
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
        "end": "What this rests on",
    }
)
"""Chapter → its title, in the order of a report. Sections of one's own stand in the last but one."""

FINDINGS = Findings(
    {
        "ranking": Home(
            "ranking.finding",
            "Ranking",
            "agents",
            "Each row is an agent: small dots are its tasks, the large marks sum them up; further right is "
            "better.",
        ),
        "heatmap": Home(
            "heatmap.finding",
            "Agents × tasks",
            "agents",
            "Each cell is one agent on one task: a row of one colour is a steady agent, a column of one "
            "colour a task that tells nobody apart.",
        ),
        "intervals": Home(
            "uncertainty.intervals",
            "How sure the ranking is",
            "agents",
            "Dots are the scores, lines what they could have been by luck. Agents share tasks: lines may "
            "overlap where the tests below tell agents apart.",
            "No intervals",
        ),
        "rank_probabilities": Home(
            "distributions.rank_probabilities",
            "How sure the ranks are",
            "agents",
            "A row shows which ranks an agent takes when the results are drawn again; one bright cell is a "
            "sure rank.",
            "No rank probabilities",
        ),
        "significance": Home(
            "significance.finding",
            "Which agents differ",
            "agents",
            "Agents stand at their mean rank, the best on the left; a bar joins those that cannot be told "
            "apart.",
            "No tests",
        ),
        "profiles": Home(
            "distributions.profiles",
            "Performance profiles",
            "agents",
            "A line shows how much of an agent's scores lies above each value; higher is better.",
            "No profiles",
        ),
        "cost": Home(
            "cost.finding",
            "What scores cost",
            "agents",
            "Up is better and left is cheaper: agents on the line have nobody above and to the left.",
            "No front can be told",
            "costs",
        ),
        "learning": Home(
            "learning.finding",
            "Learning curves",
            "agents",
            "Lines rise as agents learn; where bands or grey runs overlap, nobody is shown to be ahead.",
            "No learning curves can be drawn",
            "training",
        ),
        "curves": Home(
            "curves.finding",
            "Learning curves summed up",
            "agents",
            "Lines that cross are agents whose order depends on how their learning is summed up.",
            "No summaries of learning",
            "training",
        ),
        "ability_generality": Home(
            "indicators.ability_generality",
            "Ability and generality",
            "agents",
            "Further right is abler; higher is good at all that is easy for it and at nothing else.",
            needs="fit",
        ),
        "agent_curves": Home(
            "indicators.agent_curves",
            "Curves of agents",
            "agents",
            "A line falls where tasks get too hard for its agent: the further right, the abler it is.",
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
            "An agent has even chances on tasks at its own height; gaps are abilities no task is made for.",
            needs="fit",
        ),
        "task_curves": Home(
            "tasks.task_curves",
            "Curves of tasks",
            "tasks",
            "A steep line parts the able from others at the ability where it rises; a flat one does not.",
            needs="fit",
        ),
        "task_table": Home(
            "fit.finding",
            "Difficulty and discrimination",
            "tasks",
            "Further right is harder; higher parts the able from others more sharply; at 0 it parts none.",
            needs="fit",
        ),
        "suspects": Home(
            "suspects.finding",
            "Tasks to look at",
            "tasks",
            "Crosses, if there are any, go with the other tasks less, or more, than is usual.",
            "No task can be suspected",
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
            "Cells count the tasks that have both features; empty ones are kinds of task the exam lacks.",
            needs="classification",
        ),
        "editions": Home(
            "editions.finding",
            "Two editions",
            "exam",
            "Agents on the dotted line kept their rank; those above it gained with this edition.",
            "Editions cannot be compared",
            "an earlier edition",
        ),
        "decision": Home(
            "uncertainty.decision",
            "More runs or more tasks?",
            "exam",
            "Lower is surer: go right along a line for more tasks, from line to line for more runs.",
            "No decision study",
        ),
        "selection": Home(
            "comparison.finding",
            "How few tasks are enough",
            "exam",
            "The sooner a line comes near 1, the fewer tasks tell the mean of agents not seen before.",
            "No few tasks can be chosen",
            "held-out agents",
        ),
        "next_task": Home(
            "next_task.finding",
            "The next agent, task by task",
            "next",
            "The band is what is not yet known of the agent: it narrows with each task asked.",
            needs="fit",
        ),
        "trial": Home(
            "trial.finding",
            "Try it",
            "next",
            "Move the slider, or tick tasks: ranks are those that the ticked tasks alone predict.",
            "No tasks can be tried",
            "held-out agents",
        ),
        "reading": Home("reading.finding", "What was read", "end"),
    }
)
"""Name → where in this folder it is told. A new finding is one file, and one entry here."""

"""What can be told of results, one analysis a file; `FINDINGS` lists the sections of a report in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from examiner.telling.finding import Finding, NothingToTellError, noted
from examiner.wording import InputError

if TYPE_CHECKING:
    from examiner.telling.study import Need, Study


class Home(NamedTuple):
    """Where a finding is told: file and function, its title, and what it says and needs.

    `failed` is said before the reason where the analysis refuses the results: a report is made of the
    others. `needs` is what the study must have: without it, the file is not even loaded.
    """

    where: str
    title: str
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
            return replace(home.tell(study), key=name, title=home.title)

        told.__name__ = name
        return told

    def __iter__(self) -> Iterator[str]:
        return iter(self.homes)

    def __len__(self) -> int:
        return len(self.homes)


FINDINGS = Findings(
    {
        "reading": Home("reading.finding", "What was read"),
        "ranking": Home("ranking.finding", "Ranking"),
        "heatmap": Home("heatmap.finding", "Agents × tasks"),
        "intervals": Home("uncertainty.intervals", "How sure the ranking is", "No intervals"),
        "profiles": Home("distributions.profiles", "Performance profiles", "No profiles"),
        "rank_probabilities": Home(
            "distributions.rank_probabilities", "How sure the ranks are", "No rank probabilities"
        ),
        "significance": Home("significance.finding", "Which agents differ", "No tests"),
        "decision": Home("uncertainty.decision", "More runs or more tasks?", "No decision study"),
        "cost": Home("cost.finding", "What scores cost", "No front can be told", "costs"),
        "learning": Home(
            "learning.finding", "Learning curves", "No learning curves can be drawn", "training"
        ),
        "curves": Home(
            "curves.finding", "Learning curves summed up", "No summaries of learning", "training"
        ),
        "wright_map": Home("tasks.wright_map", "Agents and tasks on one scale", needs="fit"),
        "task_curves": Home("tasks.task_curves", "Curves of tasks", needs="fit"),
        "task_table": Home("fit.finding", "Difficulty and discrimination", needs="fit"),
        "suspects": Home("suspects.finding", "Tasks to look at", "No task can be suspected"),
        "agent_curves": Home("indicators.agent_curves", "Curves of agents", needs="fit"),
        "ability_generality": Home(
            "indicators.ability_generality", "Ability and generality", needs="fit"
        ),
        "information": Home(
            "information.finding", "What tells agents apart", "No bits can be told"
        ),
        "likeness": Home(
            "likeness.finding",
            "Tasks that are alike, and who could be crowned",
            "No likeness can be told",
        ),
        "typology": Home("typology.finding", "Kinds of task", needs="classification"),
        "selection": Home(
            "comparison.finding",
            "How few tasks are enough",
            "No few tasks can be chosen",
            "held-out agents",
        ),
        "next_task": Home("next_task.finding", "The next agent, task by task", needs="fit"),
    }
)
"""Name → where in this folder it is told. A new finding is one file, and one line here."""

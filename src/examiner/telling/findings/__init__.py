"""What can be told of results, one analysis a file; `FINDINGS` lists the sections of a report in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from examiner.telling.finding import Finding

if TYPE_CHECKING:
    from examiner.telling.study import Study


class Findings(Mapping[str, "Callable[[Study], Finding]"]):
    """Names and the functions that tell, each loaded when it is asked for.

    >>> Findings({"ranking": "ranking.finding"})["ranking"].__name__
    'finding'
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)

    def __getitem__(self, name: str) -> Callable[[Study], Finding]:
        file, _, function = self._homes[name].partition(".")
        found: Callable[[Study], Finding] = getattr(import_module(f"{__name__}.{file}"), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


FINDINGS = Findings(
    {
        "reading": "reading.finding",
        "ranking": "ranking.finding",
        "heatmap": "heatmap.finding",
        "intervals": "intervals.finding",
        "profiles": "distributions.profiles",
        "rank_probabilities": "distributions.rank_probabilities",
        "significance": "significance.finding",
        "decision": "decision.finding",
        "curves": "curves.finding",
        "wright_map": "wright_map.finding",
        "task_curves": "task_curves.finding",
        "task_table": "fit.finding",
        "agent_curves": "indicators.agent_curves",
        "ability_generality": "indicators.ability_generality",
        "information": "information.finding",
        "likeness": "likeness.finding",
        "typology": "typology.finding",
        "selection": "comparison.finding",
        "next_task": "next_task.finding",
    }
)
"""Name → file and function in this folder. A new finding is one file, and one line here."""

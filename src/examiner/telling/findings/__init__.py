"""One file per section of a report; `FINDINGS` lists them in the order they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from examiner.telling.finding import Finding
from examiner.telling.findings.ability_generality import ability_generality
from examiner.telling.findings.agent_curves import agent_curves
from examiner.telling.findings.curves import curves
from examiner.telling.findings.decision import decision
from examiner.telling.findings.heatmap import heatmap
from examiner.telling.findings.information import information
from examiner.telling.findings.intervals import intervals
from examiner.telling.findings.likeness import likeness
from examiner.telling.findings.next_task import next_task
from examiner.telling.findings.profiles import profiles
from examiner.telling.findings.rank_probabilities import rank_probabilities
from examiner.telling.findings.ranking import ranking
from examiner.telling.findings.reading import reading
from examiner.telling.findings.selection import selection
from examiner.telling.findings.significance import significance
from examiner.telling.findings.task_curves import task_curves
from examiner.telling.findings.task_table import task_table
from examiner.telling.findings.typology import typology
from examiner.telling.findings.wright_map import wright_map
from examiner.telling.study import Study

FINDINGS: Mapping[str, Callable[[Study], Finding]] = MappingProxyType(
    {
        "reading": reading,
        "ranking": ranking,
        "heatmap": heatmap,
        "intervals": intervals,
        "profiles": profiles,
        "rank_probabilities": rank_probabilities,
        "significance": significance,
        "decision": decision,
        "curves": curves,
        "wright_map": wright_map,
        "task_curves": task_curves,
        "task_table": task_table,
        "agent_curves": agent_curves,
        "ability_generality": ability_generality,
        "information": information,
        "likeness": likeness,
        "typology": typology,
        "selection": selection,
        "next_task": next_task,
    }
)
"""Name → section. A new one is one file in this folder and one line here."""

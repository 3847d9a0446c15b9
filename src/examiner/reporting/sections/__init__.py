"""One file per section of a report; `SECTIONS` lists them in the order they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from examiner.reporting.section import Section
from examiner.reporting.sections.ability_generality import ability_generality
from examiner.reporting.sections.agent_curves import agent_curves
from examiner.reporting.sections.curves import curves
from examiner.reporting.sections.decision import decision
from examiner.reporting.sections.heatmap import heatmap
from examiner.reporting.sections.information import information
from examiner.reporting.sections.intervals import intervals
from examiner.reporting.sections.likeness import likeness
from examiner.reporting.sections.next_task import next_task
from examiner.reporting.sections.profiles import profiles
from examiner.reporting.sections.rank_probabilities import rank_probabilities
from examiner.reporting.sections.ranking import ranking
from examiner.reporting.sections.reading import reading
from examiner.reporting.sections.selection import selection
from examiner.reporting.sections.significance import significance
from examiner.reporting.sections.task_curves import task_curves
from examiner.reporting.sections.task_table import task_table
from examiner.reporting.sections.typology import typology
from examiner.reporting.sections.wright_map import wright_map
from examiner.reporting.study import Study

SECTIONS: Mapping[str, Callable[[Study], Section]] = MappingProxyType(
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

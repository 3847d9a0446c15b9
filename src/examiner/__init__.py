"""Examine your agents, and your exam.

A table of results (agents × tasks × trials) says as much about the tasks as about the agents.

>>> import examiner as ex
>>> results = ex.load("atari-dqn-family")
>>> scores = ex.normalise(results, "human")  # 1.0 is human

Names are loaded when first used, so that `import examiner` costs next to nothing.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from examiner.datasets import DATASETS, PublishedTable, card, load
    from examiner.importers import (
        FORMATS,
        TaskTable,
        read,
        read_agents,
        read_classification,
        read_scales,
        read_tasks,
    )
    from examiner.information import (
        Channels,
        Noise,
        analyse_information,
        analyse_likeness,
        channels,
        cluster_tasks,
        confusion_matrix,
        crown_agents,
        deceptive_tasks,
        general_factor,
        information_gain,
        informative_set,
        opposed_tasks,
        pair_separation,
        separated_by,
        set_information,
        task_factors,
        task_redundancy,
    )
    from examiner.reporting import SECTIONS, Report, report
    from examiner.results import (
        WRITERS,
        Attributes,
        Classification,
        ExaminerWarning,
        InputError,
        Provenance,
        ResponseMatrix,
        Results,
        Scales,
        TaskScale,
        atari_game,
        atari_games,
        write,
    )
    from examiner.scores import (
        AGGREGATES,
        NORMALISERS,
        agent_aggregates,
        aggregate_intervals,
        decision_study,
        default_reduction,
        improvement_matrix,
        learning_curves,
        mark_success,
        near_identical_agents,
        normalise,
        paired_difference,
        performance_profiles,
        probability_of_improvement,
        rank_probabilities,
        reduce_runs,
        responses,
        sample_efficiency,
        significance,
        task_correlation,
        variance_components,
        without_near_identical_agents,
    )
    from examiner.typology import (
        SCHEMAS,
        Kinds,
        Schema,
        TaskGroup,
        Validation,
        adjusted_rand,
        conform,
        group_tasks,
        one_of_each,
        task_clusters,
        task_coverage,
        task_kinds,
        validate_groups,
    )

__version__ = "0.1.0"

_ROOMS = MappingProxyType(
    {
        "datasets": ("DATASETS", "PublishedTable", "card", "load"),
        "importers": (
            "FORMATS",
            "TaskTable",
            "read",
            "read_agents",
            "read_classification",
            "read_scales",
            "read_tasks",
        ),
        "information": (
            "Channels",
            "Noise",
            "analyse_information",
            "analyse_likeness",
            "channels",
            "cluster_tasks",
            "confusion_matrix",
            "crown_agents",
            "deceptive_tasks",
            "general_factor",
            "information_gain",
            "informative_set",
            "opposed_tasks",
            "pair_separation",
            "separated_by",
            "set_information",
            "task_factors",
            "task_redundancy",
        ),
        "reporting": ("SECTIONS", "Report", "report"),
        "results": (
            "WRITERS",
            "Attributes",
            "Classification",
            "ExaminerWarning",
            "InputError",
            "Provenance",
            "ResponseMatrix",
            "Results",
            "Scales",
            "TaskScale",
            "atari_game",
            "atari_games",
            "write",
        ),
        "scores": (
            "AGGREGATES",
            "NORMALISERS",
            "agent_aggregates",
            "aggregate_intervals",
            "decision_study",
            "default_reduction",
            "improvement_matrix",
            "learning_curves",
            "mark_success",
            "near_identical_agents",
            "normalise",
            "paired_difference",
            "performance_profiles",
            "probability_of_improvement",
            "rank_probabilities",
            "reduce_runs",
            "responses",
            "sample_efficiency",
            "significance",
            "task_correlation",
            "variance_components",
            "without_near_identical_agents",
        ),
        "typology": (
            "SCHEMAS",
            "Kinds",
            "Schema",
            "TaskGroup",
            "Validation",
            "adjusted_rand",
            "conform",
            "group_tasks",
            "one_of_each",
            "task_clusters",
            "task_coverage",
            "task_kinds",
            "validate_groups",
        ),
    }
)
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "AGGREGATES",
    "DATASETS",
    "FORMATS",
    "NORMALISERS",
    "SCHEMAS",
    "SECTIONS",
    "WRITERS",
    "Attributes",
    "Channels",
    "Classification",
    "ExaminerWarning",
    "InputError",
    "Kinds",
    "Noise",
    "Provenance",
    "PublishedTable",
    "Report",
    "ResponseMatrix",
    "Results",
    "Scales",
    "Schema",
    "TaskGroup",
    "TaskScale",
    "TaskTable",
    "Validation",
    "adjusted_rand",
    "agent_aggregates",
    "aggregate_intervals",
    "analyse_information",
    "analyse_likeness",
    "atari_game",
    "atari_games",
    "card",
    "channels",
    "cluster_tasks",
    "conform",
    "confusion_matrix",
    "crown_agents",
    "deceptive_tasks",
    "decision_study",
    "default_reduction",
    "general_factor",
    "group_tasks",
    "improvement_matrix",
    "information_gain",
    "informative_set",
    "learning_curves",
    "load",
    "mark_success",
    "near_identical_agents",
    "normalise",
    "one_of_each",
    "opposed_tasks",
    "pair_separation",
    "paired_difference",
    "performance_profiles",
    "probability_of_improvement",
    "rank_probabilities",
    "read",
    "read_agents",
    "read_classification",
    "read_scales",
    "read_tasks",
    "reduce_runs",
    "report",
    "responses",
    "sample_efficiency",
    "separated_by",
    "set_information",
    "significance",
    "task_clusters",
    "task_correlation",
    "task_coverage",
    "task_factors",
    "task_kinds",
    "task_redundancy",
    "validate_groups",
    "variance_components",
    "without_near_identical_agents",
    "write",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'examiner' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"examiner.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

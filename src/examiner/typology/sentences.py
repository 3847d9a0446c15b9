"""What a validation of groups means, and what its p-values cannot show, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from examiner.messages import counted, listed
from examiner.typology.pair_tests import smallest_wilcoxon_p

if TYPE_CHECKING:
    from examiner.typology.validation import Validation


def sentences(validation: Validation) -> tuple[str, ...]:
    """Return sentences about tests, distances, clusters, and what was excluded.

    >>> from examiner.results import Results
    >>> from examiner.typology import TaskGroup, validate as validate_groups
    >>> results = Results.from_numpy([[0.1, 0.2], [0.2, 0.5], [0.3, 0.3]])
    >>> groups = [TaskGroup((), ("task 1", "task 2"))]
    >>> validate_groups(groups, results).notes[0][:42]
    'A small p-value means that two tasks diffe'
    """
    return (
        *_tests(validation),
        *_distances(validation),
        *_clusters(validation),
        *_gaps(validation),
    )


def _tests(validation: Validation) -> list[str]:
    within, between = validation.within, validation.between
    notes = []
    if within.pairs and between.pairs:
        notes.append(
            f"The mean p-value is {within.mean_p:.3g} within groups ({counted(within.pairs, 'pair')} "
            f"of tasks) and {between.mean_p:.3g} between groups ({counted(between.pairs, 'pair')})."
        )
        notes.append(
            f"The median difference of two tasks is {within.effect:.2f} standard deviations within groups "
            f"and {between.effect:.2f} between groups."
        )
    agents = len(validation.agents)
    notes.append(
        f"A small p-value means that two tasks differ; a large one does not mean that they are similar: "
        f"with {counted(agents, 'agent')} only large differences are detected, and Wilcoxon's test cannot "
        f"go below {smallest_wilcoxon_p(agents):.2g}."
    )
    if validation.relative_scores:
        notes.append(
            "Every task has nearly the same mean score, as after a normaliser that only compares "
            "agents with each other: these tests are then meaningless. Use 'random-only' or 'human'."
        )
    return notes


def _distances(validation: Validation) -> list[str]:
    test = validation.permutation
    if not math.isfinite(test.p_value):
        return []
    notes = [
        f"The mean distance of tasks is {test.within:.3g} within groups and {test.expected:.3g} within "
        f"random groups; a pair within a group is closer than one between groups with probability "
        f"{test.nearer:.2f}."
    ]
    if test.groupings < 20:
        notes.append(
            f"There are only {test.groupings:.0f} groupings of these sizes, so the p-value cannot be "
            f"below {1 / test.groupings:.2g}."
        )
    return notes


def _clusters(validation: Validation) -> list[str]:
    agreement = validation.agreement
    if agreement is None:
        return []
    interval = ""
    if math.isfinite(agreement.low):
        interval = (
            f" ({100 * agreement.confidence:.0f} % interval over agents "
            f"{_two_digits(agreement.low)} to {_two_digits(agreement.high)})"
        )
    return [
        f"Groups and clusters of tasks that rank agents similarly have an adjusted Rand index of "
        f"{_two_digits(agreement.adjusted_rand)}{interval}: 1 is the same partition, 0 is chance."
    ]


def _two_digits(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # adding zero turns -0.0 into 0.0


def _gaps(validation: Validation) -> list[str]:
    notes = []
    if validation.unmatched:
        notes.append(f"Classified, but without results: {listed(validation.unmatched)}.")
    if validation.unclassified:
        notes.append(f"With results, but not classified: {listed(validation.unclassified)}.")
    if validation.missing_cells:
        notes.append(
            f"Missing: {counted(validation.missing_cells, 'cell')}. Two tasks are compared over the agents "
            f"observed on both."
        )
    if validation.untested_pairs:
        notes.append(
            f"Not tested, with fewer than 3 agents in common: "
            f"{counted(validation.untested_pairs, 'pair')} of tasks."
        )
    return notes

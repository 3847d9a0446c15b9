"""What a validation of groups says, and what its p-values cannot, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from examiner.messages import counted, listed
from examiner.typology.agreement import SMALL_P
from examiner.typology.pair_tests import smallest_wilcoxon_p

if TYPE_CHECKING:
    from examiner.typology.validation import Validation

FEW_GROUPINGS = 20


def sentences(validation: Validation) -> tuple[str, ...]:
    """Return the verdict: tests, what they cannot say, distances, clusters, and what was left out.

    >>> from examiner.results import Results
    >>> from examiner.typology import TaskGroup, validate as validate_groups
    >>> results = Results.from_numpy([[0.1, 0.2], [0.2, 0.5], [0.3, 0.3]])
    >>> groups = [TaskGroup((), ("task 1", "task 2"))]
    >>> validate_groups(groups, results, rng=0).says[0]
    'All 2 tasks are in one group: there are no other groups to compare it with.'
    """
    return (
        *_tests(validation),
        *_distances(validation),
        *_clusters(validation),
        *_gaps(validation),
    )


def _tests(validation: Validation) -> list[str]:
    within, between = validation.within, validation.between
    tasks, agents = counted(len(validation.tasks), "task"), len(validation.agents)
    said = []
    if not validation.groups:
        said.append(f"No two of the {tasks} are in one group: there is nothing to validate.")
    elif len(validation.groups) == 1 and len(validation.groups[0].tasks) == len(validation.tasks):
        said.append(f"All {tasks} are in one group: there are no other groups to compare it with.")
    elif within.pairs and between.pairs:
        said.append(
            f"The mean p-value is {within.mean_p:.3g} within groups ({counted(within.pairs, 'pair')} "
            f"of tasks) and {between.mean_p:.3g} between groups ({counted(between.pairs, 'pair')})."
        )
        said.append(
            f"Half of the pairs within groups differ by more than {within.effect:.2f} standard "
            f"deviations, half of those between groups by more than {between.effect:.2f}."
        )
    said.append(
        f"A small p-value says that two tasks differ; a large one does not say that they are alike: "
        f"with {counted(agents, 'agent')} only large differences are seen, and Wilcoxon's test, as "
        f"used here, cannot go below {smallest_wilcoxon_p(agents):.2g}."
    )
    if validation.relative_scores:
        said.append(
            "Every task has nearly the same mean score, as after a normaliser that only compares "
            "agents with each other: these tests then say nothing. Use 'random-only' or 'human'."
        )
    return said


def _distances(validation: Validation) -> list[str]:
    test = validation.permutation
    if not math.isfinite(test.p_value):
        return []
    near = "nearer to each other" if test.p_value <= SMALL_P else "not clearly nearer to each other"
    said = [
        f"Tasks of one group are {near} than tasks drawn at random: mean distance {test.within:.3g} "
        f"within groups, {test.expected:.3g} by chance (permutation test, p = {test.p_value:.2g}); a "
        f"pair within a group is nearer than one between groups with probability {test.nearer:.2f}."
    ]
    if test.groupings < FEW_GROUPINGS:
        said.append(
            f"Groups of these sizes can be drawn in {test.groupings:.0f} ways only, so that the "
            f"p-value cannot be below {1 / test.groupings:.2g}."
        )
    return said


def _clusters(validation: Validation) -> list[str]:
    agreement = validation.agreement
    if agreement is None:
        return []
    interval = ""
    if math.isfinite(agreement.low):
        interval = (
            f" ({agreement.confidence:.0%} interval over agents "
            f"{_two_digits(agreement.low)} to {_two_digits(agreement.high)})"
        )
    return [
        f"Groups and clusters of tasks that rank agents alike have an adjusted Rand index of "
        f"{_two_digits(agreement.adjusted_rand)}{interval}: 1 is the same partition, 0 is chance."
    ]


def _two_digits(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # adding zero turns -0.0 into 0.0


def _gaps(validation: Validation) -> list[str]:
    said = []
    if validation.unmatched:
        said.append(f"Classified, but without results: {listed(validation.unmatched)}.")
    if validation.unclassified:
        said.append(f"With results, but not classified: {listed(validation.unclassified)}.")
    if validation.missing_cells:
        said.append(
            f"{counted(validation.missing_cells, 'cell')} missing: two tasks are compared over the "
            f"agents observed on both."
        )
    if validation.untested_pairs:
        said.append(
            f"{counted(validation.untested_pairs, 'pair')} of tasks with fewer than 3 agents in "
            f"common could not be tested."
        )
    return said

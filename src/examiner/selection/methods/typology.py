"""One task of each kind."""

from __future__ import annotations

import numpy as np

from examiner.selection.constraints import codes_of
from examiner.selection.evidence import Evidence
from examiner.selection.representatives import likeness, one_of_each_group
from examiner.selection.task_set import TaskSet


def typology(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Take a task of each group of a classification, the largest groups first (papers/000, step 5).

    The paper draws the task of a group at random; here it is the one most like the rest of its group.
    Needs `evidence.groups`; draws nothing at random.
    """
    evidence.needed("typology", "groups")
    assert evidence.groups is not None
    label = codes_of(evidence.groups)
    return one_of_each_group(evidence, size, label, likeness(evidence.values), "typology")

"""The tasks that measure ability best over the abilities there are."""

from __future__ import annotations

import numpy as np

from examiner.irt import information as fisher_information
from examiner.selection.constraints import Array
from examiner.selection.evidence import Evidence
from examiner.selection.greedy import grow
from examiner.selection.task_set import TaskSet


def fisher(evidence: Evidence, size: int, rng: np.random.Generator) -> TaskSet:
    r"""Add the task that most increases the information over the distribution of abilities.

    .. math:: \int w(\theta) \log\Big(1 + \sum_j I_j(\theta)\Big) d\theta

    The weight w is that of the agents' abilities themselves. The logarithm lets a task that measures
    where nothing measures yet gain more than one beside many. Needs `evidence.items` and
    `evidence.ability`; draws nothing at random.
    """
    evidence.needed("fisher", "items")
    evidence.needed("fisher", "ability")
    assert evidence.items is not None
    assert evidence.ability is not None
    information = fisher_information(evidence.items, evidence.ability)  # [agents, tasks]

    def gains(chosen: list[int]) -> Array:
        held = 1.0 + information[:, chosen].sum(axis=1, keepdims=True)
        gained: Array = np.log1p(information / held).mean(axis=0)
        return gained

    return grow(evidence, size, gains, method="fisher", unit="mean log information")

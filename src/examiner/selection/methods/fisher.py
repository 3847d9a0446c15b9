"""The tasks that measure ability best over the abilities there are."""

from __future__ import annotations

import numpy as np

from examiner.irt import fisher_information
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, grow
from examiner.validation import Floats


def fisher(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    r"""Add the task that most increases the information over the distribution of abilities.

    .. math:: \int w(\theta) \log\Big(1 + \sum_j I_j(\theta)\Big) d\theta

    The weight w is that of the agents' abilities themselves. The logarithm lets a task that measures
    where nothing measures yet gain more than one next to many. Needs `evidence.items` and
    `evidence.ability`; draws nothing at random.
    """
    items, ability = (evidence.needed("fisher", what) for what in ("items", "ability"))
    information = fisher_information(items, ability)  # [agents, tasks]

    def gains(chosen: list[int]) -> Floats:
        present = 1.0 + information[:, chosen].sum(axis=1, keepdims=True)
        return np.asarray(np.log1p(information / present).mean(axis=0))

    return grow(evidence, size, gains, method="fisher", unit="mean log information")

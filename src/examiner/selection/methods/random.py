"""Tasks drawn at random: the baseline."""

from __future__ import annotations

import numpy as np

from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, check_size, grow, selection_of
from examiner.validation import Floats


def random(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Draw tasks without looking at results; lots are dealt in an order by content."""
    lots = rng.random(len(evidence.tasks))[evidence.task_rank]
    terms = evidence.terms
    if terms.free:
        columns = np.argsort(-lots, kind="stable")[: check_size(evidence, size)].tolist()
        return selection_of(evidence, columns, lots[columns], method="random", unit="lot drawn")
    blind = lots * terms.cost  # expensive tasks are drawn as often as cheap ones

    def gains(chosen: list[int]) -> Floats:
        return blind

    return grow(evidence, size, gains, method="random", unit="lot drawn")

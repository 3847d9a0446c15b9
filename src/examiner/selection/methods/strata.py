"""One discriminating task of each stratum of difficulty: for agents that are better than today's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.scores import correlate_pairs
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, check_size, grow
from examiner.validation import Floats


def strata(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    r"""Split tasks into strata of equal size by difficulty, and choose a discriminating task of each.

    Strata keep hard tasks, and the set represents all tasks for any agent. Of the m tasks of a
    stratum, the one of rank :math:`\sqrt m` in its correlation with the mean of all other tasks is chosen,
    the root rounded down and up in turn. The tasks that discriminate most between today's agents are those
    that nearly all better agents solve, which matters most where many tasks leave little other error
    (`benchmarks/newer_agents.py`). Draws nothing at random.
    """
    number = size = check_size(evidence, size)
    values, terms = evidence.values, evidence.terms
    if terms.budget is not None:  # about as many strata as tasks can be paid for
        affordable = terms.budget / float(terms.cost[terms.offered].mean())
        number = int(np.clip(affordable, 1, size))
    total, tasks = values.sum(axis=1), values.shape[1]
    others = (total[:, None] - values) / max(tasks - 1, 1)
    discrimination = np.nan_to_num(correlate_pairs(values, others)[0])
    order = np.lexsort((evidence.task_rank, -values.mean(axis=0)))
    order = order[terms.offered[order]]
    stratum, distance = np.full(tasks, -1), np.zeros(tasks)
    ends = np.linspace(0, len(order), number + 1).round().astype(np.intp)[1:-1]
    for place, members in enumerate(np.split(order, ends)):
        stratum[members] = place
        steepest = members[np.argsort(-discrimination[members], kind="stable")]
        root = np.sqrt(len(members))
        wanted = max(int(np.ceil(root) if place % 2 else root), 1) - 1
        distance[steepest] = np.abs(np.arange(len(members)) - wanted)

    def gains(chosen: list[int]) -> Floats:
        """Strata that have no task yet come first, in them the tasks nearest to the rank."""
        filled = np.bincount(stratum[chosen], minlength=number)[stratum]
        return np.asarray(1.0 / (1 + filled) + 1e-3 / (1 + distance))

    grown = grow(evidence, size, gains, method="strata", unit="correlation with the other tasks")
    return replace(grown, gain=discrimination[list(grown.columns)])

"""One discriminating task of each stratum of difficulty: for agents that are better than those seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.scores import correlate_pairs
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, check_size, grow
from examiner.validation import Floats

CANDIDATES = 0.25
"""The share of a stratum that is considered: the steepest of all tasks among today's agents would be
solved by all better ones (`benchmarks/newer_agents.py`)."""


def strata(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Split tasks into strata of equal size by difficulty, and choose a discriminating task of each.

    Tasks that covary among the agents seen are those that all better agents solve. Strata keep hard
    tasks, and the set stands for all tasks whoever is examined. Of a quarter of a stratum's tasks, taken
    in an order by content, the one that correlates most with the mean of all other tasks is chosen. Draws
    nothing at random.
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
    stratum, candidate = np.full(tasks, -1), np.zeros(tasks, dtype=np.bool_)
    ends = np.linspace(0, len(order), number + 1).round().astype(np.intp)[1:-1]
    for place, members in enumerate(np.split(order, ends)):
        stratum[members] = place
        by_content = members[np.argsort(evidence.task_rank[members])]
        candidate[by_content[: int(np.ceil(CANDIDATES * len(members)))]] = True

    def gains(chosen: list[int]) -> Floats:
        """Strata that have no task yet come first, in them the candidates."""
        filled = np.bincount(stratum[chosen], minlength=number)[stratum]
        return np.asarray(1.0 / (1 + filled) + (candidate + (1 + discrimination) / 4) / 100)

    found = grow(evidence, size, gains, method="strata", unit="correlation with the other tasks")
    return replace(found, gain=discrimination[list(found.columns)])

"""All that is told about likeness at once: clusters, the general factor, disagreement, crowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from examiner.information.clusters import PAPER_THRESHOLD, Linkage, TaskClusters
from examiner.information.clusters import clusters as cluster_tasks
from examiner.information.crowning import Crowning
from examiner.information.crowning import crowns as crown_agents
from examiner.information.decomposition import GeneralFactor, general_factor
from examiner.information.disagreement import (
    DeceptiveTasks,
    OpposedTasks,
)
from examiner.information.disagreement import (
    deceptive as deceptive_tasks,
)
from examiner.information.disagreement import (
    opposed as opposed_tasks,
)
from examiner.information.sets import Progress
from examiner.results import Results
from examiner.scores.likeness import Method
from examiner.wording import InputError, shorten


@dataclass(frozen=True, slots=True, eq=False)
class LikenessAnalysis:
    """Clusters of tasks for each measure; the rest is about the first measure.

    `deceptive` is None where there is no score beside a win.
    """

    clusters: Mapping[str, TaskClusters]
    factor: GeneralFactor
    opposed: OpposedTasks
    deceptive: DeceptiveTasks | None
    crowning: Crowning
    notes: tuple[str, ...]

    @property
    def main(self) -> TaskClusters:
        """The clusters by the first measure."""
        return next(iter(self.clusters.values()))


def likeness(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: np.random.Generator,
    method: Method = "pearson",
    linkage: Linkage = "average",
    threshold: float = PAPER_THRESHOLD,
    number: int | Literal["auto"] | None = None,
    size: int | None = None,
    progress: Progress | None = None,
) -> LikenessAnalysis:
    """Tell which tasks are alike, how much of the table is one factor, and who could be crowned.

    The options are those of `cluster_tasks` and, for `size`, of `crown_agents`.

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 5.0, 1.0], [4.0, 8.0, 0.0]])
    >>> found = likeness(Results.from_numpy(scores, tasks="tuv"), rng=np.random.default_rng(0))
    >>> found.main.clusters, found.crowning.crownable
    ((('t', 'u'), ('v',)), 1)
    """
    if len(results.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(results.agents[0])}, and likeness of tasks is seen across "
            f"agents. Give results of at least three."
        )
    names = tuple(dict.fromkeys(results.measure_name(one) for one in measures or results.measures))
    streams = rng.spawn(2)
    clusters = {
        name: cluster_tasks(
            *(results, name), method=method, linkage=linkage, threshold=threshold, number=number
        )
        for name in names
    }
    factor = general_factor(results, names[0], rng=streams[0], method=method)
    crowning = crown_agents(results, names[0], rng=streams[1], size=size, progress=progress)
    notes = dict.fromkeys(note for one in clusters.values() for note in one.notes)
    return LikenessAnalysis(
        MappingProxyType(clusters),
        factor,
        opposed_tasks(results, names[0]),
        deceptive_tasks(results),
        crowning,
        (*notes, *crowning.notes),
    )

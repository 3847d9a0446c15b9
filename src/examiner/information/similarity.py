"""The analysis of similarity: clusters of tasks, the general factor, and who could be made to win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, flag, name, number, text, words
from examiner.information.cluster_chance import tested
from examiner.information.clusters import PAPER_THRESHOLD, TaskClusters
from examiner.information.clusters import clusters as cluster_tasks
from examiner.information.disagreement import DeceptiveTasks, OpposedTasks, win_of
from examiner.information.disagreement import deceptive as deceptive_tasks
from examiner.information.disagreement import opposed as opposed_tasks
from examiner.information.favourable import FavourableTasks, favourable_tasks
from examiner.information.general_factor import GeneralFactor, general_factor
from examiner.messages import InputError, counted, shorten
from examiner.results import Results, reads_results
from examiner.scores import Linkage, Method, PermutationTest, Progress, judged_runs
from examiner.validation import Floats, Randomness, generator


class SignificantClusters(Table):
    """Significant clusters of tasks, in the order of a heat map, by each measure."""

    cluster: tuple[str, ...] = name("Number of the cluster")
    measure: tuple[str, ...] = text("Measure")
    size: NDArray[np.int64] = count("Tasks in the cluster")
    tasks: tuple[tuple[str, ...], ...] = words("Tasks in the cluster")


class SimilarTasks(Table):
    """Tasks in the order of a heat map, by the first measure."""

    task: tuple[str, ...] = name("Task")
    cluster: tuple[str, ...] = text("Number of its significant cluster, if any")
    correlation: Floats = number("Correlation with the mean of all other tasks, over agents")
    p_value: Floats = number("One-sided p-value of a negative correlation (t test)")
    opposed: NDArray[np.bool_] = flag("Ranks agents significantly against the other tasks")
    deceptive: NDArray[np.bool_] | None = flag(
        "Agents that win more score significantly less", default=None
    )


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityAnalysis(Answer):
    """Clusters of tasks by each measure; all else is about the first measure.

    `deceptive` is None where there is no score next to a win.
    """

    kind = "cluster"

    clusters_by: Mapping[str, TaskClusters]
    factor: GeneralFactor
    opposition: OpposedTasks
    deception: DeceptiveTasks | None
    favourable: FavourableTasks
    seed: int | None
    notes: tuple[str, ...]

    @property
    def main(self) -> TaskClusters:
        """The clusters by the first measure."""
        return next(iter(self.clusters_by.values()))

    @property
    def test(self) -> PermutationTest:
        """Whether tasks correlate significantly."""
        assert self.main.test is not None
        return self.main.test

    @property
    def opposed(self) -> tuple[str, ...]:
        """Tasks that rank agents against the others, where tasks correlate significantly at all."""
        return self.opposition.opposed if self.test.significant else ()

    @property
    def deceptive(self) -> tuple[str, ...]:
        """Tasks on which agents that win more score significantly less."""
        return () if self.deception is None else self.deception.deceptive

    @property
    def unclustered(self) -> int:
        """Number of tasks in no significant cluster."""
        return len(self.main.task_names) - sum(map(len, self.main.significant))

    @property
    def headline(self) -> str:
        """Whether tasks form clusters."""
        significant = self.main.significant
        if not significant:
            return f"Tasks form no significant clusters ({self.test.words})."
        tasks = counted(len(self.main.task_names), "task")
        together = tasks if not self.unclustered else f"{sum(map(len, significant)):,} of {tasks}"
        if len(significant) == 1:
            return f"{together} form one significant cluster ({self.test.words})."
        largest = counted(max(map(len, significant)), "task")
        return (
            f"{together} form {len(significant):,} significant clusters, the largest of {largest} "
            f"({self.test.words})."
        )

    @cached_property
    def clusters(self) -> SignificantClusters:
        """The significant clusters."""
        rows = [
            (number, measure, names)
            for measure, part in self.clusters_by.items()
            for number, names in enumerate(part.significant, 1)
        ]
        return SignificantClusters(
            cluster=[number for number, _, _ in rows],
            measure=[measure for _, measure, _ in rows],
            size=[len(names) for _, _, names in rows],
            tasks=[names for _, _, names in rows],
        )

    @cached_property
    def tasks(self) -> SimilarTasks:
        """The tasks with their cluster, and how they correlate with the others."""
        main = self.main
        number_of = {
            task: number for number, names in enumerate(main.significant, 1) for task in names
        }
        names = [main.task_names[column] for column in main.order]
        rows = {row.task: row for row in self.opposition.tasks}
        return SimilarTasks(
            task=names,
            cluster=[number_of.get(task, "") for task in names],
            correlation=[rows[task].correlation for task in names],
            p_value=[rows[task].p_value for task in names],
            opposed=[task in self.opposed for task in names],
            deceptive=None
            if self.deception is None
            else [task in self.deceptive for task in names],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Clusters, tasks, the general factor and agents."""
        return {
            "clusters": self.clusters,
            "tasks": self.tasks,
            "statistics": self.factor.statistics,
            "agents": self.favourable.agents,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Single values of the clusters, and numbers of agents."""
        main = self.main
        return {
            "p_value": Scalar(self.test.p_value, "Permutation test of whether tasks correlate"),
            "suggested_clusters": Scalar(
                main.suggested if main.significant else None,
                "Number of clusters with the best silhouette",
            ),
            "silhouette": Scalar(main.silhouette, "Mean silhouette of all clusters"),
            **self.favourable.scalars,
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """What must be repeated to get the same numbers."""
        main = self.main
        return {
            "seed": self.seed,
            "measures": tuple(self.clusters_by),
            "correlation": main.method,
            "linkage": main.linkage,
            "threshold": main.threshold if main.number is None else None,
            "number": main.number,
            "permutations": self.test.permutations,
            "size": self.favourable.size,
            "favourable_test": self.favourable.test,
        }


@reads_results
def similarity(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: Randomness = 0,
    size: int | None = None,
    method: Method = "pearson",
    linkage: Linkage = "average",
    threshold: float = PAPER_THRESHOLD,
    number: int | Literal["auto"] | None = None,
    progress: Progress | None = None,
) -> SimilarityAnalysis:
    """Return which tasks are similar, how much one factor explains, and who could be made to win.

    Clusters and winners are compared with chance: see `cluster_chance.tested` and `favourable_tasks`, to
    which `size` belongs. `method` is that of all correlations; it and the options after it are those of
    `clusters`.

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 5.0, 1.0], [4.0, 8.0, 0.0]])
    >>> analysis = similarity(Results.from_numpy(scores, tasks="tuv"))
    >>> analysis.main.members, analysis.main.significant, analysis.favourable.winners
    ((('t', 'u'), ('v',)), (('t', 'u'),), ())
    """
    results = judged_runs(results)  # once, for all parts
    if len(results.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(results.agents[0])}, and similarity of tasks is measured across "
            f"agents. Give results of at least three."
        )
    names = tuple(
        dict.fromkeys(results.measure_name(name) for name in measures or results.measures)
    )
    for_factor, for_winners, for_clusters = generator(rng).spawn(3)
    clusters_by = {}
    for one in names:
        part = cluster_tasks(
            results, one, method=method, linkage=linkage, threshold=threshold, number=number
        )
        clusters_by[one] = tested(part, results, for_clusters)
    factor = general_factor(results, names[0], rng=for_factor, method=method)
    favourable = favourable_tasks(results, names[0], rng=for_winners, size=size, progress=progress)
    notes = dict.fromkeys(note for part in clusters_by.values() for note in part.notes)
    return SimilarityAnalysis(
        clusters_by,
        factor,
        opposed_tasks(results, names[0]),
        None if win_of(results) is None else deceptive_tasks(results),
        favourable,
        rng if isinstance(rng, int) else None,
        (*notes, *favourable.notes),
    )

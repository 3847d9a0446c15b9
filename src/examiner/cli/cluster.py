"""`examiner cluster`: which tasks are similar, and how much of a benchmark is one factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from examiner.cli.options import Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.cli.values import number_or
from examiner.information import PAPER_THRESHOLD, similarity
from examiner.reporting import render_similarity
from examiner.scores import Linkage


@dataclass(frozen=True)
class ClusterOptions:
    """How tasks are clustered: arguments of `similarity`."""

    method: Literal["pearson", "spearman"] = option(
        "pearson", "Correlation of values or of ranks.", "--correlation"
    )
    linkage: Linkage = option("average", "Distance between two clusters.")
    threshold: float = option(PAPER_THRESHOLD, "Merge clusters up to this distance, 1 − r.")
    number: int | Literal["auto"] | None = option(
        None,
        "Number of clusters, or 'auto', instead of the threshold.",
        "--clusters",
        parse=number_or(
            "auto",
            kind=int,
            complaint="The number of clusters is {}. Give 1 or more, or 'auto'.",
        ),
    )
    size: int | None = option(
        None, "Number of tasks on which an agent could be made to win [default: 10]."
    )


def cluster(options: SourceOptions, method: ClusterOptions, printing: Seeded) -> None:
    """Cluster similar tasks, and show which agents could be made to win by a choice of tasks."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        analysis = similarity(results, rng=printing.seed, progress=progress, **vars(method))
    show(render_similarity(analysis), printing, read=results)

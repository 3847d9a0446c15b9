"""`examiner cluster`: which tasks are similar, and how much of a benchmark is one factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from examiner.cli.options import Seeded, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.information import PAPER_THRESHOLD, similarity
from examiner.messages import shorten
from examiner.reporting import render_similarity
from examiner.scores import Linkage


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How tasks are clustered."""

    correlation: Literal["pearson", "spearman"] = option(
        "pearson", "Correlation of values or of ranks."
    )
    linkage: Linkage = option("average", "Distance between two clusters.")
    threshold: float = option(PAPER_THRESHOLD, "Merge clusters up to this distance, 1 − r.")
    clusters: str | None = option(None, "Number of clusters, or 'auto', instead of the threshold.")
    size: int | None = option(
        None, "Number of tasks on which an agent could be made to win [default: 10]."
    )


def cluster(options: SourceOptions, method: ClusterOptions, printing: Seeded) -> None:
    """Cluster similar tasks, and show which agents could be made to win by a choice of tasks."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        analysis = similarity(
            results,
            rng=printing.seed,
            method=method.correlation,
            linkage=method.linkage,
            threshold=method.threshold,
            number=_number(method.clusters),
            size=method.size,
            progress=progress,
        )
    show(render_similarity(analysis), printing, read=results)


def _number(text: str | None) -> Any:  # Any: a number, 'auto' or None, checked by the package
    if text is None or text == "auto":
        return text
    complaint = f"The number of clusters is {shorten(text)}. Give 1 or more, or 'auto'."
    return parsed(int, text, complaint)

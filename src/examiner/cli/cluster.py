"""`examiner cluster`: which tasks are alike, and how much of a benchmark is one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from examiner.cli.options import Seeded, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.information import likeness
from examiner.information.clusters import PAPER_THRESHOLD, Linkage
from examiner.messages import shorten
from examiner.reporting.findings import likeness as findings


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How tasks are gathered."""

    correlation: Literal["pearson", "spearman"] = option("pearson", "Of values or of ranks.")
    linkage: Linkage = option("average", "How the distance of two clusters is taken.")
    threshold: float = option(PAPER_THRESHOLD, "Join clusters up to this distance, 1 − r.")
    clusters: str | None = option(None, "So many clusters, or 'auto', instead of the threshold.")
    size: int | None = option(None, "Tasks an agent may be crowned on [default: 10].")


def cluster(options: SourceOptions, how: ClusterOptions, told: Seeded) -> None:
    """Gather tasks that are alike, and tell who could be crowned by a choice of tasks."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        found = likeness(
            results,
            rng=np.random.default_rng(told.seed),
            method=how.correlation,
            linkage=how.linkage,
            threshold=how.threshold,
            number=_number(how.clusters),
            size=how.size,
            progress=progress,
        )
    show(
        findings.tell(found, seed=told.seed),
        "examiner.cluster/1",
        told,
        (*results.notes, *found.notes),
        correlation=how.correlation,
        linkage=how.linkage,
        threshold=how.threshold if how.clusters is None else None,
        seed=told.seed,
    )


def _number(text: str | None) -> Any:  # Any: a number, 'auto' or None, checked by the room
    if text is None or text == "auto":
        return text
    complaint = f"The number of clusters is {shorten(text)}. Give 1 or more, or 'auto'."
    return parsed(int, text, complaint)

"""`examiner cluster`: which tasks rank agents similarly, and how far one factor goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from examiner.cli.options import Seeded, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.information import similarity
from examiner.information.clusters import PAPER_THRESHOLD
from examiner.messages import shorten
from examiner.reporting.findings import similarity as findings
from examiner.scores.linkage import Linkage


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How tasks are clustered."""

    correlation: Literal["pearson", "spearman"] = option("pearson", "Of values or of ranks.")
    linkage: Linkage = option("average", "How the distance of two clusters is defined.")
    threshold: float = option(PAPER_THRESHOLD, "Join clusters up to this distance, 1 − r.")
    clusters: str | None = option(None, "Number of clusters, or 'auto', instead of the threshold.")
    size: int | None = option(None, "Tasks to choose in favour of an agent [default: 10].")


def cluster(options: SourceOptions, how: ClusterOptions, told: Seeded) -> None:
    """Find clusters of similar tasks, and agents that a choice of tasks makes win."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        analysis = similarity(
            results,
            rng=told.seed,
            method=how.correlation,
            linkage=how.linkage,
            threshold=how.threshold,
            number=_number(how.clusters),
            size=how.size,
            progress=progress,
        )
    notes = (*results.notes, *analysis.notes)
    show(findings.show_analysis(analysis), analysis.schema, told, notes)


def _number(text: str | None) -> Any:  # Any: a number, 'auto' or None, checked by the package
    if text is None or text == "auto":
        return text
    complaint = f"The number of clusters is {shorten(text)}. Give 1 or more, or 'auto'."
    return parsed(int, text, complaint)

"""`examiner describe`: what is in a table of results, before anything is made of it."""

from __future__ import annotations

from examiner.cli.options import SourceOptions, Tabled
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.telling.findings import reading


def describe(options: SourceOptions, told: Tabled) -> None:
    """Say what a table of results holds: agents, tasks, runs, trials, measures, what is missing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
    show(reading.tell(results), "examiner.describe/1", told, results.notes)

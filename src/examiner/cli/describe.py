"""`examiner describe`: what a table of results contains, before any analysis."""

from __future__ import annotations

from examiner.cli.options import SourceOptions, Tabled
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting import render_description


def describe(options: SourceOptions, printing: Tabled) -> None:
    """Show what a table of results contains: agents, tasks, runs, trials, measures, what is missing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
    show(render_description(results), printing, "describe", notes=results.notes)

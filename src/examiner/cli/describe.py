"""`examiner describe`: what a table of results contains, before any analysis."""

from __future__ import annotations

import shlex

from examiner.cli.options import SourceOptions, Tabled
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting import render_description


def describe(options: SourceOptions, printing: Tabled) -> None:
    """Show what a table of results contains, which commands it supports, and what looks wrong."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
    # a longer one would leave no room for options in a line
    source = options.source if len(options.source) <= 24 else "SOURCE"
    finding = render_description(results, shlex.quote(source))
    show(finding, printing, "describe", notes=results.notes)

"""`examiner describe`: what a table of results contains, before any analysis."""

from __future__ import annotations

from dataclasses import replace

from examiner.cli.options import SourceOptions, Tabled
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting.finding import Finding
from examiner.reporting.findings import reading
from examiner.reporting.table import Column, Table


def describe(options: SourceOptions, printing: Tabled) -> None:
    """Show what a table of results contains: agents, tasks, runs, trials, measures, what is missing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
    finding = _with_plays(reading.tell(results))
    show(finding, "examiner.describe/1", printing, results.notes)


def _with_plays(finding: Finding) -> Finding:
    """Add how often each agent played, fewest first (papers/004, Table I)."""
    plays = sorted(finding.data["plays"], key=lambda each: each["plays"])
    columns = (
        Column("agent", "name"),
        Column("plays", "count", "rows in which something was observed"),
        Column("tasks", "count", "on which it was observed"),
        Column("plays per task", "number", key="plays_a_task"),
    )
    table = Table.of(plays, columns, "Plays of agents, fewest first")
    return replace(finding, blocks=(*finding.blocks, table))

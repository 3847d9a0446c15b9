"""`examiner describe`: what a table of results contains, before any analysis."""

from __future__ import annotations

from dataclasses import replace

from examiner.cli.options import SourceOptions, Tabled
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting.finding import Finding
from examiner.reporting.findings import reading
from examiner.reporting.table import Column, Table

MOST_AGENTS = 40
"""Agents whose plays are listed in a terminal; the JSON has all."""


def describe(options: SourceOptions, printing: Tabled) -> None:
    """Show what a table of results contains: agents, tasks, runs, trials, measures, what is missing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
    show(_with_plays(reading.tell(results)), "examiner.describe/1", printing, results.notes)


def _with_plays(finding: Finding) -> Finding:
    """Add how often each agent played, fewest first (papers/004, Table I)."""
    plays = sorted(finding.data["plays"], key=lambda each: each["plays"])
    columns = (
        Column("agent", "name"),
        Column("plays", "count", "rows in which something was observed"),
        Column("tasks", "count", "on which it was observed"),
        Column("plays a task", "number", key="plays_a_task"),
    )
    few = f"; the {MOST_AGENTS} with fewest" if len(plays) > MOST_AGENTS else ""
    table = Table.of(plays[:MOST_AGENTS], columns, f"Plays of agents{few}")
    return replace(finding, blocks=(*finding.blocks, table))

"""`examiner convert`: a table of results in another format, layout or unit."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from examiner.cli.options import ComparisonOptions, JsonFlag, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes
from examiner.cli.progress import progress_bar
from examiner.cli.source import comparable, results_from
from examiner.results import WRITERS, Results, write
from examiner.results.writers import check_path
from examiner.results.writing import file_kind
from examiner.wording import counted

OutputLayout = StrEnum("OutputLayout", list(WRITERS))  # type: ignore[misc]  # names from the table


def convert(
    options: SourceOptions,
    target: Annotated[Path, typer.Argument(help="File to write; its ending says the kind.")],
    comparison: ComparisonOptions,
    to: Annotated[OutputLayout, typer.Option("--to", help="Layout to write.")] = OutputLayout[
        "tidy"
    ],
    json: JsonFlag = False,
) -> None:
    """Write results as CSV, TSV, NDJSON or Parquet, tidy or wide, or as other tools read them."""
    check_path(target, to.value)  # before the reading, which may be long
    with progress_bar("reading") as progress:
        read = results_from(options, progress, reduce_training_logs=False)
        results = comparable(read, comparison)
        progress("writing", 1, 2)
        write(results, target, layout=to.value)
    notes = (*results.notes, *_losses(results, target, to.value))
    if json:
        content = {"output": str(target), "layout": to.value, "rows": len(results)}
        print_json("examiner.convert/1", content | {"warnings": list(notes)})
        return
    print_line(f"Wrote {counted(len(results), 'row')} of results to {target} ({to.value}).")
    print_notes(notes)


def _losses(results: Results, target: Path, layout: str) -> list[str]:
    """What the file cannot hold."""
    losses = []
    if layout == "wide" and len(results) > len(results.agents) * len(results.tasks):
        losses.append(
            "A wide table has one value a cell: trials are averaged within runs, then runs."
        )
    if layout == "wide" and len(results.measures) > 1:
        losses.append(f"A wide table holds one measure: {results.measures[0]!r} was written.")
    more = results.scales or results.task_attributes or results.agent_attributes
    if more and not (layout == "tidy" and file_kind(target)[0] == ".parquet"):
        losses.append(
            "Scales, what is known of tasks and agents, and provenance are kept by tidy Parquet only, "
            "and are not in this file."
        )
    return losses

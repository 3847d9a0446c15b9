"""`examiner convert`: a table of results in another format, layout or unit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from examiner.cli.options import ComparisonOptions, Printing, SourceOptions, argument, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import comparable, results_from
from examiner.messages import InputError, counted, listed
from examiner.reporting import Finding, named
from examiner.results import WRITERS, Results, check_path, file_kind, formula_names, write


@dataclass(frozen=True)
class ConvertOptions:
    """What is written, and in which layout."""

    target: Path = argument(
        "TARGET", "File to write; its ending gives the file type.", writes="results"
    )
    to: str = option("tidy", f"Layout to write: {', '.join(WRITERS)}.", metavar="LAYOUT")
    append: bool = option(
        False, "Read only logs that TARGET lacks or that have changed, and add them to it."
    )
    for_spreadsheets: bool = option(
        False, "Put an apostrophe before names that a spreadsheet would read as formulas."
    )


def convert(
    options: SourceOptions,
    wanted: ConvertOptions,
    comparison: ComparisonOptions,
    printing: Printing,
) -> None:
    """Write results as CSV, TSV, NDJSON or Parquet, tidy or wide, or as other tools read them."""
    target, layout = wanted.target, wanted.to
    check_path(target, layout)  # before the reading, which may be long
    with progress_bar("reading") as progress:
        append_to = _appended(target, layout) if wanted.append else None
        read = results_from(options, progress, reduce_training_logs=False, append_to=append_to)
        results = comparable(read, comparison)
        progress("writing", 1, 2)
        write(results, target, layout=layout, for_spreadsheets=wanted.for_spreadsheets)
    lead = f"Wrote {counted(len(results), 'row')} of results to {named(str(target))} ({layout})."
    data = {"output": str(target), "layout": layout, "rows": len(results)}
    notes = tuple(_losses(results, target, layout))
    if not wanted.for_spreadsheets:
        notes += _formulas(results, target, layout)
    finding = Finding("convert", "Results", lead, beside=data)
    show(finding, printing, "convert", read=results, notes=notes)


def _appended(target: Path, layout: str) -> Path | None:
    """The file that logs are added to; None if it does not exist yet."""
    if layout != "tidy" or file_kind(target)[0] != ".parquet":
        raise InputError(
            "Logs can only be added to tidy Parquet, which records which logs it has. Name such a TARGET."
        )
    return target if target.exists() else None


def _formulas(results: Results, target: Path, layout: str) -> tuple[str, ...]:
    """Warn of names that a spreadsheet would compute as formulas."""
    if layout not in ("tidy", "wide") or file_kind(target)[0] not in (".csv", ".tsv"):
        return ()
    names = formula_names((*results.agents, *results.task_names))
    if not names:
        return ()
    return (
        f"{counted(len(names), 'name')} would be computed by a spreadsheet: {listed(names)}. To open the "
        f"file in one, write it with `--for-spreadsheets`.",
    )


def _losses(results: Results, target: Path, layout: str) -> list[str]:
    """What the file cannot store."""
    losses = []
    if layout == "wide" and len(results) > len(results.agents) * len(results.tasks):
        losses.append(
            "A wide table has one value per cell: trials are averaged within runs, then runs."
        )
    if layout == "wide" and len(results.measures) > 1:
        losses.append(f"A wide table has one measure: {results.measures[0]!r} was written.")
    if layout == "every-eval-ever":
        return [
            "Every Eval Ever has no place for scales and other columns: the first measure was written, "
            "with tokens and seconds if the results have them."
        ]
    more = results.scales or results.task_attributes or results.agent_attributes
    if more and not (layout == "tidy" and file_kind(target)[0] == ".parquet"):
        losses.append(
            "Only tidy Parquet keeps scales, attributes of tasks and agents, and provenance: they are not "
            "in this file."
        )
    return losses

"""`examiner report`: one self-contained HTML page about agents and tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes
from examiner.cli.progress import progress_bar
from examiner.cli.source import classification_from, results_from, success_of
from examiner.wording import InputError, counted, shorten


def report(
    options: SourceOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write [default: report.html]."),
    ] = None,
    normalise: Annotated[
        str,
        typer.Option(
            "--normalise", "--normalize", metavar="NAME", help="auto, none, or a normaliser's name."
        ),
    ] = "auto",
    sections: Annotated[
        str | None, typer.Option("--sections", help="Sections to include, comma-separated.")
    ] = None,
    classification: Annotated[
        str | None,
        typer.Option("--classification", help="Kinds of the tasks: a table, or a bundled one."),
    ] = None,
    success: Annotated[
        str | None,
        typer.Option(
            "--success",
            metavar="WHAT",
            help="What counts as success, after --normalise: a number or 'reference'.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Write a report: what was read, who ranks where, how every agent did on every task."""
    from examiner.telling import report as make_report

    if output is not None and output.suffix.lower() not in ("", ".html", ".htm"):
        raise InputError(
            f"The report is an HTML page, and {shorten(output, 200)} does not end so. "
            f"Name it `{output.with_suffix('.html').name}`."
        )

    with progress_bar("reading") as progress:
        # The report reduces training logs itself: it also shows their learning curves.
        unreduced = replace(options, reduce=None)
        results = results_from(unreduced, progress, reduce_training_logs=False)
        made = make_report(
            results,
            reduce=options.reduce,
            normalise=None if normalise == "none" else normalise,
            sections=None if sections is None else [name.strip() for name in sections.split(",")],
            classification=None if classification is None else classification_from(classification),
            title=title,
            success=success_of(success),
            seed=seed,
            progress=progress,
        )
        target = None if json and output is None else made.save(output or Path("report.html"))
    if json:
        content = made.to_dict()
        print_json(
            content.pop("schema"), content | {"output": None if target is None else str(target)}
        )
        return
    assert target is not None
    if made.notes:
        print_notes([f"{counted(len(made.notes), 'warning')} to read in the report"])
    print_line(f"Report written to {target.resolve()}")

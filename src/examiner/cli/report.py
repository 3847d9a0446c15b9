"""`examiner report`: one self-contained HTML page about agents and tasks."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import click

from examiner.cli.options import (
    COST,
    OUTPUT,
    TYPOLOGY,
    FigureOptions,
    LevelOptions,
    ScaledOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import print_json, print_notes, print_warning, progress_bar, show
from examiner.cli.parsing import typed_words
from examiner.cli.source import classification_from, levelled, results_from
from examiner.cli.values import words_of
from examiner.messages import ExaminerWarning, InputError, counted, shorten
from examiner.reporting import FINDINGS, Finding, failure_sentences, print_line
from examiner.reporting import report as make_report

ENDINGS = ("", ".html", ".htm", ".json", ".md")


@dataclass(frozen=True)
class ReportOptions:
    """What the page shows, from which numbers, and where it is written."""

    output: Path | None = option(
        None, "File to write, .html, .json or .md [default: report.html].", *OUTPUT, writes="answer"
    )
    sections: list[str] | None = option(
        None,
        f"Sections to include, comma-separated: {', '.join(FINDINGS)}.",
        metavar="NAMES",
        parse=words_of,
    )
    typology: str | None = option(None, TYPOLOGY, metavar="NAME|FILE")
    cost: str | None = option(
        None, f"{COST} [default: the first of cost, tokens, seconds].", metavar="COLUMN"
    )
    editions: str | None = option(
        None, "Results of an earlier edition, to compare SOURCE with.", metavar="EARLIER"
    )
    title: str | None = option(None, "Title of the page.")


def report(
    options: SourceOptions,
    page: ReportOptions,
    comparison: ScaledOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    printing: Seeded,
) -> None:
    """Write a report: what was read, the ranking, and the score of every agent on every task."""
    if page.output is not None and page.output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"The report is an HTML page, JSON or Markdown, and {shorten(page.output, 200)} does not end "
            f"so. Name it `{page.output.with_suffix('.html').name}`, or with .json or .md."
        )
    with progress_bar("reading") as progress:
        # The report reduces training logs itself: it also shows their learning curves.
        unreduced = replace(options, reduce=None)
        results = results_from(unreduced, progress, reduce_training_logs=False)
        results, normalise, total = levelled(results, levels, comparison.normalise)
        earlier = None
        if page.editions is not None:
            before = replace(unreduced, source=page.editions)
            earlier = results_from(before, progress, reduce_training_logs=False)
        written = make_report(
            results,
            None if normalise == "none" else normalise,
            sections=page.sections,
            progress=progress,
            reduce=options.reduce,
            typology=classification_from(page.typology),
            title=page.title,
            success=comparison.success,
            share=comparison.share,
            total=total,
            cost=page.cost,
            earlier=earlier,
            rng=printing.seed,
        )
        words = ["examiner", "report", *typed_words(click.get_current_context())]
        written = replace(written, command=shlex.join(words))
        path = page.output or (Path("report.html") if printing.for_people else None)
        with warnings.catch_warnings(record=True) as failed:
            warnings.simplefilter("always", ExaminerWarning)
            target = None if path is None else written.save(path)
            content = written.to_dict() if printing.json else {}
        figures = drawn.write(written.sections)
    failures = (str(warning.message) for warning in failed if warning.category is ExaminerWarning)
    for sentence in dict.fromkeys((*failure_sentences(written), *failures)):
        print_warning(sentence)
    if printing.json:
        places = {"output": None if target is None else str(target), "figures": figures}
        print_json(content.pop("schema"), content | places)
    elif printing.to is not None:
        blocks = tuple(block for section in written.sections for block in section.blocks)
        show(Finding(blocks=blocks), printing, "report", notes=written.notes)
    else:
        assert target is not None
        if written.notes:
            print_notes([f"{counted(len(written.notes), 'warning')} to read in the report"])
        print_line(f"Report written to {target.resolve()}")
        if figures:
            print_line(f"{counted(len(figures), 'figure')} written to {drawn.figures}")

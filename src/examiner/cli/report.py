"""`examiner report`: one self-contained HTML page about agents and tasks."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from examiner.cli.cost import COST
from examiner.cli.levels import LevelOptions, levelled
from examiner.cli.options import (
    NORMALISE,
    OUTPUT,
    SUCCESS,
    SUCCESS_SHARE,
    TYPOLOGY,
    FigureOptions,
    Seeded,
    SourceOptions,
    normaliser_names,
    option,
    success_of,
    words_of,
)
from examiner.cli.output import print_json, print_notes, print_warning, progress_bar, show
from examiner.cli.parsing import given_words
from examiner.cli.source import classification_from, results_from
from examiner.messages import ExaminerWarning, InputError, counted, shorten
from examiner.reporting import FINDINGS, Finding, failure_sentences, print_line
from examiner.reporting import report as make_report

ENDINGS = ("", ".html", ".htm", ".json", ".md")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What the page shows, from which numbers, and where it is written."""

    output: Path | None = option(
        None, "File to write, .html, .json or .md [default: report.html].", *OUTPUT, writes="answer"
    )
    normalise: str = option("auto", normaliser_names, *NORMALISE, metavar="NAME")
    sections: str | None = option(
        None, f"Sections to include, comma-separated: {', '.join(FINDINGS)}.", metavar="NAMES"
    )
    typology: str | None = option(None, TYPOLOGY, metavar="NAME|FILE")
    success: str | None = option(None, SUCCESS, metavar="WHAT")
    success_share: float | None = option(None, SUCCESS_SHARE, metavar="SHARE")
    cost: str | None = option(
        None, f"{COST} [default: the first of cost, tokens, seconds].", metavar="COLUMN"
    )
    editions: str | None = option(
        None, "Results of an earlier edition, to compare SOURCE with.", metavar="EARLIER"
    )
    title: str | None = option(None, "Title of the page.")


def report(
    options: SourceOptions,
    report_options: ReportOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    printing: Seeded,
) -> None:
    """Write a report: what was read, the ranking, and the score of every agent on every task."""
    output = report_options.output
    if output is not None and output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"The report is an HTML page, JSON or Markdown, and {shorten(output, 200)} does not end so. "
            f"Name it `{output.with_suffix('.html').name}`, or with .json or .md."
        )
    with progress_bar("reading") as progress:
        # The report reduces training logs itself: it also shows their learning curves.
        unreduced = replace(options, reduce=None)
        results = results_from(unreduced, progress, reduce_training_logs=False)
        prepared = levelled(results, levels, report_options.normalise)
        earlier = None
        if report_options.editions is not None:
            before = replace(unreduced, source=report_options.editions)
            earlier = results_from(before, progress, reduce_training_logs=False)
        page_report = make_report(
            prepared.results,
            None if prepared.normalise == "none" else prepared.normalise,
            sections=words_of(report_options.sections),
            progress=progress,
            reduce=options.reduce,
            typology=classification_from(report_options.typology),
            title=report_options.title,
            success=success_of(report_options.success),
            share=report_options.success_share,
            total=prepared.total,
            cost=report_options.cost,
            earlier=earlier,
            rng=printing.seed,
        )
        # All options but those that say where and as what the answer is written.
        command_words = given_words(
            options, replace(report_options, output=None), levels, Seeded(seed=printing.seed)
        )
        page_report = replace(
            page_report, command=shlex.join(["examiner", "report", *command_words])
        )
        page = output or (Path("report.html") if printing.for_people else None)
        with warnings.catch_warnings(record=True) as failed:
            warnings.simplefilter("always", ExaminerWarning)
            target = None if page is None else page_report.save(page)
            content = page_report.to_dict() if printing.json else {}
        figures = drawn.write(page_report.sections)
    failures = (str(warning.message) for warning in failed if warning.category is ExaminerWarning)
    for sentence in dict.fromkeys((*failure_sentences(page_report), *failures)):
        print_warning(sentence)
    if printing.json:
        written = {"output": None if target is None else str(target), "figures": figures}
        print_json(content.pop("schema"), content | written)
        return
    if printing.to is not None:
        blocks = tuple(block for section in page_report.sections for block in section.blocks)
        show(Finding(blocks=blocks), printing, "report", notes=page_report.notes)
        return
    assert target is not None
    if page_report.notes:
        print_notes([f"{counted(len(page_report.notes), 'warning')} to read in the report"])
    print_line(f"Report written to {target.resolve()}")
    if figures:
        print_line(f"{counted(len(figures), 'figure')} written to {drawn.figures}")

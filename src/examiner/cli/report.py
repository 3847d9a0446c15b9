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
from examiner.reporting import FINDINGS
from examiner.reporting import report as make_report
from examiner.reporting.document import failure_sentences
from examiner.reporting.finding import Finding
from examiner.reporting.terminal import print_line

ENDINGS = ("", ".html", ".htm", ".json", ".md")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What the page tells, of which numbers, and where it is written."""

    output: Path | None = option(
        None, "File to write, .html, .json or .md [default: report.html].", *OUTPUT, writes="answer"
    )
    normalise: str = option("auto", normaliser_names, *NORMALISE, metavar="NAME")
    sections: str | None = option(
        None, f"Sections to include, with commas: {', '.join(FINDINGS)}.", metavar="NAMES"
    )
    typology: str | None = option(None, TYPOLOGY, metavar="NAME|FILE")
    success: str | None = option(None, SUCCESS, metavar="WHAT")
    success_share: float | None = option(None, SUCCESS_SHARE, metavar="SHARE")
    cost: str | None = option(None, f"{COST} [default: what is there].", metavar="COLUMN")
    editions: str | None = option(
        None, "Results of an earlier edition, before SOURCE, the later one.", metavar="EARLIER"
    )
    title: str | None = option(None, "Title of the page.")


def report(
    options: SourceOptions,
    wanted: ReportOptions,
    levels: LevelOptions,
    drawn: FigureOptions,
    told: Seeded,
) -> None:
    """Write a report: what was read, who ranks where, how every agent did on every task."""
    output = wanted.output
    if output is not None and output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"The report is an HTML page, JSON or Markdown, and {shorten(output, 200)} does not end so. "
            f"Name it `{output.with_suffix('.html').name}`, or with .json or .md."
        )
    with progress_bar("reading") as progress:
        # The report reduces training logs itself: it also shows their learning curves.
        unreduced = replace(options, reduce=None)
        results = results_from(unreduced, progress, reduce_training_logs=False)
        known = levelled(results, levels, wanted.normalise)
        earlier = None
        if wanted.editions is not None:
            before = replace(unreduced, source=wanted.editions)
            earlier = results_from(before, progress, reduce_training_logs=False)
        made = make_report(
            known.results,
            None if known.normalise == "none" else known.normalise,
            sections=words_of(wanted.sections),
            progress=progress,
            reduce=options.reduce,
            typology=classification_from(wanted.typology),
            title=wanted.title,
            success=success_of(wanted.success),
            share=wanted.success_share,
            total=known.total,
            cost=wanted.cost,
            earlier=earlier,
            rng=told.seed,
        )
        # All options but those that say where and as what the answer is written.
        asked = given_words(options, replace(wanted, output=None), levels, Seeded(seed=told.seed))
        made = replace(made, command=shlex.join(["examiner", "report", *asked]))
        page = output or (Path("report.html") if told.for_people else None)
        with warnings.catch_warnings(record=True) as failed:
            warnings.simplefilter("always", ExaminerWarning)
            target = None if page is None else made.save(page)
            content = made.to_dict() if told.json else {}
        figures = drawn.write(made.sections)
    failures = (str(each.message) for each in failed if each.category is ExaminerWarning)
    for sentence in dict.fromkeys((*failure_sentences(made), *failures)):
        print_warning(sentence)
    if told.json:
        written = {"output": None if target is None else str(target), "figures": figures}
        print_json(content.pop("schema"), content | written)
        return
    if told.to is not None:
        blocks = tuple(block for section in made.sections for block in section.blocks)
        show(Finding(blocks=blocks), "examiner.report/1", told, made.notes)
        return
    assert target is not None
    if made.notes:
        print_notes([f"{counted(len(made.notes), 'warning')} to read in the report"])
    print_line(f"Report written to {target.resolve()}")
    if figures:
        print_line(f"{counted(len(figures), 'figure')} written to {drawn.figures}")

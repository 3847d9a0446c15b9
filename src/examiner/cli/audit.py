"""`examiner audit`: flagged tasks, ranked, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from examiner import irt
from examiner.cli.options import ComparisonOptions, FigureOptions, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import recipe_of, results_from
from examiner.cli.values import words_of
from examiner.irt import ANSWERS, GROUPS, KEY
from examiner.reporting import render_audit
from examiner.results import write_text
from examiner.scores import response_unit


@dataclass(frozen=True)
class AuditOptions:
    """Which tasks may depend on each other, what is right, and where the flagged tasks are written."""

    groups: list[str] = option(
        ",".join(GROUPS),
        "Columns of tasks that define groups to test for dependence, comma-separated.",
        metavar="COLUMNS",
        parse=words_of,
    )
    top: int | None = option(
        None,
        "Also list tasks that the best NUMBER agents all solve, or all fail.",
        metavar="NUMBER",
    )
    answers: str = option(ANSWERS, "Column of the answers that agents gave.", metavar="COLUMN")
    key: str = option(KEY, "Column of the right answers.", metavar="COLUMN")
    triage: Path | None = option(
        None,
        "Write the flagged tasks for maintainers: a Markdown checklist (.md), or CSV.",
        metavar="FILE",
        writes="answer",
    )


def audit(
    options: SourceOptions,
    grouping: AuditOptions,
    comparison: ComparisonOptions,
    drawn: FigureOptions,
    printing: Seeded,
) -> None:
    """List flagged tasks: wrong keys, low discrimination, unsolved, redundant, inconsistently graded."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        recipe = recipe_of(comparison)
        progress("auditing", 0, 1)
        audited = irt.audit(
            results,
            recipe=recipe,
            groups=grouping.groups,
            top=grouping.top,
            answers=grouping.answers,
            key=grouping.key,
            rng=printing.seed,
        )
    if grouping.triage is not None:
        markdown = grouping.triage.suffix == ".md"
        text = audited.checklist() if markdown else audited.to_csv("flagged")
        write_text(grouping.triage, text + "\n")
    finding = render_audit(audited)
    figures = drawn.write([finding])
    unit = response_unit(recipe.learn(results))
    show(finding, printing, "audit", read=results, score_unit=unit, figures=figures)

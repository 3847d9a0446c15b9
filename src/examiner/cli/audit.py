"""`examiner audit`: flagged tasks, ranked, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass

from examiner import irt
from examiner.cli.options import (
    ComparisonOptions,
    FigureOptions,
    Seeded,
    SourceOptions,
    option,
    success_of,
    words_of,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import GROUPS
from examiner.reporting import render_audit
from examiner.scores import Recipe, response_unit


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Which tasks may depend on each other."""

    groups: str = option(
        ",".join(GROUPS),
        "Columns of tasks that define groups to test for dependence, comma-separated.",
        metavar="COLUMNS",
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
        recipe = Recipe(
            normaliser=comparison.normalise,
            success=success_of(comparison.success),
            share=comparison.success_share,
        )
        progress("auditing", 0, 1)
        columns = words_of(grouping.groups) or []
        audited = irt.audit(results, recipe=recipe, groups=columns, rng=printing.seed)
    finding = render_audit(audited)
    figures = drawn.write([finding])
    unit = response_unit(recipe.learn(results))
    show(finding, printing, "audit", read=results, score_unit=unit, figures=figures)

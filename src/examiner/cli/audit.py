"""`examiner audit`: tasks that deserve a look, ranked, with why."""

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
from examiner.irt.suspects.audit import GROUPS
from examiner.reporting.findings import suspects as findings
from examiner.scores import Recipe
from examiner.scores.unit import response_unit


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Which tasks may share an environment."""

    groups: str = option(
        ",".join(GROUPS),
        "Columns of the table of tasks whose groups may move together, with commas.",
        metavar="COLUMNS",
    )


def audit(
    options: SourceOptions,
    comparison: ComparisonOptions,
    how: AuditOptions,
    drawn: FigureOptions,
    told: Seeded,
) -> None:
    """List the tasks that deserve a look: wrong keys, flat, impossible, repeated, graded unsteadily."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        recipe = Recipe(
            normaliser=comparison.normalise,
            success=success_of(comparison.success),
            share=comparison.success_share,
        )
        progress("auditing", 0, 1)
        columns = words_of(how.groups) or []
        found = irt.audit(results, recipe=recipe, groups=columns, rng=told.seed)
    finding = findings.tell(found)
    figures = drawn.write([finding])
    beside = {"source": results.provenance.source, "seed": told.seed, "figures": figures}
    beside["score_unit"] = response_unit(recipe.learn(results))
    show(finding, "examiner.audit/1", told, (*results.notes, *found.notes), **beside)

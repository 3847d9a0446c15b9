"""`examiner diagnose`: whether a model fits tasks and agents, and what it leaves unexplained."""

from __future__ import annotations

from dataclasses import dataclass

from examiner import irt
from examiner.cli.fitting import ModelOptions, response_unit
from examiner.cli.options import ComparisonOptions, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting.findings import diagnosis as findings


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """How the cut-offs are found."""

    draws: int = option(100, "Data sets drawn from the model for the cut-offs; at least 20.")
    quick: bool = option(
        False, "Take parameters as known in them instead of fitting again: cut-offs a little off."
    )
    overdispersion: bool = option(
        False, "Also test whether trials of a cell go together beyond the curve; may take minutes."
    )


def diagnose(
    options: SourceOptions,
    comparison: ComparisonOptions,
    model: ModelOptions,
    how: DiagnoseOptions,
    told: Seeded,
) -> None:
    """Fit a model, and look for misfit of tasks and agents, dependent tasks and a second ability."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        made = model.fitted(results, comparison, told.seed, progress)
        found = irt.diagnose(
            made,
            replicates=how.draws,
            refit=not how.quick,
            overdispersion=how.overdispersion,
            rng=told.seed,
            progress=progress,
        )
    beside = {"source": results.provenance.source, "model": made.model, "seed": told.seed}
    beside["score_unit"] = response_unit(made)
    notes = tuple(dict.fromkeys((*results.notes, *made.notes)))
    show(findings.tell(found), "examiner.diagnose/1", told, notes, **beside)

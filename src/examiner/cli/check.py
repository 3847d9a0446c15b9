"""`examiner fit --check`: whether a model fits tasks and agents, and what it leaves unexplained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from examiner import irt
from examiner.cli.fitting import ModelOptions, response_unit
from examiner.cli.options import ComparisonOptions, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.reporting import render_diagnosis


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How the critical values of the tests are computed."""

    section: ClassVar[str] = "With --check"
    draws: int = option(100, "Number of simulated data sets for the critical values; at least 20.")
    quick: bool = option(
        False, "Do not refit the simulated data sets: faster, critical values less exact."
    )
    overdispersion: bool = option(
        False, "Also test for overdispersion of trials within cells; may take minutes."
    )


def check(
    options: SourceOptions,
    comparison: ComparisonOptions,
    model: ModelOptions,
    how: CheckOptions,
    printing: Seeded,
) -> None:
    """Fit a model, and test for misfit of tasks and agents, dependent tasks and a second ability."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        fit = model.fitted(results, comparison, printing.seed, progress)
        diagnosis = irt.diagnose(
            fit,
            replicates=how.draws,
            refit=not how.quick,
            overdispersion=how.overdispersion,
            rng=printing.seed,
            progress=progress,
        )
    show(
        render_diagnosis(diagnosis),
        printing,
        "check",
        read=results,
        notes=fit.notes,
        model=fit.model,
        score_unit=response_unit(fit),
    )

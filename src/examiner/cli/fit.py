"""`examiner fit`: difficulty and discrimination of tasks, ability and generality of agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from examiner.cli.fitting import ModelOptions
from examiner.cli.options import (
    OUTPUT,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    option,
    parsed,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import IRTFit, indicators, standard_scores
from examiner.stored import save
from examiner.telling.findings import fit as findings
from examiner.telling.terminal import print_line
from examiner.wording import shorten


@dataclass(frozen=True, slots=True)
class FitOptions(ModelOptions):
    """Which model is fitted and how, in which bins generality is told, and where the fit is stored."""

    bins: str | None = option(
        None, "Bins of difficulty for generality, or their ends.", metavar="NUMBER|EDGES"
    )
    output: Path | None = option(
        None, "Store the fit as JSON, for `place`.", *OUTPUT, metavar="FILE"
    )


def fit(
    options: SourceOptions, comparison: ComparisonOptions, how: FitOptions, told: Seeded
) -> None:
    """Fit an IRT model: difficulty and discrimination of tasks, ability and generality of agents."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        made = how.fitted(results, comparison, told.seed, progress)
        scores = None if comparison.success is None else standard_scores(results)
        found = indicators(made, scores, bins=_bins(how.bins))
    if how.output is not None:
        save(made, how.output)
    show(
        findings.tell(made, found, repeats_mean=scores is None and _one_trial(made)),
        "examiner.fit/1",
        told,
        tuple(dict.fromkeys((*results.notes, *made.warnings, *found.notes))),
        regularity_of="responses" if scores is None else f"Φ(z) of {results.measures[0]}",
        seed=told.seed,
    )
    if how.output is not None and told.for_people:
        print_line(f"\nFit: {how.output}")


def _one_trial(made: IRTFit) -> bool:
    """Whether results are zeros and ones, of which regularity only repeats the mean."""
    matrix = made.matrix
    return matrix is not None and matrix.is_counts and int(matrix.trials.max()) == 1


def _bins(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    complaint = f"The bins are {shorten(text)}. Give their number, or their ends: -11,-1,0,1,10."
    if "," in text:
        return [parsed(float, part, complaint) for part in text.split(",")]
    return parsed(int, text, complaint)

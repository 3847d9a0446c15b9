"""`examiner fit`: difficulty and discrimination of tasks, ability and generality of agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from examiner.cli.options import (
    OUTPUT,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    option,
    parsed,
    success_of,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import MODELS, IRTFit, indicators, standard_scores
from examiner.irt import fit as fit_irt
from examiner.scores import Recipe
from examiner.stored import save
from examiner.telling.findings import fit as findings
from examiner.telling.terminal import print_line
from examiner.wording import shorten


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Which model is fitted, and how."""

    model: str = option(
        "2pl",
        f"{', '.join(MODELS)}: normal for scores, beta for those in [0, 1], the others for successes.",
    )
    estimator: Literal["map", "ml"] = option("map", "map: weak priors; ml: maximum likelihood.")
    prior: list[str] | None = option(
        None,
        "Another prior under map, for example slope=1,0.5; may be repeated. `fixed`: slopes N(1, 1).",
        metavar="PARAMETER=MEAN,SD",
    )
    response: Literal["binomial", "beta-binomial"] | None = option(
        None, "For several trials a cell [default: beta-binomial where there are]."
    )
    landmark: float | None = option(
        None,
        "Score at which the model normal tells difficulty [default: what --normalise calls human, or "
        "random; or 0].",
    )
    starts: int | None = option(None, "Starts to try [default: by size].")
    nodes: int | None = option(None, "Gauss–Hermite nodes [default: a grid, by test length].")
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
        made = fit_irt(
            results,
            how.model,
            recipe=Recipe(
                normaliser=comparison.normalise,
                success=success_of(comparison.success),
                share=comparison.success_share,
            ),
            estimator=how.estimator,
            priors=_priors(how.prior),
            response=how.response,
            landmark=how.landmark,
            starts=how.starts,
            nodes=how.nodes,
            rng=told.seed,
            progress=progress,
        )
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


def _priors(given: list[str] | None) -> dict[str, tuple[float, float]] | Literal["fixed"] | None:
    if not given:
        return None
    if given == ["fixed"]:
        return "fixed"
    priors = {}
    for text in given:
        name, _, numbers = text.partition("=")
        mean, _, sd = numbers.partition(",")
        complaint = (
            f"The prior {shorten(text)} is not understood. Write PARAMETER=MEAN,SD: slope=1,0.5; "
            f"or fixed alone."
        )
        priors[name.strip()] = parsed(float, mean, complaint), parsed(float, sd, complaint)
    return priors


def _bins(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    complaint = f"The bins are {shorten(text)}. Give their number, or their ends: -11,-1,0,1,10."
    if "," in text:
        return [parsed(float, part, complaint) for part in text.split(",")]
    return parsed(int, text, complaint)

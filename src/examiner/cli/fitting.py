"""Options for the IRT model that is fitted, and the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from examiner.cli.options import ComparisonOptions, option, parsed, success_of
from examiner.irt import MODELS, SCORES, IRTFit
from examiner.irt import fit as fit_irt
from examiner.messages import shorten
from examiner.results import Results
from examiner.scores import Progress, Recipe
from examiner.scores import response_unit as unit_of_responses


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model is fitted, and how."""

    model: str = option(
        "2pl",
        f"{', '.join(MODELS)}: normal for scores, beta for scores in [0, 1], the others for successes.",
        metavar="NAME",
    )
    estimator: Literal["map", "ml"] = option("map", "map: weak priors; ml: maximum likelihood.")
    prior: list[str] | None = option(
        None,
        "A prior for map, for example slope=1,0.5; may be repeated. `fixed`: slopes N(1, 1).",
        metavar="PARAMETER=MEAN,SD",
    )
    response: Literal["binomial", "beta-binomial"] | None = option(
        None, "Distribution of several trials per cell [default: beta-binomial]."
    )
    landmark: float | None = option(
        None,
        "Score at which the model normal measures difficulty [default: the human or random score of "
        "--normalise, or 0].",
    )
    starts: int | None = option(None, "Number of random starts [default: depends on the size].")
    nodes: int | None = option(
        None, "Number of Gauss–Hermite nodes [default: a grid that depends on the tasks]."
    )

    def fitted(
        self,
        results: Results,
        comparison: ComparisonOptions,
        seed: int,
        progress: Progress,
        *,
        group: str | None = None,
        editions: str | None = None,
    ) -> IRTFit:
        """Fit the model to results, made comparable and counted as the options say."""
        arguments = self.asked(seed, progress)
        recipe = recipe_of(comparison)
        return fit_irt(
            results,
            self.model,
            recipe=recipe,
            response=self.response,
            group=group,
            editions=editions,
            **arguments,
        )

    def asked(self, seed: int, progress: Progress) -> FitArguments:
        """Return what is asked of a fit, wherever its responses lie."""
        return {
            "estimator": self.estimator,
            "priors": _priors(self.prior),
            "landmark": self.landmark,
            "starts": self.starts,
            "nodes": self.nodes,
            "rng": seed,
            "progress": progress,
        }


class FitArguments(TypedDict):
    """What is asked of every fit."""

    estimator: Literal["map", "ml"]
    priors: dict[str, tuple[float, float]] | Literal["fixed"] | None
    landmark: float | None
    starts: int | None
    nodes: int | None
    rng: int
    progress: Progress


def recipe_of(comparison: ComparisonOptions) -> Recipe:
    """Return how results are made comparable, and counted as successes.

    >>> recipe_of(ComparisonOptions("human", "1.0")).success
    1.0
    """
    return Recipe(
        normaliser=comparison.normalise,
        success=success_of(comparison.success),
        share=comparison.success_share,
    )


def response_unit(fit: IRTFit) -> str:
    """Say what the responses of a fit are measured in.

    >>> from examiner.irt import ItemParameters, known
    >>> response_unit(known(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0])))
    'share of successes'
    """
    if fit.recipe is not None:
        return unit_of_responses(fit.recipe)
    return "scores as they were given" if fit.items.response in SCORES else "share of successes"


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

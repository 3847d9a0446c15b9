"""What scores are measured in, as a sentence that stands beside every number made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examiner.results import Results
from examiner.scores.normalisers import NORMALISERS

if TYPE_CHECKING:
    from examiner.scores.recipe import Recipe


def score_unit(results: Results, measure: str | None = None) -> str:
    """Say what the values of a measure are: as they were read, or what was done to them, in order.

    >>> from examiner.scores import normalise
    >>> table = Results.from_numpy([[10.0], [30.0]])
    >>> score_unit(table), score_unit(normalise(table, "log"))
    ('score as it was read', "score normalised by 'log' (signed log₁₀ of 1 + |score|)")
    """
    name = results.measure_name(measure)
    done = [step for step in results.provenance.steps if step.startswith(f"{name} ")]
    return "; ".join(done) if done else f"{name} as it was read"


def value_unit(recipe: Recipe) -> str:
    """Say what the comparable values of a recipe are measured in.

    >>> from examiner.scores.recipe import Recipe
    >>> value_unit(Recipe("win")), value_unit(Recipe("score", normaliser="log"))
    ('win as it was read', "score normalised by 'log' (signed log₁₀ of 1 + |score|)")
    """
    measure = recipe.measure or "score"
    if recipe.lexicographic:
        return f"{', then '.join(recipe.lexicographic)} on each task: {NORMALISERS['rank'].unit}"
    if recipe.normaliser is None:
        unit = f"{measure} as it was read"
    elif callable(recipe.normaliser):
        unit = f"{measure} as {getattr(recipe.normaliser, '__name__', 'function')} gives it"
    else:
        known = NORMALISERS.get(recipe.normaliser)
        unit = f"{measure} normalised by {recipe.normaliser!r}"
        unit += "" if known is None else f" ({known.unit})"
    return (
        unit if recipe.transform == "none" else f"{unit}; log₁₀ of at least {recipe.floor or 1:g}"
    )


def response_unit(recipe: Recipe) -> str:
    """Say what responses by a recipe are measured in: shares of successes, or comparable values.

    >>> from examiner.scores.recipe import Recipe
    >>> response_unit(Recipe("score", success=5.0))
    'share of successes: score as it was read, at least 5'
    """
    measure = recipe.measure or "score"
    share = "" if recipe.share is None else f", in at least {recipe.share:g} of the trials"
    if recipe.beating is not None:
        return f"share of successes: {value_unit(recipe)}, above that of {recipe.beating}{share}"
    if isinstance(recipe.success, str):
        return f"share of successes: {measure}, at least that of the {recipe.success}{share}"
    if recipe.success is not None:
        return f"share of successes: {value_unit(recipe)}, at least {recipe.success:g}{share}"
    if recipe.learnt is not None and recipe.learnt.counts:
        return f"share of successes: {measure} of 1{share}"
    return value_unit(recipe)

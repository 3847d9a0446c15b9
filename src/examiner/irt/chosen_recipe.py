"""Responses that a model takes, chosen from results: successes, wins, or scores between 0 and 1."""

from __future__ import annotations

from examiner.results import Results
from examiner.scores import Recipe, Success
from examiner.wording import InputError, shorten


def chosen_recipe(
    results: Results,
    model: str = "2pl",
    normalise: str | None = None,
    success: Success | None = None,
    share: float | None = None,
) -> Recipe:
    """Return the recipe of responses that a model takes; else say which choices there are.

    A beta model takes scores between 0 and 1, all others successes of trials: zeros and ones, or
    scores with what counts as a success (see `responses`).

    >>> recipe = chosen_recipe(Results.from_numpy([[1.0, 0.0]]))
    >>> recipe.learnt.counts
    True
    >>> chosen_recipe(Results.from_numpy([[1.0, 7.5]]))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The measure 'score' is not made of zeros and ones. Say what ...
    """
    if success is None and share is not None and not results.is_binary():
        raise _choices(results)
    recipe = Recipe(normaliser=normalise, success=success, share=share).learn(results)
    if model != "beta" and recipe.learnt is not None and not recipe.learnt.counts:
        raise _choices(results)
    return recipe


def _choices(results: Results) -> InputError:
    return InputError(
        f"The measure {shorten(results.measures[0])} is not made of zeros and ones. Say what a success is "
        f"(`--success 1.0`, after `--normalise human` where tasks have scales; `--success reference`), "
        f"name a measure of wins (`--measure win`), or fit scores between 0 and 1 as they are "
        f"(`--model beta`, with `--normalise min-max` or `z-score` where they are not)."
    )

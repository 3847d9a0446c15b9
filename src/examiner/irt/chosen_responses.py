"""Responses that a model takes, chosen from results: successes, wins, or scores between 0 and 1."""

from __future__ import annotations

import numpy as np

from examiner.results import Results
from examiner.scores import Prepared, prepare
from examiner.scores.success import Landmark
from examiner.wording import InputError, shorten


def chosen_responses(
    results: Results,
    model: str = "2pl",
    normalise: str | None = None,
    success: float | Landmark | None = None,
    share: float | None = None,
) -> Prepared:
    """Return the responses that a model takes, and their recipe; else say which choices there are.

    A beta model takes scores between 0 and 1, all others successes of trials: zeros and ones, or
    scores with what counts as a success (see `responses`).

    >>> chosen_responses(Results.from_numpy([[1.0, 0.0]])).matrix.is_counts
    True
    >>> chosen_responses(Results.from_numpy([[1.0, 7.5]]))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The measure 'score' is not made of zeros and ones. Say what ...
    """
    if success is None and share is not None:
        values = results.measure()
        if not ((values == 0) | (values == 1) | np.isnan(values)).all():
            raise _choices(results)
    made = prepare(results, normalise, success, share=share)
    if model != "beta" and not made.matrix.is_counts:
        raise _choices(results)
    return made


def _choices(results: Results) -> InputError:
    return InputError(
        f"The measure {shorten(results.measures[0])} is not made of zeros and ones. Say what a success is "
        f"(`--success 1.0`, after `--normalise human` where tasks have scales; `--success reference`), "
        f"name a measure of wins (`--measure win`), or fit scores between 0 and 1 as they are "
        f"(`--model beta`, with `--normalise min-max` or `z-score` where they are not)."
    )

"""Answers: what a task gave, checked against the fit's response, and how likely it is at an ability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import MARGIN
from examiner.irt.items import Floats, ItemParameters, Response, curves
from examiner.wording import InputError, shorten

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent did on a task: k successes of n trials, or one score from 0 to 1.

    >>> Answer.of("pong", (3, 5), "binomial")
    Answer(task='pong', value=3.0, trials=5)
    >>> Answer.of("pong", True, "binomial")
    Answer(task='pong', value=1.0, trials=1)
    """

    task: str
    value: float
    trials: int = 1

    @classmethod
    def of(
        cls, task: str, given: Any, response: Response
    ) -> Answer:  # Any: whatever a user returns
        """Understand what `answer(task)` returned: 0 or 1, (k, n), or a score for the beta model.

        >>> Answer.of("pong", 0.4, "binomial")
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The answer to 'pong' is 0.4. Give 0 or 1, or successes and \
trials: (3, 5).
        """
        if isinstance(given, Answer):
            return cls.of(task, (given.value, given.trials), response)
        pair = isinstance(given, (tuple, list))
        if pair and len(given) != 2:
            raise InputError(f"The answer to {shorten(task)} is {given!r}. {_wanted(response)}")
        value, trials = (_number(task, part, response) for part in (given if pair else (given, 1)))
        if response == "beta":
            if trials != 1 or not 0 <= value <= 1:
                raise InputError(f"The answer to {shorten(task)} is {given!r}. {_wanted(response)}")
        elif not (value.is_integer() and trials.is_integer() and 0 <= value <= trials >= 1):
            raise InputError(f"The answer to {shorten(task)} is {given!r}. {_wanted(response)}")
        return cls(task, value, int(trials))


def log_density(items: ItemParameters, at: Floats, value: Floats, trials: Whole) -> Floats:
    """Return log f(x | θ) of one answer to every task (rows) at every ability (columns).

    k of n is binomial, or beta-binomial with shapes Pν and (1 − P)ν; a score is beta with shapes Pφ
    and (1 − P)φ, after it was moved off 0 and 1 as the fit's were.
    """
    from scipy.special import betaln, xlogy

    shape = curves(items, at)
    up, down = np.maximum(shape.success, _SMALLEST), np.maximum(shape.failure, _SMALLEST)
    won, lost = value[:, None], (trials - value)[:, None]
    if items.precision is None:
        return np.asarray(_choices(value, trials) + xlogy(won, up) + xlogy(lost, down))
    nu = items.precision[:, None]
    if items.response == "beta":
        inside = (MARGIN + (1 - 2 * MARGIN) * value)[:, None]
        alpha, beta = np.maximum(up, 1e-10) * nu, np.maximum(down, 1e-10) * nu
        density = (alpha - 1) * np.log(inside) + (beta - 1) * np.log1p(-inside)
        return np.asarray(density - betaln(alpha, beta))
    finite = np.where(nu < _AS_BINOMIAL, nu, 1.0)
    shared = betaln(won + up * finite, lost + down * finite) - betaln(up * finite, down * finite)
    plain = xlogy(won, up) + xlogy(lost, down)
    return np.asarray(_choices(value, trials) + np.where(nu < _AS_BINOMIAL, shared, plain))


_SMALLEST = 1e-300
_AS_BINOMIAL = 1e9
"""Beyond this precision a beta-binomial is a binomial, and its gamma functions lose their digits."""


def _choices(value: Floats, trials: Whole) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(trials + 1.0) - gammaln(value + 1.0) - gammaln(trials - value + 1.0))[
        :, None
    ]


def _number(task: str, part: object, response: Response) -> float:
    try:
        if isinstance(part, (str, bytes)) or not isinstance(part, (SupportsFloat, np.bool_)):
            raise TypeError
        number = float(part)
    except (TypeError, ValueError):
        raise InputError(
            f"The answer to {shorten(task)} is {part!r}. {_wanted(response)}"
        ) from None
    if not np.isfinite(number):
        raise InputError(f"The answer to {shorten(task)} is {number}. {_wanted(response)}")
    return number


def _wanted(response: Response) -> str:
    if response == "beta":
        return "Give a score from 0 to 1, normalised as the fit's scores were."
    return "Give 0 or 1, or successes and trials: (3, 5)."

"""A number with the ends of its interval, and intervals of proportions that no resample would give."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np

from examiner.messages import InputError
from examiner.validation import Floats

Number = TypeVar("Number", float, Floats)


class Estimate(NamedTuple):
    """A number and the ends of its interval; NaN where there is none.

    >>> Estimate(0.5, 0.4, 0.7).high
    0.7
    """

    value: float
    low: float = math.nan
    high: float = math.nan


def check_level(level: float) -> None:
    """Refuse a level that no interval can have.

    >>> check_level(95)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The level is 95. Give a number between 0 and 1, as 0.95.
    """
    if not 0 < level < 1:
        raise InputError(f"The level is {level}. Give a number between 0 and 1, as 0.95.")


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    r"""Wilson's score interval of a proportion.

    .. math:: \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    References: Wilson (1927); Brown, Cai & DasGupta (2001).

    >>> [round(end, 4) for end in wilson(5, 5)]
    [0.5655, 1.0]
    """
    from scipy.special import ndtri  # slow to import

    low, high = score_ends(successes / trials, trials, float(ndtri(0.5 + level / 2)))
    return float(low), float(high)


def score_ends(share: Number, trials: Number, quantile: float) -> tuple[Number, Number]:
    """Return the ends of Wilson's interval for any quantile, and for trials that are worth as many.

    A share with the standard error e is worth p(1 − p) / e² independent trials, whatever made it.

    References: Korn & Graubard (1998), for shares of samples from strata.

    >>> [round(float(end), 3) for end in score_ends(0.9, 19.0, 2.093)]
    [0.675, 0.975]
    """
    middle = share + quantile**2 / (2 * trials)
    half = quantile * ((share * (1 - share) + quantile**2 / (4 * trials)) / trials) ** 0.5
    scale = 1 + quantile**2 / trials
    low, high = (middle - half) / scale, (middle + half) / scale
    # rounding must not part them
    return np.maximum(0.0, np.minimum(share, low)), np.minimum(1.0, np.maximum(share, high))


def least_after_all_won(trials: int, level: float = 0.95) -> float:
    r"""One-sided lower bound of a probability when all of n independent trials were won.

    .. math:: \alpha^{1/n} \approx 1 + \ln(\alpha) / n

    which at 95 % is the rule of three, 1 − 3/n. It holds too where the trials have unlike
    probabilities and their mean is meant, because the geometric mean does not exceed it.

    References: Clopper & Pearson (1934); Hanley & Lippman-Hand (1983).

    >>> round(least_after_all_won(30), 4)
    0.905
    """
    return float((1 - level) ** (1 / trials))

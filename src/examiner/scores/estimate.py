"""A number with the ends of its interval, and intervals of proportions that no resample would give."""

from __future__ import annotations

import math
from typing import NamedTuple

from examiner.wording import InputError


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
    examiner.wording.InputError: The level is 95. Give a number between 0 and 1, as 0.95.
    """
    if not 0 < level < 1:
        raise InputError(f"The level is {level}. Give a number between 0 and 1, as 0.95.")


def wilson(successes: float, trials: int, level: float = 0.95) -> tuple[float, float]:
    r"""Wilson's score interval of a proportion.

    .. math:: \frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    References: Wilson (1927); Brown, Cai & DasGupta (2001).

    >>> [round(end, 4) for end in wilson(5, 5)]
    [0.5655, 1.0]
    """
    from scipy.special import ndtri  # slow to import

    z = float(ndtri(0.5 + level / 2))
    share = successes / trials
    middle = share + z**2 / (2 * trials)
    half = z * ((share * (1 - share) + z**2 / (4 * trials)) / trials) ** 0.5
    scale = 1 + z**2 / trials
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


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

"""Two agents with one trial of 0 or 1 per item: McNemar's exact test and Newcombe's interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.cells import RowCodes
from examiner.scores.estimate import wilson
from examiner.validation import Floats


class Discordance(NamedTuple):
    """Items of zeros and ones that both, only a, only b, or neither solved."""

    both: int
    only_a: int
    only_b: int
    neither: int


def single_binary_trials(results: Results, measure: str | None = None) -> NDArray[np.bool_]:
    """Which agents have one trial of 0 or 1 per task, [agents]; means of several are shares.

    >>> single_binary_trials(Results.from_numpy([[1.0, 0.0]]))
    array([ True])
    >>> single_binary_trials(Results.from_numpy([[[1.0, 1.0], [0.0, 0.0]], [[1.0, np.nan]] * 2]))
    array([False,  True])
    """
    agents, tasks = len(results.agents), len(results.tasks)
    if not results.is_binary(measure):
        return np.zeros(agents, dtype=np.bool_)
    if RowCodes.of(results).single() is not None:
        return np.ones(agents, dtype=np.bool_)
    seen = np.isfinite(results.measure(measure))
    cells = results.agent_codes[seen].astype(np.int64) * tasks + results.task_codes[seen]
    trials = np.bincount(cells, minlength=agents * tasks).reshape(agents, tasks)
    return np.asarray(trials.max(axis=1, initial=0) <= 1)


def discordance(x: Floats, y: Floats) -> Discordance:
    """Count what both, only one, or none of two agents solved.

    >>> discordance(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    Discordance(both=1, only_a=1, only_b=0, neither=1)
    """
    a, b = x == 1, y == 1
    counts = (a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()
    return Discordance(*map(int, counts))


def mcnemar_p(only_a: int, only_b: int) -> float:
    r"""McNemar's exact test: whether items that one agent alone solves fall to both alike.

    .. math:: p = \min\Big(1,\ 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b+c)}\Big)

    References: McNemar (1947); the exact form is a sign test.

    >>> round(mcnemar_p(12, 2), 4), mcnemar_p(0, 0)
    (0.0129, 1.0)
    """
    from scipy.special import bdtr  # slow to import

    total = only_a + only_b
    if not total:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(only_a, only_b), total, 0.5)))


def newcombe(items: Discordance, level: float = 0.95) -> tuple[float, float]:
    r"""Interval of the difference of two shares of the same items, from Wilson's for each.

    .. math:: \hat d - \sqrt{d_1^2 - 2 \hat\phi d_1 e_2 + e_2^2}, \quad
              \hat d + \sqrt{e_1^2 - 2 \hat\phi e_1 d_2 + d_2^2}

    with :math:`d = p - l` and :math:`e = u - p` of Wilson's intervals (l, u), and φ the correlation of the
    two, corrected for continuity.

    References: Newcombe (1998), "Improved confidence intervals for the difference between binomial
    proportions based on paired data", method 10.

    >>> [round(end, 4) for end in newcombe(Discordance(36, 12, 2, 0))]
    [0.0569, 0.3404]
    """
    both, only_a, only_b, neither = items
    n = sum(items)
    solved_a, solved_b = both + only_a, both + only_b
    d1, e1, d2, e2 = (
        abs(solved / n - end) for solved in (solved_a, solved_b) for end in wilson(solved, n, level)
    )
    margins = solved_a * (n - solved_a) * solved_b * (n - solved_b)
    cross = float(both * neither - only_a * only_b)
    if cross > 0:
        cross = max(cross - n / 2, 0)
    phi = cross / np.sqrt(margins) if margins else 0.0
    value = (only_a - only_b) / n
    low = value - np.sqrt(d1**2 - 2 * phi * d1 * e2 + e2**2)
    high = value + np.sqrt(e1**2 - 2 * phi * e1 * d2 + d2**2)
    return float(low), float(high)

"""Wilcoxon's signed-rank test, exact with ties and zeros too, for many samples at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from examiner.validation import Floats

MOST_EXACT = 50
"""Differences up to which p-values are exact: counts of sign patterns stay whole in float64 (2^53)."""


def signed_rank_p(differences: Floats) -> Floats:
    r"""Two-sided p-value of each row of differences; zeros are dropped, and 1 where all are zero.

    .. math:: p = \min\{1,\; 2 \min[P(W \le w),\, P(W \ge w)]\}, \quad W = \sum_i s_i r_i

    where every pattern of signs :math:`s_i \in \{0, 1\}` is as likely as any other and :math:`r_i` are
    the midranks of the sizes. With at most `MOST_EXACT` differences the patterns are counted, else W is
    taken as normal (`normal_signed_rank_p`).

    References: Wilcoxon (1945); Lehmann (1975), section 3.2.

    >>> signed_rank_p(np.array([[1.0, 1.0, 1.0, 0.0], [3.0, -1.0, 2.0, 4.0]]))
    array([0.25, 0.25])
    """
    p = np.ones(len(differences))
    used = differences != 0
    few = used.sum(axis=1) <= MOST_EXACT
    p[~few] = normal_signed_rank_p(differences[~few])
    for row in np.flatnonzero(few & used.any(axis=1)):
        p[row] = _exact_p(differences[row, used[row]])
    return p


def normal_signed_rank_p(differences: Floats) -> Floats:
    r"""Two-sided p-value of each row by the normal approximation, corrected for ties.

    .. math:: z = \frac{w - n(n+1)/4}{\sqrt{n(n+1)(2n+1)/24 - \sum_t (t^3 - t)/48}}

    References: Lehmann (1975), section 3.2.

    >>> normal_signed_rank_p(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 0, 0, 0, 0]])).round(4)
    array([0.0277, 1.    ])
    """
    from scipy.special import ndtr

    used = differences != 0
    n = used.sum(axis=1)
    positive = (differences > 0).sum(axis=1) * (n + 1) / 2.0
    tied = n * (n.astype(np.float64) ** 2 - 1)
    unlike = np.flatnonzero(~_of_one_size(differences))
    if len(unlike):
        positive[unlike], tied[unlike] = _sums_by_rank(differences[unlike])
    variance = n * (n + 1) * (2 * n + 1) / 24 - tied / 48
    z = np.zeros(len(n))
    np.divide(
        positive - n * (n + 1) / 4, np.sqrt(np.maximum(variance, 0)), out=z, where=variance > 0
    )
    return 2 * ndtr(-np.abs(z))


def _of_one_size(differences: Floats) -> NDArray[np.bool_]:
    """Which rows differ by one amount or not at all, as those of zeros and ones: there all ranks tie."""
    sizes = np.abs(differences)
    alike = (sizes == 0) | (sizes == sizes.max(axis=1, initial=0.0)[:, None])
    return np.asarray(alike.all(axis=1))


def _sums_by_rank(differences: Floats) -> tuple[Floats, Floats]:
    """The sum of the ranks of positive differences in each row, and that of t³ - t over its ties."""
    used = differences != 0
    # What is dropped is ranked behind all others, where it changes nothing.
    ranks, ties = ranks_and_ties(np.where(used, np.abs(differences), np.inf))
    positive = np.where(differences > 0, ranks, 0.0).sum(axis=1)
    return positive, np.where(used, ties**2 - 1, 0.0).sum(axis=1)


def midranks(values: Floats) -> Floats:
    """Rank the values of each row from the least (1), equal ones sharing the mean of their ranks.

    NaN comes last.

    >>> midranks(np.array([[3.0, 1.0, 3.0, 9.0]]))
    array([[2.5, 1. , 2.5, 4. ]])
    """
    return ranks_and_ties(values)[0]


def ranks_and_ties(values: Floats) -> tuple[Floats, Floats]:
    """Return the midrank of each value in its row, and how many are equal to it: both shaped like `values`.

    >>> ranks_and_ties(np.array([[3.0, 1.0, 3.0]]))
    (array([[2.5, 1. , 2.5]]), array([[2., 1., 2.]]))
    """
    columns = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    new = np.ones(values.shape, dtype=np.bool_)  # the first of those that are equal
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(columns)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    ends = np.ones(values.shape, dtype=np.bool_)
    ends[:, :-1] = new[:, 1:]
    behind = np.where(ends, place, columns)[:, ::-1]
    last = np.minimum.accumulate(behind, axis=1)[:, ::-1]
    ranks, ties = np.empty(values.shape), np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    np.put_along_axis(ties, order, last - first + 1.0, axis=1)
    return ranks, ties


def _exact_p(difference: Floats) -> float:
    """The p-value of differences none of which is zero."""
    _, group, ties = np.unique(np.abs(difference), return_inverse=True, return_counts=True)
    twice = 2 * np.cumsum(ties) - ties + 1  # midranks end in a half at most
    at_most = _at_most(tuple(np.repeat(twice, ties).tolist()))
    positive = int(twice[group[difference > 0]].sum())
    # W and what is left of the sum are alike: P(W ≥ w) = P(W ≤ sum - w)
    tail = min(positive, len(at_most) - 1 - positive)
    return float(min(1.0, 2 * at_most[tail]))


@lru_cache(maxsize=256)  # of 20 kB each at the most; 0/1 scores need one for each count of tasks
def _at_most(twice_ranks: tuple[int, ...]) -> Floats:
    """Chance that the sum of a random choice of these is at most 0, 1, 2, …; one rank after another."""
    patterns = np.zeros(sum(twice_ranks) + 1)
    patterns[0] = 1.0
    for rank in twice_ranks:
        patterns[rank:] += patterns[:-rank].copy()
    return np.cumsum(patterns) / 2.0 ** len(twice_ranks)

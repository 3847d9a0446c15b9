"""Where the climb to an optimum begins, and from how many places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.passes import weighted_successes
from examiner.irt.estimation.score_kernels import bounded_scores
from examiner.irt.estimation.sources import ResponseSource, centres
from examiner.irt.items import SCORES, Floats
from examiner.irt.model import Point, Unknowns
from examiner.results import ResponseMatrix


def starting_points(
    source: ResponseSource, unknowns: Unknowns, count: int, rng: np.random.Generator
) -> list[Point]:
    """Return the first start from the responses, and others at random."""
    shared = "slope" in unknowns.shared
    slope, intercept, precision = first_start(source)
    if shared:  # one slope for all is positive, whichever task comes first
        middle = np.mean(slope) if source.response in SCORES else np.median(slope)
        slope = np.full(slope.size, max(float(middle), 0.1))
    points = [unknowns.start(slope, intercept, precision)]
    tasks = slope.size
    for child in rng.spawn(count - 1):
        # whatever the data say of slopes, and near what they say of intercepts
        drawn = np.full(tasks, child.uniform(0.3, 3.0)) if shared else child.normal(1.0, 1.0, tasks)
        near = intercept + child.normal(0.0, 1.0, tasks)
        points.append(unknowns.start(drawn, near, precision))
    return points


def number_of_starts(trials: float) -> int:
    """Return how many starts to try: small data have several optima.

    Ten up to 5,000 trials of all cells, one above 100,000.

    >>> number_of_starts(5_000), number_of_starts(100_001)
    (10, 1)
    """
    for most, count in ((5_000, 10), (20_000, 5), (100_000, 3)):
        if trials <= most:
            return count
    return 1


def first_start(source: ResponseSource) -> tuple[Floats, Floats, Floats | None]:
    """Return slopes, intercepts and, where scores have units, precisions to begin with, [tasks] each.

    They are from correlations of results with the total or mean result of agents.
    """
    if source.response == "beta":
        assert source.matrix is not None
        values, _ = bounded_scores(source.matrix)
        observed = ~np.isnan(values)
        safe = np.clip(np.where(observed, values, 0.5), 0.005, 0.995)
        slope, mean, _ = _regressed(np.log(safe / (1 - safe)), observed)
        return np.clip(slope, -4.0, 4.0), np.clip(mean, -6.0, 6.0), None
    if source.response == "normal":
        assert source.matrix is not None
        return _start_of_normal(source.matrix)
    (along,), _ = source.total(weighted_successes, source.whole.scores)
    return (*_start_along(along, source.whole.won, source.whole.tried), None)


def _start_along(along: Floats, won: Floats, tried: Floats) -> tuple[Floats, Floats]:
    """Slopes and intercepts from successes of each task weighted by standardised total scores.

    A task's correlation with the standardised total, divided by the height of the normal curve at its
    share, is about the biserial r; a = 1.702 r / √(1 − r²) in logits. Shares are smoothed.
    """
    share = (won + 0.5) / (tried + 1.0)
    logit = np.log(share / (1 - share))
    # Logistic and normal quantiles differ by 1.702; the normal height at the quantile is closed-form.
    height = np.exp(-0.5 * (logit / 1.702) ** 2) / np.sqrt(2 * np.pi)
    r = np.clip(along / tried / height, -0.9, 0.9)
    stretch = 1 / np.sqrt(1 - r**2)
    return np.clip(1.702 * r * stretch, -4.0, 4.0), logit * stretch


def _start_of_normal(matrix: ResponseMatrix) -> tuple[Floats, Floats, Floats]:
    """Slopes, intercepts (from the centres on) and precisions of scores without ends."""
    values = matrix.to_numpy() - centres(matrix)
    observed = ~np.isnan(values)
    scores = np.where(observed, values, 0.0)
    unit = np.sqrt((scores**2).sum(axis=0) / observed.sum(axis=0))
    slope, mean, left = _regressed(scores / unit, observed)
    deviation = np.sqrt(np.maximum(left, 0.05))  # a mean of few tasks fits its own too well
    return np.clip(slope / deviation, -4.0, 4.0), mean / deviation, (deviation * unit) ** -2.0


def _regressed(scores: Floats, observed: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Slopes on the standardised mean score of agents, means, and residual variances: [tasks] each."""
    count = observed.sum(axis=0)
    mean = np.where(observed, scores, 0.0).sum(axis=0) / count
    away = np.where(observed, scores - mean, 0.0)
    standing = away.sum(axis=1) / np.maximum(observed.sum(axis=1), 1)
    ability = (standing - standing.mean()) / max(float(standing.std()), 1e-12)
    centred = np.where(observed, ability[:, None], 0.0)
    slope = (centred * away).sum(axis=0) / np.maximum((centred**2).sum(axis=0), 1e-12)
    return slope, mean, ((away - slope * centred) ** 2).sum(axis=0) / count

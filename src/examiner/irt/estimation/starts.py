"""Where a fit starts: from correlations with the total score, and at random around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import squeezed
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.results import ResponseMatrix


def number_of_starts(agents: int, tasks: int) -> int:
    """Small data have several optima: ten starts below 5,000 cells, one above 100,000."""
    cells = agents * tasks
    for most, count in ((5_000, 10), (20_000, 5), (100_000, 3)):
        if cells <= most:
            return count
    return 1


def biserial_start(
    won: NDArray[np.floating], total_won: Floats, total_tried: Floats, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Return slopes and intercepts from shares and from correlations with the total score.

    `won` [agents, tasks] are successes, the totals [tasks] those of a task and its trials. A task's
    correlation with the standardised total, divided by the height of the normal curve at its share, is
    about the biserial r; a = 1.702 r / √(1 − r²) in logits. Shares are smoothed.
    """
    kind = won.dtype
    share = (total_won + 0.5) / (total_tried + 1.0)
    logit = np.log(share / (1 - share))
    total = np.asarray(won @ np.ones(len(total_won), dtype=kind), dtype=np.float64)
    ability = (total - total.mean()) / max(float(total.std()), 1e-12)
    # Logistic and normal quantiles differ by 1.702; the normal height at the quantile is closed-form.
    height = np.exp(-0.5 * (logit / 1.702) ** 2) / np.sqrt(2 * np.pi)
    covariance = np.asarray(ability.astype(kind) @ won, dtype=np.float64) / total_tried
    r = np.clip(covariance / height, -0.9, 0.9)
    stretch = 1 / np.sqrt(1 - r**2)
    slope = np.clip(1.702 * r * stretch, -4.0, 4.0)
    if shared_slope:
        slope = np.full(slope.size, max(0.1, float(np.median(slope))))
    return slope, logit * stretch


def random_start(
    first: tuple[Floats, Floats], rng: np.random.Generator, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Return slopes drawn from N(1, 1) whatever the data say, and intercepts near the shares'."""
    slope, intercept = first
    if shared_slope:
        return np.full(slope.size, rng.uniform(0.3, 3.0)), intercept + rng.normal(0, 1, slope.size)
    return rng.normal(1.0, 1.0, slope.size), intercept + rng.normal(0.0, 1.0, slope.size)


def general_start(
    tasks: tuple[str, ...], slope: Floats, intercept: Floats, response: Response
) -> ItemParameters:
    """Return a start with some guessing, slipping and precision around a 2PL."""
    return ItemParameters.of(
        tasks,
        slope,
        intercept,
        guessing=0.1,
        ceiling=0.95,
        precision=None if response == "binomial" else 10.0,
        response=response,
    )


def continuous_start(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Return slopes and intercepts of the logits of scores regressed on the mean score."""
    scores, observed = squeezed(matrix)
    logit = np.where(observed, np.log(scores / (1 - scores)), 0.0)
    count = observed.sum(axis=0)
    mean = logit.sum(axis=0) / count
    away = np.where(observed, logit - mean, 0.0)
    standing = away.sum(axis=1) / np.maximum(observed.sum(axis=1), 1)
    ability = (standing - standing.mean()) / max(float(standing.std()), 1e-12)
    centred = np.where(observed, ability[:, None], 0.0)
    slope = (centred * away).sum(axis=0) / np.maximum((centred**2).sum(axis=0), 1e-12)
    return np.clip(slope, -4.0, 4.0), np.clip(mean, -6.0, 6.0)

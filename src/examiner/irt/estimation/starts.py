"""Where a fit starts: from correlations with the total score, and from random places around it."""

from __future__ import annotations

import numpy as np

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


def random_start(
    first: tuple[Floats, Floats], rng: np.random.Generator, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Return slopes drawn from N(1, 1) whatever the data say, and intercepts near the shares'."""
    slope, intercept = first
    if shared_slope:
        return np.full(slope.size, rng.uniform(0.3, 3.0)), intercept + rng.normal(0, 1, slope.size)
    return rng.normal(1.0, 1.0, slope.size), intercept + rng.normal(0.0, 1.0, slope.size)


def general_start(
    matrix: ResponseMatrix, slope: Floats, intercept: Floats, response: Response
) -> ItemParameters:
    """Return a start with some guessing, slipping and precision around a 2PL."""
    return ItemParameters.of(
        matrix.tasks,
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

"""BCa: percentile intervals corrected for bias and skewness, with a stratified jackknife."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.messages import InputError, counted, shorten
from examiner.scores.aggregate import Aggregate, Statistic
from examiner.scores.uncertainty.bootstrap import Bootstrap
from examiner.scores.uncertainty.influence import by_deletion, deletions
from examiner.scores.uncertainty.resampling import Unit
from examiner.scores.uncertainty.strata import RunScores, Strata
from examiner.validation import Floats

FEWEST = 5
"""With fewer runs in a stratum the jackknife's third moments are noise."""


def check_corrected(scores: RunScores, aggregates: Sequence[Aggregate], unit: Unit) -> None:
    """Refuse the BCa interval where its correction would be noise.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> check_corrected(run_scores(Results.from_numpy(np.zeros((1, 2, 3)))), [], "runs")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The interval 'bca' needs 5 runs in every cell, and some have 3. \
Use 'studentised', which covers with few runs.
    """
    for aggregate in aggregates:
        if not aggregate.smooth:
            raise InputError(
                f"The interval 'bca' rests on a jackknife, which fails for the aggregate "
                f"{shorten(aggregate.name)}. Use 'studentised' or 'percentile'."
            )
    if unit == "both":
        raise InputError(
            "The interval 'bca' has no jackknife for runs and tasks at once. Use the unit 'runs' or "
            "'tasks', or the interval 'studentised'."
        )
    seen = [one for one in scores.strata if len(one.tasks)]
    if unit == "runs":
        fewest = min(int(one.runs.min()) for one in seen)
        if fewest < FEWEST:
            raise InputError(
                f"The interval 'bca' needs {FEWEST} runs in every cell, and some have {fewest}. Use "
                f"'studentised', which covers with few runs."
            )
    fewest = min(len(one.tasks) for one in seen)
    if unit == "tasks" and fewest < FEWEST:
        raise InputError(
            f"The interval 'bca' needs {FEWEST} tasks to resample them, and there are "
            f"{counted(fewest, 'task')}. Use 'studentised'."
        )


def corrected_bounds(
    bootstrap: Bootstrap, aggregates: Sequence[Aggregate], value: Floats, replicates: Floats
) -> Floats:
    r"""Return both ends of the BCa interval, shape [2, agents, aggregates].

    .. math:: \alpha' = \Phi\!\left(z_0 + \frac{z_0 + z_\alpha}{1 - a (z_0 + z_\alpha)}\right)

    with z₀ from the share of replicates below the estimate, ties half.

    References: Efron (1987); Davison & Hinkley (1997), section 5.3.
    """
    from scipy.special import ndtr, ndtri  # slow to import

    ends, level = np.full((2, *value.shape), np.nan), bootstrap.how.level
    tails = ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    for row, strata in enumerate(bootstrap.scores.strata):
        if not len(strata.tasks):
            continue
        for column, aggregate in enumerate(aggregates):
            drawn, point = replicates[row, column], value[row, column]
            below = ((drawn < point).mean() + (drawn <= point).mean()) / 2
            if not 0 < below < 1:  # all replicates on one side: nothing to correct by
                continue
            shift = float(ndtri(below))
            skew = acceleration(strata, aggregate.statistic, bootstrap.how.unit)
            shares = ndtr(shift + (shift + tails) / (1 - skew * (shift + tails)))
            ends[:, row, column] = np.percentile(drawn, 100 * shares)
    return ends


def acceleration(strata: Strata, statistic: Statistic, unit: Unit = "runs") -> float:
    r"""Acceleration from deleting one run (or task) at a time within its stratum.

    .. math:: a = \frac{1}{6} \frac{\sum_t n_t^{-3} \sum_i l_{ti}^3}
                  {\left(\sum_t n_t^{-2} \sum_i l_{ti}^2\right)^{3/2}}, \quad
              l_{ti} = (n_t - 1)\,(\bar\theta_{t(\cdot)} - \theta_{t(i)})

    References: Davison & Hinkley (1997), section 5.3, for several samples.

    >>> from examiner.scores.aggregate import mean
    >>> acceleration(Strata("a", np.array([0]), np.array([3]), np.array([[1.0, 2.0, 3.0]])), mean)
    0.0
    """
    tasks, sizes = deletions(strata, unit)
    influence = by_deletion(strata, statistic, unit)
    cubes = (influence**3 / sizes[tasks] ** 3).sum()
    squares = (influence**2 / sizes[tasks] ** 2).sum()
    return float(cubes / (6 * squares**1.5)) if squares > 0 else 0.0

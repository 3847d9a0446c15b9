"""Whether trials of one agent on one task are more alike than the curve alone makes them."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.checking import Randomness
from examiner.irt.fit import fit
from examiner.irt.model import Model
from examiner.results import ResponseMatrix
from examiner.wording import InputError


@dataclass(frozen=True, slots=True)
class OverdispersionTest:
    """Twice the gain in log-likelihood of the beta-binomial over the binomial, and its p-value.

    `correlation` is ρ = 1 / (1 + ν), how much two trials of one cell correlate beyond the curve.
    """

    statistic: float
    p_value: float
    precision: float
    correlation: float


def overdispersion(
    matrix: ResponseMatrix, model: str | Model = "2pl", *, rng: Randomness = 0
) -> OverdispersionTest:
    r"""Test whether k of n trials scatter more than the binomial, by the ratio of likelihoods.

    Both models are fitted by maximum likelihood. No overdispersion (1/ν = 0) is an end of the
    range, where half of all samples put the estimate when it is true; so

    .. math:: p = \tfrac12 P(\chi^2_1 \ge 2 (\ell_1 - \ell_0))

    References: Self & Liang (1987), case 5.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.linspace(-1, 1, 8))
    >>> matrix = simulate(items, 100, trials=4, interaction=1.5, rng=0)
    >>> bool(overdispersion(matrix, "1pl").p_value < 0.001)
    True
    """
    if not matrix.is_counts or int(matrix.trials.max()) < 2:
        raise InputError(
            "No cell has two trials, so that nothing is known of how alike trials are. "
            "Give successes of several trials."
        )
    from scipy.special import chdtrc

    plain = fit(matrix, model, estimator="ml", response="binomial", errors=False, rng=rng)
    wide = fit(matrix, model, estimator="ml", response="beta-binomial", errors=False, rng=rng)
    statistic = max(0.0, 2.0 * (wide.log_likelihood - plain.log_likelihood))
    p_value = 1.0 if statistic == 0.0 else float(0.5 * chdtrc(1, statistic))
    assert wide.items.precision is not None
    precision = float(wide.items.precision[0])
    return OverdispersionTest(statistic, p_value, precision, 1.0 / (1.0 + precision))

"""How a model is fitted: the options of a fit, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, get_args

import numpy as np

from examiner.irt.fitted import Estimator
from examiner.irt.items import Response
from examiner.irt.posterior import Quadrature
from examiner.irt.priors import Priors
from examiner.messages import InputError
from examiner.results import ResponseMatrix


class FittingOptions(TypedDict, total=False):
    """How a model is fitted, as keyword arguments; `Fitting` says what each means."""

    estimator: Estimator
    priors: Priors | Mapping[str, Any] | str | None  # Any: a Normal, or mean and standard deviation
    response: Response | None
    starts: int | None
    nodes: int | Quadrature | None
    errors: bool
    most_iterations: int
    landmark: float | None


QUICKLY: FittingOptions = {"starts": 1, "errors": False}
"""For fits of which there are many: bootstraps, draws and folds."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """A checked choice of how to fit.

    `estimator` is "map", with the weak `priors`, or "ml", without any. k successes of n > 1 trials are
    beta-binomial unless `response="binomial"`. `starts` is how many starts to try (by default ten for
    few trials in all, one for many: the first from correlations, the others random); `nodes` a number
    of Gauss–Hermite nodes or a `Quadrature`, by default a grid as fine as the test is long. Standard
    errors, and whether there is anything to see, are computed unless `errors=False`. `landmark` is the
    score at which the model normal reports difficulty: by default that of the recipe's normaliser (the
    human's 1 of "human", 0 of "random-only"), or 0.

    >>> Fitting(starts=0)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 0 starts are asked for. Give at least 1.
    """

    estimator: Estimator = "map"
    # Any: a Normal, or mean and standard deviation
    priors: Priors | Mapping[str, Any] | str | None = None
    response: Response | None = None
    starts: int | None = None
    nodes: int | Quadrature | None = None
    errors: bool = True
    most_iterations: int = 2000
    landmark: float | None = None

    def __post_init__(self) -> None:
        if self.estimator not in get_args(Estimator):
            raise InputError(f"The estimator is {self.estimator!r}. Choose 'map' or 'ml'.")
        if self.priors is not None and self.estimator == "ml":
            raise InputError("Priors are given with estimator='ml', which has none. Use 'map'.")
        if self.starts is not None and self.starts < 1:
            raise InputError(f"{self.starts} starts are asked for. Give at least 1.")
        if self.landmark is not None and not np.isfinite(self.landmark):
            raise InputError(f"The landmark is {self.landmark}. Give a score, such as 1.0.")

    @property
    def weak_priors(self) -> Priors | None:
        """The priors that the estimator has, the default ones where others are not given."""
        return Priors.of(self.priors) if self.estimator == "map" else None

    @property
    def rule(self) -> Quadrature | None:
        """The nodes that were asked for."""
        return Quadrature.gauss_hermite(self.nodes) if isinstance(self.nodes, int) else self.nodes


def check_near(landmark: float, matrix: ResponseMatrix) -> None:
    """Refuse a landmark that no agent is anywhere near: every difficulty would be an extrapolation.

    >>> scores = ResponseMatrix.from_array([[0.5, 2.0], [1.5, 3.5]])
    >>> check_near(10.0, scores)
    >>> check_near(1e300, scores)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The landmark is 1e+300, and the scores lie between 0.5 and 3.5. Give a \
score that agents reach, or nearly.
    """
    values = matrix.to_numpy()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    # farther off, a landmark is a slip of the keyboard, or in another unit
    reach = 100.0 * max(high - low, np.finfo(np.float64).tiny)
    if not low - reach <= landmark <= high + reach:
        raise InputError(
            f"The landmark is {landmark:g}, and the scores lie between {low:g} and {high:g}. Give a score "
            f"that agents reach, or nearly."
        )

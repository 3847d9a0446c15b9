r"""Whether tasks are still what they were: new agents against the parameters of an old fit.

The score of a task under its old slope a and intercept d is the gradient g of the expected log-likelihood
of new agents, with information I; the old estimates err too, with covariance Σ, so that

.. math:: X^2 = g^\top (I + I \Sigma I)^{-1} g \sim \chi^2_2

and I⁻¹g is how far the parameters would move in one step. I counts abilities as known, which makes the test
careful in short tests. What χ² names is drawn anew (`tails`): of few responses its tails are too thin.

References: Rao (1948), the score test; Glas (1998), for item parameter drift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.estimates import TaskErrors
from examiner.irt.estimation.heights import heights
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.growth.tails import Newcomers, Null, draws_for, tail
from examiner.irt.items import Floats, ItemParameters
from examiner.messages import counted, listed
from examiner.scores import benjamini_hochberg

_LEVEL = 0.05
_FEWEST = 20
"""New agents on a task below which a test by normal errors says nothing."""
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Drift:
    """Tasks of a fit against new agents; each array is [tasks], NaN where too few took it.

    `p` is adjusted for all tasks (Benjamini–Hochberg), and `shift` how far difficulty would move.
    """

    tasks: tuple[str, ...]
    shift: Floats
    p: Floats

    @property
    def moved(self) -> tuple[str, ...]:
        """The tasks that moved, the farthest first."""
        found = np.flatnonzero(self.p < _LEVEL)
        order = found[np.argsort(-np.abs(self.shift[found]), kind="stable")]
        return tuple(self.tasks[task] for task in order)

    def sentence(self) -> str:
        """Say what moved, and whether to fit all again.

        >>> Drift(("t", "u"), np.array([0.9, 0.0]), np.array([0.001, 0.8])).sentence()
        "1 of 2 tasks moved (5 %, Benjamini–Hochberg): 't'. Fit all results again, or look at them."
        """
        looked = int(np.isfinite(self.p).sum())
        if not looked:
            return (
                f"Whether tasks have changed is not known: none was taken by {_FEWEST} new agents."
            )
        moved = self.moved
        if not moved:
            return f"No task of {looked:,} is shown to have moved (5 %, Benjamini–Hochberg)."
        return (
            f"{len(moved):,} of {counted(looked, 'task')} moved (5 %, Benjamini–Hochberg): {listed(moved)}"
            f". Fit all results again, or look at them."
        )


def drift(
    found: KernelStatistics,
    items: ItemParameters,
    covariance: Floats,
    new: Newcomers,
    agents_before: int,
    rng: np.random.Generator,
) -> Drift:
    """Test every task of an old fit by an E-step of new agents; `covariance` is Σ, [tasks, 2, 2].

    Where Σ is not known, n new agents against N of the fit make it I⁻¹ n/N.
    """
    slopes = found.kernel.slopes(found.sums, found.shape, items.precision)
    at = heights(("slope", "intercept"), slopes, items, found.shape, found.nodes)
    bent = at.information + _RIDGE * np.eye(2)
    step = np.linalg.solve(bent, at.gradient[:, :, None])[:, :, 0]
    taken = (new.trials > 0).sum(axis=0)
    unknown = np.isnan(covariance).sum(axis=(1, 2)) > 0
    rough = np.linalg.inv(bent) * (taken / max(agents_before, 1))[:, None, None]
    covariance = np.where(unknown[:, None, None], rough, covariance)
    metric = np.linalg.inv(bent + bent @ covariance @ bent)
    statistic = np.einsum("tp,tpq,tq->t", at.gradient, metric, at.gradient)
    enough = np.flatnonzero(taken >= _FEWEST)
    p, shift = np.full((2, len(items)), np.nan)
    told = np.exp(-0.5 * statistic[enough])  # of χ² with 2 degrees
    if items.response == "binomial":
        named = np.flatnonzero(benjamini_hochberg(told) < _LEVEL)
        most = draws_for(len(enough), len(named))
        for place in named:
            task = int(enough[place])
            null = Null(covariance[task], metric[task])
            told[place] = tail(
                float(statistic[task]), items.take([task]), task, new, null, most, rng
            )
    p[enough] = benjamini_hochberg(told)
    slope, intercept = items.slope + step[:, 0], items.intercept + step[:, 1]
    shift[enough] = (-intercept / slope - items.difficulty)[enough]
    return Drift(items.tasks, shift, p)


def covariances(errors: TaskErrors | None, items: ItemParameters, sd: float) -> Floats:
    """Return Σ of slopes, for abilities in units of `sd`, and intercepts, [tasks, 2, 2]; NaN if unknown."""
    found = np.full((len(items), 2, 2), np.nan)
    if errors is None:
        return found
    found[:, 0, 0], found[:, 1, 1] = (sd * errors.slope) ** 2, errors.intercept**2
    found[:, 0, 1] = found[:, 1, 0] = sd * errors.covariance
    return found

r"""Whether tasks are still what they were: new agents against the parameters of an old fit.

The score of a task under its old slope a and intercept d is the gradient g of the expected log-likelihood
of new agents, with information I; n new agents against N old ones, whose estimate errs too, make

.. math:: X^2 = g^\top I^{-1} g \,/\, (1 + n/N) \sim \chi^2_2

and I⁻¹g is how far the parameters would move in one step. I counts abilities as known, which makes the test
careful in short tests.

References: Rao (1948), the score test; Glas (1998), for item parameter drift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.estimation.heights import heights
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.items import Floats, ItemParameters
from examiner.scores.significance import benjamini_hochberg
from examiner.wording import counted, listed

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
                f"Whether tasks have moved cannot be told: none was taken by {_FEWEST} new agents."
            )
        moved = self.moved
        if not moved:
            return f"No task of {looked:,} is shown to have moved (5 %, Benjamini–Hochberg)."
        return (
            f"{len(moved):,} of {counted(looked, 'task')} moved (5 %, Benjamini–Hochberg): {listed(moved)}"
            f". Fit all results again, or look at them."
        )


def drift(
    found: KernelStatistics, items: ItemParameters, taken: Floats, agents_before: int
) -> Drift:
    """Test every task of an old fit by an E-step of new agents; `taken` says how many took each."""
    slopes = found.kernel.slopes(found.sums, found.shape, items.precision)
    at = heights(("slope", "intercept"), slopes, items, found.shape, found.nodes)
    bent = at.information + _RIDGE * np.eye(2)
    step = np.linalg.solve(bent, at.gradient[:, :, None])[:, :, 0]
    statistic = (at.gradient * step).sum(axis=1) / (1.0 + taken / max(agents_before, 1))
    enough = taken >= _FEWEST
    p, shift = np.full((2, len(items)), np.nan)
    p[enough] = benjamini_hochberg(np.exp(-0.5 * statistic[enough]))  # of χ² with 2 degrees
    slope, intercept = items.slope + step[:, 0], items.intercept + step[:, 1]
    shift[enough] = (-intercept / slope - items.difficulty)[enough]
    return Drift(items.tasks, shift, p)

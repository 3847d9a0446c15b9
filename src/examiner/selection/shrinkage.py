"""How strongly covariances are shrunk: settled at each size by folds over the training agents alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import order_of_table
from examiner.selection.covariance import Conditionals, Covariance, blended
from examiner.selection.factors import Centred, Factors, factors_of
from examiner.validation import Floats

FACTORS = (1, 3)
SHRINKAGES = (0.9, 0.6, 0.3, 0.15)
"""Tried towards one common factor and towards three, and first of all nearly all the way towards one even
correlation of all tasks. On simulated and given tables neither more factors nor finer steps predicted
better, and each costs as much again."""
RUNGS = (3, 6, 12, 24, 48, 96)
"""Sizes of sets at which errors are compared; a size between them weighs those near it."""
FOLDS = 5
FEWEST_AGENTS = 8
"""With fewer, folds show nothing, and covariances are shrunk most."""


class Blend(NamedTuple):
    """Towards how many common factors covariances are shrunk (0: one even correlation), and how far."""

    factors: int
    shrinkage: float


BLENDS = (
    Blend(0, SHRINKAGES[0]),
    *(Blend(factors, shrinkage) for shrinkage in SHRINKAGES for factors in FACTORS),
)
"""All that are tried, the strongest first."""


class Shrinkage(NamedTuple):
    """Absolute errors of held-out agents, in units of their mean; [blends, rungs, agents].

    Without any rung, agents are too few to compare blends.
    """

    rungs: tuple[int, ...]
    errors: Floats

    def at(self, size: int) -> Blend:
        r"""Return the blend for sets of this size.

        Rung q weighs :math:`\min(q/k, k/q)` at size k. Of the blends whose error is within half a standard
        error (over agents) of the least one the strongest is taken; the even correlation only with the
        least.

        >>> Shrinkage((), np.empty((9, 0, 9))).at(5)
        Blend(factors=0, shrinkage=0.9)
        """
        if not self.rungs:
            return BLENDS[0]
        near = np.array([min(rung / size, size / rung) for rung in self.rungs])
        error = np.einsum("bqa,q->ba", self.errors, near / near.sum())
        worse = error - error[error.mean(axis=1).argmin()]
        # The strongest blend is taken whose error is within this of the least: among equals the
        # least is luck
        doubt = 0.5 * worse.std(axis=1) / np.sqrt(worse.shape[1])
        doubt[0] = 0.0  # all tasks correlate alike only where nothing else is as good
        return BLENDS[int(np.flatnonzero(worse.mean(axis=1) <= doubt + 1e-12)[0])]


def rungs_for(tasks: int) -> tuple[int, ...]:
    """Return the sizes at which errors are compared, of sets among this many tasks.

    >>> rungs_for(60)
    (3, 6, 12)
    """
    # Rungs go up to a third of the tasks
    largest = max(tasks // 3, 1)
    return tuple(rung for rung in RUNGS if rung <= largest) or (largest,)


@dataclass(frozen=True, eq=False)
class CovarianceData:
    """What covariances are learnt from: values [agents, tasks] with NaN for gaps, and the target [agents].

    `weights` [tasks] are those of the target, where it is a weighted mean of the tasks, else None.
    """

    values: Floats
    target: Floats
    weights: Floats | None

    def of(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> CovarianceData:
        """Return some agents' part."""
        return CovarianceData(self.values[rows], self.target[rows], self.weights)

    @cached_property
    def _centred(self) -> Centred:
        return Centred.of(self.values)

    @cached_property
    def _factors(self) -> dict[int, Factors]:
        return {}

    def covariance(self, blend: Blend) -> Covariance:
        """Return covariances under a blend; blends towards the same factors share their fit."""
        if blend.factors not in self._factors:
            self._factors[blend.factors] = factors_of(self._centred, blend.factors)
        factors = self._factors[blend.factors]
        return blended(factors, blend.shrinkage, weights=self.weights, target=self.target)


def settled(table: CovarianceData) -> Shrinkage:
    """Judge all blends in five folds: choose on four parts of the agents, predict the fifth.

    Content settles who is in which fold, so that the order of rows and columns means nothing.
    """
    agents, tasks = table.values.shape
    rungs = rungs_for(tasks)
    if agents < FEWEST_AGENTS:
        return Shrinkage((), np.empty((len(BLENDS), 0, agents)))
    rows, columns = order_of_table(
        table.values, *(list(map(str, range(n))) for n in table.values.shape)
    )
    table = CovarianceData(
        table.values[np.ix_(rows, columns)],
        table.target[rows],
        None if table.weights is None else table.weights[columns],
    )
    fold = np.arange(agents) % FOLDS
    off = np.empty((len(BLENDS), len(rungs), agents))
    for held_out in range(FOLDS):
        part, others = table.of(fold == held_out), table.of(fold != held_out)
        off[:, :, fold == held_out] = _errors(others, part, rungs)
    off = np.abs(off)
    scale = off.mean(axis=(0, 2))
    return Shrinkage(rungs, off / np.where(scale > 0, scale, 1.0)[None, :, None])


def _errors(others: CovarianceData, part: CovarianceData, rungs: tuple[int, ...]) -> Floats:
    """How far off the target of some agents is, predicted from others; [blends, rungs, agents]."""
    centre = float(others.target.mean())
    covariances = [others.covariance(blend) for blend in BLENDS]
    grown = Conditionals(covariances).grown(rungs[-1])
    values = np.stack(
        [
            part.values[:, chosen] - covariance.mean[chosen]
            for covariance, chosen in zip(covariances, grown.chosen, strict=True)
        ]
    )
    predictions = grown.predicted(np.where(np.isfinite(values), values, 0.0))
    return np.asarray(part.target - centre - predictions[:, [rung - 1 for rung in rungs]])

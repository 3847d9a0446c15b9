r"""Tables in which all agents were given the same: correlations of tasks with the rest in closed form.

Results x of tasks are centred, and weigh as much for all agents. With T = Σᵢ xᵢ the sum over tasks, a task
correlates with the sum over the others by

.. math:: r_i = \frac{x_i \cdot T - x_i \cdot x_i}
          {\sqrt{x_i \cdot x_i \, (T \cdot T - 2 x_i \cdot T + x_i \cdot x_i)}}
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.usable_responses import same_trials
from examiner.irt.items import Floats, ItemParameters, sigmoid_pair
from examiner.results import ResponseMatrix

_NOTHING = 1e-12


class EvenTables(NamedTuple):
    """Centred results [..., agents, tasks], each task's with the variance of its weight² [..., tasks].

    The weight is the deviation of a count by chance, and 1 for scores.
    """

    off: Floats
    weight: Floats

    @staticmethod
    def serves(matrix: ResponseMatrix) -> bool:
        """Whether all agents were given the same, and something."""
        if matrix.observed_cells is not None:
            return False
        if matrix.is_counts:
            return same_trials(matrix) and bool((matrix.trials[0] > 0).all())
        return bool(matrix.observed.all())

    @classmethod
    def of(cls, matrix: ResponseMatrix) -> EvenTables:
        """Return the results of a matrix."""
        if matrix.is_counts:
            return cls.of_counts(matrix.successes.astype(np.float64), matrix.trials[0])
        return cls.of_scores(matrix.to_numpy())

    @classmethod
    def of_scores(cls, values: Floats) -> EvenTables:
        """Return scores, each task's with variance 1."""
        return cls._weighted(values, np.ones((*values.shape[:-2], values.shape[-1])))

    @classmethod
    def of_counts(cls, won: Floats, trials: NDArray[np.unsignedinteger]) -> EvenTables:
        """Return successes of trials [tasks], with the variance that chance gives them."""
        share = won.mean(axis=-2) / trials
        weight = np.asarray(np.sqrt(trials * share * (1.0 - share)))
        if (trials == 1).all():  # the variance of a share that is 0 or 1 is what chance gives
            return cls(won - share[..., None, :], weight)
        return cls._weighted(won, weight)

    @classmethod
    def _weighted(cls, values: Floats, weight: Floats) -> EvenTables:
        off = values - values.mean(axis=-2, keepdims=True)
        size = np.sqrt(np.einsum("...at,...at->...t", off, off) / values.shape[-2])
        known = size > _NOTHING
        off *= np.divide(weight, size, out=np.zeros_like(size), where=known)[..., None, :]
        return cls(off, np.where(known, weight, 0.0))

    def correlations(self, total: Floats | None = None) -> Floats:
        """Return the correlation of each task with the sum over the others, [..., tasks]; 0 without one.

        `total` is the sum over tasks [..., agents], where some of them are not here.
        """
        off, total = self.off, self.off.sum(axis=-1) if total is None else total
        together = np.einsum("...at,...a->...t", off, total)
        own = off.shape[-2] * self.weight**2
        rest = np.einsum("...a,...a->...", total, total)[..., None] - 2 * together + own
        both = np.sqrt(np.maximum(own * rest, 0.0))
        r = np.divide(together - own, both, out=np.zeros_like(both), where=both > _NOTHING)
        return np.asarray(r)


def drawn_successes(
    items: ItemParameters,
    abilities: Floats,
    trials: NDArray[np.unsignedinteger],
    rng: np.random.Generator,
) -> Floats:
    """Draw successes of trials [tasks] of agents with abilities [..., agents]: [..., agents, tasks].

    As `simulate` does, for hundreds of tables at once: single trials from uniform numbers in single
    precision, which takes a quarter of the time.
    """
    eta = np.multiply.outer(abilities, items.slope) + items.intercept
    chance = items.guessing + (items.ceiling - items.guessing) * sigmoid_pair(eta)[0]
    if (trials == 1).all():
        return (rng.random(eta.shape, dtype=np.float32) < chance).astype(np.float64)
    return rng.binomial(trials.astype(np.int64), np.clip(chance, 0.0, 1.0)).astype(np.float64)

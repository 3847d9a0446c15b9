"""Results the rest of an agent's results did not lead one to expect."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.estimation.kernels import MARGIN
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import probability

UNEXPECTED = 0.05
"""A result with a smaller chance, given the agent's other results, is called unexpected."""


class Unexpected(NamedTuple):
    """A result beside what was expected: the chance of one so far off, or farther, to the same side."""

    task: str
    result: float
    expected: float
    chance: float


class Cells(NamedTuple):
    """One agent's observed cells, each [tasks]: successes and trials, or scores and ones."""

    value: Floats
    trials: Floats


def unexpected_results(
    items: ItemParameters, cells: Cells, joint: Floats, each: Floats, nodes: Floats
) -> tuple[Unexpected, ...]:
    """Return the results that the agent's other results make improbable, the least probable first.

    `joint` [nodes] is the agent's log posterior and `each` [tasks, nodes] the log-likelihood of each
    cell in it: a task is judged by the posterior without its own result, p(θ) / f(x | θ).
    """
    success = probability(items, nodes)
    without = joint - each
    without -= without.max(axis=1, keepdims=True)
    weights = np.exp(without)
    weights /= weights.sum(axis=1, keepdims=True)
    expected = (weights * success).sum(axis=1)
    share = cells.value / cells.trials
    below, above = _tails(items, cells, success)
    lower = share < expected
    chance = np.where(lower, (weights * below).sum(axis=1), (weights * above).sum(axis=1))
    found = np.flatnonzero(chance < UNEXPECTED)
    order = found[np.argsort(chance[found], kind="stable")]
    return tuple(
        Unexpected(
            items.tasks[place], float(share[place]), float(expected[place]), float(chance[place])
        )
        for place in order
    )


def _tails(items: ItemParameters, cells: Cells, success: Floats) -> tuple[Floats, Floats]:
    """P(X ≤ x) and P(X ≥ x) of each cell at each node, [tasks, nodes]."""
    from scipy.special import bdtr, bdtrc, betainc

    value, trials = cells.value[:, None], cells.trials[:, None]
    if items.response == "beta":
        phi = np.asarray(items.precision)[:, None]
        up = np.clip(success, 1e-10, 1 - 1e-10) * phi
        # Moved inwards as for the fit: under a beta an exact 0 or 1 would have no chance at all.
        below = np.asarray(betainc(up, phi - up, MARGIN + (1 - 2 * MARGIN) * value))
        return below, 1.0 - below
    if items.response == "beta-binomial" and items.precision is not None:
        return _overdispersed_tails(items.precision, cells, success)
    below = np.asarray(bdtr(value, trials.astype(int), success))
    above = np.where(value > 0, bdtrc(value - 1, trials.astype(int), success), 1.0)
    return below, above


def _overdispersed_tails(precision: Floats, cells: Cells, success: Floats) -> tuple[Floats, Floats]:
    """Sums of beta-binomial chances, Σ C(n, r) B(r + α, n − r + β) / B(α, β)."""
    from scipy.special import betaln, gammaln

    nu = np.minimum(precision, 1e8)[:, None]  # beyond that it is the binomial to eight digits
    up = np.clip(success, 1e-10, 1 - 1e-10) * nu
    down = nu - up
    below, above = np.zeros_like(success), np.zeros_like(success)
    n, k = cells.trials[:, None], cells.value[:, None]
    for r in range(int(cells.trials.max()) + 1):
        choose = gammaln(n + 1) - gammaln(r + 1) - gammaln(np.maximum(n - r, 0) + 1)
        chance = np.exp(choose + betaln(r + up, np.maximum(n - r, 0) + down) - betaln(up, down))
        chance = np.where(r <= n, chance, 0.0)
        below += np.where(r <= k, chance, 0.0)
        above += np.where(r >= k, chance, 0.0)
    return below, above

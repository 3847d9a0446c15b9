"""Curves: how successes on each task rise with an agent's score, and predictions from a few tasks by them.

Lines through the training agents leave [0, 1] beyond them: for an agent better than all they predict too
much on tasks that everybody solves, and too little on those that nobody did. Curves level off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt import sigmoid_pair
from examiner.messages import InputError
from examiner.validation import Axes, Bounds, Floats, read_only

NODES = np.linspace(-6.0, 6.0, 61)
"""Abilities at which the posterior of an agent is summed, in deviations of the training agents."""
SLOPE_VARIANCE_FOR_NEWER = 0.05
"""Slopes among today's agents hardly apply to better ones (`benchmarks/newer_agents.py`)."""
INTERCEPT_VARIANCE = 9.0
"""Variances of the normal priors about 1 and 0: a task that nobody solves has a curve, too."""
BLOCK_CELLS = 1 << 16
"""A block of tasks stays within the processor's cache."""
_WITHIN = 1e-6


class ByCurves(NamedTuple):
    """Predictions of curves: scores, means over the tasks not run, and the posterior at each node."""

    score: Floats  # [..., agents]
    remainder: Floats  # [..., agents]
    posterior: Floats  # [..., agents, nodes]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCurves:
    r"""Logistic curves of tasks, :math:`p_t(\theta) = 1 / (1 + e^{-(a_t \theta + d_t)})`.

    θ is the log-odds of an agent's score in deviations of the training agents. `dispersion` is the variance
    of shares relative to that of one success or failure (near 1 for these, near 1/10 for shares of ten),
    `weight` is that of each task in the score, and `usual` and `ends` are the ranges of the middle eight
    tenths of agents and of all. `alone` says that lines are not used: agents will be better than these.
    """

    slope: Annotated[Floats, Axes("all tasks")]
    intercept: Annotated[Floats, Axes("all tasks")]
    weight: Annotated[Floats, Axes("all tasks")]
    dispersion: Annotated[float, Bounds(1e-9, 1e9, "a number above 0")]
    usual: tuple[float, float]
    ends: tuple[float, float]
    alone: bool = False

    def __post_init__(self) -> None:
        for name in ("slope", "intercept", "weight"):
            check_small(getattr(self, name), f"{name} of the curves")
            read_only(getattr(self, name))
        check_small(np.array([*self.usual, *self.ends]), "agents' scores")

    def shares(self) -> Floats:
        """Return the expected share of successes at each node, [nodes, tasks]."""
        solved, _ = sigmoid_pair(NODES[:, None] * self.slope + self.intercept)
        return np.clip(solved, _WITHIN, 1.0 - _WITHIN)

    def posterior(self, values: Floats, shares: Floats) -> Floats:
        r"""Return the posterior probability of each node given shares of successes, [..., agents, nodes].

        .. math:: \log P(\theta \mid x) = -\frac{\theta^2}{2} + \frac{1}{\phi} \sum_t x_t \log p_t(\theta)
                  + (1 - x_t) \log (1 - p_t(\theta)) + \text{constant}

        `values` [..., agents, tasks] may have gaps, and `shares` [..., nodes, tasks] are of the same tasks.
        """
        is_observed = np.isfinite(values)
        won = np.clip(np.where(is_observed, values, 0.0), 0.0, 1.0)
        lost = np.log1p(-shares).swapaxes(-1, -2)
        log = won @ (np.log(shares).swapaxes(-1, -2) - lost)
        # without gaps, what is lost is the same for every agent
        log += (
            lost.sum(axis=-2)[..., None, :]
            if is_observed.all()
            else is_observed.astype(np.float64) @ lost
        )
        log = log / self.dispersion - NODES**2 / 2
        likely = np.exp(log - log.max(axis=-1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=-1, keepdims=True))

    def predicted(self, values: Floats, tasks: NDArray[np.intp], shares: Floats) -> ByCurves:
        """Return what is expected of agents from their shares of successes on some tasks, with gaps.

        A task that was run counts with its result. `tasks` [..., size] may hold several sets, `values` are
        [..., agents, size], and `shares` those at the nodes, of all tasks.
        """
        of_set = np.moveaxis(shares[:, tasks], 0, -2)
        posterior = self.posterior(values, of_set)
        off = np.where(np.isfinite(values), values - posterior @ of_set, 0.0)
        others = max(shares.shape[1] - tasks.shape[-1], 1)
        remainder = posterior @ ((shares.sum(axis=1) - of_set.sum(axis=-1)) / others)[..., None]
        score = posterior @ (shares @ self.weight) + (off @ self.weight[tasks][..., None])[..., 0]
        return ByCurves(score, remainder[..., 0], posterior)

    def part(self, line: Floats, curve: Floats) -> Floats:
        """Return the weight of curves next to lines, given both predictions: half, and 1 at the ends.

        Within the middle eight tenths of agents it is half, from there to the best and the worst agent it
        grows to all.

        >>> curves = ScoreCurves(*np.ones((3, 1)), 1.0, (0.2, 0.8), (0.0, 1.0))
        >>> curves.part(np.array([0.5, 0.9, 1.3]), np.array([0.6, 0.9, 1.1]))
        array([0.5 , 0.75, 1.  ])
        """
        if self.alone:
            return np.ones(np.broadcast_shapes(np.shape(line), np.shape(curve)))
        middle = (line + curve) / 2
        least, most = (
            max(abs(end - near), 1e-9) for end, near in zip(self.ends, self.usual, strict=True)
        )
        beyond = np.maximum((self.usual[0] - middle) / least, (middle - self.usual[1]) / most)
        return np.asarray(0.5 + 0.5 * np.clip(beyond, 0.0, 1.0))


def check_small(values: Floats | float, what: str) -> None:
    """Refuse stored numbers that no agents give: what is not finite, or whose products are not.

    >>> check_small(float("nan"), "predictor's mean")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The predictor's mean holds nan, which no agents give. Make it again.
    """
    flat = np.ravel(values)
    # squares and sums of larger numbers leave float64
    odd = flat[~(np.abs(flat) < 1e100)]
    if len(odd):
        raise InputError(f"The {what} holds {odd[0]:g}, which no agents give. Make it again.")


def curves_of(
    values: Floats, target: Floats, weight: Floats, *, newer: bool = False
) -> ScoreCurves:
    """Learn the curves from shares of successes [agents, tasks] with gaps, and the agents' scores.

    Priors keep them finite; the two parameters of every task are estimated for all tasks at once.
    For `newer` agents curves count alone, and slopes are nearly equal where results are zeros and ones.

    >>> rng = np.random.default_rng(0)
    >>> shares = (rng.normal(size=(200, 1)) > rng.normal(size=(200, 3)) + [-1, 0, 1]).astype(float)
    >>> found = curves_of(shares, shares.mean(axis=1), np.full(3, 1 / 3))
    >>> bool((np.diff(found.intercept) < 0).all())
    True
    """
    is_observed = np.isfinite(values)
    count = np.maximum(is_observed.sum(axis=1), 1)
    score = (target * count + 0.5) / (count + 1)
    odds = np.log(score / (1 - score))
    ability = (odds - odds.mean()) / max(float(odds.std()), 1e-9)
    step = max(1, BLOCK_CELLS // len(values))
    blocks = [values[:, start : start + step] for start in range(0, values.shape[1], step)]
    cells = max(int(is_observed.sum()), 1)

    def learnt(variance: float) -> tuple[Floats, Floats, float]:
        parts = [_curves(block, ability, variance) for block in blocks]
        slope, intercept = (np.concatenate([part[index] for part in parts]) for index in (0, 1))
        return slope, intercept, max(sum(part[2] for part in parts) / cells, 1e-6)

    slope, intercept, dispersion = learnt(SLOPE_VARIANCE_FOR_NEWER if newer else 0.5)
    single = bool(np.isin(values[is_observed], (0.0, 1.0)).all())
    if newer and not single and dispersion < 1:  # shares of many say more of slopes
        slope, intercept, dispersion = learnt(SLOPE_VARIANCE_FOR_NEWER / dispersion)
    low, near, far, high = np.quantile(target, [0.0, 0.1, 0.9, 1.0]).tolist()
    return ScoreCurves(slope, intercept, weight, dispersion, (near, far), (low, high), newer)


def _curves(values: Floats, ability: Floats, slope_variance: float) -> tuple[Floats, Floats, float]:
    """Slopes and intercepts of some tasks, and the squares that they leave."""
    is_observed = np.isfinite(values)
    won = np.where(is_observed, values, 0.0)
    share = (won.sum(axis=0) + 0.5) / (is_observed.sum(axis=0) + 1)
    slope, intercept = np.ones(values.shape[1]), np.log(share / (1 - share))
    # Newton steps: from flat curves the fifth one hardly moves any more
    for _ in range(8):
        solved, failed = sigmoid_pair(ability[:, None] * slope + intercept)
        off = np.where(is_observed, won - solved, 0.0)
        curved = np.where(is_observed, solved * failed, 0.0)
        up, turn = (
            off.sum(axis=0) - intercept / INTERCEPT_VARIANCE,
            ability @ off - (slope - 1) / slope_variance,
        )
        flat = curved.sum(axis=0) + 1 / INTERCEPT_VARIANCE
        steep = ability**2 @ curved + 1 / slope_variance
        both = ability @ curved
        size = flat * steep - both**2
        rise = np.clip((steep * up - both * turn) / size, -1, 1)
        lean = np.clip((flat * turn - both * up) / size, -1, 1)
        intercept, slope = intercept + rise, slope + lean
        if max(np.abs(rise).max(initial=0.0), np.abs(lean).max(initial=0.0)) < 1e-6:
            break
    solved, failed = sigmoid_pair(ability[:, None] * slope + intercept)
    off = np.where(is_observed, (won - solved) ** 2 / np.maximum(solved * failed, 1e-3), 0.0)
    return slope, intercept, float(off.sum())

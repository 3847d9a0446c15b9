"""Curves: how successes on each task rise with an agent's score, and what a few tasks say by them.

Lines through the agents seen leave 0 and 1 beyond them: of an agent better than all they say too much on
tasks that everybody solves, and too little on those that nobody did. Curves level off.
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
"""Abilities at which what is known of an agent is added up, in deviations of the agents seen."""
SLOPE_VARIANCE = 0.5
SLOPE_VARIANCE_FOR_NEWER = 0.05
"""Slopes among the agents seen say little of better ones (`benchmarks/newer_agents.py`)."""
INTERCEPT_VARIANCE = 9.0
"""Variances of the normal priors about 1 and 0: a task that nobody solves has a curve, too."""
STEPS = 8
"""Newton steps: from flat curves the fifth one hardly moves any more."""
SETTLED = 1e-6
BLOCK_CELLS = 1 << 16
"""A block of tasks stays within the processor's cache."""
_WITHIN = 1e-6
_LARGEST = 1e100  # squares and sums of larger numbers leave float64
_LEAST_VARIANCE = (
    1e-3  # one surprise on a task that everybody solves must not decide the dispersion
)


class ByCurves(NamedTuple):
    """What curves say of agents: scores, means over the tasks not run, and how likely each node is."""

    score: Floats  # [..., agents]
    rest: Floats  # [..., agents]
    known: Floats  # [..., agents, nodes]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCurves:
    r"""Logistic curves of tasks, :math:`p_t(\theta) = 1 / (1 + e^{-(a_t \theta + d_t)})`.

    θ is the log-odds of an agent's score in deviations of the agents seen. `dispersion` is the variance of
    shares beside that of one success or failure (near 1 for these, near 1/10 for shares of ten), `weight`
    says how tasks make up the score, and `usual` and `ends` hold where the middle eight tenths of agents
    and all of them have theirs. `alone` says that lines do not count: agents will be better than these.
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

    def known(self, values: Floats, shares: Floats) -> Floats:
        r"""Return how likely each node is after an agent's shares of successes, [..., agents, nodes].

        .. math:: \log P(\theta \mid x) = -\frac{\theta^2}{2} + \frac{1}{\phi} \sum_t x_t \log p_t(\theta)
                  + (1 - x_t) \log (1 - p_t(\theta)) + \text{constant}

        `values` [..., agents, tasks] may have gaps, and `shares` [..., nodes, tasks] are of the same tasks.
        """
        seen = np.isfinite(values)
        won = np.clip(np.where(seen, values, 0.0), 0.0, 1.0)
        lost = np.log1p(-shares).swapaxes(-1, -2)
        log = won @ (np.log(shares).swapaxes(-1, -2) - lost)
        # without gaps, what is lost is the same for every agent
        log += lost.sum(axis=-2)[..., None, :] if seen.all() else seen.astype(np.float64) @ lost
        log = log / self.dispersion - NODES**2 / 2
        likely = np.exp(log - log.max(axis=-1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=-1, keepdims=True))

    def predicted(self, values: Floats, tasks: NDArray[np.intp], shares: Floats) -> ByCurves:
        """Return what is expected of agents from their shares of successes on some tasks, with gaps.

        A task that was run counts as it went. `tasks` [..., size] may hold several sets, `values` are
        [..., agents, size], and `shares` those at the nodes, of all tasks.
        """
        own = np.moveaxis(shares[:, tasks], 0, -2)
        known = self.known(values, own)
        off = np.where(np.isfinite(values), values - known @ own, 0.0)
        others = max(shares.shape[1] - tasks.shape[-1], 1)
        rest = known @ ((shares.sum(axis=1) - own.sum(axis=-1)) / others)[..., None]
        score = known @ (shares @ self.weight) + (off @ self.weight[tasks][..., None])[..., 0]
        return ByCurves(score, rest[..., 0], known)

    def part(self, line: Floats, curve: Floats) -> Floats:
        """Return how much curves count beside lines, given what both say: half, and all at the ends.

        Within the middle eight tenths of agents it is half, from there to the best and the worst agent it
        grows to all.

        >>> curves = ScoreCurves(*np.ones((3, 1)), 1.0, (0.2, 0.8), (0.0, 1.0))
        >>> curves.part(np.array([0.5, 0.9, 1.3]), np.array([0.6, 0.9, 1.1]))
        array([0.5 , 0.75, 1.  ])
        """
        if self.alone:
            return np.ones(np.broadcast_shapes(np.shape(line), np.shape(curve)))
        said = (line + curve) / 2
        least, most = (
            max(abs(end - near), 1e-9) for end, near in zip(self.ends, self.usual, strict=True)
        )
        beyond = np.maximum((self.usual[0] - said) / least, (said - self.usual[1]) / most)
        return np.asarray(0.5 + 0.5 * np.clip(beyond, 0.0, 1.0))


def check_small(values: Floats | float, what: str) -> None:
    """Refuse stored numbers that no agents give: what is not finite, or whose products are not.

    >>> check_small(float("nan"), "predictor's mean")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The predictor's mean holds nan, which no agents give. Make it again.
    """
    flat = np.ravel(values)
    odd = flat[~(np.abs(flat) < _LARGEST)]
    if len(odd):
        raise InputError(f"The {what} holds {odd[0]:g}, which no agents give. Make it again.")


def curves_of(
    values: Floats, target: Floats, weight: Floats, *, newer: bool = False
) -> ScoreCurves:
    """Learn the curves from shares of successes [agents, tasks] with gaps, and the agents' scores.

    The priors keep them from running away; every task has its own two numbers, found at once for all tasks.
    For `newer` agents curves count alone, and slopes are nearly equal where results are zeros and ones.

    >>> rng = np.random.default_rng(0)
    >>> shares = (rng.normal(size=(200, 1)) > rng.normal(size=(200, 3)) + [-1, 0, 1]).astype(float)
    >>> found = curves_of(shares, shares.mean(axis=1), np.full(3, 1 / 3))
    >>> bool((np.diff(found.intercept) < 0).all())
    True
    """
    seen = np.isfinite(values)
    count = np.maximum(seen.sum(axis=1), 1)
    score = (target * count + 0.5) / (count + 1)
    odds = np.log(score / (1 - score))
    ability = (odds - odds.mean()) / max(float(odds.std()), 1e-9)
    step = max(1, BLOCK_CELLS // len(values))
    blocks = [values[:, start : start + step] for start in range(0, values.shape[1], step)]
    cells = max(int(seen.sum()), 1)

    def learnt(variance: float) -> tuple[Floats, Floats, float]:
        parts = [_curves(block, ability, variance) for block in blocks]
        slope, intercept = (np.concatenate([part[index] for part in parts]) for index in (0, 1))
        return slope, intercept, max(sum(part[2] for part in parts) / cells, 1e-6)

    slope, intercept, dispersion = learnt(SLOPE_VARIANCE_FOR_NEWER if newer else SLOPE_VARIANCE)
    single = bool(np.isin(values[seen], (0.0, 1.0)).all())
    if newer and not single and dispersion < 1:  # shares of many say more of slopes
        slope, intercept, dispersion = learnt(SLOPE_VARIANCE_FOR_NEWER / dispersion)
    low, near, far, high = np.quantile(target, [0.0, 0.1, 0.9, 1.0]).tolist()
    return ScoreCurves(slope, intercept, weight, dispersion, (near, far), (low, high), newer)


def _curves(values: Floats, ability: Floats, slope_variance: float) -> tuple[Floats, Floats, float]:
    """Slopes and intercepts of some tasks, and the squares that they leave."""
    seen = np.isfinite(values)
    won = np.where(seen, values, 0.0)
    share = (won.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1)
    slope, intercept = np.ones(values.shape[1]), np.log(share / (1 - share))
    for _ in range(STEPS):
        solved, failed = sigmoid_pair(ability[:, None] * slope + intercept)
        off = np.where(seen, won - solved, 0.0)
        curved = np.where(seen, solved * failed, 0.0)
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
        if max(np.abs(rise).max(initial=0.0), np.abs(lean).max(initial=0.0)) < SETTLED:
            break
    solved, failed = sigmoid_pair(ability[:, None] * slope + intercept)
    off = np.where(seen, (won - solved) ** 2 / np.maximum(solved * failed, _LEAST_VARIANCE), 0.0)
    return slope, intercept, float(off.sum())

r"""Covariances between tasks, shrunk and of low rank, and what the tasks already chosen leave of them.

Agents are taken as draws from one distribution over tasks with a mean and a covariance. No target of any
agent is looked at while tasks are weighed, so that more tasks cannot be fitted to the agents there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats

ITERATIONS = 25
"""Steps of EM from principal components; what is left to gain is less than what shrinking takes away."""
PRIOR_AGENTS = 1.0
"""Loadings are held at 0 as if by so many agents more: a task may have fewer agents than factors."""
LEAST_NOISE = 0.02
"""Share of a task's variance that is its own, at least: a factor must not be one task (Heywood)."""
USED_UP = 1e-6
"""A task with less than this share of its variance left is told by those chosen."""


class Factors(NamedTuple):
    """A few common factors of tasks: x = mean + loadings · f + e, with f ~ N(0, I), e of own variance.

    `filled` are the agents' values about the mean, gaps as the factors expect them.
    """

    mean: Floats  # [tasks]
    loadings: Floats  # [tasks, factors]
    noise: Floats  # [tasks]
    scores: Floats  # [agents, factors]
    second: Floats  # [factors, factors]: sum over agents of E[f fᵀ]
    filled: Floats  # [agents, tasks]
    gaps: Floats  # [tasks]: the share of agents not observed


def factors_of(values: Floats, count: int) -> Factors:
    r"""Fit common factors to values [agents, tasks] by EM over the observed cells alone; NaN is a gap.

    With :math:`O_a` the tasks of agent a and :math:`\Psi` the tasks' own variances,

    .. math:: V_a = \Big(I + \sum_{t \in O_a} w_t w_t^\top / \psi_t\Big)^{-1}, \qquad
              \hat f_a = V_a \sum_{t \in O_a} w_t (x_{at} - \mu_t) / \psi_t

    and each task is regressed on 1 and the factors of its agents (Rubin & Thayer, 1982, eqs. 4–5, with
    gaps). So an agent that played half of the tasks tells about those. A count of 0 stands for one factor
    that correlates evenly with all tasks.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(200, 1)) * [1.0, 2.0, 1.0] + 0.1 * rng.normal(size=(200, 3))
    >>> found = np.abs(factors_of(table, 1).loadings[:, 0])
    >>> (found / found[0]).round(1)
    array([1., 2., 1.])
    """
    seen = np.isfinite(values)
    agents, tasks = values.shape
    held, complete = seen.astype(np.float64), bool(seen.all())
    patterns = held[:1] if complete else held
    number = np.maximum(held.sum(axis=0), 1.0)
    centre = np.where(seen, values, 0.0).sum(axis=0) / number
    x = np.where(seen, values - centre, 0.0)
    variance = (x**2).sum(axis=0) / number
    floor = LEAST_NOISE * variance + 1e-9 * max(float(variance.mean()), 1e-300)
    loadings = _start(x, count, variance, float(held.mean()))
    steps, count = (ITERATIONS if count else 0), loadings.shape[1]
    noise = np.maximum(variance - (loadings**2).sum(axis=1), floor)
    shift = np.zeros(tasks)
    prior = np.diag([1e-6, *[PRIOR_AGENTS] * count])
    for _ in range(steps):
        scores, spread = _scores(x - held * shift, patterns, loadings, noise)
        design = np.column_stack([np.ones(agents), scores])
        along = x.T @ design
        if complete:  # all tasks have the same agents, and so the same moments
            moments = design.T @ design
            moments[1:, 1:] += agents * spread[0]
            found = np.linalg.solve(moments + prior, along.T).T
        else:
            squares = design[:, :, None] * design[:, None, :]
            squares[:, 1:, 1:] += spread
            sums = (held.T @ squares.reshape(agents, -1)).reshape(tasks, count + 1, count + 1)
            found = np.linalg.solve(sums + prior, along[:, :, None])[:, :, 0]
        shift, loadings = found[:, 0], found[:, 1:]
        noise = np.maximum(variance - (found * along).sum(axis=1) / number, floor)
    scores, spread = _scores(x - held * shift, patterns, loadings, noise)
    filled = np.where(seen, x - shift, scores @ loadings.T)
    second = scores.T @ scores + np.broadcast_to(spread, (agents, count, count)).sum(axis=0)
    return Factors(centre + shift, loadings, noise, scores, second, filled, 1 - held.mean(axis=0))


def _start(x: Floats, count: int, variance: Floats, share: float) -> Floats:
    r"""Loadings before EM: principal components; with 0 factors that of one even correlation for all pairs.

    .. math:: \bar r = \frac{\operatorname{Var}(\sum_t z_t) / m - 1}{m - 1}, \qquad
              w_t = \sqrt{\bar r}\, s_t

    (Ledoit & Wolf, 2004, section 3.2), which few agents can tell. `share` is that of the cells observed.
    """
    agents = len(x)
    if count:
        _, size, right = np.linalg.svd(x, full_matrices=False)
        # Of two tasks a cell is there twice as rarely: what gaps take off covariances is given back.
        scale = np.sqrt(agents) * max(share, 1e-3)
        return np.asarray(right[:count].T * (size[:count] / scale))
    deviation = np.sqrt(variance)
    z = x / np.where(deviation > 0, deviation, 1.0)
    varied = max(int((deviation > 0).sum()), 2)
    together = float((z.sum(axis=1) ** 2).mean()) / varied / max(share, 1e-3)
    even = min(max((together - 1.0) / (varied - 1) / max(share, 1e-3), 0.0), 0.95)
    return np.asarray(np.sqrt(even) * deviation)[:, None]


def _scores(x: Floats, held: Floats, loadings: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Expected factors of each agent and their covariances; [agents, factors] and one matrix more.

    `held` [agents, tasks] says which cells were observed; one row stands for all where these are alike.
    """
    count = loadings.shape[1]
    weighed = loadings / noise[:, None]
    products = (weighed[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    precision = np.eye(count) + (held @ products).reshape(-1, count, count)
    spread = np.linalg.inv(precision)
    scores: Floats = ((x @ weighed)[:, None, :] @ spread)[:, 0]
    return scores, np.asarray(spread, dtype=np.float64)


class Covariance(NamedTuple):
    """Covariance L Lᵀ + diag(noise) between tasks, and that of each task with the target.

    No matrix [tasks, tasks] is ever made.
    """

    mean: Floats  # [tasks]
    loadings: Floats  # [tasks, rank]
    noise: Floats  # [tasks]
    with_target: Floats  # [tasks]
    target_variance: float

    @property
    def variances(self) -> Floats:
        """Each task's variance, [tasks]."""
        return np.asarray(np.einsum("tr,tr->t", self.loadings, self.loadings) + self.noise)


def blended(
    factors: Factors, shrinkage: float, *, weights: Floats | None, target: Floats
) -> Covariance:
    r"""Blend the covariance of a few common factors with the one observed.

    .. math:: C = s\,(W W^\top + \Psi) + (1 - s)\, \tfrac1n \sum_a E[z_a z_a^\top \mid x_a]

    as Ledoit & Wolf (2003, eq. 1) shrink towards one factor. With n agents C has the rank n and a few.
    A target that is a weighted mean of the tasks has the covariance C w with them; any other (a median) is
    taken as one more column, which is blended alike.

    >>> table = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    >>> half = np.full(2, 0.5)
    >>> found = blended(factors_of(table, 1), 0.5, weights=half, target=table @ half)
    >>> bool(np.isclose(found.target_variance, found.with_target @ half))
    True
    """
    agents, seen = len(factors.filled), 1.0 - shrinkage
    loadings = np.column_stack(
        [np.sqrt(shrinkage) * factors.loadings, np.sqrt(seen / agents) * factors.filled.T]
    )
    noise = (shrinkage + seen * factors.gaps) * factors.noise
    noise = noise + 1e-6 * max(float(factors.noise.mean()), 1e-300)
    if weights is not None:
        with_target: Floats = loadings @ (weights @ loadings) + noise * weights
        return Covariance(factors.mean, loadings, noise, with_target, float(weights @ with_target))
    about = target - target.mean()
    own = np.linalg.solve(factors.second, factors.scores.T @ about)
    observed = factors.filled.T @ about / agents
    with_target = shrinkage * (factors.loadings @ own) + seen * observed
    return Covariance(factors.mean, loadings, noise, with_target, float((about**2).mean()))


class Conditionals:
    r"""What tasks chosen leave of several covariances of the same tasks: a pivoted Cholesky column a task.

    With v the new column, the variance left and the covariance with the target y fall by

    .. math:: v = C_{\cdot j \mid S} / \sqrt{C_{jj \mid S}}, \qquad
              C_{tt} \to C_{tt} - v_t^2, \qquad C_{ty} \to C_{ty} - v_t\, C_{jy} / \sqrt{C_{jj}}

    so that k tasks of m cost m · k · (rank + k). All covariances take a step together, each with a task of
    its own: on few agents and tasks a step of nine costs hardly more than one.

    >>> one = Covariance(np.zeros(2), np.array([[1.0], [1.0]]), np.array([1.0, 0.1]), np.ones(2), 1.0)
    >>> Conditionals([one, one]).grown(2).chosen
    array([[1, 0],
           [1, 0]])
    """

    def __init__(self, covariances: Sequence[Covariance]) -> None:
        rank = max(one.loadings.shape[1] for one in covariances)
        self._loadings = np.stack(
            [
                np.pad(one.loadings, ((0, 0), (0, rank - one.loadings.shape[1])))
                for one in covariances
            ]
        )
        self._start = np.stack([one.variances for one in covariances])
        self._whole = np.array([max(one.target_variance, 1e-300) for one in covariances])
        self._with_target = np.stack([one.with_target for one in covariances])
        self._left, self._each = self._start.copy(), np.arange(len(covariances))
        self._free = np.ones(self._start.shape, dtype=bool)
        self._columns = np.empty((*self._start.shape, 16))
        self._share: list[Floats] = []
        self._chosen: list[NDArray[np.intp]] = []

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The tasks chosen, in their order, [covariances, chosen tasks]."""
        return np.array(self._chosen, dtype=np.intp).reshape(-1, len(self._each)).T

    def gains(self) -> Floats:
        """Share of the target's variance that each task would explain too, [covariances, tasks]."""
        able = self._free & (self._left > USED_UP * self._start)
        explained = np.where(able, self._with_target**2 / np.where(able, self._left, 1.0), 0.0)
        return np.asarray(explained / self._whole[:, None])

    def grown(self, size: int) -> Conditionals:
        """Add the task with the largest gain until there are `size`; without demands or costs."""
        while len(self._chosen) < size:
            self.add(np.where(self._free, self.gains(), -1.0).argmax(axis=1))
        return self

    def add(self, task: NDArray[np.intp]) -> None:
        """Choose one more task under each covariance."""
        known, at = len(self._chosen), (self._each, task)
        if known == self._columns.shape[2]:
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)], axis=2)
        before = self._columns[:, :, :known]
        deviation = np.sqrt(
            np.maximum(np.maximum(self._left[at], USED_UP * self._start[at]), 1e-300)
        )
        new = (self._loadings @ self._loadings[at][:, :, None])[:, :, 0]
        new -= (before @ before[at][:, :, None])[:, :, 0]
        # What those chosen leave of each other is rounding.
        new = np.where(self._free, new / deviation[:, None], 0.0)
        new[at] = deviation
        share = self._with_target[at] / deviation
        self._columns[:, :, known], self._free[at] = new, False
        self._left = np.maximum(self._left - new**2, 0.0)
        self._with_target = self._with_target - new * share[:, None]
        self._share.append(share)
        self._chosen.append(task)

    def predicted(self, values: Floats) -> Floats:
        r"""Conditional expectation of the target, about its mean, from the first 1, 2, … chosen tasks.

        .. math:: \hat y_k = \sum_{i \le k} \frac{C_{iy}}{\sqrt{C_{ii}}}\, (R^{-1} z)_i

        with R the Cholesky factor of the chosen tasks. `values` [covariances, agents, chosen tasks] are
        about the tasks' means, without gaps; shape [covariances, chosen tasks, agents].
        """
        from scipy.linalg import solve_triangular  # slow to import

        known, chosen = len(self._chosen), self.chosen
        said = []
        for one, own in enumerate(values):
            factor = self._columns[one, chosen[one], :known]
            news = solve_triangular(factor, own.T, lower=True, check_finite=False)
            said.append(np.cumsum(news * np.array(self._share)[:, one, None], axis=0))
        return np.array(said)


class Conditional:
    """What the tasks chosen leave of one covariance, for choices that come from outside.

    >>> one = Covariance(np.zeros(2), np.array([[1.0], [1.0]]), np.array([1.0, 0.1]), np.ones(2), 1.0)
    >>> Conditional(one).gains([]).round(2)
    array([0.5 , 0.91])
    """

    def __init__(self, covariance: Covariance) -> None:
        self._covariance = covariance
        self._now = Conditionals([covariance])

    def gains(self, chosen: Sequence[int]) -> Floats:
        """Share of the target's variance that each task would explain beside those chosen, [tasks]."""
        held, known = list(chosen), self._now.chosen[0].tolist()
        if held[: len(known)] != known:
            self._now, known = Conditionals([self._covariance]), []
        for task in held[len(known) :]:
            self._now.add(np.array([task]))
        return np.asarray(self._now.gains()[0])

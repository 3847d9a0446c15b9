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
SMALL_TABLE = 100
"""Up to so many agents or tasks all singular values are found at once, of more the first few alone."""
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


class Centred(NamedTuple):
    """Values about the tasks' means, 0 where there is a gap, and what any number of factors needs."""

    x: Floats  # [agents, tasks]
    held: Floats | None  # [agents, tasks]: 1 where observed; None where there are no gaps
    number: Floats  # [tasks]: agents observed
    centre: Floats  # [tasks]
    variance: Floats  # [tasks]

    @classmethod
    def of(cls, values: Floats) -> Centred:
        """Centre values [agents, tasks] with NaN for gaps."""
        seen = np.isfinite(values)
        if seen.all():
            number = np.full(values.shape[1], float(len(values)))
            centre = values.sum(axis=0) / number
            x = values - centre
            return cls(x, None, number, centre, np.einsum("at,at->t", x, x) / number)
        held = seen.astype(np.float64)
        number = np.maximum(held.sum(axis=0), 1.0)
        centre = np.where(seen, values, 0.0).sum(axis=0) / number
        x = np.where(seen, values - centre, 0.0)
        return cls(x, held, number, centre, (x**2).sum(axis=0) / number)

    @property
    def share(self) -> float:
        """The share of cells that were observed."""
        return 1.0 if self.held is None else float(self.held.mean())

    def components(self, count: int) -> tuple[Floats, Floats]:
        """Return the first singular values and their directions [count, tasks]."""
        least = min(self.x.shape)
        if least <= SMALL_TABLE:
            _, size, right = np.linalg.svd(self.x, full_matrices=False)
            return size[:count], right[:count]
        from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

        x = self.x if len(self.x) == least else self.x.T
        squares = LinearOperator((least, least), lambda v: x @ (x.T @ v), dtype=np.float64)
        # The same start always, for the same answer; not a constant, which centred tables send to zero.
        start = np.cos(np.arange(1.0, least + 1.0))
        values, vectors = eigsh(squares, k=count, which="LA", v0=start)
        size, vectors = np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
        if len(self.x) != least:
            return size, vectors.T
        return size, (vectors.T @ self.x) / np.where(size > 0, size, 1.0)[:, None]


def factors_of(values: Floats | Centred, count: int) -> Factors:
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
    known = values if isinstance(values, Centred) else Centred.of(values)
    x, held, number, variance = known.x, known.held, known.number, known.variance
    agents, tasks = x.shape
    floor = LEAST_NOISE * variance + 1e-9 * max(float(variance.mean()), 1e-300)
    loadings = _start(known, count)
    steps, count = (ITERATIONS if count else 0), loadings.shape[1]
    noise = np.maximum(variance - (loadings**2).sum(axis=1), floor)
    shift = np.zeros(tasks)
    prior = np.diag([1e-6, *[PRIOR_AGENTS] * count])
    for _ in range(steps):
        scores, spread = _scores(known, shift, loadings, noise)
        design = np.column_stack([np.ones(agents), scores])
        along = x.T @ design
        if held is None:  # all tasks have the same agents, and so the same moments
            moments = design.T @ design
            moments[1:, 1:] += agents * spread[0]
            found = np.linalg.solve(moments + prior, along.T).T
        else:
            squares = design[:, :, None] * design[:, None, :]
            squares[:, 1:, 1:] += spread
            sums = (held.T @ squares.reshape(agents, -1)).reshape(tasks, count + 1, count + 1)
            found = np.linalg.solve(sums + prior, along[:, :, None])[:, :, 0]
        # Without gaps values are about their means already.
        shift, loadings = (np.zeros(tasks) if held is None else found[:, 0]), found[:, 1:]
        noise = np.maximum(variance - (found * along).sum(axis=1) / number, floor)
    scores, spread = _scores(known, shift, loadings, noise)
    second = scores.T @ scores + np.broadcast_to(spread, (agents, count, count)).sum(axis=0)
    told = known.centre + shift, loadings, noise, scores, second
    if held is None:
        return Factors(*told, x, np.zeros(tasks))
    filled = np.where(held > 0, x - shift, scores @ loadings.T)
    return Factors(*told, filled, 1 - held.mean(axis=0))


def _start(known: Centred, count: int) -> Floats:
    r"""Loadings before EM: principal components; with 0 factors that of one even correlation for all pairs.

    .. math:: \bar r = \frac{\operatorname{Var}(\sum_t z_t) / m - 1}{m - 1}, \qquad
              w_t = \sqrt{\bar r}\, s_t

    (Ledoit & Wolf, 2004, section 3.2), which few agents can tell.
    """
    agents, share = len(known.x), max(known.share, 1e-3)
    if count:
        size, right = known.components(count)
        # Of two tasks a cell is there twice as rarely: what gaps take off covariances is given back.
        return np.asarray(right.T * (size / (np.sqrt(agents) * share)))
    deviation = np.sqrt(known.variance)
    sums = known.x @ (1 / np.where(deviation > 0, deviation, 1.0))
    varied = max(int((deviation > 0).sum()), 2)
    together = float((sums**2).mean()) / varied / share
    even = min(max((together - 1.0) / (varied - 1) / share, 0.0), 0.95)
    return np.asarray(np.sqrt(even) * deviation)[:, None]


def _scores(
    known: Centred, shift: Floats, loadings: Floats, noise: Floats
) -> tuple[Floats, Floats]:
    """Expected factors of each agent and their covariances; [agents, factors], and a matrix each.

    Where there are no gaps one matrix stands for all agents.
    """
    count = loadings.shape[1]
    weighed = loadings / noise[:, None]
    products = (weighed[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    moved = shift[:, None] * weighed
    if known.held is None:
        seen, off = products.sum(axis=0), moved.sum(axis=0)
    else:
        seen, off = known.held @ products, known.held @ moved
    spread = np.linalg.inv(np.eye(count) + seen.reshape(-1, count, count))
    scores: Floats = ((known.x @ weighed - off)[:, None, :] @ spread)[:, 0]
    return scores, np.asarray(spread, dtype=np.float64)


class Covariance(NamedTuple):
    """Covariance L Lᵀ + u XᵀX + diag(noise) between tasks, and that of each task with the target.

    No matrix [tasks, tasks] is ever made, and the values X are shared by covariances that blend the same.
    """

    mean: Floats  # [tasks]
    loadings: Floats  # [tasks, factors]
    noise: Floats  # [tasks]
    with_target: Floats  # [tasks]
    target_variance: float
    values: Floats  # [agents, tasks]
    weight: float

    @property
    def variances(self) -> Floats:
        """Each task's variance, [tasks]."""
        common = np.einsum("tr,tr->t", self.loadings, self.loadings)
        seen = np.einsum("at,at->t", self.values, self.values)
        return np.asarray(common + self.weight * seen + self.noise)


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
    loadings, weight = np.sqrt(shrinkage) * factors.loadings, seen / agents
    noise = (shrinkage + seen * factors.gaps) * factors.noise
    noise = noise + 1e-6 * max(float(factors.noise.mean()), 1e-300)
    parts = factors.filled, weight
    if weights is not None:
        observed = weight * ((factors.filled @ weights) @ factors.filled)
        with_target: Floats = loadings @ (weights @ loadings) + observed + noise * weights
        spread = float(weights @ with_target)
        return Covariance(factors.mean, loadings, noise, with_target, spread, *parts)
    about = target - target.mean()
    own = np.linalg.solve(factors.second, factors.scores.T @ about)
    observed = factors.filled.T @ about / agents
    with_target = shrinkage * (factors.loadings @ own) + seen * observed
    spread = float((about**2).mean())
    return Covariance(factors.mean, loadings, noise, with_target, spread, *parts)


class Conditionals:
    r"""What tasks chosen leave of several covariances of the same tasks: a pivoted Cholesky column a task.

    With v the new column, the variance left and the covariance with the target y fall by

    .. math:: v = C_{\cdot j \mid S} / \sqrt{C_{jj \mid S}}, \qquad
              C_{tt} \to C_{tt} - v_t^2, \qquad C_{ty} \to C_{ty} - v_t\, C_{jy} / \sqrt{C_{jj}}

    so that k tasks of m cost m · k · (rank + k). All covariances take a step together, each with a task of
    its own: on few agents and tasks a step of nine costs hardly more than one.

    >>> parts = np.array([[1.0], [1.0]]), np.array([1.0, 0.1]), np.ones(2), 1.0, np.zeros((1, 2)), 0.0
    >>> one = Covariance(np.zeros(2), *parts)
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
        shared: dict[int, list[int]] = {}
        for index, one in enumerate(covariances):
            shared.setdefault(id(one.values), []).append(index)
        self._shared = [(covariances[group[0]].values, group) for group in shared.values()]
        self._weight = np.array([one.weight for one in covariances])
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
        for values, group in self._shared:
            new[group] += self._weight[group, None] * (values[:, task[group]].T @ values)
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

    >>> parts = np.array([[1.0], [1.0]]), np.array([1.0, 0.1]), np.ones(2), 1.0, np.zeros((1, 2)), 0.0
    >>> one = Covariance(np.zeros(2), *parts)
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

"""Common factors of tasks: a few numbers of each agent, from which all its values are expected.

Fitted by EM over the cells that were observed, without copies of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from examiner.validation import Floats

PRIOR_AGENTS = 1.0
"""Loadings are shrunk to 0 as if by this many more agents: a task may have fewer agents than factors."""
SMALL_TABLE = 100
"""Up to this many agents or tasks all singular values are computed, of more only the first few."""


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


@dataclass(frozen=True, eq=False)
class Centred:
    """Values about the tasks' means, 0 where there is a gap, and what any number of factors needs."""

    x: Floats  # [agents, tasks]
    observed: Floats | None  # [agents, tasks]: 1 where observed; None where there are no gaps
    number: Floats  # [tasks]: agents observed
    centre: Floats  # [tasks]
    variance: Floats  # [tasks]

    @classmethod
    def of(cls, values: Floats) -> Centred:
        """Centre values [agents, tasks] with NaN for gaps."""
        is_observed = np.isfinite(values)
        if is_observed.all():
            number = np.full(values.shape[1], float(len(values)))
            centre = values.sum(axis=0) / number
            x = values - centre
            return cls(x, None, number, centre, np.einsum("at,at->t", x, x) / number)
        observed = is_observed.astype(np.float64)
        number = np.maximum(observed.sum(axis=0), 1.0)
        centre = np.where(is_observed, values, 0.0).sum(axis=0) / number
        x = np.where(is_observed, values - centre, 0.0)
        return cls(x, observed, number, centre, (x**2).sum(axis=0) / number)

    @property
    def share(self) -> float:
        """The share of cells that were observed."""
        return 1.0 if self.observed is None else float(self.observed.mean())

    @cached_property
    def _all_components(self) -> tuple[Floats, Floats]:
        """All singular values and their directions, by the products of the shorter side."""
        wide = self.x.shape[0] <= self.x.shape[1]
        squares, vectors = np.linalg.eigh(self.x @ self.x.T if wide else self.x.T @ self.x)
        size, right = np.sqrt(np.maximum(squares[::-1], 0.0)), vectors[:, ::-1].T
        if wide:
            right = right @ self.x / np.where(size > 0, size, 1.0)[:, None]
        return size, right

    def components(self, count: int) -> tuple[Floats, Floats]:
        """Return the first singular values and their directions [count, tasks]."""
        least = min(self.x.shape)
        if least <= SMALL_TABLE:
            size, right = self._all_components
            return size[:count], right[:count]
        from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

        x = self.x if len(self.x) == least else self.x.T
        squares = LinearOperator((least, least), lambda v: x @ (x.T @ v), dtype=np.float64)
        # The same start always, for the same answer; not a constant, which centred tables send to zero.
        start = np.cos(np.arange(1.0, least + 1.0))
        # Relative error of these: they only start EM, and every digit more is products of the whole
        # table
        values, vectors = eigsh(squares, k=count, which="LA", v0=start, tol=1e-3)
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
    gaps). So an agent with results on half of the tasks contributes those. A count of 0 stands for one
    factor that correlates evenly with all tasks.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(200, 1)) * [1.0, 2.0, 1.0] + 0.1 * rng.normal(size=(200, 3))
    >>> found = np.abs(factors_of(table, 1).loadings[:, 0])
    >>> (found / found[0]).round(1)
    array([1., 2., 1.])
    """
    centred = values if isinstance(values, Centred) else Centred.of(values)
    # Share of a task's variance that is its own, at least: a factor must not be one task (Heywood)
    floor = 0.02 * centred.variance + 1e-9 * max(float(centred.variance.mean()), 1e-300)
    loadings = _start(centred, count)
    noise = np.maximum(centred.variance - (loadings**2).sum(axis=1), floor)
    # Steps of EM from principal components; what is left to gain is less than what shrinking takes
    # away
    steps = 25 if count else 0
    fitted = _complete if centred.observed is None else _with_gaps
    return fitted(centred, loadings, noise, floor, steps)


def _complete(
    centred: Centred, loadings: Floats, noise: Floats, floor: Floats, steps: int
) -> Factors:
    """EM without gaps: one posterior covariance serves all agents, and values are about their means."""
    x, (agents, tasks), one = centred.x, centred.x.shape, np.eye(loadings.shape[1])
    across = np.ascontiguousarray(x.T)
    for step in range(steps + 1):
        weighed = loadings / noise[:, None]
        spread = _inverse(one + loadings.T @ weighed)
        scores = x @ (weighed @ spread)
        second = scores.T @ scores + agents * spread
        if step < steps:
            along = across @ scores
            loadings = along @ _inverse(second + PRIOR_AGENTS * one)
            noise = np.maximum(centred.variance - (loadings * along).sum(axis=1) / agents, floor)
    return Factors(centred.centre, loadings, noise, scores, second, x, np.zeros(tasks))


def _inverse(matrix: Floats) -> Floats:
    """The inverse of a small matrix; of one number without the overhead of a decomposition."""
    return 1.0 / matrix if len(matrix) == 1 else np.asarray(np.linalg.inv(matrix))


def _with_gaps(
    centred: Centred, loadings: Floats, noise: Floats, floor: Floats, steps: int
) -> Factors:
    """EM over the observed cells: every agent has a posterior covariance of its own."""
    x, observed, (agents, tasks), count = (
        centred.x,
        centred.observed,
        centred.x.shape,
        loadings.shape[1],
    )
    assert observed is not None
    shift = np.zeros(tasks)
    prior = np.diag([1e-6, *[PRIOR_AGENTS] * count])
    for _ in range(steps):
        scores, spread = _scores(centred, shift, loadings, noise)
        design = np.column_stack([np.ones(agents), scores])
        along = x.T @ design
        squares = design[:, :, None] * design[:, None, :]
        squares[:, 1:, 1:] += spread
        sums = (observed.T @ squares.reshape(agents, -1)).reshape(tasks, count + 1, count + 1)
        coefficients = np.linalg.solve(sums + prior, along[:, :, None])[:, :, 0]
        shift, loadings = coefficients[:, 0], coefficients[:, 1:]
        noise = np.maximum(
            centred.variance - (coefficients * along).sum(axis=1) / centred.number, floor
        )
    scores, spread = _scores(centred, shift, loadings, noise)
    second = scores.T @ scores + spread.sum(axis=0)
    filled = np.where(observed > 0, x - shift, scores @ loadings.T)
    gaps = 1 - observed.mean(axis=0)
    return Factors(centred.centre + shift, loadings, noise, scores, second, filled, gaps)


def _start(centred: Centred, count: int) -> Floats:
    r"""Loadings before EM: principal components; with 0 factors that of one even correlation for all pairs.

    .. math:: \bar r = \frac{\operatorname{Var}(\sum_t z_t) / m - 1}{m - 1}, \qquad
              w_t = \sqrt{\bar r}\, s_t

    (Ledoit & Wolf, 2004, section 3.2), which few agents suffice to estimate.
    """
    agents, share = len(centred.x), max(centred.share, 1e-3)
    if count:
        size, right = centred.components(count)
        # Of two tasks a cell is there twice as rarely: what gaps take off covariances is given back.
        return np.asarray(right.T * (size / (np.sqrt(agents) * share)))
    deviation = np.sqrt(centred.variance)
    sums = centred.x @ (1 / np.where(deviation > 0, deviation, 1.0))
    varied = max(int((deviation > 0).sum()), 2)
    together = float((sums**2).mean()) / varied / share
    even = min(max((together - 1.0) / (varied - 1) / share, 0.0), 0.95)
    return np.asarray(np.sqrt(even) * deviation)[:, None]


def _scores(
    centred: Centred, shift: Floats, loadings: Floats, noise: Floats
) -> tuple[Floats, Floats]:
    """Expected factors of each agent and their covariances; [agents, factors], and a matrix each."""
    count = loadings.shape[1]
    assert centred.observed is not None
    weighed = loadings / noise[:, None]
    products = (weighed[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    precision, off = centred.observed @ products, centred.observed @ (shift[:, None] * weighed)
    spread = np.linalg.inv(np.eye(count) + precision.reshape(-1, count, count))
    scores: Floats = ((centred.x @ weighed - off)[:, None, :] @ spread)[:, 0]
    return scores, np.asarray(spread, dtype=np.float64)

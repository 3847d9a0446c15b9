r"""Covariances between tasks, shrunk and of low rank, and conditional on the tasks already selected.

Agents are taken as draws from one distribution over tasks with a mean and a covariance. Tasks are compared
without the target of any agent, so that more tasks cannot be fitted to the agents at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.factors import Factors
from examiner.validation import Floats

USED_UP = 1e-6
"""A task with less than this share of its variance left is determined by those selected."""


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
        of_values = np.einsum("at,at->t", self.values, self.values)
        return np.asarray(common + self.weight * of_values + self.noise)


def blended(
    factors: Factors, shrinkage: float, *, weights: Floats | None, target: Floats
) -> Covariance:
    r"""Blend the covariance of a few common factors with the one observed.

    .. math:: C = s\,(W W^\top + \Psi) + (1 - s)\, \tfrac1n \sum_a E[z_a z_a^\top \mid x_a]

    as Ledoit & Wolf (2003, eq. 1) shrink towards one factor. With n agents C has the rank n and a few.
    A target that is a weighted mean of the tasks has the covariance C w with them; any other (a median) is
    taken as one more column, which is blended alike.

    >>> from examiner.selection.factors import factors_of
    >>> table = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    >>> half = np.full(2, 0.5)
    >>> found = blended(factors_of(table, 1), 0.5, weights=half, target=table @ half)
    >>> bool(np.isclose(found.target_variance, found.with_target @ half))
    True
    """
    agents, kept = len(factors.filled), 1.0 - shrinkage
    loadings, weight = np.sqrt(shrinkage) * factors.loadings, kept / agents
    noise = (shrinkage + kept * factors.gaps) * factors.noise
    noise = noise + 1e-6 * max(float(factors.noise.mean()), 1e-300)
    parts = factors.filled, weight
    if weights is not None:
        observed = weight * ((factors.filled @ weights) @ factors.filled)
        with_target: Floats = loadings @ (weights @ loadings) + observed + noise * weights
        spread = float(weights @ with_target)
        return Covariance(factors.mean, loadings, noise, with_target, spread, *parts)
    about = target - target.mean()
    on_factors = np.linalg.solve(factors.second, factors.scores.T @ about)
    observed = factors.filled.T @ about / agents
    with_target = shrinkage * (factors.loadings @ on_factors) + kept * observed
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
        self._products: dict[int, Floats] = {}
        self._weight = np.array([one.weight for one in covariances])
        self._start = np.stack([one.variances for one in covariances])
        self._whole = np.array([max(one.target_variance, 1e-300) for one in covariances])
        self._with_target = np.stack([one.with_target for one in covariances])
        self._left, self._each = self._start.copy(), np.arange(len(covariances))
        self._free = np.ones(self._start.shape, dtype=bool)
        tasks = self._start.shape[1]
        self._columns = np.empty((len(covariances), 16, tasks))  # one row per task chosen
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
        for number, (values, group) in enumerate(self._shared):
            if values.shape[1] < size * len(
                group
            ):  # all products at once are less work than each step's
                self._products[number] = values.T @ values
        while len(self._chosen) < size:
            self.add(np.where(self._free, self.gains(), -1.0).argmax(axis=1))
        return self

    def add(self, task: NDArray[np.intp]) -> None:
        """Choose one more task under each covariance."""
        count, at = len(self._chosen), (self._each, task)
        if count == self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)], axis=1)
        before = self._columns[:, :count]
        deviation = np.sqrt(
            np.maximum(np.maximum(self._left[at], USED_UP * self._start[at]), 1e-300)
        )
        new = (self._loadings @ self._loadings[at][:, :, None])[:, :, 0]
        for number, (values, group) in enumerate(self._shared):
            products = self._products.get(number)
            product = (
                values[:, task[group]].T @ values if products is None else products[task[group]]
            )
            new[group] += self._weight[group, None] * product
        new -= (before[self._each, :, task][:, None, :] @ before)[:, 0]
        # What those chosen leave of each other is rounding.
        new = np.where(self._free, new / deviation[:, None], 0.0)
        new[at] = deviation
        share = self._with_target[at] / deviation
        self._columns[:, count], self._free[at] = new, False
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
        factor = self._columns[self._each[:, None], : len(self._chosen), self.chosen]
        news = np.linalg.solve(factor, values.swapaxes(1, 2))
        return np.asarray(np.cumsum(news * np.array(self._share).T[:, :, None], axis=1))


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
        """Share of the target's variance that each task would explain given those selected, [tasks]."""
        wanted, present = list(chosen), self._now.chosen[0].tolist()
        if wanted[: len(present)] != present:
            self._now, present = Conditionals([self._covariance]), []
        for task in wanted[len(present) :]:
            self._now.add(np.array([task]))
        return np.asarray(self._now.gains()[0])

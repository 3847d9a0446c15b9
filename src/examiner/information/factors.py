"""Tables of agents' means on tasks, as shares or standardised, and their factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from examiner.answers import Answer, Table, name, number
from examiner.results import Results, reads_results
from examiner.scores import NORMALISERS, TaskScores, cell_means, column_range, unit_columns
from examiner.validation import Floats

SMALL_TABLE = 64
"""Up to this many rows or columns computing all singular values is faster than computing the first."""


def task_signs(results: Results, measure: str | None = None) -> Floats:
    """Return +1 for tasks where higher is better and −1 where lower is; shape [tasks].

    >>> task_signs(Results.from_numpy([[1.0, 2.0]]), "score")
    array([1., 1.])
    """
    return results.scales.aligned(results.task_names, results.measure_name(measure)).sign


def oriented_means(results: Results, measure: str | None = None) -> Floats:
    """Return the mean of each cell, higher being better; shape [agents, tasks], NaN for no result.

    >>> oriented_means(Results.from_numpy([[1.0, 2.0]]), "score")
    array([[1., 2.]])
    """
    means, signs = cell_means(results, measure), task_signs(results, measure)
    return means if (signs > 0).all() else means * signs


def shares(means: Floats, like: Floats | None = None) -> Floats:
    """Return means as shares: as they are within [0, 1], else each task from its worst agent to its best.

    `like` gives another table whose worst and best are used. A task without differences between agents
    is NaN.

    >>> shares(np.array([[0.2, 0.5], [0.4, 1.0]])).tolist()
    [[0.2, 0.5], [0.4, 1.0]]
    >>> shares(np.array([[2.0], [7.0], [12.0]])).ravel()
    array([0. , 0.5, 1. ])
    """
    like = means if like is None else like
    low, high = column_range(like)
    if (np.fmin.reduce(low, initial=0.0) >= 0) and (np.fmax.reduce(high, initial=1.0) <= 1):
        return means
    if len(like) < 2:
        return np.full_like(means, np.nan)
    scaled = NORMALISERS["min-max"]
    names = [[str(number) for number in range(count)] for count in means.shape]
    scale = scaled.learn(TaskScores.of_cells(like, *names))
    return scaled.apply(scale, TaskScores.of_cells(means, *names)).reshape(means.shape)


def filled(table: Floats) -> Floats:
    """Return the table with the mean of the task in missing cells; 0 where a task has no values.

    >>> filled(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([[1., 0.],
           [1., 0.]])
    """
    observed = np.isfinite(table)
    if observed.all():
        return table
    mean = np.where(observed, table, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return np.where(observed, table, mean)


def standard_scores(means: Floats) -> Floats:
    """Return each task with mean 0 and deviation 1 over its agents; NaN where unobserved or constant.

    >>> standard_scores(np.array([[1.0, 5.0], [3.0, 5.0]])).round(6)
    array([[-1., nan],
           [ 1., nan]])
    """
    scores = unit_columns(means)
    scores *= np.sqrt(np.isfinite(means).sum(axis=0))
    return scores


def singular(table: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Return the first singular values of a table with their directions: left [rows, count], values, right.

    Of a large table only these are computed, by Lanczos' method.

    >>> singular(np.diag([3.0, 2.0, 1.0]), 2)[1]
    array([3., 2.])
    """
    least = min(table.shape)
    if least <= SMALL_TABLE or count >= least:
        left, values, right = np.linalg.svd(table, full_matrices=False)
        return left[:, :count], values[:count], right[:count]
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

    wide = table if len(table) == least else table.T
    squares = LinearOperator((least, least), lambda v: wide @ (wide.T @ v), dtype=np.float64)
    # A constant start would be orthogonal to centred tables. It is fixed so that results repeat.
    start = np.cos(np.arange(1.0, least + 1.0))
    eigenvalues, vectors = eigsh(squares, k=count, which="LA", v0=start)
    values, vectors = np.sqrt(np.maximum(eigenvalues[::-1], 0.0)), vectors[:, ::-1]
    others = (vectors.T @ wide) / np.where(values > 0, values, 1.0)[:, None]
    return (vectors, values, others) if wide is table else (others.T, values, vectors.T)


class FactorShares(Table):
    """Factors, the largest first."""

    factor: tuple[str, ...] = name("Number of the factor")
    singular_value: Floats = number("Singular value")
    share: Floats = number("Share of the variation between agents")


class AgentFactors(Table):
    """Scores of agents on factors."""

    agent: tuple[str, ...] = name("Agent")
    factor: tuple[str, ...] = name("Number of the factor")
    score: Floats = number("Score of the agent on the factor")


class FactorLoadings(Table):
    """Loadings of tasks on factors."""

    task: tuple[str, ...] = name("Task")
    factor: tuple[str, ...] = name("Number of the factor")
    loading: Floats = number("Loading of the task on the factor")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskFactors(Answer):
    """The table as a sum of factors, the largest first.

    `agents_on` has shape [agents, factors], `tasks_on` [tasks, factors]; `share` is each factor's share
    of the variation between agents, shape [factors].
    """

    kind = "factors"

    agent_names: tuple[str, ...]
    task_names: tuple[str, ...]
    agents_on: Floats
    tasks_on: Floats
    singular_values: Floats
    share: Floats

    @property
    def headline(self) -> str:
        """How much the first factor explains."""
        return f"One factor explains {100 * self.share[0]:.0f} % of the differences between agents."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Factors, and the agents and tasks on them."""
        numbers = [str(number + 1) for number in range(len(self.share))]
        agents, tasks = (np.repeat(n, len(numbers)) for n in (self.agent_names, self.task_names))
        factors = FactorShares(
            factor=numbers, singular_value=self.singular_values, share=self.share
        )
        of_agents, of_tasks = (numbers * len(n) for n in (self.agent_names, self.task_names))
        return {
            "factors": factors,
            "agents": AgentFactors(agent=agents, factor=of_agents, score=self.agents_on.ravel()),
            "tasks": FactorLoadings(task=tasks, factor=of_tasks, loading=self.tasks_on.ravel()),
        }


@reads_results
def factors(results: Results, measure: str | None = None) -> TaskFactors:
    r"""Decompose the table into factors: Z = U diag(s) Vᵀ.

    Z holds the cell means with each task standardised over agents, 0 where nothing was observed.
    `agents_on` is U diag(s) and `tasks_on` is V; a share is :math:`s_f^2 / \sum s^2`, the eigenvalue of
    the tasks' correlation matrix over their number. Signs are such that most tasks have a positive loading.

    >>> factors = factors(Results.from_numpy([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0]]))
    >>> factors.share[:1].round(6)
    array([1.])
    """
    scores = np.nan_to_num(standard_scores(oriented_means(results, measure)))
    left, values, right = np.linalg.svd(scores, full_matrices=False)
    sign = np.where(right.sum(axis=1) < 0, -1.0, 1.0)
    total = float((values**2).sum())
    share = values**2 / total if total > 0 else np.full(len(values), np.nan)
    return TaskFactors(
        results.agents, results.tasks, left * values * sign, (right.T * sign), values, share
    )

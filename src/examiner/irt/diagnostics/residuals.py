"""Residuals of responses at the estimated abilities: misfit, dependence of tasks, and what chance gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import SCORES, Floats, ItemParameters, curves
from examiner.irt.outcomes import expected_result, result_variance
from examiner.irt.posterior import Quadrature, quadrature_for
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from examiner.scores import LEVEL, correlate_columns


class Residuals(NamedTuple):
    """Response minus expectation and the variance expected of it, [agents, tasks].

    Both are 0 in cells that were not observed; `observed` says which.
    """

    difference: Floats
    variance: Floats
    observed: NDArray[np.bool_]

    def standardised(self) -> Floats:
        """Differences over expected standard deviations; 0 in cells that were not observed."""
        return self.difference / np.sqrt(np.where(self.observed, self.variance, 1.0))


def residuals(matrix: ResponseMatrix, items: ItemParameters, ability: Floats) -> Residuals:
    """Return k − nP with variance nP(1 − P)(1 + (n − 1)ρ), or a score less its expectation.

    ρ = 1 / (1 + ν) is how trials of one cell correlate under the beta-binomial, 0 otherwise.
    """
    if items.response in SCORES:
        scores, observed = matrix.to_numpy(), matrix.observed
        expected, variance = (of(items, ability).T for of in (expected_result, result_variance))
        difference = np.where(observed, scores - expected, 0.0)
        return Residuals(difference, np.where(observed, np.maximum(variance, 1e-12), 0.0), observed)
    shape = curves(items, ability)
    # The variance may not vanish: a surprise where none is possible counts as very large.
    chance, other = shape.success.T, shape.failure.T
    spread = np.maximum(chance * other, 1e-12)
    tried = matrix.trials.astype(np.float64)
    variance = tried * spread
    if items.precision is not None:
        variance *= 1.0 + np.maximum(tried - 1.0, 0.0) / (1.0 + items.precision)
    return Residuals(matrix.successes - tried * chance, variance, matrix.observed)


def mean_squares(residual: Residuals, axis: int = 0) -> tuple[Floats, Floats]:
    """Return infit Σr²/ΣV and outfit mean(r²/V), per task (axis 0) or per agent (axis 1).

    References: Wright & Masters (1982), pp. 99-105.
    """
    squares = residual.difference**2
    count = residual.observed.sum(axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        infit = squares.sum(axis=axis) / residual.variance.sum(axis=axis)
        outfit = (residual.standardised() ** 2).sum(axis=axis) / count
    return np.where(count > 0, infit, np.nan), np.where(count > 0, outfit, np.nan)


def residual_correlations(residual: Residuals) -> Floats:
    """Return Q3: correlations of residuals r = x − E[x] between tasks, over agents observed on both.

    References: Yen (1984), eq. 9.

    >>> observed = np.ones((4, 2), dtype=bool)
    >>> residual = Residuals(np.array([[1.0, -1], [-1, 1], [1, -1], [-1, 1]]), np.ones((4, 2)), observed)
    >>> float(residual_correlations(residual)[0, 1])
    -1.0
    """
    correlations, _ = correlate_columns(np.where(residual.observed, residual.difference, np.nan))
    np.fill_diagonal(correlations, 1.0)
    return correlations


def adjusted(correlations: Floats) -> tuple[Floats, float]:
    """Return Q3 of pairs less their mean, upper triangle only (NaN elsewhere), and the mean.

    Residuals at estimated abilities correlate negatively by about −1/(tasks − 1) when nothing is
    wrong, hence the mean (Christensen, Makransky & Horton 2017).
    """
    upper = np.triu(np.ones(correlations.shape, dtype=np.bool_), 1)
    values = np.where(upper, correlations, np.nan)
    finite = values[np.isfinite(values)]
    mean = float(finite.mean()) if finite.size else float("nan")
    return values - mean, mean


def largest_excess(correlations: Floats) -> float:
    """Return the largest |Q3 − mean|."""
    excess, _ = adjusted(correlations)
    finite = np.abs(excess[np.isfinite(excess)])
    return float(finite.max()) if finite.size else float("nan")


def pair_tables(
    matrix: ResponseMatrix,
    items: ItemParameters,
    *,
    population_sd: float = 1.0,
    nodes: int | Quadrature | None = None,
) -> Floats:
    r"""Return LD-X² of every pair of tasks [tasks, tasks], with the sign of the dependence.

    Agents observed on both tasks form a table of four cells; the model expects N ∫ P_i P_j φ of them to
    solve both, and so on. X² = Σ (O − E)²/E, about χ² with one degree of freedom, given the sign of
    the difference between the observed and the expected correlation. NaN on the diagonal.

    References: Chen & Thissen (1997), eq. 5.

    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 1.0], intercept=[0.0, 0.0])
    >>> same = ResponseMatrix.from_array(np.tile([[1, 1], [0, 0]], (50, 1)), tasks=["t", "u"])
    >>> bool(pair_tables(same, items)[0, 1] > 50)
    True
    """
    matched = items.named(matrix.tasks)
    if not matrix.is_counts or int(matrix.trials.max()) > 1:
        raise InputError(
            "Tables of pairs need one trial of success or failure in each cell. "
            "Use the correlations of residuals (Q3) instead."
        )
    rule = quadrature_for(nodes, matched, matrix, population_sd)
    shape = curves(matched, population_sd * rule.nodes)
    mass = np.exp(rule.log_weights)
    won = matrix.successes.astype(np.float64)
    lost = matrix.trials - won
    count = matrix.observed.astype(np.float64)
    count = count.T @ count
    statistic, direction = np.zeros_like(count), np.zeros_like(count)
    sides = ((won, shape.success), (lost, shape.failure))
    for row, (first, chance) in enumerate(sides):
        for column, (second, other_chance) in enumerate(sides):
            expected = count * ((chance * mass) @ other_chance.T)
            gap = first.T @ second - expected
            with np.errstate(divide="ignore", invalid="ignore"):
                statistic += np.where(expected > 0, gap**2 / expected, 0.0)
            direction += gap if row == column else -gap
    statistic = np.where(direction < 0, -statistic, statistic)
    statistic[count == 0] = np.nan
    np.fill_diagonal(statistic, np.nan)
    return statistic


@dataclass(frozen=True, slots=True)
class DimensionCheck:
    """Eigenvalues of residual correlations, and the cut-off of the first one under a single ability.

    `first` is the largest eigenvalue of Q3, in units of tasks: it is large if half of the tasks share a
    second ability. Data drawn from the model exceed `cutoff` once in twenty times (parallel analysis of
    residuals, Horn 1965); `p_value` is the share of draws at least as large. `tasks` are the five with the
    largest loadings on the first eigenvector, with these loadings as `weights`.
    """

    eigenvalues: Floats
    first: float
    cutoff: float
    p_value: float
    tasks: tuple[str, ...]
    weights: Floats

    @property
    def one_dimension(self) -> bool:
        """Whether the first eigenvalue is not significant."""
        return not self.first > self.cutoff


def first_eigenvalue(correlations: Floats) -> float:
    """Return the largest eigenvalue; pairs without common agents count as uncorrelated.

    >>> first_eigenvalue(np.array([[1.0, 0.5], [0.5, 1.0]]))
    1.5
    """
    return float(np.linalg.eigvalsh(np.nan_to_num(correlations))[-1])


def dimension_check(tasks: tuple[str, ...], correlations: Floats, drawn: Floats) -> DimensionCheck:
    """Compare the largest eigenvalue with those of data drawn from the model."""
    values, vectors = np.linalg.eigh(np.nan_to_num(correlations))
    leading = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    largest = np.argsort(-np.abs(leading), kind="stable")[:5]
    first = float(values[-1])
    return DimensionCheck(
        eigenvalues=values[::-1],
        first=first,
        cutoff=rarely_exceeded(drawn),
        p_value=float((1 + (drawn >= first).sum()) / (1 + drawn.size)),
        tasks=tuple(tasks[column] for column in largest),
        weights=leading[largest],
    )


def permuted_within_tasks(
    values: Floats, observed: NDArray[np.bool_], draws: int, rng: np.random.Generator
) -> Floats:
    """Return values [agents, tasks] permuted between the agents observed on a task, each task by itself.

    Shape [draws, agents, tasks]; 0 where nothing was observed.

    >>> values, observed = np.array([[1.0], [2.0], [0.0]]), np.array([[True], [True], [False]])
    >>> permuted = permuted_within_tasks(values, observed, 3, np.random.default_rng(0))
    >>> permuted.sum(axis=1).ravel(), permuted[:, 2].ravel()
    (array([3., 3., 3.]), array([0., 0., 0.]))
    """
    if observed.all():
        return rng.permuted(np.broadcast_to(values, (draws, *values.shape)), axis=1)
    drawn = np.zeros((draws, *values.shape))
    for task in range(values.shape[1]):
        rows = np.flatnonzero(observed[:, task])
        drawn[:, rows, task] = rng.permuted(np.tile(values[rows, task], (draws, 1)), axis=1)
    return drawn


def rarely_exceeded(drawn: Floats, share: float = LEVEL) -> float:
    """Return the value that data of the model exceed with at most this probability.

    Of n draws and one table like them, each is equally likely to be among the k largest: the cut-off is
    the k-th largest draw, k = ⌊share · (n + 1)⌋. (An interpolated quantile of 20 draws is exceeded twice as
    often as stated.) Infinite where there are too few draws; NaN draws are excluded.

    References: Davison & Hinkley (1997), section 4.2; Barnard (1963).

    >>> rarely_exceeded(np.arange(39.0)), rarely_exceeded(np.arange(10.0))
    (37.0, inf)
    """
    finite = np.sort(drawn[np.isfinite(drawn)])
    rank = int(share * (finite.size + 1) + 1e-9)
    return float(finite[-rank]) if rank else float("inf")


def minimum_p_values(statistic: Floats, drawn: Floats) -> Floats:
    r"""Return p-values of low statistics adjusted for all agents, [agents]; draws are [draws, agents].

    Each agent's value is standardised by those of the other tables, and the median over agents is
    subtracted in each table, since a fit that is too good, or too bad, for all agents flags no single one.
    The adjusted p-value of an agent is the share of tables whose lowest value is at most its own.

    References: Westfall & Young (1993), section 2.3, for many tests at once.

    >>> rng = np.random.default_rng(0)
    >>> p_values = minimum_p_values(np.array([-9.0, 0.1, 0.3]), rng.normal(size=(99, 3)))
    >>> p_values.round(2)[0], bool(p_values[1:].min() > 0.5)
    (np.float64(0.01), True)
    """
    tables = np.vstack([statistic, drawn])
    others = len(tables) - 1
    sums, squares = tables.sum(axis=0), (tables**2).sum(axis=0)
    mean = (sums - tables) / others
    variance = (squares - tables**2) / others - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviates = np.where(
            variance > 0, (tables - mean) / np.sqrt(np.maximum(variance, 0.0)), np.nan
        )
    finite = np.isfinite(deviates)
    if not finite[0].any():
        return np.full(len(statistic), np.nan)
    middle = np.nanmedian(np.where(finite.any(axis=1, keepdims=True), deviates, 0.0), axis=1)
    deviates = np.where(finite, deviates - middle[:, None], np.inf)
    p = (deviates.min(axis=1)[:, None] <= deviates[0] + 1e-12).mean(axis=0)
    return np.where(finite[0], p, np.nan)

"""Whether tasks share more than ability: pairs of them (Q3, LD-X²), or all, in a second dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.diagnostics.residuals import Residuals, rarely_exceeded
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature, quadrature_for
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from examiner.scores import correlate_columns

_HEAVIEST = 5
"""Tasks that are named as those that weigh most in a pattern."""


def residual_correlations(found: Residuals) -> Floats:
    """Return Q3: correlations of residuals r = x − E[x] between tasks, over agents that met both.

    References: Yen (1984), eq. 9.

    >>> seen = np.ones((4, 2), dtype=bool)
    >>> made = Residuals(np.array([[1.0, -1], [-1, 1], [1, -1], [-1, 1]]), np.ones((4, 2)), seen)
    >>> float(residual_correlations(made)[0, 1])
    -1.0
    """
    together, _ = correlate_columns(np.where(found.observed, found.difference, np.nan))
    np.fill_diagonal(together, 1.0)
    return together


def adjusted(correlations: Floats) -> tuple[Floats, float]:
    """Return Q3 of pairs less their mean, upper triangle only (NaN elsewhere), and the mean.

    Residuals at estimated abilities correlate negatively by about −1/(tasks − 1) when nothing is
    wrong, hence the mean (Christensen, Makransky & Horton 2017).
    """
    upper = np.triu(np.ones(correlations.shape, dtype=np.bool_), 1)
    values = np.where(upper, correlations, np.nan)
    known = values[np.isfinite(values)]
    mean = float(known.mean()) if known.size else float("nan")
    return values - mean, mean


def largest_excess(correlations: Floats) -> float:
    """Return the largest |Q3 − mean|."""
    excess, _ = adjusted(correlations)
    known = np.abs(excess[np.isfinite(excess)])
    return float(known.max()) if known.size else float("nan")


def pair_tables(
    matrix: ResponseMatrix,
    items: ItemParameters,
    *,
    population_sd: float = 1.0,
    nodes: int | Quadrature | None = None,
) -> Floats:
    r"""Return LD-X² of every pair of tasks [tasks, tasks], with the sign of the dependence.

    Agents that met both tasks fall in a table of four; the model expects N ∫ P_i P_j φ of them to
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
    statistic, lean = np.zeros_like(count), np.zeros_like(count)
    sides = ((won, shape.success), (lost, shape.failure))
    for row, (first, chance) in enumerate(sides):
        for column, (second, other_chance) in enumerate(sides):
            expected = count * ((chance * mass) @ other_chance.T)
            gap = first.T @ second - expected
            with np.errstate(divide="ignore", invalid="ignore"):
                statistic += np.where(expected > 0, gap**2 / expected, 0.0)
            lean += gap if row == column else -gap
    statistic = np.where(lean < 0, -statistic, statistic)
    statistic[count == 0] = np.nan
    np.fill_diagonal(statistic, np.nan)
    return statistic


@dataclass(frozen=True, slots=True)
class DimensionCheck:
    """Eigenvalues of residual correlations, and what the first is when one ability is all there is.

    `first` is the largest eigenvalue of Q3, in units of tasks: a second ability that half the tasks
    share shows as a large one. `cutoff` is what data drawn from the model exceed once in twenty times
    (parallel analysis, Horn 1965, of residuals), `p_value` the share of draws at least as large.
    `tasks` are those that weigh most in the first pattern, with their weights.
    """

    eigenvalues: Floats
    first: float
    cutoff: float
    p_value: float
    tasks: tuple[str, ...]
    weights: Floats

    @property
    def one_dimension(self) -> bool:
        """Whether the residuals hold no pattern larger than chance gives."""
        return not self.first > self.cutoff


def first_eigenvalue(correlations: Floats) -> float:
    """Return the largest eigenvalue; pairs that nobody met count as uncorrelated.

    >>> first_eigenvalue(np.array([[1.0, 0.5], [0.5, 1.0]]))
    1.5
    """
    return float(np.linalg.eigvalsh(np.nan_to_num(correlations))[-1])


def dimension_check(tasks: tuple[str, ...], correlations: Floats, drawn: Floats) -> DimensionCheck:
    """Compare the largest eigenvalue with those of data drawn from the model."""
    values, vectors = np.linalg.eigh(np.nan_to_num(correlations))
    leading = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    heavy = np.argsort(-np.abs(leading), kind="stable")[:_HEAVIEST]
    first = float(values[-1])
    return DimensionCheck(
        eigenvalues=values[::-1],
        first=first,
        cutoff=rarely_exceeded(drawn),
        p_value=float((1 + (drawn >= first).sum()) / (1 + drawn.size)),
        tasks=tuple(tasks[column] for column in heavy),
        weights=leading[heavy],
    )

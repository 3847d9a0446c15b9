"""Whether one ability is enough: the largest pattern in what ability leaves unexplained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.items import Floats


@dataclass(frozen=True, slots=True)
class DimensionCheck:
    """Eigenvalues of residual correlations, and what the first is when one ability is all there is.

    `first` is the largest eigenvalue of Q3, in units of tasks: a second ability that half the tasks
    share shows as a large one. `cutoff` is its 95th percentile in data drawn from the model
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
    return float(np.linalg.eigvalsh(_filled(correlations))[-1])


def dimension_check(
    tasks: tuple[str, ...], correlations: Floats, drawn: Floats, *, shown: int = 5
) -> DimensionCheck:
    """Compare the largest eigenvalue with those of data drawn from the model."""
    values, vectors = np.linalg.eigh(_filled(correlations))
    leading = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    heavy = np.argsort(-np.abs(leading), kind="stable")[:shown]
    first = float(values[-1])
    return DimensionCheck(
        eigenvalues=values[::-1],
        first=first,
        cutoff=float(np.quantile(drawn, 0.95)),
        p_value=float((1 + (drawn >= first).sum()) / (1 + drawn.size)),
        tasks=tuple(tasks[column] for column in heavy),
        weights=leading[heavy],
    )


def _filled(correlations: Floats) -> Floats:
    return np.where(np.isfinite(correlations), correlations, 0.0)

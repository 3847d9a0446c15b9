"""The first factors of a table, computed without the others."""

from __future__ import annotations

import numpy as np

from examiner.validation import Floats

MOST_PRODUCTS = 1000
"""Beyond this many rows and columns the first factor is computed without a table of products."""
MOST_DECOMPOSED = 300
SMALL_TABLE = 64
"""Up to this many rows computing all eigenvalues is faster than computing the largest."""


def first_share(scores: Floats) -> float:
    """Return the first eigenvalue's share of a standardised table; NaN where nothing varies.

    >>> first_share(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    1.0
    """
    table = np.nan_to_num(scores) if np.isnan(scores).any() else scores
    table = table if table.shape[0] <= table.shape[1] else table.T
    if len(table) > MOST_PRODUCTS:
        total = float(np.einsum("at,at->", table, table))
        return float(singular(table, 1)[1][0]) ** 2 / total if total > 0 else float("nan")
    products = table @ table.T
    total = float(np.trace(products))
    return largest_eigenvalue(products) / total if total > 0 else float("nan")


def largest_eigenvalue(products: Floats) -> float:
    """Return the largest eigenvalue of a symmetric table.

    >>> largest_eigenvalue(np.diag([2.0, 5.0]))
    5.0
    """
    if len(products) <= SMALL_TABLE:
        return float(np.linalg.eigvalsh(products)[-1])
    from scipy.sparse.linalg import eigsh  # slow to import

    # A constant start would be orthogonal to centred tables. It is fixed so that results repeat.
    start = np.cos(np.arange(1.0, len(products) + 1.0))
    return float(eigsh(products, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def singular(table: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Return the first singular values of a table with their directions: left [rows, count], values, right.

    Of a large table only these are computed, by Lanczos' method.

    >>> singular(np.diag([3.0, 2.0, 1.0]), 2)[1]
    array([3., 2.])
    """
    least = min(table.shape)
    if least <= MOST_DECOMPOSED or count >= least:
        left, values, right = np.linalg.svd(table, full_matrices=False)
        return left[:, :count], values[:count], right[:count]
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

    wide = table if len(table) == least else table.T
    squares = LinearOperator((least, least), lambda v: wide @ (wide.T @ v), dtype=np.float64)
    start = np.cos(np.arange(1.0, least + 1.0))
    eigenvalues, vectors = eigsh(squares, k=count, which="LA", v0=start)
    values, vectors = np.sqrt(np.maximum(eigenvalues[::-1], 0.0)), vectors[:, ::-1]
    others = (vectors.T @ wide) / np.where(values > 0, values, 1.0)[:, None]
    return (vectors, values, others) if wide is table else (others.T, values, vectors.T)


def share_by_chance(agents: int, tasks: int) -> float:
    r"""Return the expected share of the first factor of many unrelated agents on many tasks.

    .. math:: \frac{1}{T} \Big(1 + \sqrt{T / (A - 1)}\Big)^2

    where the largest eigenvalue of a correlation matrix tends to (Jiang, 2004, theorem 1.1).

    >>> round(share_by_chance(1001, 1000), 4)
    0.004
    """
    return float((1 + np.sqrt(tasks / (agents - 1))) ** 2 / tasks)

"""Likeness: tasks that correlate across agents, and agents that are nearly the same agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, flag, name, number
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import ResponseMatrix, Results, check_results, reads_results
from examiner.scores.cells import cell_means, ratio
from examiner.scores.common_rows import (
    FEWEST_PAIRS,
    GappedColumns,
    column_blocks,
    two_valued,
)
from examiner.scores.comparable import column_range, column_size
from examiner.scores.signed_ranks import midranks
from examiner.scores.standing import best_first
from examiner.validation import Floats

Method = Literal["pearson", "spearman"]

ROUNDING = 1e-13
"""A range this small beside the values themselves is what rounding leaves, not variation."""


class CorrelatedTasks(Table):
    """How far two tasks correlate across agents."""

    one: tuple[str, ...] = name("Task")
    other: tuple[str, ...] = name("Other task")
    correlation: Floats = number("Correlation across agents")
    agents: NDArray[np.int64] = count("Agents observed on both tasks")


@dataclass(frozen=True, eq=False, repr=False)
class TaskCorrelation(Answer):
    """Correlation of each two tasks across agents, [tasks, tasks]; `counts` are agents that have both.

    NaN where too few agents have both tasks, or one task does not vary.
    """

    kind = "correlation"

    task_names: tuple[str, ...]
    values: Floats
    counts: NDArray[np.int64]
    method: Method = "pearson"

    @property
    def headline(self) -> str:
        """Which two tasks correlate most."""
        pairs = self.pairs
        if not len(pairs) or np.isnan(pairs.correlation).all():
            return "No two tasks can be correlated."
        first = pairs[0]
        return f"{first.one} and {first.other} correlate most, with {first.correlation:.3g}."

    @cached_property
    def pairs(self) -> CorrelatedTasks:
        """One row per pair of tasks, the highest correlation first."""
        first, second = np.triu_indices(len(self.task_names), 1)
        return CorrelatedTasks(
            one=[self.task_names[row] for row in first],
            other=[self.task_names[row] for row in second],
            correlation=self.values[first, second],
            agents=self.counts[first, second],
        ).sorted_by("correlation", descending=True)

    @property
    def tables(self) -> Mapping[str, Table]:
        """The pairs of tasks."""
        return {"pairs": self.pairs}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """Which correlation it is."""
        return {"method": self.method}


def correlation(
    source: Any,  # Any: responses, or all that `ex.read` takes
    method: Method = "pearson",
    measure: str | None = None,
) -> TaskCorrelation:
    """Correlate tasks across agents, each pair of tasks over the agents observed on both.

    >>> scores = Results.from_numpy([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]])
    >>> correlation(scores).values.round(3)
    array([[1.   , 0.982],
           [0.982, 1.   ]])
    """
    if isinstance(source, ResponseMatrix):
        return TaskCorrelation(source.tasks, *correlate_columns(source.to_numpy(), method), method)
    results = check_results(source)
    columns = correlate_columns(cell_means(results, measure), method)
    return TaskCorrelation(results.tasks, *columns, method)


def correlate_columns(
    values: Floats, method: Method = "pearson"
) -> tuple[Floats, NDArray[np.int64]]:
    """Correlate the columns of a table with NaN for missing, and count the pairs behind each.

    Pearson's correlation comes from sums over common rows. Ranks depend on which rows two columns
    share, so Spearman's is taken over groups of columns that lack the same rows; of columns of two
    values it is Pearson's.

    >>> correlate_columns(np.array([[1.0, 6.0], [2.0, 5.0], [3.0, 4.0], [4.0, np.nan]]))[1]
    array([[4, 3],
           [3, 3]])
    """
    if method not in ("pearson", "spearman"):
        raise InputError(f"Unknown correlation {shorten(method)}. Known: 'pearson', 'spearman'.")
    observed = ~np.isnan(values)
    if observed.all():
        pairs = np.full((values.shape[1],) * 2, len(values), dtype=np.int64)
        return _correlate(values, values, method), pairs
    if method == "pearson" or two_valued(values):
        return _correlate_by_sums(values)
    pairs = np.rint(observed.T.astype(np.float64) @ observed.astype(np.float64)).astype(np.int64)
    return _correlate_by_pattern(values, observed, method), pairs


class SimilarAgents(Table):
    """Two agents with nearly the same results; `a` comes before `b` in the results."""

    a: tuple[str, ...] = name("Agent", title="agent")
    b: tuple[str, ...] = name("Agent that is nearly the same", title="nearly the same as")
    correlation: Floats = number("Correlation over the tasks of both")
    tasks: NDArray[np.int64] = count("Tasks observed for both", title="common tasks")
    exact: NDArray[np.bool_] = flag("Whether all results are the same", title="exact repeat")


@dataclass(frozen=True, eq=False, repr=False)
class NearIdentical(Answer):
    """Pairs of agents that are nearly the same: `near_identical`."""

    kind = "near_identical"

    pairs: SimilarAgents
    limit: float

    @property
    def headline(self) -> str:
        """How many pairs are nearly the same."""
        total, exact = len(self.pairs), int(self.pairs.exact.sum())
        if not total:
            return f"No two agents repeat each other or correlate above {self.limit:g}."
        return (
            f"{counted(total, 'pair')} of agents nearly identical, {exact:,} of them exact repeats."
        )

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The correlation above which agents are listed."""
        return {"limit": self.limit}


@reads_results
def near_identical(
    results: Results, limit: float = 0.99, measure: str | None = None
) -> NearIdentical:
    """List the pairs of agents whose results correlate above the limit, or repeat each other exactly.

    The correlation is over the tasks both were observed on, of the values as they are: normalise
    first, or the task with the largest numbers decides alone.

    References: papers/002, section III-A, removes results with a correlation above 0.99.

    >>> results = Results.from_numpy([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    >>> near_identical(results).pairs[0]
    Row(a='agent 1', b='agent 2', correlation=1, tasks=3, exact=True)
    """
    if not -1 <= limit <= 1:
        raise InputError(f"The correlation limit is {limit}. Give a number between -1 and 1.")
    means = cell_means(results, measure)
    correlations, pairs = correlate_columns(means.T)
    # Adding zero turns -0.0, which is another pattern of bits, into 0.0
    rows: dict[bytes, list[int]] = {}
    for agent, row in enumerate(means + 0.0):
        if not np.isnan(row).all():
            rows.setdefault(row.tobytes(), []).append(agent)
    exact = {(a, b) for group in rows.values() for a in group for b in group if a < b}
    near = zip(
        *np.nonzero(np.triu(np.nan_to_num(correlations, nan=-2.0) > limit, k=1)), strict=True
    )
    chosen = sorted(exact | {(int(a), int(b)) for a, b in near})
    table = SimilarAgents(
        a=[results.agents[a] for a, _ in chosen],
        b=[results.agents[b] for _, b in chosen],
        correlation=[correlations[pair] for pair in chosen],
        tasks=[pairs[pair] for pair in chosen],
        exact=[pair in exact for pair in chosen],
    )
    return NearIdentical(table, limit)


def concordance(a: Floats, b: Floats) -> float:
    r"""Lin's (1989) concordance of two rows of values over where both are known; NaN is a gap.

    .. math:: \rho_c = \frac{2 s_{ab}}{s_a^2 + s_b^2 + (\bar x_a - \bar x_b)^2}

    A correlation that also asks for the same level.

    >>> row = np.array([0.1, 0.5, 0.9])
    >>> concordance(row, row), round(concordance(row, row + 1), 2)
    (1.0, 0.18)
    """
    both = np.isfinite(a) & np.isfinite(b)
    x, y = a[both], b[both]
    apart = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    return float(2 * ((x - x.mean()) * (y - y.mean())).mean() / apart) if apart > 0 else 1.0


@reads_results
def without_near_identical(
    results: Results, limit: float = 0.99, measure: str | None = None
) -> Results:
    """Drop every agent that is nearly identical to a better one that is kept, and say which went.

    Better is the higher mean of the values as they are, whatever the order of the table; names decide
    between equals.

    >>> results = Results.from_numpy([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    >>> without_near_identical(results).agents
    ('agent 1', 'agent 3')
    """
    alike: dict[str, set[str]] = {}
    for pair in near_identical(results, limit, measure).pairs:
        alike.setdefault(pair.a, set()).add(pair.b)
        alike.setdefault(pair.b, set()).add(pair.a)
    kept: set[str] = set()
    dropped: set[str] = set()
    cells = cell_means(results, measure)
    observed = np.isfinite(cells)
    means = ratio(np.where(observed, cells, 0.0).sum(axis=1), observed.sum(axis=1))
    for row in best_first(results.agents, means):
        agent = results.agents[row]
        (dropped if alike.get(agent, set()) & kept else kept).add(agent)
    if not dropped:
        return results
    gone = np.array([agent in dropped for agent in results.agents])
    names = listed([agent for agent in results.agents if agent in dropped], limit=100)
    step = f"dropped as near-identical (correlation above {limit} with an agent kept): {names}"
    return results.where(~gone[results.agent_codes], step)


def _correlate_by_sums(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    size = values.shape[1]
    correlations, pairs = np.empty((size, size)), np.empty((size, size), dtype=np.int64)
    for left, right, sums in GappedColumns.of(values).blocks():
        correlations[left, right] = sums.correlations()
        pairs[left, right] = np.rint(sums.shared)
        correlations[right, left], pairs[right, left] = (
            correlations[left, right].T,
            pairs[left, right].T,
        )
    return correlations, pairs


def _correlate_by_pattern(values: Floats, seen: NDArray[np.bool_], method: Method) -> Floats:
    patterns, group = np.unique(seen, axis=1, return_inverse=True)
    members = [np.flatnonzero(group.ravel() == place) for place in range(patterns.shape[1])]
    correlations = np.full((values.shape[1],) * 2, np.nan)
    for first, left in enumerate(members):
        for second, right in enumerate(members[: first + 1]):
            common = np.flatnonzero(patterns[:, first] & patterns[:, second])
            block = _correlate(values[np.ix_(common, left)], values[np.ix_(common, right)], method)
            correlations[np.ix_(left, right)] = block
            correlations[np.ix_(right, left)] = block.T
    return correlations


def _correlate(left: Floats, right: Floats, method: Method) -> Floats:
    if len(left) < FEWEST_PAIRS:
        return np.full((left.shape[1], right.shape[1]), np.nan)
    if method == "spearman":
        left, right = midranks(left.T).T, midranks(right.T).T
    unit = unit_columns(left)
    products = unit.T @ (unit if right is left else unit_columns(right))
    return np.clip(products, -1.0, 1.0)


def correlation_distances(correlation: Floats) -> Floats:
    """Return 1 − r, and 1 for pairs of which no correlation is known; 0 on the diagonal.

    >>> correlation_distances(np.array([[1.0, np.nan], [np.nan, 1.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    distance = np.where(np.isnan(correlation), 1.0, 1.0 - correlation)
    np.fill_diagonal(distance, 0.0)
    return np.maximum((distance + distance.T) / 2, 0.0)


def correlate_pairs(left: Floats, right: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Correlate two tables column by column over the rows that both have, and count those rows.

    >>> correlate_pairs(np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.5]]))
    (array([-0.98198051]), array([3]))
    """
    rows, products = np.empty(left.shape[1], dtype=np.int64), np.empty(left.shape[1])
    for block in column_blocks(left.shape):
        both = ~(np.isnan(left[:, block]) | np.isnan(right[:, block]))
        sides = (unit_columns(np.where(both, side[:, block], np.nan)) for side in (left, right))
        products[block] = np.where(both, np.multiply(*sides), 0.0).sum(axis=0)
        rows[block] = both.sum(axis=0)
    return np.where(rows >= FEWEST_PAIRS, np.clip(products, -1.0, 1.0), np.nan), rows


def unit_columns(values: Floats) -> Floats:
    """Return columns with mean zero and length one over what was observed; NaN where one does not vary.

    >>> unit_columns(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])).round(3)
    array([[-0.707,    nan],
           [ 0.707,    nan],
           [   nan,    nan]])
    """
    unit = np.empty(values.shape)
    for block in column_blocks(values.shape):
        unit[:, block] = _unit_columns(values[:, block])
    return unit


def _unit_columns(values: Floats) -> Floats:
    values = values / column_size(values)
    low, high = column_range(values)
    observed = ~np.isnan(values)
    mean = np.where(observed, values, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    centred: Floats = values - mean
    length = np.sqrt((np.where(observed, centred, 0.0) ** 2).sum(axis=0))
    unit: Floats = np.full_like(centred, np.nan)
    np.divide(centred, length, out=unit, where=(high - low > ROUNDING) & (length > 0))
    return unit

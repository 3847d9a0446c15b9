"""Tasks that correlate beyond ability: pairs that repeat each other, and groups of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import rarely_exceeded
from examiner.irt.items import Floats
from examiner.irt.suspects.rest_regressions import Responses, RestRegressions, rest_regressions
from examiner.scores import LEVEL

GROUP_SIZES = (3, 4, 6, 8, 12, 16, 24)
MIN_AGENTS = 5
MAX_TASKS = 2000
"""With more tasks the matrices of all pairs would fill memory."""
_TINY = 1e-9


class Pair(NamedTuple):
    """Two tasks, by position, and their residual correlation in standard deviations."""

    first: int
    second: int
    excess: float


class Group(NamedTuple):
    """Tasks, by position, that correlate beyond ability, and what is exceeded in 5 % of tables."""

    tasks: tuple[int, ...]
    excess: float
    cutoff: float
    name: str = ""


class ResidualDependence(NamedTuple):
    """Residual correlation of all pairs [tasks, tasks], and the significant pairs and groups."""

    excess: Floats
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]


def residual_dependence(
    responses: Responses, regressions: RestRegressions, rng: np.random.Generator
) -> ResidualDependence:
    r"""Find pairs and groups of tasks whose results correlate beyond ability.

    Two tasks with one trial each give a table of four cells, in which local independence expects
    :math:`E = \sum_j p_{ji} p_{jk}` and so on; the signed root of

    .. math:: G^2 = 2 \sum O \log (O / E)

    is their dependence. Other results are compared by correlations of residuals. Groups are grown
    from each task by adding the one that correlates most with all so far, and judged by the sum over their
    pairs. The cut-offs for the largest pair and the largest group of each size come from 39 tables drawn
    from the same regressions: the second largest of 40 is exceeded in one table of twenty. Where all pairs
    vary more than in drawn tables (several abilities, families of agents), all are scaled down by as much.

    References: Chen & Thissen (1997), eq. 6; Yen (1984), eq. 9; Devlin & Roeder (1999) for the scale.

    >>> from examiner.results import ResponseMatrix
    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(int)
    >>> table[:, 4] = table[:, 3]
    >>> responses = Responses.of(ResponseMatrix.from_array(table))
    >>> [pair[:2] for pair in residual_dependence(responses, rest_regressions(responses), rng).pairs]
    [(3, 4)]
    """
    excess, draws = pair_excess(responses, regressions), 39
    largest, strengths, spreads = (
        np.empty(draws),
        np.empty((draws, len(GROUP_SIZES))),
        np.empty(draws),
    )
    for draw in range(draws):
        table = regressions.drawn(responses, rng)
        refitted = rest_regressions(table, regressions.guessing, near=regressions)
        null = pair_excess(table, refitted)
        largest[draw], spreads[draw] = null.max(), _spread(null)
        strengths[draw] = _grown(null).strength.max(axis=0)
    excess = excess / max(1.0, _spread(excess) / float(np.median(spreads)))
    cutoff = rarely_exceeded(largest)
    rows, columns = np.nonzero(np.triu(excess > cutoff, 1))
    order = np.argsort(-excess[rows, columns], kind="stable")
    pairs = tuple(
        Pair(int(rows[n]), int(columns[n]), float(excess[rows[n], columns[n]])) for n in order
    )
    # a single pair makes no group: it counts for no more than its cut-off
    return ResidualDependence(excess, pairs, _groups(np.minimum(excess, cutoff), strengths))


def pair_excess(responses: Responses, regressions: RestRegressions) -> Floats:
    """Return how much every two tasks correlate beyond ability, [tasks, tasks], in standard deviations.

    >>> from examiner.results import ResponseMatrix
    >>> table = Responses.of(ResponseMatrix.from_array([[1, 1], [0, 0], [1, 1], [0, 0], [1, 0], [0, 1]]))
    >>> pair_excess(table, rest_regressions(table)).shape
    (2, 2)
    """
    observed = responses.observed.astype(np.float64)
    common = observed.T @ observed
    if responses.counts and float(responses.trials.max()) <= 1:
        excess = _signed_roots(responses.value, regressions.expected * observed, observed, common)
    else:
        residual = np.where(responses.observed, responses.value - regressions.expected, 0.0)
        excess = _fisher_deviates(residual, observed, common)
    excess[common < MIN_AGENTS] = 0.0
    np.fill_diagonal(excess, 0.0)
    return excess


def _signed_roots(won: Floats, chance: Floats, observed: Floats, common: Floats) -> Floats:
    """Signed roots of G², for 64 tasks at a time, so that tables stay in a processor's cache."""
    excess, complete = np.empty(common.shape), bool(observed.all())
    for start in range(0, len(common), 64):
        rows, columns = slice(start, start + 64), slice(start, None)  # and the mirror image
        pairs = common[rows, columns]
        present = None if complete else (observed[:, rows], observed[:, columns])
        tables = [
            _four_cells(part[:, rows], part[:, columns], pairs, present) for part in (won, chance)
        ]
        total = np.zeros(pairs.shape)
        for cell, mean in zip(*tables, strict=True):
            # slopes have priors, so that expected counts do not add up to observed ones exactly
            ratio = np.maximum(cell, _TINY) / np.maximum(mean, _TINY)
            total += cell * np.log(ratio) + mean - cell
        odds = [both * neither - first * second for both, first, second, neither in tables]
        root = np.sign(odds[0] - odds[1]) * np.sqrt(np.maximum(2 * total, 0.0))
        excess[rows, columns] = root
        excess[columns, rows] = root.T
    return excess


def _four_cells(
    left: Floats, right: Floats, common: Floats, observed: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """How many agents solve both tasks, the first alone, the second alone, and neither; [rows, columns]."""
    both = left.T @ right
    if observed is None:  # every agent has every task: no further products
        first, second = left.sum(axis=0)[:, None] - both, right.sum(axis=0) - both
    else:
        first, second = left.T @ observed[1] - both, observed[0].T @ right - both
    return both, first, second, common - both - first - second


def _fisher_deviates(residual: Floats, observed: Floats, common: Floats) -> Floats:
    """Correlations of residuals over agents observed on both tasks, as normal deviates (Fisher)."""
    size = np.sqrt((residual**2).T @ observed)
    both = size * size.T
    r = np.divide(residual.T @ residual, both, out=np.zeros_like(both), where=both > _TINY)
    return np.asarray(
        np.arctanh(np.clip(r, -0.999999, 0.999999)) * np.sqrt(np.maximum(common - 3, 1))
    )


def _spread(excess: Floats) -> float:
    """The interquartile range of all pairs as a standard deviation: few dependent pairs do not move it."""
    values = excess[np.triu_indices(len(excess), 1)]
    compared = values[values != 0.0]
    low, high = np.quantile(compared if len(compared) else values, [0.25, 0.75])
    return max(float(high - low) / 1.349, _TINY)


class _Grown(NamedTuple):
    """Groups grown from seeds: members in order [seeds, most], strength at each size [seeds, sizes]."""

    members: NDArray[np.intp]
    strength: Floats


def _grown(excess: Floats) -> _Grown:
    """Grow a group from each of 400 tasks; strength is the sum of its pairs by the root of their number."""
    seeds = np.argsort(-excess.max(axis=1), kind="stable")[:400]
    most, rows = min(GROUP_SIZES[-1], len(excess)), np.arange(len(seeds))
    members = np.empty((len(seeds), most), dtype=np.intp)
    members[:, 0] = seeds
    gain = excess[seeds].copy()
    gain[rows, seeds] = -np.inf
    total = np.zeros(len(seeds))
    strength = np.full((len(seeds), len(GROUP_SIZES)), -np.inf)
    added = np.empty_like(gain)
    for size in range(2, most + 1):
        joined = gain.argmax(axis=1)
        total += gain[rows, joined]
        members[:, size - 1] = joined
        gain += np.take(excess, joined, axis=0, out=added, mode="clip")
        gain[rows, joined] = -np.inf
        if size in GROUP_SIZES:
            strength[:, GROUP_SIZES.index(size)] = total / np.sqrt(size * (size - 1) / 2)
    return _Grown(members, strength)


def _groups(excess: Floats, drawn: Floats) -> tuple[Group, ...]:
    """At most ten groups stronger than any by chance, the strongest first, each task in one at most.

    `drawn` are the strengths of the strongest group of each size in drawn tables, [draws, sizes].
    """
    possible = np.isfinite(drawn).all(axis=0)
    drawn = np.where(possible, drawn, 0.0)
    middle, deviation = np.median(drawn, axis=0), np.maximum(drawn.std(axis=0), _TINY)
    deviates = np.where(possible, (drawn - middle) / deviation, -np.inf)
    cutoff = rarely_exceeded(deviates.max(axis=1))
    remaining, groups = excess.copy(), list[Group]()
    while len(groups) < 10:
        grown = _grown(remaining)
        beyond = np.where(possible, (grown.strength - middle) / deviation, -np.inf)
        seed, column = np.unravel_index(int(beyond.argmax()), beyond.shape)
        if not beyond[seed, column] > cutoff:
            break
        members = grown.members[seed, : GROUP_SIZES[column]]
        groups.append(Group(tuple(sorted(members.tolist())), float(beyond[seed, column]), cutoff))
        remaining[members] = remaining[:, members] = -np.inf
    return tuple(groups)


def labelled_groups(
    excess: Floats,
    labels: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
    *,
    permutations: int = 999,
) -> tuple[Group, ...]:
    """Return the groups of given labels whose tasks correlate more than tasks of other groups do.

    Labels are permuted over tasks: a column without meaning has any group in one table of twenty. What
    all tasks share beyond ability therefore flags no single group.

    References: Westfall & Young (1993), section 2.3, for many groups at once.

    >>> excess = np.zeros((30, 30))
    >>> excess[:5, :5] = 2.0
    >>> groups = labelled_groups(excess, {"repo": ["a"] * 5 + ["b"] * 25}, np.random.default_rng(0))
    >>> [group.name for group in groups]
    ['repo a']
    """
    groups: list[Group] = []
    for column, values in labels.items():
        tasks_of: dict[object, list[int]] = {}
        for task, value in enumerate(values):
            if value is not None:
                tasks_of.setdefault(value, []).append(task)
        members = {
            name: np.array(tasks)
            for name, tasks in tasks_of.items()
            if 2 <= len(tasks) < len(values)
        }
        if not members:
            continue
        orders = (rng.permutation(len(values)) for _ in range(permutations))
        drawn = np.array([_pair_sums(excess, members.values(), order) for order in orders])
        mean, deviation = drawn.mean(axis=0), np.maximum(drawn.std(axis=0), _TINY)
        cutoff = rarely_exceeded(((drawn - mean) / deviation).max(axis=1), LEVEL / len(labels))
        beyond = _pair_sums(excess, members.values(), np.arange(len(values)))
        beyond = (beyond - mean) / deviation
        names = list(members)
        groups += [
            Group(
                tuple(members[names[n]].tolist()), float(beyond[n]), cutoff, f"{column} {names[n]}"
            )
            for n in np.argsort(-beyond, kind="stable")
            if beyond[n] > cutoff
        ]
    return tuple(groups)


def _pair_sums(
    excess: Floats, members: Iterable[NDArray[np.intp]], order: NDArray[np.intp]
) -> Floats:
    """The sum over pairs inside each group when labels are in another order, [groups]."""
    permuted = (order[tasks] for tasks in members)
    return np.array([excess[tasks[:, None], tasks].sum() / 2 for tasks in permuted])

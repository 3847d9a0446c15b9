"""Tasks that share more than ability: pairs that repeat each other, and groups that move together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import RARE, rarely_exceeded
from examiner.irt.items import Floats
from examiner.irt.suspects.given_ability import Expectations, Responses, given_ability

SIZES = (3, 4, 6, 8, 12, 16, 24)
"""Sizes of groups looked at."""
FEWEST_AGENTS = 5
DRAWS = 39
"""Tables drawn: the second largest of 40 is exceeded by chance in one table of twenty exactly."""
MOST_TASKS = 2000
"""Tasks whose pairs are compared: beyond, tables of all pairs fill memory."""
_ROWS = 64
"""Tasks whose pairs with all others are looked at together: a few hundred kilobytes for 500 tasks."""
_MOST_SEEDS = 400
_MOST_GROUPS = 10
_LABELLINGS = 999
_LEAST = 1e-9


class Pair(NamedTuple):
    """Two tasks, by position, and how far they go together beyond ability, in deviations by chance."""

    first: int
    second: int
    excess: float
    cutoff: float


class Group(NamedTuple):
    """Tasks, by position, that move together, and how often chance gives as much in any group."""

    tasks: tuple[int, ...]
    excess: float
    cutoff: float
    name: str = ""


class ResidualDependence(NamedTuple):
    """What goes together beyond ability, how often chance gives any of each, and by how many draws."""

    excess: Floats
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    draws: int


def together(found: Responses, given: Expectations, rng: np.random.Generator) -> ResidualDependence:
    r"""Look for pairs and groups of tasks whose results go together beyond ability.

    Of two tasks with one trial each, agents fall in a table of four, in which local independence expects
    :math:`E = \sum_j p_{ji} p_{jk}` and so on; the signed root of

    .. math:: G^2 = 2 \sum O \log (O / E)

    is how far they go together. Other results are compared by correlations of residuals. Groups are grown
    from each task by the one that goes best with all so far, and judged by the sum of all their pairs.
    What chance gives as the largest pair, and the largest group of each size, is had from tables drawn
    from the same regressions and looked at in the same way. Where all pairs vary more than in tables
    drawn (several abilities, agents that are kin), the cut-offs are wider by as much, so that what is
    told stands out among the pairs of its own table.

    References: Chen & Thissen (1997), eq. 6; Yen (1984), eq. 9; Devlin & Roeder (1999) for the scale.

    >>> from examiner.results import ResponseMatrix
    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(int)
    >>> table[:, 4] = table[:, 3]
    >>> responses = Responses.of(ResponseMatrix.from_array(table))
    >>> [pair[:2] for pair in together(responses, given_ability(responses), rng).pairs]
    [(3, 4)]
    """
    excess = pair_excess(found, given)
    largest, scans, spreads = np.empty(DRAWS), np.empty((DRAWS, len(SIZES))), np.empty(DRAWS)
    for draw in range(DRAWS):
        table = given.drawn(found, rng)
        by_chance = pair_excess(table, given_ability(table, given.guessing, near=given))
        largest[draw], spreads[draw] = by_chance.max(), _spread(by_chance)
        scans[draw] = _grown(by_chance).strength.max(axis=0)
    wider = max(1.0, _spread(excess) / float(np.median(spreads)))
    excess = excess / wider
    cutoff = rarely_exceeded(largest)
    rows, columns = np.nonzero(np.triu(excess > cutoff, 1))
    order = np.argsort(-excess[rows, columns], kind="stable")
    pairs = tuple(
        Pair(int(rows[n]), int(columns[n]), float(excess[rows[n], columns[n]]), cutoff)
        for n in order
    )
    # two that repeat each other, and any third, are no group: one pair counts for what chance may give
    return ResidualDependence(excess, pairs, _groups(np.minimum(excess, cutoff), scans), DRAWS)


def pair_excess(found: Responses, given: Expectations) -> Floats:
    """Return how far every two tasks go together beyond ability, [tasks, tasks], in deviations.

    >>> from examiner.results import ResponseMatrix
    >>> table = Responses.of(ResponseMatrix.from_array([[1, 1], [0, 0], [1, 1], [0, 0], [1, 0], [0, 1]]))
    >>> pair_excess(table, given_ability(table)).shape
    (2, 2)
    """
    seen = found.seen.astype(np.float64)
    common = seen.T @ seen
    single = found.counts and float(found.trials.max()) <= 1
    excess = (
        _four_cells(found.value, given.expected * seen, seen, common)
        if single
        else _correlated(np.where(found.seen, found.value - given.expected, 0.0), seen, common)
    )
    excess[common < FEWEST_AGENTS] = 0.0
    np.fill_diagonal(excess, 0.0)
    return excess


def _four_cells(won: Floats, chance: Floats, seen: Floats, common: Floats) -> Floats:
    """Signed roots of G², for some rows at a time, so that tables stay near the processor."""
    excess, complete = np.empty(common.shape), bool(seen.all())
    for start in range(0, len(common), _ROWS):
        rows, columns = slice(start, start + _ROWS), slice(start, None)  # and the mirror image
        parts = (common[rows, columns], None if complete else seen)
        observed = _cells(won[:, rows], won[:, columns], *parts, rows, columns)
        expected = _cells(chance[:, rows], chance[:, columns], *parts, rows, columns)
        total = np.zeros(parts[0].shape)
        for cell, mean in zip(observed, expected, strict=True):
            # what is expected does not add up to what is observed exactly, since slopes are pulled
            ratio = np.maximum(cell, _LEAST) / np.maximum(mean, _LEAST)
            total += cell * np.log(ratio) + mean - cell
        lean = _lean(observed) - _lean(expected)
        excess[rows, columns] = np.sign(lean) * np.sqrt(np.maximum(2 * total, 0.0))
        excess[columns, rows] = excess[rows, columns].T
    return excess


class _SolvedByPairs(NamedTuple):
    """How many agents solve both tasks, the first alone, the second alone, and none; [rows, columns]."""

    both: Floats
    first: Floats
    second: Floats
    neither: Floats


def _cells(
    left: Floats, right: Floats, common: Floats, seen: Floats | None, rows: slice, columns: slice
) -> _SolvedByPairs:
    both = left.T @ right
    if seen is None:  # every agent has every task: no further products
        first, second = left.sum(axis=0)[:, None] - both, right.sum(axis=0) - both
    else:
        first, second = left.T @ seen[:, columns] - both, seen[:, rows].T @ right - both
    return _SolvedByPairs(both, first, second, common - both - first - second)


def _lean(cells: _SolvedByPairs) -> Floats:
    return np.asarray(cells.both * cells.neither - cells.first * cells.second)


def _correlated(left: Floats, seen: Floats, common: Floats) -> Floats:
    """Correlations of residuals over agents seen on both, as deviates (Fisher)."""
    size = np.sqrt((left**2).T @ seen)
    both = size * size.T
    r = np.divide(left.T @ left, both, out=np.zeros_like(both), where=both > _LEAST)
    return np.asarray(
        np.arctanh(np.clip(r, -0.999999, 0.999999)) * np.sqrt(np.maximum(common - 3, 1))
    )


def _spread(excess: Floats) -> float:
    """The middle of all pairs as a standard deviation: a few that go together do not change it."""
    values = excess[np.triu_indices(len(excess), 1)]
    counted = values[values != 0.0]
    low, high = np.quantile(counted if len(counted) else values, [0.25, 0.75])
    return max(float(high - low) / 1.349, _LEAST)


class _Grown(NamedTuple):
    """Groups grown from seeds: members in order [seeds, most], strength at each size [seeds, sizes]."""

    members: NDArray[np.intp]
    strength: Floats


def _grown(excess: Floats) -> _Grown:
    """Grow a group from each task; strength is Σ of its pairs over the root of their number."""
    tasks = len(excess)
    seeds = np.argsort(-excess.max(axis=1), kind="stable")[:_MOST_SEEDS]
    most = min(SIZES[-1], tasks)
    members = np.empty((len(seeds), most), dtype=np.intp)
    members[:, 0] = seeds
    pull = excess[seeds].copy()
    rows = np.arange(len(seeds))
    pull[rows, seeds] = -np.inf
    total = np.zeros(len(seeds))
    strength = np.full((len(seeds), len(SIZES)), -np.inf)
    pulled = np.empty_like(pull)
    for size in range(2, most + 1):
        joined = pull.argmax(axis=1)
        total += pull[rows, joined]
        members[:, size - 1] = joined
        pull += np.take(excess, joined, axis=0, out=pulled, mode="clip")
        pull[rows, joined] = -np.inf
        if size in SIZES:
            strength[:, SIZES.index(size)] = total / np.sqrt(size * (size - 1) / 2)
    return _Grown(members, strength)


def _groups(excess: Floats, scans: Floats) -> tuple[Group, ...]:
    """The groups beyond what chance gives in any group of any size, the strongest first, each task once."""
    known = np.isfinite(scans).all(axis=0)
    middle = np.where(known, np.median(np.where(known, scans, 0.0), axis=0), 0.0)
    size = np.maximum(np.where(known, np.where(known, scans, 0.0).std(axis=0), 1.0), _LEAST)
    cutoff = (
        rarely_exceeded(((scans - middle) / size)[:, known].max(axis=1)) if known.any() else np.inf
    )
    left = excess.copy()
    found: list[Group] = []
    while len(found) < _MOST_GROUPS:
        grown = _grown(left)
        beyond = np.where(known, (grown.strength - middle) / size, -np.inf)
        seed, column = np.unravel_index(int(beyond.argmax()), beyond.shape)
        if not beyond[seed, column] > cutoff:
            break
        members = grown.members[seed, : SIZES[column]]
        found.append(
            Group(tuple(sorted(members.tolist())), float(beyond[seed, column]), float(cutoff))
        )
        left[members] = left[:, members] = -np.inf  # a task is in one group at most
    return tuple(found)


def given_groups(
    excess: Floats, labels: Mapping[str, Sequence[object]], rng: np.random.Generator
) -> tuple[Group, ...]:
    """Return the groups of given labels whose tasks go together more than tasks of other groups do.

    Labels are exchanged between tasks: of a column without meaning one table in twenty has any group. So
    what all tasks share beyond ability is no reason to name one group.

    References: Westfall & Young (1993), section 2.3, for many groups at once.

    >>> excess = np.zeros((30, 30))
    >>> excess[:5, :5] = 2.0
    >>> found = given_groups(excess, {"repo": ["a"] * 5 + ["b"] * 25}, np.random.default_rng(0))
    >>> [group.name for group in found]
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
        drawn = np.array(
            [
                _inside(excess, members.values(), rng.permutation(len(values)))
                for _ in range(_LABELLINGS)
            ]
        )
        mean, size = drawn.mean(axis=0), np.maximum(drawn.std(axis=0), _LEAST)
        cutoff = rarely_exceeded(((drawn - mean) / size).max(axis=1), RARE / len(labels))
        observed = _inside(excess, members.values(), np.arange(len(values)))
        beyond = (observed - mean) / size
        names = list(members)
        groups += [
            Group(
                tuple(members[names[n]].tolist()), float(beyond[n]), cutoff, f"{column} {names[n]}"
            )
            for n in np.argsort(-beyond, kind="stable")
            if beyond[n] > cutoff
        ]
    return tuple(groups)


def _inside(excess: Floats, members: Iterable[NDArray[np.intp]], order: NDArray[np.intp]) -> Floats:
    """The sum over pairs inside each group when tasks take the labels of others, [groups]."""
    taken = (order[tasks] for tasks in members)
    return np.array([excess[tasks[:, None], tasks].sum() / 2 for tasks in taken])

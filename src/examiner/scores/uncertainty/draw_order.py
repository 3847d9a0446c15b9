"""The order in which runs and tasks are drawn: by the scores themselves, never by names or places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results.content_order import Hashes, mixed
from examiner.validation import Floats, read_only
from examiner.validation.natural_order import NaturalKey, natural_key

if TYPE_CHECKING:
    from examiner.scores.uncertainty.strata import Strata

STEPS = 1 << 24
"""Scores are compared in steps of their range: fine enough to differ, too coarse for rounding to matter."""
OFFSET = 0.377
"""Keeps simple fractions away from the middle between two steps, where rounding would decide."""
ROUNDS = 2
"""Times that agents and tasks describe each other; the second separates agents with equal scores."""


class DrawOrder(NamedTuple):
    """What agents' random streams start from, and the place of each task in the order of drawing.

    `streams` holds for each agent a hash of its own scores, and a number that separates agents with equal
    hashes. `tasks` has shape [tasks]. `strata` are those whose scores decide: other names, another order of
    agents, tasks, runs or rows, and positive multiples of all scores give the same draws.
    """

    strata: tuple[Strata, ...]
    streams: tuple[tuple[int, int], ...]
    tasks: NDArray[np.int64]

    def rows(self, agent: int) -> NDArray[np.intp]:
        """Return the rows of an agent's strata in the order of drawing.

        By its own scores first, so that further agents change nothing where these differ.
        """
        strata = self.strata[agent]
        return np.lexsort((self.tasks[strata.tasks], _cells(strata)))

    def runs(self, agent: int, rows: NDArray[np.intp], runs: int) -> NDArray[np.intp]:
        """Return the runs of some rows of an agent in the order of drawing, shape [rows, runs]."""
        return np.argsort(self.strata[agent].scores[rows, :runs], axis=1, kind="stable")


def draw_order(strata: tuple[Strata, ...], tasks: int) -> DrawOrder:
    """Order agents and tasks by their scores alone; `tasks` is how many the table has.

    >>> from examiner.results import Results
    >>> from examiner.scores.uncertainty.strata import run_scores
    >>> table = np.array([[[1.0, 2.0], [5.0, 9.0]], [[3.0, 3.0], [4.0, 6.0]]])
    >>> plain = run_scores(Results.from_numpy(table)).draw_order
    >>> turned = run_scores(Results.from_numpy(table[::-1, ::-1])).draw_order
    >>> plain.streams == turned.streams[::-1], bool((plain.tasks == turned.tasks[::-1]).all())
    (True, True)
    """
    own = [_sum(_cells(one)) for one in strata]
    level = np.zeros(len(strata), dtype=np.int64)
    seen = [row for row, one in enumerate(strata) if len(one.tasks)]
    level[seen] = _steps(np.array([strata[row].means.mean() for row in seen]))
    refined = mixed(np.array(own, dtype=np.uint64) ^ mixed(level.astype(np.uint64)))
    agents = [int(each) for each in refined]
    described = np.zeros(tasks, dtype=np.uint64)
    for _ in range(ROUNDS):
        described = np.zeros(tasks, dtype=np.uint64)
        for one, agent in zip(strata, agents, strict=True):
            described[one.tasks] += mixed(_cells(one) ^ np.uint64(agent))
        agents = [_sum(mixed(_cells(one) ^ described[one.tasks])) for one in strata]
    place = np.empty(tasks, dtype=np.int64)
    place[np.argsort(described, kind="stable")] = np.arange(tasks)
    read_only(place)
    keys = [
        (int(step), refined, natural_key(one.agent))
        for step, refined, one in zip(level, agents, strata, strict=True)
    ]
    return DrawOrder(strata, _numbered(own, keys), place)


def _numbered(
    hashes: Sequence[int], keys: Sequence[tuple[int, int, NaturalKey]]
) -> tuple[tuple[int, int], ...]:
    """Each agent's hash, and its number among those with the same, by level, then by the refined hash.

    Names decide between agents whose scores are equal throughout.
    """
    numbers = [0] * len(hashes)
    counts: Counter[int] = Counter()
    for row in sorted(range(len(hashes)), key=keys.__getitem__):
        numbers[row] = counts[hashes[row]]
        counts[hashes[row]] += 1
    return tuple(zip(hashes, numbers, strict=True))


def _cells(strata: Strata) -> Hashes:
    """A hash of the runs of each task, in whatever order, relative to the agent's own range: [tasks]."""
    if not len(strata.tasks):
        return np.zeros(0, dtype=np.uint64)
    hashes = mixed(_steps(strata.scores).astype(np.uint64))
    if strata.scores.shape[1] == 1:
        return hashes[:, 0]
    return mixed(np.where(strata.present, hashes, np.uint64(0)).sum(axis=1, dtype=np.uint64))


def _steps(values: Floats) -> NDArray[np.int64]:
    """Values as whole steps between their least and their greatest."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not high > low:
        return np.zeros(values.shape, dtype=np.int64)
    with np.errstate(over="ignore"):
        size = high - low
        relative = (values - low) / size if np.isfinite(size) else values / high - low / high
    return np.asarray(np.floor(relative * STEPS + OFFSET), dtype=np.int64)


def _sum(hashes: Hashes) -> int:
    return int(hashes.sum(dtype=np.uint64))

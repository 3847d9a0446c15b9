"""Which agents are held out together; families are never split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.scores import check_level
from examiner.selection.benchmark import Benchmark
from examiner.selection.resampling import REPS
from examiner.validation import generator

LEAST_TRAINING = 2
PAIR_FOLDS, PAIR_REPEATS = 5, 5
"""Folds in which several agents are held out together, for their order, where the others hold out one."""
MOST_AGENTS, MOST_CELLS = 100, 5_000
"""Up to this many agents, and agents · tasks, one agent is held out at a time."""
FOLDS = 10
FEWER_FOLDS, MANY_CELLS = 5, 50_000
"""Beyond this many agents · tasks five folds: 134 × 500 take one processor second, and R² is the same."""


@dataclass(frozen=True, slots=True)
class Holdout:
    """The protocol by which a selection is judged: the same defaults everywhere.

    `folds` is "loo" (every agent or family in turn), a number, or None: "loo" for small tables, ten folds
    for large ones, five for very large ones. `choose_on` names the agents to choose on instead, and all
    others are judged. `inner` folds inside each fold judge methods for best-of and calibrate prediction
    intervals. `draws` random sets of each size are judged in the same way, `reps` resamples of agents give
    intervals, and `level` is that of the prediction intervals.

    >>> Holdout(level=2)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The level is 2. Give a number between 0 and 1, as 0.95.
    """

    folds: Literal["loo"] | int | None = None
    choose_on: tuple[str, ...] | None = None
    inner: int = 5
    draws: int = 100
    reps: int = REPS
    level: float = 0.9

    def __post_init__(self) -> None:
        check_level(self.level)


class Splits(NamedTuple):
    """The folds that are judged, those in which orders are judged, and what both are called."""

    main: list[Split]
    pairs: list[Split]
    name: str


class Split(NamedTuple):
    """Positions of the agents that choose and fit, and of those that are judged."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def splits_of(
    holdout: Holdout,
    agents: Sequence[str],
    families: NDArray[np.integer],
    tasks: int,
    rng: np.random.Generator,
) -> Splits:
    """Split agents as the holdout says; families are never split.

    The order of agents is judged in folds that hold out several of them: in the same folds where all of
    these do, else in five times five folds more.

    >>> splits = splits_of(Holdout(), list("abcdefg"), np.arange(7), 9, np.random.default_rng(0))
    >>> len(splits.main), len(splits.pairs), splits.name
    (7, 15, 'leave-one-out')
    """
    if holdout.choose_on is not None:
        named = holdout.choose_on
        return Splits(chosen_on(agents, named), [], f"chosen on {len(named)} agents")
    count = int(families.max()) + 1
    folds = usual_folds(len(agents), tasks, count) if holdout.folds is None else holdout.folds
    if folds == "loo":
        main, name = leave_one_out(families), "leave-one-out"
    else:
        main, name = k_fold(families, folds, rng), f"{folds} folds"
    whole = "" if count == len(families) else ", families kept together"
    number = min(PAIR_FOLDS, count // 2)
    # Fewer than six agents cannot be held out in pairs and leave enough to choose on.
    if number < 3 or all(len(split.test) > 1 for split in main):
        return Splits(main, [], name + whole)
    pairs = [split for _ in range(PAIR_REPEATS) for split in k_fold(families, number, rng)]
    return Splits(main, pairs, name + whole)


def splits_and_streams(
    whole: Benchmark, holdout: Holdout, seed: int
) -> tuple[Splits, tuple[np.random.Generator, ...]]:
    """Return who is held out with whom, and generators for random sets, folds and figures."""
    for_draws, for_splits, for_folds, for_figures = generator(seed).spawn(4)
    splits = splits_of(holdout, whole.agents, whole.family_codes, len(whole.tasks), for_splits)
    return judged_only(splits, whole.judged), (for_draws, for_folds, for_figures)


def usual_folds(agents: int, tasks: int, families: int) -> Literal["loo"] | int:
    """Leave one out of small tables, and make ten folds of large ones, five of very large ones.

    Ten folds choose on nine tenths of the agents, slightly fewer than there are: if anything, errors come
    out too large.

    >>> usual_folds(8, 6, 8), usual_folds(134, 50, 134), usual_folds(134, 500, 134)
    ('loo', 10, 5)
    """
    small = agents <= MOST_AGENTS and agents * tasks <= MOST_CELLS
    if small or families <= FOLDS:
        return "loo"
    return FEWER_FOLDS if agents * tasks > MANY_CELLS else FOLDS


def judged_only(splits: Splits, judged: NDArray[np.bool_]) -> Splits:
    """Hold out only agents whose truth is known; folds without any are not made.

    >>> splits = Splits([Split(np.array([1]), np.array([0])), Split(np.array([0]), np.array([1]))], [], "")
    >>> len(judged_only(splits, np.array([True, False])).main)
    1
    """
    main, pairs = (
        [Split(train, test[judged[test]]) for train, test in part if judged[test].any()]
        for part in (splits.main, splits.pairs)
    )
    return Splits(main, pairs, splits.name)


def leave_one_out(families: NDArray[np.integer]) -> list[Split]:
    """Hold out every family in turn; an agent without one is its own.

    >>> [split.test.tolist() for split in leave_one_out(np.array([0, 1, 0, 2, 3, 3]))]
    [[0, 2], [1], [3], [4, 5]]
    """
    tests = [np.flatnonzero(families == family) for family in range(int(families.max()) + 1)]
    return _checked(tests, len(families))


def k_fold(families: NDArray[np.integer], folds: int, rng: np.random.Generator) -> list[Split]:
    """Hold out whole families in `folds` parts of nearly equal size, drawn at random.

    >>> splits = k_fold(np.arange(6), 3, np.random.default_rng(0))
    >>> sorted(len(split.test) for split in splits)
    [2, 2, 2]
    """
    count = int(families.max()) + 1
    if count < 2:
        raise InputError(
            "One agent or family cannot be split into folds. Give at least two to choose on."
        )
    if not 2 <= folds <= count:
        raise InputError(
            f"Cannot make {folds} folds of {count} agents or families. Choose between 2 and {count}."
        )
    order = rng.permutation(count)
    size = np.bincount(families)
    # Large families first, or the last of them would make a fold far larger than the others.
    order = order[np.argsort(-size[order], kind="stable")]
    parts: list[list[int]] = [[] for _ in range(folds)]
    agents = [0] * folds
    for family in order.tolist():
        smallest = agents.index(min(agents))
        parts[smallest].append(family)
        agents[smallest] += int(size[family])
    return _checked([np.flatnonzero(np.isin(families, part)) for part in parts], len(families))


def chosen_on(agents: Sequence[str], named: Sequence[str]) -> list[Split]:
    """Choose on the agents named, judge on all others: last year's entrants, and this year's.

    >>> [split.test.tolist() for split in chosen_on(list("abcdef"), list("abcd"))]
    [[4, 5]]
    """
    unknown = [name for name in named if name not in agents]
    if unknown:
        raise InputError(
            f"No agent is called {listed(unknown)}. There are {listed(agents)}. Check their names."
        )
    inside = np.isin(np.arange(len(agents)), [agents.index(name) for name in named])
    if inside.all():
        raise InputError(
            "All agents would choose, and none be judged. Name fewer agents to choose on."
        )
    return _checked([np.flatnonzero(~inside)], len(agents))


def _checked(tests: list[NDArray[np.intp]], agents: int) -> list[Split]:
    splits = []
    for test in tests:
        train = np.setdiff1d(np.arange(agents), test)
        if len(train) < LEAST_TRAINING:
            raise InputError(
                f"A fold would leave {counted(len(train), 'agent')} to choose on; it needs "
                f"{LEAST_TRAINING}. Give more agents, or smaller families."
            )
        splits.append(Split(train, test))
    return splits

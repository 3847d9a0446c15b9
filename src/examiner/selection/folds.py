"""Which agents are held out together; families are never split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.constraints import codes_of
from examiner.wording import InputError, counted, listed

LEAST_TRAINING = 2


class Split(NamedTuple):
    """Positions of the agents that choose and fit, and of those that are judged."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def leave_one_out(families: Sequence[str]) -> list[Split]:
    """Hold out every family in turn; an agent without one is its own.

    >>> [split.test.tolist() for split in leave_one_out(["x", "y", "x", "z", "w", "w"])]
    [[0, 2], [1], [3], [4, 5]]
    """
    code = codes_of(families)
    return _checked([np.flatnonzero(code == one) for one in range(int(code.max()) + 1)], len(code))


def k_fold(families: Sequence[str], folds: int, rng: np.random.Generator) -> list[Split]:
    """Hold out whole families in `folds` parts of nearly equal size, drawn at random.

    >>> splits = k_fold(list("abcdef"), 3, np.random.default_rng(0))
    >>> sorted(len(split.test) for split in splits)
    [2, 2, 2]
    """
    code = codes_of(families)
    count = int(code.max()) + 1
    if count < 2:
        raise InputError(
            "One agent or family cannot be split into folds. Give at least two to choose on."
        )
    if not 2 <= folds <= count:
        raise InputError(
            f"Cannot make {folds} folds of {count} agents or families. Choose between 2 and {count}."
        )
    order = rng.permutation(count)
    size = np.bincount(code)
    # Large families first, or the last of them would make a fold far larger than the others.
    order = order[np.argsort(-size[order], kind="stable")]
    held: list[list[int]] = [[] for _ in range(folds)]
    for one in order:
        smallest = min(held, key=lambda part: int(size[part].sum()) if part else 0)
        smallest.append(int(one))
    return _checked([np.flatnonzero(np.isin(code, part)) for part in held], len(code))


def chosen_on(agents: Sequence[str], named: Sequence[str]) -> list[Split]:
    """Choose on the agents named, judge on all others: last year's entrants, and this year's.

    >>> [split.test.tolist() for split in chosen_on(list("abcdef"), list("abcd"))]
    [[4, 5]]
    """
    unknown = [name for name in named if name not in agents]
    if unknown:
        raise InputError(
            f"No agent is called {listed(unknown)}. There are {listed(agents)}. Check `--choose-on`."
        )
    inside = np.isin(np.arange(len(agents)), [agents.index(name) for name in named])
    if inside.all():
        raise InputError(
            "All agents would choose, and none be judged. Name fewer in `--choose-on`."
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

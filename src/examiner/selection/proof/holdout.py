"""Which agents are held out together, families never split, and about how long judging them takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.scores.cells import codes_of
from examiner.scores.estimate import check_level
from examiner.selection.benchmark import Benchmark
from examiner.selection.effort import (
    CHOICES_A_FOLD,
    reckoned_size,
    seconds_to_choose,
    seconds_to_predict,
    seconds_to_settle,
)
from examiner.selection.methods import DEFAULT, MOST_SECONDS
from examiner.selection.sampled import PROOF_CELLS, agents_within, is_very_large

LEAST_TRAINING = 2
PAIR_FOLDS = 5
"""Folds in which several agents are held out together, so that their order can be judged."""
REPEATS, FEWER_REPEATS = 5, 2
"""How often pairs of agents are held out in five folds beside the proof; less often in large tables."""
FEWER_FOLDS = 10
MOST_AGENTS, MOST_CELLS = 100, 5_000
"""Up to so many agents, and agents · tasks, the proof leaves one out at a time."""
FEWEST_FOLDS, VERY_MANY_CELLS = 5, 500_000
"""Beyond so many agents · tasks five folds do, in which hundreds of agents are held out together."""
INNER_FOLDS = 12


@dataclass(frozen=True, slots=True)
class Holdout:
    """How agents are held out, and how often random sets and resamples are drawn.

    `folds` is "loo" (every agent or family in turn) or a number; `choose_on` names the agents to choose
    on instead, all others being judged. `inner` folds inside each fold judge methods for best-of.
    Orders are judged in `repeats` of five folds beside, in which agents are held out together. `draws`
    random sets of each size stand beside the methods, `reps` resamples of agents give intervals, and
    `level` is that of the prediction intervals.

    >>> Holdout(level=2)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The level is 2. Give a number between 0 and 1, as 0.95.
    """

    folds: Literal["loo"] | int = "loo"
    choose_on: tuple[str, ...] | None = None
    inner: int = 5
    repeats: int = 5
    draws: int = 200
    reps: int = 400
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
    holdout: Holdout, agents: Sequence[str], families: Sequence[str], rng: np.random.Generator
) -> Splits:
    """Split agents as the holdout says; families are never split.

    >>> splits = splits_of(Holdout(), list("abcdefg"), list("abcdefg"), np.random.default_rng(0))
    >>> len(splits.main), len(splits.pairs), splits.name
    (7, 15, 'leave-one-out')
    """
    if holdout.choose_on is not None:
        named = holdout.choose_on
        return Splits(chosen_on(agents, named), [], f"chosen on {len(named)} agents")
    count = len(set(families))
    if holdout.folds == "loo":
        main, name = leave_one_out(families), "leave-one-out"
    else:
        main, name = k_fold(families, holdout.folds, rng), f"{holdout.folds} folds"
    number = min(PAIR_FOLDS, count // 2)
    # Fewer than six agents cannot be held out in pairs and leave enough to choose on.
    repeats = holdout.repeats if number >= 3 else 0
    pairs = [split for _ in range(repeats) for split in k_fold(families, number, rng)]
    whole = "" if count == len(families) else ", families kept together"
    return Splits(main, pairs, name + whole)


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


def leave_one_out(families: Sequence[str]) -> list[Split]:
    """Hold out every family in turn; an agent without one is its own.

    >>> [split.test.tolist() for split in leave_one_out(["x", "y", "x", "z", "w", "w"])]
    [[0, 2], [1], [3], [4, 5]]
    """
    code = codes_of(families)
    return _checked(
        [np.flatnonzero(code == family) for family in range(int(code.max()) + 1)], len(code)
    )


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
    agents = [0] * folds
    for family in order.tolist():
        smallest = agents.index(min(agents))
        held[smallest].append(family)
        agents[smallest] += int(size[family])
    return _checked([np.flatnonzero(np.isin(code, part)) for part in held], len(code))


def chosen_on(agents: Sequence[str], named: Sequence[str]) -> list[Split]:
    """Choose on the agents named, judge on all others: last year's entrants, and this year's.

    >>> [split.test.tolist() for split in chosen_on(list("abcdef"), list("abcd"))]
    [[4, 5]]
    """
    unknown = [name for name in named if name not in agents]
    if unknown:
        raise InputError(
            f"No agent is called {listed(unknown)}. There are {listed(agents)}. Check `choose_on=...`."
        )
    inside = np.isin(np.arange(len(agents)), [agents.index(name) for name in named])
    if inside.all():
        raise InputError(
            "All agents would choose, and none be judged. Name fewer in `choose_on=...`."
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


class Folds(NamedTuple):
    """In which folds agents are held out, how often pairs of them are beside, and why, if not as usual."""

    folds: Literal["loo"] | int
    repeats: int = REPEATS
    note: str | None = None


def folds_of_proof(material: Benchmark) -> Folds:
    """Leave one out of small tables, and make ten folds of large ones, five of very large ones.

    Ten folds choose on nine tenths of the agents, a few less than there are: errors come out, if
    anything, too large.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> folds_of_proof(benchmark(Results.from_numpy(np.eye(8, 6)))).folds
    'loo'
    """
    agents, tasks = material.values.shape
    small = agents <= MOST_AGENTS and agents * tasks <= MOST_CELLS
    if small or len(set(material.families)) <= FEWER_FOLDS:
        return Folds("loo")
    many = agents * tasks > VERY_MANY_CELLS
    number, repeats = (FEWEST_FOLDS, 0) if many else (FEWER_FOLDS, FEWER_REPEATS)
    note = (
        f"Judged in {number} folds, since {agents:,} agents × {tasks:,} tasks are many; "
        f'`folds="loo"` leaves out one at a time, which takes longer.'
    )
    return Folds(number, repeats, note)


def expected_seconds(
    material: Benchmark,
    size: int | None,
    folds: Folds | None = None,
    methods: Sequence[str] | None = None,
) -> float:
    """About how many processor seconds judging takes: to be told before long work, and no more exact.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> expected_seconds(benchmark(Results.from_numpy(np.eye(8, 6))), 2) < 1
    True
    """
    agents, tasks = material.values.shape
    how = folds_of_proof(material) if folds is None else folds
    some = agents_within(agents, tasks, PROOF_CELLS) if is_very_large(agents, tasks) else agents
    named = _named(material, size, methods)
    choosing = some / agents * sum(named.values())
    predicting = seconds_to_predict(some, tasks, reckoned_size(material, size))
    settling = seconds_to_settle(some, tasks) if DEFAULT in named else 0.0
    count = len(set(material.families)) if how.folds == "loo" else how.folds
    fold = CHOICES_A_FOLD * (choosing + predicting) + settling
    return float((count + PAIR_FOLDS * how.repeats) * fold)


def expected_once(
    material: Benchmark, size: int | None, methods: Sequence[str] | None = None, *, proof: bool
) -> float:
    """About how many processor seconds choosing on all agents and learning to predict take, beside a proof.

    Without one, folds inside tell how wide intervals are.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> whole = benchmark(Results.from_numpy(np.eye(8, 6)))
    >>> expected_once(whole, 2, ["covariance"], proof=True) < 1
    True
    """
    agents, tasks = material.values.shape
    some = agents_within(agents, tasks)
    number = reckoned_size(material, size)
    named = _named(material, size, methods)
    choosing = sum(named.values())
    settling = seconds_to_settle(agents, tasks) if DEFAULT in named else 0.0
    inside = some / agents * choosing + seconds_to_predict(some, tasks, number)
    learning = agents * tasks * (2e-7 + 1e-9 * number)
    return float(settling + choosing + learning + (3 if proof else INNER_FOLDS) * inside)


def _named(
    material: Benchmark, size: int | None, methods: Sequence[str] | None
) -> dict[str, float]:
    """Processor seconds of one choice by each method asked for; best-of tries all that are short."""
    work = seconds_to_choose(material, size)
    named = [name.replace("-", "_") for name in methods or ["best_of"]]
    if "best_of" in named:
        named += [name for name, seconds in work.items() if seconds <= MOST_SECONDS]
    return {name: work.get(name, 0.0) for name in dict.fromkeys(named)}

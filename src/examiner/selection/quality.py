"""Proof: every method at every size, judged on agents that had no part in choosing or fitting."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.selection.answers import answer_of
from examiner.selection.entering import BEST_OF, entered_methods
from examiner.selection.evidence import Array
from examiner.selection.folds import Split, chosen_on, k_fold, leave_one_out
from examiner.selection.gathering import benchmark
from examiner.selection.judging import (
    Contest,
    Job,
    Judged,
    Places,
    choose_sets,
    judge,
    predict_sets,
)
from examiner.selection.material import Benchmark, fold_of
from examiner.selection.methods import Select
from examiner.selection.methods.random import random as draw_at_random
from examiner.selection.rows import Row, rows_of
from examiner.selection.stability import Stability, stability_of
from examiner.wording import InputError

Progress: TypeAlias = Callable[[str, int, int], None]
Map: TypeAlias = Callable[[Callable[[Job], Judged], Iterable[Job]], Iterable[Any]]
# Any: executors differ in what they call the iterator

PAIR_FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Methods and sizes, judged on held-out agents; `rows` hold the figures, `answer` says what follows.

    `truth` [agents] are aggregates of the full set and `predicted` [methods, sizes, agents] what was
    predicted of each agent while it was held out, NaN where it never was.
    """

    target: str
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    folds: str
    truth: Array
    predicted: Array
    stability: tuple[Stability, ...]
    answer: str
    fingerprint: str
    notes: tuple[str, ...]

    def row(self, method: str, size: int) -> Row:
        """Return the figures of one method at one size.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> found = compare(results, [2], ["spread"], rng=np.random.default_rng(0), draws=5)
        >>> found.row("spread", 2).size
        2
        """
        for row in self.rows:
            if row.method == method and row.size == size:
                return row
        raise InputError(
            f"{method!r} with {size} tasks was not compared: methods are {', '.join(self.methods)}, "
            f"sizes {', '.join(map(str, self.sizes))}."
        )

    def rank_changes(self, method: str, size: int) -> dict[str, tuple[int, int]]:
        """Return each agent's rank by the full set and by what the few predicted of it.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> found = compare(results, [2], ["spread"], rng=np.random.default_rng(0), draws=5)
        >>> sorted(rank for rank, _ in found.rank_changes("spread", 2).values())
        [1, 2, 3, 4, 5, 6, 7, 8]
        """
        self.row(method, size)
        said = self.predicted[self.methods.index(method), self.sizes.index(size)]
        known = np.flatnonzero(np.isfinite(said))
        true, few = (_ranks(values[known]) for values in (self.truth, said))
        return {
            self.agents[agent]: (int(true[place]), int(few[place]))
            for place, agent in enumerate(known)
        }

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the comparison as JSON values; what is not known is NaN.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> found = compare(results, [2], ["spread"], rng=np.random.default_rng(0), draws=5)
        >>> [row["method"] for row in found.to_dict()["rows"]]
        ['spread', 'random', 'full']
        """
        return {
            "target": self.target,
            "agents": len(self.agents),
            "tasks": len(self.tasks),
            "folds": self.folds,
            "rows": [row.to_dict() for row in self.rows],
            "stability": [one._asdict() for one in self.stability],
            "answer": self.answer,
            "input": self.fingerprint,
        }


def compare(
    source: Results | Benchmark,
    sizes: Sequence[int] = (1, 2, 3, 5, 10),
    methods: Sequence[str | Select] | None = None,
    *,
    rng: np.random.Generator,
    folds: Literal["loo"] | int = "loo",
    choose_on: Sequence[str] | None = None,
    inner: int = 5,
    draws: int = 200,
    repeats: int = 5,
    reps: int = 400,
    level: float = 0.9,
    tolerance: float = 0.05,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Comparison:
    """Judge ways of choosing tasks on agents that had no part in choosing or fitting.

    Normalising, thresholds, clusters, curves of tasks and shrinkage all happen inside each fold. Without
    `methods`, all that the evidence allows are compared, and best-of, which takes in each fold the
    method that does best in `inner` folds inside it (all of them, where "best_of" is named alone or
    beside one other). Orders are judged on pairs held out together, in
    5-fold, `repeats` times: ranks pooled from leaving one out are biased. `draws` random sets of each size
    stand beside, with the same predictor. The same seed gives the same table on any number of workers.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> found = compare(results, [2], ["spread"], rng=np.random.default_rng(0), draws=5)
    >>> found.row("random", 2).r2 < 0.5
    True
    """
    material = benchmark(source) if isinstance(source, Results) else source
    wanted = _sizes(sizes, material)
    if not 0 < tolerance < np.inf:
        raise InputError(f"The tolerance is {tolerance:g}. Give a relative error above 0: 0.05.")
    if not 0 < level < 1:
        raise InputError(f"The level is {level:g}. Give a share between 0 and 1: 0.9.")
    entered, best, notes = entered_methods(material, methods)
    streams = rng.spawn(4)
    contest = Contest(
        entered, wanted, _draws(material, wanted, draws, streams[0]), inner, level, best
    )
    main, pairs, told = _splits(material, folds, choose_on, repeats, streams[1])
    jobs = [
        Job(split, own)
        for split, own in zip(main + pairs, streams[2].spawn(len(main) + len(pairs)), strict=True)
    ]
    found: list[Judged] = []
    for answer in map(partial(judge, material, contest), jobs):
        found.append(answer)
        if progress is not None:
            progress("judging folds", len(found), len(jobs))
    names = tuple(name for name, _ in entered) + ((BEST_OF,) if best else ())
    judged = found[: len(main)]
    ordered = found[len(main) :] or judged
    all_sets, optimistic = _on_all(material, contest, best, streams[3])
    rows = rows_of(material, names, contest, judged, ordered, optimistic, streams[3], reps)
    truth, predicted = _pooled(judged, len(material.agents))
    notes = (*material.notes, *notes, *_gaps(judged))
    return Comparison(
        *(material.target, names, wanted, rows, material.agents, material.tasks, told),
        *(truth, predicted, stability_of(names, contest, judged, all_sets, material)),
        answer_of(
            *(rows, names, len(material.agents), tolerance, material.target),
            budget=material.terms.budget,
        ),
        material.fingerprint,
        notes,
    )


def _sizes(sizes: Sequence[int], material: Benchmark) -> tuple[int, ...]:
    offered, must = int(material.terms.offered.sum()), len(material.terms.must)
    wanted = tuple(sorted(set(sizes)))
    if material.terms.budget is not None:
        return (offered,)
    if not wanted or wanted[0] < max(1, must) or wanted[-1] > offered:
        raise InputError(
            f"Cannot compare sets of {', '.join(str(size) for size in wanted) or 'no'} tasks: sizes must "
            f"lie between {max(1, must)} and {offered}."
        )
    return wanted


def _draws(
    material: Benchmark, sizes: tuple[int, ...], draws: int, rng: np.random.Generator
) -> tuple[tuple[Places, ...], ...]:
    """Random sets of each size, [sizes][draws], the same in every fold: nothing is learnt from agents."""
    evidence = fold_of(material, np.arange(len(material.agents)), ()).evidence
    if evidence.terms.in_units:
        return tuple(
            tuple(draw_at_random(evidence, size, rng).places for _ in range(draws))
            for size in sizes
        )
    longest = [draw_at_random(evidence, sizes[-1], rng).places for _ in range(draws)]
    return tuple(tuple(one[:size] for one in longest) for size in sizes)


def _splits(
    material: Benchmark,
    folds: Literal["loo"] | int,
    choose_on: Sequence[str] | None,
    repeats: int,
    rng: np.random.Generator,
) -> tuple[list[Split], list[Split], str]:
    families = material.families
    if choose_on is not None:
        return chosen_on(material.agents, choose_on), [], f"chosen on {len(choose_on)} agents"
    count = len(set(families))
    whole = "" if count == len(families) else ", families kept together"
    main = leave_one_out(families) if folds == "loo" else k_fold(families, folds, rng)
    told = "leave-one-out" if folds == "loo" else f"{folds} folds"
    number = min(PAIR_FOLDS, count // 2)
    # Fewer than six agents cannot be held out in pairs and leave enough to choose on.
    pairs = [
        split
        for _ in range(repeats if number >= 3 else 0)
        for split in k_fold(families, number, rng)
    ]
    return main, pairs, told + whole


def _on_all(
    material: Benchmark, contest: Contest, best: bool, rng: np.random.Generator
) -> tuple[tuple[tuple[Places, ...], ...], Array]:
    """Sets chosen on all agents, and R² on those same agents: the optimistic figure, [methods + 1, sizes].

    Best-of's takes the method that looks best; the last row is the mean of random sets.
    """
    fold = fold_of(material, np.arange(len(material.agents)), contest.needs)
    sets = choose_sets(fold, contest, rng)
    target = fold.evidence.target
    assert target is not None
    groups = [[one for row in sets for one in row], [one for row in contest.draws for one in row]]
    spread = float(((target - target.mean()) ** 2).sum()) or float("nan")
    squares = []
    for flat in groups:
        guesses = predict_sets(fold, fold.observed, flat, None, rest=False) if flat else []
        squares.append(np.array([((guess.value - target) ** 2).sum() for guess in guesses]))
    sizes = len(contest.sizes)
    r2 = 1 - squares[0].reshape(-1, sizes) / spread
    random = 1 - squares[1].reshape(sizes, -1).mean(axis=1) / spread if len(squares[1]) else None
    rows = [*r2, *([r2.max(axis=0)] if best else [])]
    rows.append(np.full(sizes, np.nan) if random is None else random)
    return sets, np.array(rows)


def _pooled(judged: list[Judged], agents: int) -> tuple[Array, Array]:
    truth = np.full(agents, np.nan)
    predicted = np.full((*judged[0].predicted.shape[:2], agents), np.nan)
    for one in judged:
        truth[one.test] = one.truth
        predicted[:, :, one.test] = one.predicted
    return truth, predicted


def _gaps(judged: list[Judged]) -> tuple[str, ...]:
    filled = sum(one.filled for one in judged)
    if not filled:
        return ()
    return (
        f"{filled:,} missing scores of held-out agents on chosen tasks were filled from the training "
        f"agents of the fold.",
    )


def _ranks(values: Array) -> NDArray[np.integer]:
    """Rank 1 is the largest value; equals share the better rank."""
    ranks: NDArray[np.integer] = 1 + (values[:, None] < values).sum(axis=1)
    return ranks

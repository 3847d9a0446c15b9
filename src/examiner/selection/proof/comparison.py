"""Proof: every method at every size, judged on agents that had no part in choosing or fitting."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_table
from examiner.scores.standing import shared_ranks
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.evidence import fold_of
from examiner.selection.methods import Select, entered_methods
from examiner.selection.proof.answer import answer_of
from examiner.selection.proof.chance import Beside, beside_random, pooled
from examiner.selection.proof.contest import FoldJob, JudgedFold, judge
from examiner.selection.proof.holdout import Holdout, Splits, judged_only, splits_of
from examiner.selection.proof.rows import Row, rows_of
from examiner.selection.proof.sets import (
    Columns,
    Contest,
    choose_sets,
    predict_sets,
    random_sets,
)
from examiner.selection.shrinkage import Shrinkage
from examiner.validation import Floats, Randomness, generator, seed_of

SIZES = (1, 2, 3, 5, 10)
"""Sizes of sets that are judged where none is asked for."""

Map: TypeAlias = Callable[[Callable[[FoldJob], JudgedFold], Iterable[FoldJob]], Iterable[Any]]
# Any: executors differ in what they call the iterator


class Stability(NamedTuple):
    """Whether the set stays the same without some agent: shares of folds, and who changes it."""

    method: str
    size: int
    same: float
    changed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """Methods and sizes, judged on held-out agents; `rows` hold the figures, `answer` says what follows.

    `truth` [agents] are aggregates of the full set and `predicted` [methods, sizes, agents] what was
    predicted of each agent while it was held out, NaN where it never was. `sets` [methods][sizes] are the
    tasks chosen on all agents (best-of has none), and `warnings` say what is not shown to be better than
    random sets.
    """

    target: str
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    folds: str
    truth: Floats
    predicted: Floats
    sets: tuple[tuple[tuple[str, ...], ...], ...]
    stability: tuple[Stability, ...]
    answer: str
    fingerprint: str
    seed: int
    warnings: tuple[tuple[str | None, ...], ...]
    notes: tuple[str, ...]

    def warning(self, method: str, size: int) -> str | None:
        """Say that one method at one size is not shown to be better than random sets, or nothing.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(12, 9)))
        >>> found = compare(results, [3], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> found.warning("spread", 3)[:60]
        'Warning: 3 tasks chosen by spread are not shown to predict t'
        """
        self.row(method, size)
        return self.warnings[self.methods.index(method)][self.sizes.index(size)]

    def row(self, method: str, size: int) -> Row:
        """Return the figures of one method at one size.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> found = compare(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
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
        >>> found = compare(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> sorted(rank for rank, _ in found.rank_changes("spread", 2).values())
        [1, 2, 3, 4, 5, 6, 7, 8]
        """
        self.row(method, size)
        said = self.predicted[self.methods.index(method), self.sizes.index(size)]
        known = np.flatnonzero(np.isfinite(said) & np.isfinite(self.truth))
        true, few = (shared_ranks(values[known]) for values in (self.truth, said))
        return {
            self.agents[agent]: (int(true[index]), int(few[index]))
            for index, agent in enumerate(known)
        }

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the comparison as JSON values; what is not known is NaN.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> found = compare(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> [row["method"] for row in found.to_dict()["rows"]]
        ['spread', 'random', 'full']
        """
        return {
            "target": self.target,
            "agents": len(self.agents),
            "tasks": len(self.tasks),
            "folds": self.folds,
            "rows": [row.to_dict() for row in self.rows],
            "stability": [part._asdict() for part in self.stability],
            "answer": self.answer,
            "input": self.fingerprint,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        told = self.answer.partition(". ")[0].removesuffix(".")
        return f"Comparison of {counted(len(self.methods), 'method')}, {self.folds}: {told}"

    def _repr_html_(self) -> str:
        header = ["method", "size", "R²", "low", "high", "relative error", "Kendall"]
        rows = [
            [row.method, row.size, *row.r2, row.relative_error.value, row.kendall.value]
            for row in self.rows
        ]
        return html_table(repr(self), header, rows, (self.answer, *self.notes))


def compare(
    source: Results | Benchmark,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str | Select] | None = None,
    *,
    rng: Randomness = 0,
    holdout: Holdout | None = None,
    tolerance: float = 0.05,
    progress: Progress | None = None,
    map: Map = builtins.map,
    shrinkage: Shrinkage | None = None,
) -> Comparison:
    """Judge ways of choosing tasks on agents that had no part in choosing or fitting.

    Normalising, thresholds, clusters, curves of tasks and shrinkage all happen inside each fold. Without
    `methods`, all that the evidence allows are compared, and best-of, which takes in each fold the
    method that does best in inner folds (all of them, where "best_of" is named alone or beside one
    other). Orders are judged on pairs held out together: ranks pooled from leaving one out are biased.
    Random sets of each size stand beside, with the same predictor. The `answer` says how many tasks
    predict within the `tolerance`. The same seed gives the same table on any number of workers. `shrinkage`
    is what `settle` found on all agents, for what is chosen on all of them; folds settle theirs.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> found = compare(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
    >>> found.row("random", 2).r2.value < 0.5
    True
    """
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    holdout = holdout or Holdout()
    if not 0 < tolerance < np.inf:
        raise InputError(f"The tolerance is {tolerance:g}. Give a relative error above 0: 0.05.")
    wanted = _sizes(sizes, whole)
    entered, best, notes = entered_methods(whole, methods)
    seed = seed_of(rng)
    splits, (for_draws, for_folds, for_figures) = splits_and_streams(whole, holdout, seed)
    draws = random_sets(whole, wanted, holdout.draws, for_draws)
    contest = Contest(entered, wanted, draws, holdout.inner, holdout.level, best)
    folds = splits.main + splits.pairs
    jobs = [
        FoldJob(split, own, number < len(splits.main))
        for number, (split, own) in enumerate(zip(folds, for_folds.spawn(len(folds)), strict=True))
    ]
    found: list[JudgedFold] = []
    for fold in map(partial(judge, whole, contest), jobs):
        found.append(fold)
        if progress is not None:
            progress("judging folds", len(found), len(jobs))
    judged = found[: len(splits.main)]
    ordered = found[len(splits.main) :] or judged
    all_sets, optimistic = _on_all(whole, contest, for_figures, shrinkage)
    beside = pooled([beside_random(fold.truth, fold.guess, fold.random) for fold in judged])
    rows = rows_of(whole, contest, judged, ordered, optimistic, reps=holdout.reps, rng=for_figures)
    truth, predicted = _pooled(judged, len(whole.agents))
    return Comparison(
        target=whole.target,
        methods=contest.names,
        sizes=wanted,
        rows=rows,
        agents=whole.agents,
        tasks=whole.tasks,
        folds=splits.name,
        truth=truth,
        predicted=predicted,
        sets=tuple(
            tuple(tuple(whole.tasks[column] for column in columns) for columns in row)
            for row in all_sets
        ),
        stability=_stability(whole, contest, judged, all_sets),
        answer=answer_of(rows, contest.names, whole, tolerance),
        fingerprint=whole.fingerprint,
        seed=seed,
        warnings=_warnings(contest, beside),
        notes=(
            *whole.notes,
            *notes,
            *_gaps(judged),
            *_lost(contest, beside),
        ),
    )


def splits_and_streams(
    whole: Benchmark, holdout: Holdout, seed: int
) -> tuple[Splits, tuple[np.random.Generator, ...]]:
    """Return who is held out with whom, and generators for random sets, folds and figures."""
    for_draws, for_splits, for_folds, for_figures = generator(seed).spawn(4)
    splits = splits_of(holdout, whole.agents, whole.families, len(whole.tasks), for_splits)
    return judged_only(splits, whole.judged), (for_draws, for_folds, for_figures)


def _sizes(sizes: Sequence[int], whole: Benchmark) -> tuple[int, ...]:
    offered, must = int(whole.terms.offered.sum()), len(whole.terms.must)
    wanted = tuple(sorted(set(sizes)))
    if whole.terms.budget is not None:
        return (offered,)
    if not wanted or wanted[0] < max(1, must) or wanted[-1] > offered:
        raise InputError(
            f"Cannot compare sets of {', '.join(str(size) for size in wanted) or 'no'} tasks: sizes must "
            f"lie between {max(1, must)} and {offered}."
        )
    return wanted


def _on_all(
    whole: Benchmark, contest: Contest, rng: np.random.Generator, shrinkage: Shrinkage | None
) -> tuple[tuple[tuple[Columns, ...], ...], Floats]:
    """Sets chosen on all agents, and R² on those same agents: the optimistic figure, [methods + 1, sizes].

    Best-of's takes the method that looks best; the last row is the mean of random sets. Of a very large
    table as many agents are taken as choose in its folds.
    """
    rows = whole.in_folds(whole.everyone)
    fold = fold_of(whole, rows, contest.needs, shrinkage=shrinkage)
    sets = choose_sets(fold, contest, rng)
    target = fold.evidence.target
    assert target is not None
    spread = float(((target - target.mean()) ** 2).sum()) or float("nan")
    squares = []
    for group in (sets, contest.draws):
        flat = [columns for row in group for columns in row]
        guesses = predict_sets(fold, fold.observed, flat, rest=False) if flat else []
        squares.append(np.array([((guess.value - target) ** 2).sum() for guess in guesses]))
    sizes = len(contest.sizes)
    r2 = 1 - squares[0].reshape(-1, sizes) / spread
    random = 1 - squares[1].reshape(sizes, -1).mean(axis=1) / spread if len(squares[1]) else None
    figures = [*r2, *([r2.max(axis=0)] if contest.best else [])]
    figures.append(np.full(sizes, np.nan) if random is None else random)
    return sets, np.array(figures)


def _stability(
    whole: Benchmark,
    contest: Contest,
    judged: list[JudgedFold],
    all_sets: tuple[tuple[Columns, ...], ...],
) -> tuple[Stability, ...]:
    """Compare the set of each fold with the one chosen on all agents; best-of has none on all."""
    found = []
    for method, row in enumerate(all_sets):
        for index, size in enumerate(contest.sizes):
            same = [set(fold.sets[method][index]) == set(row[index]) for fold in judged]
            changed = [
                whole.agents[agent]
                for fold, kept in zip(judged, same, strict=True)
                if not kept
                for agent in fold.test
            ]
            share = float(np.mean(same))
            found.append(Stability(contest.names[method], size, share, tuple(changed)))
    return tuple(found)


def _pooled(judged: list[JudgedFold], agents: int) -> tuple[Floats, Floats]:
    truth = np.full(agents, np.nan)
    predicted = np.full((*judged[0].guess.value.shape[:2], agents), np.nan)
    for fold in judged:
        truth[fold.test] = fold.truth
        predicted[:, :, fold.test] = fold.guess.value
    return truth, predicted


def _warnings(contest: Contest, beside: Beside) -> tuple[tuple[str | None, ...], ...]:
    return tuple(
        tuple(beside.luck(method, at).warning(name, size) for at, size in enumerate(contest.sizes))
        for method, name in enumerate(contest.names)
    )


def _lost(contest: Contest, beside: Beside) -> tuple[str, ...]:
    """Say which methods lose to random sets, and at which size."""
    told = (
        beside.luck(method, at).loses(name, size)
        for method, name in enumerate(contest.names)
        for at, size in enumerate(contest.sizes)
    )
    return tuple(line for line in told if line is not None)


def _gaps(judged: list[JudgedFold]) -> tuple[str, ...]:
    filled = sum(fold.filled for fold in judged)
    if not filled:
        return ()
    return (
        f"{filled:,} missing scores of held-out agents on chosen tasks were filled from the training "
        f"agents of the fold.",
    )

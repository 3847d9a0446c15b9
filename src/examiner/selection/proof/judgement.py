"""Validation: every selection method at every size, judged on held-out agents."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Row, Scalar, Table, count, name, number, words
from examiner.messages import InputError
from examiner.results import Results
from examiner.scores import Progress, shared_ranks, value_unit
from examiner.selection.benchmark import Benchmark, benchmark_of
from examiner.selection.evidence import fold_of
from examiner.selection.methods import Select, entered_methods
from examiner.selection.proof.answer import JudgedAnswer, answer_of
from examiner.selection.proof.chance import Beside, beside_random, pooled
from examiner.selection.proof.contest import FoldJob, JudgedFold, judge_fold
from examiner.selection.proof.holdout import Holdout, Splits, judged_only, splits_of
from examiner.selection.proof.rows import JudgedMethods, rows_of, table_of
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
"""Sizes of sets that are judged by default."""

Map: TypeAlias = Callable[[Callable[[FoldJob], JudgedFold], Iterable[FoldJob]], Iterable[Any]]
# Any: executors differ in what they call the iterator


class SetStability(Table):
    """How often the same tasks are selected without some agents."""

    method: tuple[str, ...] = name("Selection method")
    size: NDArray[np.int64] = count("Number of selected tasks")
    same: Floats = number("Share of the folds that select the same tasks as all agents do")
    changed_by: tuple[tuple[str, ...], ...] = words(
        "Agents without which other tasks are selected", title="changed by"
    )


class HeldOutPredictions(Table):
    """What was predicted of each agent while it was held out, the highest prediction first."""

    agent: tuple[str, ...] = name("Agent")
    rank: NDArray[np.int64] = count("Rank by the prediction")
    predicted: Floats = number("Aggregate predicted while the agent was held out", unit="score")
    truth: Floats = number("Aggregate over all tasks", unit="score", title="true value")
    true_rank: NDArray[np.int64] = count("Rank by the aggregate over all tasks")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MethodJudgement(Answer):
    """Selection methods at several sizes, judged on held-out agents: `judge`, `judge_tasks`.

    `methods` has the figures of every method and size. `truth` [agents] are aggregates of the full set and
    `predicted` [methods, sizes, agents] the predictions of agents while they were held out, NaN where one
    never was. `sets` [methods][sizes] are the tasks selected on all agents (best-of has none), and `doubts`
    [methods][sizes] say what is not shown to be better than random selections. `limits` says what the
    agents at hand cannot show.
    """

    kind = "judgement"

    target: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    methods: JudgedMethods
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    folds: str
    truth: Floats
    predicted: Floats
    sets: tuple[tuple[tuple[str, ...], ...], ...]
    stability: SetStability
    answer: JudgedAnswer
    tolerance: float
    fingerprint: str
    seed: int
    doubts: tuple[tuple[str | None, ...], ...]
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """How many tasks are enough, or how well given tasks predict."""
        return self.answer.headline

    @property
    def limits(self) -> str:
        """What the agents at hand cannot show."""
        return self.answer.limits

    @property
    def tables(self) -> Mapping[str, Table]:
        """The figures of methods, predictions where there is one method and size, and stability."""
        single = len(self.names) == len(self.sizes) == 1
        predictions = {"predictions": self.predictions()} if single else {}
        return {"methods": self.methods, **predictions, "stability": self.stability}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """What is predicted, of how many agents and tasks, and how it was judged."""
        return {
            "target": Scalar(self.target, "Aggregate that is predicted"),
            "agents": Scalar(len(self.agents), "Number of agents"),
            "tasks": Scalar(len(self.tasks), "Number of tasks"),
            "folds": Scalar(self.folds, "How agents are held out"),
            "limits": Scalar(self.limits or None, "What the agents at hand cannot show"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the tolerance, the unit of resampling and a hash of the results."""
        return {
            "seed": self.seed,
            "tolerance": self.tolerance,
            "resampled": "agents",
            "input": self.fingerprint,
        }

    def doubt(self, method: str, size: int) -> str | None:
        """Say that a method at a size is not shown to be better than random selections, or nothing.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(12, 9)))
        >>> judgement = judge(results, [3], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> judgement.doubt("spread", 3)[:60]
        'Warning: 3 tasks chosen by spread are not shown to predict t'
        """
        at = self._position(method, size)
        return self.doubts[at[0]][at[1]]

    def row(self, method: str, size: int) -> Row:
        """Return the figures of one method at one size.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> judgement = judge(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> judgement.row("spread", 2).size
        2
        """
        judged = zip(self.methods.method, self.methods.size.tolist(), strict=True)
        for position, pair in enumerate(judged):
            if pair == (method, size):
                return self.methods[position]
        raise InputError(
            f"{method!r} with {size} tasks was not judged: methods are {', '.join(self.names)}, sizes "
            f"{', '.join(map(str, self.sizes))}."
        )

    def predictions(self, method: str | None = None, size: int | None = None) -> HeldOutPredictions:
        """Return what one method at one size predicts of every held-out agent, by default the first.

        >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
        >>> judgement = judge(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
        >>> sorted(judgement.predictions().true_rank.tolist())
        [1, 2, 3, 4, 5, 6, 7, 8]
        """
        at = self._position(method or self.names[0], size or self.sizes[0])
        predicted = self.predicted[at]
        judged = np.flatnonzero(np.isfinite(predicted) & np.isfinite(self.truth))
        true, few = (shared_ranks(values[judged]) for values in (self.truth, predicted))
        order = np.argsort(few, kind="stable")
        columns: dict[str, Any] = {  # Any: as the column declares
            "agent": [self.agents[agent] for agent in judged[order]],
            "rank": few[order],
            "predicted": predicted[judged[order]],
            "truth": self.truth[judged[order]],
            "true_rank": true[order],
            "score_unit": self.methods.score_unit,
        }
        return HeldOutPredictions(**columns)

    def _position(self, method: str, size: int) -> tuple[int, int]:
        self.row(method, size)
        return self.names.index(method), self.sizes.index(size)


def judge(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str | Select] | None = None,
    *,
    rng: Randomness = 0,
    holdout: Holdout | None = None,
    tolerance: float = 0.05,
    progress: Progress | None = None,
    map: Map = builtins.map,
    shrinkage: Shrinkage | None = None,
) -> MethodJudgement:
    """Judge selection methods on held-out agents, which are used neither for selecting nor for fitting.

    Normalising, thresholds, clusters, curves of tasks and shrinkage all happen inside each fold. Without
    `methods`, all that the evidence allows are judged, and best-of, which takes in each fold the method
    that predicts best in inner folds (all of them, where "best_of" is named alone or next to one other).
    Orders are judged on pairs held out together: ranks pooled from leaving one out are biased. Random
    selections of each size are judged too, with the same predictor. The headline says how many tasks
    predict within the `tolerance`. The same seed gives the same table on any number of workers.
    `shrinkage` is what `settle` found on all agents, for what is selected on all of them; folds
    settle theirs.

    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> judgement = judge(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
    >>> judgement.row("random", 2).r2 < 0.5
    True
    """
    whole = benchmark_of(source)
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
    folds_judged: list[JudgedFold] = []
    for fold in map(partial(judge_fold, whole, contest), jobs):
        folds_judged.append(fold)
        if progress is not None:
            progress("judging folds", len(folds_judged), len(jobs))
    judged = folds_judged[: len(splits.main)]
    ordered = folds_judged[len(splits.main) :] or judged
    all_sets, optimistic = _on_all(whole, contest, for_figures, shrinkage)
    beside = pooled([beside_random(fold.truth, fold.guess, fold.random) for fold in judged])
    rows = rows_of(whole, contest, judged, ordered, optimistic, reps=holdout.reps, rng=for_figures)
    truth, predicted = _pooled(judged, len(whole.agents))
    names = tuple(
        tuple(tuple(whole.tasks[column] for column in columns) for columns in row)
        for row in all_sets
    )
    return MethodJudgement(
        target=whole.target,
        names=contest.names,
        sizes=wanted,
        methods=table_of(rows, _sets_by_name(contest, names), value_unit(whole.recipe)),
        agents=whole.agents,
        tasks=whole.tasks,
        folds=splits.name,
        truth=truth,
        predicted=predicted,
        sets=names,
        stability=_stability(whole, contest, judged, all_sets),
        answer=answer_of(rows, contest.names, whole, tolerance),
        tolerance=tolerance,
        fingerprint=whole.fingerprint,
        seed=seed,
        doubts=_doubts(contest, beside),
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
    splits = splits_of(holdout, whole.agents, whole.family_codes, len(whole.tasks), for_splits)
    return judged_only(splits, whole.judged), (for_draws, for_folds, for_figures)


def _sizes(sizes: Sequence[int], whole: Benchmark) -> tuple[int, ...]:
    offered, must = int(whole.terms.offered.sum()), len(whole.terms.must)
    wanted = tuple(sorted(set(sizes)))
    if whole.terms.budget is not None:
        return (offered,)
    if not wanted or wanted[0] < max(1, must) or wanted[-1] > offered:
        raise InputError(
            f"Cannot judge sets of {', '.join(str(size) for size in wanted) or 'no'} tasks: sizes must "
            f"lie between {max(1, must)} and {offered}."
        )
    return wanted


def _on_all(
    whole: Benchmark, contest: Contest, rng: np.random.Generator, shrinkage: Shrinkage | None
) -> tuple[tuple[tuple[Columns, ...], ...], Floats]:
    """Sets selected on all agents, and R² on those same agents, which is optimistic; [methods + 1, sizes].

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
) -> SetStability:
    """Compare the set of each fold with the one selected on all agents; best-of has none on all."""
    columns: dict[str, Any] = {column: [] for column in SetStability.declared}  # Any: lists
    for method, row in enumerate(all_sets):
        for index, size in enumerate(contest.sizes):
            same = [set(fold.sets[method][index]) == set(row[index]) for fold in judged]
            changed = [
                whole.agents[agent]
                for fold, kept in zip(judged, same, strict=True)
                if not kept
                for agent in fold.test
            ]
            values = (contest.names[method], size, float(np.mean(same)), changed)
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    return SetStability(**columns)


def _pooled(judged: list[JudgedFold], agents: int) -> tuple[Floats, Floats]:
    truth = np.full(agents, np.nan)
    predicted = np.full((*judged[0].guess.value.shape[:2], agents), np.nan)
    for fold in judged:
        truth[fold.test] = fold.truth
        predicted[:, :, fold.test] = fold.guess.value
    return truth, predicted


def _sets_by_name(
    contest: Contest, names: tuple[tuple[tuple[str, ...], ...], ...]
) -> dict[tuple[str, int], tuple[str, ...]]:
    return {
        (contest.names[method], size): row[at]
        for method, row in enumerate(names)
        for at, size in enumerate(contest.sizes)
    }


def _doubts(contest: Contest, beside: Beside) -> tuple[tuple[str | None, ...], ...]:
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
        f"{filled:,} missing scores of held-out agents on selected tasks were filled from the training "
        f"agents of the fold.",
    )

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
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.scores import Progress, shared_ranks
from examiner.selection.benchmark import Benchmark, benchmark_of
from examiner.selection.evidence import fold_of
from examiner.selection.methods import Select, entered_methods
from examiner.selection.proof.answer import JudgedAnswer, answer_of
from examiner.selection.proof.chance import RandomComparison, comparison_with_random, pooled
from examiner.selection.proof.figures import JudgedMethods, table_of
from examiner.selection.proof.folds import FoldJob, JudgedFold, judge_fold
from examiner.selection.proof.holdout import Holdout, splits_and_streams
from examiner.selection.proof.sets import (
    Columns,
    Contest,
    choose_sets,
    predict_sets,
    random_sets,
)
from examiner.selection.shrinkage import Shrinkage
from examiner.validation import Floats, Randomness, seed_of

SIZES = (1, 2, 3, 5, 10)
"""Sizes of sets that are judged by default."""
CURVE_SIZES = (*SIZES, 20, 50, 100, 200)
"""Sizes of the curve that shows how short a benchmark can be: one path of a fold serves them all."""

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
    sizes: Sequence[int] | None = None,
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

    Sizes are 1, 2, 3, 5 and 10 by default, as far as there are more tasks. Normalising, thresholds,
    clusters, curves of tasks and shrinkage all happen inside each fold. Without `methods`, all that the
    evidence allows are judged, and best-of, which takes in each fold the method that predicts best in
    inner folds (all of them, where "best_of" is named alone or next to one other).
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
        FoldJob(split, stream, number < len(splits.main))
        for number, (split, stream) in enumerate(
            zip(folds, for_folds.spawn(len(folds)), strict=True)
        )
    ]
    folds_judged: list[JudgedFold] = []
    for fold in map(partial(judge_fold, whole, contest), jobs):
        folds_judged.append(fold)
        if progress is not None:
            progress("judging folds", len(folds_judged), len(jobs))
    judged = folds_judged[: len(splits.main)]
    ordered = folds_judged[len(splits.main) :] or judged
    all_sets, optimistic = _on_all(whole, contest, for_figures, shrinkage)
    comparison = pooled(
        [comparison_with_random(fold.truth, fold.guess, fold.random) for fold in judged]
    )
    truth, predicted = _pooled(judged, len(whole.agents))
    names = tuple(
        tuple(tuple(whole.tasks[column] for column in columns) for columns in row)
        for row in all_sets
    )
    figures = table_of(
        whole, contest, judged, ordered, optimistic, names, reps=holdout.reps, rng=for_figures
    )
    return MethodJudgement(
        target=whole.target,
        names=contest.names,
        sizes=wanted,
        methods=figures,
        agents=whole.agents,
        tasks=whole.tasks,
        folds=splits.name,
        truth=truth,
        predicted=predicted,
        sets=names,
        stability=_stability(whole, contest, judged, all_sets),
        answer=answer_of(figures, contest.names, whole, tolerance),
        tolerance=tolerance,
        fingerprint=whole.fingerprint,
        seed=seed,
        doubts=tuple(
            tuple(
                comparison.warning((method, at), name, size)
                for at, size in enumerate(contest.sizes)
            )
            for method, name in enumerate(contest.names)
        ),
        notes=(
            *whole.notes,
            *notes,
            *_gaps(judged),
            *_lost(contest, comparison),
        ),
    )


def _sizes(sizes: Sequence[int] | None, whole: Benchmark) -> tuple[int, ...]:
    offered, must = int(whole.terms.offered.sum()), len(whole.terms.must)
    if sizes is None:
        sizes = [size for size in SIZES if max(1, must) <= size < offered] or [offered]
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

    def r2(rows: Sequence[Sequence[Columns]]) -> list[Floats]:
        flat = [columns for row in rows for columns in row]
        guesses = predict_sets(fold, fold.observed, flat, remainders=False) if flat else []
        values = [1 - ((guess.value - target) ** 2).sum() / spread for guess in guesses]
        return np.split(np.array(values), np.cumsum([len(row) for row in rows])[:-1])

    figures = r2(sets)
    if contest.best:
        figures.append(np.max(figures, axis=0))
    random = [row.mean() if len(row) else np.nan for row in r2(contest.draws)]
    figures.append(np.array(random or [np.nan] * len(contest.sizes)))
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


def _lost(contest: Contest, comparison: RandomComparison) -> tuple[str, ...]:
    """Say which methods lose to random sets, and at which size."""
    shares = (
        (name, size, comparison.share(method, at))
        for method, name in enumerate(contest.names)
        for at, size in enumerate(contest.sizes)
    )
    return tuple(
        f"{name} with {counted(size, 'task')} does not beat random sets: its error is {share:.0%} of "
        f"theirs."
        for name, size, share in shares
        if share >= 1
    )


def _gaps(judged: list[JudgedFold]) -> tuple[str, ...]:
    filled = sum(fold.filled for fold in judged)
    if not filled:
        return ()
    return (
        f"{filled:,} missing scores of held-out agents on selected tasks were filled from the training "
        f"agents of the fold.",
    )

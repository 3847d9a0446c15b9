"""One fold: select on some agents and predict the others, and the same again in folds inside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information import PairLikelihood, table_bits
from examiner.selection.benchmark import Benchmark, codes_in_order
from examiner.selection.curves import ScoreCurves
from examiner.selection.evidence import Fold, fold_of
from examiner.selection.intervals import Extreme, Reach, at_the_ends, calibrated, reach_of
from examiner.selection.methods import DEFAULT
from examiner.selection.prediction import HeldOut
from examiner.selection.proof.chance import RandomComparison, comparison_with_random, pooled
from examiner.selection.proof.holdout import (
    LEAST_TRAINING,
    Holdout,
    Split,
    k_fold,
    splits_and_streams,
)
from examiner.selection.proof.sets import Columns, Contest, Guess, PredictedFold, predict_fold
from examiner.validation import Floats, Randomness, seed_of


class FoldJob(NamedTuple):
    """One fold to judge, with its own generator; `intervals` says whether predictions get one."""

    split: Split
    rng: np.random.Generator
    intervals: bool = True


class JudgedFold(NamedTuple):
    """What one fold predicts of its held-out agents.

    `guess` is of the methods, best-of being the last where it is asked for, and `random` of the draws.
    """

    test: NDArray[np.intp]
    truth: Floats  # [held-out agents]
    guess: Guess
    random: Guess
    bits: Floats  # [methods, sizes] about the held-out agents, NaN for fewer than two
    full_bits: float
    sets: tuple[tuple[Columns, ...], ...]  # [methods][sizes]
    winner: tuple[int, ...]  # [sizes]: the method best-of took
    filled: int  # gaps of held-out agents on selected tasks


def judge_fold(whole: Benchmark, contest: Contest, job: FoldJob) -> JudgedFold:
    """Select, fit and choose among methods on the training agents alone; predict the others."""
    test = job.split.test
    fold = fold_of(whole, whole.in_folds(job.split.train), contest.needs, lenient=True)
    predicted = predict_fold(whole, contest, fold, test, job.rng)
    sets, guess = predicted.sets, predicted.guess
    winner: tuple[int, ...] = ()
    if contest.best or job.intervals:
        inner = inner_folds(whole, contest._replace(draws=()), fold, job.rng, ends=job.intervals)
        if contest.best:
            winner = best_of(inner.residuals, [name for name, _ in contest.methods])
        if job.intervals:
            guess = _with_intervals(guess, inner, contest.level)
    bits, full_bits = _bits(whole, test, sets)
    if winner:
        best = (list(winner), np.arange(len(winner)))
        guess = Guess(*(np.concatenate([part, part[best][None]]) for part in guess))
        bits = np.concatenate([bits, bits[best][None]])
        sets = (*sets, tuple(sets[method][size] for size, method in enumerate(winner)))
    gaps = np.isnan(predicted.raw)
    filled = sum(int(gaps[:, list(columns)].sum()) for columns in sets[-1])
    random = predicted.random
    return JudgedFold(test, predicted.truth, guess, random, bits, full_bits, sets, winner, filled)


class InnerFolds(NamedTuple):
    """The truth of a fold's agents, and how each method predicted them while they were held out.

    Truths are NaN where an agent is not judged. `ends` are the agents at the lower and the upper end (by
    its sign), held out together.
    """

    truth: Floats  # [agents]
    residuals: Floats  # [methods, sizes, agents]: truth less prediction
    comparison: RandomComparison
    ends: tuple[tuple[int, PredictedFold], ...]

    def held_out(self, at: tuple[int, ...], level: float) -> HeldOut:
        """Return what intervals of one method at one size rest on."""
        predicted = self.truth - self.residuals[at]
        calibration = calibrated(self.truth, predicted, level)
        reach = {
            sign: reach_of(
                calibration, Extreme(sign, end.truth, end.guess.value[at], end.trained_on)
            )
            for sign, end in self.ends
        }
        return HeldOut(predicted, Reach(reach.get(-1, 0.0), reach.get(1, 0.0)))


def inner_folds(
    whole: Benchmark,
    contest: Contest,
    fold: Fold,
    rng: np.random.Generator,
    *,
    ends: bool = True,
    parts: bool = True,
) -> InnerFolds:
    """Select and predict again without some of the fold's agents: parts of them, then the best, the worst.

    How far covariances are shrunk was settled on the whole fold: nine blends cannot be fitted to it. Of a
    very large fold some agents are used, and predictions of the others are NaN. `parts` and `ends` say
    which of the two are asked for.
    """
    target = fold.evidence.target
    assert target is not None
    truth = np.where(whole.judged[fold.rows], target, np.nan)
    used = np.flatnonzero(np.isin(fold.rows, whole.in_folds(fold.rows)))
    order = np.argsort(np.argsort(fold.evidence.order.agents)[used])
    families = codes_in_order([whole.families[row] for row in fold.rows[used]], order)

    def predicted(train: NDArray[np.intp], test: NDArray[np.intp]) -> PredictedFold:
        part = fold_of(
            whole,
            fold.rows[used[train]],
            contest.needs,
            lenient=True,
            shrinkage=fold.evidence.shrinkage,
            task_rank=fold.evidence.task_rank,
        )
        rows = fold.rows[used[test]]
        return predict_fold(whole, contest, part, rows, rng, remainders=bool(contest.draws))

    residuals = np.full((len(contest.methods), len(contest.sizes), len(truth)), np.nan)
    comparisons = []
    folds = k_fold(families, min(contest.inner, int(families.max()) + 1), rng) if parts else ()
    for split in folds:
        inner = predicted(split.train, split.test)
        residuals[:, :, used[split.test]] = inner.truth - inner.guess.value
        comparisons.append(comparison_with_random(inner.truth, inner.guess, inner.random))
    at_ends = []
    for sign, out in at_the_ends(truth[used], families) if ends else ():
        train, test = np.flatnonzero(~out), np.flatnonzero(out)
        if len(train) >= LEAST_TRAINING and len(test):
            at_ends.append((sign, predicted(train, test)))
    return InnerFolds(truth, residuals, pooled(comparisons), tuple(at_ends))


def best_of(residuals: Floats, names: Sequence[str]) -> tuple[int, ...]:
    """Return the method taken at each size, from residuals [methods, sizes, agents]; NaN is excluded.

    The default method stays unless another's mean absolute error is lower by more than one and a half
    standard errors over agents, or is less than three quarters of it: among methods nearly alike the
    least is luck, and one odd agent makes standard errors large. Without the default the least wins.
    docs/decisions/0049 says on which tables this rule was settled.

    >>> residuals = np.array([[[1.0, 1.1, 0.9, 1.0]], [[0.9, 1.2, 0.8, 1.0]]])
    >>> best_of(residuals, ["covariance", "spread"]), best_of(residuals, ["anchors", "spread"])
    ((0,), (1,))
    """
    off = np.abs(residuals[:, :, np.isfinite(residuals).all(axis=(0, 1))])
    usual = names.index(DEFAULT) if DEFAULT in names else None
    if off.shape[2] < 2:  # nothing says which is better
        return tuple([usual or 0] * int(off.shape[1]))
    error = off.mean(axis=2)
    winner = error.argmin(axis=0)
    if usual is not None:
        for size, best in enumerate(winner):
            better = off[usual, size] - off[best, size]
            doubt = 1.5 * better.std(ddof=1) / np.sqrt(len(better))
            if better.mean() <= doubt and error[best, size] >= 0.75 * error[usual, size]:
                winner[size] = usual
    return tuple(winner.tolist())


def _with_intervals(guess: Guess, inner: InnerFolds, level: float) -> Guess:
    """Add intervals that rest on the errors of the fold's own agents in folds inside it."""
    low, high = np.empty(guess.value.shape), np.empty(guess.value.shape)
    for at in np.ndindex(inner.residuals.shape[:2]):
        held_out = inner.held_out(at, level)
        calibration = calibrated(inner.truth, held_out.predicted, level)
        interval = calibration.interval(guess.value[at], held_out.reach)
        low[at], high[at] = interval.low, interval.high
    return guess._replace(low=low, high=high)


def _bits(
    whole: Benchmark, test: NDArray[np.intp], sets: tuple[tuple[Columns, ...], ...]
) -> tuple[Floats, float]:
    bits = np.full((len(sets), len(sets[0]) if sets else 0), np.nan)
    channels = whole.channels(test) if len(test) > 1 else None
    if channels is None:
        return bits, float("nan")
    pairs = PairLikelihood(channels)
    for method, row in enumerate(sets):
        for size, columns in enumerate(row):
            bits[method, size] = table_bits(pairs.table(list(columns)))
    return bits, table_bits(pairs.table(list(range(len(whole.tasks)))))


class FoldByHand(NamedTuple):
    """What a fold learns before any task is chosen; from it, a page judges tasks that are chosen by hand.

    `train` and `test` are rows that learn and rows that are predicted. `values` [agents, tasks] are
    comparable, with gaps; None where they are those of the benchmark. `target` [agents] is what is learnt
    and judged, NaN for rows outside the fold.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    values: Floats | None
    target: Floats
    curves: ScoreCurves | None


def folds_by_hand(
    whole: Benchmark, *, rng: Randomness = 0, holdout: Holdout | None = None
) -> tuple[FoldByHand, ...]:
    """Return the folds in which `judge_tasks` predicts.

    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> folds = folds_by_hand(benchmark(Results.from_numpy(np.eye(6, 5))))
    >>> len(folds), sorted(int(fold.test[0]) for fold in folds), folds[0].values
    (6, [0, 1, 2, 3, 4, 5], None)
    """
    splits, _ = splits_and_streams(whole, holdout or Holdout(), seed_of(rng))
    folds = []
    for split in splits.main:
        fold = fold_of(whole, whole.in_folds(split.train), ())
        values = whole.comparable(whole.everyone, fold.scale)
        assert fold.evidence.target is not None
        target = np.full(len(whole.agents), np.nan)
        target[fold.rows] = fold.evidence.target
        target[split.test] = whole.truth(split.test, values[split.test])
        shown = None if fold.scale is None else values
        folds.append(FoldByHand(fold.rows, split.test, shown, target, fold.curves))
    return tuple(folds)

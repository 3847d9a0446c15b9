"""One fold: choose on some agents with every method, predict the others, and choose among methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information import PairLikelihood, table_bits
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import fold_of
from examiner.selection.intervals import calibrated
from examiner.selection.proof.holdout import Split
from examiner.selection.proof.inner import InnerFolds, best_of, inner_folds
from examiner.selection.proof.sets import (
    Columns,
    Contest,
    Guess,
    predict_fold,
)
from examiner.validation import Floats


class FoldJob(NamedTuple):
    """One fold to judge, with a generator of its own; `intervals` says whether predictions get one."""

    split: Split
    rng: np.random.Generator
    intervals: bool = True


class JudgedFold(NamedTuple):
    """What one fold says of its held-out agents.

    `guess` is of the methods, best-of being the last where it is asked for, and `random` of the draws.
    """

    test: NDArray[np.intp]
    truth: Floats  # [held-out agents]
    guess: Guess
    random: Guess
    bits: Floats  # [methods, sizes] told about the held-out agents, NaN for fewer than two
    full_bits: float
    sets: tuple[tuple[Columns, ...], ...]  # [methods][sizes]
    winner: tuple[int, ...]  # [sizes]: the method best-of took
    filled: int  # gaps of held-out agents on chosen tasks


def judge_fold(whole: Benchmark, contest: Contest, job: FoldJob) -> JudgedFold:
    """Choose, fit and choose among methods on the training agents alone; predict the others."""
    test = job.split.test
    fold = fold_of(whole, whole.in_folds(job.split.train), contest.needs, lenient=True)
    found = predict_fold(whole, contest, fold, test, job.rng)
    sets, guess = found.sets, found.guess
    winner: tuple[int, ...] = ()
    if contest.best or job.intervals:
        inner = inner_folds(whole, contest._replace(draws=()), fold, job.rng, ends=job.intervals)
        if contest.best:
            winner = best_of(inner.off, [name for name, _ in contest.methods])
        if job.intervals:
            guess = _with_intervals(guess, inner, contest.level)
    bits, full_bits = _bits(whole, test, sets)
    if winner:
        best = (list(winner), np.arange(len(winner)))
        guess = Guess(*(np.concatenate([part, part[best][None]]) for part in guess))
        bits = np.concatenate([bits, bits[best][None]])
        sets = (*sets, tuple(sets[method][size] for size, method in enumerate(winner)))
    gaps = np.isnan(found.raw)
    return JudgedFold(
        test=test,
        truth=found.truth,
        guess=guess,
        random=found.random,
        bits=bits,
        full_bits=full_bits,
        sets=sets,
        winner=winner,
        filled=sum(int(gaps[:, list(columns)].sum()) for columns in sets[-1]),
    )


def _with_intervals(guess: Guess, inner: InnerFolds, level: float) -> Guess:
    """Add intervals that rest on how far off the fold's own agents were in folds inside it."""
    low, high = np.empty(guess.value.shape), np.empty(guess.value.shape)
    for at in np.ndindex(inner.off.shape[:2]):
        held_out = inner.held_out(at, level)
        known = calibrated(inner.truth, held_out.said, level)
        interval = known.interval(guess.value[at], held_out.reach)
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

"""One fold: choose on some agents with every method, predict the others, and choose among methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.confusion import PairLikelihood
from examiner.information.gain import table_bits
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import fold_of
from examiner.selection.intervals import calibrated
from examiner.selection.proof.holdout import Split
from examiner.selection.proof.inner import best_of, inner_folds
from examiner.selection.proof.sets import (
    Columns,
    Contest,
    Guess,
    choose_sets,
    predict_draws,
    predict_sets,
    stacked,
)
from examiner.selection.sampled import proof_agents
from examiner.validation import Floats


class FoldJob(NamedTuple):
    """One fold to judge, with a generator of its own."""

    split: Split
    rng: np.random.Generator


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


def judge(whole: Benchmark, contest: Contest, job: FoldJob) -> JudgedFold:
    """Choose, fit and choose among methods on the training agents alone; predict the others."""
    train, test = job.split
    families = [whole.families[row] for row in train.tolist()]
    train = train[proof_agents(families, len(whole.agents), len(whole.tasks), job.rng)]
    fold = fold_of(whole, train, contest.needs, lenient=True)
    sets = choose_sets(fold, contest, job.rng)
    inner = inner_folds(whole, contest._replace(draws=()), fold, job.rng)
    winner = best_of(inner.off, [name for name, _ in contest.methods]) if contest.best else ()
    raw = whole.comparable(test, fold.scale)
    flat = [columns for row in sets for columns in row]
    held_out = [inner.held_out(at, contest.level) for at in np.ndindex(inner.off.shape[:2])]
    guesses = predict_sets(fold, raw, flat)
    guesses = [
        guess.within(
            calibrated(inner.truth, held.said, contest.level).interval(guess.value, held.reach)
        )
        for guess, held in zip(guesses, held_out, strict=True)
    ]
    guess = stacked(guesses, (len(sets), len(contest.sizes), len(raw)))
    bits, full_bits = _bits(whole, test, sets)
    if winner:
        sizes = np.arange(len(winner))
        best = (list(winner), sizes)
        guess = Guess(*(np.concatenate([part, part[best][None]]) for part in guess))
        bits = np.concatenate([bits, bits[best][None]])
        sets = (*sets, tuple(sets[method][size] for size, method in enumerate(winner)))
    gaps = np.isnan(raw)
    return JudgedFold(
        test=test,
        truth=whole.truth(test, raw),
        guess=guess,
        random=predict_draws(fold, raw, contest),
        bits=bits,
        full_bits=full_bits,
        sets=sets,
        winner=winner,
        filled=sum(int(gaps[:, list(columns)].sum()) for columns in sets[-1]),
    )


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

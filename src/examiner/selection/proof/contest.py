"""One fold: choose on some agents with every method, predict the others, and choose among methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Floats
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import table_bits
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import Fold, fill_from, fold_of
from examiner.selection.methods import BEST_OF, Method
from examiner.selection.prediction import jackknife_plus
from examiner.selection.proof.holdout import Split, k_fold
from examiner.selection.ridge import Design, ridge_fits, without_each
from examiner.selection.shrinkage import Shrinkage
from examiner.selection.targets import remainder

Columns = tuple[int, ...]
INCUMBENT = "regression"


class Contest(NamedTuple):
    """What is compared: methods by name, sizes, and random sets [sizes][draws] of the same sizes.

    `inner` is the number of folds inside each fold, in which best-of judges the methods, where `best`
    asks for it, and from which intervals know how far off agents are that had no part in choosing.
    """

    methods: tuple[tuple[str, Method], ...]
    sizes: tuple[int, ...]
    draws: tuple[tuple[Columns, ...], ...]
    inner: int
    level: float
    best: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The methods' names, with best-of where that is asked for."""
        return (*(name for name, _ in self.methods), *((BEST_OF,) if self.best else ()))

    @property
    def needs(self) -> tuple[str, ...]:
        """The evidence that some method needs."""
        return tuple(dict.fromkeys(need for _, method in self.methods for need in method.needs))


class FoldJob(NamedTuple):
    """One fold to judge, with a generator of its own."""

    split: Split
    rng: np.random.Generator


class Guess(NamedTuple):
    """Predictions of the held-out agents: aggregate, remainder and its truth, and the interval's ends.

    Arrays [held-out agents] of one set, or [sets, sizes, held-out agents] of many.
    """

    value: Floats
    rest: Floats
    rest_truth: Floats
    low: Floats
    high: Floats


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
    fold = fold_of(whole, train, contest.needs, lenient=True)
    sets = choose_sets(fold, contest, job.rng)
    held_out = inner_residuals(whole, contest, train, job.rng, fold.evidence.shrinkage)
    winner = best_of(held_out, [name for name, _ in contest.methods]) if contest.best else ()
    raw = whole.comparable(test, fold.scale)
    flat = [columns for row in sets for columns in row]
    guesses = predict_sets(fold, raw, flat, contest.level, held_out.reshape(len(flat), -1))
    guess = _stacked(guesses, (len(sets), len(contest.sizes), len(raw)))
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
        random=_drawn(fold, raw, contest),
        bits=bits,
        full_bits=full_bits,
        sets=sets,
        winner=winner,
        filled=sum(int(gaps[:, list(columns)].sum()) for columns in sets[-1]),
    )


def choose_sets(
    fold: Fold, contest: Contest, rng: np.random.Generator
) -> tuple[tuple[Columns, ...], ...]:
    """Return the set of each method at each size, [methods][sizes]; one nested choice serves all sizes."""
    chosen = []
    for _, method in contest.methods:
        if method.path is not None:
            chosen.append(tuple(method.path(fold.evidence, contest.sizes, rng)))
        elif method.nested and not fold.evidence.terms.in_units:
            longest = method.select(fold.evidence, max(contest.sizes), rng).columns
            chosen.append(tuple(longest[:size] for size in contest.sizes))
        else:
            chosen.append(
                tuple(method.select(fold.evidence, size, rng).columns for size in contest.sizes)
            )
    return tuple(chosen)


def inner_residuals(
    whole: Benchmark,
    contest: Contest,
    rows: NDArray[np.intp],
    rng: np.random.Generator,
    shrinkage: Shrinkage | None = None,
) -> Floats:
    """How far off each agent is when it has no part in choosing; shape [methods, sizes, agents].

    How far covariances are shrunk may have been settled on all these agents: eight blends cannot be fitted
    to them. NaN where an agent's truth is not known.
    """
    families = [whole.families[row] for row in rows]
    folds = min(contest.inner, len(set(families)))
    off = np.full((len(contest.methods), len(contest.sizes), len(rows)), np.nan)
    for split in k_fold(families, folds, rng):
        fold = fold_of(whole, rows[split.train], contest.needs, lenient=True, shrinkage=shrinkage)
        sets = choose_sets(fold, contest, rng)
        raw = whole.comparable(rows[split.test], fold.scale)
        truth = whole.truth(rows[split.test], raw)
        flat = [columns for row in sets for columns in row]
        guesses = predict_sets(fold, raw, flat, None, rest=False)
        guess = _stacked(guesses, (len(sets), len(contest.sizes), len(raw)))
        off[:, :, split.test] = truth - guess.value
    return off


def best_of(residuals: Floats, names: Sequence[str]) -> tuple[int, ...]:
    """Return at each size the method with the least mean absolute error, [methods, sizes, agents].

    Regression on the aggregate, which is made for this error, stays unless another method is better by
    more than one standard error over agents: among methods nearly alike the least is a matter of luck.
    """
    off = np.abs(residuals)
    winner = off.mean(axis=2).argmin(axis=0)
    if INCUMBENT in names:
        held = names.index(INCUMBENT)
        for size, best in enumerate(winner):
            better = off[held, size] - off[best, size]
            if better.mean() <= better.std(ddof=1) / np.sqrt(len(better)):
                winner[size] = held
    return tuple(winner.tolist())


def predict_sets(
    fold: Fold,
    raw: Floats,
    sets: Sequence[Columns],
    level: float | None,
    residuals: Floats | None = None,
    *,
    rest: bool = True,
) -> list[Guess]:
    """Predict agents with comparable values `raw` from each set, sets of one length at once.

    With a level, intervals are jackknife+ from `residuals` [sets, training agents], or from those of
    leaving agents out of the regression alone.
    """
    target = fold.evidence.target
    assert target is not None
    design = Design.of(fold.evidence.values)
    guesses: list[Guess | None] = [None] * len(sets)
    lengths = np.array([len(columns) for columns in sets])
    nothing = np.full(len(raw), np.nan)
    for length in np.unique(lengths):
        which = np.flatnonzero(lengths == length)
        columns = np.array([sets[index] for index in which.tolist()], dtype=np.intp)
        new = fill_from(raw[:, columns], fold.centre[columns])
        new = (new - design.centre[columns]) / design.unit
        fits = ridge_fits(design.values, target, columns)
        value = fits.predict(new)
        left = left_truth = np.broadcast_to(nothing, value.shape)
        if rest and length < fold.evidence.values.shape[1]:
            others = ridge_fits(design.values, remainder(fold.evidence.values, columns), columns)
            left = others.predict(new)
            left_truth = remainder(raw, columns)
        for row, index in enumerate(which.tolist()):
            low = high = nothing
            if level is not None:
                off = fits.left_out[row] if residuals is None else residuals[index]
                z = design.values[:, columns[row]]
                gone = without_each(z, float(fits.shrinkage[row]), fits.fitted[row])
                without = value[row][:, None] - gone.shift - new[:, row] @ gone.move.T
                low, high = jackknife_plus(without, np.abs(off), level)
            guesses[index] = Guess(value[row], left[row], left_truth[row], low, high)
    return [guess for guess in guesses if guess is not None]


def _stacked(guesses: list[Guess], shape: tuple[int, ...]) -> Guess:
    return Guess(*(np.stack(parts).reshape(shape) for parts in zip(*guesses, strict=True)))


def _drawn(fold: Fold, raw: Floats, contest: Contest) -> Guess:
    """Predictions from the random sets, [draws, sizes, held-out agents]."""
    sizes, draws = len(contest.sizes), len(contest.draws[0]) if contest.draws else 0
    if not draws:
        return Guess(*[np.empty((0, sizes, len(raw)))] * len(Guess._fields))
    guesses = predict_sets(fold, raw, [columns for row in contest.draws for columns in row], None)
    stacked = _stacked(guesses, (sizes, draws, len(raw)))
    return Guess(*(part.transpose(1, 0, 2) for part in stacked))


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

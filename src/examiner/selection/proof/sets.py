"""What is compared, and in one fold: the sets that methods choose, and what is predicted from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import Fold, fill_from, fold_of
from examiner.selection.methods import BEST_OF, Method
from examiner.selection.methods.random import random as draw_at_random
from examiner.selection.ridge import Design, ridge_fits_of
from examiner.selection.targets import remainder
from examiner.validation import Floats

Columns = tuple[int, ...]


class Contest(NamedTuple):
    """What is compared: methods by name, rising sizes, and random sets [sizes][draws] of these sizes.

    `inner` is the number of folds inside each fold, in which best-of judges the methods, where `best`
    asks for it, and on whose errors intervals of held-out agents rest.
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


class Guess(NamedTuple):
    """Predictions of the held-out agents: aggregate, remainder and its truth, and the interval's ends.

    Arrays [held-out agents] of one set, or [sets, sizes, held-out agents] of many.
    """

    value: Floats
    remainder: Floats
    remainder_truth: Floats
    low: Floats
    high: Floats


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


def predict_sets(
    fold: Fold, raw: Floats, sets: Sequence[Columns], *, remainders: bool = True
) -> list[Guess]:
    """Predict agents with comparable values `raw` from each set, sets of one length at once.

    Lines by ridge regression, averaged with curves where values are shares of successes.
    """
    target, curves = fold.evidence.target, fold.curves
    assert target is not None
    design = Design.of(fold.evidence.values)
    shares = None if curves is None else curves.shares()
    guesses: dict[int, Guess] = {}
    lengths = np.array([len(columns) for columns in sets])
    nothing = np.full(len(raw), np.nan)
    for length in np.unique(lengths):
        which = np.flatnonzero(lengths == length).tolist()
        columns = np.array([sets[index] for index in which], dtype=np.intp)
        new = fill_from(raw[:, columns], fold.centre[columns])
        new = (new - design.centre[columns]) / design.unit
        some_left = remainders and length < fold.evidence.values.shape[1]
        targets = [target, *([remainder(fold.evidence.values, columns)] if some_left else [])]
        fits = ridge_fits_of(design.values, targets, columns)
        value = fits[0].predict(new)
        left = left_truth = np.broadcast_to(nothing, value.shape)
        if some_left:
            left, left_truth = fits[1].predict(new), remainder(raw, columns)
        if curves is not None and shares is not None:
            curve = curves.predicted(raw[:, columns].transpose(1, 0, 2), columns, shares)
            part = curves.part(value, curve.score)
            value, left = (
                value + part * (curve.score - value),
                left + part * (curve.remainder - left),
            )
        for row, index in enumerate(which):
            guesses[index] = Guess(value[row], left[row], left_truth[row], nothing, nothing)
    return [guesses[index] for index in range(len(sets))]


class PredictedFold(NamedTuple):
    """The sets that a fold's agents select, and the predictions and the truth of other agents."""

    sets: tuple[tuple[Columns, ...], ...]  # [methods][sizes]
    raw: Floats  # [agents held out, tasks]: comparable values, with gaps
    truth: Floats  # [agents held out]
    guess: Guess  # [methods, sizes, agents held out]
    random: Guess  # [draws, sizes, agents held out]
    trained_on: Floats  # the truth of the fold's judged agents


def predict_fold(
    whole: Benchmark,
    contest: Contest,
    fold: Fold,
    test: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    remainders: bool = True,
) -> PredictedFold:
    """Choose with every method on the fold's agents, and predict others, at these rows, from the sets."""
    sets = choose_sets(fold, contest, rng)
    raw = whole.comparable(test, fold.scale)
    guesses = predict_sets(
        fold, raw, [columns for row in sets for columns in row], remainders=remainders
    )
    guess = stacked(guesses, (len(sets), len(contest.sizes), len(raw)))
    random = predict_draws(fold, raw, contest)
    assert fold.evidence.target is not None
    trained_on = fold.evidence.target[whole.judged[fold.rows]]
    return PredictedFold(sets, raw, whole.truth(test, raw), guess, random, trained_on)


def stacked(guesses: list[Guess], shape: tuple[int, ...]) -> Guess:
    """Put the guesses of many sets into one of arrays [..., held-out agents]."""
    return Guess(*(np.stack(parts).reshape(shape) for parts in zip(*guesses, strict=True)))


def predict_draws(fold: Fold, raw: Floats, contest: Contest) -> Guess:
    """Predictions from the random sets, [draws, sizes, held-out agents], NaN where a size has fewer."""
    sizes, draws = len(contest.sizes), len(contest.draws[0]) if contest.draws else 0
    if not draws:
        return Guess(*[np.empty((0, sizes, len(raw)))] * len(Guess._fields))
    guesses = iter(predict_sets(fold, raw, [columns for row in contest.draws for columns in row]))
    parts = np.full((len(Guess._fields), draws, sizes, len(raw)), np.nan)
    for size, row in enumerate(contest.draws):
        for draw in range(len(row)):
            parts[:, draw, size] = next(guesses)
    return Guess(*parts)


def random_sets(
    whole: Benchmark, sizes: tuple[int, ...], draws: int, rng: np.random.Generator
) -> tuple[tuple[Columns, ...], ...]:
    """Random sets of each size, [sizes][draws], the same in every fold: nothing is learnt from agents.

    Errors of large sets hardly vary, and cost most: from 20 tasks on fewer sets are drawn, at least 20.
    """
    evidence = fold_of(whole, whole.everyone, (), curves=False).evidence
    if evidence.terms.in_units:
        return tuple(
            tuple(draw_at_random(evidence, size, rng).columns for _ in range(draws))
            for size in sizes
        )
    longest = [draw_at_random(evidence, sizes[-1], rng).columns for _ in range(draws)]
    drawn = [[columns[:size] for columns in longest] for size in sizes]
    return tuple(tuple(row[: max(20, 20 * draws // len(row[0]))] if row else ()) for row in drawn)

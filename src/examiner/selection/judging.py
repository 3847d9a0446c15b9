"""One fold: choose on some agents with every method, predict the others, and choose among methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.confusion import PairLikelihood
from examiner.information.gain import table_bits
from examiner.selection.evidence import Array
from examiner.selection.folds import Split, k_fold
from examiner.selection.material import (
    Benchmark,
    Fold,
    channels_among,
    fill_from,
    fold_of,
    truth_of,
)
from examiner.selection.methods import Method
from examiner.selection.prediction import jackknife_plus
from examiner.selection.ridge import Design, ridge_fits
from examiner.selection.targets import remainder

Places = tuple[int, ...]
INCUMBENT = "regression"


class Contest(NamedTuple):
    """What is compared: methods by name, sizes, and random sets [sizes][draws] of the same sizes.

    `inner` is the number of folds inside each fold, in which best-of judges the methods, where `best`
    asks for it, and from which intervals know how far off agents are that had no part in choosing.
    """

    methods: tuple[tuple[str, Method], ...]
    sizes: tuple[int, ...]
    draws: tuple[tuple[Places, ...], ...]
    inner: int
    level: float
    best: bool = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The evidence that some method needs."""
        return tuple(dict.fromkeys(need for _, method in self.methods for need in method.needs))


class Job(NamedTuple):
    """One fold to judge, with a generator of its own."""

    split: Split
    rng: np.random.Generator


class Judged(NamedTuple):
    """What one fold says of its held-out agents.

    Arrays are [methods, sizes, held-out agents], best-of being the last method where it is asked for;
    `random` and `random_rest` are [draws, sizes, held-out agents].
    """

    test: NDArray[np.intp]
    truth: Array  # [held-out agents]
    predicted: Array
    low: Array
    high: Array
    rest: Array
    rest_truth: Array
    random: Array
    random_rest: Array
    random_rest_truth: Array
    bits: Array  # [methods, sizes] told about the held-out agents, NaN for fewer than two
    full_bits: float
    sets: tuple[tuple[Places, ...], ...]  # [methods][sizes]
    winner: tuple[int, ...]  # [sizes]: the method best-of took
    filled: int


class Guess(NamedTuple):
    """Predictions of the held-out agents from one set: aggregate, remainder and its truth, interval."""

    value: Array
    rest: Array
    rest_truth: Array
    low: Array
    high: Array


def judge(material: Benchmark, contest: Contest, job: Job) -> Judged:
    """Choose, fit and choose among methods on the training agents alone; predict the others."""
    fold = fold_of(material, job.split.train, contest.needs, lenient=True)
    sets = choose_sets(fold, contest, job.rng)
    held_out = inner_residuals(material, contest, job.split.train, job.rng)
    winner = best_of(held_out, [name for name, _ in contest.methods]) if contest.best else ()
    raw = fold.scaling.apply(material.values[job.split.test])
    flat = [one for row in sets for one in row]
    guesses = predict_sets(fold, raw, flat, contest.level, held_out.reshape(len(flat), -1))
    random = predict_sets(fold, raw, [one for row in contest.draws for one in row], None)
    shape = (len(sets), len(contest.sizes), len(raw))
    arrays = [_stacked(guesses, part, shape) for part in Guess._fields]
    bits, full_bits = _bits(material, job.split.test, sets)
    if winner:
        place = np.arange(len(winner))
        arrays = [np.concatenate([one, one[list(winner), place][None]]) for one in arrays]
        bits = np.concatenate([bits, bits[list(winner), place][None]])
        sets = (*sets, tuple(sets[best][size] for size, best in enumerate(winner)))
    value, rest, rest_truth, low, high = arrays
    drawn = [_drawn(random, part, contest, len(raw)) for part in ("value", "rest", "rest_truth")]
    gaps = np.isnan(raw)
    return Judged(
        test=job.split.test,
        truth=truth_of(material, job.split.test, raw),
        predicted=value,
        low=low,
        high=high,
        rest=rest,
        rest_truth=rest_truth,
        random=drawn[0],
        random_rest=drawn[1],
        random_rest_truth=drawn[2],
        bits=bits,
        full_bits=full_bits,
        sets=sets,
        winner=winner,
        filled=sum(int(gaps[:, list(one)].sum()) for one in sets[-1]),
    )


def choose_sets(
    fold: Fold, contest: Contest, rng: np.random.Generator
) -> tuple[tuple[Places, ...], ...]:
    """Return the set of each method at each size, [methods][sizes]; one nested choice serves all sizes."""
    chosen = []
    for _, method in contest.methods:
        if method.path is not None:
            chosen.append(tuple(method.path(fold.evidence, contest.sizes, rng)))
        elif method.nested and not fold.evidence.terms.in_units:
            longest = method.select(fold.evidence, max(contest.sizes), rng).places
            chosen.append(tuple(longest[:size] for size in contest.sizes))
        else:
            chosen.append(
                tuple(method.select(fold.evidence, size, rng).places for size in contest.sizes)
            )
    return tuple(chosen)


def inner_residuals(
    material: Benchmark, contest: Contest, rows: NDArray[np.intp], rng: np.random.Generator
) -> Array:
    """How far off each agent is when it has no part in choosing; shape [methods, sizes, agents]."""
    families = [material.families[row] for row in rows]
    folds = min(contest.inner, len(set(families)))
    off = np.full((len(contest.methods), len(contest.sizes), len(rows)), np.nan)
    for split in k_fold(families, folds, rng):
        fold = fold_of(material, rows[split.train], contest.needs, lenient=True)
        sets = choose_sets(fold, contest, rng)
        raw = fold.scaling.apply(material.values[rows[split.test]])
        truth = truth_of(material, rows[split.test], raw)
        guesses = predict_sets(fold, raw, [one for row in sets for one in row], None, rest=False)
        value = _stacked(guesses, "value", (len(sets), len(contest.sizes), len(raw)))
        off[:, :, split.test] = truth - value
    return off


def best_of(residuals: Array, names: Sequence[str]) -> tuple[int, ...]:
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
    raw: Array,
    sets: Sequence[Places],
    level: float | None,
    residuals: Array | None = None,
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
    lengths = np.array([len(one) for one in sets])
    nothing = np.full(len(raw), np.nan)
    for length in np.unique(lengths):
        which = np.flatnonzero(lengths == length)
        places = np.array([sets[one] for one in which.tolist()], dtype=np.intp)
        new = (fill_from(raw[:, places], fold.centre[places]) - design.centre[places]) / design.unit
        fits = ridge_fits(design.values, target, places)
        value = np.einsum("abk,bk->ba", new, fits.beta) + fits.mean[:, None]
        left = left_truth = np.broadcast_to(nothing, value.shape)
        if rest and length < fold.evidence.values.shape[1]:
            others = ridge_fits(design.values, remainder(fold.evidence.values, places), places)
            left = np.einsum("abk,bk->ba", new, others.beta) + others.mean[:, None]
            left_truth = remainder(raw, places)
        for row, one in enumerate(which.tolist()):
            low = high = nothing
            if level is not None:
                off = fits.left_out[row] if residuals is None else residuals[one]
                low, high = _interval(
                    design.values[:, places[row]],
                    *(new[:, row], fits.fitted[row], float(fits.shrinkage[row])),
                    *(value[row], np.abs(off), level),
                )
            guesses[one] = Guess(value[row], left[row], left_truth[row], low, high)
    return [guess for guess in guesses if guess is not None]


def _interval(
    z: Array,
    new: Array,
    fitted: Array,
    shrinkage: float,
    value: Array,
    residual: Array,
    level: float,
) -> tuple[Array, Array]:
    agents, size = z.shape
    turned = z @ np.linalg.inv(z.T @ z + agents * shrinkage * np.eye(size))
    step = fitted / np.maximum(1.0 - np.einsum("ak,ak->a", turned, z) - 1.0 / agents, 1e-9)
    without = value[:, None] - step / agents - (new @ turned.T) * step
    return jackknife_plus(without, residual, level)


def _stacked(guesses: list[Guess], part: str, shape: tuple[int, ...]) -> Array:
    return np.stack([getattr(guess, part) for guess in guesses]).reshape(shape)


def _drawn(guesses: list[Guess], part: str, contest: Contest, agents: int) -> Array:
    sizes = len(contest.sizes)
    draws = len(contest.draws[0]) if contest.draws else 0
    if not draws:
        return np.empty((0, sizes, agents))
    return _stacked(guesses, part, (sizes, draws, agents)).transpose(1, 0, 2)


def _bits(
    material: Benchmark, test: NDArray[np.intp], sets: tuple[tuple[Places, ...], ...]
) -> tuple[Array, float]:
    bits = np.full((len(sets), len(sets[0]) if sets else 0), np.nan)
    channels = channels_among(material, test) if len(test) > 1 else None
    if channels is None:
        return bits, float("nan")
    pairs = PairLikelihood(channels)
    for method, row in enumerate(sets):
        for size, places in enumerate(row):
            bits[method, size] = table_bits(pairs.table(list(places)))
    return bits, table_bits(pairs.table(list(range(len(material.tasks)))))

"""How sure the bits are: intervals over runs, and the bits that chance alone would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels, Noise, channels_of
from examiner.information.confusion import Array, PairLikelihood, Spread
from examiner.information.gain import bits_with, table_bits
from examiner.information.observations import Moments, Observations, moments
from examiner.information.sets import InformativeSet, Progress, greedy_places
from examiner.wording import InputError

Whitening = NDArray[np.float64] | None


@dataclass(frozen=True, slots=True, eq=False)
class BitsByChance:
    """Bits of permuted results: the mean, and what one in twenty exceeds.

    `task` and `task_high` have shape [tasks]; `greedy` and `greedy_high` have shape [size], each the
    cumulative bits of a greedy choice made anew on every permutation.
    """

    task: NDArray[np.float64]
    task_high: NDArray[np.float64]
    greedy: NDArray[np.float64]
    greedy_high: NDArray[np.float64]
    reps: int


@dataclass(frozen=True, slots=True, eq=False)
class BitsIntervals:
    """Ends of intervals: `task_low`, `task_high` of shape [tasks], `set_low`, `set_high` of [size]."""

    task_low: NDArray[np.float64]
    task_high: NDArray[np.float64]
    set_low: NDArray[np.float64]
    set_high: NDArray[np.float64]
    level: float
    reps: int


def bits_by_chance(
    seen: Observations,
    size: int,
    *,
    rng: np.random.Generator,
    noise: Noise | None = None,
    whitening: Whitening = None,
    spread: Spread = "sum",
    exact: bool = False,
    reps: int = 100,
    progress: Progress | None = None,
) -> BitsByChance:
    """Return the bits that identical agents would seem to give.

    Within each task the runs (trials, where every cell is one run) are dealt out among the agents anew,
    as many to each as it had; then everything is computed again, the greedy choice included. Bits above
    these come from the agents.

    >>> from examiner.information.observations import observe
    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(24.0).reshape(3, 1, 8))
    >>> chance = bits_by_chance(observe(results), 1, rng=np.random.default_rng(0), reps=20)
    >>> bool(chance.task[0] < 0.2)
    True
    """
    _check_reps(reps)
    seen, ends = _by_task(seen)
    single: list[Array] = []
    chosen: list[Array] = []
    for done in range(reps):
        if progress:
            progress("bits by chance", done, reps)
        dealt = seen.cell.copy()
        for start, end in ends:
            rng.shuffle(dealt[start:end])
        here = channels_of(seen, moments(seen, dealt), noise or Noise(), whitening)
        pairs = PairLikelihood(here, spread)
        single.append(_single(here, pairs, exact))
        chosen.append(_greedy(here, pairs, size, exact))
    each, sets = np.array(single), np.array(chosen)
    high = np.percentile(each, 95, axis=0), np.percentile(sets, 95, axis=0)
    return BitsByChance(each.mean(axis=0), high[0], sets.mean(axis=0), high[1], reps)


def bits_intervals(
    seen: Observations,
    chosen: InformativeSet,
    *,
    rng: np.random.Generator,
    noise: Noise | None = None,
    whitening: Whitening = None,
    spread: Spread = "sum",
    exact: bool = False,
    level: float = 0.95,
    reps: int = 200,
    progress: Progress | None = None,
) -> BitsIntervals:
    r"""Return intervals for the bits of each task and of a chosen set, over the runs of each cell.

    Runs are drawn anew within cells, with replacement. Means and squares are stretched by
    :math:`\sqrt{u / (u - 1)}` for u runs, since a few runs drawn again vary too little; a draw in which
    all values are alike keeps the cell's own deviation. Noise in the means looks like information, so
    draws have too many bits: the ends are those of the basic bootstrap, 2 I − I*, which takes that off
    again, within [0, log₂|A|].

    >>> from examiner.information.channels import channels
    >>> from examiner.information.observations import observe
    >>> from examiner.information.sets import best_set
    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(12.0).reshape(3, 1, 4) ** 1.5)
    >>> found = bits_intervals(observe(results), best_set(channels(results), 1),
    ...                        rng=np.random.default_rng(0))
    >>> bool(found.task_low[0] < found.task_high[0])
    True
    """
    _check_reps(reps)
    if not 0 < level < 1:
        raise InputError(f"The level is {level}. Give a number between 0 and 1, as 0.95.")
    noise = noise or Noise()
    drawn = _resampler(seen, rng)
    whole = drawn.whole

    def evaluate(found: Moments) -> tuple[Array, Array]:
        here = channels_of(seen, found, noise, whitening)
        pairs = PairLikelihood(here, spread)
        return _single(here, pairs, exact), _set_bits(pairs, chosen, exact)

    point = evaluate(whole)
    draws: list[tuple[Array, Array]] = []
    for done in range(reps):
        if progress:
            progress("intervals", done, reps)
        draws.append(evaluate(drawn.again()))
    ends = [
        _basic(point[part], np.array([draw[part] for draw in draws]), level, len(seen.agents))
        for part in range(2)
    ]
    return BitsIntervals(*ends[0], *ends[1], level, reps)


@dataclass(frozen=True, slots=True)
class _Resampler:
    """Draws the units of every cell again, keeping what the whole table had."""

    whole: Moments
    again: Callable[[], Moments]


def _by_task(seen: Observations) -> tuple[Observations, list[tuple[int, int]]]:
    """Put the units of each task side by side, and tell where each task begins and ends."""
    tasks = seen.cell % len(seen.tasks)
    order = np.argsort(tasks, kind="stable")
    ends = np.cumsum(np.bincount(tasks, minlength=len(seen.tasks))).tolist()
    sorted_by_task = seen._replace(
        cell=seen.cell[order],
        trials=seen.trials[:, order],
        mean=seen.mean[:, order],
        square=seen.square[:, order],
    )
    return sorted_by_task, list(zip([0, *ends[:-1]], ends, strict=True))


def _resampler(seen: Observations, rng: np.random.Generator) -> _Resampler:
    order = np.argsort(seen.cell, kind="stable")
    cells, start, count = np.unique(seen.cell[order], return_index=True, return_counts=True)
    place = np.searchsorted(cells, seen.cell[order])
    whole = moments(seen)
    stretch = np.sqrt(whole.units / np.maximum(whole.units - 1, 1))

    def again() -> Moments:
        offset = (rng.random(len(order)) * count[place]).astype(np.int64)
        picked = order[start[place] + offset]
        weight = np.bincount(picked, minlength=len(order)).astype(np.float64)
        found = moments(seen, weight=weight)
        mean = whole.mean + stretch * (found.mean - whole.mean)
        for part, share in enumerate(seen.shares):
            if share:
                mean[part] = np.clip(mean[part], 0.0, 1.0)
        squares = (
            np.where(alike <= 0, before, alike * stretch**2)
            for alike, before in (
                (found.square, whole.square),
                (found.unit_square, whole.unit_square),
            )
        )
        kept = np.where(np.isnan(mean), whole.mean, mean)
        return Moments(whole.units, whole.trials, kept, *squares)

    return _Resampler(whole, again)


def _single(channels: Channels, pairs: PairLikelihood, exact: bool) -> Array:
    return np.where(channels.usable, bits_with(pairs, exact=exact), np.nan)


def _greedy(channels: Channels, pairs: PairLikelihood, size: int, exact: bool) -> Array:
    usable = channels.usable
    places = greedy_places(pairs, usable, min(size, int(usable.sum())), exact=exact)
    bits = _cumulative(pairs, places, exact)
    return np.concatenate([bits, np.full(size - len(bits), bits[-1] if bits else 0.0)])


def _set_bits(pairs: PairLikelihood, chosen: InformativeSet, exact: bool) -> Array:
    return np.array(_cumulative(pairs, chosen.places, exact))


def _cumulative(
    pairs: PairLikelihood, places: list[int] | tuple[int, ...], exact: bool
) -> list[float]:
    table = np.zeros((pairs.shape[0],) * 2)
    bits = []
    for place in places:
        table += pairs.table([place])
        bits.append(table_bits(table, exact=exact))
    return bits


def _basic(point: Array, draws: Array, level: float, agents: int) -> tuple[Array, Array]:
    tail = 50 * (1 - level)
    low, high = np.percentile(draws, (tail, 100 - tail), axis=0)
    most = np.log2(agents)
    return np.clip(2 * point - high, 0.0, most), np.clip(2 * point - low, 0.0, most)


def _check_reps(reps: int) -> None:
    if reps < 1:
        raise InputError(f"{reps} replicates were asked for. Give at least 1; 100 is usual.")

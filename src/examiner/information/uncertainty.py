"""How sure the bits are: intervals over runs, and the bits that chance alone would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.checking import Randomness, generator
from examiner.information.channels import channels_of
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import cumulative_bits, single_bits
from examiner.information.noise import Array, ChannelModel
from examiner.information.observations import Moments, Observations, moments, observe
from examiner.information.sets import InformativeSet, Progress, greedy_columns
from examiner.results import Results
from examiner.wording import InputError, counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BitsByChance:
    """Bits of permuted results: the mean, and what one in twenty exceeds.

    `task` and `task_high` have shape [tasks]; `greedy` and `greedy_high` have shape [size], each the
    cumulative bits of a greedy choice made anew on every permutation.
    """

    task: Array
    task_high: Array
    greedy: Array
    greedy_high: Array
    reps: int

    def __repr__(self) -> str:
        return (
            f"BitsByChance: {self.greedy[-1]:.3g} bits of {counted(len(self.greedy), 'task')} chosen on "
            f"{counted(self.reps, 'permutation')}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BitsIntervals:
    """Ends of intervals: `task_low`, `task_high` of shape [tasks], `set_low`, `set_high` of [size]."""

    task_low: Array
    task_high: Array
    set_low: Array
    set_high: Array
    level: float
    reps: int

    def __repr__(self) -> str:
        return (
            f"BitsIntervals: {self.set_low[-1]:.3g} to {self.set_high[-1]:.3g} bits of the whole set, "
            f"{self.level:.0%} of {counted(self.reps, 'resample')}"
        )


def bits_by_chance(
    source: Results | Observations,
    size: int,
    *,
    rng: Randomness,
    model: ChannelModel | None = None,
    reps: int = 100,
    progress: Progress | None = None,
) -> BitsByChance:
    """Return the bits that identical agents would seem to give.

    Within each task the runs (trials, where every cell is one run) are dealt out among the agents anew,
    as many to each as it had; then everything is computed again, the greedy choice included. Bits above
    these come from the agents.

    >>> results = Results.from_numpy(np.arange(24.0).reshape(3, 1, 8))
    >>> bool(bits_by_chance(results, 1, rng=0, reps=20).task[0] < 0.2)
    True
    """
    _check_reps(reps)
    rng, model = generator(rng), model or ChannelModel()
    seen, ends = _by_task(_observed(source, model))
    single: list[Array] = []
    chosen: list[Array] = []
    for done in range(reps):
        if progress:
            progress("bits by chance", done, reps)
        dealt = seen.cell.copy()
        for start, end in ends:
            rng.shuffle(dealt[start:end])
        here = channels_of(seen, moments(seen, dealt), model)
        pairs = PairLikelihood(here)
        single.append(single_bits(here, pairs))
        chosen.append(_greedy(pairs, here.usable, size))
    each, sets = np.array(single), np.array(chosen)
    high = np.percentile(each, 95, axis=0), np.percentile(sets, 95, axis=0)
    return BitsByChance(each.mean(axis=0), high[0], sets.mean(axis=0), high[1], reps)


def bits_intervals(
    source: Results | Observations,
    chosen: InformativeSet,
    *,
    rng: Randomness,
    model: ChannelModel | None = None,
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

    >>> from examiner.information.sets import best_set
    >>> results = Results.from_numpy(np.arange(12.0).reshape(3, 1, 4) ** 1.5)
    >>> found = bits_intervals(results, best_set(results, 1), rng=0)
    >>> bool(found.task_low[0] < found.task_high[0])
    True
    """
    _check_reps(reps)
    if not 0 < level < 1:
        raise InputError(f"The level is {level}. Give a number between 0 and 1, as 0.95.")
    how = model or ChannelModel()
    seen = _observed(source, how)
    drawn = _resampler(seen, generator(rng))

    def evaluate(found: Moments) -> tuple[Array, Array]:
        here = channels_of(seen, found, how)
        pairs = PairLikelihood(here)
        return single_bits(here, pairs), cumulative_bits(pairs, chosen.columns)

    point = evaluate(drawn.whole)
    draws: list[tuple[Array, Array]] = []
    for done in range(reps):
        if progress:
            progress("intervals", done, reps)
        draws.append(evaluate(drawn.again()))
    ends = [
        _basic(whole, np.array(part), level, len(seen.agents))
        for whole, part in zip(point, zip(*draws, strict=True), strict=True)
    ]
    return BitsIntervals(*ends[0], *ends[1], level, reps)


def _observed(source: Results | Observations, model: ChannelModel) -> Observations:
    if isinstance(source, Observations):
        return source
    return observe(source, correlated=model.correlated)


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
    of_unit = np.searchsorted(cells, seen.cell[order])
    whole = moments(seen)
    stretch = np.sqrt(whole.units / np.maximum(whole.units - 1, 1))

    def again() -> Moments:
        offset = (rng.random(len(order)) * count[of_unit]).astype(np.int64)
        picked = order[start[of_unit] + offset]
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


def _greedy(pairs: PairLikelihood, usable: NDArray[np.bool_], size: int) -> Array:
    """The bits of a greedy set as it grows; once no task is left, they stay as they are."""
    columns = greedy_columns(pairs, usable, min(size, int(usable.sum())))
    bits = cumulative_bits(pairs, columns)
    return np.pad(bits, (0, size - len(bits)), mode="edge") if len(bits) else np.zeros(size)


def _basic(point: Array, draws: Array, level: float, agents: int) -> tuple[Array, Array]:
    tail = 50 * (1 - level)
    low, high = np.percentile(draws, (tail, 100 - tail), axis=0)
    most = np.log2(agents)
    return np.clip(2 * point - high, 0.0, most), np.clip(2 * point - low, 0.0, most)


def _check_reps(reps: int) -> None:
    if reps < 1:
        raise InputError(f"{reps} replicates were asked for. Give at least 1; 100 is usual.")

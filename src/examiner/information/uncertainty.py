"""How sure the bits are: intervals over runs, and the bits that chance alone would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import channels_of, observed
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import cumulative_bits, single_bits
from examiner.information.noise import ChannelModel
from examiner.information.observations import Moments, Observations, moments
from examiner.information.permutation import PermutationTest, rarity_of, share_as_large
from examiner.information.plausible import plausible
from examiner.information.sets import InformativeSet, greedy_columns, is_large
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.scores.estimate import check_level
from examiner.scores.significance import LEVEL
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Floats, Randomness, generator

LEAST_BITS = 1e-3
"""Means that are drawn are never quite equal: less than this tells nothing."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BitsByChance:
    """Bits of permuted results: the mean, and what one in twenty exceeds.

    `task` and `task_high` have shape [tasks]; `greedy` and `greedy_high` have shape [size], each the
    cumulative bits of a greedy choice made anew on every permutation. `test` asks whether any task
    discriminates between agents; `beyond` [tasks] says which single ones are shown to, at 5 % over all.
    """

    task: Floats
    task_high: Floats
    greedy: Floats
    greedy_high: Floats
    test: PermutationTest
    beyond: NDArray[np.bool_]
    reps: int

    def __repr__(self) -> str:
        return (
            f"BitsByChance: {self.greedy[-1]:.3g} bits of {counted(len(self.greedy), 'task')} chosen on "
            f"{counted(self.reps, 'permutation')}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BitsIntervals:
    """Bits with noise taken off, and ends of intervals: of tasks [tasks], of the set as it grows [size].

    `task` and `set` are what one may expect of the true means and deviations; the bits that were counted
    are more, the few runs the more so, and the intervals reach up to them.
    """

    task: Floats
    task_low: Floats
    task_high: Floats
    set: Floats
    set_low: Floats
    set_high: Floats
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
    these come from the agents. Whether tasks discriminate is tested by their single bits, since those of
    a set reach the most there is by chance as well: by Σ −log of the share of permuted tables in which
    a task has as many bits (Fisher's sum), and by the most that any task has above its mean over all
    tables; the p-value is that of the rarer of both.

    >>> results = Results.from_numpy(np.arange(24.0).reshape(3, 1, 8))
    >>> bool(bits_by_chance(results, 1, rng=0, reps=20).task[0] < 0.2)
    True
    """
    model = model or ChannelModel()
    seen = _observed(source, model)

    def bits(found: Moments) -> tuple[Floats, Floats]:
        pairs = PairLikelihood(channels_of(seen, found, model))
        return single_bits(pairs), _greedy_bits(pairs, size)

    draws = _replicates(bits, dealt(seen, generator(rng)), reps, "bits by chance", progress)
    (task, greedy), (task_high, greedy_high) = zip(
        *((part.mean(axis=0), np.percentile(part, 95, axis=0)) for part in draws), strict=True
    )
    counted_bits = single_bits(PairLikelihood(channels_of(seen, moments(seen), model)))
    test, beyond = _tested(np.nan_to_num(np.concatenate([counted_bits[None], draws[0]])))
    return BitsByChance(task, task_high, greedy, greedy_high, test, beyond, reps)


def _tested(bits: Floats) -> tuple[PermutationTest, NDArray[np.bool_]]:
    """Whether the first of tables [tables, tasks] has more bits than others, and which tasks have."""
    fisher = -np.log(share_as_large(bits)).sum(axis=1)
    excess = bits - bits.mean(axis=0)
    most = excess.max(axis=1)
    p = float(rarity_of(fisher, most)[0])
    test = PermutationTest(float(fisher[0]), float(fisher[1:].mean()), p, len(bits) - 1)
    as_many = (most[:, None] >= excess[0] - 1e-9).mean(axis=0)
    return test, (as_many <= LEVEL) & test.shown


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
    """Return intervals for the bits of each task and of a chosen set, over the runs of each cell.

    Noise in the means looks like information, and tasks that were chosen for their bits have more of it
    than others. So intervals are percentiles of the bits of means and deviations as they may truly be,
    given all runs (`plausible`); below a thousandth of a bit they begin at 0. They are widened to hold
    the bits that were counted. Of very large tables (`is_large`) only the chosen tasks have intervals.

    >>> from examiner.information.sets import best_set
    >>> results = Results.from_numpy(np.arange(12.0).reshape(3, 1, 4) ** 1.5)
    >>> found = bits_intervals(results, best_set(results, 1), rng=0)
    >>> bool(found.task_low[0] < found.task[0] < found.task_high[0])
    True
    """
    check_level(level)
    model = model or ChannelModel()
    seen = _observed(source, model)
    whole = moments(seen)

    few = chosen.columns if is_large(*seen.shape) else None
    named = seen if few is None else seen.told_by(few)

    def bits(found: Moments) -> tuple[Floats, Floats]:
        if few is None:
            pairs = PairLikelihood(channels_of(seen, found, model))
            return single_bits(pairs), cumulative_bits(pairs, chosen.columns)
        pairs = PairLikelihood(channels_of(named, found.of_tasks(few), model))
        each = np.full(len(seen.tasks), np.nan)
        each[list(few)] = single_bits(pairs)
        return each, cumulative_bits(pairs, range(len(few)))

    drawn = _replicates(bits, plausible(seen, whole, generator(rng)), reps, "intervals", progress)
    task, whole_set = (
        ends_of(point, some, level) for point, some in zip(bits(whole), drawn, strict=True)
    )
    return BitsIntervals(*task, *whole_set, level, reps)


def ends_of(counted_bits: Floats, drawn: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the mean of draws [reps, …] and the ends of their interval, which holds what was counted.

    >>> ends_of(np.array([0.9]), np.linspace(0.2, 0.4, 99)[:, None], 0.9)[2]
    array([0.9])
    """
    tail = 50 * (1 - level)
    low, high = np.percentile(drawn, (tail, 100 - tail), axis=0, method="weibull")
    low = np.where(low < LEAST_BITS, 0.0, low)
    return drawn.mean(axis=0), np.minimum(low, counted_bits), np.maximum(high, counted_bits)


def _observed(source: Results | Observations, model: ChannelModel) -> Observations:
    if isinstance(source, Observations):
        return source
    return observed(source, None, model)


def _replicates(
    bits: Callable[[Moments], tuple[Floats, Floats]],
    tables: Iterator[Moments],
    reps: int,
    words: str,
    progress: Progress | None,
) -> tuple[Floats, ...]:
    """The bits of tasks [reps, tasks], and of a set [reps, size], on so many tables."""
    if reps < 1:
        raise InputError(f"{reps} replicates were asked for. Give at least 1; 100 is usual.")
    found = []
    for done in range(reps):
        if progress:
            progress(words, done, reps)
        found.append(bits(next(tables)))
    return tuple(np.array(part) for part in zip(*found, strict=True))


def dealt(
    seen: Observations, rng: np.random.Generator, task: int | None = None
) -> Iterator[Moments]:
    """Yield the table with the units of each task (or of one) dealt out among its agents anew, without end.

    What is dealt to whom depends on names and values, not on the order of rows.

    >>> from examiner.information.observations import observe
    >>> seen = observe(Results.from_numpy(np.arange(8.0).reshape(2, 2, 2)))
    >>> next(dealt(seen, np.random.default_rng(0), 0)).mean.shape
    (1, 2, 2)
    """
    named = seen.by_name()
    ordered = named.observations
    tasks = ordered.cell % len(ordered.tasks)
    order = np.argsort(tasks, kind="stable")
    ends = np.cumsum(np.bincount(tasks, minlength=len(ordered.tasks)))
    by_task = ordered._replace(
        cell=ordered.cell[order],
        trials=ordered.trials[:, order],
        mean=ordered.mean[:, order],
        square=ordered.square[:, order],
    )
    while True:
        anew = by_task.cell.copy()
        for number, units in enumerate(np.split(anew, ends[:-1])):  # parts of the array itself
            if task is None or named.tasks[number] == task:
                rng.shuffle(units)
        yield named.restored(moments(by_task, anew))


def _greedy_bits(pairs: PairLikelihood, size: int) -> Floats:
    """The bits of a greedy set as it grows; once no task is left, they stay as they are."""
    columns = greedy_columns(pairs, min(size, int(pairs.usable.sum())))
    bits = cumulative_bits(pairs, columns)
    return np.pad(bits, (0, size - len(bits)), mode="edge") if len(bits) else np.zeros(size)

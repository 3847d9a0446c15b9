"""How certain bits are: intervals over runs, and the bits of permuted results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import channels_of
from examiner.information.gain import cumulative_bits, single_bits
from examiner.information.noise import ChannelModel
from examiner.information.observations import Moments, Observations, moments
from examiner.information.pairs import PairLikelihood
from examiner.information.plausible import plausible_draws
from examiner.information.sets import InformativeSet, greedy_choices, is_large
from examiner.scores import LEVEL, PermutationTest, Progress, rarity_of, share_as_large
from examiner.validation import Floats


class BitsByChance(NamedTuple):
    """Columns of tasks and of the set: mean and 95th percentile of the bits of permuted results.

    Those of the set are cumulative bits of a greedy choice that is repeated for every permutation. `test`
    asks whether any task discriminates between agents; the column `significant` which single ones do, at
    5 % over all.
    """

    tasks: dict[str, NDArray[Any]]  # Any: numbers or flags
    chosen: dict[str, Floats]
    test: PermutationTest


class BitsIntervals(NamedTuple):
    """Columns of tasks and of the set as it grows: bits without noise, and bounds of their intervals.

    `corrected_bits` are those expected of the true means and deviations. The observed bits are larger,
    especially with few runs; the intervals extend up to them.
    """

    tasks: dict[str, Floats]
    chosen: dict[str, Floats]


def bits_by_chance(
    observations: Observations,
    size: int,
    model: ChannelModel,
    *,
    rng: np.random.Generator,
    reps: int,
    progress: Progress | None = None,
) -> BitsByChance:
    """Return the bits that identical agents would appear to give.

    Within each task the runs (trials, where every cell is one run) are permuted among the agents, each
    keeping its number of runs; then everything is computed again, including the greedy choice. The test
    uses the bits of single tasks, since sets reach the maximum by chance as well: the sum over tasks of
    −log of the share of permuted tables with at least as many bits (Fisher's sum), and the largest excess
    of any task over its mean; the p-value is that of the rarer of both.

    >>> from examiner.information.observations import observe
    >>> from examiner.results import Results
    >>> runs = observe(Results.from_numpy(np.arange(24.0).reshape(3, 1, 8)))
    >>> chance = bits_by_chance(runs, 1, ChannelModel(), rng=np.random.default_rng(0), reps=20)
    >>> bool(chance.tasks["chance_bits"][0] < 0.2)
    True
    """

    def bits(cells: Moments) -> tuple[Floats, Floats]:
        pairs = PairLikelihood(channels_of(observations, cells, model))
        of_set = _greedy_bits(pairs, size)
        return single_bits(pairs), of_set

    draws = _replicates(bits, permuted(observations, rng), reps, "bits by chance", progress)
    tasks, chosen = (
        {"chance_bits": part.mean(axis=0), "chance_high": np.percentile(part, 95, axis=0)}
        for part in draws
    )
    observed_cells = channels_of(observations, moments(observations), model)
    observed_bits = single_bits(PairLikelihood(observed_cells))
    test, significant = _tested(np.nan_to_num(np.concatenate([observed_bits[None], draws[0]])))
    return BitsByChance({**tasks, "significant": significant}, chosen, test)


def _tested(bits: Floats) -> tuple[PermutationTest, NDArray[np.bool_]]:
    """Test whether the first of tables [tables, tasks] has more bits than others, and which tasks have."""
    fisher = -np.log(share_as_large(bits)).sum(axis=1)
    excess = bits - bits.mean(axis=0)
    most = excess.max(axis=1)
    p = float(rarity_of(fisher, most)[0])
    test = PermutationTest(float(fisher[0]), float(fisher[1:].mean()), p, len(bits) - 1)
    p_values = (most[:, None] >= excess[0] - 1e-9).mean(axis=0)
    return test, (p_values <= LEVEL) & test.significant


def bits_intervals(
    observations: Observations,
    chosen: InformativeSet,
    model: ChannelModel,
    *,
    rng: np.random.Generator,
    reps: int,
    level: float = 0.95,
    progress: Progress | None = None,
) -> BitsIntervals:
    """Return intervals for the bits of each task and of a chosen set, over the runs of each cell.

    Noise in the means looks like information, and tasks that were chosen for their bits have more of it
    than others. So intervals are percentiles of the bits of means and deviations drawn from their
    posterior given all runs (`plausible_draws`); below a thousandth of a bit they begin at 0. They are
    widened
    to contain the observed bits. Of very large tables (`is_large`) only the chosen tasks have intervals.

    >>> from examiner.information.observations import observe
    >>> from examiner.information.sets import best_set
    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(12.0).reshape(3, 1, 4) ** 1.5)
    >>> chosen, runs, rng = best_set(results, 1), observe(results), np.random.default_rng(0)
    >>> columns = bits_intervals(runs, chosen, ChannelModel(), rng=rng, reps=200).tasks
    >>> bool(columns["bits_low"][0] < columns["corrected_bits"][0] < columns["bits_high"][0])
    True
    """
    cells = moments(observations)
    columns = chosen.columns if is_large(*observations.shape) else None
    named = observations if columns is None else observations.of_tasks(columns)

    def bits(drawn: Moments) -> tuple[Floats, Floats]:
        if columns is None:
            pairs = PairLikelihood(channels_of(observations, drawn, model))
            return single_bits(pairs), cumulative_bits(pairs, chosen.columns)
        pairs = PairLikelihood(channels_of(named, drawn.of_tasks(columns), model))
        of_tasks = np.full(len(observations.tasks), np.nan)
        of_tasks[list(columns)] = single_bits(pairs)
        return of_tasks, cumulative_bits(pairs, range(len(columns)))

    draws = _replicates(
        bits, plausible_draws(observations, cells, rng), reps, "intervals", progress
    )
    names = "corrected_bits", "bits_low", "bits_high"
    of_tasks, of_set = (
        dict(zip(names, ends_of(observed_bits, drawn, level), strict=True))
        for observed_bits, drawn in zip(bits(cells), draws, strict=True)
    )
    return BitsIntervals(of_tasks, of_set)


def ends_of(observed_bits: Floats, drawn: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the mean of draws [reps, …] and the bounds of an interval that contains the observed bits.

    >>> ends_of(np.array([0.9]), np.linspace(0.2, 0.4, 99)[:, None], 0.9)[2]
    array([0.9])
    """
    tail = 50 * (1 - level)
    low, high = np.percentile(drawn, (tail, 100 - tail), axis=0, method="weibull")
    # Means that are drawn are never exactly equal: less than this counts as no information
    low = np.where(low < 1e-3, 0.0, low)
    return drawn.mean(axis=0), np.minimum(low, observed_bits), np.maximum(high, observed_bits)


def _replicates(
    bits: Callable[[Moments], tuple[Floats, Floats]],
    tables: Iterator[Moments],
    reps: int,
    stage: str,
    progress: Progress | None,
) -> tuple[Floats, ...]:
    """Return the bits of tasks [reps, tasks], and of a set [reps, size], of this many tables."""
    replicates = []
    for number in range(reps):
        if progress:
            progress(stage, number, reps)
        replicates.append(bits(next(tables)))
    return tuple(np.array(part) for part in zip(*replicates, strict=True))


def permuted(
    observations: Observations, rng: np.random.Generator, task: int | None = None
) -> Iterator[Moments]:
    """Yield tables with the runs of each task (or of one task) permuted among its agents, without end.

    >>> from examiner.information.observations import observe
    >>> from examiner.results import Results
    >>> runs = observe(Results.from_numpy(np.arange(8.0).reshape(2, 2, 2)))
    >>> next(permuted(runs, np.random.default_rng(0), 0)).mean.shape
    (1, 2, 2)
    """
    tasks = observations.cell % len(observations.tasks)
    order = np.argsort(tasks, kind="stable")
    ends = np.cumsum(np.bincount(tasks, minlength=len(observations.tasks)))
    by_task = observations._replace(
        cell=observations.cell[order],
        trials=observations.trials[:, order],
        mean=observations.mean[:, order],
        square=observations.square[:, order],
    )
    while True:
        cells = by_task.cell.copy()
        for number, units in enumerate(np.split(cells, ends[:-1])):  # views of the array itself
            if task is None or number == task:
                rng.shuffle(units)
        yield moments(by_task, cells)


def _greedy_bits(pairs: PairLikelihood, size: int) -> Floats:
    """Return the bits of a greedy set as it grows; once no task is left, they stay as they are."""
    choices = greedy_choices(pairs, min(size, int(pairs.usable.sum())))
    bits = cumulative_bits(pairs, [tied[0] for tied in choices])
    return np.pad(bits, (0, size - len(bits)), mode="edge") if len(bits) else np.zeros(size)

"""All that is told about bits at once: tasks, sets, intervals, chance, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels, Noise, channels_of, check_agents
from examiner.information.confusion import Spread
from examiner.information.gain import TaskInformation, gain
from examiner.information.mixing import whitening
from examiner.information.observations import Observations, Unit, moments, observe
from examiner.information.separation import Separation
from examiner.information.separation import redundancy as task_redundancy
from examiner.information.separation import separation as pair_separation
from examiner.information.sets import InformativeSet, Progress, best_set, check_size
from examiner.information.uncertainty import (
    BitsByChance,
    BitsIntervals,
    bits_by_chance,
    bits_intervals,
)
from examiner.results import Results
from examiner.wording import InputError, counted

USUAL_SIZE = 10
NEARLY_ALL = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class InformationAnalysis:
    """Bits of tasks and of a chosen set, how sure they are, and what they leave untold.

    `chance` and `intervals` are None where none were asked for, or where every cell is a single trial.
    `redundancy` is that of the chosen tasks, [size, size].
    """

    channels: Channels
    tasks: TaskInformation
    chosen: InformativeSet
    chance: BitsByChance | None
    intervals: BitsIntervals | None
    redundancy: NDArray[np.float64]
    separation: Separation
    unit: Unit
    notes: tuple[str, ...]

    @property
    def max_bits(self) -> float:
        """Return the most that any set of tasks can tell: log₂ of the number of agents."""
        return self.channels.max_bits


def analyse(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: np.random.Generator,
    size: int | None = None,
    noise: Noise | None = None,
    correlated: bool = False,
    spread: Spread = "sum",
    exact: bool = False,
    reps: int = 100,
    progress: Progress | None = None,
) -> InformationAnalysis:
    """Tell the bits of tasks and of a greedy set, with intervals and beside what chance would give.

    `size` is ten tasks, or all where there are fewer. `reps` permutations and as many resamples are
    made; 0 leaves both out. The rest is described at `channels`, `gain`, `best_set`.

    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8))
    >>> draws[1] += 6
    >>> found = analyse(Results.from_numpy(draws), rng=np.random.default_rng(0), size=2)
    >>> bool(found.chosen.bits > found.chance.greedy_high[-1])
    True
    """
    if reps < 0:
        raise InputError(f"{reps} replicates were asked for. Give 0 or more; 100 is usual.")
    noise = noise or Noise()
    seen = observe(results, measures)
    check_agents(seen)
    mixed = whitening(results, seen.measures) if correlated and len(seen.measures) > 1 else None
    found = channels_of(seen, moments(seen), noise, mixed)
    usable = int(found.usable.sum())
    size = min(USUAL_SIZE, max(usable, 1)) if size is None else size
    check_size(size, usable)
    tasks = gain(found, spread=spread, exact=exact)
    chosen = best_set(found, size, spread=spread, exact=exact, progress=progress)
    streams = rng.spawn(2)
    chance = intervals = None
    if reps and _repeated(seen):
        chance = bits_by_chance(
            *(seen, size), rng=streams[0], noise=noise, whitening=mixed, spread=spread,
            exact=exact, reps=reps, progress=progress,
        )  # fmt: skip
        intervals = bits_intervals(
            *(seen, chosen), rng=streams[1], noise=noise, whitening=mixed, spread=spread,
            exact=exact, reps=reps, progress=progress,
        )  # fmt: skip
    return InformationAnalysis(
        found,
        tasks,
        chosen,
        chance,
        intervals,
        task_redundancy(found, chosen.tasks, spread=spread),
        pair_separation(found, spread=spread),
        seen.unit,
        (*found.notes, *_notes(seen, found, chosen, chance, reps)),
    )


def _repeated(seen: Observations) -> bool:
    return bool(np.bincount(seen.cell).max() > 1)


def _notes(
    seen: Observations,
    found: Channels,
    chosen: InformativeSet,
    chance: BitsByChance | None,
    reps: int,
) -> list[str]:
    notes = []
    missing = int(np.isnan(found.mean).all(axis=0).sum())
    if missing:
        notes.append(
            f"{counted(missing, 'cell')} of {found.mean[0].size:,} without a result tell nobody apart: "
            f"bits of tasks with gaps are too low rather than too high."
        )
    if reps and not _repeated(seen):
        notes.append(
            "Every cell is a single trial: bits have neither intervals nor chance to be compared with."
        )
    full = int((chosen.cumulative_bits > found.max_bits - NEARLY_ALL).sum())
    if full > 1:
        notes.append(
            f"The first {counted(len(chosen.tasks) - full + 1, 'task')} chosen leave less than "
            f"{NEARLY_ALL:g} bits to tell: those after add nothing."
        )
    if chance is not None and chosen.bits <= chance.greedy_high[-1]:
        notes.append(
            f"With so few trials chance alone reaches {chance.greedy_high[-1]:.3g} bits in one case of "
            f"twenty, and the chosen tasks tell {chosen.bits:.3g}: more trials, or other tasks, are needed "
            f"to be sure that they tell the agents apart."
        )
    return notes

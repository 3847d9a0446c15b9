"""All that is told at once: of bits (tasks, sets, intervals, chance) and of likeness (clusters, crowns)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Unpack

import numpy as np

from examiner.information.channels import Channels, channels_of, check_agents, observed
from examiner.information.cluster_chance import compared_with_chance
from examiner.information.clusters import PAPER_THRESHOLD, Clustering, TaskClusters
from examiner.information.clusters import clusters as cluster_tasks
from examiner.information.confusion import PairLikelihood
from examiner.information.crowning import Crowning, crowns
from examiner.information.decomposition import GeneralFactor, general_factor
from examiner.information.disagreement import DeceptiveTasks, OpposedTasks
from examiner.information.disagreement import deceptive as deceptive_tasks
from examiner.information.disagreement import opposed as opposed_tasks
from examiner.information.gain import TaskInformation, gain
from examiner.information.noise import ChannelModel
from examiner.information.observations import Observations, Unit, moments
from examiner.information.separation import Separation
from examiner.information.separation import redundancy as task_redundancy
from examiner.information.separation import separation as pair_separation
from examiner.information.sets import (
    SCREENED,
    SCREENING_ROWS,
    InformativeSet,
    best_set,
    check_size,
    is_large,
)
from examiner.information.uncertainty import (
    BitsByChance,
    BitsIntervals,
    bits_by_chance,
    bits_intervals,
)
from examiner.messages import InputError, counted, shorten
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.scores.cells import judged_runs
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Floats, Randomness, generator

USUAL_SIZE = 10
NEARLY_ALL = 1e-6
FEW_DEALT = 20
"""Permutations of a very large table: its bits by chance hardly vary."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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
    redundancy: Floats
    separation: Separation
    unit: Unit
    notes: tuple[str, ...]

    @property
    def max_bits(self) -> float:
        """Return the most that any set of tasks can tell: log₂ of the number of agents."""
        return self.channels.max_bits

    def __repr__(self) -> str:
        return (
            f"InformationAnalysis: {self.chosen.bits:.3g} of {self.max_bits:.3g} bits by "
            f"{len(self.chosen.tasks)} of {counted(len(self.tasks.tasks), 'task')}"
        )

    def _repr_html_(self) -> str:
        columns = {
            "task": self.tasks.tasks,
            "bits": self.tasks.bits,
            "pairs separated": self.separation.pairs_of_task,
        }
        return html_columns(repr(self), columns, self.notes)


def analyse(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: Randomness,
    size: int | None = None,
    model: ChannelModel | None = None,
    reps: int = 100,
    progress: Progress | None = None,
) -> InformationAnalysis:
    """Tell the bits of tasks and of a greedy set, with intervals and beside what chance would give.

    `size` is ten tasks, or all where there are fewer. `reps` permutations and as many resamples are
    made; 0 leaves both out. The rest is described at `channels`, `gain`, `best_set`.

    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8))
    >>> draws[1] += 6
    >>> found = analyse(Results.from_numpy(draws), rng=0, size=2)
    >>> bool(found.chosen.bits > found.chance.greedy_high[-1])
    True
    """
    if reps < 0:
        raise InputError(f"{reps} replicates were asked for. Give 0 or more; 100 is usual.")
    model = model or ChannelModel()
    seen = observed(results, measures, model)
    check_agents(seen)
    found = channels_of(seen, moments(seen), model)
    usable = int(found.usable.sum())
    size = min(USUAL_SIZE, max(usable, 1)) if size is None else size
    check_size(size, usable)
    pairs = PairLikelihood(found)  # once, since levels of a large table take a while to find
    tasks, chosen = gain(found, pairs), best_set(found, size, pairs=pairs, progress=progress)
    dealing, drawing = generator(rng).spawn(2)
    chance = intervals = None
    if reps and seen.repeated:
        dealt = min(reps, FEW_DEALT) if is_large(*seen.shape) else reps
        chance = bits_by_chance(seen, size, rng=dealing, model=model, reps=dealt, progress=progress)
        intervals = bits_intervals(
            seen, chosen, rng=drawing, model=model, reps=reps, progress=progress
        )
    return InformationAnalysis(
        found,
        tasks,
        chosen,
        chance,
        intervals,
        task_redundancy(found, chosen.tasks),
        pair_separation(found, pairs=pairs),
        seen.unit,
        (*found.notes, *_notes(seen, found, chosen, chance, reps)),
    )


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
    if reps and not seen.repeated:
        notes.append(
            "Every cell is a single trial: bits have neither intervals nor chance to be compared with."
        )
    if is_large(*seen.shape):
        notes.append(_of_large(chance))
    if all(seen.shares) and not seen.repeated:
        notes.append(
            "Single trials of 0 or 1 do not tell how an agent varies, and next to nothing of which agent "
            "is playing. What they tell of ability, under a fitted model, is `irt.ability_information`."
        )
    full = int((chosen.cumulative_bits > found.max_bits - NEARLY_ALL).sum())
    if full > 1:
        notes.append(
            f"The first {counted(len(chosen.tasks) - full + 1, 'task')} chosen leave less than "
            f"{NEARLY_ALL:g} bits to tell: those after add nothing."
        )
    if chance is not None and chosen.bits <= chance.greedy_high[-1]:
        few = "" if chance.test.shown else " More trials, or other tasks, are needed."
        notes.append(
            f"With this number of trials chance alone reaches {chance.greedy_high[-1]:.3g} bits in one "
            f"case of twenty, and the chosen tasks have {chosen.bits:.3g} together.{few}"
        )
    return notes


def _of_large(chance: BitsByChance | None) -> str:
    told = (
        f"The table is large: tasks of the set were screened by the rows of {SCREENING_ROWS} agents, and "
        f"the best {SCREENED} each time counted with all agents"
    )
    if chance is None:
        return told + "."
    return (
        f"{told}; chance is from {counted(chance.reps, 'permutation')}, and intervals are of the chosen "
        f"tasks alone."
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LikenessAnalysis:
    """Clusters of tasks for each measure; the rest is about the first measure.

    `deceptive` is None where there is no score beside a win.
    """

    clusters: Mapping[str, TaskClusters]
    factor: GeneralFactor
    opposed: OpposedTasks
    deceptive: DeceptiveTasks | None
    crowning: Crowning
    notes: tuple[str, ...]

    @property
    def main(self) -> TaskClusters:
        """The clusters by the first measure."""
        return next(iter(self.clusters.values()))

    def __repr__(self) -> str:
        return f"LikenessAnalysis: {self.main!r}; {self.factor!r}; {self.crowning!r}"

    def _repr_html_(self) -> str:
        return "".join(part._repr_html_() for part in (self.main, self.factor, self.crowning))


def likeness(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: Randomness,
    size: int | None = None,
    progress: Progress | None = None,
    **clustering: Unpack[Clustering],
) -> LikenessAnalysis:
    """Tell which tasks are alike, how much of the table is one factor, and who could be crowned.

    Clusters and winners are compared with chance: see `compared_with_chance` and `crowns`.

    `clustering` are the options of `clusters`; its `method` is that of all correlations. `size` is that
    of `crowns`.

    >>> scores = np.array([[1.0, 2.0, 9.0], [2.0, 4.1, 5.0], [3.0, 5.0, 1.0], [4.0, 8.0, 0.0]])
    >>> found = likeness(Results.from_numpy(scores, tasks="tuv"), rng=0)
    >>> found.main.clusters, found.main.shown, found.crowning.crownable
    ((('t', 'u'), ('v',)), (('t', 'u'),), 0)
    """
    results = judged_runs(results)  # once, for all its parts
    if len(results.agents) < 2:
        raise InputError(
            f"There is one agent, {shorten(results.agents[0])}, and likeness of tasks is seen across "
            f"agents. Give results of at least three."
        )
    names = tuple(
        dict.fromkeys(results.measure_name(name) for name in measures or results.measures)
    )
    shuffling, halving, exchanging = generator(rng).spawn(3)
    clusters = {
        name: compared_with_chance(
            cluster_tasks(results, name, **clustering),
            results,
            rng=exchanging,
            linkage=clustering.get("linkage", "average"),
            threshold=clustering.get("threshold", PAPER_THRESHOLD),
            number=clustering.get("number"),
        )
        for name in names
    }
    method = clusters[names[0]].method
    factor = general_factor(results, names[0], rng=shuffling, method=method)
    crowning = crowns(results, names[0], rng=halving, size=size, progress=progress)
    notes = dict.fromkeys(note for found in clusters.values() for note in found.notes)
    return LikenessAnalysis(
        MappingProxyType(clusters),
        factor,
        opposed_tasks(results, names[0]),
        deceptive_tasks(results),
        crowning,
        (*notes, *crowning.notes),
    )

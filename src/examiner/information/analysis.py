"""The analysis of information: bits of tasks and of a chosen set, and their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from examiner.answers import Answer, Scalar, Table, name
from examiner.information.analysis_notes import notes_of
from examiner.information.channels import MAX_BITS, Channels, channels_of, observed
from examiner.information.gain import (
    MeasureBits,
    Redundancy,
    TaskBits,
    measure_bits,
    single_bits,
    task_bits,
)
from examiner.information.gain import redundancy as task_redundancy
from examiner.information.noise import ChannelModel
from examiner.information.observations import Unit, moments
from examiner.information.pairs import PairLikelihood
from examiner.information.separation import Separation
from examiner.information.separation import separation as pair_separation
from examiner.information.sets import (
    InformativeSet,
    Search,
    SetBits,
    best_set,
    check_size,
    is_large,
)
from examiner.information.uncertainty import BitsByChance, bits_by_chance, bits_intervals
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results, results_in_content_order
from examiner.scores import (
    Per,
    PermutationTest,
    Progress,
    check_level,
    ratio,
    task_cost_notes,
    task_costs,
)
from examiner.validation import Randomness, generator

USUAL_SIZE = 10
MOST_NAMED = 5


class PairsOfAgents(Table):
    """Pairs of agents."""

    agent: tuple[str, ...] = name("Agent")
    other: tuple[str, ...] = name("Other agent")


@dataclass(frozen=True, eq=False, repr=False)
class InformationAnalysis(Answer):
    """Bits of tasks and of a chosen set, with their uncertainty, and which agents no task separates.

    `chosen` is the greedy set, `improved` the set of another search where one was requested, and
    `redundancy` that of the chosen tasks. `test` asks whether any task discriminates between agents; it
    is None where no permutations were requested, or every cell is a single trial.
    """

    kind = "information"

    channels: Channels
    tasks: TaskBits
    chosen: SetBits
    improved: InformativeSet | None
    by_measure: MeasureBits | None
    redundancy: Redundancy
    separation: Separation
    test: PermutationTest | None
    unit: Unit
    reps: int
    seed: int | None
    cost: str | None
    notes: tuple[str, ...]

    @property
    def max_bits(self) -> float:
        """The information that identifies the agent: log₂ of the number of agents."""
        return self.channels.max_bits

    @property
    def enough(self) -> int:
        """How few of the chosen tasks give nine tenths of what all of them give together."""
        # The first tasks are enough once they have this share of what all chosen tasks give
        # together
        return int(np.argmax(self.chosen.bits >= 0.9 * self.chosen.bits[-1])) + 1

    @property
    def significant_tasks(self) -> tuple[str, ...]:
        """The tasks with significantly more bits than by chance, the most informative first."""
        if self.tasks.significant is None:
            return ()
        return tuple(row.task for row in self.tasks if row.significant)

    @property
    def set_significant(self) -> bool | None:
        """Whether the first tasks have more bits together than 95 % of permuted results."""
        if self.chosen.chance_high is None:
            return None
        last = self.enough - 1
        return bool(self.chosen.bits[last] > self.chosen.chance_high[last])

    @property
    def hardly_separates(self) -> bool:
        """Whether the chosen tasks give little of the information that identifies an agent."""
        # Chosen tasks with less than this share of the bits that identify an agent hardly separate
        # agents
        return self._corrected(len(self.chosen) - 1) < 0.2 * self.max_bits

    @property
    def headline(self) -> str:
        """How few tasks identify an agent, or that none discriminates between agents."""
        total = counted(len(self.tasks), "task")
        if self.test is not None and not self.test.significant:
            return f"No task discriminates significantly between agents ({self.test.words})."
        if self.test is not None and not self.set_significant:
            significant = self.significant_tasks
            if not significant:
                return f"Tasks discriminate between agents, but no single one does ({self.test.words})."
            verb = "discriminates" if len(significant) == 1 else "discriminate"
            named = _named(significant)
            return f"{len(significant):,} of {total} {verb} significantly between agents: {named}."
        whole = self._corrected(len(self.chosen) - 1)
        if self.hardly_separates:
            best = (
                f"Even the best {len(self.chosen):,} of" if len(self.chosen) > 1 else "The best of"
            )
            return (
                f"{best} {total} hardly separate{'' if len(self.chosen) > 1 else 's'} the agents: "
                f"{_bits(whole)} of {_bits(self.max_bits)} bits{self._how}."
            )
        corrected = self._corrected(self.enough - 1)
        share = f"{100 * corrected / self.max_bits:.0f} %"
        return (
            f"{self.enough:,} of {total} give{'s' if self.enough == 1 else ''} {share} of the information "
            f"that identifies an agent ({_bits(corrected)} of {_bits(self.max_bits)} bits{self._how}): "
            f"{_named(self.chosen.task[: self.enough])}."
        )

    @property
    def certainty(self) -> str:
        """How certain the headline is: the observed bits, their lower bound and those by chance."""
        table, last = self.chosen, self.enough - 1
        first = "task" if self.enough == 1 else f"{self.enough:,} tasks"
        parts = [
            f"The first {first} of the chosen set {_have(self.enough)} {_bits(table.bits[last])} bits"
        ]
        if table.bits_low is not None:
            parts.append(f"at least {_bits(table.bits_low[last])} without noise (97.5 %)")
        if table.chance_bits is not None:
            parts.append(f"{_bits(table.chance_bits[last])} by chance")
        if self.set_significant is False and self.test is not None and self.test.significant:
            return f"{'; '.join(parts)}: judge single tasks, or fewer of them."
        return f"{'; '.join(parts)}."

    def _corrected(self, last: int) -> float:
        bits = (
            self.chosen.bits if self.chosen.corrected_bits is None else self.chosen.corrected_bits
        )
        return float(bits[last])

    @property
    def _how(self) -> str:
        return "" if self.chosen.corrected_bits is None else ", corrected for noise"

    @cached_property
    def never_separated(self) -> PairsOfAgents:
        """The pairs of agents that no single task separates."""
        never = self.separation.never
        return PairsOfAgents(agent=[a for a, _ in never], other=[b for _, b in never])

    @property
    def tables(self) -> Mapping[str, Table]:
        """Tasks, the chosen set, and what they leave open."""
        optional = {
            "improved": None if self.improved is None else self.improved.tasks,
            "by_measure": self.by_measure,
        }
        return {
            "tasks": self.tasks,
            "chosen": self.chosen,
            **{name: table for name, table in optional.items() if table is not None},
            "redundancy": self.redundancy.pairs,
            "never_separated": self.never_separated,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Sizes, the most bits possible, and the permutation test."""
        test, enough = self.test, "Chosen tasks that give 90 % of what all chosen tasks give"
        return {
            "max_bits": Scalar(self.max_bits, MAX_BITS, "bits"),
            "agents": Scalar(len(self.channels.agents), "Agents"),
            "enough": Scalar(self.enough, enough),
            "hardly_separates": Scalar(
                self.hardly_separates, "Whether the chosen tasks give less than 20 % of these bits"
            ),
            "pair_count": Scalar(self.separation.pair_count, "Pairs of agents"),
            "p_value": Scalar(
                None if test is None else test.p_value,
                "Permutation test of whether any task discriminates between agents",
            ),
            "set_significant": Scalar(
                self.set_significant, "Whether the first chosen tasks have more bits than by chance"
            ),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """What must be repeated to get the same numbers."""
        model = asdict(self.channels.model)
        noise = model.pop("noise")
        return {
            "seed": self.seed,
            "reps": self.reps,
            "permutations": 0 if self.test is None else self.test.permutations,
            "resampled": self.unit,
            "level": self.chosen.level,
            "measures": self.channels.measures,
            "cost": self.cost,
            "search": "greedy" if self.improved is None else self.improved.search,
            "noise": noise.pop("kind"),
            **noise,
            **model,
        }


@reads_results
def analyse(
    results: Results,
    measures: Sequence[str] | None = None,
    *,
    rng: Randomness = 0,
    size: int | None = None,
    search: Search = "greedy",
    model: ChannelModel | None = None,
    cost: str | None = None,
    level: float = 0.95,
    reps: int = 100,
    progress: Progress | None = None,
) -> InformationAnalysis:
    """Return the bits of tasks and of a greedy set, with intervals and the bits of permuted results.

    `size` is ten tasks by default, or all where there are fewer. `reps` is the number of permutations
    and of draws for the intervals; 0 leaves both out. With `cost`, a column of the results, tasks are
    sorted by their bits per cost. The other arguments are described at `channels`, `gain` and `best_set`.

    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8))
    >>> draws[1] += 6
    >>> chosen = analyse(Results.from_numpy(draws), size=2).chosen
    >>> bool(chosen.bits[-1] > chosen.chance_high[-1])
    True
    """
    check_level(level)
    if reps < 0:
        raise InputError(f"The number of replicates is {reps}. Give 0 or more; 100 is usual.")
    model = model or ChannelModel()
    results = results_in_content_order(results)
    observations = observed(results, measures, model)
    channels = channels_of(observations, moments(observations), model)
    usable = int(channels.usable.sum())
    size = min(USUAL_SIZE, max(usable, 1)) if size is None else size
    check_size(size, usable)
    pairs = PairLikelihood(channels)  # once, since finding levels of a large table takes long
    best = best_set(channels, size, pairs=pairs, progress=progress)
    separated = pair_separation(channels, pairs=pairs)
    permuting, drawing = generator(rng).spawn(2)
    chance: BitsByChance | None = None
    of_tasks: dict[str, Any] = {"pairs_separated": separated.pairs_of_task}
    of_set: dict[str, Any] = {"tied_with": best.tasks.tied_with}
    if reps and observations.repeated:
        # Permutations of a very large table: its bits by chance hardly vary
        count = min(reps, 20) if is_large(*observations.shape) else reps
        chance = bits_by_chance(
            observations, size, model, rng=permuting, reps=count, progress=progress
        )
        intervals = bits_intervals(
            *(observations, best, model), rng=drawing, reps=reps, level=level, progress=progress
        )
        of_tasks |= intervals.tasks | chance.tasks
        of_set |= intervals.chosen | chance.chosen
    tasks = task_bits(channels.tasks, single_bits(pairs), level=level, **of_tasks)
    cost_notes: tuple[str, ...] = ()
    if cost is not None:
        per: Per = "run" if model.noise.kind == "mean" else "attempt"
        costs = task_costs(results, cost, per=per).tolist()
        tasks = _with_costs(tasks, dict(zip(results.tasks, costs, strict=True)))
        cost_notes = task_cost_notes(results, cost, per=per)
    improved = None
    if search != "greedy":
        improved = best_set(channels, size, search, pairs=pairs, progress=progress)
    return InformationAnalysis(
        channels,
        tasks,
        SetBits(task=best.tasks.task, bits=best.tasks.bits, level=level, **of_set),
        improved,
        measure_bits(channels),
        task_redundancy(channels, best.tasks.task),
        separated,
        None if chance is None else chance.test,
        observations.unit,
        reps,
        rng if isinstance(rng, int) else None,
        cost,
        (*channels.notes, *notes_of(observations, channels, best, chance, reps), *cost_notes),
    )


def _with_costs(tasks: TaskBits, costs: Mapping[str, float]) -> TaskBits:
    """Return the table with costs and bits per cost, those with most bits per cost first."""
    cost = np.array([costs[task] for task in tasks.task])
    columns = {column: tasks.values(column) for column in tasks.columns}
    columns |= {"cost": cost, "bits_per_cost": ratio(tasks.bits, cost)}
    return TaskBits(level=tasks.level, **columns).sorted_by("bits_per_cost", descending=True)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _bits(bits: float) -> str:
    return f"{bits:.3g}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"

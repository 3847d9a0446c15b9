"""Design: the variant of a task that adds most information beyond the present tasks, found by playing.

The mathematics is that of `information.added`: bits beyond a set of tasks, with noise removed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, flag, name, number, scalar
from examiner.arena.gvgai.plan import GvgaiAgent, GvgaiPlan
from examiner.arena.plan import PlannedAgent
from examiner.arena.plans import plan as named_plan
from examiner.arena.runner import AnyJob, AnyPlan, FailedJobs, Watcher, failed_jobs
from examiner.arena.variants import TaskVariant, base_tasks, design_variants, play_tasks
from examiner.messages import InputError, counted, listed, shorten
from examiner.validation import Floats, Randomness, generator
from examiner.workers import Crew

if TYPE_CHECKING:
    from examiner.information import AddedInformation

PANEL, HELD_OUT = "panel", "held-out agents"


_Agents: TypeAlias = tuple[PlannedAgent | GvgaiAgent, ...]


class SearchedVariants(Table):
    """The variants that were played in the search, the best of the last round first."""

    variant: tuple[str, ...] = name("Variant")
    runs: NDArray[np.int64] = count("Runs per agent until the variant was dropped or chosen")
    added_bits: Floats = number(
        "Information beyond the present tasks, in its last round", unit="bits", title="adds"
    )
    added_bits_low: Floats = bound("added_bits", "low")
    added_bits_high: Floats = bound("added_bits", "high")


class ConfirmedVariants(Table):
    """The chosen variant and random ones, measured again with fresh seeds, by the panel and by others."""

    agents: tuple[str, ...] = name("Who played: the panel of the search, or held-out agents")
    variant: tuple[str, ...] = name("Variant")
    chosen: NDArray[np.bool_] = flag("Chosen by the search; the others were drawn at random")
    added_bits: Floats = number(
        "Information beyond the present tasks on fresh seeds", unit="bits", title="adds"
    )
    added_bits_low: Floats = bound("added_bits", "low")
    added_bits_high: Floats = bound("added_bits", "high")


class Advantages(Table):
    """How much more the chosen variant adds than random variants do on average, on fresh seeds."""

    agents: tuple[str, ...] = name("Who played: the panel of the search, or held-out agents")
    base_bits: Floats = number("Information of the present tasks", unit="bits")
    max_bits: Floats = number("Information that identifies an agent", unit="bits")
    advantage: Floats = number("Bits more than random variants add on average", unit="bits")
    advantage_low: Floats = bound("advantage", "low")
    advantage_high: Floats = bound("advantage", "high")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignedTask(Answer):
    """The variant that adds most information beyond the present tasks: `design`.

    `searched` has what the search saw, which favours the chosen variant; `confirmed` and `advantages` are
    measured again with fresh seeds, also by agents that took no part in the search. `plays` of the
    `budget` were needed.
    """

    kind = "design"

    advantages: Advantages
    confirmed: ConfirmedVariants
    searched: SearchedVariants
    failed: FailedJobs
    chosen: str = field(metadata=scalar("The variant that was chosen"))
    plays: int = field(metadata=scalar("Plays: runs of one agent on one task"))
    budget: int = field(metadata=scalar("The most plays allowed"))
    present: tuple[str, ...]
    seed: int | None
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What the chosen variant adds on fresh seeds, compared with random variants."""
        parts = []
        for row in self.advantages:
            bits = self.confirmed[row.agents, self.chosen].added_bits
            verdict = (
                "significantly more than"
                if row.advantage_low > 0
                else "significantly less than"
                if row.advantage_high < 0
                else "not significantly more than"
            )
            random = bits - row.advantage
            parts.append(
                f"{bits:.2g} bits for the {row.agents}, {verdict} random variants ({random:.2g})"
            )
        return f"{self.chosen} adds {'; '.join(parts)}."

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The present tasks, and the seed."""
        return {"present": list(self.present), "seed": self.seed, "level": 0.95}


class _Schedule(NamedTuple):
    """How many variants are searched, the runs per cell at the end of each round, and the plays of all."""

    variants: int
    runs: tuple[int, ...]
    plays: int


def design(
    what: AnyPlan | str | Path,
    folder: str | Path,
    *,
    rng: Randomness = 0,
    reps: int = 200,
    workers: int | Callable[[], Crew] = 1,
    watcher: Watcher | None = None,
) -> DesignedTask:
    """Search a plan's variants for the one that adds most information beyond its games.

    The panel (all agents of the plan but the held-out ones) plays the present games and as many variants,
    drawn at random, as the budget allows. In each round the half of the variants that adds least is
    dropped, and the others get twice the runs (at most those of the confirmation), until one is left.
    That one is then played with fresh seeds, next to variants drawn at random, by the panel and by the
    held-out agents. Every play is kept in the folder: the same call goes on where it was interrupted.
    The question is that of papers/004, section VI: new problems that fill gaps.

    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'environment = "gymnasium"\\ngames = ["CartPole-v1"]\\nepisodes = 1\\n'
    >>> text += 'protocol = { max_episode_frames = 20 }\\n[[agents]]\\nentry = "random"\\n'
    >>> text += '[[agents]]\\nentry = "no-op"\\n[design]\\nplays = 100\\nruns = 2\\nconfirming_runs = 2\\n'
    >>> text += '[[design.variants]]\\ngame = "FrozenLake-v1"\\nsettings.is_slippery = [true, false]\\n'
    >>> answer = design(plan_from_toml(text), tempfile.mkdtemp())
    >>> answer.plays, len(answer.confirmed)
    (24, 2)
    """
    plan = named_plan(what)
    if plan.design is None:
        raise InputError(
            f"The plan {shorten(plan.name)} has no table [design]. Say there which variants to search."
        )
    panel, others = _panel(plan)
    present, variants = base_tasks(plan), design_variants(plan)
    draws = generator(rng)
    compared = min(plan.design.random_variants, len(variants) - 1)
    schedule = _schedule(plan, len(panel), len(others), len(present), len(variants), compared)
    play = _Player(plan, Path(folder), plan.design.measure, workers, watcher)
    order = draws.permutation(len(variants))
    searched = [variants[index] for index in np.sort(order[: schedule.variants])]
    table, chosen = _searched(play, panel, present, searched, schedule.runs, draws, reps)
    candidates = [variant for variant in variants if variant.name != chosen.name]
    picked = np.sort(draws.permutation(len(candidates))[:compared])
    confirmed = [chosen, *(candidates[index] for index in picked)]
    # Seeds that no run of the search has.
    seeds = range(1_000_000, 1_000_000 + plan.design.confirming_runs)
    groups = {PANEL: panel} | ({HELD_OUT: others} if len(others) > 1 else {})
    measured = {
        group: play.added(present, confirmed, agents, seeds, draws, reps)
        for group, agents in groups.items()
    }
    return DesignedTask(
        _advantages(measured, chosen.name, draws),
        _confirmed(measured, chosen.name),
        table,
        failed_jobs(play.failures),
        chosen.name,
        schedule.plays,
        plan.design.plays,
        tuple(task.name for task in present),
        rng if isinstance(rng, int) else None,
        _notes(schedule, len(variants), len(others)),
    )


def _panel(plan: AnyPlan) -> tuple[_Agents, _Agents]:
    """The agents that search, and those that are held out."""
    assert plan.design is not None, "checked before"
    if plan.design.measure == "win" and not isinstance(plan, GvgaiPlan):
        raise InputError(
            f"The games of the plan {shorten(plan.name)} have no wins. Leave design.measure out."
        )
    names = [agent.name for agent in plan.agents]
    for held_out in plan.design.held_out:
        if held_out not in names:
            raise InputError(
                f"design.held_out: there is no agent {shorten(held_out)} in the plan, which has "
                f"{listed(names)}."
            )
    agents: _Agents = plan.agents
    panel = tuple(agent for agent in agents if agent.name not in plan.design.held_out)
    others = tuple(agent for agent in agents if agent.name in plan.design.held_out)
    if len(panel) < 2:
        raise InputError(
            f"The panel of the design has {counted(len(panel), 'agent')}. Information is about "
            f"differences between agents: leave at least two out of `held_out`."
        )
    return panel, others


def _schedule(
    plan: AnyPlan, panel: int, others: int, present: int, variants: int, compared: int
) -> _Schedule:
    """The largest search that the budget allows, with all that is played after it."""
    assert plan.design is not None, "checked before"
    first, most, budget = plan.design.runs, plan.design.confirming_runs, plan.design.plays
    groups = panel + (others if others > 1 else 0)
    after = groups * (present + 1 + compared) * plan.design.confirming_runs
    for searched in range(variants, 1, -1):
        halvings = range(math.ceil(math.log2(searched)))
        runs = tuple(min(first * 2**halving, max(first, most)) for halving in halvings)
        left, plays = searched, present * panel * runs[-1]
        for before, after_round in itertools.pairwise((0, *runs)):
            plays += left * panel * (after_round - before)
            left = math.ceil(left / 2)
        if plays + after <= budget:
            return _Schedule(searched, runs, plays + after)
    raise InputError(
        f"A budget of {counted(budget, 'play')} is too small: to search two variants and to measure the "
        f"result again takes {counted(plays + after, 'play')}. Raise design.plays, or lower runs, "
        f"confirming_runs or random_variants."
    )


@dataclass(slots=True)
class _Player:
    """Plays tasks, and measures what variants add; failed jobs are collected."""

    plan: AnyPlan
    folder: Path
    measure: str
    workers: int | Callable[[], Crew]
    watcher: Watcher | None
    failures: dict[AnyJob, str] = field(default_factory=dict)

    def added(
        self,
        present: Sequence[TaskVariant],
        variants: Sequence[TaskVariant],
        agents: _Agents,
        seeds: range,
        rng: np.random.Generator,
        reps: int,
    ) -> AddedInformation:
        from examiner.information import ChannelModel, Noise, added  # scipy is slow to import

        results, failures = play_tasks(
            self.plan,
            (*present, *variants),
            agents,
            seeds,
            self.folder,
            measure=self.measure,
            workers=self.workers,
            watcher=self.watcher,
        )
        self.failures |= failures
        base = [task.name for task in present]
        # Of one play; one deviation per task: any difference separates agents that never vary.
        noise = ChannelModel(Noise("trial", deviations="pooled"))
        return added(results, base, model=noise, rng=rng, reps=reps)


def _searched(
    play: _Player,
    panel: _Agents,
    present: Sequence[TaskVariant],
    variants: Sequence[TaskVariant],
    rounds: Sequence[int],
    rng: np.random.Generator,
    reps: int,
) -> tuple[SearchedVariants, TaskVariant]:
    """Halve the variants until one is left; return what each added when it was last played."""
    left = list(variants)
    rows: list[tuple[str, int, float, float, float]] = []
    for round_number, runs in enumerate(rounds, start=1):
        measured = play.added(present, left, panel, range(runs), rng, reps)
        order = {row.task: place for place, row in enumerate(measured.tasks)}
        left.sort(key=lambda variant: order[variant.name])
        kept = math.ceil(len(left) / 2) if round_number < len(rounds) else 0
        for variant in reversed(left[kept:]):
            row = measured.tasks[variant.name]
            interval = row.added_bits_low, row.added_bits_high
            rows.append((variant.name, runs, row.added_bits, *interval))
        chosen, left = left[0], left[:kept]
    names, runs_played, bits, low, high = zip(*reversed(rows), strict=True)
    table = SearchedVariants(
        variant=names, runs=runs_played, added_bits=bits, added_bits_low=low, added_bits_high=high
    )
    return table, chosen


def _confirmed(measured: Mapping[str, AddedInformation], chosen: str) -> ConfirmedVariants:
    rows = [(group, row) for group, answer in measured.items() for row in answer.tasks]
    return ConfirmedVariants(
        agents=[group for group, _ in rows],
        variant=[row.task for _, row in rows],
        chosen=[row.task == chosen for _, row in rows],
        added_bits=[row.added_bits for _, row in rows],
        added_bits_low=[row.added_bits_low for _, row in rows],
        added_bits_high=[row.added_bits_high for _, row in rows],
        caption="Bits beyond the present tasks on fresh seeds, with 95 % intervals",
    )


def _advantages(
    measured: Mapping[str, AddedInformation], chosen: str, rng: np.random.Generator
) -> Advantages:
    gains = [
        answer.advantage(chosen, [task for task in answer.tasks.task if task != chosen], rng)
        for answer in measured.values()
    ]
    return Advantages(
        agents=list(measured),
        base_bits=[answer.base_bits for answer in measured.values()],
        max_bits=[answer.max_bits for answer in measured.values()],
        advantage=[gain.bits for gain in gains],
        advantage_low=[gain.low for gain in gains],
        advantage_high=[gain.high for gain in gains],
        caption="The chosen variant compared with random ones, on fresh seeds",
    )


def _notes(schedule: _Schedule, variants: int, others: int) -> tuple[str, ...]:
    notes = []
    if schedule.variants < variants:
        notes.append(
            f"The budget allows a search of {schedule.variants:,} of {counted(variants, 'variant')}, "
            f"drawn at random. Raise design.plays to search them all."
        )
    if others < 2:
        notes.append(
            "There are fewer than two held-out agents, so that the gain is not measured on agents "
            "outside the search. Name two or more under design.held_out."
        )
    return tuple(notes)

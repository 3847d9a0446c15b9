"""Variants of tasks: what a plan's `[design]` table lists or a function generates, and plays of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from examiner.arena.contract import imported
from examiner.arena.environments.games import game_variant, game_variants, playable_game
from examiner.arena.environments.gymnasium import game_with_settings
from examiner.arena.job import Flavour, Job, check_job
from examiner.arena.plan import JobList, Plan, PlannedAgent, VariedGame
from examiner.arena.play.runner import FailedJob, Watcher, run
from examiner.arena.play.runs import job_performances
from examiner.arena.protocol import Protocol
from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.validation import check_known, from_record
from examiner.workers import Crew


@dataclass(frozen=True, slots=True)
class TaskVariant:
    """A task that can be played: a game, a mode and a difficulty, under a protocol."""

    name: str
    game: str
    flavour: Flavour
    protocol: Protocol


def base_tasks(plan: Plan) -> tuple[TaskVariant, ...]:
    """Return the present set: the games of a plan, in the modes and difficulties that it lists.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\n[[agents]]\\nentry = "random"')
    >>> [task.name for task in base_tasks(plan)]
    ['pong']
    """
    jobs = {(job.game, job.mode, job.difficulty): job for job in plan.jobs()}
    several = {job.game for job in jobs.values() if sum(key[0] == job.game for key in jobs) > 1}
    tasks = []
    for job in jobs.values():
        flavour = Flavour(job.mode, job.difficulty)
        name = f"{job.game} {flavour.short}" if job.game in several else job.game
        tasks.append(TaskVariant(name, job.game, flavour, plan.protocol))
    return tuple(tasks)


def design_variants(plan: Plan) -> tuple[TaskVariant, ...]:
    """Return every variant that a plan's design may choose, each checked; those of the set are left out.

    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'games = ["pong"]\\n[[agents]]\\nentry = "random"\\n[[design.variants]]\\ngame = "pong"\\n'
    >>> plan = plan_from_toml(text + "difficulties = [0, 1]\\nframe_skip = [5, 9]")
    >>> [variant.name for variant in design_variants(plan)]
    ['pong 0/0, frame skip 9', 'pong 0/1', 'pong 0/1, frame skip 9']
    """
    assert plan.design is not None, "whoever designs has read the table"
    present = {(task.game, task.flavour, task.protocol) for task in base_tasks(plan)}
    variants: dict[str, TaskVariant] = {}
    for varied in (*plan.design.variants, *_generated(plan.design.generator, plan.folder)):
        for variant in _expanded(plan, varied):
            if (variant.game, variant.flavour, variant.protocol) not in present:
                variants[variant.name] = variant
    if len(variants) < 2:
        raise InputError(
            f"The design of the plan {shorten(plan.name)} has {len(variants)} variants beyond the present "
            f"tasks. Give at least two: more values under [[design.variants]], or a generator."
        )
    return tuple(variants.values())


def _generated(entry: str | None, folder: Path | None) -> Iterable[VariedGame]:
    if entry is None:
        return ()
    if folder is not None and str(folder) not in sys.path:  # as for agents beside the plan
        sys.path.insert(0, str(folder))
    function: Callable[[], Iterable[Mapping[str, Any]]] = imported(entry, "generator")
    return [_single(record) for record in function()]


def _single(record: Mapping[str, Any]) -> VariedGame:
    """A generated variant, whose values are single, as a game with one value of each setting."""
    lists = {"mode": "modes", "difficulty": "difficulties"}
    for name in record:
        known = ("game", "mode", "difficulty", "frame_skip", "sticky_probability", "settings")
        check_known("key of a generated variant", name, known)
    table: dict[str, Any] = {
        lists.get(name, name): value if name == "game" else [value]
        for name, value in record.items()
        if name != "settings"
    }
    table["settings"] = {name: [value] for name, value in record.get("settings", {}).items()}
    return from_record(VariedGame, table, strict=True, what="generated variant")


def _expanded(plan: Plan, varied: VariedGame) -> Iterable[TaskVariant]:
    for name, values in varied.settings.items():
        if not isinstance(values, list) or not values:
            raise InputError(
                f"The setting {shorten(name)} of {shorten(varied.game)} is {shorten(values)}. Give a list "
                f"of values to choose from."
            )
    if plan.environment == "ale":
        flavours = _flavours(plan, varied)
    elif varied.modes or varied.difficulties:
        raise InputError(f"{shorten(varied.game)} has no modes or difficulties. Leave them out.")
    else:
        flavours = [(varied.game, Flavour(None, None))]
    if plan.environment == "ale" and varied.settings:
        raise InputError(
            f"The Atari game {shorten(varied.game)} has no `settings`. Leave them out."
        )
    skips = varied.frame_skip or (plan.protocol.frame_skip,)
    chances = varied.sticky_probability or (plan.protocol.sticky_probability,)
    combinations = product(*varied.settings.values())
    named = [dict(zip(varied.settings, values, strict=True)) for values in combinations]
    for (game, flavour), settings, skip, chance in product(flavours, named, skips, chances):
        protocol = replace(plan.protocol, frame_skip=skip, sticky_probability=chance)
        full = game_with_settings(game, settings)
        words = [f"{full} {flavour.short}".strip()]
        words += [f"frame skip {skip}"] if skip != plan.protocol.frame_skip else []
        words += [f"ς {chance:g}"] if chance != plan.protocol.sticky_probability else []
        if plan.environment != "ale" and ":" not in full:
            environment = plan.environment
            check_job(
                Job("random", "random", environment=environment, game=full, protocol=protocol)
            )
        yield TaskVariant(", ".join(words), full, flavour, protocol)


def _flavours(plan: Plan, varied: VariedGame) -> list[tuple[str, Flavour]]:
    game = playable_game(varied.game)
    every = game_variants(game)
    modes = every.modes if varied.modes == "all" else varied.modes or (plan.protocol.mode,)
    difficulties = (
        every.difficulties
        if varied.difficulties == "all"
        else varied.difficulties or (plan.protocol.difficulty,)
    )
    return [
        (game, Flavour(*game_variant(game, *flavour))) for flavour in product(modes, difficulties)
    ]


def play_tasks(
    plan: Plan,
    tasks: Sequence[TaskVariant],
    agents: Sequence[PlannedAgent],
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: int | Callable[[], Crew],
    watcher: Watcher | None,
) -> tuple[Results, tuple[FailedJob, ...]]:
    """Play tasks with agents and seeds, each run once and for all; return the performance of every run.

    What the ledger in the folder holds is not played again.
    """
    jobs = {
        Job(
            agent.name,
            agent.entry,
            agent.settings,
            agent.observation or plan.observation,
            plan.environment,
            task.game,
            *task.flavour,
            seed,
            task.protocol,
            agent.episodes or plan.episodes,
            agent.frames or plan.frames,
        ): task.name
        for seed in seeds
        for task in tasks
        for agent in agents
    }
    planned = JobList(
        *((), ()),
        limits=plan.limits,
        source=plan.source,
        folder=plan.folder,
        listed=tuple(jobs),
        variants=jobs,
    )
    outcome = run(planned, folder, workers=workers, watcher=watcher)
    failed = {failure.job for failure in outcome.failures}
    scores = job_performances(outcome.ledger, [job for job in jobs if job not in failed])
    rows = [(job.agent, jobs[job], job.seed, score) for job, score in scores.items()]
    if not rows:
        raise InputError(f"Every play failed: {outcome.failures[0].reason}. Correct the agents.")
    columns = ("agent", "task", "run", "score")
    table = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    return Results.from_dict(table), outcome.failures

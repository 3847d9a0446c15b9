"""Variants of tasks: what a plan's `[design]` table lists or a function generates, and plays of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from examiner.arena.contract import imported
from examiner.arena.environments.games import game_variant, game_variants, playable_game
from examiner.arena.environments.gymnasium import game_with_settings
from examiner.arena.gvgai.checkout import checkout
from examiner.arena.gvgai.description import MAP, flat_settings
from examiner.arena.gvgai.plan import GvgaiAgent, GvgaiPlan
from examiner.arena.gvgai.play import GvgaiPlay
from examiner.arena.job import Flavour, Job, check_job
from examiner.arena.means import job_performances
from examiner.arena.plan import Plan, PlannedAgent, VariedGame
from examiner.arena.runner import AnyJob, AnyPlan, Watcher, run
from examiner.messages import InputError, listed, shorten
from examiner.results import Results
from examiner.validation import check_known, from_record
from examiner.workers import Crew

_ATARI = ("modes", "difficulties", "frame_skip", "sticky_probability")
_GYMNASIUM = ("frame_skip", "sticky_probability", "settings")
_GVGAI = ("levels", "settings")


class TaskVariant(NamedTuple):
    """A task that can be played: a job of it by any agent, and what tells it from other tasks."""

    name: str
    job: AnyJob
    content: Hashable


def base_tasks(plan: AnyPlan) -> tuple[TaskVariant, ...]:
    """Return the present set: the games of a plan, in the modes, difficulties or levels that it lists.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\n[[agents]]\\nentry = "random"')
    >>> [task.name for task in base_tasks(plan)]
    ['pong']
    """
    if isinstance(plan, GvgaiPlan):
        levels = dict.fromkeys((job.game, job.level) for job in plan.jobs())
        return tuple(_level(plan, *level) for level in levels)
    jobs = {(job.game, job.mode, job.difficulty): job for job in plan.jobs()}
    several = {job.game for job in jobs.values() if sum(key[0] == job.game for key in jobs) > 1}
    tasks = []
    for job in jobs.values():
        flavour = Flavour(job.mode, job.difficulty)
        name = f"{job.game} {flavour.short}" if job.game in several else job.game
        tasks.append(_flavour(plan, name, replace(job, protocol=plan.protocol)))
    return tuple(tasks)


def design_variants(plan: AnyPlan) -> tuple[TaskVariant, ...]:
    """Return every variant that a plan's design may choose, each checked; those of the set are left out.

    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'games = ["pong"]\\n[[agents]]\\nentry = "random"\\n[[design.variants]]\\ngame = "pong"\\n'
    >>> plan = plan_from_toml(text + "difficulties = [0, 1]\\nframe_skip = [5, 9]")
    >>> [variant.name for variant in design_variants(plan)]
    ['pong 0/0, frame skip 9', 'pong 0/1', 'pong 0/1, frame skip 9']
    """
    assert plan.design is not None, "whoever designs has read the table"
    present = {task.content for task in base_tasks(plan)}
    variants: dict[Hashable, TaskVariant] = {}
    for varied in (*plan.design.variants, *_generated(plan, plan.design.generator)):
        for variant in _expanded(plan, varied):
            if variant.content not in present:
                variants.setdefault(variant.content, variant)
    if len(variants) < 2:
        raise InputError(
            f"The design of the plan {shorten(plan.name)} has {len(variants)} variants beyond the present "
            f"tasks. Give at least two: more values under [[design.variants]], or a generator."
        )
    return tuple(variants.values())


def _generated(plan: AnyPlan, entry: str | None) -> Iterable[VariedGame]:
    """The variants of a user's own function, whose values are single, as games with one value of each."""
    if entry is None:
        return ()
    if (
        plan.folder is not None and str(plan.folder) not in sys.path
    ):  # as for agents beside the plan
        sys.path.insert(0, str(plan.folder))
    function: Callable[[], Iterable[Mapping[str, Any]]] = imported(entry, "generator")
    return [_single(record, flat=isinstance(plan, GvgaiPlan)) for record in function()]


def _single(record: Mapping[str, Any], *, flat: bool) -> VariedGame:
    lists = {"mode": "modes", "difficulty": "difficulties", "level": "levels"}
    for name in record:
        keys = ("game", *lists, "frame_skip", "sticky_probability", "settings")
        check_known("key of a generated variant", name, keys)
    table: dict[str, Any] = {
        lists.get(name, name): value if name == "game" else [value]
        for name, value in record.items()
        if name != "settings"
    }
    settings = record.get("settings", {})
    settings = flat_settings(settings) if flat else settings
    table["settings"] = {name: [value] for name, value in settings.items()}
    return from_record(VariedGame, table, strict=True, what="generated variant")


def _expanded(plan: AnyPlan, varied: VariedGame) -> Iterator[TaskVariant]:
    if isinstance(plan, GvgaiPlan):
        return _of_levels(plan, varied)
    return _of_frames(plan, varied)


def _of_levels(plan: GvgaiPlan, varied: VariedGame) -> Iterator[TaskVariant]:
    """Levels of a GVGAI game, with every combination of parameters; a map is a level of its own."""
    _check_varied(varied, _GVGAI, "A GVGAI game")
    games = checkout(plan.checkout)
    for settings in _combinations(varied, flat_settings(varied.settings)):
        game = game_with_settings(varied.game, settings)
        levels = varied.levels if MAP not in settings else None
        for level in games.levels(game) if levels == "all" else levels or plan.levels_of(game):
            yield _level(plan, game, level)


def _level(plan: GvgaiPlan, game: str, level: int) -> TaskVariant:
    games = checkout(plan.checkout)
    content = games.game_file(game), games.level_file(game, level)
    job = GvgaiPlay("", "", game, level, rules=plan.rules)
    return TaskVariant(game if f"{MAP}=" in game else f"{game} level {level}", job, content)


def _of_frames(plan: Plan, varied: VariedGame) -> Iterator[TaskVariant]:
    """Flavours of an Atari game or settings of an environment, with other frame skips or stickiness."""
    atari = plan.environment == "ale"
    if atari:
        _check_varied(varied, _ATARI, "An Atari game")
    else:
        _check_varied(varied, _GYMNASIUM, "A Gymnasium environment")
    flavours = _flavours(plan, varied) if atari else [(varied.game, Flavour(None, None))]
    skips = varied.frame_skip or (plan.protocol.frame_skip,)
    chances = varied.sticky_probability or (plan.protocol.sticky_probability,)
    settings_list = _combinations(varied, varied.settings)
    for (game, flavour), settings, skip, chance in product(flavours, settings_list, skips, chances):
        protocol = replace(plan.protocol, frame_skip=skip, sticky_probability=chance)
        full = game_with_settings(game, settings)
        words = [f"{full} {flavour.short}".strip()]
        words += [f"frame skip {skip}"] if skip != plan.protocol.frame_skip else []
        words += [f"ς {chance:g}"] if chance != plan.protocol.sticky_probability else []
        job = Job(
            *("random", "random"),
            environment=plan.environment,
            game=full,
            mode=flavour.mode,
            difficulty=flavour.difficulty,
            protocol=protocol,
        )
        if not atari and ":" not in full:
            check_job(job)
        yield _flavour(plan, ", ".join(words), job)


def _flavour(plan: Plan, name: str, job: Job) -> TaskVariant:
    return TaskVariant(name, job, (job.game, job.mode, job.difficulty, job.protocol))


def _check_varied(varied: VariedGame, keys: Sequence[str], what: str) -> None:
    for key in ("modes", "difficulties", "levels", "frame_skip", "sticky_probability", "settings"):
        if getattr(varied, key) and key not in keys:
            raise InputError(
                f"{what} as {shorten(varied.game)} has no {key} to vary. Vary its {listed(keys)}."
            )


def _combinations(varied: VariedGame, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    for name, values in settings.items():
        if not isinstance(values, list) or not values:
            raise InputError(
                f"The setting {shorten(name)} of {shorten(varied.game)} is {shorten(values)}. Give a list "
                f"of values to choose from."
            )
    combinations = product(*settings.values())
    return [dict(zip(settings, values, strict=True)) for values in combinations]


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
    plan: AnyPlan,
    tasks: Sequence[TaskVariant],
    agents: Sequence[PlannedAgent | GvgaiAgent],
    seeds: Sequence[int],
    folder: Path,
    *,
    measure: str,
    workers: int | Callable[[], Crew],
    watcher: Watcher | None,
) -> tuple[Results, Mapping[AnyJob, str]]:
    """Play tasks with agents and seeds; return the performance of every run, and why jobs failed.

    What the ledger in the folder holds is not played again.
    """
    by: Any = plan  # Any: agents and jobs are those of the kind of plan
    jobs: dict[AnyJob, str] = {
        by.job_by(agent, task.job, seed): task.name
        for seed in seeds
        for task in tasks
        for agent in agents
    }
    outcome = run(by.of_jobs(jobs), folder, workers=workers, watcher=watcher)
    played = [job for job in jobs if job not in outcome.failures]
    scores = job_performances(outcome.ledger, played, measure)
    rows = [(job.agent, jobs[job], job.seed, score) for job, score in scores.items()]
    if not rows:
        reason = next(iter(outcome.failures.values()), f"no play has a {measure}")
        raise InputError(f"Every play failed: {reason}. Correct the agents.")
    columns = ("agent", "task", "run", measure)
    table = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    return Results.from_dict(table), outcome.failures

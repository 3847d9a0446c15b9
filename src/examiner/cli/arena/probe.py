"""`examiner arena probe`: what sticky actions cost an agent, and whether it replays memorised actions."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import click

from examiner.arena import (
    ENVIRONMENTS,
    OBSERVATIONS,
    PROTOCOLS,
    Job,
    Plan,
    is_bundled,
    plan_of_frames,
    playable_game,
)
from examiner.arena import probe as play_probe
from examiner.arena import protocol as named_protocol
from examiner.cli.options import OUTPUT, WORKERS, Seeded, argument, find_modules_here, option
from examiner.cli.output import live_table, progress_bar, show
from examiner.cli.stopping import stopped_in_order
from examiner.messages import InputError, shorten
from examiner.reporting import render_probe, render_probed_plan
from examiner.workers import available_cores, map_processes

SOME_FAILED = 1
"""Exit code when some jobs of a plan failed."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Which agent is probed, on which game."""

    agent: str = argument(
        "AGENT|PLAN", "An agent, module:factory, or a plan: a .toml file or a bundled one."
    )
    game: str | None = argument("GAME", "The game to play.", None)
    sticky: float = option(0.25, "Sticky-action probability ς to compare with 0.")
    frames: int | None = option(None, "Frames per run: how long a learner trains.")
    seeds: int | None = option(
        None,
        "Runs without sticky actions, and with [default: 5]; of a plan the first N [default: all].",
    )
    output: str | None = option(
        None, "Folder of a plan's two ledgers.", *OUTPUT, metavar="FOLDER", writes="answer"
    )
    workers: int | None = option(None, WORKERS, metavar="N", min=1)


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How the agent is built and played."""

    section: ClassVar[str] = "Playing (not with a plan)"
    setting: list[str] | None = option(
        None, "A setting of the agent; may be repeated.", "--set", metavar="NAME=VALUE"
    )
    observation: str = option("raw", f"What the agent sees: {', '.join(OBSERVATIONS)}.")
    environment: str = option("ale", f"Environment: {', '.join(ENVIRONMENTS)}.")
    protocol: str = option(
        "machado-2018",
        f"Protocol, except for sticky actions: {', '.join(PROTOCOLS)}.",
        metavar="NAME",
    )
    cap: int | None = option(None, "Maximum frames per episode.", metavar="FRAMES")
    episodes: int | None = option(None, "Episodes per run [default: 1].")
    replays: int = option(2, "Number of replays of each recorded episode.")


NOT_WITH_A_PLAN = (*(field.name for field in fields(PlayOptions)), "seed")
"""Options that a plan states itself."""


def probe(who: ProbeOptions, play: PlayOptions, printing: Seeded) -> None:
    """Measure what an agent loses to sticky actions, and whether replaying its actions gives its score."""
    if who.agent.endswith(".toml") or is_bundled(who.agent):
        if who.game is not None:
            raise InputError(f"A plan names its games itself. Leave out {shorten(who.game)}.")
        unused = _given(NOT_WITH_A_PLAN)
        if unused:
            raise InputError(f"A plan says itself how it is played. Leave out {unused}.")
        _probe_plan(plan_of_frames(who.agent), who, printing)
        return
    if who.game is None:
        raise InputError(
            f"No game is named for {shorten(who.agent)}. Name one: `examiner arena probe AGENT GAME`."
        )
    unused = _given(("output",))
    if unused:
        raise InputError(f"Only a plan has ledgers to keep in a folder. Leave out {unused}.")
    find_modules_here(who.agent)
    with progress_bar("playing") as progress:
        answer = play_probe(
            _job(who, who.game, play, printing.seed),
            seeds=5 if who.seeds is None else who.seeds,
            sticky_probability=who.sticky,
            replays=play.replays,
            map=partial(
                map_processes,
                processes=who.workers,
                clean=True,
                progress=progress,
                stage="playing",
            ),
        )
    show(render_probe(answer), printing)


def _given(names: Collection[str]) -> str:
    """Those of the options that the user gave, even if with their default, as they are written."""
    context = click.get_current_context()
    return ", ".join(
        param.opts[0]
        for param in context.command.params
        if param.name in names and _was_given(context, param.name)
    )


def _was_given(context: click.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _job(who: ProbeOptions, game: str, play: PlayOptions, seed: int) -> Job:
    changes = {} if play.cap is None else {"max_episode_frames": play.cap}
    return Job(
        who.agent,
        who.agent,
        settings=dict(_setting(text) for text in play.setting or ()),
        observation=play.observation,
        environment=play.environment,
        game=playable_game(game) if play.environment == "ale" else game,
        seed=seed,
        protocol=named_protocol(play.protocol, **changes),
        episodes=play.episodes,
        frames=who.frames,
    )


def _setting(text: str) -> tuple[str, Any]:  # Any: a value of TOML
    """A setting as a plan would have it: NAME=VALUE, the value as in TOML or plain text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"The setting {shorten(text)} is not NAME=VALUE, for example budget=500.")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


def _probe_plan(plan: Plan, who: ProbeOptions, printing: Seeded) -> None:
    # Agents with frames of their own keep them.
    plan = plan if who.frames is None else replace(plan, frames=who.frames)
    plan = plan if who.seeds is None else plan.with_fewer_seeds(who.seeds)
    folder = Path(who.output or plan.name)
    with stopped_in_order(folder), live_table() as watcher:
        answer = play_probe(
            plan,
            folder,
            sticky_probability=who.sticky,
            workers=who.workers or available_cores(),
            watcher=watcher,
        )
    show(render_probed_plan(answer), printing, folder=str(folder))
    if answer.failures:
        raise click.exceptions.Exit(SOME_FAILED)

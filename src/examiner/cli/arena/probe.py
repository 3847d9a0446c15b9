"""`examiner arena probe`: what sticky actions cost an agent, and whether it replays memorised actions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
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
    probe_plan,
)
from examiner.arena import probe as probe_job
from examiner.arena import protocol as named_protocol
from examiner.cli import ExitStatus
from examiner.cli.options import OUTPUT, WORKERS, Seeded, argument, find_modules_here, option
from examiner.cli.output import live_table, progress_bar, show
from examiner.cli.stopping import stopped_in_order
from examiner.messages import InputError, shorten
from examiner.reporting import render_probe, render_probed_plan
from examiner.workers import available_cores, map_processes


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
    setting: tuple[str, ...] = option(
        (), "A setting of the agent; may be repeated.", "--set", metavar="NAME=VALUE"
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


def probe(who: ProbeOptions, play: PlayOptions, printing: Seeded) -> None:
    """Measure what an agent loses to sticky actions, and whether replaying its actions gives its score."""
    if who.agent.endswith(".toml") or is_bundled(who.agent):
        _probe_plan(plan_of_frames(who.agent), who, printing)
        return
    if who.game is None:
        raise InputError(
            f"No game is named for {shorten(who.agent)}. Name one: `examiner arena probe AGENT GAME`."
        )
    find_modules_here(who.agent)
    with progress_bar("playing") as progress:
        answer = probe_job(
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


def _job(who: ProbeOptions, game: str, play: PlayOptions, seed: int) -> Job:
    changes = {} if play.cap is None else {"max_episode_frames": play.cap}
    return Job(
        who.agent,
        who.agent,
        settings=dict(_setting(text) for text in play.setting),
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
        answer = probe_plan(
            plan,
            folder,
            sticky_probability=who.sticky,
            workers=who.workers or available_cores(),
            watcher=watcher,
        )
    show(render_probed_plan(answer), printing, folder=str(folder))
    if len(answer.failed):
        raise click.exceptions.Exit(ExitStatus.SOME_JOBS_FAILED)

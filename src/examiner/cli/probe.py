"""`examiner probe`: what sticky actions cost an agent, and whether it plays by heart."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from examiner.arena.plans.file import is_bundled
from examiner.arena.plans.file import plan as named_plan
from examiner.arena.plans.plan import Plan
from examiner.arena.probe import probe as play_probe
from examiner.arena.protocol import Protocol
from examiner.arena.protocol import protocol as named_protocol
from examiner.cli.live import live_table
from examiner.cli.modules import find_modules_here
from examiner.cli.options import JsonFlag, SeedOption
from examiner.cli.output import print_json
from examiner.cli.probe_tables import plan_content, print_plan, print_probe, probe_content
from examiner.cli.progress import progress_bar
from examiner.wording import InputError, counted, shorten

if TYPE_CHECKING:
    from examiner.arena.play.job import Job

SOME_FAILED = 1
"""Exit code when some jobs of a plan failed."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How the agent is made and played."""

    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the agent; may be repeated."
        ),
    ] = None
    observation: Annotated[
        str, typer.Option("--observation", help="What the agent sees: raw, dqn84x4 or ram.")
    ] = "raw"
    environment: Annotated[
        str, typer.Option("--environment", help="Where the game is played: ale or gymnasium.")
    ] = "ale"
    protocol: Annotated[
        str, typer.Option("--protocol", metavar="NAME", help="Protocol, but for sticky actions.")
    ] = "machado-2018"
    cap: Annotated[
        int | None,
        typer.Option("--cap", metavar="FRAMES", help="Cut episodes off after so many frames."),
    ] = None
    episodes: Annotated[
        int | None, typer.Option("--episodes", help="Episodes a run [default: 1].")
    ] = None
    seeds: Annotated[int, typer.Option("--seeds", help="Runs without, and as many with.")] = 5
    replays: Annotated[
        int, typer.Option("--replays", help="How often each recorded episode is replayed.")
    ] = 2


NOT_WITH_A_PLAN = (*(one.name for one in fields(PlayOptions)), "seed")
"""Options that a plan states itself."""


def probe(
    context: typer.Context,
    play: PlayOptions,
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT|PLAN",
            help="An agent, module:factory, or a plan: a .toml file or a bundled one.",
        ),
    ],
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="The game to play.")] = None,
    sticky: Annotated[
        float, typer.Option("--sticky", help="Sticky-action probability ς to compare with 0.")
    ] = 0.25,
    frames: Annotated[
        int | None, typer.Option("--frames", help="Frames a run: how long a learner may learn.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder of a plan's two ledgers."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Local processes [default: one a core].")
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Say what an agent loses to sticky actions, and whether replaying its actions gives its score."""
    if agent.endswith(".toml") or is_bundled(agent):
        if game is not None:
            raise InputError(f"A plan names its games itself. Leave out {shorten(game)}.")
        unused = _given(context, NOT_WITH_A_PLAN)
        if unused:
            raise InputError(f"A plan says itself how it is played. Leave out {unused}.")
        _probe_plan(_with_frames(named_plan(agent), frames), sticky, output, workers, json)
        return
    if game is None:
        raise InputError(
            f"Say on which game {shorten(agent)} is probed: `examiner probe AGENT GAME`."
        )
    unused = _given(context, ("output",))
    if unused:
        raise InputError(f"Only a plan has ledgers to keep in a folder. Leave out {unused}.")
    find_modules_here(agent)
    job = _job(agent, game, play, frames, seed)
    with progress_bar("playing") as progress:
        found = play_probe(
            job,
            seeds=play.seeds,
            sticky_probability=sticky,
            replays=play.replays,
            map=_mapper(workers, progress),
        )
    if json:
        print_json("examiner.probe/1", probe_content(found) | {"seed": seed})
        return
    length = counted(frames, "frame") if frames else counted(play.episodes or 1, "episode")
    print_probe(found, f"{length} a run")


def _given(context: typer.Context, names: Collection[str]) -> str:
    """Those of the options that the user gave, even if with their default, as they are written."""
    return ", ".join(
        option.opts[0]
        for option in context.command.params
        if option.name in names and _was_given(context, option.name)
    )


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _job(agent: str, game: str, play: PlayOptions, frames: int | None, seed: int) -> Job:
    from examiner.arena.environments.games import playable_game
    from examiner.arena.play.job import Job

    return Job(
        agent,
        agent,
        settings=dict(_setting(one) for one in play.setting or ()),
        observation=play.observation,
        environment=play.environment,
        game=playable_game(game) if play.environment == "ale" else game,
        seed=seed,
        protocol=_protocol(play),
        episodes=play.episodes,
        frames=frames,
    )


def _protocol(play: PlayOptions) -> Protocol:
    changes = {} if play.cap is None else {"max_episode_frames": play.cap}
    return named_protocol(play.protocol, **changes)


def _setting(text: str) -> tuple[str, Any]:  # Any: a value of TOML
    """A setting as a plan would have it: NAME=VALUE, the value as in TOML or plain text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"The setting {shorten(text)} is not NAME=VALUE, for example budget=500.")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


def _mapper(workers: int | None, progress: Callable[[str, int, int], None]) -> Any:
    from examiner.workers import map_processes

    return partial(map_processes, processes=workers, progress=progress, stage="playing")


def _with_frames(plan: Plan, frames: int | None) -> Plan:
    """The plan at another budget: agents with frames of their own keep them."""
    from dataclasses import replace

    return plan if frames is None else replace(plan, frames=frames)


def _probe_plan(
    plan: Plan, sticky: float, output: str | None, workers: int | None, json: bool
) -> None:
    from examiner.workers import available_cores

    folder = Path(output or plan.name)
    with live_table() as watcher:
        found = play_probe(
            plan,
            folder,
            sticky_probability=sticky,
            workers=workers or available_cores(),
            watcher=watcher,
        )
    if json:
        told = {"folder": str(folder), "sticky_probability": sticky}
        print_json("examiner.probed-plan/1", told | plan_content(found, sticky))
    else:
        print_plan(found, sticky)
    if found.failed:
        raise typer.Exit(SOME_FAILED)

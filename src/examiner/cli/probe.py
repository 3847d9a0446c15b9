"""`examiner probe`: what sticky actions cost an agent, and whether it plays by heart."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from examiner.arena.plan import Plan
from examiner.arena.probe import (
    RANDOM_EPISODES,
    Contrast,
    Probe,
    ProbedPlan,
    ProbedVariant,
    probe_agent,
    probe_plan,
)
from examiner.arena.protocol import Protocol, named_protocol
from examiner.cli.live import live_table
from examiner.cli.modules import find_modules_here
from examiner.cli.options import JsonFlag, SeedOption
from examiner.cli.output import print_json, print_line, print_notes, print_table
from examiner.cli.plans import is_bundled, named_plan
from examiner.cli.progress import progress_bar
from examiner.results import InputError
from examiner.results.checks import counted, shorten

if TYPE_CHECKING:
    from examiner.arena.job import Job

SOME_FAILED = 1
"""Exit code when some jobs of a plan failed."""

PAPER = "machado-2018-table1"
"""The data set whose columns stand beside ours."""

Paper = Mapping[tuple[str, str], tuple[float, float]]


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
        found = probe_agent(
            job,
            seeds=play.seeds,
            sticky_probability=sticky,
            replays=play.replays,
            map=_mapper(workers, progress),
        )
    paper = _paper() if sticky == 0.25 else {}
    published = paper.get((_paper_name(found.agent), found.game))
    if json:
        print_json(
            "examiner.probe/1", _content(found) | {"paper": _beside(published), "seed": seed}
        )
        return
    _print(found, published, _length(play.episodes, frames))


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
    from examiner.arena.games import playable_game
    from examiner.arena.job import Job

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
    from examiner.workers.mapping import available_cores

    folder = Path(output or plan.name)
    with live_table() as watcher:
        found = probe_plan(
            plan,
            folder,
            sticky_probability=sticky,
            workers=workers or available_cores(),
            watcher=watcher,
        )
    paper = _paper() if sticky == 0.25 else {}
    if json:
        print_json("examiner.probed-plan/1", _plan_content(found, paper, folder, sticky))
    else:
        _print_plan(found, paper, sticky)
    if found.failed:
        raise typer.Exit(SOME_FAILED)


def _plan_content(found: ProbedPlan, paper: Paper, folder: Path, sticky: float) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "sticky_probability": sticky,
        "rows": [
            {**variant._asdict(), **_marked(asdict(contrast))}
            | {"paper": _beside(_published(paper, variant))}
            for variant, contrast in found.contrasts.items()
        ],
        "failed": [
            {
                **ProbedVariant.of_job(one.job)._asdict(),
                "seed": one.job.seed,
                "reason": one.reason,
            }
            for one in found.failed
        ],
    }


def _print_plan(found: ProbedPlan, paper: Paper, sticky: float) -> None:
    variants = list(found.contrasts)
    rows = []
    for variant, contrast in found.contrasts.items():
        beside = tuple(map(_number, _published(paper, variant) or ())) or (None, None)
        game = _game_shown(variant, variants)
        rows.append((variant.agent, game, *_cells(contrast), _runs(contrast), *beside))
    header = (
        "agent",
        "game",
        "ς = 0",
        f"ς = {sticky:g}",
        "loss",
        "runs",
        "paper, 0",
        "paper, 0.25",
    )
    print_table("Without and with sticky actions, 95 % intervals", header, rows, right=(5, 6, 7))
    _print_equal(list(found.contrasts.values()))
    print_notes(
        [
            f"{one.job.agent} on {_game_shown(ProbedVariant.of_job(one.job), variants)}, seed "
            f"{one.job.seed}, failed: {one.reason}"
            for one in found.failed
        ]
    )


def _game_shown(variant: ProbedVariant, variants: Sequence[ProbedVariant]) -> str:
    """The game, with its mode and difficulty where the game is played in several."""
    same_game = [one for one in variants if one.game == variant.game]
    parts = [
        f"{what} {getattr(variant, what)}"
        for what in ("mode", "difficulty")
        if len({getattr(one, what) for one in same_game}) > 1
    ]
    return ", ".join((variant.game, *parts))


def _runs(contrast: Contrast) -> str:
    """How many runs there are without and with sticky actions; one number where that is the same."""
    return " and ".join(
        dict.fromkeys(str(one.runs) for one in (contrast.deterministic, contrast.sticky))
    )


def _content(found: Probe) -> dict[str, Any]:  # Any: JSON values
    content = _marked(asdict(found))
    content["kept_known"] = math.isfinite(found.kept)
    return content


def _marked(content: dict[str, Any]) -> dict[str, Any]:  # Any: JSON values
    """Of runs that are all equal no interval can be had: null, with a flag beside."""
    if "mean" in content:
        equal = _equal(content)
        ends = {"low": None, "high": None} if equal else {}
        return content | ends | {"equal_runs": equal}
    return {
        name: _marked(value) if isinstance(value, dict) else value
        for name, value in content.items()
    }


def _length(episodes: int | None, frames: int | None) -> str:
    return f"{counted(frames, 'frame')} a run" if frames else _episodes(episodes or 1)


def _episodes(count: int) -> str:
    return f"{counted(count, 'episode')} a run"


def _print(found: Probe, published: tuple[float, float] | None, length: str) -> None:
    sticky = f"ς = {found.sticky_probability:g}"
    header: Sequence[str] = ("", "ς = 0", sticky, "loss")
    rows: list[tuple[str, ...]] = [
        (f"{found.agent}, {length}", *_cells(found.contrast)),
        (f"random play, {_episodes(RANDOM_EPISODES)}", *_cells(found.random)),
    ]
    if published is not None:
        rows.append(("the paper", *map(_number, published), _number(published[0] - published[1])))
    title = f"{found.agent} on {found.game}, {counted(found.seeds, 'run')} each, 95 % intervals"
    print_table(title, header, rows)
    _print_equal([found.contrast, found.random])
    advantage = _shown(asdict(found.advantage), "")
    if math.isfinite(found.kept):
        print_line(
            f"Of its advantage over random play, {advantage} with ς = 0, {100 * found.kept:.0f} % is left "
            f"with {sticky}."
        )
    else:
        print_line(f"It has no clear advantage over random play to lose: {advantage} with ς = 0.")
    replay = found.replay
    print_line(
        f"Replaying its recorded actions without looking gave the same score in {replay.reproduced} of "
        f"{counted(replay.replays, 'replay')} with ς = 0; with {sticky} they gave "
        f"{_shown(asdict(replay.sticky), '')} instead of {_shown(asdict(replay.recorded), '')}."
    )


def _cells(contrast: Contrast) -> tuple[str, str, str]:
    parts = (contrast.deterministic, contrast.sticky, contrast.loss)
    return tuple(_shown(asdict(one)) for one in parts)  # type: ignore[return-value]


def _shown(estimate: Mapping[str, float], if_equal: str = " (equal)") -> str:
    if math.isnan(estimate["mean"]):
        return "–"
    if math.isnan(estimate["low"]):
        return _number(estimate["mean"])
    if _equal(estimate):
        return _number(estimate["mean"]) + if_equal
    return f"{_number(estimate['mean'])} ± {_number(estimate['high'] - estimate['mean'])}"


def _equal(estimate: Mapping[str, float]) -> bool:
    return estimate["runs"] > 1 and estimate["low"] == estimate["high"]


def _print_equal(contrasts: Sequence[Contrast]) -> None:
    alike = [
        one.runs
        for contrast in contrasts
        for one in (contrast.deterministic, contrast.sticky, contrast.loss)
        if _equal(asdict(one))
    ]
    if alike:
        print_line(f"(equal): {min(alike)} equal runs, no interval")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _paper() -> Paper:
    from examiner.datasets import load

    columns: Any = load(PAPER).columns  # type: ignore[union-attr]
    names = ("agent", "game", "deterministic_mean", "sticky_mean")
    rows = zip(*(columns[name] for name in names), strict=True)
    return {(agent, game): (plain, noisy) for agent, game, plain, noisy in rows}


def _published(paper: Paper, variant: ProbedVariant) -> tuple[float, float] | None:
    """What the paper has for an agent and game, both as the paper played it: in the default variant."""
    from examiner.arena.games import game_variant

    published = paper.get((_paper_name(variant.agent), variant.game))
    if published is None or variant.mode is None:
        return None
    return published if variant[2:] == game_variant(variant.game) else None


def _paper_name(agent: str) -> str:
    return {"sarsa": "sarsa_blob_prost"}.get(agent, agent.replace("-", "_"))


def _beside(published: tuple[float, float] | None) -> dict[str, float] | None:
    return published and {"deterministic": published[0], "sticky": published[1]}

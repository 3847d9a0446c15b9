"""Plans as TOML files, or by the name of one that comes along: read, checked, and refused by their key."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from examiner.arena.agents import AGENTS
from examiner.arena.contract import check_settings
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import TRAINING_GAMES, playable_game, playable_games
from examiner.arena.environments.screens import OBSERVATIONS
from examiner.arena.gvgai.plan import ENVIRONMENT as GVGAI
from examiner.arena.gvgai.plan import GvgaiPlan, gvgai_plan
from examiner.arena.plan import (
    Count,
    DesignBudget,
    Evaluated,
    LimitsField,
    LimitsTable,
    Plan,
    PlannedAgent,
    PlannedGame,
    Seeds,
    Text,
    Variants,
    folder_name,
    listed_seeds,
)
from examiner.arena.protocol import Protocol, usual_protocol
from examiner.messages import InputError, shorten, unknown_name
from examiner.validation import Bounds, ShapeError, Wanted, from_record, read_outside

_MOST_BYTES = 4 * 2**20  # a plan of a page is a thousandth of it
_MOST_DOTS = 100  # in one key: a.b.c
_PIECES = re.compile(r"[=,{}\[\]\n]")
_Game = Annotated[
    str | PlannedGame, Wanted('a name, or a table such as { name = "pong", modes = [0, 1] }')
]
_GAMES = 'a list, for example ["pong"], or "all", or "training"'


@dataclass(frozen=True, slots=True)
class _PlanTable:
    """The keys of a plan's file, and what may stand under them."""

    agents: Annotated[
        tuple[PlannedAgent, ...],
        Bounds(1),
        Wanted('a table for each: [[agents]] with entry = "random" or entry = "module:factory"'),
    ]
    games: Annotated[
        Annotated[tuple[_Game, ...], Bounds(1)] | Literal["all", "training"], Wanted(_GAMES)
    ]
    modes: Variants | None = None
    difficulties: Variants | None = None
    seeds: Seeds = 1
    protocol: Annotated[
        str | Mapping[str, Any],  # Any: checked as settings of a protocol
        Wanted('a preset\'s name, or a table with preset = "machado-2018"'),
    ] = field(default_factory=dict)
    environment: Text = "ale"
    observation: Text = "raw"
    episodes: Count | None = None
    frames: Count | None = None
    tuning_games: (
        Annotated[tuple[str, ...], Wanted('a list of games, for example ["freeway"]')] | None
    ) = None
    limits: LimitsField = field(default_factory=LimitsTable)
    evaluated: Annotated[
        Evaluated, Wanted('a table, for example { modes = "all", difficulties = [0, 1] }')
    ] = field(default_factory=Evaluated)
    design: (
        Annotated[DesignBudget, Wanted("a table, for example { plays = 5000, held_out = [] }")]
        | None
    ) = None
    name: Text = ""


def bundled_plans() -> tuple[str, ...]:
    """Return the names of the plans that come with the package.

    >>> bundled_plans()
    ('atari-anchors', 'atari-arena', 'atari-arena-deterministic', 'atari-flavours', 'atari-table1',
     'design-atari', 'design-gymnasium', 'gvgai-002', 'gvgai-002-small', 'gvgai-004',
     'gvgai-004-small', 'gvgai-planners',
     'machado-2018-table1', 'machado-2018-table1-small')
    """
    names = (file.name for file in files("examiner.arena.plans").iterdir())
    return tuple(sorted(name[: -len(".toml")] for name in names if name.endswith(".toml")))


def is_bundled(source: str | Path) -> bool:
    """Say whether this names a bundled plan; a file of that name is `./NAME`.

    >>> is_bundled("atari-arena"), is_bundled("random")
    (True, False)
    """
    return str(source) in bundled_plans()


def plan(source: str | Path) -> Plan | GvgaiPlan:
    """Read a plan from its file, or by the name of a bundled one; what is wrong is said with its key.

    >>> plan("machado-2018-table1").seeds[-1]
    23
    >>> plan("atari-arean")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown plan 'atari-arean'. Did you mean 'atari-arena'? Known: ...
    """
    path, name = Path(source), str(source)
    if is_bundled(name):
        text = files("examiner.arena.plans").joinpath(f"{name}.toml").read_text(encoding="utf-8")
        return plan_from_toml(text, name=name)
    if path.name == name and not path.suffix and not path.exists():
        raise unknown_name("plan", name, bundled_plans())
    try:
        # Some editors mark UTF-8 at the beginning, and some end lines in two letters.
        data = read_outside(path, _MOST_BYTES, "plan").decode("utf-8-sig")
        text = data.replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError(
            f"{shorten(path, 200)} is not UTF-8 text. Save the plan as UTF-8."
        ) from None
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shorten(path, 200)} cannot be a path. Check its letters.") from None
    except OSError as problem:
        raise InputError(
            f"Cannot read the plan {shorten(path, 200)}: {problem.strerror}. Check the path."
        ) from None
    return plan_from_toml(text, name=path.stem, folder=path.absolute().parent)


def plan_of_frames(source: str | Path) -> Plan:
    """Read a plan whose games are played frame by frame here: of Atari or Gymnasium, not of GVGAI.

    >>> plan_of_frames("atari-arena").environment
    'ale'
    """
    found = plan(source)
    if isinstance(found, GvgaiPlan):
        raise InputError(
            f"The plan {shorten(found.name)} is played inside GVGAI, which has no sticky actions. Give a "
            f"plan of Atari or Gymnasium games."
        )
    return found


def plan_from_toml(
    source: str, *, name: str = "plan", folder: Path | None = None
) -> Plan | GvgaiPlan:
    """Understand the text of a plan.

    >>> text = 'games = ["pong"]\\nepisodes = 2\\n[[agents]]\\nentry = "random"'
    >>> plan_from_toml(text, name="pilot")
    Plan('pilot': 1 agent × 1 game × 1 seed under machado-2018)
    >>> plan_from_toml('games = ["pong"]\\nseedz = 3')
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown key of the plan 'seedz'. Did you mean 'seeds'? Known: ...
    """
    table = _table(source)
    if table.get("environment") == GVGAI:
        return gvgai_plan(table, source, name=name, folder=folder)
    given = from_record(_PlanTable, table, strict=True, what="plan")
    _check_known("environment", given.environment, (*ENVIRONMENTS, GVGAI))
    _check_known("observation", given.observation, OBSERVATIONS)
    names: set[str] = set()
    for index, agent in enumerate(given.agents):
        _check_agent(agent, f"agents[{index}]", names, folder)
        names.add(agent.name)
    return Plan(
        agents=given.agents,
        games=_games(given),
        seeds=listed_seeds(given.seeds),
        protocol=_protocol(given),
        environment=given.environment,
        observation=given.observation,
        episodes=given.episodes,
        frames=given.frames,
        tuning_games=_tuning_games(given),
        limits=given.limits.limits,
        name=folder_name(given.name or name),
        source=source,
        folder=folder,
        evaluated=given.evaluated,
        design=given.design,
    )


def _table(source: str) -> Mapping[str, Any]:  # Any: TOML values
    try:
        if any(piece.count(".") > _MOST_DOTS for piece in _PIECES.split(source)):
            raise RecursionError  # each part of a long key is looked up from the first on
        return tomllib.loads(source)
    except RecursionError:
        raise InputError("The plan is nested too deeply for any plan. Correct it.") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"The plan is not TOML: {problem}. Correct that place.") from None
    except ValueError:  # Python puts no more than 4,300 digits into a number
        raise InputError(
            "The plan holds a number of too many digits for any plan. Correct it."
        ) from None


def _check_known(path: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise InputError(f"{path}: {unknown_name(path.rpartition('.')[2], name, known)}")


def _check_agent(
    agent: PlannedAgent, where: str, before: Collection[str], folder: Path | None
) -> None:
    _check_entry(agent.entry, where, folder)
    if agent.entry in AGENTS:  # settings of other agents are their factory's matter
        try:
            check_settings(agent.entry, AGENTS[agent.entry], agent.settings)
        except InputError as problem:
            raise InputError(f"{where}.settings: {problem}") from None
    if agent.observation is not None:
        _check_known(f"{where}.observation", agent.observation, OBSERVATIONS)
    if agent.name in before:
        raise InputError(
            f"Two agents are called {shorten(agent.name)}: {where}.name must be another, so that results "
            f"can tell them apart."
        )


def _check_entry(entry: str, where: str, folder: Path | None) -> None:
    module, colon, factory = entry.partition(":")
    if not colon:
        if entry not in AGENTS:
            near = unknown_name("agent", entry, AGENTS)
            raise InputError(f'{where}.entry: {near} An agent of your own is "module:factory".')
        return
    if not module or not factory:
        wanted = '"module:factory", for example "my_agents:make"'
        raise ShapeError(f"{where}.entry", f"is {shorten(entry)}", wanted, "plan")
    root = module.partition(".")[0]
    if folder is not None and any((folder / f"{root}{end}").exists() for end in (".py", "")):
        return
    try:
        found = root in sys.modules or importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise InputError(
            f"{where}.entry: there is no module {shorten(root)}, neither beside the plan nor installed. "
            f"Put its file beside the plan, or its folder on PYTHONPATH."
        )


def _games(given: _PlanTable) -> tuple[PlannedGame, ...]:
    listed = given.games
    if isinstance(listed, str):
        if given.environment != "ale":
            raise ShapeError(
                "games", f"is {shorten(listed)}", 'a list such as ["CartPole-v1"]', "plan"
            )
        listed = playable_games() if listed == "all" else TRAINING_GAMES
    games: dict[str, PlannedGame] = {}
    for index, game in enumerate(listed):
        game = PlannedGame(game) if isinstance(game, str) else game
        name = _game(game.name, f"games[{index}]", given.environment)
        if name in games:
            raise InputError(f"games[{index}]: the game {shorten(name)} is listed twice. Keep one.")
        games[name] = PlannedGame(
            name, game.modes or given.modes, game.difficulties or given.difficulties
        )
    return tuple(games.values())


def _game(name: str, where: str, environment: str) -> str:
    """The id of an Atari game under any of its names; elsewhere the name as it is."""
    if environment != "ale":
        return name
    try:
        return playable_game(name)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None


def _protocol(given: _PlanTable) -> Protocol:
    changes = {"preset": given.protocol} if isinstance(given.protocol, str) else given.protocol
    try:
        return Protocol.from_dict({"preset": usual_protocol(given.environment)} | dict(changes))
    except InputError as problem:
        raise InputError(f"protocol: {problem}") from None


def _tuning_games(given: _PlanTable) -> tuple[str, ...]:
    if given.tuning_games is None:
        return TRAINING_GAMES if given.environment == "ale" else ()
    return tuple(
        _game(name, f"tuning_games[{index}]", given.environment)
        for index, name in enumerate(given.tuning_games)
    )

"""Plans as TOML files, or by the name of one that comes along: read, checked, and refused by their key."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from examiner.arena.agents import AGENTS
from examiner.arena.contract import check_settings
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import TRAINING_GAMES, playable_game, playable_games
from examiner.arena.environments.screens import OBSERVATIONS
from examiner.arena.gvgai.plan import ENVIRONMENT as GVGAI
from examiner.arena.gvgai.plan import GvgaiPlan, gvgai_plan
from examiner.arena.plan import MOST_JOBS, Plan, PlannedAgent
from examiner.arena.protocol import Protocol, usual_protocol
from examiner.messages import InputError, shorten, unknown_name
from examiner.validation import ShapeError, from_record, read_outside

_MOST_BYTES = 4 * 2**20  # a plan of a page is a thousandth of it
_PIECES = re.compile(r"[=,{}\[\]\n]")


def bundled_plans() -> tuple[str, ...]:
    """Return the names of the plans that come with the package.

    >>> bundled_plans()
    ('atari-anchors', 'atari-arena', 'atari-arena-deterministic', 'atari-flavours', 'atari-table1',
     'design-atari', 'design-gvgai', 'design-gymnasium', 'gvgai-002', 'gvgai-002-small',
     'gvgai-004', 'gvgai-004-small', 'gvgai-planners',
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


def plan(
    source: Plan | GvgaiPlan | str | Path, *, checkout: str | Path | None = None
) -> Plan | GvgaiPlan:
    """Read a plan from its file, or by the name of a bundled one; what is wrong is said with its key.

    `checkout` is a folder with the GVGAI framework, for a plan of its games that names none or another.

    >>> plan("machado-2018-table1").seeds[-1]
    23
    >>> plan("atari-arean")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown plan 'atari-arean'. Did you mean 'atari-arena'? Known: ...
    """
    planned = _read_plan(source) if isinstance(source, str | Path) else source
    if checkout is None:
        return planned
    if not isinstance(planned, GvgaiPlan):
        raise InputError(
            f"The plan {shorten(planned.name)} plays no GVGAI games. Leave out the checkout."
        )
    return replace(planned, checkout=Path(checkout))


def _read_plan(source: str | Path) -> Plan | GvgaiPlan:
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


def plan_of_frames(source: Plan | GvgaiPlan | str | Path) -> Plan:
    """Read a plan whose games are played frame by frame here: of Atari or Gymnasium, not of GVGAI.

    >>> plan_of_frames("atari-arena").environment
    'ale'
    """
    planned = plan(source)
    if isinstance(planned, GvgaiPlan):
        raise InputError(
            f"The plan {shorten(planned.name)} is played inside GVGAI, which has no sticky actions. Give a "
            f"plan of Atari or Gymnasium games."
        )
    return planned


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
    table: dict[str, Any] = _with_seeds({"name": name, **_table(source)})  # Any: TOML values
    plan: Plan | GvgaiPlan
    if table.get("environment") == GVGAI:
        plan = gvgai_plan(table, folder)
    else:
        plan = _plan_of_frames(table, folder)
    # A terminal obeys what cannot be printed, also in the name of a folder that somebody lists.
    own = plan.name
    if own in (".", "..") or not own.isprintable() or any(letter in own for letter in "/\\"):
        wanted = "a name without slashes and control characters: it becomes the name of a folder"
        raise ShapeError("name", f"is {shorten(own)}", wanted, "plan")
    return replace(plan, source=source, folder=folder)


def _table(source: str) -> Mapping[str, Any]:  # Any: TOML values
    try:
        # Each part of a long key, a.b.c, is looked up from the first on.
        if any(piece.count(".") > 100 for piece in _PIECES.split(source)):
            raise RecursionError
        return tomllib.loads(source)
    except RecursionError:
        raise InputError("The plan is nested too deeply for any plan. Correct it.") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"The plan is not TOML: {problem}. Correct that place.") from None
    except ValueError:  # Python puts no more than 4,300 digits into a number
        raise InputError(
            "The plan holds a number of too many digits for any plan. Correct it."
        ) from None


def _with_seeds(table: Any) -> Any:  # Any: a TOML table, or something else in its place
    """The table with as many seeds as it says, from 0 on, where it has no list of them."""
    seeds = table.get("seeds") if isinstance(table, dict) else None
    if type(seeds) is int and 1 <= seeds <= MOST_JOBS:
        return {**table, "seeds": list(range(seeds))}
    return table


def _plan_of_frames(table: dict[str, Any], folder: Path | None) -> Plan:  # Any: TOML values
    environment = table.get("environment", "ale")
    if isinstance(environment, str):
        _check_known("environment", environment, (*ENVIRONMENTS, GVGAI))
    table["protocol"] = _protocol(table.get("protocol", {}), str(environment))
    if "games" in table:
        table["games"] = _named_games(table["games"], str(environment))
    if isinstance(table.get("agents"), list):
        table["agents"] = [_with_seeds(agent) for agent in table["agents"]]
    plan = from_record(Plan, table, strict=True, what="plan")
    _check_known("observation", plan.observation, OBSERVATIONS)
    names: set[str] = set()
    for index, agent in enumerate(plan.agents):
        _check_agent(agent, f"agents[{index}]", names, folder)
        names.add(agent.name)
    if environment != "ale":
        _refuse_doubles([game.name for game in plan.games])
        return plan
    games = [_game_id(game.name, f"games[{index}]") for index, game in enumerate(plan.games)]
    _refuse_doubles(games)
    return replace(
        plan,
        games=tuple(replace(game, name=name) for game, name in zip(plan.games, games, strict=True)),
        tuning_games=tuple(
            _game_id(name, f"tuning_games[{index}]") for index, name in enumerate(plan.tuning_games)
        ),
    )


def _named_games(listed: Any, environment: str) -> Any:  # Any: TOML values
    """The list of games that a word stands for, with a table for each."""
    if listed in ("all", "training"):
        if environment != "ale":
            wanted = 'a list such as ["CartPole-v1"]'
            raise ShapeError("games", f"is {shorten(listed)}", wanted, "plan")
        listed = list(playable_games() if listed == "all" else TRAINING_GAMES)
    if not isinstance(listed, list):
        return listed
    return [{"name": game} if isinstance(game, str) else game for game in listed]


def _game_id(name: str, where: str) -> str:
    """The id of an Atari game under any of its names."""
    try:
        return playable_game(name)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None


def _refuse_doubles(games: list[str]) -> None:
    for index, name in enumerate(games):
        if name in games[:index]:
            raise InputError(f"games[{index}]: the game {shorten(name)} is listed twice. Keep one.")


def _protocol(given: Any, environment: str) -> Protocol:  # Any: a TOML value
    if not isinstance(given, str | Mapping):
        wanted = 'a preset\'s name, or a table with preset = "machado-2018"'
        raise ShapeError("protocol", f"is {shorten(given)}", wanted, "plan")
    changes = {"preset": given} if isinstance(given, str) else given
    try:
        return Protocol.from_dict({"preset": usual_protocol(environment), **changes})
    except InputError as problem:
        raise InputError(f"protocol: {problem}") from None


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
        exists = root in sys.modules or importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        exists = False
    if not exists:
        raise InputError(
            f"{where}.entry: there is no module {shorten(root)}, neither beside the plan nor installed. "
            f"Put its file beside the plan, or its folder on PYTHONPATH."
        )

"""A plan as a TOML file: read, checked key by key, and refused with the key's name."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from examiner.arena.agents import AGENTS
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import TRAINING_GAMES, playable_game, playable_games
from examiner.arena.plans.plan import (
    SILENT_SECONDS,
    Plan,
    PlannedAgent,
    PlannedGame,
    all_difficulties,
    all_modes,
    no_variants,
)
from examiner.arena.plans.values import (
    Table,
    choice_of,
    count_of,
    is_whole,
    known_keys,
    text_of,
    wrong_value,
)
from examiner.arena.play.job import OBSERVATIONS
from examiner.arena.protocol import PROTOCOLS, REFERENCE, SETTINGS, Protocol
from examiner.wording import InputError, shorten, unknown_name
from examiner.workers import Limits

PLAN_KEYS = (
    *("name", "agents", "games", "modes", "difficulties", "seeds", "protocol", "environment"),
    *("observation", "episodes", "frames", "tuning_games", "limits"),
)
AGENT_KEYS = ("name", "entry", "settings", "observation", "episodes", "frames")
GAME_KEYS = ("name", "modes", "difficulties")
LIMIT_KEYS = ("job_seconds", "silent_seconds", "memory_mib")
_MOST_SEEDS = 1_000_000
_MOST_OF_A_LIMIT = 1e12


def plan(path: str | Path) -> Plan:
    """Read a plan; what is wrong is said with the key it stands under.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pilot.toml"
    >>> _ = path.write_text('games = ["pong"]\\nepisodes = 2\\n[[agents]]\\nentry = "random"')
    >>> pilot = plan(path)
    >>> pilot.name, pilot.agents[0].name, pilot.seeds
    ('pilot', 'random', (0,))
    """
    path = Path(path)
    try:
        source = path.read_text(encoding="utf-8-sig")  # some editors mark UTF-8 at the beginning
    except UnicodeDecodeError:
        raise InputError(
            f"{shorten(path, 200)} is not UTF-8 text. Save the plan as UTF-8."
        ) from None
    except OSError as problem:
        raise InputError(
            f"Cannot read the plan {shorten(path, 200)}: {problem.strerror}. Check the path."
        ) from None
    return plan_from_toml(source, name=path.stem, folder=path.absolute().parent)


def plan_from_toml(source: str, *, name: str = "plan", folder: Path | None = None) -> Plan:
    """Understand the text of a plan.

    >>> plan_from_toml('games = ["pong"]\\nseedz = 3')
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown key of the plan 'seedz'. Did you mean 'seeds'? Known: ...
    """
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"The plan is not TOML: {problem}. Correct that place.") from None
    known_keys(table, PLAN_KEYS, "key of the plan")
    environment = choice_of(table, "environment", ENVIRONMENTS, "ale")
    games = _games(table, environment)
    return Plan(
        agents=_agents(table, folder),
        games=games,
        seeds=_seeds(table.get("seeds", 1)),
        protocol=_protocol(table.get("protocol", {}), environment),
        environment=environment,
        episodes=count_of(table, "episodes"),
        frames=count_of(table, "frames"),
        tuning_games=_tuning_games(table, environment),
        limits=_limits(table.get("limits", {})),
        name=_name(table, name),
        source=source,
        folder=folder,
    )


def _name(table: Table, default: str) -> str:
    name = text_of(table, "name", default)
    if name in (".", "..") or any(one in name for one in "/\\\0"):
        raise wrong_value("name", name, "a name without slashes: it becomes the name of a folder")
    return name


def _agents(table: Table, folder: Path | None) -> tuple[PlannedAgent, ...]:
    given = table.get("agents", [])
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise InputError(
            'The plan has no agents. Add a table for each: [[agents]] with entry = "random" or '
            'entry = "module:factory".'
        )
    usual = choice_of(table, "observation", OBSERVATIONS, "raw")
    agents: dict[str, PlannedAgent] = {}
    for place, one in enumerate(given):
        where = f"agents[{place}]"
        known_keys(one, AGENT_KEYS, f"key of {where}")
        entry = text_of(one, "entry", None, where)
        _check_entry(entry, where, folder)
        settings = one.get("settings", {})
        if not isinstance(settings, dict):
            raise wrong_value(
                f"{where}.settings", settings, "a table, for example { epsilon = 0.05 }"
            )
        _check_settings(entry, settings, where)
        name = text_of(one, "name", entry, where)
        if name in agents:
            raise InputError(
                f"Two agents are called {shorten(name)}: {where}.name must be another, so that results "
                f"can tell them apart."
            )
        agents[name] = PlannedAgent(
            name,
            entry,
            settings,
            choice_of(one, "observation", OBSERVATIONS, usual, where),
            count_of(one, "episodes", where),
            count_of(one, "frames", where),
        )
    return tuple(agents.values())


def _check_entry(entry: str, where: str, folder: Path | None) -> None:
    module, colon, factory = entry.partition(":")
    if not colon:
        if entry not in AGENTS:
            near = unknown_name("agent", entry, AGENTS)
            raise InputError(f'{where}.entry: {near} An agent of your own is "module:factory".')
        return
    if not module or not factory:
        raise wrong_value(f"{where}.entry", entry, '"module:factory", for example "my_agents:make"')
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


def _check_settings(entry: str, settings: Table, where: str) -> None:
    """Settings of the agents that come with examiner; those of others are their factory's matter."""
    if entry not in AGENTS:
        return
    signature = inspect.signature(AGENTS[entry])
    known = signature.parameters
    if settings and not known:
        raise InputError(f"{where}.settings: the agent {shorten(entry)} has none. Leave them out.")
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        known_keys(settings, tuple(known), f"setting of {where} ({entry})")
    try:
        signature.bind(**settings)
    except TypeError as problem:
        raise InputError(
            f"{where}.settings: {problem}. The agent {shorten(entry)} takes "
            f"{signature.replace(return_annotation=signature.empty)}."
        ) from None


def _games(table: Table, environment: str) -> tuple[PlannedGame, ...]:
    given = table.get("games", [])
    if given in ("all", "training") and environment == "ale":
        given = list(playable_games() if given == "all" else TRAINING_GAMES)
    if not isinstance(given, list) or not given:
        raise wrong_value("games", given, 'a list, for example ["pong"], or "all", or "training"')
    games: dict[str, PlannedGame] = {}
    for place, one in enumerate(given):
        where = f"games[{place}]"
        if isinstance(one, str):
            one = {"name": one}
        if not isinstance(one, dict):
            raise wrong_value(
                where, one, 'a name, or a table such as { name = "pong", modes = [0, 1] }'
            )
        known_keys(one, GAME_KEYS, f"key of {where}")
        name = text_of(one, "name", None, where)
        name = _named(name, where) if environment == "ale" else name
        if name in games:
            raise InputError(f"{where}: the game {shorten(name)} is listed twice. Keep one.")
        merged = {key: one.get(key, table.get(key)) for key in ("modes", "difficulties")}
        if environment != "ale" and "all" in merged.values():
            raise no_variants(name, environment)
        games[name] = PlannedGame(
            name,
            _variants(merged["modes"], f"{where}.modes", partial(all_modes, name)),
            _variants(
                merged["difficulties"], f"{where}.difficulties", partial(all_difficulties, name)
            ),
        )
    return tuple(games.values())


def _named(name: str, where: str) -> str:
    try:
        return playable_game(name)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None


def _variants(
    given: object, where: str, every: Callable[[], tuple[int, ...]]
) -> tuple[int, ...] | None:
    if given is None:
        return None
    if given == "all":
        return every()
    if isinstance(given, list) and given and all(is_whole(one, 0) for one in given):
        return tuple(dict.fromkeys(given))
    raise wrong_value(where, given, 'a list of whole numbers, or "all"')


def _seeds(given: object) -> tuple[int, ...]:
    if is_whole(given, 1) and given <= _MOST_SEEDS:
        return tuple(range(given))
    if isinstance(given, list) and given and all(is_whole(one, 0) for one in given):
        return tuple(dict.fromkeys(given))
    raise wrong_value(
        "seeds", given, f"how many there are, up to {_MOST_SEEDS:,}, or a list such as [0, 1, 2]"
    )


def _protocol(given: object, environment: str) -> Protocol:
    if isinstance(given, str):
        given = {"preset": given}
    if not isinstance(given, dict):
        raise wrong_value(
            "protocol", given, 'a preset\'s name, or a table with preset = "machado-2018"'
        )
    known_keys(given, ("preset", *SETTINGS), "key of protocol")
    try:
        usual = environment if environment in PROTOCOLS else REFERENCE
        return Protocol.from_dict({"preset": usual} | given)
    except InputError as problem:
        raise InputError(f"protocol: {problem}") from None
    except TypeError as problem:
        raise InputError(f"protocol: {problem}. Check the types of its values.") from None


def _tuning_games(table: Table, environment: str) -> tuple[str, ...]:
    given = table.get("tuning_games")
    if given is None:
        return TRAINING_GAMES if environment == "ale" else ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise wrong_value("tuning_games", given, 'a list of games, for example ["freeway"]')
    if environment != "ale":
        return tuple(given)
    return tuple(_named(one, f"tuning_games[{place}]") for place, one in enumerate(given))


def _limits(given: object) -> Limits:
    if not isinstance(given, dict):
        raise wrong_value("limits", given, "a table, for example { job_seconds = 3600 }")
    known_keys(given, LIMIT_KEYS, "key of limits")
    for key in LIMIT_KEYS:
        value = given.get(key, 1)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 < value < _MOST_OF_A_LIMIT:
            raise wrong_value(
                f"limits.{key}", value, f"a number above 0 and below {_MOST_OF_A_LIMIT:g}"
            )
    memory = given.get("memory_mib")
    return Limits(
        seconds=given.get("job_seconds"),
        silent_seconds=given.get("silent_seconds", SILENT_SECONDS),
        memory_bytes=None if memory is None else int(memory * 2**20),
    )

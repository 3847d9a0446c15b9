"""Atari games that can be played: which, in which modes and difficulties, and which are for tuning."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, Literal, NamedTuple

from examiner.arena.contract import extra_package
from examiner.messages import InputError, listed, nearest, shorten
from examiner.results import atari_game, atari_games

TRAINING_GAMES = ("asterix", "beam_rider", "freeway", "seaquest", "space_invaders")
"""The games Bellemare et al. (2013) tuned agents on; all others are for testing (papers/001, section 2)."""

UNSAFE_GAMES: Mapping[str, str] = MappingProxyType(
    {
        "combat": "it is for two players, and loading it ends the process",
        "joust": "ale-py has no settings for a single player",
        "maze_craze": "ale-py has no settings for a single player",
        "warlords": "ale-py has no settings for a single player",
    }
)
"""Games inside ale-py that are never loaded, and why."""


@dataclass(frozen=True, slots=True)
class Variants:
    """The modes and difficulties of a game for one player, and its defaults."""

    modes: tuple[int, ...]
    difficulties: tuple[int, ...]
    default_mode: int
    default_difficulty: int


def playable_games() -> tuple[str, ...]:
    """Return the games that can be played alone.

    >>> len(playable_games()), "combat" in playable_games()
    (104, False)
    """
    return tuple(game for game in atari_games() if game not in UNSAFE_GAMES)


def playable_game(name: str) -> str:
    """Return the id of a game under any of its names, or refuse it with the reason.

    >>> playable_game("ALE/SpaceInvaders-v5")
    'space_invaders'
    >>> playable_game("combat")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The game 'combat' cannot be played: it is for two \
players, and loading it ends the process. 104 games can be: 'adventure', 'air_raid', ...
    """
    game = atari_game(name)
    if game is not None and game not in UNSAFE_GAMES:
        return game
    games = playable_games()
    can_be = f"{len(games)} games can be: {listed(games, limit=len(games))}."
    if game is not None:
        raise InputError(
            f"The game {shorten(name)} cannot be played: {UNSAFE_GAMES[game]}. {can_be}"
        )
    hint = nearest(name.lower(), games)
    raise InputError(f"Unknown Atari game {shorten(name)}. {hint}{can_be}")


def game_split(game: str) -> Literal["train", "test"]:
    """Say whether settings may be tuned on a game.

    >>> game_split("asterix"), game_split("pong")
    ('train', 'test')
    """
    return "train" if atari_game(game) in TRAINING_GAMES else "test"


def ale_package() -> ModuleType:
    """Return ale-py, quiet, with its `roms`.

    >>> ale_package().__name__
    'ale_py'
    """
    ale = extra_package("ale_py", "Playing Atari games needs ale-py")
    importlib.import_module("ale_py.roms")
    ale.ALEInterface.setLoggerMode(ale.LoggerMode.Error)
    return ale


@cache
def game_variants(game: str) -> Variants:
    """Return the modes and difficulties of a game, as the installed ale-py has them.

    >>> game_variants("freeway")
    Variants(modes=(0, 1, 2, 3, 4, 5, 6, 7), difficulties=(0, 1), default_mode=0, default_difficulty=0)
    """
    name = playable_game(game)  # before anything is loaded: some games end the process
    ale = ale_package()
    emulator = ale.ALEInterface()
    emulator.loadROM(ale.roms.get_rom_path(name))
    return variants_of(emulator)


def variants_of(
    emulator: Any,
) -> Variants:  # an ale_py.ALEInterface, which comes only with an extra
    """Return the modes and difficulties of the game that was just loaded."""
    state = emulator.cloneState()
    modes = tuple(sorted(emulator.getAvailableModes()))
    difficulties = tuple(sorted(emulator.getAvailableDifficulties()))
    mode, difficulty = int(state.getCurrentMode()), int(state.getDifficulty())
    return Variants(
        modes=modes,
        difficulties=difficulties,
        # Some games are loaded in a setting they do not have: backgammon at difficulty 0 of only 3.
        default_mode=mode if mode in modes else modes[0],
        default_difficulty=difficulty if difficulty in difficulties else difficulties[0],
    )


class Variant(NamedTuple):
    """A mode and a difficulty that a game has."""

    mode: int
    difficulty: int


def game_variant(game: str, mode: int | None = None, difficulty: int | None = None) -> Variant:
    """Return a mode and a difficulty after checking that the game has them; None is its default.

    >>> game_variant("freeway", mode=3)
    Variant(mode=3, difficulty=0)
    >>> game_variant("freeway", mode=8)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The game 'freeway' has no mode 8. It has 0, 1, 2, 3, 4, 5, 6, 7.
    """
    return chosen_variant(game, game_variants(playable_game(game)), mode, difficulty)


def chosen_variant(game: str, known: Variants, mode: int | None, difficulty: int | None) -> Variant:
    """Return a mode and a difficulty after checking that they are known; None is the default."""
    mode = known.default_mode if mode is None else mode
    difficulty = known.default_difficulty if difficulty is None else difficulty
    for what, value, valid in (
        ("mode", mode, known.modes),
        ("difficulty", difficulty, known.difficulties),
    ):
        if value not in valid:
            raise InputError(
                f"The game {shorten(game)} has no {what} {value!r}. "
                f"It has {', '.join(map(str, valid))}."
            )
    return Variant(mode, difficulty)

"""Atari games under their many names: all of them lead to the id that ale-py uses."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType

from examiner.messages import counted, shorten

_ENVIRONMENT = re.compile(r"(-ram)?(noframeskip|deterministic)?-v\d+$")
_PREFIX = re.compile(r"^(?:ale/|atari[_/-])")
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


@cache
def atari_games() -> tuple[str, ...]:
    """Return the ids of all games that ale-py knows.

    >>> len(atari_games()), atari_games()[:2]
    (108, ('adventure', 'air_raid'))
    """
    return tuple(dict.fromkeys(_ids_by_letters().values()))


@lru_cache(maxsize=65_536)  # leaderboards have a million items, whose names need not stay in memory
def atari_game(name: str) -> str | None:
    """Return the ale-py id of an Atari game, or None where the name is no Atari game.

    Case, blanks and punctuation do not matter; `ALE/` or `atari_` in front and the endings of environments
    (`NoFrameskip-v4`, `Deterministic-v4`, `-ram-v0`, `-v5`) are left out.

    >>> [atari_game(name) for name in ("SpaceInvadersNoFrameskip-v4", "ALE/SpaceInvaders-v5", "H.E.R.O")]
    ['space_invaders', 'space_invaders', 'hero']
    >>> atari_game("Montezuma's Revenge"), atari_game("Up and Down"), atari_game("CartPole-v1")
    ('montezuma_revenge', 'up_n_down', None)
    """
    bare = name.strip().lower()
    if "-v" in bare:
        bare = _ENVIRONMENT.sub("", bare)
    return _ids_by_letters().get(_letters(_PREFIX.sub("", bare)))


def matched(names: Iterable[str], known: Sequence[str]) -> tuple[int | None, ...]:
    """Return the row of each name among those known, the first under its own name, else as a game.

    >>> matched(["pong", "ALE/Pong-v5", "chess"], ["go", "Pong", "pong"])
    (2, 1, None)
    """
    rows: dict[str, int] = {}
    games: dict[str, int] = {}
    for row, name in enumerate(known):
        rows.setdefault(name, row)
        game = atari_game(name)
        if game is not None:
            games.setdefault(game, row)
    if not games:
        return tuple(rows.get(name) for name in names)
    return tuple(rows.get(name, games.get(atari_game(name) or "")) for name in names)


def recognition_notes(names: Sequence[str]) -> tuple[str, ...]:
    """Say that names were taken for Atari games; nothing where there are none.

    >>> recognition_notes(["Space Invaders"])
    ("1 task name was recognised as an Atari game, for example 'Space Invaders' as 'space_invaders'.",)
    """
    if not names:
        return ()
    # The name that changed most says best what was done.
    shown = max(names, key=lambda name: len(name) - len(atari_game(name) or name))
    were = (
        "was recognised as an Atari game" if len(names) == 1 else "were recognised as Atari games"
    )
    return (
        f"{counted(len(names), 'task name')} {were}, for example {shorten(shown)} as "
        f"{atari_game(shown)!r}.",
    )


def _letters(name: str) -> str:
    return name if name.isalnum() else _NOT_IN_A_NAME.sub("", name)


@cache
def _ids_by_letters() -> Mapping[str, str]:
    text = files("examiner.results").joinpath("atari_games.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    ids: dict[str, str] = {}
    for row in csv.DictReader(lines):
        for name in (row["id"], *row["aliases"].split("|")):
            if name:
                ids[_letters(name.lower())] = row["id"]
    return MappingProxyType(ids)

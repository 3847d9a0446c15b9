"""Labels people read, of items and of things without names, and patterns of labels that they write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.checking import check_names
from examiner.results.atari import atari_game
from examiner.wording import InputError, listed, shorten


def item_labels(items: Sequence[tuple[object, ...]]) -> tuple[str, ...]:
    """Label each item `task.level…`; where that is ambiguous, with the whole tuple as JSON.

    >>> item_labels([("freeway", 0), ("freeway", 1)])
    ('freeway.0', 'freeway.1')
    >>> item_labels([("a", "1.2"), ("a.1", "2")])
    ('["a", "1.2"]', '["a.1", "2"]')
    """
    labels = tuple(".".join(str(part) for part in item) for item in items)
    if len(set(labels)) == len(labels):
        return labels
    return tuple(json.dumps([str(part) for part in item], ensure_ascii=False) for item in items)


def numbered_names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    """Return the names given, checked, or `what 1`, `what 2`, … where there are none.

    >>> numbered_names(None, 2, "agent")
    ('agent 1', 'agent 2')
    """
    if names is None:
        return tuple(f"{what} {number}" for number in range(1, count + 1))
    if len(names) != count:
        raise InputError(f"{len(names)} {what} names for {count} {what}s. Give one each.")
    return check_names([str(name) for name in names], what)


def parsed_pattern(text: str) -> tuple[Literal["agent", "task"], str]:
    """Understand a pattern of agents or tasks: what it is of, and the glob.

    >>> parsed_pattern("task:space_*")
    ('task', 'space_*')
    """
    kind, _, glob = text.partition(":")
    if kind not in ("agent", "task") or not glob:
        raise InputError(
            f"Cannot tell what {shorten(text)} means. Write `agent:GLOB` or `task:GLOB`, "
            f"for example `task:space_*`."
        )
    return ("agent" if kind == "agent" else "task"), glob


def labels_like(
    globs: Sequence[str], labels: Sequence[str], games: Sequence[str] = ()
) -> NDArray[np.bool_]:
    """Tell which labels are like any of some globs; a game's name stands for all its items.

    `games` are the tasks of labels that are items: they match under any name of the same Atari game.
    Each glob must be like some label.

    >>> labels_like(["pong"], ["pong.0", "go.0", "pong.1"], ["ALE/Pong-v5", "go", "ALE/Pong-v5"])
    array([ True, False,  True])
    """
    chosen = np.zeros(len(labels), dtype=bool)
    for glob in globs:
        like = np.array([fnmatchcase(label, glob) for label in labels])
        if games:
            like |= [
                fnmatchcase(game, glob) or fnmatchcase(atari_game(game) or "", glob)
                for game in games
            ]
        if not like.any():
            kind = "task" if games else "agent"
            raise InputError(f"No {kind} is like {shorten(glob)}. There are {listed(labels)}.")
        chosen |= like
    return chosen

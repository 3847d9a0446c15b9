"""Recorded starts: the first frames of somebody's game, after which an agent's own begins."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from examiner.arena.environments.games import playable_game
from examiner.arena.protocol import START
from examiner.messages import InputError, counted, listed, shorten

_PART = re.compile(r"([A-Z]+)(?:\*(\d+))?")


def recorded_starts(
    starts: Sequence[str], game: str, actions: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the starts of a game as names of actions, one a frame.

    >>> recorded_starts(["Pong: NOOP*2 FIRE", "breakout: FIRE"], "pong", ["NOOP", "FIRE"])
    (('NOOP', 'NOOP', 'FIRE'),)
    """
    found = []
    for start in starts:
        name, _, played = start.partition(":")
        if playable_game(name.strip()) == game:
            found.append(_frames(played, actions, start))
    if starts and not found:
        raise InputError(
            f"The protocol has {counted(len(starts), 'recorded start')}, none of {game!r}. "
            f"Record one of it: {START}."
        )
    return tuple(found)


def _frames(played: str, actions: Collection[str], start: str) -> tuple[str, ...]:
    frames: list[str] = []
    for action, times in _PART.findall(played):
        if action not in actions:
            raise InputError(
                f"The start {shorten(start, 60)} has the action {action!r}, which the console does "
                f"not know. It knows {listed(sorted(actions), limit=20)}."
            )
        frames += [action] * int(times or 1)
    return tuple(frames)

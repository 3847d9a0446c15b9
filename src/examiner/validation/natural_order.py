"""The order of names as people sort them, in which numbers count as numbers."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")
_MOST_DIGITS = 100  # longer ones are compared as text: Python refuses to convert thousands

NaturalKey = tuple[tuple[bool, int, str], ...]


def natural_key(name: str) -> NaturalKey:
    """Return what names are sorted by as people do: `agent_2` before `agent_10`.

    >>> sorted(["agent_10", "agent_2", "agent"], key=natural_key)
    ['agent', 'agent_2', 'agent_10']
    """
    return tuple(_piece_key(piece) for piece in _DIGITS.split(name) if piece)


def _piece_key(piece: str) -> tuple[bool, int, str]:
    if piece.isdecimal() and len(piece) < _MOST_DIGITS:
        return False, int(piece), piece
    return True, 0, piece

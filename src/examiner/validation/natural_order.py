"""Natural order of names: numbers in them are compared as numbers."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")

NaturalKey = tuple[tuple[bool, int, str], ...]


def natural_key(name: str) -> NaturalKey:
    """Return the key of natural order: `agent_2` before `agent_10`.

    >>> sorted(["agent_10", "agent_2", "agent"], key=natural_key)
    ['agent', 'agent_2', 'agent_10']
    """
    return tuple(_piece_key(piece) for piece in _DIGITS.split(name) if piece)


def _piece_key(piece: str) -> tuple[bool, int, str]:
    # Longer numbers are compared as text: Python refuses to convert thousands of digits.
    if piece.isdecimal() and len(piece) < 100:
        return False, int(piece), piece
    return True, 0, piece

"""Sentences: names told from our own words, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

ABSENT = "–"
MINUS = "−"


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a user chose: it may hold anything, and is never part of our own sentence."""

    text: str


Parts: TypeAlias = tuple[str | Name, ...]
"""A sentence in parts, so that the names in it can be told from our words."""
Prose: TypeAlias = str | Parts
"""A sentence: our own words alone, or in parts where names are among them."""


def parts_of(prose: Prose) -> Parts:
    """Return the parts of a sentence.

    >>> parts_of("Nobody leads."), parts_of((Name("dqn"), " leads."))
    (('Nobody leads.',), (Name(text='dqn'), ' leads.'))
    """
    return (prose,) if isinstance(prose, str) else prose


def said(prose: Prose) -> str:
    """Return a sentence as plain text.

    >>> said((Name("dqn"), " leads."))
    'dqn leads.'
    """
    return "".join(part.text if isinstance(part, Name) else part for part in parts_of(prose))


def enumerated(names: Sequence[str], limit: int = 12) -> Parts:
    """Name the first few of many as part of a sentence.

    >>> said(enumerated(["alien", "pong", "venture"], limit=2))
    'alien, pong and 1 more'
    """
    parts: list[str | Name] = []
    shown = names[:limit]
    for index, name in enumerate(shown):
        if index:
            last = index == len(shown) - 1 and len(names) <= limit
            parts.append(" and " if last else ", ")
        parts.append(Name(name))
    if len(names) > limit:
        parts.append(f" and {len(names) - limit:,} more")
    return tuple(parts)


def three_digits(value: float) -> str:
    """Write a number with three significant digits.

    >>> three_digits(0.123456), three_digits(1234.5), three_digits(-2.0), three_digits(math.nan)
    ('0.123', '1,234', '−2', '–')
    """
    if not math.isfinite(value):
        return ABSENT
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}".replace("-", MINUS)
    text = f"{value:,.{_decimals(value)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def aligned(values: Sequence[float]) -> list[str]:
    """Write a column with as many decimals as its typical value needs for three digits.

    >>> aligned([4.234, 0.791, 12.1, math.nan])
    ['4.23', '0.79', '12.10', '–']
    """
    seen = sorted(abs(value) for value in values if math.isfinite(value) and value)
    if not seen:
        return [three_digits(value) for value in values]
    decimals = _decimals(seen[(len(seen) - 1) // 2])
    # Columns of very unlike sizes would lose the small ones or pad the large ones: each for itself.
    if decimals > 4 or seen[-1] >= 1e7:
        return [three_digits(value) for value in values]
    return [
        f"{value:,.{decimals}f}".replace("-", MINUS) if math.isfinite(value) else ABSENT
        for value in values
    ]


def _decimals(value: float) -> int:
    if value == 0:
        return 0
    return max(0, 2 - math.floor(math.log10(abs(value))))

"""What a section is made of: a finding, and blocks of text, facts, notes, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from examiner.telling.figures.figure import PlotlyFigure


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a user chose: it may hold anything, and is never part of our own sentence."""

    text: str


Prose: TypeAlias = tuple[str | Name, ...]
"""A sentence in parts, so that the names in it can be told from our words."""

Cell: TypeAlias = Name | str | int | float | None


def said(prose: Prose) -> str:
    """Return a sentence as plain text.

    >>> said((Name("dqn"), " leads."))
    'dqn leads.'
    """
    return "".join(part.text if isinstance(part, Name) else part for part in prose)


def enumerated(names: Sequence[str], limit: int = 12) -> Prose:
    """Name the first few of many as part of a sentence.

    >>> said(enumerated(["alien", "pong", "venture"], limit=2))
    'alien, pong and 1 more'
    """
    parts: list[str | Name] = []
    shown = names[:limit]
    for place, name in enumerate(shown):
        if place:
            last = place == len(shown) - 1 and len(names) <= limit
            parts.append(" and " if last else ", ")
        parts.append(Name(name))
    if len(names) > limit:
        parts.append(f" and {len(names) - limit:,} more")
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    prose: Prose


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of what and how much."""

    pairs: tuple[tuple[str, Prose], ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences a reader should not miss."""

    title: str
    items: tuple[Prose, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; the explanation shows when a reader points at its title."""

    title: str
    kind: Literal["name", "number", "count", "text"]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; rows at the positions in `doubtful` are marked as not comparable."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Prose = ()
    doubtful: frozenset[int] = frozenset()


class SortableAxis(NamedTuple):
    """One side of a grid: what stands there, in full, and the orders a reader may choose from."""

    what: str
    names: tuple[str, ...]
    orders: Mapping[str, Sequence[int]]


class Grid(NamedTuple):
    """What a reader can do with a heat map: sort its sides, and read its details on hover.

    `details` names the entries of the cells' `customdata`, in their order.
    """

    rows: SortableAxis
    columns: SortableAxis
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: the data behind it, its drawing, and the finding in words."""

    key: str
    data: Mapping[str, Any]  # Any: arrays, names and numbers, as the figure's named tuple has them
    drawing: PlotlyFigure
    caption: Prose
    description: str
    legend: Prose = ()
    narrowest: int = 0  # pixels; narrower screens scroll
    grid: Grid | None = None


Block: TypeAlias = Text | Facts | Notes | Table | Figure


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of a report: its lead says the finding, its blocks show it.

    A section that does not apply to the results stands in a report only where it is asked for.

    >>> Finding("ranking", "Ranking", (Name("dqn"), " leads.")).key
    'ranking'
    """

    key: str
    title: str
    lead: Prose
    blocks: tuple[Block, ...] = field(default=())
    applies: bool = True

"""Texts in columns within a width: numbers keep theirs, texts give way, names are never broken."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from examiner.reporting.prose import cut, distinct_labels
from examiner.reporting.widths import display_width, first_columns, padded, wrapped_lines

GAP = 2
SHORTEST = MappingProxyType({"name": 14, "text": 22})
"""Columns below which names or texts are not shortened: other columns are left out before."""


class TextColumn(NamedTuple):
    """A column as it is printed: its title, its cells, and whether they are numbers, names or text."""

    title: str
    cells: Sequence[str]
    kind: Literal["number", "name", "text"]

    @property
    def widest_cell(self) -> int:
        """Width of the widest cell."""
        return max(map(display_width, self.cells), default=0)

    def narrowest(self, whole: bool) -> int:
        """Least width: of whole cells that of their longest word, else of a shortened cell."""
        if self.kind == "number":
            return max(self.widest_cell, _longest_word(self.title))
        needed = max(map(_longest_word, self.cells), default=0) if whole else SHORTEST[self.kind]
        return max(_longest_word(self.title), min(needed, self.widest_cell))


class Laid(NamedTuple):
    """Lines of the header and of each row, and how many columns were left out."""

    header: list[str]
    rows: list[list[str]]
    left_out: int


def laid_out(columns: Sequence[TextColumn], width: int, *, whole: bool) -> Laid:
    """Put columns side by side: cells as a whole, in as many lines as they need, or a line per row.

    A line per row shortens names and texts, and leaves out the last columns where that is not enough.

    >>> names = TextColumn("task", ["a-very-long-name-of-a-task", "pong"], "name")
    >>> bits = TextColumn("bits so far", ["1.25", "0.5 "], "number")
    >>> for line in laid_out([names, bits], 20, whole=False).rows: print(*line)
    a-very-…a-task  1.25
    pong            0.5
    """
    kept = list(columns)
    widths = _widths(kept, width, whole)
    while not whole and len(kept) > 2 and sum(widths) + GAP * (len(kept) - 1) > width:
        kept.pop()
        widths = _widths(kept, width, whole)
    cells = [
        [_wrapped(cell, wide) for cell in column.cells]
        if whole
        else [[cell] for cell in _shortened(column, wide)]
        for column, wide in zip(kept, widths, strict=True)
    ]
    titles = [_wrapped(column.title, wide) for column, wide in zip(kept, widths, strict=True)]
    tallest = max(map(len, titles), default=0)
    titles = [[""] * (tallest - len(title)) + title for title in titles]
    numeric = [column.kind == "number" for column in kept]
    rows = [_side_by_side(row, widths, numeric) for row in zip(*cells, strict=True)]
    return Laid(_side_by_side(titles, widths, numeric), rows, len(columns) - len(kept))


def shortened_list(text: str, width: int) -> str:
    """Return a text or names with commas in a width, cut between words; only a single name is shortened.

    >>> shortened_list("alien, amidar and asterix", 16), shortened_list("montezuma_revenge, pong", 14)
    ('alien, amidar …', 'monte…venge, …')
    """
    if display_width(text) <= width:
        return text
    first, comma, _ = text.partition(", ")
    if " " in first:  # a sentence
        first, comma = first.partition(" ")[0], ""
    if display_width(first) + len(comma) + 1 > width:
        return cut(first, max(width - len(comma) - 1, 3)) + (", …" if comma else "")
    return first_columns(text, width - 1).rpartition(" ")[0] + " …"


def _widths(columns: Sequence[TextColumn], width: int, whole: bool) -> list[int]:
    widths = [max(display_width(column.title), column.widest_cell) for column in columns]
    room = width - GAP * (len(columns) - 1)
    if sum(widths) > room:  # titles of several words take several lines
        widths = [max(_longest_word(each.title), each.widest_cell) for each in columns]
    least = [column.narrowest(whole) for column in columns]
    while sum(widths) > room:
        excess = [wide - narrow for wide, narrow in zip(widths, least, strict=True)]
        yielding = [place for place, more in enumerate(excess) if more > 0]
        if not yielding:
            break
        widths[max(yielding, key=lambda place: widths[place])] -= 1
    return widths


def _shortened(column: TextColumn, width: int) -> Sequence[str]:
    if column.kind == "number" or column.widest_cell <= width:
        return column.cells
    lists = column.kind == "text" or any(", " in cell for cell in column.cells)
    if lists:
        return [shortened_list(cell, width) for cell in column.cells]
    names = list(dict.fromkeys(cell for cell in column.cells if cell))
    labels = dict(zip(names, distinct_labels(names, max(width, 8)), strict=True))
    return [labels.get(cell, cell) for cell in column.cells]


def _wrapped(text: str, width: int) -> list[str]:
    return [text] if display_width(text) <= width else wrapped_lines(text, width)


def _side_by_side(
    cells: Sequence[Sequence[str]], widths: Sequence[int], numeric: Sequence[bool]
) -> list[str]:
    lines = []
    for line in range(max(map(len, cells), default=0)):
        parts = [cell[line] if line < len(cell) else "" for cell in cells]
        cells_of_line = (
            padded(part, wide, right=right)
            for part, wide, right in zip(parts, widths, numeric, strict=True)
        )
        lines.append((" " * GAP).join(cells_of_line).rstrip())
    return lines


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split()), default=0)

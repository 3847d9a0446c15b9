"""Tables as lines of text: numbers have aligned decimal points, and no name is broken or shortened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from examiner.answers import Column
from examiner.messages import visible
from examiner.reporting.cells import cell_texts, is_numeric
from examiner.reporting.widths import display_width, first_columns, padded, wrapped_lines

GAP = 2
NARROW_TEXT = 22
"""Width to which a column of text, or the first column of names, may be narrowed."""
LONGEST_NAME, LONGEST_TEXT = 100, 4_000
"""Columns of a cell that somebody else wrote: a list of names may be long, but not without end."""


class TextColumn(NamedTuple):
    """A column as it is printed: its title, its cells, and whether they are numbers, names or text."""

    title: str
    cells: Sequence[str]
    kind: Literal["number", "name", "text"]

    @property
    def widest_cell(self) -> int:
        """Width of the widest cell."""
        return max(map(display_width, self.cells), default=0)

    @property
    def title_width(self) -> int:
        """Smallest width in which the title takes at most two lines."""
        words = self.title.split()
        splits = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(len(words))]
        return min((max(map(display_width, lines)) for lines in splits), default=0)

    def narrowest(self, width: int, *, first: bool, whole: bool) -> int:
        """Smallest width: text is wrapped or cut between words, and a long first name gets its own line."""
        needed = self.widest_cell
        if self.kind == "text":
            part = _longest_word if whole else _first_item
            longest_part = max(map(part, self.cells), default=0)
            # A word longer than half a line is cut, so that columns after the first are not left out.
            longest = width if whole else width // 2
            needed = min(needed, max(NARROW_TEXT, min(longest_part, longest)))
        elif self.kind == "name" and first:
            needed = min(needed, NARROW_TEXT)
        return max(self.title_width, needed)


class TextTable(NamedTuple):
    """Lines of the header and of each row, and how many of the last columns were left out."""

    header: list[str]
    rows: list[list[str]]
    left_out: int


def text_columns(
    columns: Sequence[Column], values: Mapping[str, Sequence[Any]]
) -> list[TextColumn]:
    """Return columns of an answer as text; what would control the terminal is written out.

    >>> bits = Column("bits", "number", "Bits")
    >>> text_columns([bits], {"bits": [12.25, 1.0]})
    [TextColumn(title='bits', cells=['12.2 ', '1.00'], kind='number')]
    """
    texts = []
    for column in columns:
        cells, title = cell_texts(column, values[column.name]), visible(column.title)
        if is_numeric(column):
            texts.append(TextColumn(title, _with_aligned_points(cells), "number"))
            continue
        is_name = column.kind == "name" and not any(", " in cell for cell in cells)
        longest = LONGEST_NAME if is_name else LONGEST_TEXT
        plain = [shortened_list(visible(cell).replace("\n", "\\n"), longest) for cell in cells]
        texts.append(TextColumn(title, plain, "name" if is_name else "text"))
    return texts


def text_table(columns: Sequence[TextColumn], width: int, *, whole: bool = False) -> TextTable:
    """Return a table within a width; a name too long for its column stands above its row.

    Otherwise text is shortened to one line, and the last columns are left out where that is not enough.
    A `whole` table has all columns and all of their text, in as many lines as needed.

    >>> names = TextColumn("task", ["a-very-long-name-of-a-task", "pong"], "name")
    >>> bits = TextColumn("bits", ["1.25", "0.50"], "number")
    >>> for line in sum(text_table([names, bits], 30).rows, []): print(line)
    a-very-long-name-of-a-task
                              1.25
    pong                      0.50
    """
    kept = list(columns)
    widths = _widths(kept, width, whole)
    while not whole and len(kept) > 1 and sum(widths) + GAP * (len(kept) - 1) > width:
        kept.pop()
        widths = _widths(kept, width, whole)
    titles = [wrapped_lines(column.title, wide) for column, wide in zip(kept, widths, strict=True)]
    tallest = max(map(len, titles), default=0)
    titles = [[""] * (tallest - len(title)) + title for title in titles]
    numeric = [column.kind == "number" for column in kept]
    rows = []
    for cells in zip(*(column.cells for column in kept), strict=True):
        above = []
        if kept[0].kind == "name" and display_width(cells[0]) > widths[0]:
            above = [cells[0] if whole else shortened_list(cells[0], width)]
        lines = [
            [cell] if column.kind != "text" else _cell_lines(cell, wide, whole)
            for column, cell, wide in zip(kept, cells, widths, strict=True)
        ]
        lines[0] = [""] if above else lines[0]
        rows.append([*above, *_side_by_side(lines, widths, numeric)])
    return TextTable(_side_by_side(titles, widths, numeric), rows, len(columns) - len(kept))


def shortened_list(text: str, width: int) -> str:
    """Return a sentence, or names with commas, cut between words; a single word is cut at its end.

    >>> shortened_list("alien, amidar and asterix", 16), shortened_list("montezuma_revenge, pong", 14)
    ('alien, amidar …', 'montezuma_rev…')
    """
    if display_width(text) <= width:
        return text
    beginning = first_columns(text, width - 1)
    return f"{beginning.rpartition(' ')[0]} …" if " " in beginning else f"{beginning}…"


def _widths(columns: Sequence[TextColumn], width: int, whole: bool) -> list[int]:
    widths = [max(display_width(column.title), column.widest_cell) for column in columns]
    room = width - GAP * (len(columns) - 1)
    if sum(widths) > room:
        widths = [max(column.title_width, column.widest_cell) for column in columns]
    least = [
        column.narrowest(width, first=not at, whole=whole) for at, column in enumerate(columns)
    ]
    while sum(widths) > room:
        excess = [wide - narrow for wide, narrow in zip(widths, least, strict=True)]
        if max(excess, default=0) <= 0:
            break
        widths[max(range(len(widths)), key=lambda at: (excess[at] > 0, widths[at]))] -= 1
    return widths


def _cell_lines(text: str, width: int, whole: bool) -> list[str]:
    if display_width(text) <= width:
        return [text]
    return wrapped_lines(text, width) if whole else [shortened_list(text, width)]


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
    return [line for line in lines if line]


def _with_aligned_points(texts: Sequence[str]) -> list[str]:
    """Return numbers with blanks after them, so that their decimal points are aligned.

    >>> _with_aligned_points(["1.25", "12", "–"])
    ['1.25', '12   ', '–   ']
    """
    tails = [len(text) - len(text.partition(".")[0]) for text in texts]
    longest = max(tails, default=0)
    return [text + " " * (longest - tail) for text, tail in zip(texts, tails, strict=True)]


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split()), default=0)


def _first_item(text: str) -> int:
    """Width of the first word and of the sign for what was cut after it."""
    first, blank, _ = text.partition(" ")
    return display_width(first) + 2 * len(blank)

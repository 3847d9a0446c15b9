"""Findings for people at a terminal: one screen of sentences, tables and notes, or everything."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence
from typing import Literal, NamedTuple

from examiner.answers import Column
from examiner.messages import visible
from examiner.reporting.cells import cell_texts, explanation, is_numeric
from examiner.reporting.columns import TextColumn, laid_out, shortened_list
from examiner.reporting.finding import Facts, Finding, Notes, Piece, ShownTable, Text
from examiner.reporting.prose import Name, Prose, parts_of
from examiner.reporting.widths import display_width, wrapped_lines

LONGEST_NAME = 100
LONGEST_SENTENCE = 4_000
"""Of a text that somebody else wrote: a note or a list of names may be long, but not without end."""

WIDTH = 80
"""Columns of a terminal whose width is not known."""
HEIGHT = 38
"""Lines of an answer and its notes: a screen of 40, less what a command adds about files it wrote."""
FIRST_ROWS, USUAL_ROWS = 5, 10
"""Rows that every table gets, and rows that it gets if there is room."""
MOST_NOTES = 5
LINES_OF_A_TEXT = 2
MORE = "(shortened: --all shows everything)"
_HARD_SPACE = "\u00a0"


class Screen(NamedTuple):
    """Lines of an answer, and those of its notes."""

    lines: list[str]
    notes: list[str]


def screen(finding: Finding, notes: Sequence[str] = (), *, width: int = 0) -> Screen:
    """Return an answer that fits a screen: the sentence, the first rows of tables, five notes of a line.

    >>> screen(Finding("ranking", "Ranking", (Name("dqn"), " leads."))).lines
    ['dqn leads.']
    """
    width = width or terminal_width()
    short = short_notes(notes, width)
    tables = [block for block in finding.blocks if isinstance(block, ShownTable)]
    if sum(map(len, tables)) <= HEIGHT:
        whole = everything(finding, width=width)
        too_wide = any(display_width(line) > width and " " in line.strip() for line in whole)
        if len(whole) + len(short) <= HEIGHT and not too_wide:  # a path is not broken
            return Screen(whole, short)
    return Screen(_Short(finding, width, HEIGHT - len(short)).lines(), short)


def everything(finding: Finding, *, width: int = 0) -> list[str]:
    """Return all lines of an answer: sentences, then blocks with all rows, except figures.

    >>> everything(Finding("ranking", "Ranking", (Name("dqn"), " leads.")))
    ['dqn leads.']
    """
    width = width or terminal_width()
    lines = [line for prose in (finding.lead, finding.about) for line in _wrapped(prose, width)]
    for block in finding.blocks:
        match block:
            case Text():
                lines += _wrapped(block.prose, width)
            case Facts():
                lines += _facts(block, width, whole=True)
            case Notes():
                for item in block.items:
                    lines += _wrapped((f"{block.title}: ", *parts_of(item)), width)
            case ShownTable():
                laid = laid_out(_columns(block), width, whole=True)
                rows = [line for row in laid.rows for line in row]
                lines += [""] if lines else []
                lines += [*_wrapped(block.caption, width), *laid.header, *rows]
                lines += _legend(block.columns, width)
    return lines


def short_notes(notes: Sequence[str], width: int = 0) -> list[str]:
    """Return the first notes, a line each.

    >>> short_notes(["One.", "Two."])
    ['note: One.', 'note: Two.']
    """
    width = width or terminal_width()
    distinct = list(dict.fromkeys(notes))
    lines = [shortened_list(f"note: {printable(note, 2_000)}", width) for note in distinct]
    more = len(lines) - MOST_NOTES
    hidden = [f"note: … and {more:,} more {'notes' if more > 1 else 'note'} (--all)"]
    return lines if more <= 0 else [*lines[:MOST_NOTES], *hidden]


def print_line(line: str) -> None:
    r"""Print one line; what would steer the terminal is shown instead.

    >>> print_line("Report: report\x1b[31m.html")
    Report: report\x1b[31m.html
    """
    sys.stdout.write(visible(line) + "\n")


def printable(value: object, limit: int = LONGEST_NAME) -> str:
    r"""Return text a terminal can be given: control characters shown, long names cut.

    >>> printable("red\x1b[31m"), printable(0.123456), printable(None), printable(math.inf)
    ('red\\x1b[31m', '0.1235', '–', '–')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = visible(str(value)[: limit + 1]).replace("\n", "\\n")
    return text if len(str(value)) <= limit else text[: limit - 1] + "…"


def terminal_width() -> int:
    """Return the columns of the terminal.

    >>> terminal_width() > 0
    True
    """
    return max(shutil.get_terminal_size((WIDTH, HEIGHT)).columns, 40)


class _Short:
    """A finding with fewer rows, sentences and explanations than it has, so that it fits."""

    def __init__(self, finding: Finding, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.head = [
            *_wrapped(finding.lead, width),
            *_first_lines(finding.about, width, LINES_OF_A_TEXT),
        ]
        self.blocks: list[Piece] = [
            block for block in finding.blocks if isinstance(block, (Text, Facts, Notes, ShownTable))
        ]
        tables = [place for place, block in enumerate(self.blocks) if isinstance(block, ShownTable)]
        self.rows = {place: min(FIRST_ROWS, self._count(place)) for place in tables}
        self.legends: set[int] = set()
        self.is_shortened = False

    def lines(self) -> list[str]:
        """Leave out until it fits, then add rows and explanations while there is room."""
        self._leave_out()
        self._add_rows([*self.rows], USUAL_ROWS)
        for place in self.rows:
            self.legends.add(place)
            if not self._fits():
                self.legends.remove(place)
        for kind in ("agent", ""):  # tables of tasks stay short
            self._add_rows(self._tables_of(kind), self.height)
        lines = self._drawn()
        return [*lines, MORE] if self.is_shortened else lines

    def _leave_out(self) -> None:
        """Leave out paragraphs from the end, then notes, then tables: never the first block."""
        for kinds in (Text, Notes, (Facts, ShownTable)):
            for place in range(len(self.blocks) - 1, 0, -1):
                if self._fits():
                    return
                if isinstance(self.blocks[place], kinds):
                    self.blocks[place] = Piece()
                    self.rows.pop(place, None)
                    self.is_shortened = True

    def _add_rows(self, places: Sequence[int], most: int) -> None:
        growing = list(places)
        while growing:
            for place in list(growing):
                before = self.rows[place]
                self.rows[place] = min(before + 1, self._count(place), most)
                if self.rows[place] == before or not self._fits():
                    self.rows[place] = before
                    growing.remove(place)

    def _fits(self) -> bool:
        return len(self._drawn()) + 1 <= self.height

    def _drawn(self) -> list[str]:
        lines = list(self.head)
        for place, block in enumerate(self.blocks):
            match block:
                case Text():
                    lines += self._noted(_first_lines(block.prose, self.width, LINES_OF_A_TEXT))
                case Facts():
                    lines += self._noted(_facts(block, self.width, whole=False))
                case Notes():
                    lines += self._noted([_one_line(block, self.width)])
                case ShownTable():
                    lines += [""] if lines else []
                    lines += self._table(block, place)
        return lines

    def _table(self, table: ShownTable, place: int) -> list[str]:
        count, shown = self._count(place), self.rows[place]
        some = laid_out(_columns(table, shown), self.width, whole=False)
        lines = [*_first_lines(table.caption, self.width, LINES_OF_A_TEXT), *some.header]
        lines += [line for row in some.rows for line in row]
        lines += [f"… and {count - shown:,} more (--all)"] if count > shown else []
        legend = _legend(table.columns, self.width)
        if place in self.legends:
            lines += legend
        self.is_shortened |= bool(some.left_out)
        return lines

    def _noted(self, lines: list[str]) -> list[str]:
        self.is_shortened |= any(line.endswith("…") for line in lines)
        return lines

    def _count(self, place: int) -> int:
        block = self.blocks[place]
        return len(block) if isinstance(block, ShownTable) else 0

    def _tables_of(self, kind: str) -> list[int]:
        """Tables whose rows are of this kind; of any but agents and tasks where none is given."""
        found = []
        for place in self.rows:
            block = self.blocks[place]
            assert isinstance(block, ShownTable)
            title = block.columns[0].title
            if title == kind or (not kind and title not in ("agent", "task")):
                found.append(place)
        return found


def _plain(prose: Prose) -> str:
    """A sentence as text, in which short names do not break at their blanks."""
    parts = []
    for part in parts_of(prose):
        if isinstance(part, Name):
            text = printable(part.text, LONGEST_SENTENCE)
            parts.append(
                text.replace(" ", _HARD_SPACE) if display_width(text) <= WIDTH // 2 else text
            )
        else:
            parts.append(part)
    return "".join(parts)


def _wrapped(prose: Prose, width: int) -> list[str]:
    """A paragraph in lines that break between words only."""
    text = _plain(prose)
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines = wrapped_lines(text, width, indent)
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def _first_lines(prose: Prose, width: int, most: int) -> list[str]:
    lines = _wrapped(prose, width)
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    return [
        *lines[: most - 1],
        f"{last if display_width(last) <= width - 2 else last.rpartition(' ')[0]} …",
    ]


def _facts(facts: Facts, width: int, *, whole: bool) -> list[str]:
    columns = [
        TextColumn("", [what for what, _ in facts.pairs], "name"),
        TextColumn(
            "", [_plain(prose).replace(_HARD_SPACE, " ") for _, prose in facts.pairs], "text"
        ),
    ]
    return [line for row in laid_out(columns, width, whole=whole).rows for line in row]


def _one_line(notes: Notes, width: int) -> str:
    more = len(notes.items) - 1
    tail = f" … and {more:,} more (--all)" if more else ""
    text = _plain((f"{notes.title}: ", *parts_of(notes.items[0]))).replace(_HARD_SPACE, " ")
    return shortened_list(text, width - len(tail)).removesuffix(" …") + tail


def _legend(columns: Sequence[Column], width: int) -> list[str]:
    """What the columns are, those with the same explanation together."""
    titles: dict[str, list[str]] = {}
    for column in columns:
        if meaning := explanation(column):
            titles.setdefault(meaning, []).append(column.title)
    text = " ".join(f"{', '.join(names)}: {meaning}." for meaning, names in titles.items())
    return _wrapped(text, width)


def _columns(shown: ShownTable, rows: int | None = None) -> list[TextColumn]:
    """The first rows of a table as texts; numbers have their decimal points below each other."""
    values = shown.table.take(range(len(shown))[:rows]).to_dict()
    columns = []
    for column in shown.columns:
        texts = cell_texts(column, values[column.name])
        if is_numeric(column):
            columns.append(TextColumn(column.title, _pointed(texts), "number"))
            continue
        kind: Literal["name", "text"] = "name" if column.kind == "name" else "text"
        columns.append(TextColumn(column.title, [_limited(text, kind) for text in texts], kind))
    return columns


def _limited(text: str, kind: str) -> str:
    is_name = kind == "name" and ", " not in text
    return printable(text, LONGEST_NAME if is_name else LONGEST_SENTENCE)


def _pointed(texts: Sequence[str]) -> list[str]:
    """Numbers with their decimal points below each other.

    >>> _pointed(["1.25", "12", "–"])
    ['1.25', '12   ', '–   ']
    """
    tails = [len(text) - len(text.partition(".")[0]) for text in texts]
    longest = max(tails, default=0)
    return [text + " " * (longest - tail) for text, tail in zip(texts, tails, strict=True)]

"""Findings for people at a terminal: one screen of sentences, tables and notes, or everything."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from examiner.answers import Column
from examiner.messages import visible
from examiner.reporting.cells import explanation
from examiner.reporting.columns import (
    LONGEST_NAME,
    LONGEST_TEXT,
    TextColumn,
    TextTable,
    shortened_list,
    text_columns,
    text_table,
)
from examiner.reporting.finding import Block, Facts, Finding, Notes, ShownTable
from examiner.reporting.prose import parts_of
from examiner.reporting.widths import display_width, wrapped_lines

WIDTH = 80
"""Columns of a terminal whose width is not known."""
HEIGHT = 38
"""Lines of an answer and its notes: a screen of 40, less what a command adds about files it wrote."""
FIRST_ROWS, USUAL_ROWS = 5, 10
"""Rows that every table gets, and rows that it gets if there is room."""
MOST_NOTES = 5
MORE = "(shortened: --all shows everything)"
_HARD_SPACE = "\u00a0"


class Screen(NamedTuple):
    """Lines of an answer, and those of its notes."""

    lines: list[str]
    notes: list[str]


def screen(finding: Finding, notes: Sequence[str] = (), *, width: int = 0) -> Screen:
    """Return an answer that fits a screen: the sentence, the first rows of tables, five notes of a line.

    >>> screen(Finding("ranking", "Ranking", "dqn leads.")).lines
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
    return Screen(_short(finding, width, HEIGHT - len(short)), short)


def everything(finding: Finding, *, width: int = 0) -> list[str]:
    """Return all lines of an answer: sentences, then blocks with all rows, except figures.

    >>> everything(Finding("ranking", "Ranking", "dqn leads."))
    ['dqn leads.']
    """
    width = width or terminal_width()
    lines = [line for text in (finding.lead, finding.about) for line in _wrapped(text, width)]
    for block in finding.blocks:
        match block:
            case str():
                lines += _wrapped(block, width)
            case Facts():
                lines += _facts(block, width, whole=True)
            case Notes():
                for item in block.items:
                    lines += _wrapped(f"{block.title}: {item}", width)
            case ShownTable():
                table = _text_table(block, width, whole=True)
                rows = [line for row in table.rows for line in row]
                lines += [""] if lines else []
                lines += [*_wrapped(block.caption, width), *table.header, *rows]
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


@dataclass(eq=False)
class _Part:
    """A block on a short screen: its first lines and, of a table, the rows and the explanation."""

    block: Block
    first_lines: list[str]
    rows: list[list[str]] = field(default_factory=list)
    legend: list[str] = field(default_factory=list)
    is_cut: bool = False
    shown_rows: int = 0
    with_legend: bool = False

    @property
    def drawn(self) -> list[str]:
        """The lines that are shown now."""
        lines = self.first_lines + [line for row in self.rows[: self.shown_rows] for line in row]
        if isinstance(self.block, ShownTable) and len(self.block) > self.shown_rows:
            lines.append(f"… and {len(self.block) - self.shown_rows:,} more (--all)")
        return lines + self.legend * self.with_legend

    @property
    def names_pairs(self) -> bool:
        """Whether the rows of a table have two names."""
        return isinstance(self.block, ShownTable) and len(self.block.table.keys) > 1

    @property
    def subject(self) -> str:
        """What the rows of a table are about: "agent", "task" or something else."""
        return self.block.columns[0].title if isinstance(self.block, ShownTable) else ""


def _short(finding: Finding, width: int, height: int) -> list[str]:
    """A finding with fewer rows, sentences and explanations than it has, so that it fits."""
    head = [*_wrapped(finding.lead, width), *_first_lines(finding.about, width)]
    drawn = [_part(block, width, height) for block in finding.blocks]
    all_parts = [part for part in drawn if part is not None]
    parts = [part for part in all_parts if not (part.is_cut and part.names_pairs)]

    def fits() -> bool:
        return len(head) + sum(len(part.drawn) for part in parts) < height

    def add_rows(growing: list[_Part], limit: int) -> None:
        while growing:
            for part in list(growing):
                part.shown_rows += 1
                if part.shown_rows > min(limit, len(part.rows)) or not fits():
                    part.shown_rows -= 1
                    growing.remove(part)

    for kinds in (str, Notes, (Facts, ShownTable)):  # from the end, but never the first block
        for part in parts[:0:-1]:
            if not fits() and isinstance(part.block, kinds):
                parts.remove(part)
    tables = [part for part in parts if part.rows]
    add_rows(list(tables), USUAL_ROWS)
    for part in tables:
        part.with_legend = True
        part.with_legend = fits()
    add_rows([part for part in tables if part.subject == "agent"], height)
    add_rows([part for part in tables if part.subject not in ("agent", "task")], height)
    lines = [*head, *(line for part in parts for line in part.drawn)]
    lines = lines if lines[:1] != [""] else lines[1:]
    is_shortened = len(parts) < len(all_parts) or any(part.is_cut for part in parts)
    return [*lines, MORE] if is_shortened else lines


def _part(block: Block, width: int, height: int) -> _Part | None:
    """A block as it begins on a short screen; None where a terminal shows nothing of it."""
    match block:
        case str():
            lines = _first_lines(block, width)
        case Facts():
            lines = _facts(block, width, whole=False)
        case Notes():
            lines = [_one_line(block, width)]
        case ShownTable():
            count = USUAL_ROWS if block.columns[0].title == "task" else height
            table = _text_table(block, width, rows=count)
            lines = ["", *_first_lines(block.caption, width), *table.header]
            legend = _legend(block.columns, width)
            shown_rows = min(FIRST_ROWS, len(block))
            return _Part(block, lines, table.rows, legend, bool(table.left_out), shown_rows)
        case _:
            return None
    return _Part(block, lines, is_cut=any(line.endswith("…") for line in lines))


def _plain(sentence: str) -> str:
    """A sentence as text, in which short names do not break at their blanks."""
    texts = []
    for part in parts_of(sentence):
        text = printable(part.text, LONGEST_TEXT)
        is_kept = part.is_name and display_width(text) <= WIDTH // 2
        texts.append(text.replace(" ", _HARD_SPACE) if is_kept else text)
    return "".join(texts)


def _wrapped(sentence: str, width: int) -> list[str]:
    """A paragraph in lines that break between words only."""
    text = _plain(sentence)
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines = wrapped_lines(text, width, indent)
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def _first_lines(sentence: str, width: int) -> list[str]:
    """The first two lines of a paragraph."""
    lines = _wrapped(sentence, width)
    return [lines[0], shortened_list(" ".join(lines[1:]), width)] if len(lines) > 2 else lines


def _facts(facts: Facts, width: int, *, whole: bool) -> list[str]:
    columns = [
        TextColumn("", [what for what, _ in facts.pairs], "name"),
        TextColumn("", [_plain(fact).replace(_HARD_SPACE, " ") for _, fact in facts.pairs], "text"),
    ]
    return [line for row in text_table(columns, width, whole=whole).rows for line in row]


def _one_line(notes: Notes, width: int) -> str:
    more = len(notes.items) - 1
    tail = f" … and {more:,} more (--all)" if more else ""
    text = _plain(f"{notes.title}: {notes.items[0]}").replace(_HARD_SPACE, " ")
    return shortened_list(text, width - len(tail)).removesuffix(" …") + tail


def _text_table(
    shown: ShownTable, width: int, *, rows: int | None = None, whole: bool = False
) -> TextTable:
    """The first rows of a table as text."""
    values = shown.table.take(range(len(shown))[:rows]).to_dict()
    return text_table(text_columns(shown.columns, values), width, whole=whole)


def _legend(columns: Sequence[Column], width: int) -> list[str]:
    """What the columns are, those with the same explanation together."""
    titles: dict[str, list[str]] = {}
    for column in columns:
        if meaning := explanation(column):
            titles.setdefault(meaning, []).append(column.title)
    text = " ".join(f"{', '.join(names)}: {meaning}." for meaning, names in titles.items())
    return _wrapped(text, width)

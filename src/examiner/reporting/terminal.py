"""Findings for people at a terminal: sentences, facts and tables, within its width."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from examiner.messages import visible
from examiner.reporting.finding import Facts, Finding, Notes, Text
from examiner.reporting.prose import Name, Prose, parts_of
from examiner.reporting.table import ROWS_SHOWN, Cell, Column, Table

if TYPE_CHECKING:
    from rich.console import Console

LONGEST_NAME = 100
LONGEST_SENTENCE = 4_000
"""Of a text that somebody else wrote: a note or a list of names may be long, but not without end."""


def print_finding(finding: Finding) -> None:
    """Print a finding: what was found, of what, and the blocks that show it, but for figures.

    >>> print_finding(Finding("ranking", "Ranking", (Name("dqn"), " leads.")))
    dqn leads.
    """
    for prose in (finding.lead, finding.about):
        if prose:
            _print_text(prose)
    for index, block in enumerate(finding.blocks):
        match block:
            case Text():
                _print_text(block.prose)
            case Facts():
                pairs = [[what, _plain(prose)] for what, prose in block.pairs]
                _print_grid([("", True), ("", True)], pairs, header=False)
            case Notes():
                for item in block.items:
                    _print_text((f"{block.title}: ", *parts_of(item)))
            case Table():
                if index or finding.lead or finding.about:
                    print_line("")
                _print_table(block)


def print_line(line: str) -> None:
    r"""Print one line; what would steer the terminal is shown instead.

    >>> print_line("Report: report\x1b[31m.html")
    Report: report\x1b[31m.html
    """
    sys.stdout.write(visible(line) + "\n")


def printable(value: object, limit: int = LONGEST_NAME) -> str:
    r"""Return text a terminal can be given: control characters shown, long names cut.

    >>> printable("red\x1b[31m"), printable(0.123456), printable(None)
    ('red\\x1b[31m', '0.1235', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = visible(str(value)[: limit + 1]).replace("\n", "\\n")
    return text if len(str(value)) <= limit else text[: limit - 1] + "…"


def _plain(prose: Prose) -> str:
    return "".join(
        printable(part.text, LONGEST_SENTENCE) if isinstance(part, Name) else part
        for part in parts_of(prose)
    )


def _print_text(prose: Prose) -> None:
    """A paragraph: wrapped where a person reads it, one line where a program does."""
    text = _plain(prose)
    print_line(textwrap.fill(text, _console().width) if sys.stdout.isatty() else text)


def _print_table(table: Table) -> None:
    if table.caption:
        _print_text(table.caption)
    _print_rows(table.columns, table.rows[:ROWS_SHOWN])
    if len(table.rows) > ROWS_SHOWN:
        print_line(f"… and {len(table.rows) - ROWS_SHOWN:,} more rows: all are in --json")
    legend = _legend(table.columns)
    if legend:
        print_line(textwrap.fill(legend, _console().width))


def _legend(columns: Sequence[Column]) -> str:
    """What the columns are, those with the same explanation together."""
    titles: dict[str, list[str]] = {}
    for column in columns:
        if column.explanation:
            titles.setdefault(column.explanation, []).append(column.title)
    return " ".join(f"{', '.join(names)}: {meaning}." for meaning, names in titles.items())


def _print_rows(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
    headers, texts = [], []
    for index, column in enumerate(columns):
        cells = [_text(row[index]) for row in rows]
        numeric = column.kind in ("number", "count")
        if numeric:
            cells = _pointed(cells)
            wide = max(len(cell) for cell in [column.title, *cells])
            cells = [cell.rjust(wide) for cell in cells]
        headers.append((column.title.rjust(wide) if numeric else column.title, not numeric))
        texts.append(cells)
    _print_grid(headers, list(zip(*texts, strict=True)))


def _print_grid(
    headers: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]], *, header: bool = True
) -> None:
    """Texts in columns, of which those that may be folded give way to the terminal's width."""
    from rich.table import Table as Grid
    from rich.text import Text as Plain

    grid = Grid(box=None, pad_edge=False, show_header=header, header_style="none")
    for title, foldable in headers:
        grid.add_column(Plain(title), no_wrap=not foldable, overflow="fold")
    for row in rows:
        grid.add_row(*(Plain(text) for text in row))
    console = _console()
    with console.capture() as captured:
        console.print(grid)
    for line in captured.get().splitlines():
        print_line(line.rstrip())


def _text(cell: Cell) -> str:
    return printable(cell.text) if isinstance(cell, Name) else printable(cell, LONGEST_SENTENCE)


def _pointed(texts: Sequence[str]) -> list[str]:
    """Numbers with their decimal points below each other.

    >>> _pointed(["1.25", "12", "–"])
    ['1.25', '12   ', '–   ']
    """
    tails = [len(text) - len(text.partition(".")[0]) for text in texts]
    longest = max(tails, default=0)
    return [text + " " * (longest - tail) for text, tail in zip(texts, tails, strict=True)]


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)

"""Tables printed on Markdown pages, such as a README."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.row_filters import rows_kept
from examiner.importers.tables import table_reading
from examiner.importers.text import filled_lines, text_of
from examiner.importers.vocabulary import INDEX_COLUMN
from examiner.messages import InputError, listed, shorten
from examiner.validation import check_names

ENDINGS = (".md", ".markdown")
NUMBER = "table"
"""The column with the number of the table on its page, where there are several."""
_RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?\|?\s*")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"<[^>]*>|\*\*|__(?=\S)|(?<=\S)__|`|\\(?=\|)")


class MarkdownTable(NamedTuple):
    """One table of a page: where it begins, its header and its rows."""

    line: int
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def recognises(file: SourceFile) -> bool:
    """A file that is called a Markdown page.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("README.md"), None, b"# Results"))
    True
    """
    return file.suffix in ENDINGS


def read(file: SourceFile, options: ReadOptions) -> Reading:
    r"""Read the table of a page; of several, the one that a condition on `table` chooses.

    >>> from pathlib import Path
    >>> page = b"# Results\n\n| agent | pong | venture |\n|---|--:|--:|\n| **dqn** | 18.9 | 1,380.0 |\n"
    >>> results = read(SourceFile(Path("x.md"), None, page, whole=True), ReadOptions()).results
    >>> results.agents, results.tasks, results.measure()
    (('dqn',), ('pong', 'venture'), array([  18.9, 1380. ]))
    """
    text = text_of(file)
    tables = tables_of(list(filled_lines(text.data, file.path)))
    name = shorten(file.path, 200)
    if not tables:
        raise InputError(
            f"{name} is a text page ({file.suffix}) without a table of numbers, which cannot be read. Save "
            f"its table as CSV, with the columns 'agent', 'task' and 'score', or names first and one "
            f"column per task."
        )
    choices = [each for each in options.where if each.column == NUMBER]
    numbers = pl.DataFrame({NUMBER: range(1, len(tables) + 1)})
    kept = rows_kept(numbers, choices) if choices else pl.repeat(True, len(tables), eager=True)
    chosen = [(number, table) for number, table in enumerate(tables, start=1) if kept[number - 1]]
    headers = {table.header for _, table in chosen}
    if len(headers) > 1 or (len(chosen) > 1 and not choices):
        places = "; ".join(
            f"table {number}, line {table.line}: {listed(table.header, limit=4)}"
            for number, table in chosen[:8]
        )
        largest = max(chosen, key=lambda pair: len(pair[1].rows))[0]
        same = f", or several of the same columns (`{NUMBER}=1|2`)" if len(headers) > 1 else ""
        raise InputError(
            f"{name} has {len(chosen)} tables ({places}). Choose one, such as the longest: `--where "
            f"{NUMBER}={largest}`{same}."
        )
    if not chosen:
        raise InputError(f"{name} has {len(tables)} tables. Choose one: `--where {NUMBER}=1`.")
    rows = [row for _, table in chosen for row in table.rows]
    names = check_names(list(chosen[0][1].header), "column")
    frame = pl.DataFrame(rows, list(names), orient="row")
    if choices:
        of_row = [number for number, table in chosen for _ in table.rows]
        frame = frame.with_columns(pl.Series(NUMBER, of_row))
    return table_reading(frame, file, options, "markdown", text.notes)


def tables_of(lines: Sequence[tuple[int, str]]) -> list[MarkdownTable]:
    """Return the tables among numbered lines that have a number in some column.

    >>> [table.header for table in tables_of([(1, "a | b"), (2, "--|--"), (3, "x | 1"), (4, "text")])]
    [('a', 'b')]
    """
    tables = []
    for place, (number, line) in enumerate(lines[1:], start=1):
        header = _cells(lines[place - 1][1])
        if _RULE.fullmatch(line) is None or len(_cells(line)) != len(header) or len(header) < 2:
            continue
        rows = []
        for after, (row_number, row) in enumerate(lines[place + 1 :], start=1):
            if "|" not in row or row_number != number + after:  # a blank line ends a table
                break
            rows.append(_cells(row)[: len(header)])
        rows = [(*row, *[""] * (len(header) - len(row))) for row in rows]
        names = [cell or (f"column {n}" if n else INDEX_COLUMN) for n, cell in enumerate(header)]
        if any(re.search(r"\d", cell) for row in rows for cell in row[1:]):
            tables.append(MarkdownTable(lines[place - 1][0], tuple(names), rows))
    return tables


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a line as plain text."""
    inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", line)
    cells = _BETWEEN_CELLS.split(inner)
    return tuple(_MARKUP.sub("", _LINK.sub(r"\1", cell)).strip() for cell in cells)

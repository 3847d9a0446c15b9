"""Tables for papers and spreadsheets: the tables of a finding as LaTeX, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

from examiner.messages import visible
from examiner.reporting.finding import Finding
from examiner.reporting.prose import ABSENT, Name, said
from examiner.reporting.table import Cell, ShownColumn, ShownTable

Written = Literal["latex", "markdown", "csv"]
_LATEX = MappingProxyType(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"–": "--", "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "τ": r"$\tau$", "≤": r"$\le$"},
        "[": "{[}",  # at the beginning of a row it would be an option of the end of the one before
        **{"<": r"\textless{}", ">": r"\textgreater{}", "…": r"\dots{}", "₁₀": r"$_{10}$"},
    }
)


def written_tables(finding: Finding, kind: Written) -> str:
    """Return all tables of a finding as text; each begins with its caption as a comment, but for CSV.

    >>> columns = ShownColumn("agent", "name"), ShownColumn("mean", "number")
    >>> table = ShownTable(columns, ((Name("dqn_2"), 1.5),), "Means")
    >>> print(written(Finding(blocks=(table,)), "latex"))
    % Means
    \\begin{tabular}{lr}
    \\toprule
    agent & mean \\\\
    \\midrule
    dqn\\_2 & 1.5 \\\\
    \\bottomrule
    \\end{tabular}
    """
    tables = [block for block in finding.blocks if isinstance(block, ShownTable)]
    return "\n\n".join(table_text(table, kind) for table in tables)


def table_text(table: ShownTable, kind: Written) -> str:
    """Return one table as text.

    >>> columns = ShownColumn("a", "name"), ShownColumn("n", "count")
    >>> table = ShownTable(columns, ((Name("x|y"), 1200), (Name("z"), None)))
    >>> print(table_text(table, "markdown"))
    | a | n |
    |:--|--:|
    | x\\|y | 1,200 |
    | z | – |
    >>> print(table_text(table, "csv"))
    a,n
    x|y,1200
    z,
    """
    if kind == "csv":
        return _csv(table)
    cells = [[_text(cell) for cell in row] for row in table.rows]
    titles = [column.title for column in table.columns]
    caption = " ".join(said(table.caption).split())
    if kind == "markdown":
        head = [f"**{escaped(caption)}**\n"] if caption else []
        rule = "|".join("--:" if _is_number(column) else ":--" for column in table.columns)
        body = [_markdown_row(row) for row in [titles, *cells]]
        return "\n".join([*head, body[0], f"|{rule}|", *body[1:]])
    sides = "".join("r" if _is_number(column) else "l" for column in table.columns)
    head = [f"% {caption}"] if caption else []
    rows = [_latex_row(row) for row in cells]
    start = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", _latex_row(titles), r"\midrule"]
    return "\n".join([*head, *start, *rows, r"\bottomrule", r"\end{tabular}"])


def _is_number(column: ShownColumn) -> bool:
    return column.kind in ("number", "count")


def _text(cell: Cell) -> str:
    if cell is None or _is_absent(cell):
        return ABSENT
    if isinstance(cell, float):
        return f"{cell:.4g}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return visible(cell.text if isinstance(cell, Name) else cell)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def escaped(text: str) -> str:
    """Return text of which Markdown takes nothing as a mark of its own.

    >>> escaped("<b> dqn_2 | [x](y)")
    '\\\\<b> dqn\\\\_2 \\\\| \\\\[x](y)'
    """
    plain = " ".join(text.split()).replace("\\", "\\\\")
    for letter in "|*_`<[":
        plain = plain.replace(letter, f"\\{letter}")
    return plain


def _csv(table: ShownTable) -> str:
    """The numbers themselves, with all digits and no marks between them; what is absent is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if table.records:
        writer.writerow(table.records[0])
        writer.writerows(
            ["" if _is_absent(value) else value for value in row.values()] for row in table.records
        )
    else:
        writer.writerow([column.title for column in table.columns])
        for row in table.rows:
            plain = [cell.text if isinstance(cell, Name) else cell for cell in row]
            writer.writerow(["" if _is_absent(cell) else cell for cell in plain])
    return stream.getvalue().rstrip("\n")


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))

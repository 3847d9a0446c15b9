"""Tables for papers and spreadsheets: the tables of a finding as LaTeX, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal

from examiner.answers import Column, Table
from examiner.messages import visible
from examiner.reporting.cells import cell_texts, is_numeric
from examiner.reporting.finding import Finding, ShownTable
from examiner.reporting.prose import plain_text

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

    >>> from examiner.answers import Column, Table
    >>> from examiner.reporting.finding import shown_table
    >>> columns = Column("agent", "name", "Agent"), Column("mean", "number", "Mean")
    >>> table = shown_table(Table.of(columns, {"agent": ["dqn_2"], "mean": [1.5]}), caption="Means")
    >>> print(written_tables(Finding(blocks=(table,)), "latex"))
    % Means
    \\begin{tabular}{lr}
    \\toprule
    agent & mean \\\\
    \\midrule
    dqn\\_2 & 1.50 \\\\
    \\bottomrule
    \\end{tabular}
    """
    tables = [block for block in finding.blocks if isinstance(block, ShownTable)]
    return "\n\n".join(table_text(table, kind) for table in tables)


def table_text(table: ShownTable, kind: Written) -> str:
    """Return one table as text.

    >>> from examiner.answers import Column, Table
    >>> from examiner.reporting.finding import shown_table
    >>> columns = Column("a", "name", "A"), Column("n", "count", "N")
    >>> table = shown_table(Table.of(columns, {"a": ["x|y", "z"], "n": [1200, None]}))
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
        return _csv(table.table if table.numbers is None else table.numbers)
    values = table.table.to_dict()
    texts = [cell_texts(column, values[column.name]) for column in table.columns]
    cells = [list(map(visible, row)) for row in zip(*texts, strict=True)]
    titles = [column.title for column in table.columns]
    caption = " ".join(plain_text(table.caption).split())
    if kind == "markdown":
        head = [f"**{escaped(caption)}**\n"] if caption else []
        rule = "|".join("--:" if is_numeric(column) else ":--" for column in table.columns)
        body = [_markdown_row(row) for row in [titles, *cells]]
        return "\n".join([*head, body[0], f"|{rule}|", *body[1:]])
    sides = "".join("r" if is_numeric(column) else "l" for column in table.columns)
    head = [f"% {caption}"] if caption else []
    rows = [_latex_row(row) for row in cells]
    start = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", _latex_row(titles), r"\midrule"]
    return "\n".join([*head, *start, *rows, r"\bottomrule", r"\end{tabular}"])


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


def _csv(table: Table) -> str:
    """All columns with all digits and no marks between them; what was not observed is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    values = table.to_dict()
    columns = [
        [_csv_cell(column, value) for value in values[name]]
        for name, column in table.columns.items()
    ]
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue().rstrip("\n")


def _csv_cell(column: Column, value: Any) -> object:  # Any: as the column declares
    if is_numeric(column):
        return "" if not math.isfinite(value) else int(value) if column.kind == "count" else value
    return "; ".join(value) if column.kind == "words" else value

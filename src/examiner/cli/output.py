"""What commands print: one JSON object, or tables for people; notes go to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_LONGEST_NAME = 100


def print_json(schema: str, content: dict[str, Any]) -> None:  # Any: JSON values
    """Print one JSON object that begins with its schema; NaN and infinity become null.

    >>> print_json("examiner.example/1", {"mean": float("nan")})
    {"schema": "examiner.example/1", "mean": null}
    """
    sys.stdout.write(json.dumps({"schema": schema, **_finite(content)}, allow_nan=False) + "\n")


def print_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
) -> None:
    """Print a table; names are shown as they are, never understood as markup.

    >>> print_table("Agents", ["agent", "mean"], [["[red]dqn", 1.5]])
    Agents
    agent     mean
    [red]dqn  1.5
    """
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(table)


def print_line(line: str) -> None:
    """Print one line as it is.

    >>> print_line("Report: report.html")
    Report: report.html
    """
    sys.stdout.write(line + "\n")


def print_notes(notes: Sequence[str]) -> None:
    """Print notes on standard error, one a line.

    >>> print_notes([])
    """
    for note in notes:
        sys.stderr.write(f"note: {printable(note, limit=2_000)}\n")


def printable(value: object, limit: int = _LONGEST_NAME) -> str:
    r"""Return text a terminal can be given: control characters shown, long names cut.

    >>> printable("red\x1b[31m"), printable(0.123456), printable(None)
    ('red\\x1b[31m', '0.1235', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "".join(
        letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(value)[: limit + 1]
    )
    return text if len(str(value)) <= limit else text[: limit - 1] + "…"


def _finite(value: Any) -> Any:  # Any: JSON values
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value

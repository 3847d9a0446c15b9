"""How tables show themselves in a notebook: plain HTML with every name escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

_STYLE = "text-align:left;overflow-wrap:anywhere;max-width:24em;padding:.15em .6em"
_LONGEST_CELL = 200
_SHOWN = 12
"""Rows that fit beside what a notebook says of them."""


def html_table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    notes: Sequence[str] = (),
    *,
    more: int = 0,
) -> str:
    """Return an HTML table with a caption, the notes above it and the number of rows not shown.

    >>> "&lt;script&gt;" in html_table("x", ["agent"], [["<script>"]])
    True
    """
    said = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = "".join(f'<th style="{_STYLE}"><bdi>{_cell(name)}</bdi></th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_STYLE}"><bdi>{_cell(cell)}</bdi></td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    rest = f"<p>… and {more:,} more rows</p>" if more > 0 else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p>"
        + (f"<ul>{said}</ul>" if said else "")
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


def html_columns(
    caption: str, columns: Mapping[str, Iterable[object]], notes: Sequence[str] = ()
) -> str:
    """Return an HTML table of columns, its first rows only.

    >>> "… and 8 more rows" in html_columns("x", {"task": [f"t{n}" for n in range(20)]})
    True
    """
    rows = list(zip(*columns.values(), strict=True))
    return html_table(caption, list(columns), rows[:_SHOWN], notes, more=len(rows) - _SHOWN)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…")

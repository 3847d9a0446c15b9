"""One renderer per format: answers and their tables as text, HTML, JSON, CSV, LaTeX and Markdown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from examiner.answers import RESERVED, Answer, Table
from examiner.messages import InputError, shorten, visible
from examiner.reporting.cells import cell_texts, explanation
from examiner.reporting.columns import LONGEST_NAME, shortened_list, text_columns, text_table
from examiner.reporting.finding import shown_table
from examiner.reporting.json import jsonable
from examiner.reporting.widths import wrapped_lines
from examiner.reporting.written import Written, table_text

if TYPE_CHECKING:
    from examiner.reporting.plots.plot import Plot

SCREEN_WIDTH = 80
SHORT_ROWS, NOTEBOOK_ROWS = 5, 12
"""Rows of each table in a repr and in a notebook; all are in JSON, CSV and data frames."""
HEADLINE_LINES = 3


def json_object(answer: Answer) -> dict[str, Any]:  # Any: JSON values
    """Return the one documented object: headline, scalars, tables as rows, and what columns mean."""
    tables, scalars = answer.tables, answer.scalars
    described: dict[str, Any] = {
        name: {
            "level": table.level,
            "caption": table.caption,
            "score_unit": table.score_unit,
            "columns": {
                column.name: {
                    "kind": column.kind,
                    "meaning": column.meaning,
                    "unit": column.unit,
                    "title": column.title,
                    "of": column.of,
                }
                for column in table.columns.values()
            },
        }
        for name, table in tables.items()
    }
    names = [*tables, *scalars]
    for name in names:
        if name in RESERVED or names.count(name) > 1:
            raise InputError(
                f"A table or scalar cannot be called {shorten(name)} in JSON, where another part has "
                "this name. Rename it."
            )
    described["scalars"] = {
        name: {"meaning": part.meaning, "unit": part.unit} for name, part in scalars.items()
    }
    content = {
        "schema": answer.schema,
        "headline": answer.headline,
        **{name: part.value for name, part in scalars.items()},
        **{name: table.records() for name, table in tables.items()},
        "notes": answer.all_notes,
        "settings": answer.settings,
        "columns": described,
    }
    plain: dict[str, Any] = jsonable(content)
    return plain


def written_text(table: Table, kind: Written) -> str:
    """Return a table as CSV with all digits, as LaTeX or as Markdown."""
    return table_text(shown_table(table), kind)


def short_text(thing: Answer | Table) -> str:
    """Return the headline and the first rows of each table: a dozen lines of at most 80 columns."""
    if isinstance(thing, Table):
        return "\n".join(text_lines(thing, SHORT_ROWS * 2))
    lines = _headline_lines(thing.headline)
    filled = [(name, table) for name, table in thing.tables.items() if len(table)][:2]
    units = dict.fromkeys(table.score_unit for _, table in filled if table.score_unit)
    lines += [shortened_list(f"Scores: {unit}", SCREEN_WIDTH) for unit in units]
    for name, table in filled:
        title = shortened_list(f"{visible(name)} ({len(table):,}):", SCREEN_WIDTH)
        lines += ["", title, *text_lines(table, SHORT_ROWS)]
    return "\n".join(lines)


def _headline_lines(headline: str) -> list[str]:
    """A headline of at most three lines; a name that is longer than a line is cut."""
    words = visible(" ".join(headline.split())).split(" ")
    lines = wrapped_lines(
        " ".join(shortened_list(word, SCREEN_WIDTH) for word in words if word), SCREEN_WIDTH
    )
    if len(lines) <= HEADLINE_LINES:
        return lines
    last = shortened_list(" ".join(lines[HEADLINE_LINES - 1 :]), SCREEN_WIDTH)
    return [*lines[: HEADLINE_LINES - 1], last]


def text_lines(table: Table, rows: int, width: int = SCREEN_WIDTH) -> list[str]:
    """Return the first rows within a width, and which columns are not shown.

    >>> from examiner.answers import Column
    >>> columns = [Column("task", "name", "Task"), Column("bits", "number", "Bits")]
    >>> table = Table.of(columns, {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
    >>> print("|".join(text_lines(table, 9)))
    task      bits|pong     0.500|venture  0.250
    """
    columns, values = list(table.columns.values()), table.take(range(len(table))[:rows]).to_dict()
    shown = text_table(text_columns(columns, values), width)
    lines = [*shown.header, *(line for row in shown.rows for line in row)]
    left = len(table) - rows
    more = [f"{left:,} more {'row' if left == 1 else 'rows'}"] if left > 0 else []
    if shown.left_out:
        hidden = [visible(column.name) for column in columns[-shown.left_out :]]
        more.append(f"not shown: {', '.join(hidden)}")
    return [*lines, shortened_list(f"… {'; '.join(more)}", width)] if more else lines


def notebook_html(thing: Answer | Table) -> str:
    """Return a notebook's view: headline, tables with meanings as tooltips, notes and the figure."""
    if isinstance(thing, Table):
        return _html_table(thing)
    parts = [f"<p><strong>{_escaped(thing.headline)}</strong></p>"]
    parts += [
        f"<p>{_escaped(name)} ({len(table):,})</p>{_html_table(table)}"
        for name, table in thing.tables.items()
        if len(table)
    ]
    if thing.all_notes:
        notes = "".join(f"<li>{_escaped(note)}</li>" for note in thing.all_notes)
        parts.append(f"<ul>{notes}</ul>")
    from examiner.reporting.plots.answers import small_figure  # numpy alone, but only here

    return f"<div>{''.join(parts)}{small_figure(thing)}</div>"


def _html_table(table: Table) -> str:
    head = "".join(
        f'<th title="{_escaped(explanation(column))}">{_escaped(column.title)}</th>'
        for column in table.columns.values()
    )
    values = table.take(range(len(table))[:NOTEBOOK_ROWS]).to_dict()
    cells = [
        [shortened_list(text, LONGEST_NAME) for text in cell_texts(column, values[name])]
        for name, column in table.columns.items()
    ]
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{_escaped(text)}</bdi></td>" for text in row) + "</tr>"
        for row in zip(*cells, strict=True)
    )
    more = f"<p>… and {len(table) - NOTEBOOK_ROWS:,} more rows</p>"
    table_html = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return table_html + (more if len(table) > NOTEBOOK_ROWS else "")


def _escaped(text: str) -> str:
    return escape(visible(text))


def plot(answer: Answer) -> Plot:
    """Draw the estimates of an answer's first table with their intervals."""
    from examiner.reporting.plots.answers import draw

    return draw(answer)

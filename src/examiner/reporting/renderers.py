"""One renderer per format: answers and their tables as text, HTML, JSON, CSV, LaTeX and Markdown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from examiner.answers import RESERVED, Answer, Scalar, Table
from examiner.messages import InputError, shorten, visible
from examiner.reporting.cells import cell_texts, explanation, is_numeric
from examiner.reporting.columns import shortened_list
from examiner.reporting.finding import Facts, Finding, Piece, noted, shown_table
from examiner.reporting.json import jsonable
from examiner.reporting.prose import Name, Sentence, aligned, cut
from examiner.reporting.widths import display_width, padded, wrapped_lines
from examiner.reporting.written import table_text

if TYPE_CHECKING:
    from examiner.reporting.plots.plot import Plot

SCREEN_WIDTH = 80
SHORT_ROWS, NOTEBOOK_ROWS = 5, 12
"""Rows of each table in a repr and in a notebook; all are in JSON, CSV and data frames."""
LONGEST_NAME = 32
"""Columns of a name in a repr."""
HEADLINE_LINES = 3


def finding_of(answer: Answer, title: str = "") -> Finding:
    """Return an answer as a finding, which the page, the terminal and Markdown show.

    >>> from examiner.answers import StoredAnswer
    >>> finding_of(StoredAnswer("examiner.example/1", "dqn leads.")).lead
    (Sentence(text='dqn leads.'),)
    """
    facts = [(name.replace("_", " "), (Name(_fact(part)),)) for name, part in shown_scalars(answer)]
    blocks: list[Piece] = [Facts(tuple(facts))] if facts else []
    blocks += [shown_table(table) for table in answer.tables.values() if len(table)]
    return Finding(
        answer.kind,
        title,
        lead=(Sentence(answer.headline),),
        blocks=(*blocks, *noted(answer.all_notes)),
        answer=answer,
    )


def shown_scalars(answer: Answer) -> list[tuple[str, Scalar]]:
    """Return the scalars that have a value."""
    return [(name, part) for name, part in answer.scalars.items() if part.value is not None]


def _fact(scalar: Scalar) -> str:
    value = scalar.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = f"{value:,.4g}"
    return f"{value} {scalar.unit}".rstrip()


def json_object(answer: Answer) -> dict[str, Any]:  # Any: JSON values
    """Return the one documented object: headline, scalars, tables as rows, and what columns mean."""
    tables, scalars = answer.tables, answer.scalars
    described: dict[str, Any] = {
        name: {
            "level": table.level,
            "caption": table.caption,
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


def csv_text(table: Table) -> str:
    """Return a table as CSV with all digits; what was not observed is empty."""
    return table_text(shown_table(table), "csv")


def latex_text(table: Table) -> str:
    """Return a table as LaTeX."""
    return table_text(shown_table(table), "latex")


def markdown_text(table: Table) -> str:
    """Return a table as Markdown."""
    return table_text(shown_table(table), "markdown")


def short_text(thing: Answer | Table) -> str:
    """Return the headline and the first rows of each table: a dozen lines of at most 80 columns."""
    if isinstance(thing, Table):
        return "\n".join(text_lines(thing, SHORT_ROWS * 2))
    lines = _headline_lines(thing.headline)
    filled = [(name, table) for name, table in thing.tables.items() if len(table)]
    for name, table in filled[:2]:
        title = f"{_short(name, LONGEST_NAME)} ({len(table):,}):"
        lines += ["", title, *text_lines(table, SHORT_ROWS)]
    return "\n".join(lines)


def _headline_lines(headline: str) -> list[str]:
    """A headline of at most three lines; a name that is longer than a line is cut."""
    words = visible(" ".join(headline.split())).split(" ")
    lines = wrapped_lines(
        " ".join(_short(word, SCREEN_WIDTH) for word in words if word), SCREEN_WIDTH
    )
    if len(lines) <= HEADLINE_LINES:
        return lines
    last = shortened_list(" ".join(lines[HEADLINE_LINES - 1 :]), SCREEN_WIDTH)
    return [*lines[: HEADLINE_LINES - 1], last]


def text_lines(table: Table, rows: int, width: int = SCREEN_WIDTH) -> list[str]:
    """Return aligned lines; columns that do not fit are named at the end, long names are cut.

    >>> from examiner.answers import Column
    >>> columns = [Column("task", "name", "Task"), Column("bits", "number", "Bits")]
    >>> table = Table.of(columns, {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
    >>> print("|".join(text_lines(table, 9)))
    task      bits|pong     0.500|venture  0.250
    """
    grid = _grid(table, rows)
    widths = [max(map(display_width, column)) for column in grid]
    kept = [at for at in range(len(grid)) if not at or sum(widths[: at + 1]) + 2 * at <= width]
    numeric = list(map(is_numeric, table.columns.values()))
    lines = [
        "  ".join(padded(grid[at][row], widths[at], right=numeric[at]) for at in kept).rstrip()
        for row in range(len(grid[0]))
    ]
    hidden = [column for at, column in enumerate(table.columns) if at not in kept]
    left = len(table) - rows
    more = [f"{left:,} more {'row' if left == 1 else 'rows'}"] if left > 0 else []
    more += [f"not shown: {', '.join(_short(name, LONGEST_NAME) for name in hidden)}"] * bool(
        hidden
    )
    return [*lines, shortened_list(f"… {'; '.join(more)}", width)] if more else lines


def _grid(table: Table, rows: int) -> list[list[str]]:
    """The title and the first cells of each column, long names cut."""
    first = table.take(range(min(rows, len(table)))).to_dict()
    grid = []
    for column in table.columns.values():
        texts = cell_texts(column, first[column.name], aligned)
        short = texts if is_numeric(column) else [_short(text, LONGEST_NAME) for text in texts]
        grid.append([_short(column.title, LONGEST_NAME), *short])
    return grid


def _short(text: str, limit: int) -> str:
    # what steers a terminal is written out in more letters, hence cut again
    return cut(visible(cut(text, limit)), limit) if text else ""


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
    cells = [column[1:] for column in _grid(table, NOTEBOOK_ROWS)]
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{_escaped(text)}</bdi></td>" for text in row) + "</tr>"
        for row in zip(*cells, strict=True)
    )
    more = f"<p>… and {len(table) - NOTEBOOK_ROWS:,} more rows</p>"
    table_html = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return table_html + (more if len(table) > NOTEBOOK_ROWS else "")


def _escaped(text: str) -> str:
    return escape(visible(text))


def plot(answer: Answer, name: str | None = None, **options: Any) -> Plot:  # Any: of the figure
    """Draw an answer's own figure, or the estimates of its first table with their intervals."""
    from examiner.reporting.plots.answers import draw

    return draw(answer, name, **options)

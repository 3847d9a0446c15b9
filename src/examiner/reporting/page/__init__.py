"""The page: sections become one HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from examiner.messages import counted
from examiner.reporting.cells import cell_texts, explanation, is_numeric
from examiner.reporting.finding import Figure, Grid, ShownTable, SortableAxis
from examiner.reporting.json import jsonable
from examiner.reporting.page.layout import chapters
from examiner.reporting.prose import Name, Sentence, aligned, cut, parts_of, said
from examiner.reporting.subjects import Subjects

if TYPE_CHECKING:
    from examiner.reporting.document import Report

LONGEST_NAME = 60
LONGEST_HOVER = 160
SCRIPTS = (
    "state",
    "figures",
    "grids",
    "tables",
    "take",
    "drawer",
    "search",
    "sidebar",
    "board",
    "start",
)
"""Files of the page's script, in the order they are run."""
MOST_ROWS = 500
"""Rows of a table on the page; all of them are in the JSON."""


def render(report: Report) -> str:
    """Return the page as text.

    Names are escaped by the template and, in figures, by `prose`. Should one slip through
    all the same, the page's security policy runs no script but our two, known by their checksums,
    and allows no request at all.

    >>> from examiner.reporting.document import Report
    >>> from examiner.reporting.finding import Finding
    >>> page = render(Report("T", (Finding("s", "S", (Name("<b>"), " leads.")),), {"seed": 0}, "examiner"))
    >>> "<bdi>&lt;b&gt;</bdi> leads." in page
    True
    """
    blocks = [block for section in report.sections for block in section.blocks]
    figures = any(isinstance(block, Figure) for block in blocks)
    scripts = [*([plotly_js()] if figures else []), page_script()]
    page = (
        _environment(report.subjects)
        .get_template("page.html.j2")
        .render(
            title=report.title,
            summary=summary(report.recipe),
            chapters=chapters(report.sections),
            verdict=report.verdict,
            subjects=report.subjects,
            recipe=report.recipe,
            command=report.command,
            style=_trusted(_resource("page.css")),
            scripts=[_trusted(script) for script in scripts],
            policy=" ".join(_checksum(script) for script in scripts),
        )
    )
    return str(page)


def summary(recipe: Mapping[str, Any]) -> str:  # Any: JSON values
    """Say in a line what a report is of, where that is known.

    >>> summary({"agents": 2, "tasks": 9, "runs": 1, "unit": "score"})
    '2 agents on 9 tasks, 1 run · score'
    """
    if "agents" not in recipe:
        return ""
    counts = [counted(recipe[name], name[:-1]) for name in ("agents", "tasks", "runs")]
    upto = "up to " if recipe["runs"] > 1 else ""
    return f"{counts[0]} on {counts[1]}, {upto}{counts[2]} · {cut(recipe['unit'], LONGEST_HOVER)}"


def page_script() -> str:
    """Return the page's own script: its files in order, in one scope of their own.

    >>> page_script().startswith('"use strict";')
    True
    """
    parts = "\n".join(_resource(f"scripts/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def script_json(value: object) -> str:
    r"""Write JSON that is safe inside a script element: no name can close it or open another.

    >>> script_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    options: dict[str, Any] = {"allow_nan": False, "separators": (",", ":")}  # Any: of `dumps`
    try:
        text = json.dumps(value, default=jsonable, **options)
    except ValueError:  # some plain list holds NaN
        text = json.dumps(jsonable(value), **options)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def figure_json(figure: Figure, subjects: Subjects) -> dict[str, Any]:  # Any: JSON values
    """Return what the page's script needs to draw a figure, and whose rows and columns it has.

    >>> from typing import NamedTuple
    >>> nothing = NamedTuple("Nothing", [])()
    >>> figure_json(Figure("f", nothing, {"data": [], "layout": {}}, (), ""), Subjects())["grid"] is None
    True
    """
    grid = None if figure.grid is None else _grid(figure.grid)
    sides = {side: _side(figure, of, subjects) for side, of in figure.sides._asdict().items() if of}
    return {"figure": figure.drawing, "grid": grid, "sides": sides}


def _side(figure: Figure, of: str, subjects: Subjects) -> dict[str, Any]:  # Any: JSON values
    """Whose rows or columns a figure has: positions among the report's agents or tasks."""
    place = subjects.places(of)
    return {"of": of, "at": [place.get(name, -1) for name in figure.data[of]]}


def plotly_js() -> str:
    """Return the part of plotly.js that draws on two axes, as the package carries it.

    >>> "plotly.js (cartesian" in plotly_js()[:200]
    True
    """
    return _resource("plotly-cartesian.min.js")


def _grid(grid: Grid) -> dict[str, Any]:  # Any: JSON values
    return {
        "rows": _axis(grid.rows),
        "columns": _axis(grid.columns),
        "details": [cut(detail, LONGEST_NAME) for detail in grid.details],
    }


def _axis(axis: SortableAxis) -> dict[str, Any]:  # Any: JSON values
    names = [cut(name, LONGEST_HOVER) for name in axis.names]
    return {"what": axis.what, "names": names, "orders": dict(axis.orders)}


class CellShown(NamedTuple):
    """A cell of a table on the page: its text, the number that it is sorted by, and its full name."""

    text: str
    value: float | None = None
    name: str = ""


def rows_shown(shown: ShownTable) -> list[list[CellShown]]:
    """Return the first rows of a table, numbers aligned within their column.

    >>> from examiner.answers import Column, Table
    >>> from examiner.reporting.finding import shown_table
    >>> table = Table.of([Column("mean", "number", "Mean")], {"mean": [1.25, 12, None]})
    >>> [row[0].text for row in rows_shown(shown_table(table))]
    ['1.25', '12.00', '–']
    """
    values = shown.table.take(range(min(len(shown), MOST_ROWS))).to_dict()
    columns = []
    for column in shown.columns:
        cells = values[column.name]
        texts = cell_texts(column, cells, aligned)
        if is_numeric(column):
            numbers = [value if math.isfinite(value) else None for value in cells]
            columns.append([CellShown(*pair) for pair in zip(texts, numbers, strict=True)])
        elif column.kind == "name":
            columns.append([CellShown(cut(text, LONGEST_NAME), name=text) for text in texts])
        else:
            columns.append([CellShown(text) for text in texts])
    return [list(row) for row in zip(*columns, strict=True)]


def _environment(subjects: Subjects) -> Any:  # Any: jinja2 is imported only when a page is made
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("examiner.reporting.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(rows_shown=rows_shown, most_rows=MOST_ROWS, name_limit=LONGEST_NAME)
    environment.filters.update(
        cut=cut,
        explanation=explanation,
        parts_of=parts_of,
        said=said,
        kind=lambda block: type(block).__name__.lower(),
        figure_json=lambda figure: _trusted(script_json(figure_json(figure, subjects))),
        script_json=lambda value: _trusted(script_json(value)),
    )
    environment.tests["sentence"] = lambda part: isinstance(part, Sentence)
    environment.tests["name"] = lambda part: isinstance(part, Name)
    return environment


def _trusted(text: str) -> Any:  # Any: jinja2 is imported only when a page is made
    from markupsafe import Markup

    return Markup(text)


def _resource(name: str) -> str:
    text = files("examiner.reporting.page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _checksum(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

"""The page: sections become one HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from examiner.telling.finding import Figure, Finding, Grid, SortableAxis
from examiner.telling.json import jsonable
from examiner.telling.prose import ABSENT, Name, aligned, cut, parts_of, said, three_digits
from examiner.telling.table import Cell, Table

LONGEST_NAME = 60
LONGEST_HOVER = 160
MOST_ROWS = 500
"""Rows of a table on the page; all of them are in the JSON."""


# Any: JSON values
def render(title: str, sections: Sequence[Finding], recipe: Mapping[str, Any], command: str) -> str:
    """Return the page as text.

    Names are escaped by the template and, in figures, by `prose`. Should one slip through
    all the same, the page's security policy runs no script but our two, known by their checksums,
    and allows no request at all.

    >>> page = render("T", [Finding("s", "S", (Name("<b>"), " leads."))], {"seed": 0}, "examiner")
    >>> "<bdi>&lt;b&gt;</bdi> leads." in page
    True
    """
    figures = any(isinstance(block, Figure) for section in sections for block in section.blocks)
    scripts = [*([plotly_js()] if figures else []), _resource("page.js")]
    template = _environment().get_template("page.html.j2")
    page = template.render(
        title=title,
        sections=sections,
        recipe=recipe,
        command=command,
        style=_trusted(_resource("page.css")),
        scripts=[_trusted(script) for script in scripts],
        policy=" ".join(_checksum(script) for script in scripts),
    )
    return str(page)


def script_json(value: object) -> str:
    r"""Write JSON that is safe inside a script element: no name can close it or open another.

    >>> script_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(jsonable(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def figure_json(figure: Figure) -> dict[str, Any]:  # Any: JSON values
    """Return what the page's script needs to draw a figure.

    >>> from typing import NamedTuple
    >>> nothing = NamedTuple("Nothing", [])()
    >>> figure_json(Figure("f", nothing, {"data": [], "layout": {}}, (), ""))["grid"] is None
    True
    """
    return {"figure": figure.drawing, "grid": None if figure.grid is None else _grid(figure.grid)}


def plotly_js() -> str:
    """Return plotly.js, which draws figures in a browser, as the installed plotly package ships it.

    >>> "plotly.js" in plotly_js()[:200]
    True
    """
    from plotly.offline import get_plotlyjs  # a tenth of a second that only a page needs

    # Browsers read \r\n as \n: only with the same line ends do they find the same checksum.
    return str(get_plotlyjs()).replace("\r\n", "\n")


def _grid(grid: Grid) -> dict[str, Any]:  # Any: JSON values
    return {
        "rows": _axis(grid.rows),
        "columns": _axis(grid.columns),
        "details": [cut(detail, LONGEST_NAME) for detail in grid.details],
    }


def _axis(axis: SortableAxis) -> dict[str, Any]:  # Any: JSON values
    names = [cut(name, LONGEST_HOVER) for name in axis.names]
    return {"what": axis.what, "names": names, "orders": dict(axis.orders)}


def cell_texts(table: Table) -> list[list[str]]:
    """Return the rows of a table as text, numbers aligned within their column.

    >>> from examiner.telling.table import Column
    >>> table = Table((Column("mean", "number"),), ((1.25,), (12.0,), (None,)))
    >>> cell_texts(table)
    [['1.25'], ['12.00'], ['–']]
    """
    rows = table.rows[:MOST_ROWS]
    columns = []
    for index, column in enumerate(table.columns):
        cells = [row[index] for row in rows]
        if column.kind == "number":
            columns.append(aligned([_number(cell) for cell in cells]))
        else:
            columns.append([_text(cell) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else float("nan")


def _text(cell: Cell) -> str:
    if cell is None:
        return ABSENT
    if isinstance(cell, Name):
        return cut(cell.text, LONGEST_NAME)
    if isinstance(cell, float):
        return three_digits(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def _environment() -> Any:  # Any: jinja2 is imported only when a page is made
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("examiner.telling.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(cell_texts=cell_texts, most_rows=MOST_ROWS, name_limit=LONGEST_NAME)
    environment.filters.update(
        cut=cut,
        parts_of=parts_of,
        said=said,
        kind=lambda block: type(block).__name__.lower(),
        figure_json=lambda figure: _trusted(script_json(figure_json(figure))),
    )
    environment.tests["name"] = lambda part: isinstance(part, Name)
    return environment


def _trusted(text: str) -> Any:  # Any: jinja2 is imported only when a page is made
    from markupsafe import Markup

    return Markup(text)


def _resource(name: str) -> str:
    text = files("examiner.telling.page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _checksum(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

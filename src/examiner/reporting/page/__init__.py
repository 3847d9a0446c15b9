"""The page: sections become one HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, SortableAxis
from examiner.reporting.json import jsonable
from examiner.reporting.page.layout import chapters
from examiner.reporting.page.tables import (
    LONGEST_NAME,
    interval_figure,
    page_table,
    pairs_json,
    rows_on_page,
)
from examiner.reporting.prose import cut, parts_of, without_invisible
from examiner.reporting.subjects import Subjects

if TYPE_CHECKING:
    from examiner.reporting.document import Report

LONGEST_HOVER = 160
SCRIPTS = (
    "state",
    "figures",
    "grids",
    "tables",
    "questions",
    "take",
    "drawer",
    "search",
    "sidebar",
    "board",
    "start",
)
"""Files of the page's script, in the order they are run."""


def render(report: Report) -> str:
    """Return the page as text.

    Names are escaped by the template and, in figures, by `prose`. Should one slip through
    all the same, the page's security policy runs no script but our two, known by their checksums,
    and allows no request at all.

    >>> from examiner.reporting.document import Report
    >>> from examiner.reporting.finding import Finding
    >>> from examiner.reporting.prose import named
    >>> lead = f"{named('<b>')} leads."
    >>> page = render(Report("T", (Finding("s", "S", lead),), {"seed": 0}, "examiner"))
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

    >>> figure_json(Figure("f", {}, {"data": [], "layout": {}}, "", ""), Subjects())["grid"] is None
    True
    """
    grid, drawing = None, figure.drawing
    if figure.grid is not None:
        grid, drawing = _grid(figure), _without_details(drawing)
    sides = {
        side: _side(figure, of, subjects)
        for side, of in (("rows", figure.rows), ("columns", figure.columns))
        if of
    }
    return {"figure": drawing, "grid": grid, "sides": sides}


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


def _grid(figure: Figure) -> dict[str, Any]:  # Any: JSON values
    """What a reader sees of cells: scores, where these are not their colours, and raw ones likewise."""
    grid, data = figure.grid, figure.data
    assert grid is not None
    same = np.array_equal(data["raw"], data["comparable"], equal_nan=True)
    coloured = np.array_equal(data["colour"], data["comparable"], equal_nan=True)
    return {
        "rows": _axis(grid.rows),
        "columns": _axis(grid.columns),
        "details": [cut(detail, LONGEST_NAME) for detail in grid.details],
        "score": None if coloured else chart.compact(data["comparable"], 4),
        "raw": None if same else chart.compact(data["raw"], 4),
    }


def _without_details(drawing: chart.Drawing) -> chart.Drawing:
    """The drawing of a heat map without a text for each cell: the page makes them when they are read."""
    (cells,) = drawing["data"]
    kept = {
        name: part for name, part in cells.items() if name not in ("customdata", "hovertemplate")
    }
    return {**drawing, "data": [kept]}


def _axis(axis: SortableAxis) -> dict[str, Any]:  # Any: JSON values
    names = [cut(name, LONGEST_HOVER) for name in axis.names]
    return {"what": axis.what, "names": names, "orders": dict(axis.orders)}


def _environment(subjects: Subjects) -> Any:  # Any: jinja2 is imported only when a page is made
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("examiner.reporting.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        page_table=page_table,
        interval_figure=interval_figure,
        pairs_json=pairs_json,
        rows_on_page=rows_on_page,
        name_limit=LONGEST_NAME,
    )
    environment.filters.update(
        cut=cut,
        parts_of=parts_of,
        without_invisible=without_invisible,
        kind=lambda block: type(block).__name__.lower(),
        figure_json=lambda figure: _trusted(script_json(figure_json(figure, subjects))),
        script_json=lambda value: _trusted(script_json(value)),
    )
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

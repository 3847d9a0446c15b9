"""Tables as the page shows them, and the figure and comparisons in the table of agents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from examiner.answers import Column
from examiner.reporting.cells import cell_texts, explanation, is_numeric
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import RankedTable, ShownTable, TaskTable
from examiner.reporting.prose import cut
from examiner.validation import Floats

LONGEST_NAME = 60


def rows_on_page(shown: ShownTable) -> int:
    """Return how many rows of a table the page has: all of them are in the JSON.

    >>> from examiner.answers import Column, Table
    >>> from examiner.reporting.finding import shown_table
    >>> rows_on_page(shown_table(Table.of([Column("n", "count", "N")], {"n": range(60)})))
    50
    """
    is_main_table = isinstance(shown, (RankedTable, TaskTable))
    return min(len(shown), 500 if is_main_table else 50)


class ColumnShown(NamedTuple):
    """A column of a table on the page: its title, its kind, and the columns of the table it shows."""

    title: str
    kind: str
    explanation: str
    names: tuple[str, ...]


class CellShown(NamedTuple):
    """A cell of a table on the page: its text, the numbers that it shows, and its full name."""

    text: str
    values: tuple[float | None, ...] = ()
    name: str = ""


class PageTable(NamedTuple):
    """A table as the page shows it: both ends of an interval stand in one column."""

    columns: list[ColumnShown]
    rows: list[list[CellShown]]


def page_table(shown: ShownTable) -> PageTable:
    """Return the first rows of a table.

    >>> from examiner.answers import Column, Table
    >>> from examiner.reporting.finding import shown_table
    >>> columns = [Column("mean", "number", "Mean"), Column("low", "number", "", of="mean"),
    ...            Column("high", "number", "", of="mean")]
    >>> table = Table.of(columns, {"mean": [1.25, None], "low": [1, None], "high": [2.5, None]})
    >>> [cell.text for cell in page_table(shown_table(table)).rows[0]]
    ['1.25', '1 to 2.50']
    """
    values = shown.table.take(range(rows_on_page(shown))).to_dict()
    columns: list[ColumnShown] = []
    cells: list[list[CellShown]] = []
    pending = list(shown.columns)
    while pending:
        column = pending.pop(0)
        both = [column]
        if (
            column.title == "low"
            and pending
            and (pending[0].of, pending[0].title) == (column.of, "high")
        ):
            both.append(pending.pop(0))
        columns.append(_column(both, shown.table.level))
        texts = [cell_texts(part, values[part.name]) for part in both]
        if is_numeric(column):
            numbers = [
                [v if math.isfinite(v) else None for v in values[part.name]] for part in both
            ]
            cells.append(list(map(CellShown, map(_joined, *texts), zip(*numbers, strict=True))))
        elif column.kind == "name":
            cells.append([CellShown(cut(text, LONGEST_NAME), name=text) for text in texts[0]])
        else:
            cells.append([CellShown(text) for text in texts[0]])
    return PageTable(columns, [list(row) for row in zip(*cells, strict=True)])


def _column(both: Sequence[Column], level: float) -> ColumnShown:
    column, names = both[0], tuple(part.name for part in both)
    title = column.title
    if len(both) == 2:
        title = "range" if column.kind == "count" else f"{100 * level:g} % interval"
    return ColumnShown(title, column.kind, explanation(column), names)


def _joined(low: str, high: str = "") -> str:
    return low if high in ("", low) else f"{low} to {high}"


class IntervalMark(NamedTuple):
    """A mean and the ends of its interval on a line from 0 to 100; None where there is none."""

    low: float | None
    value: float | None
    high: float | None
    first_group: bool


class IntervalFigure(NamedTuple):
    """The means of agents as marks, a row each, and where the axis above them has its ticks."""

    marks: list[IntervalMark]
    ticks: list[tuple[float, str]]


def interval_figure(shown: RankedTable) -> IntervalFigure:
    """Return the figure that stands in the rows of the ranking."""
    table = shown.table.take(range(rows_on_page(shown)))
    value, low, high = (np.array(table.values(n)) for n in ("mean", "mean_low", "mean_high"))
    ends = np.concatenate([value, low, high])
    ends = ends[np.isfinite(ends)]
    axis = stretch_for(value)
    first, last = float(ends.min()), float(ends.max())
    start, end = axis.positions(np.array([first, last])).tolist()
    span = (end - start) or 1.0

    def place(values: Floats) -> list[float | None]:
        at = (3 + 94 * (axis.positions(values) - start) / span).tolist()
        return [round(x, 2) if math.isfinite(x) else None for x in at]

    group = table.values("group") if "group" in table.columns else np.ones(len(table))
    marks = [
        IntervalMark(*row)
        for row in zip(place(low), place(value), place(high), group == 1, strict=True)
    ]
    ticks = axis.ticks(first, last, room=0.3)
    ticks = ticks[:: max(1, math.ceil(len(ticks) / 3))]
    places = place(np.array(ticks))
    return IntervalFigure(
        marks, [(x, f"{tick:g}") for x, tick in zip(places, ticks, strict=True) if x]
    )


def pairs_json(shown: RankedTable) -> dict[str, Any]:  # Any: JSON values
    """Return the comparisons of agents in pairs as the page's script reads them."""
    table = shown.compared
    if table is None:
        return {"pairs": []}
    names = ("difference", "difference_low", "difference_high", "p", "p_adjusted")
    numbers = [chart.compact(np.array(table.values(name)), 4) for name in names]
    rows = list(zip(table.values("a"), table.values("b"), *numbers, strict=True))
    agents = list(dict.fromkeys([*table.values("a"), *table.values("b")]))
    place = {agent: at for at, agent in enumerate(agents)}
    pairs = [[place[a], place[b], *values] for a, b, *values in rows]
    return {"agents": agents, "pairs": pairs, "test": shown.test, "unit": table.score_unit}

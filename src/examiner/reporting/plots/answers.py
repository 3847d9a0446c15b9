"""The figure of an answer: its estimates with their intervals."""

from __future__ import annotations

import numpy as np

from examiner.answers import Answer, Table
from examiner.messages import InputError
from examiner.reporting.figures.estimates import EstimatesData, draw_estimates, svg_estimates
from examiner.reporting.plots.plot import Plot, drawn_alone


def draw(answer: Answer) -> Plot:
    """Return the estimates of an answer with their intervals as a figure.

    >>> from examiner.answers import Column, StoredAnswer
    >>> table = Table.of([Column("agent", "name", "Agent"), Column("mean", "number", "Mean score")],
    ...                  {"agent": ["dqn"], "mean": [0.5]})
    >>> draw(StoredAnswer("examiner.example/1", "dqn leads.", {"agents": table}))
    Plot 'estimates': dqn leads.
    """
    data = estimates(answer)
    return drawn_alone("estimates", data._asdict(), draw_estimates(data), answer.headline)


def small_figure(answer: Answer) -> str:
    """Return the estimates as a picture for a notebook; nothing where there are none."""
    try:
        return svg_estimates(estimates(answer))
    except InputError:
        return ""


def estimates(answer: Answer) -> EstimatesData:
    """Return the first estimate of the first table that has one, with its interval.

    An interval is its bounds, or else 1.96 standard errors to both sides.
    """
    for table in answer.tables.values():
        numbers = [c for c in table.columns.values() if c.kind == "number" and not c.of]
        if len(table) and table.keys and numbers:
            return _estimates(table, numbers[0].name)
    raise InputError("This answer has no estimates to draw.")


def _estimates(table: Table, name: str) -> EstimatesData:
    shown = table.take(range(len(table))[:60])  # more cannot be read
    names = tuple(
        " · ".join(row) for row in zip(*(shown.values(k) for k in table.keys), strict=True)
    )
    estimate = np.array(shown.values(name))
    low = high = np.full(len(estimate), np.nan)
    for column in shown.columns.values():
        if column.of == name:
            values = np.array(shown.values(column.name))
            if column.title == "low":
                low = values
            elif column.title == "high":
                high = values
            elif np.isnan(low).all():
                low, high = estimate - 1.96 * values, estimate + 1.96 * values
    column = shown.columns[name]
    title = f"{column.meaning} ({column.unit})" if column.unit else column.meaning
    estimate, low, high = (np.where(np.isfinite(p), p, np.nan) for p in (estimate, low, high))
    return EstimatesData(names, estimate, low, high, title)

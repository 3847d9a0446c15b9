"""Difficulty and discrimination of tasks: one point a task."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.prose import labels

REACH = 6.0
"""Difficulties further out are drawn at the edge: few tasks lie there, and none exactly."""


class DifficultyMapData(NamedTuple):
    """What is drawn, each of shape [tasks]; `shown` is difficulty, at the edge where it lies beyond."""

    tasks: tuple[str, ...]
    difficulty: Floats
    discrimination: Floats
    error: Floats
    shown: Floats


def data(
    tasks: tuple[str, ...], difficulty: Floats, discrimination: Floats, error: Floats
) -> DifficultyMapData:
    """Prepare the points.

    >>> one = np.array([1.0])
    >>> data(("t",), 90 * one, one, one).shown
    array([6.])
    """
    return DifficultyMapData(
        tasks, difficulty, discrimination, error, np.clip(difficulty, -REACH, REACH)
    )


def draw(data: DifficultyMapData) -> chart.Drawing:
    """Draw difficulty to the right and discrimination, with its error, upwards; below 0 the weak win.

    >>> one = np.array([1.0])
    >>> draw(DifficultyMapData(("<t>",), one, one, one, one))["data"][0]["text"]
    ['&lt;t&gt;']
    """
    hover = "%{text}: difficulty %{customdata}, discrimination %{y:.2f}"
    points = chart.dots(data.shown, data.discrimination, "tasks", chart.DOTS, hover)
    told = {"text": labels(data.tasks, 60), "customdata": chart.compact(data.difficulty, 3)}
    bars = {"error_y": chart.error_bars(data.error, chart.DOTS + chart.LIGHT)}
    x, y = chart.axis("difficulty"), chart.axis("discrimination")
    traces = [points | told | bars | chart.linked("tasks", data.tasks)]
    return chart.figure(traces, 295, x, y, legend=False, top=10, shapes=[chart.across(y=0.0)])

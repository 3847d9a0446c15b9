"""Figures of the report with marks of your own in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from examiner.messages import InputError, counted, unknown_name
from examiner.reporting import FINDINGS
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding
from examiner.reporting.plots.plot import Plot
from examiner.reporting.prose import said
from examiner.reporting.study import Study
from examiner.results import Results

RED = "#d7191c"


def marked_clusters(results: Results, tasks: Sequence[str], measure: str | None = None) -> Plot:
    """Draw the correlations of tasks in clusters, with these tasks marked red (papers/004, Fig. 1).

    >>> import numpy as np
    >>> scores = np.arange(12.0)[:, None] + np.random.default_rng(0).normal(size=(12, 5))
    >>> results = Results.from_numpy(scores, tasks="tuvwx")
    >>> drawn = marked_clusters(results, ["u"])
    >>> [results.tasks[1]] == [drawn.data.tasks[place] for place in drawn.plotly().data[-1].x]
    True
    """
    for task in tasks:
        if task not in results.tasks:
            raise unknown_name("task", task, results.tasks)
    found = FINDINGS["similarity"](Study.of(results, None, measure))
    for block in found.blocks:
        if isinstance(block, Figure) and block.key == "task-clusters":
            marked = _marked(block, tasks)
            return Plot(
                "marked_clusters", Finding(found.key, found.title, found.lead, (marked,)), marked
            )
    raise InputError(f"There is nothing to draw as 'marked_clusters': {said(found.lead)}")


def _marked(figure: Figure, tasks: Sequence[str]) -> Figure:
    order = figure.data["tasks"]
    places = [order.index(task) for task in tasks if task in order]
    dots = chart.dots(places, places, "chosen", RED, "%{y}", size=8, symbol="square")
    drawing = {**figure.drawing, "data": [*figure.drawing["data"], dots]}
    beside = counted(len(tasks) - len(places), "chosen task")
    lacking = (
        f" {beside} on which agents do not differ, not drawn." if len(places) < len(tasks) else ""
    )
    legend = f"{said(figure.legend)} Red are the chosen tasks.{lacking}"
    return replace(figure, drawing=drawing, legend=legend)

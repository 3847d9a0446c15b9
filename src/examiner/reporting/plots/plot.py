"""A figure by itself: its data, and ways to see and to save it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Unpack

from examiner.messages import InputError
from examiner.reporting.figures.chart import Drawing
from examiner.reporting.figures.printed import ENDINGS, Columns, save_printed
from examiner.reporting.finding import Figure, Finding
from examiner.reporting.findings import FINDINGS
from examiner.reporting.prose import plain_text
from examiner.reporting.study import Study, StudyOptions
from examiner.results import Results, write_text
from examiner.scores import OwnFunction


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of the report: its data, and ways to see it.

    >>> from examiner.reporting.plots import plot
    >>> from examiner.results import Results
    >>> plot("heatmap", Results.from_numpy([[0.5, 1.0], [0.0, 0.9]]))
    Plot 'heatmap': On average the highest scores are on task 2 (0.95), lowest on task 1 (0.25).
    """

    name: str
    finding: Finding
    figure: Figure

    @property
    def data(self) -> Any:  # Any: arrays, names and numbers
        """What is drawn, by name."""
        return SimpleNamespace(**self.figure.data)

    def plotly(self) -> Any:  # Any: plotly is imported only when a figure is wanted
        """Return the figure as plotly's own, to be changed.

        >>> from examiner.reporting.plots import plot
        >>> from examiner.results import Results
        >>> len(plot("heatmap", Results.from_numpy([[0.5, 1.0], [0.0, 0.9]])).plotly().data)
        1
        """
        from plotly.graph_objects import Figure as PlotlyFigure

        return PlotlyFigure(self.figure.drawing)

    def save(self, path: str | Path, columns: Columns = "two") -> Path:
        """Write the figure, and return where it is: a page that works offline, or SVG, PDF or PNG.

        The ending says which; pictures for papers are as wide as one column or two, and need matplotlib
        (`pip install 'examiner[figures]'`).

        >>> import tempfile
        >>> from examiner.reporting.plots import plot
        >>> from examiner.results import Results
        >>> page = Path(tempfile.mkdtemp()) / "heatmap.html"
        >>> plot("heatmap", Results.from_numpy([[0.5, 1.0]])).save(page) == page
        True
        """
        if Path(path).suffix.lower() in ENDINGS:
            return save_printed(self.figure.drawing, path, columns)
        return write_text(path, self._page())

    def __repr__(self) -> str:
        return f"Plot {self.name!r}: {plain_text(self.figure.caption)}"

    def _repr_html_(self) -> str:
        """A page inside the notebook, so that neither disturbs the other."""
        height = int(self.figure.drawing["layout"]["height"]) + 260
        style = f"width:100%;height:{height}px;border:0"
        return f'<iframe srcdoc="{escape(self._page())}" style="{style}"></iframe>'

    def _page(self) -> str:
        from examiner.reporting.document import Report
        from examiner.reporting.page import render  # a template engine that only a page needs

        command = f"ex.plots.{self.name}(results)"
        return render(Report(self.finding.title, (self.finding,), {}, command))


def plot_of_report(
    name: str,
    section: str,
    key: str,
    results: Results,
    normalise: str | OwnFunction | None = "auto",
    measure: str | None = None,
    **options: Unpack[StudyOptions],
) -> Plot:
    """Return a figure of a section of the report, by its key there."""
    finding = FINDINGS[section](Study.of(results, normalise, measure, **options))
    for block in finding.blocks:
        if isinstance(block, Figure) and block.key == key:
            return Plot(name, replace(finding, blocks=(block,)), block)
    raise InputError(f"There is nothing to draw as {name!r}: {plain_text(finding.lead)}")


def plot_of(name: str, figure: Figure) -> Plot:
    """Return a figure that stands in no report, under a title of its own."""
    title = name.replace("_", " ").capitalize()
    return Plot(name, Finding(figure.key, title, figure.caption, (figure,)), figure)


def drawn_alone(name: str, data: Mapping[str, Any], drawing: Drawing, caption: str) -> Plot:
    """Return a drawing that stands in no report, with a caption of its own.

    >>> drawn_alone("steps", {}, {"data": [], "layout": {}}, "One step.")
    Plot 'steps': One step.
    """
    title = name.replace("_", " ").capitalize()
    figure = Figure(name.replace("_", "-"), data, drawing, caption, description=title)
    return plot_of(name, figure)

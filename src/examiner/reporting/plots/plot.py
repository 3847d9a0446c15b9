"""A figure by itself: its data, and ways to see and to save it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from examiner.reporting.figures.chart import Drawing
from examiner.reporting.figures.printed import ENDINGS, Columns, save_printed
from examiner.reporting.finding import Drawn, Figure, Finding
from examiner.reporting.prose import Prose, said
from examiner.results import write_text


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
    def data(self) -> Drawn:
        """What is drawn: a named tuple."""
        return self.figure.drawn

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
        return f"Plot {self.name!r}: {said(self.figure.caption)}"

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


def drawn_alone(name: str, drawn: Drawn, drawing: Drawing, caption: Prose) -> Plot:
    """Return a figure that stands in no report, with a caption of its own.

    >>> from examiner.reporting.figures.flow import FlowData, draw_flow
    >>> steps = FlowData(("read",), ("2 tasks",))
    >>> drawn_alone("steps", steps, draw_flow(steps), "One step.")
    Plot 'steps': One step.
    """
    key = name.replace("_", "-")
    title = name.replace("_", " ").capitalize()
    figure = Figure(key, drawn, drawing, caption, description=title)
    return Plot(name, Finding(key, title, caption, (figure,)), figure)

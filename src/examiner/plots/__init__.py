"""Every figure of the report by its name, as a function of results: `ex.plots.heatmap(results)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

from examiner.checking import check_known
from examiner.results import Results
from examiner.results.storage import write_text
from examiner.scores import OwnFunction
from examiner.telling import FINDINGS
from examiner.telling.figures.printed import ENDINGS, Columns, save_printed
from examiner.telling.finding import Drawn, Figure, Finding
from examiner.telling.prose import said
from examiner.telling.study import Study, StudyOptions
from examiner.wording import InputError

PLOTS = MappingProxyType(
    {
        "heatmap": ("heatmap", "heatmap"),
        "strips": ("ranking", "ranking-strips"),
        "intervals": ("intervals", "intervals"),
        "profiles": ("profiles", "profiles"),
        "ranks": ("rank_probabilities", "rank-probabilities"),
        "critical": ("significance", "critical-difference"),
        "editions": ("editions", "editions"),
        "decision": ("decision", "decision"),
        "pareto": ("cost", "pareto"),
        "learning_curves": ("learning", "learning-curves"),
        "task_learning_curves": ("learning", "learning-curves-tasks"),
        "bump": ("curves", "curves-ranks"),
        "wright_map": ("wright_map", "wright-map"),
        "task_curves": ("task_curves", "task-curves-difficulty"),
        "steep_task_curves": ("task_curves", "task-curves-discrimination"),
        "negative_task_curves": ("task_curves", "task-curves-negative"),
        "suspects": ("suspects", "suspects"),
        "difficulty_map": ("task_table", "difficulty-map"),
        "agent_curves": ("agent_curves", "agent-curves"),
        "ability_generality": ("ability_generality", "ability-generality"),
        "information_curve": ("information", "information-curve"),
        "information_bars": ("information", "information-bars"),
        "task_clusters": ("likeness", "task-clusters"),
        "task_tree": ("likeness", "task-tree"),
        "coverage": ("typology", "typology-coverage"),
        "cost_quality": ("selection", "cost-quality"),
        "adaptive_trace": ("next_task", "adaptive-trace"),
    }
)
"""Name → the finding that draws the figure, and its key there. A new figure is one line here."""

__all__ = ["PLOTS", "Plot", "plot", *PLOTS]  # noqa: PLE0604  # names from the table


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of the report: its data, and ways to see it.

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
        from examiner.telling.document import Report
        from examiner.telling.page import render  # a template engine that only a page needs

        command = f"ex.plots.{self.name}(results)"
        return render(Report(self.finding.title, (self.finding,), {}, command))


def plot(
    name: str,
    results: Results,
    normalise: str | OwnFunction | None = "auto",
    measure: str | None = None,
    **options: Unpack[StudyOptions],
) -> Plot:
    """Draw a figure of the report; the options are those of `report`.

    >>> results = Results.from_numpy([[0.5, 1.0], [0.0, 0.9]], agents=["dqn", "random"])
    >>> plot("strips", results).data.agents
    ('dqn', 'random')
    """
    check_known("plot", name, PLOTS)
    finding, key = PLOTS[name]
    found = FINDINGS[finding](Study.of(results, normalise, measure, **options))
    for block in found.blocks:
        if isinstance(block, Figure) and block.key == key:
            return Plot(name, Finding(found.key, found.title, found.lead, (block,)), block)
    raise InputError(f"There is nothing to draw as {name!r}: {said(found.lead)}")


def __getattr__(name: str) -> Callable[..., Plot]:
    if name not in PLOTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def draw(
        results: Results,
        normalise: str | OwnFunction | None = "auto",
        measure: str | None = None,
        **options: Unpack[StudyOptions],
    ) -> Plot:
        return plot(name, results, normalise, measure, **options)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = (
        f"Draw what the report shows in its section {PLOTS[name][0]!r}, with the same options.\n\n"
        f">>> ex.plots.{name}(results).save('{name}.html')"
    )
    return draw


def __dir__() -> list[str]:
    return __all__

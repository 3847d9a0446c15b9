"""Figures by name: the report's, of results (`ex.plots.heatmap(results)`), and those of a fit."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Unpack

from examiner.reporting.plots.fits import abilities as abilities
from examiner.reporting.plots.fits import chosen_agent_curves as chosen_agent_curves
from examiner.reporting.plots.fits import chosen_task_curves as chosen_task_curves
from examiner.reporting.plots.fits import expected_agent_curves as expected_agent_curves
from examiner.reporting.plots.fits import slope_and_regularity as slope_and_regularity
from examiner.reporting.plots.fits import task_panels as task_panels
from examiner.reporting.plots.fits import variance_and_mean as variance_and_mean
from examiner.reporting.plots.others import marked_clusters as marked_clusters
from examiner.reporting.plots.others import over_time as over_time
from examiner.reporting.plots.others import typology_steps as typology_steps
from examiner.reporting.plots.plot import Plot as Plot
from examiner.reporting.plots.plot import plot_of_report
from examiner.reporting.study import StudyOptions
from examiner.results import Results
from examiner.scores import OwnFunction
from examiner.validation import check_known

PLOTS = MappingProxyType(
    {
        "heatmap": ("heatmap", "heatmap"),
        "strips": ("strips", "ranking-strips"),
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
        "task_clusters": ("similarity", "task-clusters"),
        "task_tree": ("similarity", "task-tree"),
        "coverage": ("typology", "typology-coverage"),
        "cost_quality": ("selection", "cost-quality"),
        "adaptive_trace": ("next_task", "adaptive-trace"),
    }
)
"""Name → the finding that draws the figure, and its key there. A new figure is one line here."""

BESIDE_THE_REPORT = (
    "abilities",
    "chosen_agent_curves",
    "chosen_task_curves",
    "expected_agent_curves",
    "marked_clusters",
    "over_time",
    "slope_and_regularity",
    "task_panels",
    "typology_steps",
    "variance_and_mean",
)
"""Figures that no report draws: of a fit or of kinds, or with marks of your own."""

__all__ = ["PLOTS", "Plot", "plot", *PLOTS, *BESIDE_THE_REPORT]  # noqa: PLE0604  # names from the tables


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
    return plot_of_report(name, *PLOTS[name], results, normalise, measure, **options)


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

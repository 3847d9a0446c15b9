"""Figures by the data they draw, and by what plotly says of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import examiner as ex
from examiner.reporting.figures.chart import compact
from examiner.reporting.figures.stretch import Stretch, stretch_for
from examiner.reporting.page import plotly_js
from examiner.results import Scales, TaskScale

HOSTILE = ("<b>x</b>", "2020-01-01", "%{z} $x$")
SCORES = np.array([[0.0, 1.0, 40.0], [0.5, np.nan, 2.0]])


def results(scores=SCORES, tasks=HOSTILE) -> ex.Results:
    """Scores on the human scale: 0 is random play, 1 a human."""
    scales = Scales(TaskScale(task, random=0.0, reference=1.0) for task in tasks)
    return ex.Results.from_numpy(scores, tasks=tasks, scales=scales)


def heat(normalise="human", scores=SCORES, tasks=HOSTILE) -> ex.plots.Plot:
    return ex.plots.heatmap(results(scores, tasks), normalise)


def of_task(plot: ex.plots.Plot, name: str, task: str) -> list[float]:
    """A column of the data, agents in their order by name."""
    agents = np.argsort(plot.data.agents)
    return list(getattr(plot.data, name)[agents, plot.data.tasks.index(task)])


@pytest.mark.parametrize("normalise", [None, "human"])
def test_plotly_accepts_the_figures(normalise):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    for plot in (heat(normalise), ex.plots.strips(results(), normalise)):
        drawing = plot.figure.drawing
        assert len(graph_objects.Figure(drawing).data) == len(drawing["data"]) > 0


def test_the_centre_has_the_middle_colour_and_each_side_its_own_length():
    drawn = heat()
    assert of_task(drawn, "colour", HOSTILE[1])[0] == 0
    assert of_task(drawn, "colour", HOSTILE[0])[0] == -1
    assert of_task(drawn, "colour", HOSTILE[2])[0] == 1
    assert -1 < of_task(drawn, "colour", HOSTILE[0])[1] < 0
    assert 0 < of_task(drawn, "colour", HOSTILE[2])[1] < 1


def test_values_beyond_the_robust_range_have_the_colours_of_the_ends():
    scores = np.concatenate([np.linspace(0, 1, 99), [1e9]])[None, :]
    drawn = heat(None, scores, [str(n) for n in range(100)]).data
    assert drawn.high <= 1.0
    assert drawn.colour.max() == 1.0


def test_a_cell_that_was_not_observed_has_no_colour_and_no_hover():
    plot = heat()
    (trace,) = plot.figure.drawing["data"]
    row = plot.data.agents.index("agent 2"), plot.data.tasks.index(HOSTILE[1])
    assert trace["z"][row[0]][row[1]] is None
    assert trace["hoverongaps"] is False


def test_equal_values_have_one_colour():
    assert np.unique(heat(None, np.full((2, 3), 0.3)).data.colour).tolist() == [0.5]
    assert np.unique(heat("human", np.full((2, 3), 1.0)).data.colour).tolist() == [0.0]


def test_values_on_one_side_of_the_centre_have_all_colours_to_themselves():
    drawn = heat("human", np.array([[2.0, 3.0, 4.0], [2.0, 3.0, 4.0]])).data
    assert drawn.centre is None
    assert sorted(drawn.colour[0].tolist()) == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("axis", ["xaxis", "yaxis"])
def test_names_stand_at_numbers_so_that_none_is_read_as_a_number_or_a_date(axis):
    layout = heat().figure.drawing["layout"]
    assert all(isinstance(place, int) for place in layout[axis]["tickvals"])
    texts = ["&lt;b&gt;x&lt;/b&gt;", "2020-01-01", "%{z} &#36;x&#36;"]
    assert sorted(layout["xaxis"]["ticktext"]) == sorted(texts)


def test_no_name_is_in_a_hover_template():
    drawings = [heat().figure.drawing, ex.plots.strips(results()).figure.drawing]
    templates = [trace.get("hovertemplate", "") for figure in drawings for trace in figure["data"]]
    assert not any(name in template for name in ("x</b>", "2020", "{z}") for template in templates)


def test_dots_are_the_observed_cells():
    dots = ex.plots.strips(results()).figure.drawing["data"][1]
    assert dots["name"] == "one task"
    assert sorted(value for _, value in dots["customdata"]) == [0.0, 0.5, 1.0, 2.0, 40.0]


def test_thousands_of_dots_are_left_out():
    scores = np.random.default_rng(0).normal(size=(5, 1000))
    many = ex.plots.strips(ex.Results.from_numpy(scores), None)
    assert not many.data.dots
    assert [trace["name"] for trace in many.figure.drawing["data"]] == [
        "middle half",
        "mean",
        "interquartile mean",
    ]


def test_an_agent_without_scores_has_an_empty_row():
    measured = {"agent": ["a", "a", "b"], "task": ["t", "u", "t"], "score": [1.0, 2.0, None]}
    drawn = ex.plots.strips(ex.Results.from_dict(measured), None)
    assert np.isnan(drawn.data.upper_quartile[1])
    assert drawn.figure.drawing["data"][2]["x"] == [1.5, None]


def test_a_stretched_axis_keeps_the_order_of_values():
    values = np.array([-1e6, -3.0, 0.0, 1.0, 2.0, 1e6])
    axis = stretch_for(values, 1.0)
    assert axis.width is not None
    assert (np.diff(axis.positions(values)) > 0).all()


@pytest.mark.parametrize(
    ("axis", "low", "high"),
    [
        (Stretch(), 0.06, 0.93),
        (Stretch(), -3e9, 7e9),
        (Stretch(1.0, 0.8), -0.5, 300.0),
        (Stretch(), 2.0, 2.0),
    ],
)
def test_ticks_are_few_round_and_inside(axis, low, high):
    ticks = axis.ticks(low, high)
    assert 1 <= len(ticks) <= 15
    assert all(low <= tick <= high for tick in ticks)
    assert list(ticks) == sorted(set(ticks))


def test_pictures_carry_five_digits_and_no_nan():
    assert compact(np.array([math.pi, np.nan, -1e-30, 1e300])) == [3.1416, None, -1e-30, 1e300]


def test_plotly_js_cannot_close_its_script_element():
    source = plotly_js()
    assert "</script" not in source.lower() and "<!--" not in source and "\r" not in source


@pytest.mark.parametrize(
    "values", [[0.0, 5e-324], [-5e-324, 3e-320], [-1e308, 1e308], [1e-310, 0.0]]
)
def test_ticks_between_numbers_at_the_edge_are_numbers_between_them(values):
    low, high = min(values), max(values)
    for axis in (Stretch(), stretch_for(np.array(values))):
        ticks = axis.ticks(low, high)
        assert ticks and all(low <= tick <= high for tick in ticks)


@pytest.mark.parametrize("size", [5e-324, 1e-310])
def test_a_report_of_scores_next_to_nothing_is_made(size):
    values = np.random.default_rng(0).integers(-2, 3, size=(4, 5)) * size
    report = ex.report(ex.Results.from_numpy(values), None, sections=["ranking", "heatmap"])
    assert "plotly" in report.html

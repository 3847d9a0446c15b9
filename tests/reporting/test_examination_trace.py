"""The figure of an examination: what was known after each task."""

import numpy as np
import pytest

import examiner as ex


def test_the_trace_draws_what_was_known_after_each_task() -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(-rng.normal(size=(40, 1)) - rng.normal(size=80)))
    wins = (rng.random(chance.shape) < chance).astype(float)
    results = ex.Results.from_numpy(wins, tasks=["<b>x</b>", *(f"t{n}" for n in range(79))])
    plot = ex.plots.adaptive_trace(results)
    drawn, layout = plot.data, plot.figure.drawing["layout"]
    assert len(drawn.tasks) == len(drawn.ability) > 3
    assert (drawn.ability_low < drawn.ability).all() and (drawn.ability < drawn.ability_high).all()
    assert len(graph_objects.Figure(plot.figure.drawing).data) == 2
    assert len(layout["xaxis"]["tickvals"]) <= 34
    assert not any("<b>" in text for text in layout["xaxis"]["ticktext"])

"""The figure of an examination: what was known after each task."""

import pytest

from adaptive.test_examinations import bank_of, rng, simulated_agent
from examiner.adaptive import Stop, examine
from examiner.reporting.findings import next_task as adaptive_trace


def test_the_trace_draws_what_was_known_after_each_task() -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    bank = bank_of(60)
    last = examine(bank, simulated_agent(bank, 0.3), stop=Stop(most=50), rng=rng())
    drawn = adaptive_trace.data(last, {"<b>dqn</b>": 0.4})
    assert drawn.tasks == last.state.tasks and drawn.ability[-1] == last.ability
    assert (drawn.ability_low < drawn.ability).all() and (drawn.ability < drawn.ability_high).all()
    figure = adaptive_trace.draw(drawn)
    assert len(graph_objects.Figure(figure).data) == 2
    assert len(figure["layout"]["xaxis"]["tickvals"]) <= adaptive_trace.MOST_LABELS
    assert "<b>" not in figure["layout"]["annotations"][0]["text"]

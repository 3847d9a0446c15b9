"""The report's section on selection, and its figure, by the data they show."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import FINDINGS, Figure, ShownTable, Study
from examiner.reporting.prose import plain_text


def results_of(agents: int, tasks: int) -> ex.Results:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(agents, 1)) + 0.4 * rng.normal(size=(agents, tasks))
    return ex.Results.from_numpy(scores, tasks=[f"<t{place}>" for place in range(tasks)])


def test_the_section_judges_the_default_method_and_says_why_each_task_is_in_the_set() -> None:
    section = FINDINGS["selection"](Study.of(results_of(9, 5)))
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    assert figure.data["methods"] == ("covariance", "random")
    assert figure.data["r2"].shape == (len(figure.data["methods"]), len(figure.data["sizes"]))
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    assert len(table.rows) == 3
    for row in table.rows:
        assert row[0] in plain_text(section.lead)
        correlation = row[table.names.index("correlation")]
        assert -1 <= correlation <= 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("agents", "tasks", "reason"),
    [(4, 9, "too few to choose"), (9, 2, "too few to choose")],
)
def test_tables_too_small_are_named_with_the_reason(agents: int, tasks: int, reason: str) -> None:
    section = FINDINGS["selection"](Study.of(results_of(agents, tasks)))
    assert not section.applies
    assert reason in plain_text(section.lead)


def test_plotly_accepts_the_curves() -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    noise = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(12, 9)))
    drawn = ex.plots.cost_quality(noise)
    assert len(graph_objects.Figure(drawn.figure.drawing).data) == 3
    lowest = drawn.figure.drawing["layout"]["yaxis"]["range"][0]
    least = float(drawn.data.r2.min())
    assert lowest == pytest.approx(max(-0.2, least - 0.05)), "far outliers do not stretch the axis"

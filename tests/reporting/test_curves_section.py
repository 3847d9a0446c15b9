"""The learning curves of a report, and the reduction of training logs in all its parts."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import examiner as ex
from examiner.messages import ExaminerWarning


@pytest.fixture
def log():
    """Two agents on two games: one rises steadily, the other peaks early and plummets."""
    rng = np.random.default_rng(0)
    rows = []
    shapes = {
        "steady <b>": np.linspace(0, 50, 400),
        "spiky": np.concatenate([np.linspace(0, 200, 150), np.linspace(200, -50, 250)]),
    }
    for task in ("Centipede", "Pong"):
        for agent, shape in shapes.items():
            for run in range(2):
                scores = shape + rng.normal(0, 5, 400)
                rows += [
                    (agent, task, run, trial, 500 * (trial + 1), score)
                    for trial, score in enumerate(scores)
                ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return ex.Results.from_dict(columns, provenance=ex.results.Provenance("log.csv", training=True))


def report(results, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExaminerWarning)
        return ex.report(results, **options)


def test_training_logs_are_reduced_and_the_choice_is_in_the_report(log):
    content = report(log).to_dict()
    assert content["reduction"] == "last:100"
    assert content["trials"] == 1
    assert any(step.startswith("runs reduced by last:100") for step in content["steps"])
    assert report(log, reduce="final").command == "ex.report(results, reduce='final')"


def test_the_reduction_can_be_chosen(log):
    assert report(log, reduce="auc").to_dict()["reduction"] == "auc"
    assert report(log, reduce="all").to_dict()["trials"] == 400


def test_the_section_says_who_leads_by_which_summary(log):
    section = report(log, sections=["curves"]).to_dict()["sections"][0]
    assert section["finding"] == "spiky ranks first by 6 of 7 summaries of the learning curves."
    table = next(block for block in section["blocks"] if block["kind"] == "table")
    assert table["columns"] == ["summary", "steady <b>", "spiky"]
    figure = next(block for block in section["blocks"] if block["kind"] == "figure")
    assert figure["data"]["agents"] == ["steady <b>", "spiky"]
    assert "evaluated" not in figure["data"]["summaries"]


def test_the_page_is_made_whole(log):
    page = report(log).html
    assert 'id="curves"' in page
    assert "steady <b>" not in page
    json.dumps(report(log).to_dict(), allow_nan=False)


def test_one_summary_for_all_is_said_so(log):
    alone = log.where(np.array(log.column("agent")) == "spiky")
    assert "one agent" in report(alone, sections=["curves"]).to_dict()["sections"][0]["finding"]


def test_without_training_logs_there_is_no_such_section_unless_asked_for():
    results = ex.Results.from_numpy([[0.5, 1.0], [0.0, 0.9]])
    assert "curves" not in [section.key for section in ex.report(results).sections]
    asked = ex.report(results, sections=["curves"]).to_dict()["sections"][0]
    assert asked["finding"].startswith("The results are no training logs")


def test_plotly_accepts_the_lines_and_summaries_without_ranks_are_left_out(log):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    drawn = ex.plots.bump(log)
    figure = drawn.figure.drawing
    graph_objects.Figure(figure)
    assert not np.isnan(drawn.data.ranks).all(axis=1).any()
    assert len(drawn.data.summaries) < len(ex.scores.curves(log).summaries)
    assert "steady &lt;b&gt;" in [trace["name"] for trace in figure["data"]]
    assert figure["layout"]["yaxis"]["range"] == [2.5, 0.5]


def test_nobody_leads_by_curves_where_agents_are_not_shown_to_differ():
    rng = np.random.default_rng(3)
    rows = [
        (agent, task, run, trial, 10 * (trial + 1), rng.random())
        for agent in ("a", "b", "c")
        for task in ("t", "u", "v", "w", "x")
        for run in range(2)
        for trial in range(20)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    same = ex.Results.from_dict(columns, provenance=ex.results.Provenance("l", training=True))
    (section,) = report(same, sections=["learning"]).to_dict()["sections"]
    assert "ends highest" not in section["finding"]

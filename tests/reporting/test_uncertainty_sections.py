"""Sections about uncertainty: what they find, and how they degrade where data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import FINDINGS, Figure, ShownTable, Study
from examiner.reporting.finding import Notes
from examiner.reporting.prose import plain_text
from examiner.results import Results, Scales, TaskScale

NAMES = ("intervals", "profiles", "rank_probabilities", "significance", "decision")
HOSTILE = ("<b>a</b>", "%{z} $x$", "__proto__", "x" * 300)


def repeated(agents=4, tasks=6, runs=4, names=None):
    rng = np.random.default_rng(0)
    level = np.linspace(0.2, 0.8, agents)[:, None, None]
    scores = np.clip(level + rng.normal(0, 0.05, size=(agents, tasks, runs)), 0, 1)
    return Results.from_numpy(scores, agents=names or [f"agent {place}" for place in range(agents)])


def section_of(name, results):
    return FINDINGS[name](Study.of(results))


def everything(section):
    parts = [section.lead]
    for block in section.blocks:
        parts += [block] if isinstance(block, str) else []
        parts += list(block.items) if isinstance(block, Notes) else []
    return " ".join(plain_text(part) for part in parts)


@pytest.mark.parametrize("name", NAMES)
def test_plotly_accepts_the_figure_with_hostile_names(name):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    section = section_of(name, repeated(names=HOSTILE))
    figures = [block for block in section.blocks if isinstance(block, Figure)]
    assert figures
    for figure in figures:
        graph_objects.Figure(figure.drawing)
        for trace in figure.drawing["data"]:
            drawn = {key: part for key, part in trace.items() if key != "meta"}  # never drawn
            assert "<b>a" not in str(drawn)
            assert "%{z} " not in str(trace.get("hovertemplate", ""))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
@pytest.mark.parametrize(
    "values",
    [
        [[0.5]],
        [[0.5], [0.7]],
        [[0.5, 0.7]],
        [[0.5, 0.5], [0.5, 0.5]],
        [[3.0], [3.0]],
        [[[0.5, 0.7]]],
        [[0.5, np.nan], [np.nan, 0.5]],
        np.ones((2, 3, 4)),
    ],
)
def test_little_data_gives_a_sentence_and_never_an_error(name, values):
    section = section_of(name, Results.from_numpy(values))
    assert plain_text(section.lead)
    assert ex.report(Results.from_numpy(values), sections=[name]).html


def test_intervals_say_their_unit_and_who_is_best():
    section = section_of("intervals", repeated())
    assert section.lead.startswith("agent 3 has the best mean: ")
    assert "Unit: runs." in everything(section)
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    for row in table.rows:
        assert row[2] < row[1] < row[3]


def test_single_runs_are_resampled_by_task_and_that_is_said():
    section = section_of("intervals", Results.from_numpy(np.random.default_rng(0).random((3, 9))))
    assert "Unit: tasks. Some or all cells hold one run" in everything(section)
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    assert (figure.data["high"] > figure.data["low"]).all()


def test_what_has_no_interval_is_drawn_without_a_bar():
    section = section_of("intervals", Results.from_numpy(np.ones((2, 3, 4))))
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    assert figure.drawing["data"][0]["error_x"]["array"] == [None, None]
    assert "does not make them certain" in everything(section)


def test_ranks_say_how_often_the_leader_leads():
    lead = section_of("rank_probabilities", repeated()).lead
    assert lead == "agent 3 ranks first in 100 % of the resamples."


def test_significance_shows_what_could_have_been_detected():
    section = section_of("significance", repeated(tasks=12))
    assert "6 of 6 pairs of agents differ significantly" in plain_text(section.lead)
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    column = [column.title for column in table.columns].index("detectable")
    assert table.rows[0][column] > 0
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    assert figure.data["agents"][0] == "agent 3"
    assert figure.data["bars"] == ()


def test_gaps_leave_every_pair_its_common_tasks():
    rng = np.random.default_rng(2)
    solved = (rng.random((40, 120)) < np.linspace(0.2, 0.8, 40)[:, None]).astype(float)
    solved[rng.random(solved.shape) < 0.06] = np.nan
    assert np.isfinite(solved).all(axis=0).sum() < 25  # tasks every agent has
    section = section_of("significance", Results.from_numpy(solved))
    found = int(plain_text(section.lead).split(" of")[0].replace(",", ""))
    assert found > 100
    assert "each pair is tested on the tasks that both have, between " in everything(section)
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    assert all(90 < row[-1] <= 120 for row in table.rows)


def test_the_decision_study_answers_in_a_sentence():
    section = section_of("decision", repeated())
    assert "Twice the runs" in plain_text(section.lead)
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    assert sum(row[3] for row in table.rows) == pytest.approx(1)


def test_tasks_where_lower_is_better_are_refused_in_a_sentence():
    scales = Scales([TaskScale("t", direction="lower")])
    results = Results.from_numpy(np.random.default_rng(0).random((2, 1, 3)), tasks=["t"])
    study = Study.of(results.with_scales(scales), None)
    for name in NAMES[:3]:
        section = FINDINGS[name](study)
        assert not section.applies
        assert "Lower is better on 't'" in plain_text(section.lead)


def test_many_agents_are_cut_to_the_best():
    rng = np.random.default_rng(0)
    section = section_of("intervals", Results.from_numpy(rng.random((60, 5, 2))))
    assert "The first 40 of 60 agents by mean are shown." in everything(section)
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    assert len(table.rows) == 40


def test_the_seed_of_the_report_is_used():
    results = repeated()
    one, same, other = (
        FINDINGS["intervals"](Study.of(results, rng=seed)).blocks[1].data["low"]
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def chained(agents=5, tasks=12, width=4):
    """Agents that share tasks with their neighbours only, as algorithms of a model zoo do."""
    rng = np.random.default_rng(1)
    scores = np.full((agents, tasks), np.nan)
    for agent in range(agents):
        start = agent * (tasks - width) // (agents - 1)
        scores[agent, start : start + width] = rng.random(width)
    return Results.from_numpy(scores, agents=[f"agent {number}" for number in range(agents)])


def test_a_pair_without_a_common_task_is_not_compared():
    section = section_of("significance", chained())
    assert section.applies
    table = next(block for block in section.blocks if isinstance(block, ShownTable))
    assert 0 < len(table) < 4
    assert all(row[-1] and np.isfinite(row[2]) for row in table.rows)


@pytest.mark.parametrize("keep", [0.15, 0.3, 0.6])
def test_a_report_of_a_sparse_table_is_always_made(keep):
    rng = np.random.default_rng(int(100 * keep))
    scores = np.where(rng.random((9, 14)) < keep, rng.random((9, 14)), np.nan)
    made = ex.report(Results.from_numpy(scores))
    assert "ranking" in [section.key for section in made.sections]


def test_a_section_that_refuses_the_results_is_left_out_with_its_reason(monkeypatch):
    from examiner.reporting.findings import heatmap

    def refuse(study):
        raise ex.InputError("There are too many colours. Take fewer.")

    monkeypatch.setattr(heatmap, "finding", refuse)
    made = ex.report(repeated())
    assert "heatmap" not in [section.key for section in made.sections]
    left_out = made.sections[-1].blocks[-1]
    assert any("too many colours" in plain_text(item) for item in left_out.items)

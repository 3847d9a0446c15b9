"""Sections and figures about information and similarity: what they draw, and what they refuse."""

import numpy as np
import pytest

import examiner as ex
from examiner.information import analyse
from examiner.reporting import FINDINGS, Figure, Study
from examiner.reporting.finding import Notes
from examiner.reporting.findings import default_sections
from examiner.reporting.findings import information as information_finding
from examiner.reporting.prose import plain_text
from examiner.results import Results

information, similarity = FINDINGS["information"], FINDINGS["similarity"]

HOSTILE = ("<b>x</b>", "2020-01-01", "%{z} $x$", "plain", "z" * 500)


def repeated(trials: int = 6) -> Results:
    rng = np.random.default_rng(0)
    level = rng.normal(size=(5, 5, 1)) * 3
    return Results.from_numpy(
        level + rng.normal(size=(5, 5, trials)), agents=HOSTILE, tasks=HOSTILE
    )


def figures(section) -> dict[str, Figure]:
    return {block.key: block for block in section.blocks if isinstance(block, Figure)}


def test_the_information_section_draws_bars_and_a_curve_beside_chance() -> None:
    section = information(Study.of(repeated()))
    drawn = figures(section)
    curve, bars = drawn["information-curve"].data, drawn["information-bars"].data
    assert (np.diff(curve["bits"]) >= -1e-12).all()
    assert curve["max_bits"] == pytest.approx(np.log2(5))
    assert (np.diff(bars["bits"]) <= 0).all()
    assert np.isfinite(bars["chance"]).all() and np.isfinite(bars["low"]).all()
    assert plain_text(section.lead).startswith(section.answer.headline)
    assert "by chance" in plain_text(section.lead)
    assert section.data == section.answer.to_dict()


def test_single_trials_get_a_sentence_that_says_what_is_needed() -> None:
    section = information(
        Study.of(Results.from_numpy(np.random.default_rng(0).normal(size=(5, 5))))
    )
    assert not section.applies
    assert "Repeat the trials" in plain_text(section.lead)


def test_of_large_tables_a_sample_is_used_and_that_is_said(monkeypatch) -> None:
    monkeypatch.setattr("examiner.reporting.study.MOST_PAIRED_CELLS", 5000)
    many = Study.of(Results.from_numpy(np.random.default_rng(0).random((5, 1001))))
    told = similarity(many)
    assert "similarity" not in default_sections(many)
    assert "200 of 1,001 tasks, drawn at random (seed 0)" in plain_text(told.lead)
    assert len(told.data["tasks"]) == 200


def test_bits_of_large_tables_are_those_of_some_of_their_agents(monkeypatch) -> None:
    monkeypatch.setattr("examiner.reporting.study.MOST_PAIRED_CELLS", 1)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 3)
    told = information(Study.of(repeated()))
    assert told.applies and len(told.data["tasks"]) == 3
    notes = [
        plain_text(note)
        for block in told.blocks
        if isinstance(block, Notes)
        for note in block.items
    ]
    assert any("3 of 5 tasks" in note for note in notes)


def test_single_trials_of_zeros_and_ones_tell_of_ability() -> None:
    rng = np.random.default_rng(0)
    logit = 1.5 * rng.normal(size=(60, 1)) - rng.normal(size=12)
    values = (rng.random((60, 12)) < 1 / (1 + np.exp(-logit))).astype(float)
    told = information(Study.of(Results.from_numpy(values)))
    assert "of the information of all tasks about ability" in plain_text(told.lead)
    assert any("single trial of 0 or 1" in b for b in told.blocks if isinstance(b, str))
    assert list(figures(told)) == ["information-bars"]


def test_the_similarity_section_draws_clusters_with_borders() -> None:
    rng = np.random.default_rng(0)
    turn = np.arange(12) * np.pi / 6
    skill = np.column_stack([np.cos(turn)] * 4 + [np.sin(turn)] * 4)  # two that do not correlate
    runs = skill[:, :, None] + 0.5 * rng.normal(size=(12, 8, 4))
    section = similarity(Study.of(Results.from_numpy(runs)))
    drawn = figures(section)["task-clusters"]
    assert len(drawn.data["tasks"]) == 8 and drawn.data["borders"] == (4,)
    assert len(drawn.drawing["layout"]["shapes"]) == 2 * len(drawn.data["borders"])
    tree = figures(section)["task-tree"]
    assert len(tree.data["branches"]) == len(tree.data["tasks"]) - 1
    assert plain_text(section.lead).startswith(
        "8 tasks form 2 significant clusters, the largest of 4 tasks"
    )


def test_few_agents_are_too_few_for_similarity() -> None:
    section = similarity(Study.of(Results.from_numpy(np.eye(3))))
    assert not section.applies and "too few" in plain_text(section.lead)


def test_plotly_accepts_the_figures_and_names_stay_names() -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    for section in (information(Study.of(repeated())), similarity(Study.of(repeated()))):
        for figure in figures(section).values():
            graph_objects.Figure(figure.drawing)
            for trace in figure.drawing["data"]:
                assert "x</b>" not in trace.get("hovertemplate", "")


def test_figures_without_chance_or_interval_draw_less() -> None:
    analysis = analyse(repeated(), rng=0, reps=0)
    for figure in figures(information_finding.render_information(analysis)).values():
        names = [trace["name"] for trace in figure.drawing["data"]]
        assert "by chance" not in names and "interval" not in names


def test_a_report_with_both_sections_is_a_page() -> None:
    page = ex.report(repeated(), sections=["information", "similarity"]).html
    assert "<b>x</b>" not in page.split("<body")[1].split("<script")[0]

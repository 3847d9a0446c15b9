"""Sections and figures about information and similarity: what they draw, and what they refuse."""

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import FINDINGS, Figure, Study, Text
from examiner.reporting.finding import Notes
from examiner.reporting.findings import default_sections
from examiner.reporting.findings import information as information_finding
from examiner.reporting.findings import similarity as similarity_finding
from examiner.reporting.prose import said
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
    assert said(section.lead).startswith(section.answer.headline)
    assert "by chance" in said(section.lead)
    assert section.data == section.answer.to_dict()


def test_single_trials_get_a_sentence_that_says_what_is_needed() -> None:
    section = information(
        Study.of(Results.from_numpy(np.random.default_rng(0).normal(size=(5, 5))))
    )
    assert not section.applies
    assert "Repeat the trials" in said(section.lead)


def test_of_large_tables_a_sample_is_used_and_that_is_said(monkeypatch) -> None:
    monkeypatch.setattr("examiner.reporting.study.MOST_PAIRED_CELLS", 5000)
    many = Study.of(Results.from_numpy(np.random.default_rng(0).random((5, 1001))))
    told = similarity(many)
    assert "similarity" not in default_sections(many)
    assert "200 of 1,001 tasks, drawn at random (seed 0)" in said(told.lead)
    assert len(told.data["tasks"]) == 200


def test_bits_of_large_tables_are_those_of_some_of_their_agents(monkeypatch) -> None:
    monkeypatch.setattr("examiner.reporting.study.MOST_PAIRED_CELLS", 1)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 3)
    told = information(Study.of(repeated()))
    assert told.applies and len(told.data["tasks"]) == 3
    notes = [
        said(note) for block in told.blocks if isinstance(block, Notes) for note in block.items
    ]
    assert any("3 of 5 tasks" in note for note in notes)


def test_single_trials_of_zeros_and_ones_tell_of_ability() -> None:
    rng = np.random.default_rng(0)
    logit = 1.5 * rng.normal(size=(60, 1)) - rng.normal(size=12)
    values = (rng.random((60, 12)) < 1 / (1 + np.exp(-logit))).astype(float)
    told = information(Study.of(Results.from_numpy(values)))
    assert "bits that all carry about ability" in said(told.lead)
    assert any(
        "single trial of 0 or 1" in said(b.prose) for b in told.blocks if isinstance(b, Text)
    )
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
    assert said(section.lead).startswith(
        "8 tasks form 2 significant clusters, the largest of 4 tasks"
    )


def test_few_agents_are_too_few_for_similarity() -> None:
    section = similarity(Study.of(Results.from_numpy(np.eye(3))))
    assert not section.applies and "too few" in said(section.lead)


def test_plotly_accepts_the_figures_and_names_stay_names() -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    for section in (information(Study.of(repeated())), similarity(Study.of(repeated()))):
        for figure in figures(section).values():
            graph_objects.Figure(figure.drawing)
            for trace in figure.drawing["data"]:
                assert "x</b>" not in trace.get("hovertemplate", "")


def test_figures_without_chance_or_interval_draw_less() -> None:
    bits, none = np.array([1.0, 0.5]), np.full(2, np.nan)
    bars = information_finding.InformationBarsData(("t", "u"), bits, none, none, none, 2.0)
    assert len(information_finding.draw_bars(bars)["data"]) == 1
    curve = information_finding.InformationCurveData(("t", "u"), bits, none, none, none, none, 2.0)
    assert len(information_finding.draw_curve(curve)["data"]) == 1
    drawn = similarity_finding.draw(
        similarity_finding.data("tu", np.full((2, 2), np.nan), [0, 1], [])
    )
    assert drawn["layout"]["shapes"] == []


def test_a_report_with_both_sections_is_a_page() -> None:
    page = ex.report(repeated(), sections=["information", "similarity"]).html
    assert "<b>x</b>" not in page.split("<body")[1].split("<script")[0]

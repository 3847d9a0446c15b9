"""The sections on ability, difficulty and generality, and their figures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, probability
from examiner.reporting import Fitted, Study
from examiner.reporting.findings import indicators
from examiner.results import Results

FINDINGS = ["wright_map", "task_curves", "task_table", "agent_curves", "ability_generality"]
FIGURES = {
    "wright-map",
    "difficulty-map", "task-curves-difficulty", "task-curves-negative", "agent-curves",
    "ability-generality",
}  # fmt: skip


@pytest.fixture(scope="module")
def wins() -> Results:
    """60 agents, 24 tasks, two of which reward the weak."""
    rng = np.random.default_rng(1)
    slope = np.full(24, 1.8)
    slope[[4, 9]] = -1.8
    items = ItemParameters.of(
        [f"t{n}" for n in range(24)], slope, difficulty=np.linspace(-1.5, 1.5, 24)
    )
    chance = probability(items, rng.normal(size=60))
    won = (rng.random(chance.shape) < chance).astype(float)
    return Results.from_numpy(won, tasks=items.tasks, measure="win")


@pytest.fixture(scope="module")
def whole_report(wins: Results) -> ex.Report:
    return ex.report(wins)


def told(results: Results, **options: object) -> dict[str, dict]:
    report = ex.report(results, sections=FINDINGS, **options)  # type: ignore[arg-type]
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    return {section["key"]: section for section in content["sections"]}


def applying(results: Results, **options: object) -> set[str]:
    """The sections that a default report would have."""
    made = ex.report(results, sections=FINDINGS, **options)  # type: ignore[arg-type]
    return {section.key for section in made.sections if section.applies}


def blocks(section: dict, kind: str) -> list[dict]:
    return [block for block in section["blocks"] if block["kind"] == kind]


def test_the_sections_tell_of_negative_tasks_and_flags(wins):
    made = told(wins)
    assert "t4 and t9 have negative discrimination" in made["task_curves"]["finding"]
    assert "significantly negative on 2" in made["task_table"]["finding"]
    flagged, rows = (table["rows"] for table in blocks(made["task_table"], "table"))
    assert len(rows) == 24
    assert {row[0] for row in flagged if "negative" in row[-1]} == {"t4", "t9"}
    agents = blocks(made["ability_generality"], "table")[0]["rows"]
    abilities = [row[2] for row in agents]
    assert len(agents) == 60 and abilities == sorted(abilities, reverse=True)


def test_every_figure_is_there_and_plotly_accepts_it(wins):
    graph_objects = pytest.importorskip("plotly.graph_objects")
    report = ex.report(wins, sections=FINDINGS)
    figures = [
        block
        for section in report.sections
        for block in section.blocks
        if hasattr(block, "drawing")
    ]
    assert {figure.key for figure in figures} == FIGURES
    for figure in figures:
        assert len(graph_objects.Figure(figure.drawing).data) == len(figure.drawing["data"]) > 0
    assert all(f'id="figure-{key}"' in report.html for key in FIGURES)


def test_one_fit_serves_all_sections(wins):
    study = Study.of(wins)
    made = study.fitted
    assert isinstance(made, Fitted) and study.fitted is made


def test_the_sections_apply_only_where_there_are_responses(wins):
    rng = np.random.default_rng(0)
    raw = Results.from_numpy(rng.normal(50, 20, size=(12, 24)))
    assert applying(raw) == set()
    asked = told(raw)["wright_map"]
    assert "Say what a success is (`--success 1.0`)" in asked["finding"]
    assert applying(raw, normalise=None, success=50.0) == set(FINDINGS)
    given = ex.report(raw, normalise=None, success=50.0, sections=["task_table"])
    assert given.to_dict()["success"] == 50.0
    half = {"success": 50.0, "share": 0.5, "normalise": None, "sections": ["task_table"]}
    cells = ex.report(Results.from_numpy(rng.normal(50, 20, size=(12, 24, 4))), **half).to_dict()
    assert cells["success_share"] == 0.5
    shares = Results.from_numpy(rng.beta(2, 2, size=(12, 24)).round(3))
    shown = applying(shares)
    assert {"wright_map", "task_curves", "task_table", "ability_generality"} <= shown
    few = Results.from_numpy(wins.measure().reshape(60, 24)[:5])
    assert "With 5 agents an ability scale says little" in told(few)["task_table"]["finding"]
    flat = Results.from_numpy(np.ones((12, 8)))
    assert "too few for an ability scale" in told(flat)["task_table"]["finding"]


def test_of_large_tables_of_shares_the_sample_is_fitted(monkeypatch):
    monkeypatch.setattr("examiner.reporting.study.MOST_PAIRED_CELLS", 2000)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 25)
    rng = np.random.default_rng(0)
    ability = rng.normal(size=(40, 1, 1))
    chance = 1 / (1 + np.exp(-ability + rng.normal(size=(60, 1))))
    many = Results.from_numpy((rng.random((40, 60, 20)) < chance).mean(axis=2).clip(0.01, 0.99))
    section = ex.report(many, sections=["wright_map"]).to_dict()["sections"][0]
    notes = [note for block in blocks(section, "notes") for note in block["notes"]]
    assert any("25 of 60 tasks, drawn at random (seed 0)" in note for note in notes)


def test_success_is_in_the_command_that_makes_the_report_again(tmp_path):
    path = tmp_path / "scores.csv"
    rows = np.random.default_rng(0).normal(50, 20, size=(12, 8)).round(2)
    lines = ["agent," + ",".join(f"t{n}" for n in range(8))]
    lines += [f"a{n}," + ",".join(map(str, row)) for n, row in enumerate(rows)]
    path.write_text("\n".join(lines))
    made = ex.report(ex.read(path), normalise=None, success=50.0, sections=["wright_map"])
    assert (
        made.command == "ex.report(results, normalise=None, sections=['wright_map'], success=50.0)"
    )


def test_hostile_names_are_escaped(hostile):
    report = ex.report(hostile, sections=FINDINGS, success=1.0)
    assert all(section.applies for section in report.sections)
    page = report.html
    assert "<script>alert(1)" not in page
    assert "<img" not in page.split("</style>")[1].split("<script")[0]


def test_dominance_is_told_with_ability():
    rng = np.random.default_rng(4)
    stairs = np.array([np.arange(24) < level for level in rng.integers(3, 22, 20)], dtype=float)
    section = told(Results.from_numpy(stairs))["ability_generality"]
    (text,) = blocks(section, "text")
    assert text["text"].startswith("In 100 % of the pairs of agents that differ")
    assert "not dominated" in text["text"].lower()


# ------------------------------------------------------------------ figures by their data


def test_dots_of_like_height_stand_side_by_side():
    rng = np.random.default_rng(0)
    wins = (rng.random((12, 9)) < np.linspace(0.1, 0.9, 12)[:, None]).astype(float)
    wins[1] = wins[0][::-1]  # as able as the first
    wins[:, 0] = np.arange(12) < 3  # weaker agents do better
    drawn = ex.plots.wright_map(Results.from_numpy(wins))
    places = {
        (round(h / 0.2), p) for h, p in zip(drawn.data.ability, drawn.data.agent_place, strict=True)
    }
    assert len(places) == 12 and min(p for _, p in places) < -1, "none covers another"
    assert (np.abs(drawn.data.shown) <= drawn.data.end).all()
    names = [trace["name"] for trace in drawn.figure.drawing["data"]]
    assert ("tasks, negative discrimination" in names) == drawn.data.negative.any()


def generality_of(values: list[float]) -> ex.plots.Plot:
    """The figure of agents whose indicators are given."""
    items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    results = np.random.default_rng(0).integers(0, 2, (len(values), 4))
    matrix = ex.ResponseMatrix.from_array(results, list("abcdefghijkl")[: len(values)], "tuvw")
    made = ex.irt.indicators(ex.irt.known(items, matrix), bins=2)
    return indicators.generality_figure(replace(made, generality=np.array(values)))


def test_an_agent_without_variance_is_not_drawn_as_the_most_general():
    drawn = generality_of([4.0, np.inf, np.nan])
    assert drawn.data["agents"] == ("a",)
    assert [len(trace["x"]) for trace in drawn.drawing["data"]] == [1]


def test_bands_are_left_out_where_there_are_no_errors():
    items = ItemParameters.of(["t", "u"], [2.0, 1.0], difficulty=[0.5, 0.0])
    bare = ex.plots.chosen_task_curves(ex.irt.known(items), ["t"])
    assert [trace["mode"] for trace in bare.figure.drawing["data"]] == ["lines", "lines", "markers"]


def test_ribbons_skip_bins_without_results():
    items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    table = np.array([[1.0, 1.0, np.nan, np.nan], [1.0, 0.0, 1.0, 0.0]])
    fit = ex.irt.known(items, ex.ResponseMatrix.from_array(table, "ab", "tuvw"))
    drawing = ex.plots.chosen_agent_curves(
        fit, ex.irt.indicators(fit, bins=2), ["a"]
    ).figure.drawing
    ribbon, line, _ = drawing["data"]
    assert ribbon["x"] == [line["x"][0]] * 2 and line["y"][1] is None


def first_section(results: Results) -> dict:
    content = ex.report(results, sections=None).to_dict()
    assert content["sections"][0]["key"] == "reading"
    return content["sections"][0]


def test_the_last_section_warns_of_tasks_that_reward_the_weak(wins, whole_report):
    report = whole_report
    section = report.to_dict()["sections"][-1]
    assert section["key"] == "reading"
    beware = next(block for block in blocks(section, "notes") if block["title"] == "Warning")
    assert beware["notes"][0].startswith("2 tasks have negative discrimination: 't")
    assert beware["notes"][0].endswith(". Check their keys or their scoring.")
    assert "1 warning" in section["finding"]
    alone = ex.report(wins, sections=["reading"])
    assert "no warnings" in alone.to_dict()["sections"][0]["finding"]  # no fit was made
    assert any("negative discrimination" in note for note in report.notes)


def test_sections_left_out_are_named_with_the_reason(whole_report):
    report = whole_report
    aside = blocks(report.to_dict()["sections"][-1], "notes")[-1]
    assert aside["title"] == "Left out"
    assert any(note.startswith("Kinds of task: No classification") for note in aside["notes"])
    absent = {title for note in aside["notes"] for title in note.split(": ")[0].split("; ")}
    entries = ex.reporting.FINDINGS.values()
    usual = {entry.title for entry in entries if entry.default == "always"}
    assert absent | {section.title for section in report.sections} == usual
    assert "Left out" in report.html


def test_zeros_and_ones_get_no_words_on_medians_quarters_and_ranges(wins):
    made = ex.report(wins, sections=["strips", "heatmap"]).to_dict()
    ranking, heatmap = made["sections"]
    assert "median" not in ranking["finding"] and "tie" not in ranking["finding"]
    values = np.nan_to_num(wins.measure().reshape(60, 24))
    best = int(values.sum(axis=1).max())
    assert f"solves {best} of 24 tasks it was seen on" in blocks(ranking, "figure")[0]["caption"]
    everyone, no_one = (values.min(axis=0) == 1).sum(), (values.max(axis=0) == 0).sum()
    start = f"Every agent solves {everyone} of 24 tasks, none solves {no_one}"
    assert heatmap["finding"].startswith(start)
    assert "spread most" not in heatmap["finding"]


def test_shares_between_zero_and_one_keep_their_words():
    shares = np.random.default_rng(0).random((4, 6)) / 2 + np.arange(4)[:, None] / 8
    ranking, heatmap = ex.report(
        Results.from_numpy(shares), sections=["strips", "heatmap"]
    ).sections
    assert "Scores spread most on" in str(heatmap.lead)
    assert "median" in str(ranking.lead)


def test_an_agent_of_extreme_generality_stands_on_the_edge_as_a_triangle():
    dots, edge = generality_of([0.4, 0.5, 0.6, 0.7, 16.0]).drawing["data"]
    assert dots["y"] == [0.4, 0.5, 0.6, 0.7]
    assert edge["marker"]["symbol"] == "triangle-up" and 0.7 < edge["y"][0] < 2
    assert edge["customdata"] == [["e", "16"]]

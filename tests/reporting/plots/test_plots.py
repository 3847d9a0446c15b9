"""Figures by name: all of the report's, from results, as data, as a page and as plotly's own."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import Figure
from examiner.reporting.plots import PLOTS
from examiner.results import Classification, Provenance, Results

TASKS = 22


@pytest.fixture(scope="module")
def wins() -> Results:
    """Sixteen agents that succeed the oftener the abler they are, two tasks the other way round."""
    rng = np.random.default_rng(1)
    slope = np.where(np.arange(TASKS) % 2 == 0, 4.0, 0.4)  # some discriminate more than others
    slope[4::9] = -2.0
    level = slope * (np.linspace(-2, 2, 16)[:, None] - np.linspace(-1.5, 1.5, TASKS))
    won = rng.random((16, TASKS, 3)) < 1 / (1 + np.exp(-level))[:, :, None]
    return Results.from_numpy(won.astype(float), tasks=[f"t{n}" for n in range(TASKS)])


@pytest.fixture(scope="module")
def log() -> Results:
    rows = [
        (agent, task, run, trial, 100 * (trial + 1), level * trial)
        for agent, level in (("fast", 2.0), ("slow", 1.0))
        for task in ("pong", "chess")
        for run in range(2)
        for trial in range(150)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Results.from_dict(columns, provenance=Provenance("log", training=True))


KINDS = Classification(
    tuple(f"t{n}" for n in range(TASKS)),
    ("genre", "pace"),
    tuple(("xy"[n % 2], "abc"[n % 3]) for n in range(TASKS)),
)


def priced(results: Results) -> Results:
    """Let later agents be dearer."""
    return results.with_measure("cost", 1.0 + results.agent_codes)


def drawn(name: str, wins: Results, log: Results) -> ex.plots.Plot:
    if name in ("bump", "learning_curves", "task_learning_curves"):
        return getattr(ex.plots, name)(log)
    if name == "pareto":
        wins = priced(wins)
    options = {"coverage": {"typology": KINDS}, "editions": {"earlier": wins}}.get(name, {})
    return getattr(ex.plots, name)(wins, **options)


@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_has_its_data_a_page_and_plotlys_own_figure(
    name: str, wins: Results, log: Results
) -> None:
    made = drawn(name, wins, log)
    assert vars(made.data) == made.figure.data
    figure = made.plotly()
    assert len(figure.data) == len(made.figure.drawing["data"]) > 0
    assert repr(made).startswith(f"Plot {name!r}: ") and "\n" not in repr(made)


@pytest.mark.slow
def test_all_figures_of_the_report_have_a_name(wins: Results, log: Results) -> None:
    told = [
        *ex.report(priced(wins), typology=KINDS, earlier=wins).sections,
        *ex.report(log, sections=["learning", "curves"]).sections,
    ]
    keys = {block.key for each in told for block in each.blocks if isinstance(block, Figure)}
    assert keys == {key for _, key in PLOTS.values()}


def test_a_saved_figure_works_offline_and_alone(wins: Results, tmp_path) -> None:
    page = ex.plots.heatmap(wins).save(tmp_path / "heatmap.html").read_text(encoding="utf-8")
    assert page.count('<script type="application/json" data-figure') == 1
    assert "plotly.js" in page and "default-src 'none'" in page
    assert not re.search(r'(src|href)="http', page.split("<script>")[0])


def test_a_notebook_shows_the_figure_in_a_frame_of_its_own() -> None:
    made = ex.plots.heatmap(Results.from_numpy([[0.5, 1.0]], tasks=["<b>", "</iframe>"]))
    shown = made._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.endswith("</iframe>")
    assert shown.count("</iframe>") == 1 and "<b>" not in shown


def test_what_cannot_be_drawn_is_said_in_the_findings_words() -> None:
    few = Results.from_numpy([[0.5, 1.0], [0.0, 0.9]])
    with pytest.raises(ex.InputError, match="nothing to draw as 'wright_map': With 2 agents"):
        ex.plots.wright_map(few)
    with pytest.raises(ex.InputError, match=r"Unknown plot 'heatmp'\. Did you mean 'heatmap'"):
        ex.plots.plot("heatmp", few)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ex.plots.nothing  # noqa: B018


def test_options_are_those_of_the_report() -> None:
    results = Results.from_numpy([[3.0, 30.0], [9.0, 10.0]])
    assert ex.plots.strips(results, "min-max").data.scores.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert list(inspect.signature(ex.plots.strips).parameters)[:3] == [
        "results",
        "normalise",
        "measure",
    ]
    assert set(PLOTS) <= set(dir(ex.plots))

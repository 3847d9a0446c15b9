"""Figures of a fit draw what was observed, within its bounds, of the tasks and agents asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.reporting.figures.printed import _set, _settings

TASKS = [f"t{number}" for number in range(12)]


@pytest.fixture(scope="module")
def matrix() -> ex.ResponseMatrix:
    rng = np.random.default_rng(4)
    level = np.linspace(-2, 2, 9)[:, None] - np.linspace(-1.5, 1.5, 12)
    return ex.ResponseMatrix.from_array(
        (rng.random(level.shape) < 1 / (1 + np.exp(-level))).astype(float), "abcdefghi", TASKS
    )


@pytest.fixture(scope="module")
def fit(matrix: ex.ResponseMatrix) -> ex.irt.IRTFit:
    items = ex.irt.ItemParameters.of(TASKS, np.ones(12), difficulty=np.linspace(-1.5, 1.5, 12))
    return ex.irt.known(items, matrix)


def test_agents_are_dots_at_what_they_did(fit: ex.irt.IRTFit, matrix: ex.ResponseMatrix) -> None:
    drawn = ex.plots.task_panels(fit, ["t7", "t2"]).data
    assert (drawn.result == matrix.to_numpy()[:, [7, 2]]).all()
    assert drawn.chance == pytest.approx([0.5, 0.5]) and drawn.slope == pytest.approx([0.25, 0.25])


def test_no_variance_lies_above_its_bound_and_zeros_and_ones_lie_on_it(
    fit: ex.irt.IRTFit, matrix: ex.ResponseMatrix
) -> None:
    told = ex.irt.indicators(fit, bins=2)
    drawn = ex.plots.variance_and_mean(told, matrix).data
    assert drawn.up == pytest.approx(drawn.across * (1 - drawn.across))
    shrunk = ex.ResponseMatrix.from_array(matrix.to_numpy() * 0.5 + 0.2, matrix.agents, TASKS)
    drawn = ex.plots.variance_and_mean(told, shrunk).data
    assert (drawn.up < drawn.across * (1 - drawn.across)).all()


def test_dots_of_a_plane_have_the_colours_of_a_bar_on_page_and_paper(
    fit: ex.irt.IRTFit, matrix: ex.ResponseMatrix
) -> None:
    told = ex.irt.indicators(fit, bins=2)
    plot = ex.plots.variance_and_mean(told, matrix)
    marker = next(
        trace["marker"] for trace in plot.figure.drawing["data"] if trace["name"] == "agents"
    )
    assert marker["color"] == pytest.approx(told.ability, rel=1e-4)
    assert marker["colorbar"]["title"]["text"] == "ability"
    pytest.importorskip("matplotlib")
    with _settings("two"):
        drawn = _set(plot.figure.drawing, "two")
    bars = [inner for axes in drawn.axes for inner in axes.child_axes]
    assert [bar.get_ylabel() for bar in bars] == ["ability"]


def test_chosen_curves_are_those_of_their_names(fit: ex.irt.IRTFit) -> None:
    told = ex.irt.indicators(fit, bins=2)
    drawn = ex.plots.chosen_agent_curves(fit, told, ["h", "b"]).data
    assert told.curves is not None
    assert (drawn.mean == told.curves.mean[[7, 1]]).all()
    curves = ex.plots.chosen_task_curves(fit, ["t3"]).data
    assert curves.tasks == ("t3",) and len(curves.others) == 11


def test_labels_of_curves_have_difficulty_and_discrimination_and_colours_follow_difficulty(
    fit: ex.irt.IRTFit,
) -> None:
    order = np.argsort(fit.items.difficulty)
    easy, hard = (fit.items.tasks[place] for place in (order[0], order[-1]))
    traces = ex.plots.chosen_task_curves(fit, [hard, easy]).figure.drawing["data"]
    curves = [trace for trace in traces if trace.get("legendgroup") and trace["mode"] == "lines"]
    place = fit.items.tasks.index(hard)
    words = f"(b {fit.items.difficulty[place]:.1f}, a {fit.items.slope[place]:.2f})"
    assert curves[-2]["name"].endswith(words) or curves[0]["name"].endswith(words)
    colours = {trace["name"].split(" (")[0]: trace["line"]["color"] for trace in curves}
    assert colours[hard] == "#08306b" and colours[easy] == "#67000d"


def test_what_cannot_be_drawn_is_refused(fit: ex.irt.IRTFit, matrix: ex.ResponseMatrix) -> None:
    told = ex.irt.indicators(fit, bins=2)
    with pytest.raises(ex.InputError, match=r"Unknown task 't99'"):
        ex.plots.task_panels(fit, ["t99"])
    with pytest.raises(ex.InputError, match=r"Unknown agent 'z'"):
        ex.plots.slope_and_regularity(told, ["z"])
    with pytest.raises(ex.InputError, match="no bins of difficulty"):
        ex.plots.chosen_agent_curves(fit, replace(told, curves=None), ["a"])
    wide = ex.ResponseMatrix.from_array(matrix.to_numpy() * 9, matrix.agents, TASKS)
    with pytest.raises(ex.InputError, match=r"Scores run from 0 to 9; only those in \[0, 1\]"):
        ex.plots.variance_and_mean(told, wide)
    results = ex.Results.from_numpy(matrix.to_numpy(), tasks=TASKS)
    with pytest.raises(ex.InputError, match="Unknown task 'u'"):
        ex.plots.marked_clusters(results, ["u"])
    with pytest.raises(ex.InputError, match="nothing to draw as 'marked_clusters'"):
        ex.plots.marked_clusters(results.where(results.agent_codes < 2), ["t1"])


@pytest.mark.slow
def test_every_figure_beside_the_report_is_saved_for_paper(
    fit: ex.irt.IRTFit, matrix: ex.ResponseMatrix, tmp_path
) -> None:
    told = ex.irt.indicators(fit, bins=2)
    years = {agent: 2010 + place // 5 for place, agent in enumerate(told.agents)}
    for plot in (
        ex.plots.task_panels(fit, TASKS[:4]),
        ex.plots.abilities(fit),
        ex.plots.expected_agent_curves(fit, ["a", "i"]),
        ex.plots.variance_and_mean(told, matrix),
        ex.plots.slope_and_regularity(told, ["e"]),
        ex.plots.over_time(told, years),
    ):
        assert plot.save(tmp_path / f"{plot.name}.svg").stat().st_size > 1000

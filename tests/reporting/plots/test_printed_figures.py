"""Figures for papers: what matplotlib draws is what the figure says, in a file of the right size."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.reporting.figures import chart
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.figures.printed import _set, _settings, save_printed

pytest.importorskip("matplotlib")


def figure_of(drawing, columns="two"):
    with _settings(columns):
        return _set(drawing, columns)


@pytest.fixture(scope="module")
def scores() -> ex.Results:
    rng = np.random.default_rng(0)
    return ex.Results.from_numpy(rng.random((5, 8, 3)), agents=["<b>", "$x$", "c", "d", "e"])


NAMES = ("heatmap", "strips", "critical")


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_figure_becomes_a_picture_with_hostile_names(name, scores, tmp_path):
    made = getattr(ex.plots, name)(scores)
    path = made.save(tmp_path / f"{name}.svg", "one")
    text = path.read_text(encoding="utf-8")
    width = float(re.search(r'<svg [^>]*width="([\d.]+)pt"', text)[1])
    assert width == pytest.approx(3.4 * 72)


def test_the_same_figure_is_the_same_bytes(tmp_path):
    drawing = chart.figure([chart.line([0, 1], [1, 2], "a", "#0072b2")], 300, chart.axis(), {})
    for ending in ("svg", "pdf"):
        first = save_printed(drawing, tmp_path / f"a.{ending}").read_bytes()
        assert save_printed(drawing, tmp_path / f"b.{ending}").read_bytes() == first


def test_pdf_and_png_are_as_wide_as_the_columns(scores, tmp_path):
    made = ex.plots.intervals(scores)
    pdf = made.save(tmp_path / "x.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert float(box[1]) == pytest.approx(7.0 * 72)
    png = made.save(tmp_path / "x.png", "one").read_bytes()
    assert struct.unpack(">I", png[16:20])[0] == round(3.4 * 300)


def test_lines_bands_and_axes_are_those_of_the_drawing():
    along = np.array([1.0, 10.0, 100.0])
    value = np.array([[1.0, 2.0, np.nan]])
    lines = chart.banded(["a"], along, value, value - 1, value + 1, "%{y}")
    drawing = chart.figure(lines, 400, chart.axis("frames", type="log"), chart.axis("score"))
    (axes,) = figure_of(drawing).axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), along)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), value[0])
    assert len(axes.patches) == 1, "the band"
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "frames", "score")


def test_panels_have_their_titles_and_stay_within_the_figure():
    panels = [
        Panel(f"task {number}", [chart.line([0, 1], [0, 1e6], "a", "#0072b2")])
        for number in range(5)
    ]
    figure = figure_of(panelled(panels, chart.axis("frames"), chart.axis("score")), "one")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [p.title for p in panels]
    renderer = figure.canvas.get_renderer()
    width, height = figure.get_size_inches() * figure.dpi
    for axes in figure.axes:
        box = axes.get_tightbbox(renderer)
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1


def test_cells_are_coloured_by_their_values(scores):
    made = ex.plots.ranks(scores)
    mesh = figure_of(made.figure.drawing).axes[0].collections[0]
    np.testing.assert_allclose(
        np.asarray(mesh.get_array()).ravel(), made.data.probability.ravel(), atol=1e-3
    )


def test_a_report_writes_all_its_figures(scores, tmp_path):
    made = ex.report(scores, sections=["strips", "intervals"])
    paths = made.save_figures(tmp_path / "figures", "svg", "one")
    assert [path.name for path in paths] == ["ranking-strips.svg", "intervals.svg"]
    with pytest.raises(ex.InputError, match=r"Choose one of svg, pdf, png"):
        made.save_figures(tmp_path, "tiff")
    (tmp_path / "file").write_text("")
    with pytest.raises(ex.InputError, match=r"Cannot make the folder"):
        made.save_figures(tmp_path / "file" / "below")


def test_other_endings_and_widths_are_refused(tmp_path: Path):
    drawing = chart.figure([], 300, chart.axis(), chart.axis())
    with pytest.raises(ex.InputError, match=r"its ending is none of"):
        save_printed(drawing, tmp_path / "x.bmp")
    with pytest.raises(ex.InputError, match=r"'one' column or 'two'"):
        save_printed(drawing, tmp_path / "x.pdf", "three")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ex.InputError, match=r"pip install 'examiner\[figures\]'"):
        save_printed(chart.figure([], 300, chart.axis(), chart.axis()), tmp_path / "x.pdf")

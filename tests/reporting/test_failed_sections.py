"""Sections that end in an unexpected error: the page is kept, and shows what a user should report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import examiner as ex
from examiner.cli import app
from examiner.messages import ExaminerWarning, InputError
from examiner.reporting import FINDINGS, Figure, Finding, ShownTable
from examiner.reporting.failure import RAISE_VARIABLE
from examiner.reporting.findings import heatmap
from examiner.reporting.verdict import Verdict

MESSAGE = "operands could not be broadcast together with shapes (12,81) <b>(27,1)</b>"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    values = np.random.default_rng(0).random((4, 8)) + np.arange(4)[:, None]
    ex.Results.from_numpy(values).save(tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The section `heatmap` ends in an error, as users would meet it."""

    def fail(study: object) -> None:
        raise ValueError(MESSAGE)

    monkeypatch.setattr(heatmap, "finding", fail)
    monkeypatch.delenv(RAISE_VARIABLE)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, words)])


@pytest.mark.usefixtures("broken")
def test_the_command_writes_the_page_and_names_the_failed_section_on_standard_error(
    table: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    made = run(table, "-o", page)
    assert made.exit_code == 0
    (line,) = [line for line in made.stderr.splitlines() if line.startswith("examiner: warning")]
    assert "The section heatmap failed (ValueError" in line
    html = page.read_text()
    assert "&lt;b&gt;(27,1)&lt;/b&gt;" in html and "<b>(27,1)" not in html
    assert "ValueError" in html and f"<dd><bdi>{ex.__version__}</bdi></dd>" in html
    assert 'id="ranking"' in html and 'id="intervals"' in html


@pytest.mark.usefixtures("broken")
def test_json_has_the_details_of_a_failed_section_and_all_other_sections(table: Path) -> None:
    made = run(table, "--json")
    assert made.exit_code == 0
    told = json.loads(made.stdout)
    sections = {section["key"]: section for section in told["sections"]}
    assert told["failed_sections"] == ["heatmap"]
    failure = sections["heatmap"]["failure"]
    assert (failure["exception"], failure["message"]) == ("ValueError", MESSAGE)
    assert re.search(r"test_failed_sections\.py:\d+ fail$", failure["calls"])
    assert str(Path.home()) not in failure["calls"] and str(Path.cwd()) not in failure["calls"]
    assert failure["examiner"] == ex.__version__
    others = [section for key, section in sections.items() if key != "heatmap"]
    assert len(others) >= 5 and all(section["failure"] is None for section in others)
    assert "Agents × tasks" in told["verdict"]["not_to_be_trusted"][0]


@pytest.mark.usefixtures("broken")
def test_markdown_has_the_details_of_a_failed_section(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert run(table, "-o", page).exit_code == 0
    section = page.read_text().split("### Agents × tasks")[1].split("###")[0]
    assert "failed because of an unexpected error" in section
    assert "exception: ValueError" in section and f"examiner: {ex.__version__}" in section


@pytest.mark.usefixtures("broken")
def test_python_warns_of_a_failed_section_and_returns_the_report(table: Path) -> None:
    with pytest.warns(ExaminerWarning, match="The section heatmap failed"):
        made = ex.report(ex.read(table))
    assert list(made.failures) == ["heatmap"]


def test_a_verdict_that_fails_is_shown_as_failed_and_the_sections_stay(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RAISE_VARIABLE)
    monkeypatch.setattr("examiner.reporting.verdict.who_leads", lambda study: 1 / 0)
    with pytest.warns(ExaminerWarning, match="The section verdict failed"):
        made = ex.report(ex.read(table))
    assert list(made.failures) == ["verdict"] and len(made.sections) >= 5
    assert "ZeroDivisionError" in made.html


def test_tests_of_this_project_never_take_a_failed_section_for_a_report(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heatmap, "finding", lambda study: 1 / 0)
    assert isinstance(run(table, "--json").exception, ZeroDivisionError)


def test_bad_input_of_a_section_of_your_own_is_refused_and_not_shown_as_failed(
    table: Path,
) -> None:
    def refuse(study: object) -> None:
        raise InputError("The column 'year' is missing.")

    with pytest.raises(InputError, match="year"):
        ex.report(ex.read(table), sections=[refuse, FINDINGS["ranking"]])


@pytest.fixture
def with_broken_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `heatmap`, a figure cannot be drawn, a table is none, a text is a number."""

    class Broken(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 1

        def items(self) -> object:  # type: ignore[override]
            raise ValueError(MESSAGE)

    def finding(study: object) -> Finding:
        figure = Figure(
            "broken", Broken(), {"data": [object()], "layout": {"height": 9}}, "A caption.", ""
        )
        table = ShownTable(Broken(), ("mean",))  # type: ignore[arg-type]
        blocks = ("A paragraph.", figure, table, 3)  # type: ignore[arg-type]
        return Finding(lead="Two agents differ.", blocks=blocks)

    monkeypatch.setattr(heatmap, "finding", finding)
    monkeypatch.delenv(RAISE_VARIABLE)


@pytest.mark.usefixtures("with_broken_blocks")
@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_a_figure_or_table_that_cannot_be_rendered_is_shown_as_failed_and_the_rest_stays(
    table: Path, tmp_path: Path, ending: str
) -> None:
    page = tmp_path / f"page.{ending}"
    made = run(table, "-o", page, *(["--json"] if ending == "json" else []))
    assert made.exit_code == 0, made.stderr
    (line,) = [line for line in made.stderr.splitlines() if line.startswith("examiner: warning")]
    assert "The section heatmap failed" in line
    text = page.read_text()
    for part in ("Two agents differ.", "A paragraph.", "This part of the section failed"):
        assert part in text, part
    assert "agent 4" in text, "other sections stay"
    if ending == "json":
        told = json.loads(text)
        assert told["failed_sections"] == ["heatmap"]


@pytest.mark.usefixtures("with_broken_blocks")
def test_python_warns_of_what_cannot_be_rendered(table: Path) -> None:
    made = ex.report(ex.read(table))
    with pytest.warns(ExaminerWarning, match="The section heatmap failed"):
        assert "This part of the section failed" in made.html


def test_tests_of_this_project_never_take_a_failed_figure_for_a_page(
    table: Path, with_broken_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RAISE_VARIABLE, "1")
    with pytest.raises((TypeError, ValueError, AttributeError)):
        ex.report(ex.read(table)).html  # noqa: B018


def test_a_verdict_that_cannot_be_rendered_is_shown_as_failed(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RAISE_VARIABLE)
    made = ex.report(ex.read(table))
    broken = replace(made, verdict=Verdict(judgements=(object(),)))  # type: ignore[arg-type]
    with pytest.warns(ExaminerWarning, match="The section verdict failed"):
        assert 'id="ranking"' in broken.html

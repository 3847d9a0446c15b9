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
from examiner.reporting.failure import RAISE_VARIABLE
from examiner.reporting.finding import Facts, Finding
from examiner.reporting.findings import FINDINGS, significance
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Table

MESSAGE = "operands could not be broadcast together with shapes (12,81) <b>(27,1)</b>"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    values = np.random.default_rng(0).random((4, 8)) + np.arange(4)[:, None]
    ex.Results.from_numpy(values).save(tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The section `significance` ends in an error, as users would meet it."""

    def fail(study: object) -> None:
        raise ValueError(MESSAGE)

    monkeypatch.setattr(significance, "finding", fail)
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
    assert "The section significance failed (ValueError" in line
    html = page.read_text()
    assert "&lt;b&gt;(27,1)&lt;/b&gt;" in html and "<b>(27,1)" not in html
    assert "ValueError" in html and f"<dd><bdi>{ex.__version__}</bdi></dd>" in html
    assert 'id="ranking"' in html and 'id="heatmap"' in html


@pytest.mark.usefixtures("broken")
def test_json_has_the_details_of_a_failed_section_and_all_other_sections(table: Path) -> None:
    made = run(table, "--json")
    assert made.exit_code == 0
    told = json.loads(made.stdout)
    sections = {section["key"]: section for section in told["sections"]}
    assert told["failed_sections"] == ["significance"]
    failure = sections["significance"]["failure"]
    assert (failure["exception"], failure["message"]) == ("ValueError", MESSAGE)
    assert re.search(r"test_failed_sections\.py:\d+ fail$", failure["where"])
    assert str(Path.home()) not in failure["where"] and str(Path.cwd()) not in failure["where"]
    assert failure["examiner"] == ex.__version__
    others = [section for key, section in sections.items() if key != "significance"]
    assert len(others) >= 5 and all(section["failure"] is None for section in others)
    assert "Which agents differ" in told["verdict"]["not_to_be_trusted"][0]


@pytest.mark.usefixtures("broken")
def test_markdown_has_the_details_of_a_failed_section(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert run(table, "-o", page).exit_code == 0
    section = page.read_text().split("### Which agents differ")[1].split("###")[0]
    assert "failed because of an unexpected error" in section
    assert "exception: ValueError" in section and f"examiner: {ex.__version__}" in section


@pytest.mark.usefixtures("broken")
def test_python_warns_of_a_failed_section_and_returns_the_report(table: Path) -> None:
    with pytest.warns(ExaminerWarning, match="The section significance failed"):
        made = ex.report(ex.read(table))
    assert list(made.failures) == ["significance"]


def test_a_verdict_that_fails_is_shown_as_failed_and_the_sections_stay(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RAISE_VARIABLE)
    monkeypatch.setattr("examiner.reporting.verdict.JUDGES", (lambda study, data: 1 / 0,))
    with pytest.warns(ExaminerWarning, match="The section verdict failed"):
        made = ex.report(ex.read(table))
    assert list(made.failures) == ["verdict"] and len(made.sections) >= 5
    assert "ZeroDivisionError" in made.html


def test_tests_of_this_project_never_take_a_failed_section_for_a_report(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(significance, "finding", lambda study: 1 / 0)
    assert isinstance(run(table, "--json").exception, ZeroDivisionError)


def test_bad_input_of_a_section_of_your_own_is_refused_and_not_shown_as_failed(
    table: Path,
) -> None:
    def refuse(study: object) -> None:
        raise InputError("The column 'year' is missing.")

    with pytest.raises(InputError, match="year"):
        ex.report(ex.read(table), sections=[refuse, FINDINGS["ranking"]])


@pytest.mark.parametrize("ending", ["html", "json", "md"])
def test_a_section_that_cannot_be_written_is_shown_as_failed_and_the_others_stay(
    ending: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error while a page is rendered loses no more than one while it is computed."""
    monkeypatch.delenv(RAISE_VARIABLE)
    find = significance.finding

    def unwritable(study: Study) -> Finding:
        columns = Column("a", "number"), Column("p", "number")
        short, odd = Table(columns, ((0.5,),)), Facts((("what", (object(),)),))  # type: ignore[arg-type]
        blocks = (short, odd)  # a page cannot show the one, nor data and Markdown the other
        return replace(find(study), blocks=blocks)

    monkeypatch.setattr(significance, "finding", unwritable)
    made = run(table, "-o", tmp_path / f"page.{ending}")
    assert made.exit_code == 0, made.exception
    assert "The section significance failed" in made.stderr
    text = (tmp_path / f"page.{ending}").read_text()
    assert "failed because of an unexpected error" in text and "leads by mean" in text

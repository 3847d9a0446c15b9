"""Sentences on the page are shown whole: only names may be cut."""

from __future__ import annotations

import html
import re

import pytest

import examiner as ex
from examiner.reporting import Finding, Notes, Report, everything, named

LONG = "A sentence of more than sixty letters that names <b>dqn</b>, skiing and robotank too."


def cut_texts(page: str) -> list[str]:
    """The whole text of whatever the page cuts outside of tables' cells."""
    outside = re.sub(r"<td.*?</td>", "", page, flags=re.DOTALL)
    return [html.unescape(text) for text in re.findall(r'class="cut" title="([^"]*)"', outside)]


def test_a_sentence_is_escaped_and_never_cut():
    finding = Finding("s", "S", LONG, [Notes([LONG, f"{LONG} " * 6])])
    page = Report("T", (finding,), {}, "examiner").html
    assert cut_texts(page) == [] and "<b>dqn" not in page
    whole = html.escape(LONG)
    assert page.count(whole) == 8


def test_a_name_is_still_cut():
    page = Report("T", (Finding("s", "S", f"{named('x' * 99)} leads."),), {}, "examiner").html
    assert cut_texts(page) == ["x" * 99]


def test_a_terminal_shows_what_would_steer_it():
    lines = everything(Finding("s", "S", "d\x1bqn leads."))
    assert lines[0] == "d\\x1bqn leads."


@pytest.mark.parametrize("source", ["atari-dqn-family", "gvgai-plays"])
def test_pages_cut_names_alone(source):
    report = ex.report(ex.load(source))
    names = {*report.subjects.agents, *report.subjects.tasks}
    assert [text for text in cut_texts(report.html) if text not in names] == []

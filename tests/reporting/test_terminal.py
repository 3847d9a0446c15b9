"""Findings in a terminal: within its width, numbers below each other, names as they are."""

from __future__ import annotations

import pytest

from examiner.reporting.document import Report
from examiner.reporting.finding import Facts, Finding, Notes, Text
from examiner.reporting.json import section_of
from examiner.reporting.page import render
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Table, records
from examiner.reporting.terminal import print_finding

COLUMNS = (
    Column("task", "name"),
    Column("bits", "number", "what it tells"),
    Column("chance", "number", "what it tells"),
    Column("pairs", "count", "told apart"),
)


def lines_of(finding: Finding, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_finding(finding)
    return capsys.readouterr().out.splitlines()


def table(tasks=("pong", "[red]qbert"), **more) -> Table:
    rows = records(
        task=tasks, bits=[1.25, -12.0], chance=[float("nan"), 0.00125], pairs=[3, 12_345]
    )
    return Table.of(rows, COLUMNS, "Tasks", **more)


def test_numbers_of_a_column_have_their_points_below_each_other(capsys) -> None:
    lines = lines_of(Finding("f", "F", blocks=(table(),)), capsys)
    assert lines[:4] == [
        "Tasks",
        "task          bits   chance   pairs",
        "pong          1.25  –             3",
        "[red]qbert  -12     0.00125  12,345",
    ]


def test_what_columns_are_stands_below_once(capsys) -> None:
    lines = lines_of(Finding("f", "F", blocks=(table(),)), capsys)
    assert lines[-1] == "bits, chance: what it tells. pairs: told apart."


def test_the_finding_comes_first_then_what_it_is_about(capsys) -> None:
    finding = Finding(
        "f",
        "F",
        (Name("d\x1bqn"), " leads."),
        (
            Facts((("runs", ("3",)),)),
            Text(("More.",)),
            Notes("Set aside", (("u: too easy",),)),
        ),
        about=("2 agents; seed 0",),
    )
    assert lines_of(finding, capsys) == [
        "d\\x1bqn leads.",
        "2 agents; seed 0",
        "runs  3",
        "More.",
        "Set aside: u: too easy",
    ]


def test_long_tables_are_cut_and_that_is_said(capsys) -> None:
    rows = tuple((Name(f"t{n}"), 1.0, 1.0, n) for n in range(45))
    lines = lines_of(Finding("f", "F", blocks=(Table(COLUMNS, rows),)), capsys)
    assert "… and 5 more rows: all are in --json" in lines


def test_names_give_way_to_the_width_and_numbers_never_do(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = table(tasks=("a" * 90, "b c " * 20))
    lines = lines_of(Finding("f", "F", blocks=(long,)), capsys)
    assert max(map(len, lines)) <= 60
    assert any("12,345" in line for line in lines) and any("0.00125" in line for line in lines)


def test_a_folded_table_is_printed_opened_on_the_page_and_left_out_of_the_json(capsys) -> None:
    finding = Finding("f", "F", ("Found.",), (table(folded=True),))
    assert any("pong" in line for line in lines_of(finding, capsys))
    page = render(Report("T", (finding,), {}, ""))
    assert '<details class="folded"><summary>Tasks</summary>' in page
    assert page.count("<caption>") == 0
    assert section_of(finding)["blocks"] == []
    assert [block.folded for block in Finding("f", "F", blocks=(table(),)).folded_tables] == [True]

"""Findings in a terminal: within its width, numbers below each other, names as they are."""

from __future__ import annotations

from dataclasses import replace

from examiner.answers import Column, Table
from examiner.reporting import (
    Facts,
    Finding,
    Name,
    Report,
    ShownTable,
    Text,
    everything,
    screen,
    shown_table,
)
from examiner.reporting.finding import Notes
from examiner.reporting.json import section_of
from examiner.reporting.page import render
from examiner.reporting.terminal import HEIGHT

COLUMNS = (
    Column("task", "name", "task"),
    Column("bits", "number", "what it tells"),
    Column("chance", "number", "what it tells"),
    Column("pairs", "count", "told apart"),
)


def lines_of(finding: Finding) -> list[str]:
    return screen(finding).lines


def table(tasks=("pong", "[red]qbert"), **more) -> ShownTable:
    values = {
        "task": tasks,
        "bits": [1.25, -12.0],
        "chance": [float("nan"), 0.00125],
        "pairs": [3, 12_345],
    }
    return replace(shown_table(Table.of(COLUMNS, values), caption="Tasks"), **more)


def long_table(first: str = "task", caption: str = "") -> ShownTable:
    names = [f"n{n}" for n in range(45)]
    columns = (Column(first, "name", first), *COLUMNS[1:])
    values = {first: names, "bits": [1.0] * 45, "chance": [1.0] * 45, "pairs": range(45)}
    return shown_table(Table.of(columns, values), caption=caption)


def test_numbers_of_a_column_have_their_points_below_each_other() -> None:
    lines = lines_of(Finding("f", "F", blocks=(table(),)))
    assert lines[:4] == [
        "Tasks",
        "task          bits   chance   pairs",
        "pong          1.25  –             3",
        "[red]qbert  -12     0.00125  12,345",
    ]


def test_what_columns_are_stands_below_once() -> None:
    lines = lines_of(Finding("f", "F", blocks=(table(),)))
    assert lines[-1] == "bits, chance: what it tells. pairs: told apart."


def test_the_finding_comes_first_then_what_it_is_about() -> None:
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
    assert lines_of(finding) == [
        "d\\x1bqn leads.",
        "2 agents; seed 0",
        "runs  3",
        "More.",
        "Set aside: u: too easy",
    ]


def test_tables_of_tasks_show_ten_rows_and_those_of_agents_as_many_as_fit() -> None:
    tasks = Finding("f", "F", "Found.", blocks=(long_table(),))
    lines = lines_of(tasks)
    assert [line.split()[0] for line in lines if line.startswith("n")] == [
        f"n{n}" for n in range(10)
    ]
    assert "… and 35 more (--all)" in lines
    agents = Finding("f", "F", "Found.", (long_table("agent"),))
    assert HEIGHT - 2 <= len(lines_of(agents)) <= HEIGHT
    assert sum(line.startswith("n") for line in everything(agents)) == 45


def test_every_table_keeps_rows_before_sentences_and_explanations() -> None:
    blocks = tuple(
        block
        for number in range(4)
        for block in (
            long_table(caption=f"Table {number}"),
            Text(f"Sentence {number}. " * 20),
        )
    )
    lines = lines_of(Finding("f", "F", "Found.", blocks))
    assert len(lines) <= HEIGHT and lines[-1] == "(shortened: --all shows everything)"
    assert sum(line.startswith("Table") for line in lines) == 4
    assert sum(line.startswith("n0") for line in lines) == 4


def test_at_most_five_notes_are_shown_in_one_line_each() -> None:
    notes = [f"Note {number} is a sentence that says {'very ' * 20}much." for number in range(7)]
    shown = screen(Finding("f", "F", "Found."), notes, width=80).notes
    assert shown[0] == (
        "note: Note 0 is a sentence that says very very very very very very very very …"
    )
    assert len(shown) == 6 and shown[-1] == "note: … and 2 more notes (--all)"
    assert max(map(len, shown)) <= 80


def test_names_are_shortened_in_the_middle_and_stay_distinct_and_are_never_broken() -> None:
    names = [f"2025_a-long-name-of-an-agent-{n}-with-a-long-ending-of-its-own" for n in range(45)]
    columns = (
        Column("agent", "name", "agent"),
        Column("rival", "name", "rival"),
        Column("mean", "number", "mean"),
    )
    rivals = [f"{name}, {name}" for name in names]
    values = {"agent": names, "rival": rivals, "mean": [0.5] * len(names)}
    blocks = (shown_table(Table.of(columns, values)),)
    finding = Finding("f", "F", (Name(names[0]), " leads."), blocks)
    lines = screen(finding, width=80).lines
    assert lines[0] == f"{names[0]} leads." and max(map(len, lines)) <= 80
    shown = [line.split("  ")[0] for line in lines if "#" in line or "…" in line]
    assert len(set(shown)) == len(shown)
    assert all(name in " ".join(everything(finding, width=80)) for name in names)


def test_names_give_way_to_the_width_and_numbers_never_do(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = table(tasks=("a" * 90, "b c " * 20))
    lines = lines_of(Finding("f", "F", blocks=(long,)))
    assert max(map(len, lines)) <= 60
    assert any("12,345" in line for line in lines) and any("0.00125" in line for line in lines)


def test_a_folded_table_is_printed_opened_on_the_page_and_left_out_of_the_json() -> None:
    finding = Finding("f", "F", ("Found.",), (table(folded=True),))
    assert any("pong" in line for line in lines_of(finding))
    page = render(Report("T", (finding,), {}, ""))
    assert '<details class="folded"><summary>Tasks</summary>' in page
    assert page.count("<caption>") == 0
    assert section_of(finding)["blocks"] == []
    assert [block.folded for block in Finding("f", "F", blocks=(table(),)).folded_tables] == [True]

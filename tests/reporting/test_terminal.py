"""Findings in a terminal: within its width, numbers below each other, names as they are."""

from __future__ import annotations

from dataclasses import replace

from examiner.answers import Column, Table
from examiner.reporting import (
    Facts,
    Finding,
    Notes,
    ShownTable,
    everything,
    named,
    screen,
    shown_table,
)
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
        "[red]qbert  −12.0   0.00125  12,345",
    ]


def test_what_columns_are_stands_below_once() -> None:
    lines = lines_of(Finding("f", "F", blocks=(table(),)))
    assert lines[-1] == "bits, chance: what it tells. pairs: told apart."


def test_the_finding_comes_first_then_what_it_is_about() -> None:
    finding = Finding(
        "f",
        "F",
        named("d\x1bqn") + " leads.",
        (
            Facts((("runs", "3"),)),
            "More.",
            Notes(["u: too easy"], "Set aside"),
        ),
        about="2 agents; seed 0",
    )
    assert lines_of(finding) == [
        "d\\x1bqn leads.",
        "2 agents; seed 0",
        "runs  3",
        "More.",
        "Set aside: u: too easy",
    ]


def test_a_fact_of_one_long_word_is_cut_and_hides_no_other() -> None:
    facts = Facts((("column of the main measure", "score"), ("tasks", "suite/" * 20)))
    lines = lines_of(Finding("f", "F", blocks=(facts,)))
    assert lines[0] == "column of the main measure  score"
    assert lines[1].startswith("tasks                       suite/suite/")
    assert lines[1].endswith("…")


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
            f"Sentence {number}. " * 20,
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


def test_a_name_too_long_for_its_column_stands_in_full_above_its_row() -> None:
    names = [f"2025_a-long-name-of-an-agent-{n}-with-a-long-ending-of-its-own" for n in range(45)]
    columns = [Column("agent", "name", "agent")]
    columns += [Column(f"mean{n}", "number", "mean") for n in range(5)]
    values = {column.name: [0.5] * len(names) for column in columns} | {"agent": names}
    finding = Finding(
        "f", "F", f"{named(names[0])} leads.", (shown_table(Table.of(columns, values)),)
    )
    lines = screen(finding, width=80).lines
    assert lines[0] == f"{names[0]} leads." and max(map(len, lines)) <= 80
    rows = lines[lines.index(names[0]) :]
    assert rows[:4:2] == names[:2] and rows[1].split() == ["0.500"] * 5
    assert all(name in everything(finding, width=80) for name in names)


def test_pairs_of_names_are_left_out_where_their_numbers_do_not_fit() -> None:
    names = [f"a-long-name-of-an-agent-{n}-with-an-ending" for n in range(45)]
    columns = [Column("a", "name", "a"), Column("b", "name", "b"), Column("p", "number", "p")]
    columns += [Column(f"mean{n}", "number", "mean") for n in range(5)]
    values = {column.name: [0.5] * len(names) for column in columns} | {"a": names, "b": names}
    pairs = shown_table(Table.of(columns, values), caption="Pairs")
    finding = Finding("f", "F", "Found.", (long_table(caption="Tasks"), pairs))
    assert "Pairs" not in screen(finding, width=80).lines and "Pairs" in everything(finding)
    assert "Pairs" in screen(finding, width=160).lines


def test_names_give_way_to_the_width_and_numbers_never_do(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = table(tasks=("a" * 90, "b c " * 20))
    lines = lines_of(Finding("f", "F", blocks=(long,)))
    assert max(map(len, lines)) <= 60
    assert any("12,345" in line for line in lines) and any("0.00125" in line for line in lines)

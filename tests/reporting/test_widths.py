"""Lines of answers and of commands fit 80 columns, also where letters are two columns wide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import examiner as ex
from end_to_end.running import DATA_COMMANDS, run, words_of
from examiner.answers import Column, StoredAnswer, Table
from examiner.reporting.prose import cut, distinct_labels
from examiner.reporting.widths import (
    display_width,
    first_columns,
    last_columns,
    padded,
    wrapped_lines,
)

WIDTH = 80
OTHER_INPUT = {
    "report": "writes a page",
    "datasets": "takes the name of a bundled data set",
    "curves": "takes a training log",
    "typology": "takes a classification of tasks",
    "place": "takes a stored fit",
}
"""Commands that do not answer about a plain table of results, and why."""
OPTIONS = {"cost": ["--cost", "price"], "distil": ["--size", "4"]}
AGENTS = [f"深度强化学习智能体第{n}号改进版本" for n in range(1, 9)]
TASKS = [f"蒙特祖玛的复仇关卡{n}🎮困难模式加长版" for n in range(1, 13)]


@pytest.fixture(scope="module")
def chinese_table(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    ability, difficulty = rng.normal(size=(8, 1)), rng.normal(size=(1, 12))
    success = rng.random((3, 8, 12)) < 1 / (1 + np.exp(-2 * (ability - difficulty)))
    lines = [
        f"{agent},{task},{run},{int(success[run, row, column])},{row + 1}"
        for row, agent in enumerate(AGENTS)
        for column, task in enumerate(TASKS)
        for run in range(3)
    ]
    path = tmp_path_factory.mktemp("chinese") / "results.csv"
    path.write_text("\n".join(["agent,task,run,score,price", *lines]), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("command", sorted({*DATA_COMMANDS} - {*OTHER_INPUT}))
def test_lines_of_commands_fit_the_screen_with_chinese_names(
    command: str, chinese_table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    words = words_of(command, chinese_table, AGENTS, TASKS)
    ended = run(*words, *OPTIONS.get(command, []))
    assert ended.exit_code == 0, ended.stderr
    lines = [line for line in ended.stdout.splitlines() if chinese_table not in line]
    assert max(map(cell_len, lines), default=0) <= WIDTH, max(lines, key=cell_len)


@given(
    st.lists(st.text(min_size=1, max_size=150), min_size=1, max_size=4),
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5, unique=True),
    st.text(max_size=400),
)
def test_every_line_of_a_repr_fits_the_screen(
    names: list[str], columns: list[str], headline: str
) -> None:
    described = [Column(name, "text", name, title=name) for name in columns]
    table = Table.of(described, dict.fromkeys(columns, names))
    answer = StoredAnswer("examiner.example/1", headline, {names[0]: table})
    for line in [*repr(answer).split("\n"), *repr(table).split("\n")]:
        assert cell_len(line) <= WIDTH


def test_a_long_headline_is_wrapped_and_columns_that_are_not_shown_are_shortened() -> None:
    columns = [Column("task", "name", "Task")]
    columns += [Column(f"a_column_of_numbers_{n}", "number", "Number") for n in range(20)]
    table = Table.of(columns, {column.name: ["0"] * 9 for column in columns})
    text = repr(StoredAnswer("examiner.x/1", "A word and another. " * 9, {"tasks": table}))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert (
        text.startswith("A word and another. A word") and "4 more rows; not shown: a_column" in text
    )
    assert text.endswith(" …") and len(text.splitlines()) == 13


def test_columns_of_wide_names_are_aligned() -> None:
    table = Table.of(
        [Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        {"task": ["乒乓球", "pong"], "bits": [0.5, 0.25]},
    )
    assert repr(table).splitlines() == ["task     bits", "乒乓球  0.500", "pong    0.250"]


@given(st.text(max_size=50), st.integers(1, 30))
def test_parts_of_a_text_fit_their_width(text: str, width: int) -> None:
    assert text.startswith(first_columns(text, width)) and text.endswith(last_columns(text, width))
    for part in (first_columns(text, width), last_columns(text, width)):
        assert cell_len(part) <= width
    assert display_width(cut(text, width + 7)) <= width + 7
    assert cell_len(padded("乒", width + 2)) == width + 2


@given(st.text(alphabet="乒乓球 abc-🎮\u00a0é", max_size=80), st.integers(8, 40))
def test_wrapping_keeps_words_and_fits_unless_a_word_is_wider(text: str, width: int) -> None:
    lines = wrapped_lines(text, width)
    assert " ".join(lines).split() == text.split()
    assert all(cell_len(line) <= width or " " not in line for line in lines)


def test_labels_of_wide_names_stay_distinct() -> None:
    labels = distinct_labels(TASKS, 14)
    assert len(set(labels)) == len(TASKS) and max(map(cell_len, labels)) <= 15


def test_a_fit_is_shown_within_the_screen(chinese_table: str) -> None:
    fit = ex.irt.fit(chinese_table)
    assert max(map(cell_len, repr(fit).splitlines())) <= WIDTH

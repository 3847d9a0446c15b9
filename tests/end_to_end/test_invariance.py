"""Row order, file format, layout, number of files and names change no number of any command.

Every command of the group is either run here or exempt with a reason. A table of attempts (0 or 1,
several per agent and task, unlabelled) and a table of scores (one per agent and task) are written in
many ways; the JSON that a command prints must be the same for all, but for where the table came from.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import COMMANDS, app

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

AGENTS = ("agent_10", "agent_2", "dqn", "impala", "rainbow", "a2c", "agent_1", "sarsa")
TASKS = tuple(f"task_{number}" for number in (10, 9, 1, 2, 3, 30, 4, 11, 20, 5))
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "describe": (),
    "scores": (),
    "compare": ("dqn", "impala"),
    "fit": (),
    "fit --check": ("--draws", "20"),
    "audit": (),
    "information": (),
    "cluster": (),
    "select": ("--size", "3"),
    "select --judge": ("--sizes", "2", "--folds", "3"),
    "select --adds": ("task_1",),
    "report": (),
    "distil": ("--size", "3"),
    "cost": ("--cost", "cost"),
}
"""What each command is given after its source."""
EXEMPT = {
    "convert": "prints no numbers; what it writes is read back in tests of round trips",
    "datasets": "reads no table",
    "arena": "plays, and reads no table",
    "typology": "reads features of games and no results",
    "curves": "reads training logs, whose rows follow time",
    "place": "computes from a stored fit: `fit` is compared here",
    "examine": "asks from a stored fit: `fit` is compared here",
}
QUICK = ("describe", "scores", "compare", "audit")
"""Commands that every run of the tests compares; all of them are compared by the slow tests."""
SAID = {
    "column_meanings",
    *("source", "format", "Format", "title", "warnings", "notes", "command", "recipe"),
    *("seconds", "output", "attributes", "input", "not_to_be_trusted"),
}
"""Where a table came from and how it is said: not compared."""


def attempts() -> pl.DataFrame:
    """Attempts without a number, as evaluations of language models give them."""
    rng = np.random.default_rng(3)
    chance = 1 / (1 + np.exp(-rng.normal(size=(len(AGENTS), 1)) + rng.normal(size=len(TASKS))))
    rows = [
        (agent, task, int(rng.random() < chance[row, column]))
        for row, agent in enumerate(AGENTS)
        for column, task in enumerate(TASKS)
        for _ in range(4)
    ]
    return pl.DataFrame(rows, schema=["agent", "task", "success"], orient="row")


def scores() -> pl.DataFrame:
    """One score per agent and task, with a gap."""
    rng = np.random.default_rng(4)
    rows = [
        (agent, task, round(float(value), 3))
        for agent in AGENTS
        for task, value in zip(TASKS, rng.normal(50, 20, len(TASKS)), strict=True)
    ]
    return pl.DataFrame(rows[:-1], schema=["agent", "task", "score"], orient="row")


def shuffled(table: pl.DataFrame) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=5)


def as_csv(table: pl.DataFrame, folder: Path) -> Path:
    table.write_csv(folder / "table.csv")
    return folder / "table.csv"


def as_shuffled_csv(table: pl.DataFrame, folder: Path) -> Path:
    return as_csv(shuffled(table), folder)


def as_parquet(table: pl.DataFrame, folder: Path) -> Path:
    shuffled(table).write_parquet(folder / "table.parquet")
    return folder / "table.parquet"


def as_ndjson(table: pl.DataFrame, folder: Path) -> Path:
    shuffled(table).write_ndjson(folder / "table.ndjson")
    return folder / "table.ndjson"


def as_json(table: pl.DataFrame, folder: Path) -> Path:
    (folder / "table.json").write_text(json.dumps(shuffled(table).to_dicts()))
    return folder / "table.json"


def as_two_files(table: pl.DataFrame, folder: Path) -> Path:
    first = pl.col("agent").is_in(AGENTS[::2])
    for name, part in (("b", table.filter(first)), ("a", shuffled(table).filter(~first))):
        part.write_csv(folder / f"{name}.csv")
    return folder


def as_counts(table: pl.DataFrame, folder: Path) -> Path:
    counts = shuffled(table).group_by("agent", "task", maintain_order=True)
    return as_csv(counts.agg(successes=pl.col("success").sum(), trials=pl.len()), folder)


def as_py_irt(table: pl.DataFrame, folder: Path) -> Path:
    lines = []
    for (agent,), part in shuffled(table).group_by("agent", maintain_order=True):
        counts = part.group_by("task").agg(successes=pl.col("success").sum(), trials=pl.len())
        responses = {task: {"successes": won, "trials": of} for task, won, of in counts.rows()}
        lines.append(json.dumps({"subject_id": agent, "responses": responses}) + "\n")
    (folder / "table.jsonl").write_text("".join(lines))
    return folder / "table.jsonl"


def as_wide(table: pl.DataFrame, folder: Path) -> Path:
    return as_csv(shuffled(table).pivot("task", index="agent", values="score"), folder)


def as_wide_with_tasks_as_rows(table: pl.DataFrame, folder: Path) -> Path:
    return as_csv(shuffled(table).pivot("agent", index="task", values="score"), folder)


Writing = Callable[[pl.DataFrame, Path], Path]
SAME_TABLE: tuple[Writing, ...] = (as_shuffled_csv, as_parquet, as_ndjson, as_json, as_two_files)
WRITINGS = [
    *((attempts, writing) for writing in (*SAME_TABLE, as_counts, as_py_irt)),
    *((scores, writing) for writing in (*SAME_TABLE, as_wide, as_wide_with_tasks_as_rows)),
]


def with_costs(table: pl.DataFrame) -> pl.DataFrame:
    """The table with a cost of each row, which follows from its agent alone."""
    costs = {agent: 1.0 + number for number, agent in enumerate(sorted(AGENTS))}
    return table.with_columns(cost=pl.col("agent").replace_strict(costs))


def printed(command: str, source: Path) -> Any:  # Any: JSON
    """What a command prints as JSON, without what says where the table came from."""
    name, *mode = command.split()
    arguments = [name, str(source), *mode, *ARGUMENTS[command], "--json"]
    if command == "distil":
        arguments += [
            "-o",
            str((source if source.is_dir() else source.parent).parent / "tiny.json"),
        ]
    done = CliRunner().invoke(app, arguments)
    if done.exit_code == 2 and not done.stdout:  # what cannot be answered is refused alike
        return plain(done.stderr, source)
    assert done.exit_code == 0, f"{command}: {done.output}\n{done.exception}"
    return plain(json.loads(done.stdout), source)


def plain(value: Any, source: Path) -> Any:
    if isinstance(value, dict):
        known = {key: part for key, part in value.items() if key not in SAID}
        return {plain(key, source): plain(part, source) for key, part in known.items()}
    if isinstance(value, list):
        # The section on what was read says what was guessed, which is the format's own.
        return [plain(part, source) for part in value if not is_section_on_reading(part)]
    if isinstance(value, str):
        # `describe` names the layout and format; the measure of counts goes by the name of their format.
        value = re.sub(r"^ \([\w -]+\)(?=:)", "", value.replace(str(source), ""))
        return value.replace("correct", "success")
    return value


def is_section_on_reading(value: object) -> bool:
    return isinstance(value, dict) and value.get("key") == "reading"


def differences(one: Any, two: Any, at: str = "", tolerance: float = 0.0) -> Iterator[str]:
    """Where two JSON values differ; numbers may by a relative tolerance."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in {**one, **two}:
            if key not in one or key not in two:
                yield f"{at}.{key}: only in one"
            else:
                yield from differences(one[key], two[key], f"{at}.{key}", tolerance)
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for place, (left, right) in enumerate(zip(one, two, strict=True)):
            yield from differences(left, right, f"{at}[{place}]", tolerance)
    elif isinstance(one, float) and isinstance(two, float):
        if not math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance):
            yield f"{at}: {one!r} and {two!r}"
    elif one != two:
        yield f"{at}: {one!r} and {two!r}"


def assert_same(command: str, one: Any, two: Any) -> None:
    found = list(differences(one, two))
    assert not found, f"{command}: {len(found)} values differ, first {found[:8]}"


def in_folder(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def test_every_command_is_compared_or_exempt_with_a_reason():
    assert set(COMMANDS) == {command.split()[0] for command in ARGUMENTS} | set(EXEMPT)
    assert not set(ARGUMENTS) & set(EXEMPT)


@pytest.mark.parametrize(("table", "writing"), WRITINGS)
def test_every_writing_of_a_table_is_read_as_the_same_results(
    table: Callable[[], pl.DataFrame], writing: Writing, tmp_path: Path
):
    one = ex.read(as_csv(table(), in_folder(tmp_path, "one")))
    two = ex.read(writing(table(), in_folder(tmp_path, "two")))
    assert (one.agents, one.tasks) == (two.agents, two.tasks)
    assert one.agents[1:4] == ("agent_1", "agent_2", "agent_10"), "in natural order"
    for name in ("agent", "task", "run", "trial"):
        assert one.column(name) == two.column(name), name
    assert one.measure().tolist() == two.measure().tolist()


@pytest.mark.parametrize("command", QUICK)
@pytest.mark.parametrize("table", [attempts, scores])
def test_shuffled_rows_give_equal_numbers(
    command: str, table: Callable[[], pl.DataFrame], tmp_path: Path
):
    one = printed(command, as_csv(table(), in_folder(tmp_path, "one")))
    two = printed(command, as_shuffled_csv(table(), in_folder(tmp_path, "two")))
    assert_same(command, one, two)


@pytest.mark.slow
@pytest.mark.parametrize("command", ARGUMENTS)
@pytest.mark.parametrize("table", [attempts, scores])
def test_every_writing_gives_equal_numbers_for_every_command(
    command: str, table: Callable[[], pl.DataFrame], tmp_path: Path
):
    content = with_costs(table()) if command == "cost" else table()
    writings = [writing for of, writing in WRITINGS if of is table]
    if command == "cost":  # counts and wide tables have no column for it
        writings = list(SAME_TABLE)
    one = printed(command, as_csv(content, in_folder(tmp_path, "one")))
    for writing in writings:
        two = printed(command, writing(content, in_folder(tmp_path, writing.__name__)))
        assert_same(f"{command} of {writing.__name__}", one, two)


def renamed(table: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    return table.with_columns(pl.col("agent", "task").replace(names))


def in_the_same_order() -> dict[str, str]:
    """Other names for agents and tasks that sort as theirs do, both naturally and as text."""
    return {name: f"x{name}" for name in (*AGENTS, *TASKS)}


def with_names(value: Any, names: dict[str, str]) -> Any:
    """A JSON value with names replaced, also within sentences and keys."""
    pattern = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))
    text = json.dumps(value)
    return json.loads(pattern.sub(lambda match: names[match[0]], text))


UNEQUAL = ("iterations", "input")
"""What rounding changes by more than its size, and a hash of the table with its names."""
ROUNDING = 1e-6
"""What sums in another order may differ by, and fits that end after a step more or less."""

ALL = [
    *QUICK,
    *(pytest.param(name, marks=pytest.mark.slow) for name in ARGUMENTS if name not in QUICK),
]


@pytest.mark.parametrize("command", ALL)
def test_names_in_the_same_order_give_equal_numbers(command: str, tmp_path: Path, monkeypatch):
    names = in_the_same_order()
    table = with_costs(attempts()) if command == "cost" else attempts()
    one = printed(command, as_csv(table, in_folder(tmp_path, "one")))
    given = tuple(names.get(part, part) for part in ARGUMENTS[command])
    monkeypatch.setitem(ARGUMENTS, command, given)
    two = printed(command, as_csv(renamed(table, names), in_folder(tmp_path, "two")))
    assert_same(command, with_names(one, names), two)


def by_name(value: Any) -> Any:
    """A JSON value in which no order counts: rows are objects by their names, lists of names are sorted."""
    if isinstance(value, dict):
        return {key: by_name(part) for key, part in value.items() if key not in UNEQUAL}
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(part, dict) for part in value):
        keys = ["agent", "task", "name", "measure", "method", "size", "first", "second", "cluster"]
        names = [str([part.get(key) for key in keys]) for part in value]
        if len(set(names)) == len(names):
            return {name: by_name(part) for name, part in zip(names, value, strict=True)}
    if all(isinstance(part, str) for part in value):
        return sorted(value)
    return [by_name(part) for part in value] if all(map(is_number, value)) else None


def is_number(value: object) -> bool:
    return isinstance(value, int | float)


@pytest.mark.parametrize("command", ALL)
def test_names_in_another_order_give_the_same_numbers(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = dict(zip(AGENTS, sorted(AGENTS, reverse=True), strict=True))
    names |= dict(zip(TASKS, sorted(TASKS, reverse=True), strict=True))
    table = with_costs(attempts()) if command == "cost" else attempts()
    one = printed(command, as_csv(table, in_folder(tmp_path, "one")))
    given = tuple(names.get(part, part) for part in ARGUMENTS[command])
    monkeypatch.setitem(ARGUMENTS, command, given)
    two = printed(command, as_csv(renamed(table, names), in_folder(tmp_path, "two")))
    pairs = by_name(with_names(one, names)), by_name(two)
    found = list(differences(*pairs, tolerance=ROUNDING))
    assert not found, f"{command}: {len(found)} values differ, first {found[:8]}"


def test_bundled_data_sets_are_read_back_as_they_are_loaded(tmp_path: Path):
    for name in ("atari-dqn-family", "gvgai-planners", "swebench-verified"):
        loaded = ex.load(name)
        path = ex.write(loaded, tmp_path / f"{name}.csv")
        back = ex.read(path, measure=list(loaded.measures))
        assert (back.agents, back.tasks) == (loaded.agents, loaded.tasks)
        np.testing.assert_array_equal(back.measure(), loaded.measure())

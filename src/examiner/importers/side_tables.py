"""Tables beside the results: what is known of each task (scale, cost, group) and agent (family)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examiner.importers.files import open_source
from examiner.importers.names import AGENT_COLUMNS
from examiner.importers.text_tables import TextTable
from examiner.results import Attributes, Scales
from examiner.wording import InputError, listed, shorten

SCALE_COLUMNS = ("measure", "random", "reference", "human", "direction", "source")
"""Columns of a table of tasks that make scales; all others are attributes."""

Row = Mapping[str, str]


class TaskTable(NamedTuple):
    """What a table of tasks holds: scales where it gives scores or directions, and the rest."""

    scales: Scales
    attributes: Attributes


def read_tasks(path: str | Path, measure: str = "score") -> TaskTable:
    r"""Read a table with `task` and any of random, reference (or human), direction, cost, group, ….

    Rows that name no measure are of the one given. A task may stand in several rows, one for each
    measure; what they say of it otherwise must agree.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tasks.csv"
    >>> _ = path.write_text("task,random,human,cost,group\npong,-20.7,14.6,2,paddle\nchess,,,5,board\n")
    >>> table = read_tasks(path)
    >>> table.scales.lookup("pong").reference, table.scales.lookup("chess") is None
    (14.6, True)
    >>> table.attributes.aligned(["chess", "pong"], "group")
    ('board', 'paddle')
    """
    rows = _rows(path, "task", ("task",))
    scaled = [row for row in rows if any(row.get(name) for name in SCALE_COLUMNS[1:-1])]
    try:
        scales = _scales(scaled, str(path), measure)
        attributes = Attributes.from_dicts("task", _merged(rows), what="table")
        _check_cost(attributes)
    except InputError as problem:
        raise InputError(f"Cannot use the tasks in {shorten(path, 200)}: {problem}") from None
    return TaskTable(scales, attributes)


def read_agents(path: str | Path) -> Attributes:
    r"""Read a table with `agent` (or algorithm, model, …) and anything known of each: family, ….

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "agents.csv"
    >>> _ = path.write_text("algorithm,family\ndqn,value\nppo,policy\n")
    >>> read_agents(path).aligned(["ppo"], "family")
    ('policy',)
    """
    rows = _rows(path, "agent", AGENT_COLUMNS)
    try:
        return Attributes.from_dicts("agent", rows, what="table")
    except InputError as problem:
        raise InputError(f"Cannot use the agents in {shorten(path, 200)}: {problem}") from None


def read_scales(path: str | Path, measure: str = "score") -> Scales:
    r"""Read scales from a table with `task`, `random`, `reference` (or `human`), `direction`, `measure`.

    Rows that name no measure are of the one given.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scales.csv"
    >>> _ = path.write_text("task,random,human\npong,-20.7,14.6\n")
    >>> read_scales(path).lookup("pong").reference
    14.6
    """
    rows = TextTable.of(open_source(path)).rows()
    try:
        scales = _scales(rows, str(path), measure)
    except InputError as problem:
        raise InputError(f"Cannot use the scales in {shorten(path, 200)}: {problem}") from None
    if not len(scales):
        raise InputError(f"{shorten(path, 200)} holds no scales. Give a row for each task.")
    return scales


def _rows(path: str | Path, key: str, names: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a table whose key column may go by several names."""
    rows = TextTable.of(open_source(path)).rows()
    if not rows:
        raise InputError(f"{shorten(path, 200)} holds no {key}s. Give a row for each {key}.")
    found = next((name for name in names if name in rows[0]), None)
    if found is None:
        raise InputError(
            f"{shorten(path, 200)} has no column {key!r}; found {listed(rows[0], limit=20)}. "
            f"Name the {key} of each row in a column {key!r}."
        )
    renamed = {found: key}
    return [{renamed.get(name, name): value.strip() for name, value in row.items()} for row in rows]


def _scales(rows: Sequence[Row], source: str, measure: str) -> Scales:
    named = [
        {"source": source, **{name: value for name, value in row.items() if value}} for row in rows
    ]
    scales = Scales.from_dicts({"measure": measure, **row} for row in named)
    seen: set[tuple[str, str]] = set()
    for scale in scales:
        if (scale.task, scale.measure) in seen:
            raise InputError(
                f"The task {shorten(scale.task)} has two scales for the measure "
                f"{shorten(scale.measure)}. Keep one of them."
            )
        seen.add((scale.task, scale.measure))
    return scales


def _merged(rows: Sequence[Row]) -> list[dict[str, str]]:
    """One row for each task, without what belongs to its scale."""
    merged: dict[str, dict[str, str]] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in SCALE_COLUMNS}
        known = merged.setdefault(row["task"], rest)
        for name, value in rest.items():
            if value and known.get(name) and known[name] != value:
                raise InputError(
                    f"The {name} of the task {shorten(row['task'])} is {shorten(known[name])} in one "
                    f"row and {shorten(value)} in another. Keep one of them."
                )
            known[name] = known.get(name) or value
    return list(merged.values())


def _check_cost(attributes: Attributes) -> None:
    costs = attributes.numbers(attributes.names, "cost")
    for name, cost in zip(attributes.names, costs, strict=True):
        if not np.isnan(cost) and cost < 0:
            raise InputError(
                f"The cost of the task {shorten(name)} is {cost:g}. Give a number of at least 0."
            )

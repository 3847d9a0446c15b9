"""What a user may say of how results are read: columns, rows, measures, time, items, axes of arrays."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from examiner.importers.documents import parse_json
from examiner.importers.files import open_source
from examiner.importers.row_filters import RowFilter
from examiner.importers.text import text_of
from examiner.messages import InputError, listed, shorten
from examiner.results import TIMES

Layout = Literal["tidy", "wide"]
Orientation = Literal["rows", "columns"]
Key = Literal["agent", "task", "run", "trial"]
UNTIMED = "none"
"""What `--time` says of a table that has no time."""
FRAMES_PER_STEP = 4
"""Emulator frames an Atari agent's action lasts in the usual wrappers."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a source is to be read; None means: by its content.

    `columns` gives the column that is the agent, task, run or trial, or `=NAME` for a name that holds
    for all rows; `where` are comparisons that choose rows, and `axes` the keys of the
    axes of arrays. `measure_of`, `items` and `item_text` are for
    logs of evaluations: which measure of which benchmark counts, the items that a log does not list by
    itself, and whether texts of items are kept. Of Parquet files that do not fit in memory a `sample` of
    the agents and tasks is read.
    """

    layout: Layout | None = None
    tasks_are: Orientation | None = None
    measures: tuple[str, ...] = ()
    item: tuple[str, ...] | None = None
    time: TimeColumn | None = None
    measure_of: tuple[MeasureOf, ...] = ()
    items: tuple[str, ...] | None = None
    item_text: bool = False
    columns: Mapping[Key, str] = field(default_factory=dict)
    where: tuple[RowFilter, ...] = ()
    axes: tuple[str, ...] = ()
    sample: DrawnNames | None = None

    def __post_init__(self) -> None:
        for key, column in self.columns.items():
            if column.strip() in ("", "="):
                raise InputError(
                    f"`--{key}` names no column. Write `--{key} COLUMN`, or `--{key} =NAME` for a name "
                    f"that holds for all rows."
                )
        for column in self.named.values():
            keys = [f"the {key}" for key, other in self.named.items() if other == column]
            if len(keys) > 1:
                raise InputError(
                    f"The column {shorten(column)} cannot be both {' and '.join(keys)}. Name another for "
                    f"one of them."
                )
        for name, value, known in (
            ("layout", self.layout, ("tidy", "wide")),
            ("tasks_are", self.tasks_are, ("rows", "columns")),
        ):
            if value is not None and value not in known:
                raise InputError(f"Unknown {name} {shorten(value)}. Known: {listed(known)}.")

    @property
    def named(self) -> dict[Key, str]:
        """The columns that options name."""
        return {key: name for key, name in self.columns.items() if not name.startswith("=")}

    @property
    def constants(self) -> dict[str, str]:
        """The names that options give to all rows."""
        return {key: name[1:].strip() for key, name in self.columns.items() if name.startswith("=")}

    def refuse_columns(self, what: str) -> None:
        """Refuse columns that are named of something that is no plain table.

        >>> ReadOptions(columns={"agent": "=dqn"}).refuse_columns("a HELM log")
        >>> ReadOptions(columns={"agent": "model"}).refuse_columns("a HELM log")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: `--agent model` names a column of a plain table, and this is ...
        """
        for key, column in self.named.items():
            raise InputError(
                f"`--{key} {shlex.quote(column)}` names a column of a plain table, and this is {what}. "
                f"Leave it out, or write `--{key} {shlex.quote('=' + column)}` if this is the name of the "
                f"{key}."
            )


class DrawnNames(NamedTuple):
    """Names of the agents and tasks that are read, and the sentence that says so.

    Of a wide table they are those of its rows and of its columns.
    """

    agents: frozenset[str]
    tasks: frozenset[str]
    note: str


class TimeColumn(NamedTuple):
    """A column that is time, how many frames or steps one unit of it is, and which of both if stated."""

    column: str
    factor: float | None = None
    stated_unit: str = ""

    @classmethod
    def of(cls, text: str) -> TimeColumn:
        """Understand `COLUMN`, `COLUMN*FACTOR`, and the word `frames` or `steps` after it.

        >>> TimeColumn.of("global_step*4").unit, TimeColumn.of("epoch*1e6 frames").unit
        ('frames', 'frames')
        >>> TimeColumn.of("checkpoint*5000").unit, TimeColumn.of("env_frame").unit
        ('steps', 'frames')
        """
        plain, blank, word = text.strip().rpartition(" ")
        unit = word if blank and word in TIMES else ""
        text = plain if unit else text
        column, star, number = text.rpartition("*")
        if not star:
            return cls(text.strip(), stated_unit=unit)
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not (column.strip() and math.isfinite(factor) and factor > 0):
            raise InputError(
                f"Cannot tell which time {shorten(text)} means. Give a column, or a column times a number "
                f"above 0: `--time global_step`, `--time global_step*4` or `--time 'epoch*1e6 frames'`."
            )
        return cls(column.strip(), factor, unit)

    @property
    def unit(self) -> str:
        """Frames where it was stated, the name says so, or a step is as many as Atari agents skip."""
        if self.stated_unit:
            return self.stated_unit
        named = re.search(r"frame", self.column, flags=re.IGNORECASE)
        return "frames" if named or self.factor == FRAMES_PER_STEP else "steps"


class MeasureOf(NamedTuple):
    """Whose measure was chosen: benchmarks or groups of items like a pattern, and its name.

    >>> MeasureOf.of("arc*=acc_norm")
    MeasureOf(pattern='arc*', measure='acc_norm')
    """

    pattern: str
    measure: str

    @classmethod
    def of(cls, text: str) -> MeasureOf:
        """Read `PATTERN=MEASURE`."""
        pattern, _, measure = text.rpartition("=")
        if not pattern.strip() or not measure.strip():
            raise InputError(
                f"{shorten(text)} does not say which measure of which benchmark. Give PATTERN=MEASURE, "
                f"such as 'arc*=acc_norm'."
            )
        return cls(pattern.strip(), measure.strip())

    def is_of(self, items: str, benchmark: str) -> bool:
        """Tell whether a group of items, or its benchmark, is like the pattern.

        >>> MeasureOf("mmlu*", "acc").is_of("mmlu_law", "mmlu")
        True
        """
        return fnmatchcase(items, self.pattern) or fnmatchcase(benchmark, self.pattern)


def measures_of(names: Sequence[str]) -> tuple[MeasureOf, ...]:
    """Read measures for each benchmark; one that names no benchmark is for all others.

    >>> measures_of(["acc"]), measures_of(["arc*=acc_norm", "acc"])[1]
    ((), MeasureOf(pattern='*', measure='acc'))
    """
    if not any("=" in name for name in names):
        return ()
    choices = [MeasureOf.of(name) if "=" in name else MeasureOf("*", name) for name in names]
    return tuple(sorted(choices, key=lambda choice: choice.pattern == "*"))


AXES = MappingProxyType(
    {
        "agents": "agent",
        "tasks": "task",
        "runs": "run",
        "checkpoints": "checkpoint",
        "trials": "trial",
        "episodes": "trial",
    }
)
"""Names of axes → the key that an index along it is."""


def parse_axes(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the axes of an array.

    >>> parse_axes("checkpoints,runs")
    ('checkpoint', 'run')
    """
    names = text.split(",") if isinstance(text, str) else list(text)
    keys = tuple(AXES.get(name.strip().lower(), name.strip()) for name in names)
    if not all(keys) or len(set(keys)) < len(keys):
        raise InputError(
            f"Cannot name the axes {shorten(text)}. Name each axis once, in order, among {listed(AXES)}: "
            f"`--axes checkpoints,runs`."
        )
    return keys


_ITEM_NAMES = ("instance_id", "item", "task", "id")


def item_names(source: str | Path | Sequence[str]) -> tuple[str, ...]:
    r"""Return the items of a benchmark, each once: a list as it is, or what a file lists.

    The file has one a line, with or without a header (`instance_id`, `item`, `task` or `id`, the first
    column of a table), or a JSON list of names or of objects that have one of these.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = path.write_text("instance_id,repo\nflask-1,flask\nflask-2,flask\n")
    >>> item_names(path), item_names(["a", "b", "a"])
    (('flask-1', 'flask-2'), ('a', 'b'))
    """
    if not isinstance(source, str | Path):
        return tuple(dict.fromkeys(source))
    file = open_source(source)
    data = text_of(file).data
    if data.lstrip().startswith(b"["):
        names = [_item_name(entry) for entry in parse_json(data, file.path)]
    else:
        lines = [line.strip() for line in data.decode().splitlines() if line.strip()]
        names = [line.partition(",")[0].partition("\t")[0].strip().strip('"') for line in lines]
        if names and names[0].lower() in _ITEM_NAMES:
            names = names[1:]
    items = tuple(dict.fromkeys(name for name in names if name))
    if not items:
        raise InputError(
            f"{shorten(source, 200)} lists no items. Give one a line, or a JSON list of them."
        )
    return items


def _item_name(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((entry[name] for name in _ITEM_NAMES if name in entry), None)
    return str(entry) if isinstance(entry, str | int) else ""

"""Parquet files that together are one table of results: found, alike in their columns, and unchanged."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from examiner.results.border import MEASURES
from examiner.results.keys import BESIDE_RESULTS, ITEM_COLUMNS
from examiner.results.parquet import damaged
from examiner.results.storage import PROBLEMS
from examiner.wording import InputError, counted, listed, shorten

_NUMBERED = re.compile(r"(\d+)-of-(\d+)")
"""How writers of many files number them: part-00003-of-00010.parquet."""
COUNTS = ("successes", "trials")
"""The columns of results that are counted already."""
_KEYS = ("agent", "task")


class Stamp(NamedTuple):
    """By what a file is known again: its path, size and time of change."""

    path: str
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return that of a file, or say that it is not there."""
        try:
            state = path.stat()
        except OSError:
            raise InputError(
                f"The shard {shorten(path, 200)} is missing. Put it back, or leave it out of what is read."
            ) from None
        return cls(str(path), state.st_size, state.st_mtime_ns)


class Columns(NamedTuple):
    """Where results stand in a shard: in two columns of counts, in one measure, or in one a task.

    `agent` is the column of agents; `tasks` are the columns of a wide table, else none.
    """

    agent: str
    counts: bool
    measure: str | None
    tasks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Other measures that stand beside the one that is taken."""
    keys: tuple[str, ...] = ()
    """Columns by which rows of one agent and task differ."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed of them."""
        if not self.others:
            return ()
        return (
            f"Of the measures {listed((str(self.measure), *self.others))} the first is fitted. Name "
            f"another where that is meant (`--measure NAME`, `measure=`).",
        )

    def repeated(self, most: int) -> str:
        """Say that cells stood in several rows, with up to so many trials.

        >>> Columns("agent", False, "win").repeated(2)
        "There is no 'trial' column: repeated rows of one agent and task are taken as trials, up to 2."
        """
        told = f"repeated rows of one agent and task are taken as trials, up to {most:,}."
        if not self.keys:
            return f"There is no 'trial' column: {told}"
        verb = "is" if len(self.keys) == 1 else "are"
        return f"{listed(self.keys)} {verb} not told apart in shards: {told}"


def shard_paths(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the Parquet files that a path, folder (partitioned ones too), pattern or list names.

    >>> shard_paths("nowhere/*.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: There is no Parquet file at 'nowhere/*.parquet'. Check the path.
    """
    if not isinstance(source, (str, Path)):
        return [path for part in source for path in shard_paths(part)]
    path = Path(source)
    if path.is_dir():
        found = sorted(
            inside
            for inside in path.rglob("*.parquet")
            if not any(part.startswith((".", "_")) for part in inside.relative_to(path).parts)
        )
    elif glob.has_magic(str(source)) and not path.exists():
        found = sorted(map(Path, glob.glob(str(source), recursive=True)))  # noqa: PTH207
    else:
        found = [path]
    if not found:
        raise InputError(f"There is no Parquet file at {shorten(source, 200)}. Check the path.")
    _check_numbering(found)
    return found


def _check_numbering(paths: list[Path]) -> None:
    """Refuse files that say how many they are where some of them are not there."""
    sets: dict[tuple[str, int], set[int]] = {}
    for path in paths:
        numbered = _NUMBERED.search(path.name)
        if numbered:
            stem = f"{path.parent}/{path.name[: numbered.start()]}"
            sets.setdefault((stem, int(numbered[2])), set()).add(int(numbered[1]))
    for (stem, count), there in sets.items():
        first = 0 if 0 in there else 1
        missing = sorted(set(range(first, first + count)) - there)
        if missing:
            raise InputError(
                f"Of {counted(count, 'shard')} {shorten(stem, 200)}…-of-{count}, {len(there)} are there: "
                f"number {missing[0]} is missing. Put it back, or rename what is there."
            )


def scanned(path: Path) -> pl.LazyFrame:
    """Return a lazy table of one shard; names in its folders (agent=dqn/) are columns."""
    Stamp.of(path)
    return pl.scan_parquet(path, hive_partitioning=True, glob=False)


def columns_of(path: Path, measure: str | None = None) -> Columns:
    """Return where results stand in a shard."""
    try:
        schema = scanned(path).collect_schema()
    except PROBLEMS as problem:
        raise damaged(path, problem) from None
    numbers = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.Boolean]
    if all(name in schema for name in _KEYS):
        keys = tuple(name for name in (*ITEM_COLUMNS, "run", "seed", "trial") if name in schema)
        if measure is None and all(name in numbers for name in COUNTS):
            return Columns("agent", True, None, keys=keys)
        measures = [name for name in numbers if name not in (*_KEYS, *BESIDE_RESULTS)]
        usual = [name for name in MEASURES if name in measures]
        if measure is not None and measure not in numbers:
            raise InputError(
                f"The shard {shorten(path, 200)} has no column {measure!r} of numbers. It has: "
                f"{listed(schema)}."
            )
        if measure is None and not measures:
            raise InputError(
                f"The shard {shorten(path, 200)} has no column of results beside agent and task. It has: "
                f"{listed(schema)}."
            )
        if measure is None and not usual and len(measures) > 1:
            raise InputError(
                f"The shard {shorten(path, 200)} has several columns of numbers: {listed(measures)}. Name "
                f"the one to fit (`--measure NAME`, `measure=`)."
            )
        if measure is not None:
            return Columns("agent", False, measure, keys=keys)
        taken, *others = usual or measures
        return Columns("agent", False, taken, others=tuple(others), keys=keys)
    first, *others = schema
    if not others or numbers != others:
        raise InputError(
            f"The shard {shorten(path, 200)} has the columns {listed(schema)}. Give agent, task and a "
            f"measure; or the agents' names first and then a column of numbers for each task."
        )
    return Columns(first, False, None, tuple(others))


def check_alike(paths: Sequence[Path], measure: str | None) -> Columns:
    """Return where results stand in all shards, or name the first that is otherwise."""
    first = columns_of(paths[0], measure)
    for path in paths[1:]:
        other = columns_of(path, measure)
        if other[:3] != first[:3] or set(other.tasks) != set(first.tasks):
            raise InputError(
                f"The shard {shorten(path, 200)} has another schema than {shorten(paths[0], 200)}: "
                f"{_said(other)} instead of {_said(first)}. Write all shards with the same columns."
            )
    return first


def _said(columns: Columns) -> str:
    if columns.tasks:
        return f"{counted(len(columns.tasks), 'column')} of tasks"
    return (
        "the counts successes and trials" if columns.counts else f"the measure {columns.measure!r}"
    )


def check_unchanged(stamps: Sequence[Stamp]) -> None:
    """Refuse to go on with files that are no longer what they were."""
    for stamp in stamps:
        if Stamp.of(Path(stamp.path)) != stamp:
            raise InputError(
                f"The shard {shorten(stamp.path, 200)} was changed while it was used. Begin again when "
                f"nothing writes to it."
            )

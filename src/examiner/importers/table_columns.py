"""Which columns of a plain table name agents, tasks, runs and trials, by option or by their names."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from examiner.importers.options import Key, Layout, ReadOptions
from examiner.importers.suggestions import MissingNamesError
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    INDEX_COLUMN,
    KEY_COLUMNS,
    TASK_COLUMNS,
    columns_like,
    measure_columns,
    time_columns,
)
from examiner.messages import InputError, listed, shorten
from examiner.results import ITEM_COLUMNS, numbers_in
from examiner.validation import check_names

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class TableColumns:
    """What the header says: the layout, what each column is, and what was guessed.

    `given` are names that the path of the file or an option gives, beside the table's own columns.
    `mapping` has the new names of columns that are called otherwise in results; `others` are columns that
    could be the agent or the task as well as the one that was chosen.
    """

    names: tuple[str, ...]
    options: ReadOptions
    given: Mapping[str, str]
    layout: Layout
    mapping: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        options: ReadOptions,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> TableColumns:
        """Interpret a header.

        >>> TableColumns.of(["algorithm", "game", "score"], ReadOptions()).layout
        'tidy'
        >>> TableColumns.of(["agent", "pong", "venture"], ReadOptions()).layout
        'wide'
        """
        _refuse_blank(names)
        _refuse_numbers(names)
        names = check_names(list(names), "column")
        present = tuple(dict.fromkeys((*names, *given)))
        _refuse_absent(options, present)
        likely = _likely(present, options)
        tidy = options.layout == "tidy" or (
            options.layout is None
            and (bool(options.named) or _looks_tidy(names, given, options, likely))
        )
        if not tidy:
            if len(names) < 2:
                raise InputError(
                    f"The table has only the column {listed(names)}. Give names first, then a column of "
                    f"numbers for each task; or check what separates the columns."
                )
            mapping = _mapping(names, options, {}, KEY_COLUMNS)
            return cls(names, options, given, "wide", mapping)
        _refuse_missing(likely, names, present)
        chosen: dict[Key, str] = {key: columns[0] for key, columns in likely.items()}
        mapping = _mapping(names, options, chosen, (*KEY_COLUMNS, *ITEM_COLUMNS))
        guessed = {key for key in chosen if key not in {*options.columns, *given}}
        notes = [
            f"The column {shorten(column)} is read as the {key}."
            for key, column in chosen.items()
            if column != key and key in guessed
        ]
        notes += [
            f"The column {shorten(column)} is kept as {shorten(name)}: another one is the {column}."
            for column, name in mapping.items()
            if name == _replaced(column)
        ]
        items = options.item or ()
        others: dict[Key, tuple[str, ...]] = {
            key: tuple(name for name in likely[key][1:] if name not in items) for key in guessed
        }
        return cls(names, options, given, "tidy", mapping, others, tuple(notes))

    def column_of(self, name: str) -> str | None:
        """Return the column of the table that has a name in results; None where there is none.

        >>> columns = TableColumns.of(["Model", "game", "score"], ReadOptions())
        >>> columns.column_of("agent"), columns.column_of("run")
        ('Model', None)
        """
        return next((own for own in self.names if self.mapping.get(own, own) == name), None)

    def renamed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a table with its columns under their names in results."""
        return frame.rename(dict(self.mapping), strict=False)

    def refuse_several(self, frame: pl.DataFrame) -> None:
        """Refuse a table in which rows of one agent or task differ in a column that may name it as well.

        >>> frame = pl.DataFrame({"task": ["arc"] * 2, "doc_id": [0, 1], "model": ["a"] * 2})
        >>> TableColumns.of(frame.columns, ReadOptions()).refuse_several(frame)
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: Rows of one 'task' differ in 'doc_id', and both may name the task. ...
        """
        for key, others in self.others.items():
            column = self.column_of(key)
            for other in (name for name in others if column and name in frame.columns):
                counts = frame.group_by(column).agg(pl.col(other).drop_nulls().n_unique())
                if not (counts[other] > 1).any():
                    continue  # an attribute of the agent or task
                both = f"`--item task,{shlex.quote(other)}`" if key == "task" else ""
                raise InputError(
                    f"Rows of one {shorten(column)} differ in {shorten(other)}, and both may name the "
                    f"{key}. Name one: `--{key} {shlex.quote(other)}` or `--{key} "
                    f"{shlex.quote(str(column))}`{f'; both: {both}' if both else ''}."
                )

    @property
    def as_text(self) -> tuple[str, ...]:
        """The columns that hold names, even where they look like numbers."""
        if self.layout == "wide":
            return self.names[:1]
        texts = ("agent", "task", *ITEM_COLUMNS)
        return tuple(name for name in self.names if self.mapping.get(name, name) in texts)

    @property
    def as_numbers(self) -> tuple[str, ...]:
        """The columns that must hold numbers."""
        if self.layout == "wide":
            keys = {name for name in self.names if self.mapping.get(name, name) in KEY_COLUMNS}
            return tuple(name for name in self.names[1:] if name not in keys)
        measures = self.options.measures or measure_columns(self.names)
        return tuple(name for name in self.names if name in measures)


def _refuse_absent(options: ReadOptions, names: Sequence[str]) -> None:
    for key, column in options.named.items():
        if column not in names:
            raise InputError(
                f"There is no column {shorten(column)} for the {key}; found {listed(names, limit=15)}. "
                f"Name one of them, or write `--{key} {shlex.quote('=' + column)}` if that is the name of "
                f"the {key}."
            )


def _likely(names: Sequence[str], options: ReadOptions) -> dict[Key, list[str]]:
    """The columns that may name agents and tasks, the one to use first."""
    free = [name for name in names if name not in options.named.values()]
    kinds: dict[Key, tuple[str, ...]] = {"agent": AGENT_COLUMNS, "task": TASK_COLUMNS}
    return {
        key: [options.named[key]] if key in options.named else columns_like(free, recognised)
        for key, recognised in kinds.items()
    }


def _mapping(
    names: Sequence[str],
    options: ReadOptions,
    chosen: Mapping[Key, str],
    recognised: Sequence[str],
) -> dict[str, str]:
    """New names: of the columns chosen for keys, and of others by the same name in capitals."""
    keys: dict[Key, str] = dict(chosen)
    keys |= {key: name for key, name in options.named.items() if key in chosen or key in recognised}
    mapping = {column: str(key) for key, column in keys.items() if column != key}
    taken = {*names, *keys}
    for column in names:
        plain = column.strip().lower()
        if column not in mapping and plain in recognised and plain not in taken:
            mapping[column] = plain
            taken.add(plain)
        elif column in keys and keys[column] != column:
            mapping[column] = _replaced(column)
    return mapping


def _replaced(name: str) -> str:
    """What a column called like a key is called where another column is that key."""
    return f"other_{name}"


def _refuse_missing(
    likely: Mapping[Key, Sequence[str]], names: Sequence[str], present: Sequence[str]
) -> None:
    missing = [key for key, columns in likely.items() if not columns]
    if not missing:
        return
    template = "/".join(f"{{{key}}}" for key in missing)
    wide, agents = "", likely["agent"]
    several = len(names) > len(likely) + 1 and not measure_columns(names)
    if missing == ["task"] and agents[0] in names and several:
        wide = f" If other columns are tasks: `--layout wide --agent {shlex.quote(agents[0])}`."
    raise MissingNamesError(
        f"There is no column for the {missing[0]}; found {listed(present, limit=15)}. Name it: "
        f"`--{missing[0]} COLUMN`, or `--{missing[0]} =NAME` where all rows are of one.{wide}"
        f"{_of_fields(names)} Or take it from the names of folders and files: `--path '{template}'`.",
        missing,
        template,
    )


def _of_fields(names: Sequence[str]) -> str:
    """How to read an object within each record, such as the one with the most fields, as scores by task."""
    fields = Counter(name.rpartition(".")[0] for name in names if "." in name)
    if not fields:
        return ""
    largest, count = fields.most_common(1)[0]
    return f" If the {count} fields of {shorten(largest)} are tasks: `--measure {shlex.quote(largest)}`."


def _looks_tidy(
    names: Sequence[str],
    given: Mapping[str, str],
    options: ReadOptions,
    likely: Mapping[Key, Sequence[str]],
) -> bool:
    if options.tasks_are is not None:
        return False
    if all(likely.values()):
        return True
    present = (*names, *given)
    # A measure and one of the keys: a tidy table that lacks the other, as the error will say.
    keys = [*columns_like(present, KEY_COLUMNS), *time_columns(present)]
    if measure_columns(present) and bool(any(likely.values()) or keys):
        return True
    if any(name in options.measures for name in names):
        return True
    # The names of a wide table stand first: an agent or a task elsewhere is one key of a tidy table.
    first = [name for name in names if name != INDEX_COLUMN][:1]
    return any(likely.values()) and not columns_like(first, (*AGENT_COLUMNS, *TASK_COLUMNS))


def _refuse_numbers(names: Sequence[str]) -> None:
    """Refuse a first line of numbers alone, which is no header."""
    words = " ".join(map(str, names)).split()
    if not words or numbers_in(pl.Series(words))[1] is not None:
        return
    example = ",".join(
        ["step", "score", *(f"other{n}" for n in range(1, len(words)))][: len(words)]
    )
    template = "{agent}/{task}/{run}"
    raise MissingNamesError(
        f"There is no header: the first line holds only numbers ({shorten(' '.join(words), 40)}). Write "
        f"names of the columns into a line above it, separated by commas like the values, such as "
        f"{example!r}, and take other names from the path (`--path '{template}'`).",
        ("agent", "task"),
        template,
    )


def _refuse_blank(names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if isinstance(name, str) and not name.strip():
            place = f"after {shorten(names[position - 1])}" if position else "the first"
            raise InputError(
                f"In the header, column {position + 1} of {len(names)} has no name ({place}). Name it, or "
                f"remove the column{', and what separates it' if position == len(names) - 1 else ''}."
            )

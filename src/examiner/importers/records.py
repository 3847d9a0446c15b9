"""Records as tables: those within a document; their objects become columns, their curves rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from examiner.importers.documents import Record
from examiner.importers.options import ReadOptions, TimeColumn
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    KEY,
    LENGTHS,
    TASK_COLUMNS,
    TIME_COLUMNS,
    columns_like,
)
from examiner.messages import InputError, counted, shorten
from examiner.results import BESIDE_RESULTS, MEASURES

_COLUMN_KINDS = MappingProxyType(
    {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
)
_MOST_FIELDS = 200  # an object with more holds names in its keys, and no fields of a record


def table_of(records: Sequence[Record]) -> pl.DataFrame:
    """Return records as a table, whatever kinds of values stand under one name.

    Several kinds of numbers and texts become text; where only some values are lists, others are lists of
    one, which is a curve of one point.

    >>> table_of([{"a": 1, "b": {"c": 2}}, {"a": "x", "b": {"c": 3}}]).rows()
    [('1', 2), ('x', 3)]
    """
    flat = [dict(_fields(record)) for record in records]
    names = dict.fromkeys(name for record in flat for name in record)
    return pl.DataFrame([_column(name, [record.get(name) for record in flat]) for name in names])


def _fields(record: Record, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and 0 < len(value) <= _MOST_FIELDS:
            yield from _fields(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", [] if isinstance(value, dict) else value


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if list in kinds:
        lists = [value if isinstance(value, list) else [value] for value in values]
        try:
            return pl.Series(name, lists, strict=False)
        except (pl.exceptions.PolarsError, TypeError, OverflowError):
            return pl.Series(name, [[]] * len(values), dtype=pl.List(pl.Null))
    shared = float if kinds <= {int, float, bool} else str
    kind = kinds.pop() if len(kinds) == 1 else shared
    try:
        return _of_kind(kind, name, values)
    except (OverflowError, TypeError):  # a whole number that is longer than polars or floats hold
        return _of_kind(str, name, values)


def _of_kind(kind: type, name: str, values: Sequence[Any]) -> pl.Series:
    plain = [None if value is None else kind(value) for value in values]
    return pl.Series(name, plain, dtype=_COLUMN_KINDS[kind])


# -------------------------------------------------------------------- documents


def records_within(document: Record) -> list[dict[str, Any]] | None:
    """Return the records that a document holds in one place, with the texts around them; None without.

    Records are the objects of a list, or the values of an object that have fields in common, whose names
    are in the column `key`. Texts of the document, such as the name of the model, hold for all of them, and
    so do the numbers of runs; its other numbers may be means over the records.

    >>> records_within({"model": "m", "accuracy": 0.5, "results": [{"id": 1, "correct": True}]})
    [{'model': 'm', 'id': 1, 'correct': True}]
    """
    places = list(_collections(document))
    if len(places) > 1:  # the one whose records name agents and tasks
        places = [place for place in places if _names_both(place)]
    if len(places) != 1:
        return None
    around, records = places[0]
    return [
        {name: record[name] for name in (KEY,) if name in record} | {**around, **record}
        for record in records
    ]


def _collections(
    value: Record, around: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[tuple[Mapping[str, Any], list[Record]]]:
    """The places of a document in which records stand, each with the texts above it."""
    texts = {
        name: part
        for name, part in value.items()
        if isinstance(part, str) or (name in BESIDE_RESULTS and isinstance(part, int))
    }
    around = {**around, **texts}
    for part in value.values():
        if isinstance(part, list) and part and all(map(_is_record, part)):
            yield around, part
        elif isinstance(part, dict) and len(part) > 1 and all(map(_is_record, part.values())):
            shared = set.intersection(*(set(record) for record in part.values()))
            if shared:
                yield around, [{KEY: key, **record} for key, record in part.items()]
        elif isinstance(part, dict):
            yield from _collections(part, around)


def _names_both(place: tuple[Mapping[str, Any], list[Record]]) -> bool:
    around, records = place
    names = [*around, *records[0]]
    return all(columns_like(names, known) for known in (AGENT_COLUMNS, TASK_COLUMNS))


def _is_record(value: object) -> bool:
    """Whether a value is an object with a number or a truth value, at once or below."""
    return isinstance(value, dict) and any(
        isinstance(part, bool | int | float) or _is_record(part) for part in value.values()
    )


# -------------------------------------------------------------------- objects in columns


def opened_objects(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose columns of objects are a column for each field: `agent.name`.

    >>> opened_objects(pl.DataFrame({"agent": [{"name": "dqn"}], "score": [1]})).columns
    ['agent.name', 'score']
    """
    while True:
        objects = [
            name
            for name, kind in frame.schema.items()
            if isinstance(kind, pl.Struct) and len(kind.fields) <= _MOST_FIELDS
        ]
        if not objects:
            return frame
        try:
            frame = frame.unnest(objects, separator=".")
        except pl.exceptions.DuplicateError:
            return frame


def fields_as_tasks(frame: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Return a row for each field of the object that a measure names: the scores of each record by task.

    >>> scores = pl.DataFrame({"model": ["a"], "acc.arc": [0.5], "acc.gsm": [0.25]})
    >>> fields_as_tasks(scores, ["acc"]).rows()
    [('a', 'arc', 0.5), ('a', 'gsm', 0.25)]
    """
    start = f"{measures[0]}." if len(measures) == 1 else ""
    fields = [name for name in frame.columns if start and name.startswith(start)]
    if not fields or measures[0] in frame.columns or "task" in frame.columns:
        return frame
    numbers = frame.select(fields).select(pl.selectors.numeric() | pl.selectors.boolean()).columns
    others = [name for name in frame.columns if name not in fields]
    long = frame.unpivot(numbers, index=others, variable_name="task", value_name=measures[0])
    return long.with_columns(pl.col("task").str.strip_prefix(start))


# -------------------------------------------------------------------- lists in columns

_TIME = "xs"
_SCORES = ("ys", "scores", "returns", "rewards")
"""What lists of scores are called, beside the names of measures."""


class Unfolded(NamedTuple):
    """A table with one row per point of its curves, how it is to be read now, and what was guessed."""

    frame: pl.DataFrame
    options: ReadOptions
    notes: tuple[str, ...] = ()


def unfold_curves(frame: pl.DataFrame, options: ReadOptions) -> Unfolded:
    """Give each point of a curve its own row, where the measure or the time of a table is a list.

    Other lists of the same lengths go along with the points. Any other list stays as it is: an interval
    next to a score, for example, makes no second run.

    >>> frame = pl.DataFrame({"agent": ["a"], "xs": [[0, 5]], "ys": [[1, 2]], "interval": [[1, 2, 3]]})
    >>> unfold_curves(frame, ReadOptions()).frame.rows()
    [('a', 0, 1, [1, 2, 3], 0), ('a', 5, 2, [1, 2, 3], 1)]
    >>> unfold_curves(pl.DataFrame({"score": [1], "interval": [[0, 2]]}), ReadOptions()).frame.height
    1
    """
    lists = [
        name
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.List) and frame[name].null_count() < len(frame)
    ]
    measures = {*options.measures, *_SCORES, *MEASURES}
    times = {_TIME, *TIME_COLUMNS, *([options.time.column] if options.time else [])}
    points = [name for name in lists if name in measures]
    known_measure = any(name in (*options.measures, *MEASURES) for name in frame.columns)
    if points or not known_measure:
        points += [name for name in lists if name in times and name not in points]
    if not points:
        return Unfolded(frame, options)
    lengths = frame[points[0]].list.len()
    for name in points:
        _refuse_other_lengths(frame[name], points[0], lengths)
    along = [name for name in lists if frame[name].list.len().equals(lengths)]
    notes: tuple[str, ...] = ()
    empty = int((lengths == 0).sum())
    if empty:
        notes = (f"{counted(empty, 'record')} without any point in {points[0]!r} excluded.",)
    frame = frame.filter(lengths > 0)
    episodes = any(name in LENGTHS for name in along)
    if _TIME in points and not episodes:
        numbers = pl.int_ranges(frame[points[0]].list.len(), eager=True).alias("checkpoint")
        frame, along = frame.with_columns(numbers), [*along, "checkpoint"]
    if _TIME in points and options.time is None:
        options = replace(options, time=TimeColumn(_TIME))
        rows = "episodes" if episodes else "checkpoints"
        notes = (
            *notes,
            f"The lists {_TIME!r} are read as time, in steps, and {points[0]!r} as {rows} of a training "
            f"log. If time is in frames, say so: `--time '{_TIME} frames'`.",
        )
    frame = frame.explode(along)
    scores = [name for name in _SCORES if name in points][:1]
    if not known_measure:
        frame = frame.rename(dict.fromkeys(scores, "score"))
    return Unfolded(frame, options, notes)


def _refuse_other_lengths(column: pl.Series, first: str, lengths: pl.Series) -> None:
    """Refuse a record whose curve has more points in one list than in another, or none at all."""
    wrong = column.list.len().ne_missing(lengths) | column.is_null()
    if not wrong.any():
        return
    row = int(wrong.arg_max() or 0)
    count = column.list.len()[row]
    if count is None or lengths[row] is None:
        missing = column.name if count is None else first
        fault = f"has no list in {shorten(missing)}, as other records have"
    else:
        fault = (
            f"has {lengths[row]} points in {shorten(first)} and {count} in {shorten(column.name)}"
        )
    raise InputError(f"Record {row + 1} {fault}. Correct or remove it.", row=row)

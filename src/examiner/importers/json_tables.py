"""Records of JSON as tables: nested objects opened into columns, and the records within a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl

from examiner.importers.column_names import AGENT_COLUMNS, KEY, TASK_COLUMNS, columns_like
from examiner.importers.json_values import Record
from examiner.results import BESIDE_RESULTS

_COLUMN_KINDS = MappingProxyType(
    {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
)
_MOST_FIELDS = 200  # an object with more holds names in its keys, and no fields of a record


def opened_objects(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose columns of objects are a column for each field: `agent.name`.

    >>> opened_objects(pl.DataFrame({"agent": [{"name": "dqn"}], "score": [1]})).columns
    ['agent.name', 'score']
    """
    while True:
        objects = {
            name: [field.name for field in kind.fields]
            for name, kind in frame.schema.items()
            if isinstance(kind, pl.Struct) and len(kind.fields) <= _MOST_FIELDS
        }
        names = [
            part
            for name in frame.columns
            for part in (f"{name}.{field}" for field in objects.get(name, [""]))
        ]
        if not objects or len(set(names)) < len(names):
            return frame
        frame = frame.select(
            part
            for name in frame.columns
            for part in (
                [
                    pl.col(name).struct.field(field).alias(f"{name}.{field}")
                    for field in objects[name]
                ]
                if name in objects
                else [pl.col(name)]
            )
        )


def fields_as_tasks(frame: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Return a row for each field of the object that a measure names: the scores of each record by task.

    >>> scores = pl.DataFrame({"model": ["a"], "acc.arc": [0.5], "acc.gsm": [0.25]})
    >>> fields_as_tasks(scores, ["acc"]).rows()
    [('a', 'arc', 0.5), ('a', 'gsm', 0.25)]
    """
    beginning = f"{measures[0]}." if len(measures) == 1 else ""
    fields = [name for name in frame.columns if beginning and name.startswith(beginning)]
    if not fields or measures[0] in frame.columns or "task" in frame.columns:
        return frame
    numbers = frame.select(fields).select(pl.selectors.numeric() | pl.selectors.boolean()).columns
    others = [name for name in frame.columns if name not in fields]
    long = frame.unpivot(numbers, index=others, variable_name="task", value_name=measures[0])
    return long.with_columns(pl.col("task").str.strip_prefix(beginning))


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

"""Tables of an answer: arrays under declared columns, and rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from examiner.answers.columns import SCORE, Column, Declared
from examiner.answers.rendered import Rendered
from examiner.messages import InputError, listed, nearest
from examiner.validation import natural_key


class Row(Mapping[str, Any]):  # Any: as the column declares
    """One row of a table: `row.mean` or `row["mean"]`.

    >>> Row({"agent": "dqn", "mean": 0.5}).mean
    0.5
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(
                f"A row has no column {name!r}. {nearest(name, self._values)}".rstrip()
            ) from None

    def __reduce__(self) -> tuple[type[Row], tuple[dict[str, Any]]]:
        return Row, (self._values,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Cannot change {name!r}: answers are frozen. Compute a new one.")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        cells = (
            f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}"
            for name, value in self._values.items()
        )
        return f"Row({', '.join(cells)})"


class Table(Rendered):
    """Arrays under declared columns; `table["pong"]`, `table["dqn", "mean"]` and `table[0]` are rows.

    A table of its own kind declares its columns in the body of a class:

    >>> from examiner.answers import name, number
    >>> class AgentMeans(Table):
    ...     agent: tuple[str, ...] = name("Agent")
    ...     mean: NDArray[np.float64] = number("Mean score over tasks", unit=SCORE)
    >>> means = AgentMeans(agent=("dqn", "random"), mean=[1.5, 0.0], score_unit="human = 1")
    >>> means["dqn"].mean, means.columns["mean"].unit, len(means)
    (1.5, 'human = 1', 2)

    Columns are given by keyword, as anything that their kind can convert. `level` is that of its
    intervals, `score_unit` what scores are measured in, and `caption` what a reader sees above it.
    Optional columns that are None are absent.
    """

    declared: ClassVar[Mapping[str, Declared]] = MappingProxyType({})
    columns: Mapping[str, Column]
    level: float
    score_unit: str
    caption: str
    _values: dict[str, Any]  # Any: as the column declares; apart, as a column may be called `level`

    def __init_subclass__(cls) -> None:
        columns = {name: part for name, part in vars(cls).items() if isinstance(part, Declared)}
        named = {
            name: replace(part, column=_named(part.column, name)) for name, part in columns.items()
        }
        for name in columns:
            delattr(cls, name)
        cls.declared = MappingProxyType({**cls.declared, **named})

    def __init__(
        self, *, level: float = 0.95, score_unit: str = "", caption: str = "", **values: Any
    ) -> None:
        declared = type(self).declared
        required = {name for name, part in declared.items() if not part.optional}
        if wrong := (required - set(values)) | (set(values) - set(declared)):
            raise TypeError(
                f"{type(self).__name__} lacks or does not have the columns {listed(sorted(wrong))}."
            )
        for name in set(declared) - set(values):
            values[name] = None
        kept = [part.column for part in declared.values() if values[part.column.name] is not None]
        self._set(kept, values, level=level, score_unit=score_unit, caption=caption)
        self._values.update({name: None for name in declared if values[name] is None})

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        values: Mapping[str, Any],  # Any: as the column declares
        *,
        level: float = 0.95,
        score_unit: str = "",
        caption: str = "",
    ) -> Table:
        """Return a table whose columns are not known before it is made.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["pong"], "bits": [0.5]})
        >>> table["pong"].bits
        0.5
        """
        table = object.__new__(Table)
        table._set(columns, values, level=level, score_unit=score_unit, caption=caption)
        return table

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],  # Any: as the column declares
        *,
        level: float = 0.95,
        score_unit: str = "",
        caption: str = "",
    ) -> Self:
        """Return a table of its own kind from one dictionary per row; without rows it is empty.

        >>> from examiner import answers as declare
        >>> class TaskBits(Table):
        ...     task: tuple[str, ...] = declare.name("Task")
        ...     bits: NDArray[np.float64] = declare.number("Bits")
        >>> TaskBits.from_rows([{"task": "pong", "bits": 0.5}])["pong"].bits
        0.5
        """
        listed_rows = list(rows)
        names = listed_rows[0] if listed_rows else cls.declared
        values = {name: [row[name] for row in listed_rows] for name in names}
        return cls(level=level, score_unit=score_unit, caption=caption, **values)

    def _set(
        self,
        columns: Sequence[Column],
        values: Mapping[str, Any],
        *,
        level: float,
        score_unit: str,
        caption: str,
    ) -> None:
        by_name = {column.name: column for column in columns}
        described = {
            name: _described(column, by_name, level, score_unit or SCORE)
            for name, column in by_name.items()
        }
        typed = {name: column.typed(values[name]) for name, column in by_name.items()}
        lengths = {name: len(part) for name, part in typed.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Columns of one table differ in length: {lengths}. Align them.")
        vars(self).update(
            _values=typed,
            columns=MappingProxyType(described),
            level=level,
            score_unit=score_unit,
            caption=caption,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Cannot change {name!r}: answers are frozen. Compute a new one.")

    def __getstate__(self) -> dict[str, Any]:  # Any: as the column declares
        # a mapping proxy cannot be pickled, and answers are sent between processes
        return {**vars(self), "columns": dict(self.columns)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns: dict[str, Column] = state["columns"]
        values = state["_values"]
        typed = {name: column.typed(values[name]) for name, column in columns.items()}
        vars(self).update(state, _values=values | typed, columns=MappingProxyType(columns))

    def __getattr__(self, name: str) -> Any:  # Any: as the column declares
        values = vars(self).get("_values", {})
        if name in values:
            return values[name]
        columns = vars(self).get("columns", {})
        raise AttributeError(
            f"This table has no column {name!r}. {nearest(name, columns)}Its columns are "
            f"{listed(list(columns), limit=40)}."
        )

    def values(self, name: str) -> Any:  # Any: an array or a tuple, as the column declares
        """Return a column by its name, also where the table itself has an attribute of that name.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
        >>> table.values("task")
        ('pong', 'venture')
        """
        return self._values[name] if name in self._values else self.__getattr__(name)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that name a row: the leading names."""
        leading: list[str] = []
        for column in self.columns.values():
            if column.kind != "name":
                break
            leading.append(column.name)
        return tuple(leading)

    def __len__(self) -> int:
        return len(self.values(next(iter(self.columns)))) if self.columns else 0

    def __iter__(self) -> Iterator[Row]:
        return (self[row] for row in range(len(self)))

    def __contains__(self, key: object) -> bool:
        return bool(self._matches(key if isinstance(key, tuple) else (key,)))

    def __getitem__(self, key: str | int | tuple[str, ...]) -> Row:
        if isinstance(key, (int, np.integer)):
            return self._row(range(len(self))[int(key)])
        wanted = key if isinstance(key, tuple) else (key,)
        matches = self._matches(wanted)
        if not matches:
            names = self.values(self.keys[0]) if self.keys else ()
            advice = nearest(str(wanted[0]), names) or f"The first are {listed(names[:5])}."
            raise KeyError(f"No row is named {', '.join(map(str, wanted))}. {advice}")
        if len(matches) > 1:
            raise KeyError(
                f"{len(matches)} rows are named {', '.join(map(str, wanted))}. Name one by "
                f"{', '.join(self.keys)}, in this order."
            )
        return self._row(matches[0])

    def _matches(self, wanted: tuple[object, ...]) -> list[int]:
        keys = [self.values(name) for name in self.keys[: len(wanted)]]
        if len(keys) < len(wanted) or not keys:
            return []
        return [row for row, names in enumerate(zip(*keys, strict=True)) if names == wanted]

    def _row(self, row: int) -> Row:
        cells = {name: self.values(name)[row] for name in self.columns}
        return Row({n: v.item() if isinstance(v, np.generic) else v for n, v in cells.items()})

    def take(self, rows: Sequence[int] | NDArray[np.intp] | NDArray[np.bool_]) -> Self:
        """Return the table of these rows, in this order; or of the rows where a mask is true.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
        >>> table.take([1]).task, table.take(table.bits > 0.3).task
        (('venture',), ('pong',))
        """
        wanted = np.asarray(rows)
        if wanted.dtype == np.bool_:
            if wanted.shape != (len(self),):
                raise InputError(
                    f"A mask of {wanted.size:,} values cannot choose from {len(self):,} rows. Give one "
                    "value per row."
                )
            wanted = np.flatnonzero(wanted)
        order = wanted.astype(np.intp)
        table = object.__new__(type(self))
        taken = {
            name: column.typed(_taken(self.values(name), order))
            for name, column in self.columns.items()
        }
        vars(table).update(vars(self), _values=self._values | taken)
        return table

    def with_column(self, column: Column, values: Any) -> Table:  # Any: as the column declares
        """Return the table with one more column, the last.

        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> table.with_column(Column("bits", "number", "Bits"), [0.5])["pong"].bits
        0.5
        """
        columns = [*self.columns.values(), column]
        named = {name: self.values(name) for name in self.columns} | {column.name: values}
        settings = {"level": self.level, "score_unit": self.score_unit, "caption": self.caption}
        return Table.of(columns, named, **settings)  # type: ignore[arg-type]

    def sorted_by(self, name: str, *, descending: bool = False) -> Self:
        """Return the rows by the values of a column, NaN last; ties keep their order.

        Names and texts are sorted as text, in which numbers count as numbers.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["level 10", "level 9"], "bits": [0.5, 0.75]})
        >>> table.sorted_by("bits", descending=True).task == table.sorted_by("task").task
        True
        """
        values = self.values(name)
        if isinstance(values, np.ndarray):
            numbers = values.astype(np.float64)
            return self.take(np.argsort(-numbers if descending else numbers, kind="stable"))
        keys = [natural_key(text if isinstance(text, str) else ", ".join(text)) for text in values]
        return self.take(sorted(range(len(self)), key=keys.__getitem__, reverse=descending))

    def records(self) -> list[dict[str, Any]]:  # Any: as the column declares
        """Return one plain dictionary per row.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
        >>> table.records()[0]
        {'task': 'pong', 'bits': 0.5}
        """
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_dict(self) -> dict[str, list[Any]]:  # Any: as the column declares
        """Return plain lists by column; NaN where nothing was observed.

        >>> table = Table.of([Column("task", "name", "Task"), Column("bits", "number", "Bits")],
        ...                  {"task": ["pong", "venture"], "bits": [0.5, 0.25]})
        >>> table.to_dict()["bits"]
        [0.5, 0.25]
        """
        return {name: _plain(self.values(name)) for name in self.columns}

    def _table(self, name: str | None) -> Table:
        return self


def _named(column: Column, name: str) -> Column:
    return replace(column, name=name, title="" if column.title == " " else column.title)


def _described(
    column: Column, by_name: Mapping[str, Column], level: float, score_unit: str
) -> Column:
    """Return a column with its unit and meaning in full: bounds and errors take those of theirs."""
    unit, meaning = column.unit, column.meaning
    if column.of and column.of in by_name:
        unit = by_name[column.of].unit
        meaning = meaning or f"{level:.0%} interval of {by_name[column.of].title}".replace(
            "%", " %"
        )
    return replace(column, unit=score_unit if unit == SCORE else unit, meaning=meaning)


def _taken(values: Any, order: NDArray[np.intp]) -> Any:  # Any: as the column declares
    if isinstance(values, np.ndarray):
        return values[order]
    return [values[row] for row in order.tolist()]


def _plain(values: Any) -> list[Any]:  # Any: as the column declares
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [list(value) if isinstance(value, tuple) else value for value in values]

"""Answer: what every public function returns, and what every output is derived from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

from examiner.answers.columns import Column, Kind
from examiner.answers.rendered import Rendered, renderers
from examiner.answers.table import Row, Table
from examiner.messages import InputError, joined, listed, nearest, shorten


class Scalar(NamedTuple):
    """A single value of an answer, what it means and its unit."""

    value: Any  # a number, text, true or false, or None
    meaning: str
    unit: str = ""


def scalar(meaning: str, unit: str = "", *, name: str = "") -> dict[str, tuple[str, str, str]]:
    """Return the metadata of a field that is a single value of its answer, under its name or another.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True, repr=False)
    ... class Gain(Answer):
    ...     gain: float = field(metadata=scalar("Information gained", "bits"))
    >>> Gain(0.5).scalars
    {'gain': Scalar(value=0.5, meaning='Information gained', unit='bits')}

    Meaning and unit may name other fields: `scalar("Slope", "1 / {answer.column}")`.
    """
    return {"scalar": (name, meaning, unit)}


def setting(*, name: str = "") -> dict[str, str]:
    """Return the metadata of a field that is a setting of its answer, under its name or another.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True, repr=False)
    ... class Gain(Answer):
    ...     method: str = field(metadata=setting())
    >>> Gain("greedy").settings
    {'method': 'greedy'}
    """
    return {"setting": name}


class Answer(Rendered):
    """Tables, scalars, notes and settings under one sentence; every format is derived from these.

    A kind of answer is a frozen dataclass that inherits from this class, names its schema, and gives its
    headline and its tables, the most important first. `answer["dqn"]` is a row of the first table;
    tables and scalars are also attributes.

    >>> table = Table.of([Column("agent", "name", "Agent"), Column("mean", "number", "Mean")],
    ...                  {"agent": ["dqn"], "mean": [0.5]})
    >>> answer = StoredAnswer("examiner.example/1", "dqn leads.", {"agents": table})
    >>> answer["dqn"].mean, answer.agents.mean, answer.to_dict()["agents"]
    (0.5, array([0.5]), [{'agent': 'dqn', 'mean': 0.5}])
    """

    __slots__ = ()

    kind: ClassVar[str] = ""
    """What this kind of answer is called in its JSON object: "fit" has the schema "examiner.fit/1"."""

    @property
    def schema(self) -> str:
        """The name and version of the JSON object."""
        return f"examiner.{self.kind}/1"

    @property
    def headline(self) -> str:
        """One claim, built from typed fields."""
        raise NotImplementedError

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name, the most important first: by default the fields that are tables."""
        fields = {name: getattr(self, name) for name in _fields_of(self)}
        return {name: value for name, value in fields.items() if isinstance(value, Table)}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Single values by name: by default the fields declared with `scalar`."""
        values = {}
        for part in _fields_of(self).values():
            if "scalar" in part.metadata:
                name, *texts = part.metadata["scalar"]
                meaning, unit = (text.format(answer=self) for text in texts)
                value = getattr(self, part.name)
                value = str(value) if isinstance(value, PurePath) else value
                values[name or part.name] = Scalar(value, meaning, unit)
        return values

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """What must be repeated to get the same numbers: by default the seed, and fields declared so."""
        values = {"seed": self.seed} if hasattr(self, "seed") else {}
        for part in _fields_of(self).values():
            if "setting" in part.metadata:
                values[part.metadata["setting"] or part.name] = getattr(self, part.name)
        return values

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know about these numbers."""
        return tuple(getattr(self, "notes", ()))

    def _table(self, name: str | None) -> Table:
        tables = self.tables
        if name is None and tables:
            return next(iter(tables.values()))
        if name is None or name not in tables:
            raise InputError(f"This answer has no table {name!r}. It has {listed(list(tables))}.")
        return tables[name]

    def __getitem__(self, key: str | int | tuple[str, ...]) -> Row:
        return self._table(None)[key]

    if not TYPE_CHECKING:  # a misspelt field is an error for type checkers

        def __getattr__(self, name: str) -> Any:  # Any: a table, or a value
            if name.startswith("_") or name in _OWN_NAMES or name in _fields_of(self):
                raise AttributeError(name)
            tables, scalars = self.tables, self.scalars
            if name in tables:
                return tables[name]
            if name in scalars:
                return scalars[name].value
            names = [*tables, *scalars]
            raise AttributeError(
                f"This answer has no {name!r}. {nearest(name, names)}It has {listed(names, limit=40)}."
            )

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return one documented object of plain values; None where nothing was observed.

        >>> answer = StoredAnswer("examiner.example/1", "Nobody leads.")
        >>> answer.to_dict()["headline"]
        'Nobody leads.'
        """
        return dict(renderers().json_object(self))

    def to_json(self) -> str:
        """Return `to_dict` as text; `StoredAnswer.from_json` reads it.

        >>> answer = StoredAnswer("examiner.example/1", "Nobody leads.")
        >>> answer.to_json()[:32]
        '{"schema": "examiner.example/1",'
        """
        return json.dumps(self.to_dict(), allow_nan=False)

    def plot(self) -> Any:  # Any: a figure
        """Draw the estimates of the first table with their intervals.

        >>> table = Table.of([Column("agent", "name", "Agent"), Column("mean", "number", "Mean")],
        ...                  {"agent": ["dqn"], "mean": [0.5]})
        >>> StoredAnswer("examiner.example/1", "dqn leads.", {"agents": table}).plot()
        Plot 'estimates': dqn leads.
        """
        return renderers().plot(self)


@dataclass(frozen=True, eq=False, repr=False)
class StoredAnswer(Answer):
    """An answer whose tables were put together or read, rather than declared by a kind of its own."""

    stored_schema: str
    sentence: str
    stored_tables: Mapping[str, Table] = field(default_factory=dict)
    stored_scalars: Mapping[str, Scalar] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stored_settings: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON values

    @property
    def schema(self) -> str:
        """The name and version of the JSON object."""
        return self.stored_schema

    @property
    def headline(self) -> str:
        """One claim."""
        return self.sentence

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name."""
        return dict(self.stored_tables)

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Single values by name."""
        return self.stored_scalars

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """What must be repeated to get the same numbers."""
        return self.stored_settings

    @classmethod
    def from_json(cls, text: str) -> StoredAnswer:
        """Return the answer that `to_json` wrote, with the same tables, scalars and notes.

        >>> answer = StoredAnswer("examiner.example/1", "Nobody leads.")
        >>> StoredAnswer.from_json(answer.to_json()).headline
        'Nobody leads.'
        """
        try:
            content = json.loads(text)
        except (TypeError, ValueError, RecursionError) as problem:
            raise InputError(f"This is no stored answer: {problem}. {_ADVICE}") from None
        return cls.from_dict(content)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> StoredAnswer:  # Any: JSON values
        """Return the answer that `to_dict` gave.

        >>> StoredAnswer.from_dict({"a": 1})
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: This is no stored answer: 'schema', 'headline', 'notes', ...
        """
        if not isinstance(content, Mapping):
            raise InputError(
                f"This is no stored answer: {shorten(content)} is no object. {_ADVICE}"
            )
        if missing := [repr(name) for name in _PARTS if name not in content]:
            verb = "is" if len(missing) == 1 else "are"
            names = joined(missing, limit=len(_PARTS))
            raise InputError(f"This is no stored answer: {names} {verb} missing. {_ADVICE}")
        try:
            return cls._read(content)
        except KeyError as problem:
            reason = f"{problem} is missing"
        except (TypeError, ValueError, AttributeError, OverflowError) as problem:
            reason = " ".join(str(problem).split()).rstrip(".")
        raise InputError(f"This is no stored answer: {reason}. {_ADVICE}")

    @classmethod
    def _read(cls, content: Mapping[str, Any]) -> StoredAnswer:  # Any: JSON values
        for name, kind in _PARTS.items():
            if not isinstance(content[name], kind):
                raise TypeError(f"{name!r} is {shorten(content[name])}")
        described = dict(content["columns"])
        scalars = {
            name: Scalar(content[name], about["meaning"], about["unit"])
            for name, about in described.pop("scalars", {}).items()
        }
        tables = {
            name: _stored_table(name, about, content[name]) for name, about in described.items()
        }
        return cls(
            content["schema"],
            content["headline"],
            tables,
            scalars,
            tuple(map(str, content["notes"])),
            content["settings"],
        )


_OWN_NAMES = ("tables", "scalars", "headline", "settings", "schema", "all_notes", "notes", "seed")
"""What is never a table or a scalar: looking for it must not compute them."""


def _fields_of(answer: object) -> Mapping[str, Field[Any]]:  # Any: each field has its own type
    return getattr(answer, "__dataclass_fields__", {})


_ADVICE = "Give what `to_json` wrote."
_PARTS: Mapping[str, type | tuple[type, ...]] = MappingProxyType(
    {
        "schema": str,
        "headline": str,
        "notes": (list, tuple),
        "settings": Mapping,
        "columns": Mapping,
    }
)
RESERVED = (*_PARTS, "scalars")
"""What a JSON object has next to tables and scalars, which therefore cannot have these names."""


def _stored_table(name: str, about: Mapping[str, Any], rows: list[dict[str, Any]]) -> Table:
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(f"{name!r} is no list of rows")
    columns = [Column(column, **part) for column, part in about["columns"].items()]
    if unknown := [column.kind for column in columns if column.kind not in get_args(Kind)]:
        raise ValueError(f"{shorten(unknown[0])} is no kind of column")
    values = {column.name: [row[column.name] for row in rows] for column in columns}
    texts = {part: str(about[part]) for part in ("caption", "score_unit")}
    return Table.of(columns, values, level=float(about["level"]), **texts)

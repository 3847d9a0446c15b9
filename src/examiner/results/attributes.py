"""What is known beside the results: where they come from, costs and families, kinds by features."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import ExaminerWarning, InputError, counted, listed, shorten
from examiner.results.atari import matched, recognition_notes
from examiner.validation import check_known, check_names

RowKind = Literal["stated", "inferred", "unclear"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Source and format, the steps taken since, and the notes a reader should see.

    `training` says that the trials of a run are the episodes of an agent while it learnt: they are
    reduced to one value a run before any analysis. `reduction` says how they were, once they are.
    `rows` says whether it is stated what a row of a training log is, an episode or a checkpoint; else it
    is inferred from the spacing of rows, or unclear. `columns` are the columns of a plain table, each with
    its name in the results.

    >>> Provenance("scores.csv", "csv").with_step("normalised by 'human'").steps
    ("normalised by 'human'",)
    """

    source: str = "memory"
    format: str = "frame"
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    training: bool = False
    reduction: str | None = None
    rows: RowKind = "stated"
    columns: tuple[tuple[str, str], ...] = ()

    def with_step(self, step: str) -> Provenance:
        """Add what was done; empty words are nothing done.

        >>> Provenance().with_step("kept 3 agents").with_step("").steps
        ('kept 3 agents',)
        """
        return replace(self, steps=(*self.steps, step)) if step else self

    def with_notes(self, *notes: str) -> Provenance:
        """Add what a reader should know, each sentence once.

        >>> Provenance().with_notes("a", "b", "a").notes
        ('a', 'b')
        """
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))


def announce(notes: tuple[str, ...], already: tuple[str, ...] = ()) -> None:
    """Warn about each note that was not there before, at the line of whoever called the package.

    >>> announce(("known",), already=("known",))
    """
    for note in notes:
        if note not in already:
            warnings.warn(note, ExaminerWarning, stacklevel=_levels_inside())


def _levels_inside() -> int:
    """How many calls up from the warning the first is that stands outside this package."""
    level, frame = 1, sys._getframe(1)
    while (
        frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE
    ):
        level, frame = level + 1, frame.f_back
    return level


_PACKAGE = __name__.partition(".")[0]
Kind = Literal["task", "agent"]
Value: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Attributes:
    """A small table with one row per task (or agent): `values` is [names][columns], None if unknown.

    It may name tasks that the results lack, and lack some that they have. Tasks are found under
    any name of the same Atari game; agents by their own name only.

    >>> about = Attributes.from_dicts("task", [{"task": "space_invaders", "group": "shooter", "cost": 2}])
    >>> about.aligned(["Space Invaders", "pong"], "group")
    ('shooter', None)
    >>> about.numbers(["space_invaders", "pong"], "cost")
    array([ 2., nan])
    """

    kind: Kind = "task"
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[tuple[Value, ...], ...] = ()

    def __post_init__(self) -> None:
        check_names(self.names, self.kind)
        _check_shape(self.kind, self.names, "column", self.columns, self.values)

    @classmethod
    def from_dicts(
        cls, kind: Kind, rows: Iterable[Mapping[str, Value]], *, what: str = "table"
    ) -> Attributes:
        """Build attributes from rows that each name their task (or agent); empty text is unknown.

        >>> Attributes.from_dicts("agent", [{"agent": "dqn", "family": "value"}]).columns
        ('family',)
        """
        named: dict[str, dict[str, Value]] = {}
        for number, row in enumerate(rows, start=1):
            name = row.get(kind)
            if name is None or name == "":
                raise InputError(
                    f"Row {number} of the {what} names no {kind}; it has {listed(row)}. "
                    f"Every row needs a column {kind!r}."
                )
            if str(name) in named:
                raise InputError(
                    f"The {kind} {shorten(name)} stands twice in the {what}. Keep one row for it."
                )
            named[str(name)] = {
                column: None if value == "" else value
                for column, value in row.items()
                if column != kind
            }
        columns = tuple(dict.fromkeys(column for row in named.values() for column in row))
        values = tuple(tuple(row.get(column) for column in columns) for row in named.values())
        return cls(kind, tuple(named), columns, values)

    def __len__(self) -> int:
        return len(self.names)

    def __add__(self, other: Attributes) -> Attributes:
        """Fill what is unknown here from another table, and add its names and columns."""
        rows = self._rows()
        for name, row in other._rows().items():
            merged = rows.setdefault(name, {})
            merged |= {column: value for column, value in row.items() if merged.get(column) is None}
        return Attributes.from_dicts(self.kind, ({self.kind: n, **row} for n, row in rows.items()))

    def _rows(self) -> dict[str, dict[str, Value]]:
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.values)
        return dict(zip(self.names, rows, strict=True))

    def aligned(self, names: Sequence[str], column: str) -> tuple[Value, ...]:
        """Return one attribute of each name, None where it is unknown.

        >>> Attributes("agent", ("dqn",), ("family",), (("value",),)).aligned(["dqn", "ppo"], "family")
        ('value', None)
        """
        if column not in self.columns:
            return (None,) * len(names)
        index = self.columns.index(column)
        return tuple(None if row is None else self.values[row][index] for row in self.rows(names))

    def numbers(self, names: Sequence[str], column: str) -> NDArray[np.float64]:
        """Return one attribute of each name as a number, NaN where it is unknown; shape [names].

        >>> Attributes("task", ("t",), ("cost",), (("cheap",),)).numbers(["t"], "cost")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The cost of the task 't' is 'cheap'. Give a finite number, \
or leave it empty.
        """
        values = self.aligned(names, column)
        return np.array(
            [self._number(name, column, value) for name, value in zip(names, values, strict=True)],
            dtype=np.float64,
        )

    def _number(self, name: str, column: str, value: Value) -> float:
        if value is None:
            return math.nan
        try:
            number = float(value)
        except ValueError:
            number = math.inf
        if not math.isfinite(number):
            raise InputError(
                f"The {column} of the {self.kind} {shorten(name)} is {shorten(value)}. "
                f"Give a finite number, or leave it empty."
            )
        return number

    def rows(self, names: Sequence[str]) -> tuple[int | None, ...]:
        """Return the row of each name, None where it has none.

        >>> Attributes("task", ("pong",), (), ((),)).rows(["Pong", "chess"])
        (0, None)
        """
        if self.kind == "task":
            return matched(names, self.names)
        places = {name: row for row, name in enumerate(self.names)}
        return tuple(places.get(name) for name in names)

    def unmatched(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say which names have no row, which rows no name, and which were found as Atari games.

        >>> Attributes("agent", ("a", "b"), (), ((), ())).unmatched(["b", "c"])
        ("1 of 2 agents are not in the table of agents: 'c'.", "1 of 2 agents in the table of agents \
are not in the results: 'a'.")
        """
        names = tuple(dict.fromkeys(names))
        rows = self.rows(names)
        matches = {
            name: self.names[row] for name, row in zip(names, rows, strict=True) if row is not None
        }
        missing = [name for name in names if name not in matches]
        used = set(matches.values())
        extra = [name for name in self.names if name not in used]
        notes = [
            *recognition_notes([name for name, original in matches.items() if name != original])
        ]
        if missing:
            notes.append(
                f"{len(missing)} of {counted(len(names), self.kind)} are not in the table of "
                f"{self.kind}s: {listed(missing)}."
            )
        if extra:
            notes.append(
                f"{len(extra)} of {counted(len(self), self.kind)} in the table of {self.kind}s are "
                f"not in the results: {listed(extra)}."
            )
        return tuple(notes)


@dataclass(frozen=True, slots=True)
class Classification:
    """What kind of task each task is: one value per task and feature.

    `values[t][f]` is the value of feature f for task t. `attributes` holds further columns that
    describe tasks but are no features, such as the group a paper put them in.

    >>> kinds = Classification(("alien", "pong"), ("perspective",), (("vagrant",), ("omnipresent",)))
    >>> kinds.feature("perspective")
    ('vagrant', 'omnipresent')
    """

    tasks: tuple[str, ...]
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", check_names(self.tasks, "task"))
        object.__setattr__(self, "features", check_names(self.features, "feature"))
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        _check_shape("task", self.tasks, "feature", self.features, self.values)

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only mapping cannot be pickled; worker processes need the classification whole.
        attributes = dict(self.attributes)
        return type(self), (self.tasks, self.features, self.values, attributes, self.source)

    def __hash__(self) -> int:
        return hash((self.tasks, self.features, self.values))

    def feature(self, name: str) -> tuple[str, ...]:
        """Return the value of one feature for every task.

        >>> Classification(("pong",), ("perspective",), (("omnipresent",),)).feature("perspective")
        ('omnipresent',)
        """
        check_known("feature", name, self.features)
        column = self.features.index(name)
        return tuple(row[column] for row in self.values)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the table as columns, `task` first.

        >>> Classification(("pong",), ("perspective",), (("omnipresent",),)).to_dict()
        {'task': ['pong'], 'perspective': ['omnipresent']}
        """
        columns = {"task": list(self.tasks)}
        columns |= {name: list(values) for name, values in self.attributes.items()}
        return columns | {name: list(self.feature(name)) for name in self.features}

    @classmethod
    def from_dict(
        cls,
        columns: Mapping[str, Sequence[str]],
        *,
        attributes: Sequence[str] = (),
        source: str = "",
    ) -> Classification:
        """Build a classification from columns: `task`, then features, but for those named attributes.

        >>> Classification.from_dict({"task": ["pong"], "perspective": ["omnipresent"]}).features
        ('perspective',)
        """
        if "task" not in columns:
            raise InputError(f"A classification needs a column 'task'; found {listed(columns)}.")
        features = tuple(name for name in columns if name != "task" and name not in attributes)
        rows = zip(*(columns[name] for name in features), strict=True)
        return cls(
            tasks=tuple(columns["task"]),
            features=features,
            values=tuple(tuple(row) for row in rows),
            attributes={name: tuple(columns[name]) for name in attributes},
            source=source,
        )

    def __repr__(self) -> str:
        return f"Classification of {len(self.tasks)} tasks by {len(self.features)} features"


def _check_shape(
    kind: str,
    names: Sequence[str],
    column: str,
    columns: Sequence[str],
    values: Sequence[Sequence[Value]],
) -> None:
    """Refuse values that are not one row a name, one value a column."""
    if len(values) != len(names):
        raise InputError(f"{len(values)} rows of values for {len(names)} {kind}s. Give one each.")
    for name, row in zip(names, values, strict=True):
        if len(row) != len(columns):
            raise InputError(
                f"{kind.capitalize()} {shorten(name)} has {len(row)} values for {len(columns)} {column}s "
                f"({listed(columns)}). Give one each."
            )

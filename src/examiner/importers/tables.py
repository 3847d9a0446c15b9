"""A plain table becomes results: tidy or wide, agents or tasks as rows, columns under other names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from examiner.results import InputError, Provenance, Results, Scales
from examiner.results.checks import check_names, listed, shorten
from examiner.results.keys import ITEM_COLUMNS
from examiner.results.table import MEASURES, assemble

Layout = Literal["tidy", "wide"]
Orientation = Literal["rows", "columns"]

AGENT_COLUMNS = (
    "agent",
    "algorithm",
    "algo",
    "model",
    "method",
    "technique",
    "controller",
    "player",
)
TASK_COLUMNS = ("task", "game", "env", "environment", "env_id", "benchmark")
MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "–", "missing")
"""What people write where nothing was observed; compared in lower case, without blanks."""

_TIDY_COLUMNS = frozenset(
    {*ITEM_COLUMNS, *MEASURES, "run", "trial", "seed", "frames", "length", "cost"}
)
KNOWN_COLUMNS = _TIDY_COLUMNS.union(AGENT_COLUMNS, TASK_COLUMNS)
"""Names that mean something in a header."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a plain table is to be understood; None means: find out."""

    layout: Layout | None = None
    tasks_are: Orientation | None = None
    measures: tuple[str, ...] = ()
    item: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("layout", self.layout, ("tidy", "wide")),
            ("tasks_are", self.tasks_are, ("rows", "columns")),
        ):
            if value is not None and value not in known:
                raise InputError(f"Unknown {name} {shorten(value)}. Known: {listed(known)}.")


def results_from_table(frame: pl.DataFrame, options: TableOptions, origin: Provenance) -> Results:
    """Build results from a frame as it was read, whatever its layout.

    >>> wide = pl.DataFrame({"game": ["pong", "venture"], "dqn": [18.0, 380.0], "random": [-20.7, 0.0]})
    >>> results = results_from_table(wide, TableOptions(), Provenance())
    >>> results.agents, results.tasks
    (('dqn', 'random'), ('pong', 'venture'))
    >>> results.notes
    ("The first column is called 'game': tasks are rows, agents are columns.",)
    """
    columns = TableColumns.of(frame.columns, options)
    origin = origin.with_notes(*columns.notes)
    if columns.layout == "wide":
        frame = _unpivoted(frame, columns, options)
        return assemble(frame, [_wide_measure(options)], (), Scales(), origin)
    assert columns.agent is not None and columns.task is not None
    frame = frame.rename({columns.agent: "agent", columns.task: "task"})
    frame = _without_blank_rows(frame)
    measures = (
        list(options.measures) or [name for name in MEASURES if name in frame.columns] or None
    )
    if measures:
        frame = frame.with_columns(
            _without_missing_words(frame[name]) for name in measures if name in frame.columns
        )
    item = options.item
    if item is not None:
        item = tuple(name for name in item if name not in ("task", columns.task))
    results = assemble(frame, measures, None, Scales(), origin)
    return results if item is None else results.with_items(*item)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """What the header says: the layout, which columns name agents and tasks, and what was guessed."""

    layout: Layout
    agent: str | None
    task: str | None
    tasks_are_rows: bool
    notes: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], options: TableOptions) -> TableColumns:
        """Understand a header.

        >>> TableColumns.of(["algorithm", "game", "score"], TableOptions()).layout
        'tidy'
        >>> TableColumns.of(["agent", "pong", "venture"], TableOptions()).layout
        'wide'
        """
        check_names(list(names), "column")
        agent, task = _found(names, AGENT_COLUMNS), _found(names, TASK_COLUMNS)
        layout = options.layout
        if layout is None:
            layout = "tidy" if _looks_tidy(names, agent, task, options) else "wide"
        if layout == "tidy":
            return cls(layout, *_tidy_keys(names, agent, task))
        return _wide_header(names, options)

    def as_text(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns of a header that hold names, even where they look like numbers.

        >>> TableColumns.of(["agent", "task", "level", "score"], TableOptions()).as_text(
        ...     ["agent", "task", "level", "score"])
        ('agent', 'task', 'level')
        """
        if self.layout == "wide":
            return (names[0],)
        return tuple(name for name in names if name in (self.agent, self.task, *ITEM_COLUMNS))

    def as_numbers(self, names: Sequence[str], options: TableOptions) -> tuple[str, ...]:
        """The columns of a header that must hold numbers.

        >>> TableColumns.of(["agent", "pong"], TableOptions()).as_numbers(["agent", "pong"], TableOptions())
        ('pong',)
        """
        if self.layout == "wide":
            return tuple(names[1:])
        wanted = options.measures or MEASURES
        return tuple(name for name in names if name in wanted)


def _found(names: Sequence[str], known: Sequence[str]) -> str | None:
    """The column that goes by one of the known names, the best known first, in any case."""
    plain = {name.strip().lower(): name for name in reversed(names)}
    return next((plain[name] for name in known if name in plain), None)


def _looks_tidy(
    names: Sequence[str], agent: str | None, task: str | None, options: TableOptions
) -> bool:
    if options.tasks_are is not None:
        return False
    if agent is not None and task is not None:
        return True
    # One of the two keys and a column like `trial` or `score`: a tidy table that lacks the other key.
    return len(_TIDY_COLUMNS.intersection(names)) > 0 and set(names[1:]) <= _TIDY_COLUMNS


def _tidy_keys(
    names: Sequence[str], agent: str | None, task: str | None
) -> tuple[str, str, bool, tuple[str, ...]]:
    for key, found, known in (("agent", agent, AGENT_COLUMNS), ("task", task, TASK_COLUMNS)):
        if found is None:
            raise InputError(
                f"There is no column for the {key}; found {listed(names, limit=20)}. "
                f"Call it {shorten(key)} (or one of {listed(known[1:])})."
            )
    assert agent is not None and task is not None
    notes = tuple(
        f"The column {shorten(found)} is read as the {key}."
        for key, found in (("agent", agent), ("task", task))
        if found != key
    )
    return agent, task, False, notes


def _wide_header(names: Sequence[str], options: TableOptions) -> TableColumns:
    if len(names) < 2:
        raise InputError(
            f"The table has only the column {listed(names)}. Give names first, then a column of "
            f"numbers for each task; or check what separates the columns."
        )
    notes: tuple[str, ...] = ()
    rows = options.tasks_are == "rows"
    if options.tasks_are is None:
        if _found(names[:1], TASK_COLUMNS):
            rows = True
            notes = (
                f"The first column is called {shorten(names[0])}: tasks are rows, agents are columns.",
            )
        elif not _found(names[:1], AGENT_COLUMNS):
            notes = (
                f"The first column, {shorten(names[0])}, is read as the agents' names and the others as "
                f"tasks; if tasks are rows, say so (`--tasks-are rows`).",
            )
    return TableColumns("wide", None, None, rows, notes)


def _wide_measure(options: TableOptions) -> str:
    if len(options.measures) > 1:
        raise InputError(
            f"A wide table holds one measure, and {len(options.measures)} are named "
            f"({listed(options.measures)}). Name one."
        )
    return options.measures[0] if options.measures else "score"


def _unpivoted(frame: pl.DataFrame, columns: TableColumns, options: TableOptions) -> pl.DataFrame:
    """A wide table as a tidy one: agent, task and the measure, cells without a value left out."""
    if options.item:
        raise InputError(
            f"A wide table has no item columns, and {listed(options.item)} are named. "
            f"Leave `--item` out, or give a tidy table."
        )
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    names, cells = frame[:, 0].cast(pl.String), frame[:, 1:]
    if not len(frame):
        raise InputError("The table has no rows. Give at least one agent's result on one task.")
    if names.null_count() or (names == "").any():
        row = int((names.is_null() | (names == "")).arg_max() or 0)
        raise InputError(f"Row {row + 1} has no name in its first column. Name it.", row=row)
    cells = pl.DataFrame([_numbers(_without_missing_words(column)) for column in cells])
    first, second = ("task", "agent") if columns.tasks_are_rows else ("agent", "task")
    headers = pl.Series(second, cells.columns)
    tidy = pl.DataFrame(
        {
            first: names.gather(_repeated_each(len(names), len(headers))),
            second: headers.gather(_repeated_all(len(names), len(headers))),
            _wide_measure(options): pl.Series(cells.to_numpy().ravel()),
        }
    )
    measure = pl.col(_wide_measure(options))
    return tidy.filter(measure.is_not_null() & measure.is_not_nan())


def _repeated_each(count: int, times: int) -> pl.Series:
    return pl.int_range(count * times, eager=True) // times


def _repeated_all(count: int, times: int) -> pl.Series:
    return pl.int_range(count * times, eager=True) % times


def _numbers(column: pl.Series) -> pl.Series:
    if column.null_count() == len(column):
        raise InputError(
            f"The column {shorten(column.name)} holds only missing values. Fill it or remove it."
        )
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    numbers = column.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"Row {row + 1} has {shorten(column[row])} in the column {shorten(column.name)}, where a "
            f"number belongs. Correct it, leave it empty if nothing was observed, or say which "
            f"layout this is (`--layout tidy`).",
            row=row,
        )
    return numbers


def _without_missing_words(column: pl.Series) -> pl.Series:
    """A column of text with null where people wrote that nothing was observed."""
    if column.dtype != pl.String:
        return column
    plain = column.str.strip_chars()
    return plain.set(plain.str.to_lowercase().is_in(MISSING), None)


def _without_blank_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Blank lines of a text file arrive as rows of nulls; nothing else is left out."""
    if not frame["agent"].null_count():
        return frame
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))

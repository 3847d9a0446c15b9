"""A plain table becomes results: tidy or wide, agents or tasks as rows, columns under other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import polars as pl

from examiner.checking import check_names
from examiner.importers.cells import (
    SUCCESSES,
    counted_out,
    holds_counts,
    rounding_notes,
    unfolded,
    with_exact_keys,
    without_blank_rows,
    without_missing_words,
)
from examiner.importers.files import SourceFile
from examiner.importers.names import AGENT_COLUMNS, TASK_COLUMNS, with_given
from examiner.importers.readings import Reading, Whereabouts
from examiner.results import Provenance, Results, Scales
from examiner.results.border import MEASURES, absent_names
from examiner.results.keys import ITEM_COLUMNS
from examiner.results.table import assemble
from examiner.wording import InputError, listed, shorten

PROBLEMS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises on what it cannot parse; a panic is not an Exception."""

Layout = Literal["tidy", "wide"]
Orientation = Literal["rows", "columns"]

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


def table_reading(
    frame: pl.DataFrame,
    file: SourceFile,
    options: TableOptions,
    kind: str,
    notes: Sequence[str] = (),
    line_of: Callable[[int], int | None] | None = None,
) -> Reading:
    """Understand the table that a file of some kind holds, whatever its layout.

    >>> from pathlib import Path
    >>> frame = pl.DataFrame({"agent": ["dqn"], "pong": [18.0], "log": [[1, 2]]})
    >>> reading = table_reading(frame, SourceFile(Path("x"), None, b""), TableOptions(), "parquet")
    >>> reading.results.provenance.format, reading.results.notes
    ('wide parquet', ("Nested values are left out: 'log'.",))
    """
    where = Whereabouts.of(file, line_of)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    if nested:
        notes = (*notes, f"Nested values are left out: {listed(nested)}.")
        frame = frame.drop(nested)
    with where.named():
        layout = TableColumns.of(frame.columns, options, file.names).layout
        origin = Provenance(str(file.path), f"{layout} {kind}").with_notes(*notes)
        return Reading(results_from_table(frame, options, origin, file.names), where)


def results_from_table(
    frame: pl.DataFrame,
    options: TableOptions,
    origin: Provenance,
    given: Mapping[str, str] = MappingProxyType({}),
) -> Results:
    """Build results from a frame as it was read, and the names that its path gives.

    >>> wide = pl.DataFrame({"game": ["pong", "venture"], "dqn": [18.0, 380.0], "random": [-20.7, 0.0]})
    >>> results = results_from_table(wide, TableOptions(), Provenance())
    >>> results.agents, results.tasks
    (('dqn', 'random'), ('pong', 'venture'))
    >>> results.notes
    ("The first column is called 'game': tasks are rows, agents are columns.",)
    """
    columns = TableColumns.of(frame.columns, options, given)
    if columns.layout == "wide":
        measure = _wide_measure(options)
        frame = unfolded(frame, tasks_are_rows=columns.tasks_are_rows, measure=measure)
        notes = (*columns.notes, *absent_names(frame), *rounding_notes(frame, [measure]))
        origin = origin.with_notes(*notes, *_scale_columns(frame))
        return assemble(with_given(frame, given), [measure], (), Scales(), origin)
    assert columns.agent is not None and columns.task is not None
    frame = with_given(without_blank_rows(frame), given)
    frame = _renamed(frame, {columns.agent: "agent", columns.task: "task"})
    frame = with_exact_keys(frame, ("run", "trial", "seed", *ITEM_COLUMNS, *(options.item or ())))
    measures = (
        list(options.measures) or [name for name in MEASURES if name in frame.columns] or None
    )
    if measures is None and holds_counts(frame.columns):
        if frame["agent"].null_count() or frame["task"].null_count():
            measures = [SUCCESSES]  # refused below, by the row that lacks a name
        else:
            frame, note = counted_out(frame)
            origin = origin.with_notes(note)
    if measures:
        frame = frame.with_columns(
            without_missing_words(frame[name]) for name in measures if name in frame.columns
        )
    origin = origin.with_notes(*columns.notes, *rounding_notes(frame, measures or ()))
    return assemble(frame, measures, None, Scales(), origin)


def _scale_columns(frame: pl.DataFrame) -> tuple[str, ...]:
    """Papers print the random and the human player beside the agents: said, never guessed."""
    players = [name for name in frame["agent"].unique() if name.lower() in ("random", "human")]
    if len(players) < 2:  # one of them alone is a baseline among the agents
        return ()
    return (
        f"{listed(sorted(players))} are read as agents. To measure the others by them, give the same "
        f"table as scales and drop them (`--scales FILE --drop agent:Random --drop agent:Human`).",
    )


def _renamed(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    for old, new in names.items():
        if old != new and new in frame.columns:
            raise InputError(
                f"The table has the columns {shorten(old)} and {shorten(new)}, and both could be the "
                f"{new}. Keep one, or rename the other."
            )
    return frame.rename(dict(names))


@dataclass(frozen=True, slots=True)
class TableColumns:
    """What the header says: the layout, which columns name agents and tasks, and what was guessed."""

    layout: Layout
    agent: str | None
    task: str | None
    tasks_are_rows: bool
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, names: Sequence[str], options: TableOptions, given: Iterable[str] = ()
    ) -> TableColumns:
        """Understand a header, beside which some names are given.

        >>> TableColumns.of(["algorithm", "game", "score"], TableOptions()).layout
        'tidy'
        >>> TableColumns.of(["agent", "pong", "venture"], TableOptions()).layout
        'wide'
        """
        check_names(list(names), "column")
        own = names
        names = (*names, *(name for name in given if name not in names))
        agent, task = _found(names, AGENT_COLUMNS), _found(names, TASK_COLUMNS)
        layout = options.layout
        if layout is None:
            layout = "tidy" if _looks_tidy(names, agent, task, options) else "wide"
        if layout == "tidy":
            return cls(layout, *_tidy_keys(names, agent, task))
        return _wide_header(own, options)

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
    # A measure and one of the keys: a tidy table that lacks the other, as the error will say.
    keys = {"run", "trial", "seed"}.intersection(names)
    return any(name in MEASURES for name in names) and bool(agent or task or keys)


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
    if options.item:
        raise InputError(
            f"A wide table has no item columns, and {listed(options.item)} are named. "
            f"Leave `--item` out, or give a tidy table."
        )
    return options.measures[0] if options.measures else "score"

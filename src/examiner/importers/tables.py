"""A plain table becomes results: tidy or wide, agents or tasks as rows, columns under other names."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import polars as pl

from examiner.importers import cells
from examiner.importers.cells import with_given
from examiner.importers.column_names import AGENT_COLUMNS, TASK_COLUMNS
from examiner.importers.conditions import refuse_conditions, refuse_items_of_agents
from examiner.importers.curves import unfold_curves
from examiner.importers.evaluations.measures import MeasureOf
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.suggestions import (
    MissingNamesError,
    suggested_measure,
)
from examiner.importers.time import TimeColumn, run_keys, time_columns, with_time
from examiner.importers.wide import (
    INDEX_COLUMN,
    KEY_COLUMNS,
    RANKS,
    Orientation,
    holds_numbers,
    orientation,
)
from examiner.messages import InputError, listed, shorten
from examiner.results import Provenance, Results
from examiner.results.border import MEASURES, absent_names, numbers_in
from examiner.results.keys import BESIDE_RESULTS, CHECKPOINT, ITEM_COLUMNS
from examiner.results.table import assemble
from examiner.validation import check_names

_NEITHER_TEXT_NOR_NUMBER = (pl.Binary, pl.Duration, pl.Object)
Layout = Literal["tidy", "wide"]

_TIDY_COLUMNS = frozenset({*BESIDE_RESULTS, *MEASURES})
KNOWN_COLUMNS = _TIDY_COLUMNS.union(AGENT_COLUMNS, TASK_COLUMNS)
"""Names that mean something in a header."""
_RENAMED = ("agent", "task", "run")
_INDEX_NOTE = (
    "The first column has no name and counts rows, as pandas writes its index: it is left out."
)


class OtherMeasureError(InputError):
    """A table has none of the measures that were asked for, but has `measures`, of `agents` and `tasks`."""

    def __init__(self, message: str, frame: pl.DataFrame, measures: Sequence[str]) -> None:
        super().__init__(message)
        self.measures = tuple(measures)
        self.agents = tuple(frame["agent"].cast(pl.String).drop_nulls().unique(maintain_order=True))
        self.tasks = tuple(frame["task"].cast(pl.String).drop_nulls().unique(maintain_order=True))


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a plain table is to be understood; None means: find out.

    `rename` calls columns 'agent', 'task' or 'run'. The three before are for logs of evaluations: which
    measure of which benchmark counts, the items that a log does not list by itself, and whether texts of
    items are kept.
    """

    layout: Layout | None = None
    tasks_are: Orientation | None = None
    measures: tuple[str, ...] = ()
    item: tuple[str, ...] | None = None
    time: TimeColumn | None = None
    measure_of: tuple[MeasureOf, ...] = ()
    items: tuple[str, ...] | None = None
    item_text: bool = False
    rename: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, name in self.rename.items():
            if name not in _RENAMED or list(self.rename.values()).count(name) > 1:
                raise InputError(
                    f"Cannot rename {shorten(column)} to {shorten(name)}. Rename one column each to "
                    f"{listed(_RENAMED)}: `--rename COLUMN=agent`."
                )
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
    with where.named():
        unfolded = unfold_curves(frame, options)
    if unfolded.frame is not frame:
        where = Whereabouts.of(file)  # a row is a point of a line now
    frame, options, notes = unfolded.frame, unfolded.options, (*notes, *unfolded.notes)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    if nested:
        notes = (*notes, f"Nested values are left out: {listed(nested)}.")
    odd = [name for name, kind in frame.schema.items() if kind in _NEITHER_TEXT_NOR_NUMBER]
    if odd:
        notes = (*notes, f"What is neither text nor number is left out: {listed(odd)}.")
    if frame.width and len(nested) + len(odd) == frame.width:
        raise InputError(
            f"{shorten(file.path, 200)} holds only lists and objects ({listed(frame.columns, limit=3)}), "
            f"not one result per record. Give records with 'agent', 'task' and 'score'."
        )
    frame = frame.drop(*nested, *odd)
    with where.named():
        columns = TableColumns.of(frame.columns, options, file.names)
        origin = Provenance(str(file.path), f"{columns.layout} {kind}").with_notes(*notes)
        return Reading(results_from_table(frame, columns, origin), where)


def is_left_out(kind: pl.DataType) -> bool:
    """Tell whether a column of a kind can be no part of a table of results.

    >>> is_left_out(pl.List(pl.Int64())), is_left_out(pl.Binary()), is_left_out(pl.String())
    (True, True, False)
    """
    return kind.is_nested() or kind in _NEITHER_TEXT_NOR_NUMBER


def results_from_table(
    frame: pl.DataFrame, columns: TableColumns, origin: Provenance, *, numbered: bool = False
) -> Results:
    """Build results from a frame as it was read, and what its header says.

    `numbered` says that its trials were numbered since, and are no column of the table itself.

    >>> wide = pl.DataFrame({"game": ["pong", "venture"], "dqn": [18.0, 380.0], "random": [-20.7, 0.0]})
    >>> results = results_from_table(wide, TableColumns.of(wide.columns, TableOptions()), Provenance())
    >>> results.agents, results.tasks
    (('dqn', 'random'), ('pong', 'venture'))
    >>> results.notes
    ("The first column is called 'game': tasks are rows, agents are columns.",)
    """
    options, given = columns.options, columns.given
    if _holds_index(frame, columns):
        left = [name for name in columns.names if name != INDEX_COLUMN]
        columns = TableColumns.of(left, options, given)
        frame, origin = frame.drop(INDEX_COLUMN), origin.with_notes(_INDEX_NOTE)
    frame, plain = cells.plain_numbers(frame)
    origin = origin.with_notes(*plain)
    if columns.layout == "wide":
        measure = _wide_measure(columns)
        frame, options, left_out = _with_names_first(frame, options)
        origin = origin.with_notes(*left_out)
        tasks_are_rows, guesses = orientation(frame, options.tasks_are)
        frame = cells.unfolded(
            frame, tasks_are_rows=tasks_are_rows, measure=measure, keys=KEY_COLUMNS
        )
        notes = (*guesses, *absent_names(frame), *cells.rounding_notes(frame, [measure]))
        origin = origin.with_notes(*notes, *_scale_columns(frame))
        return assemble(with_given(frame, given), [measure], (), origin)
    frame = with_given(cells.without_blank_rows(frame), given)
    frame = _renamed(frame, {columns.agent: "agent", columns.task: "task"} | dict(options.rename))
    frame = cells.with_exact_keys(
        frame, ("run", "trial", "seed", *ITEM_COLUMNS, *(options.item or ()))
    )
    measures = _present_measures(frame, options)
    if not measures and cells.holds_counts(frame.columns):
        if frame["agent"].null_count() or frame["task"].null_count():
            measures = [cells.SUCCESSES]  # refused below, by the row that lacks a name
        else:
            frame, note = cells.counted_out(frame)
            origin = origin.with_notes(note)
    elif not measures:
        raise _no_measure(frame)
    frame = frame.with_columns(
        cells.without_missing_words(frame[name]) for name in measures if name in frame.columns
    )
    if options.item is None:
        refuse_items_of_agents(frame)
    unnumbered = numbered or "trial" not in frame.columns
    if unnumbered and not time_columns(frame.columns) and options.time is None:
        refuse_conditions(
            frame, [*run_keys(frame, options.item or ()), *_checkpoint(frame)], measures
        )
    timed = with_time(
        frame, options.time, numbered=numbered, item=options.item or (), measures=measures
    )
    frame, found = timed.frame, timed.found or "checkpoint" in frame.columns
    origin = replace(origin, training=found, rows=timed.rows)
    origin = origin.with_notes(*columns.notes, *timed.notes, *cells.rounding_notes(frame, measures))
    return assemble(frame, measures or None, None, origin)


def _with_names_first(
    frame: pl.DataFrame, options: TableOptions
) -> tuple[pl.DataFrame, TableOptions, tuple[str, ...]]:
    """A wide table whose names stand elsewhere, as `rename` says, without its other columns of text."""
    name = next((column for column in options.rename if column in frame.columns), None)
    if name is None:
        return frame, options, ()
    texts = [
        other
        for other in frame.columns
        if other != name and (other.strip().lower() in RANKS or not holds_numbers(frame[other]))
    ]
    way: Orientation = "rows" if options.rename[name] == "task" else "columns"
    frame = frame.select(name, pl.exclude(name, *texts))
    note = f"Columns of text and ranks are left out of a wide table: {listed(texts)}."
    return frame, replace(options, tasks_are=options.tasks_are or way), (note,) if texts else ()


def _checkpoint(frame: pl.DataFrame) -> list[str]:
    return [CHECKPOINT] if CHECKPOINT in frame.columns else []


def _present_measures(frame: pl.DataFrame, options: TableOptions) -> list[str]:
    """The measures of a table: those asked for, as far as it has any of them, else those known by name."""
    usual = [name for name in MEASURES if name in frame.columns]
    present = [name for name in options.measures if name in frame.columns]
    if options.measures and usual and not present:
        message = (
            f"There is no column {shorten(options.measures[0])}; found {listed(frame.columns, limit=20)}. "
            f"Rename the column, or name another: `--measure {usual[0]}`."
        )
        raise OtherMeasureError(message, frame, usual)
    return present or list(options.measures) or usual


def _no_measure(frame: pl.DataFrame) -> InputError:
    keys = {
        *AGENT_COLUMNS,
        *TASK_COLUMNS,
        *ITEM_COLUMNS,
        *KEY_COLUMNS,
        *time_columns(frame.columns),
    }
    names = [name for name in frame.columns if name not in keys and holds_numbers(frame[name])]
    likely = suggested_measure(names)
    if not names:
        found, what = listed(frame.columns), "None holds numbers: give a column 'score'."
    elif likely is not None or len(names) == 1:
        found = listed([likely or names[0], *(name for name in names if name != likely)][:8])
        what = f"Name one, for example `--measure {shlex.quote(likely or names[0])}`."
    else:
        found, what = listed(names), "Name one: `--measure COLUMN`."
    return InputError(f"No measure found among the columns {found}. {what}")


def _holds_index(frame: pl.DataFrame, columns: TableColumns) -> bool:
    """Whether the first column only counts rows; the names of a wide table are no count."""
    if frame.columns[:1] != [INDEX_COLUMN] or INDEX_COLUMN in columns.options.rename:
        return False
    numbers = frame[INDEX_COLUMN].cast(pl.String).cast(pl.Int64, strict=False)
    if columns.layout == "tidy" or numbers.null_count():
        return columns.layout == "tidy"
    if frame.width > 1 and holds_numbers(frame[:, 1]):  # then these are the only names there are
        return False
    return bool((numbers == pl.int_range(len(frame), eager=True)).all())


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
    """What the header says: the layout, which columns name agents and tasks, and what was guessed.

    `given` are names that the path of the file gives, beside the table's own columns.
    """

    names: tuple[str, ...]
    options: TableOptions
    given: Mapping[str, str]
    layout: Layout
    agent: str = ""
    task: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        options: TableOptions,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> TableColumns:
        """Understand a header.

        >>> TableColumns.of(["algorithm", "game", "score"], TableOptions()).layout
        'tidy'
        >>> TableColumns.of(["agent", "pong", "venture"], TableOptions()).layout
        'wide'
        """
        _refuse_blank(names)
        _refuse_numbers(names)
        names = check_names(list(names), "column")
        known = tuple(dict.fromkeys((*names, *given)))
        renamed = _renamed_columns(options, known)
        agent = renamed.get("agent") or _found(known, AGENT_COLUMNS)
        task = renamed.get("task") or _found(known, TASK_COLUMNS)
        tidy = options.layout == "tidy" or (
            options.layout is None and (bool(renamed) or _looks_tidy(names, given, options))
        )
        if not tidy:
            if len(names) < 2:
                raise InputError(
                    f"The table has only the column {listed(names)}. Give names first, then a column of "
                    f"numbers for each task; or check what separates the columns."
                )
            return cls(names, options, given, "wide")
        keys = (("agent", agent), ("task", task))
        missing = [key for key, found in keys if not found]
        template = "/".join(f"{{{key}}}" for key in missing)
        wide = ""
        if agent in names and missing == ["task"] and len(names) > len(_RENAMED):
            wide = f" If other columns are tasks: `--layout wide --rename {shlex.quote(f'{agent}=agent')}`."
        for key, found in keys:
            if not found:
                message = (
                    f"There is no column for the {key}; found {listed(known, limit=15)}. Name it: "
                    f"`--rename COLUMN={key}`. Or take it from the names of folders and files: `--path "
                    f"'{template}'`.{wide}"
                )
                raise MissingNamesError(message, missing, template)
        notes = [
            f"The column {shorten(found)} is read as the {key}."
            for key, found in keys
            if found != key and key not in renamed
        ]
        return cls(names, options, given, "tidy", agent, task, notes=tuple(notes))

    @property
    def as_text(self) -> tuple[str, ...]:
        """The columns that hold names, even where they look like numbers."""
        if self.layout == "wide":
            return self.names[:1]
        return tuple(name for name in self.names if name in (self.agent, self.task, *ITEM_COLUMNS))

    @property
    def as_numbers(self) -> tuple[str, ...]:
        """The columns that must hold numbers."""
        if self.layout == "wide":
            return tuple(name for name in self.names[1:] if name not in KEY_COLUMNS)
        return tuple(name for name in self.names if name in (self.options.measures or MEASURES))


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


def _renamed_columns(options: TableOptions, names: Sequence[str]) -> dict[str, str]:
    """The column for each name that was said, which must be there."""
    for column in options.rename:
        if column not in names:
            raise InputError(
                f"There is no column {shorten(column)} to rename; found {listed(names, limit=15)}. Name "
                f"one of them."
            )
    return {name: column for column, name in options.rename.items()}


def _found(names: Sequence[str], known: Sequence[str]) -> str:
    """The column that goes by one of the known names, the best known first, in any case."""
    plain = {name.strip().lower(): name for name in reversed(names)}
    return next((plain[name] for name in known if name in plain), "")


def _looks_tidy(names: Sequence[str], given: Mapping[str, str], options: TableOptions) -> bool:
    if options.tasks_are is not None:
        return False
    known = (*names, *given)
    agent, task = _found(known, AGENT_COLUMNS), _found(known, TASK_COLUMNS)
    if agent and task:
        return True
    # A measure and one of the keys: a tidy table that lacks the other, as the error will say.
    keys = [*{"run", "trial", "seed"}.intersection(known), *time_columns(known)]
    if any(name in MEASURES for name in known) and bool(agent or task or keys):
        return True
    if any(name in options.measures for name in names):
        return True
    # The names of a wide table stand first: an agent or a task elsewhere is one key of a tidy table.
    first = [name for name in names if name != INDEX_COLUMN][:1]
    return bool(agent or task) and not _found(first, (*AGENT_COLUMNS, *TASK_COLUMNS))


def _wide_measure(columns: TableColumns) -> str:
    measures = columns.options.measures
    if len(measures) > 1:
        raise InputError(
            f"A wide table holds one measure, and {len(measures)} are named ({listed(measures)}). "
            f"Name one."
        )
    own = [
        name for name in columns.options.item or () if name not in (*TASK_COLUMNS, *columns.given)
    ]
    if own:
        raise InputError(
            f"A wide table has no item columns, and {listed(own)} are named. "
            f"Leave `--item` out, or give a tidy table."
        )
    return measures[0] if measures else "score"

"""A plain table becomes results: tidy or wide, agents or tasks as rows, columns under other names."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from examiner.importers import cells
from examiner.importers.cells import with_given
from examiner.importers.conditions import refuse_conditions, refuse_items_of_agents
from examiner.importers.files import SourceFile
from examiner.importers.options import Key, Orientation, ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.records import fields_as_tasks, opened_objects, unfold_curves
from examiner.importers.row_filters import rows_kept
from examiner.importers.suggestions import one_result_per_row, suggested_measure
from examiner.importers.table_columns import TableColumns
from examiner.importers.time import run_keys, with_time
from examiner.importers.training import CHECKPOINT_TAGS, EPISODE_TAGS
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    INDEX_COLUMN,
    KEY_COLUMNS,
    METRIC_COLUMNS,
    RANKS,
    TASK_COLUMNS,
    columns_like,
    measure_columns,
    time_columns,
)
from examiner.importers.wide import holds_numbers, orientation, wide_keys
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import CHECKPOINT, ITEM_COLUMNS, Provenance, Results, absent_names, assemble

_NEITHER_TEXT_NOR_NUMBER = (pl.Binary, pl.Duration, pl.Object)
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


def table_reading(
    frame: pl.DataFrame,
    file: SourceFile,
    options: ReadOptions,
    kind: str,
    notes: Sequence[str] = (),
    line_of: Callable[[int], int | None] | None = None,
) -> Reading:
    """Understand the table that a file of some kind holds, whatever its layout.

    >>> from pathlib import Path
    >>> frame = pl.DataFrame({"agent": ["dqn"], "pong": [18.0], "log": [[1, 2]]})
    >>> reading = table_reading(frame, SourceFile(Path("x"), None, b""), ReadOptions(), "parquet")
    >>> reading.results.provenance.format, reading.results.notes
    ('wide parquet', ("Nested values are left out: 'log'.",))
    """
    where = Whereabouts.of(file, line_of)
    frame = fields_as_tasks(opened_objects(frame), options.measures)
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
    >>> results = results_from_table(wide, TableColumns.of(wide.columns, ReadOptions()), Provenance())
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
    frame = cells.without_blank_rows(frame)
    if options.where:
        kept = rows_kept(frame, options.where, given)
        step = f"kept {int(kept.sum()):,} of {counted(len(frame), 'row')} where "
        origin = origin.with_step(step + " and ".join(map(str, options.where)))
        frame = frame.filter(kept)
    plain = cells.plain_numbers(frame)
    origin = origin.with_notes(*plain.notes)
    if columns.layout == "wide":
        return _results_from_wide(plain, columns, origin)
    measures = options.measures or measure_columns(frame.columns)
    errors = [
        plain.errors[name].alias(cells.STATED_ERROR) for name in measures if name in plain.errors
    ]
    frame = plain.frame.with_columns(errors[:1])
    return _results_from_tidy(frame, columns, origin, numbered=numbered)


def _results_from_wide(
    plain: cells.PlainNumbers, columns: TableColumns, origin: Provenance
) -> Results:
    measure = _wide_measure(columns)
    frame, options, notes = _with_names_first(columns.renamed(plain.frame), columns.options)
    origin = origin.with_notes(*notes)
    tasks_are_rows, guesses = orientation(frame, options.tasks_are)
    rows, others = ("task", "agent") if tasks_are_rows else ("agent", "task")
    keys = wide_keys(frame)
    headers = [name for name in frame.columns[1:] if name not in keys]
    if options.tasks_are is None and 0 < len(set(plain.shares) & set(headers)) < len(headers):
        numbers = [name for name in headers if name not in plain.shares]
        raise one_result_per_row(
            f"The columns {listed(plain.shares, limit=3)} hold percentages, and {listed(numbers, limit=3)} "
            f"other numbers: they are measures, not tasks.",
            frame.columns,
        )
    interpretation = (
        (frame.columns[0], rows),
        *((columns.column_of(name) or name, name) for name in keys),
        (listed(headers, limit=3), others),
    )
    frame = cells.unfolded(
        frame,
        tasks_are_rows=tasks_are_rows,
        measure=measure,
        keys=keys,
        errors=plain.errors,
    )
    notes = (*guesses, *absent_names(frame), *cells.rounding_notes(frame, [measure]))
    origin = replace(origin, columns=interpretation).with_notes(*notes, *_scale_columns(frame))
    return assemble(with_given(frame, columns.given), [measure], (), origin)


def _results_from_tidy(
    frame: pl.DataFrame, columns: TableColumns, origin: Provenance, *, numbered: bool
) -> Results:
    options = columns.options
    columns.refuse_several(frame)
    frame = columns.renamed(with_given(frame, columns.given))
    frame = cells.with_exact_keys(
        frame, ("run", "trial", "seed", *ITEM_COLUMNS, *(options.item or ()))
    )
    renamed = dict(columns.mapping)
    frame, values, notes = _of_one_metric(frame, options)
    renamed, origin = renamed | values, origin.with_notes(*notes)
    measures = _present_measures(frame, options)
    if not measures and cells.holds_counts(frame.columns):
        if frame["agent"].null_count() or frame["task"].null_count():
            measures = [cells.SUCCESSES]  # refused below, by the row that lacks a name
        else:
            frame, note = cells.counted_out(frame)
            renamed |= {cells.SUCCESSES: cells.SUCCESS, cells.TRIALS: cells.SUCCESS}
            origin = origin.with_notes(note)
    elif not measures:
        marked = cells.marked_answers(frame)
        if marked is None:
            raise _no_measure(frame)
        measures, frame, origin = ["correct"], marked[0], origin.with_notes(marked[1])
    frame = frame.with_columns(
        cells.truth_values(cells.without_missing_words(frame[name]))
        for name in measures
        if name in frame.columns
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
    if timed.column:
        renamed[columns.column_of(timed.column) or timed.column] = timed.unit
    frame, found = timed.frame, timed.found or "checkpoint" in frame.columns
    interpretation = tuple(
        (column, renamed.get(column, column)) for column in (*columns.names, *columns.given)
    )
    origin = replace(origin, training=found, rows=timed.rows, columns=interpretation)
    origin = origin.with_notes(*columns.notes, *timed.notes, *cells.rounding_notes(frame, measures))
    return assemble(frame, measures or None, None, origin)


def _of_one_metric(
    frame: pl.DataFrame, options: ReadOptions
) -> tuple[pl.DataFrame, dict[str, str], tuple[str, ...]]:
    """The rows of one metric, where a column says each row's: the one named, or the only known return."""
    names = [name for name in METRIC_COLUMNS if name in frame.columns]
    values = [name for name in measure_columns(frame.columns) if name not in names][:1]
    if not (names and values) or len(options.measures) > 1:
        return frame, {}, ()
    metrics = frame[names[0]].cast(pl.String)
    returns = [tag for tag in (*EPISODE_TAGS, *CHECKPOINT_TAGS) if tag in metrics]
    several = metrics.n_unique() > 1
    chosen = next(iter(options.measures), returns[0] if returns else None)
    if chosen is None or chosen in frame.columns or chosen not in metrics:
        return frame, {}, ()
    kept = frame.filter(metrics == chosen)
    if options.measures:
        return kept.rename({values[0]: chosen}), {values[0]: chosen}, ()
    note = f"Of the metrics in {shorten(names[0])}, {shorten(chosen)} is read."
    keys = [name for name in ("agent", "task", "run", "seed") if name in kept.columns]
    if chosen in CHECKPOINT_TAGS and CHECKPOINT not in kept.columns and keys:
        kept = kept.with_columns(pl.int_range(pl.len()).over(keys).alias(CHECKPOINT))
    return kept, {}, (note,) if several else ()


def _with_names_first(
    frame: pl.DataFrame, options: ReadOptions
) -> tuple[pl.DataFrame, ReadOptions, tuple[str, ...]]:
    """A wide table whose names stand elsewhere, as options say, without its other columns of text.

    Columns by which rows were chosen are no tasks.
    """
    both: tuple[Key, Key] = ("agent", "task")
    keys = [key for key in both if options.named.get(key) in frame.columns]
    chosen_by = {
        each.column for each in options.where if each.sign == "=" and len(each.values) == 1
    }
    if keys:
        name = options.named[keys[0]]
        way: Orientation = "rows" if keys[0] == "task" else "columns"
        options = replace(options, tasks_are=options.tasks_are or way)
    else:
        name = frame.columns[0]
    left_out = [
        other
        for other in frame.columns
        if other not in (name, *KEY_COLUMNS)
        and (
            other in chosen_by
            or (keys and (other.strip().lower() in RANKS or not holds_numbers(frame[other])))
        )
    ]
    note = f"Columns of text and ranks are left out of a wide table: {listed(left_out)}."
    return frame.select(name, pl.exclude(name, *left_out)), options, (note,) if left_out else ()


def _checkpoint(frame: pl.DataFrame) -> list[str]:
    return [CHECKPOINT] if CHECKPOINT in frame.columns else []


def _present_measures(frame: pl.DataFrame, options: ReadOptions) -> list[str]:
    """The measures of a table: those named, as far as it has any of them, else those known by name."""
    usual = measure_columns(frame.columns)
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
        *columns_like(frame.columns, (*AGENT_COLUMNS, *TASK_COLUMNS)),
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
    if frame.columns[:1] != [INDEX_COLUMN] or INDEX_COLUMN in columns.options.named.values():
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

"""The door: a path or a frame goes in, its format is found or named, results come out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from examiner.importers.aggregates import without_aggregates
from examiner.importers.archives import array_names
from examiner.importers.files import SourceFile, open_source
from examiner.importers.formats import FORMATS, known_format, recognised, unknown_format
from examiner.importers.formats.parquet import with_sample
from examiner.importers.log_additions import Before
from examiner.importers.options import (
    Key,
    Layout,
    Orientation,
    ReadOptions,
    TimeColumn,
    item_names,
    measures_of,
    parse_axes,
)
from examiner.importers.paths import is_many, note_on_namesake
from examiner.importers.readings import Reading, unmeasured_notes
from examiner.importers.row_filters import RowFilter, rows_kept
from examiner.importers.sorting import refuse_other_kinds
from examiner.importers.table_columns import TableColumns
from examiner.importers.tables import results_from_table
from examiner.importers.templates import PathTemplate
from examiner.importers.time import retimed
from examiner.importers.vocabulary import METRIC_COLUMNS
from examiner.messages import InputError, first_line, listed, shorten
from examiner.results import Provenance, Results, announce, frame_from, in_order, is_frame
from examiner.validation import refuse_url

if TYPE_CHECKING:
    from examiner.workers import Progress


def read(
    source: object,
    *,
    format: str | None = None,
    layout: Layout | None = None,
    tasks_are: Orientation | None = None,
    measure: str | Sequence[str] | None = None,
    item: Sequence[str] | None = None,
    path: str | None = None,
    time: str | None = None,
    items: str | Path | Sequence[str] | None = None,
    item_text: bool = False,
    agent: str | None = None,
    task: str | None = None,
    run: str | None = None,
    trial: str | None = None,
    where: str | Sequence[str] = (),
    axes: str | Sequence[str] | None = None,
    append_to: str | Path | None = None,
    memory: float | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Read results from a file, a folder, a pattern, a pandas, polars or arrow table, or arrays.

    Arrays are given as a dictionary, `{agent: [runs, tasks]}`; a dictionary of lists is a table.

    The format is told from the content and can be named. `layout` is "tidy" (agent, task, score, …)
    or "wide" (a first column of names, then one column a task, or an agent with `tasks_are="rows"`).
    `agent`, `task`, `run` and `trial` name columns of a plain table where their own names do not say it,
    or, as "=gpt-4o", a name that holds for all rows. `where` keeps the rows of a comparison: "split=test",
    "subject=law|history", "shots>=5", "error=null"; of several, the rows of all. `axes` names the axes of
    arrays in npy and npz files: "checkpoints,runs".
    `measure` names the measures, `item` the columns that make an item beside the task: other item
    columns, such as the level, fold into trials. What was guessed is warned of and stands in the
    results' notes.

    A folder (with all that lies in it) or a pattern such as `logs/**/*.csv` becomes one table; files
    that are not results or cannot be read are skipped, and said, unless `strict`. `path` is a template
    that takes names from folders, such as `{agent}/{task}_{run}/`: see `examiner.importers.templates`.
    `progress` is told (stage, done, total).

    A table with a column of time (`global_step`, `frames`, …) that rises within runs is a training log.
    `time` names another column, times a number where it is to be counted in frames (`global_step*4`),
    or "none".

    Logs of evaluations of language models may hold several measures (scorers, filters): `measure` names
    one, or one for each benchmark ("arc*=acc_norm"). `items` are the items of a benchmark, or a file that
    lists them, where a log does not name those that nobody solved. With `item_text`, the first letters
    of each item's text are kept as an attribute of its task. `append_to` is a Parquet file that such logs
    were read into before: only files that are new, or have changed since, are read, and the results are
    those of all.

    Of Parquet files that need more than `memory` GB, by default half of what is free, a sample of the
    agents and tasks is read, drawn once for all that is asked of the results, and their notes say so.

    >>> read({"agent": ["dqn", "random"], "pong": [18.0, -20.7], "venture": [380.0, None]})
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score; 1 missing cell
    """
    measures = (measure,) if isinstance(measure, str) else tuple(measure or ())
    choices = measures_of(measures)
    clock = None if time is None else TimeColumn.of(time)
    keys: dict[Key, str | None] = {"agent": agent, "task": task, "run": run, "trial": trial}
    options = ReadOptions(
        layout,
        tasks_are,
        () if choices else measures,
        None if item is None else tuple(item),
        clock,
        choices,
        None if items is None else item_names(items),
        item_text,
        {key: column for key, column in keys.items() if column is not None},
        tuple(map(RowFilter.of, [where] if isinstance(where, str) else where)),
        () if axes is None else parse_axes(axes),
    )
    named = None if format is None else known_format(format)
    template = None if path is None else PathTemplate.of(path)
    before = None if append_to is None else Before.of(append_to)
    announced: tuple[str, ...] = ()
    reading: Reading | None
    if isinstance(source, Mapping) and any(map(_is_matrix, source.values())):
        reading = Reading(Results.from_runs(source))
        announced = reading.results.notes
    elif is_frame(source):
        reading = _read_frame(source, options, template)
    elif isinstance(source, (str, Path)) and str(source):
        refuse_url(source)
        with _only_our_own_errors(source):
            if is_many(source):
                # Threads and all that they need are loaded only where there is work for them.
                from examiner.importers.folders import read_files

                reading = read_files(
                    source,
                    options,
                    named,
                    template,
                    progress,
                    strict=strict,
                    before=before,
                    memory=memory,
                )
            elif before is not None and before.known([Path(source)]):
                reading = None
            else:
                file = _named_by(template, open_source(source), options)
                if named is None:
                    refuse_other_kinds(file)
                name = named or recognised(file)
                if name is None and options.axes and array_names(file):
                    name = "npy"
                if name is None:
                    raise unknown_format(file)
                if name == "parquet":
                    options = with_sample([file], options, memory)
                reading = FORMATS[name].read_one(file, options)
    else:
        raise InputError(
            f"Cannot read a {type(source).__name__}. Give a path, a pandas, polars or arrow table, or a "
            "dictionary of arrays {agent: [runs, tasks]}; an array of agents × tasks goes to "
            "Results.from_numpy."
        )
    if reading is None:
        assert before is not None
        return before.results.with_notes("There are no new logs: nothing was added.")
    results = reading.chosen(options.measures, options.item).results
    formats = ["tidy"] if is_frame(source) else results.provenance.format.split(", ")
    tables = formats[0].startswith(("tidy", "wide"))
    _check_taken(options, results, formats)
    if not tables:
        options.refuse_columns(repr(results.provenance.format))
    if options.where and not all(name.startswith(("tidy", "wide")) for name in formats):
        results = _with_rows_kept(results, formats, options.where)
    if tables:
        _refuse_several_metrics(results)
        results = results.with_notes(*unmeasured_notes(results))
    if clock is not None and not tables:  # tables know their time since they were understood
        results = retimed(results, clock)
    if before is not None:
        results = before.with_logs(results)
    results = in_order(without_aggregates(results) if tables else results)
    if options.sample is not None:
        results = results.with_notes(options.sample.note)
    if isinstance(source, (str, Path)):
        results = results.with_notes(*note_on_namesake(str(source)))
    announce(results.notes, already=announced)
    return results


NESTED = ("json", "yaml")
"""Formats whose levels of objects and lists can be named as the axes of arrays are."""


def _check_taken(options: ReadOptions, results: Results, formats: Sequence[str]) -> None:
    """Refuse what is said of logs of evaluations, or of plain tables, where there are none."""
    kind = results.provenance.format
    for name in ("layout", "tasks_are"):
        if getattr(options, name) is not None and not formats[0].startswith(("tidy", "wide")):
            raise InputError(
                f"`--{name.replace('_', '-')}` is for plain tables, and this is {kind!r}. Leave it out."
            )
    if options.time is not None and options.time.column != "none" and kind.startswith("wide"):
        raise InputError(
            "`--time` names a column, and this is a wide table, which has tasks as columns. Leave it out."
        )
    given = {
        "A measure for each benchmark (`--measure PATTERN=MEASURE`)": options.measure_of,
        "A list of items (`--items`)": options.items,
        "Keeping texts of items (`--item-text`)": options.item_text,
    }
    said = next((what for what, value in given.items() if value), None)
    formats = kind.split(", ")
    if options.axes and not all(name == "npy" or name.endswith(NESTED) for name in formats):
        raise InputError(
            f"Names of axes (`--axes`) are for arrays of npy and npz files and for JSON, and this is "
            f"{kind!r}. Leave them out."
        )
    if said and not any(name in FORMATS and FORMATS[name].logs for name in formats):
        raise InputError(f"{said} is for logs of evaluations, and this is {kind!r}. Leave it out.")


def _with_rows_kept(
    results: Results, formats: Sequence[str], filters: Sequence[RowFilter]
) -> Results:
    """Choose rows of logs by the columns that they have in results; tables have been filtered before."""
    if any(name.startswith(("tidy", "wide")) for name in formats):
        raise InputError(
            f"`--where` cannot choose rows of plain tables and logs at once, and these are "
            f"{listed(formats)}. Choose with `--format`."
        )
    kept = rows_kept(results.to_polars(), filters)
    return results.where(kept.to_numpy(), f"kept rows where {' and '.join(map(str, filters))}")


def _refuse_several_metrics(results: Results) -> None:
    """Refuse rows that a column says to be of different measures: their mean would mean nothing."""
    for name in METRIC_COLUMNS:
        values = dict.fromkeys(results.column(name)) if name in results.attributes else {}
        if len(values) > 1:
            first = shlex.quote(str(next(iter(values))))
            raise InputError(
                f"The column {name!r} says that rows are of different measures ({listed(map(str, values))})"
                f", under one key. Choose one (`--measure {first}`), or make "
                f"each a task of its own (`--item task,{name}`)."
            )


def _is_matrix(value: object) -> bool:
    """Tell an array [runs, tasks] from a column of a table."""
    if isinstance(value, (list, tuple)) and value:
        return isinstance(value[0], (list, tuple, np.ndarray)) and not isinstance(value[0], str)
    return isinstance(value, np.ndarray) and value.ndim > 1


def _read_frame(source: object, options: ReadOptions, template: PathTemplate | None) -> Reading:
    if template is not None:
        raise InputError("A table in memory has no path for a template. Leave `path` out.")
    kind = type(source).__module__.partition(".")[0].replace("builtins", "dict")
    frame = frame_from(source)
    columns = TableColumns.of(frame.columns, options, options.constants)
    return Reading(results_from_table(frame, columns, Provenance("memory", kind)))


def _named_by(template: PathTemplate | None, file: SourceFile, options: ReadOptions) -> SourceFile:
    if template is None:
        return replace(file, names=options.constants)
    path = file.path.absolute()
    names = template.match_end(path)
    if names is None:
        raise template.no_match([path], path.parent)
    return replace(file, names=names | options.constants)


@contextmanager
def _only_our_own_errors(source: str | Path) -> Iterator[None]:
    """A file can be broken in ways nobody thought of; the user still gets a sentence."""
    try:
        yield
    except InputError:
        raise
    except UnicodeEncodeError as problem:
        raise InputError(
            f"Cannot read {shorten(source, 200)}: the text {shorten(problem.object)} is not valid Unicode "
            f"(a lone surrogate). Correct it."
        ) from None
    except (Exception, pl.exceptions.PanicException) as problem:
        raise InputError(
            f"Cannot read {shorten(source, 200)}: it is broken in a way that was not foreseen "
            f"({type(problem).__name__}: {first_line(problem)}). Write it again, or name its format "
            f"with `--format`."
        ) from problem

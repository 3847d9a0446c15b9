"""One JSON object as results: scores by task, by agent or by both, as numbers or lists; or one record."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from examiner.importers.cells import MISSING
from examiner.importers.column_names import AGENT_COLUMNS, RUN_NAME, TASK_COLUMNS, columns_like
from examiner.importers.files import SourceFile
from examiner.importers.json_tables import records_within, table_of
from examiner.importers.json_values import number
from examiner.importers.known_tasks import is_known_task
from examiner.importers.nested_keys import nested_reading
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.suggestions import MissingNamesError, suggested_measure
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.importers.wide import mostly_tasks
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Provenance, frame_from

Object = Mapping[str, Any]  # Any: JSON values


def object_reading(
    content: Object,
    file: SourceFile,
    options: TableOptions,
    notes: Sequence[str],
    kind: str = "json",
) -> Reading:
    """Read an object of names and scores, of names and such objects, or one record.

    Which names are tasks is said by `tasks_are` (the outer ones are rows), or known from the names.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x.json"), None, b"", names={"agent": "iris"})
    >>> reading = object_reading({"Alien": [368.7, 452.5], "Pong": [14.6, 3]}, file, TableOptions(), ())
    >>> reading.results
    Results: 1 agent × 2 tasks, 2 runs, 1 trial; measures: score; 1 note
    """
    if not content:
        raise no_results(content, file)
    if options.axes:
        return nested_reading(content, file, options, notes, kind)
    if is_table(content):
        with Whereabouts.of(file).named():
            frame = frame_from(content)
        return table_reading(frame, file, options, kind, notes)
    if not all(isinstance(value, dict) for value in content.values()):
        records = records_within(content)
        if records is None and any(isinstance(value, str) for value in content.values()):
            records = [dict(content)]
        if records is not None:
            return table_reading(table_of(records), file, options, kind, notes)
    measure = "score"
    chosen = [
        name for name in options.measures if any(name in _keys(value) for value in content.values())
    ]
    if chosen:
        measure = chosen[0]
        content = {
            name: value[measure] for name, value in content.items() if measure in _keys(value)
        }
    else:
        measure, content = _third_level(content, options)
    options.refuse_columns("one JSON object of scores")
    if options.where:
        raise InputError(
            f"{shorten(file.path, 200)} is one JSON object of scores, without columns to choose rows by. "
            f"Leave `--where` out."
        )
    nested = all(isinstance(value, dict) for value in content.values())
    inner = dict.fromkeys(name for value in content.values() for name in _keys(value))
    leaves = [
        leaf for value in content.values() for leaf in (value.values() if nested else [value])
    ]
    if not all(map(_is_score, leaves)):
        raise _no_scores(content, file)
    tasks_are_outer = _tasks_are_outer(list(content), list(inner), file, options)
    outer, other = ("task", "agent") if tasks_are_outer else ("agent", "task")
    if not nested and other not in file.names:
        raise MissingNamesError(
            f"{shorten(file.path, 200)} names {outer}s ({listed(content, limit=3)}) and no {other}. "
            f"Take it from the path: `--path '{{{other}}}'`.",
            [other],
            f"{{{other}}}",
        )
    rows = [
        {outer: name, measure: number(score), "run": run} | ({other: second} if nested else {})
        for name, value in content.items()
        for second, scores in (value.items() if nested else [("", value)])
        for run, score in _runs(scores)
        if number(score) is not None
    ]
    if not any(isinstance(leaf, list | dict) for leaf in leaves):
        rows = [{name: value for name, value in row.items() if name != "run"} for row in rows]
    else:
        notes = (*notes, "The numbers of one task and agent in a JSON object are read as runs.")
    origin = Provenance(str(file.path), f"wide {kind}").with_notes(*notes)
    return Reading.of(pl.DataFrame(rows, strict=False), file, origin, [measure], ())


def is_table(content: Object) -> bool:
    """Tell columns of a table from scores by name: all are flat lists, and some name agents or tasks.

    >>> is_table({"agent": ["dqn"], "score": [1.5]}), is_table({"Alien": [368.7], "Pong": [14.6]})
    (True, False)
    """
    for value in content.values():
        if not isinstance(value, list) or any(isinstance(part, list | dict) for part in value):
            return False
    agents, tasks = (columns_like(list(content), names) for names in (AGENT_COLUMNS, TASK_COLUMNS))
    names = (part for column in (*agents, *tasks) for part in content[column])
    return bool(agents and tasks) or any(isinstance(name, str) for name in names)


def no_results(content: object, file: SourceFile) -> InputError:
    """Return the error for a JSON file that holds nothing.

    >>> from pathlib import Path
    >>> str(no_results([], SourceFile(Path("x.json"), None, b"[]")))
    "The file 'x.json' holds no results, only []. Check that it was written completely."
    """
    return InputError(
        f"The file {shorten(file.path, 200)} holds no results, only {json.dumps(content)}. Check that it "
        f"was written completely."
    )


def _keys(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def _third_level(content: Object, options: TableOptions) -> tuple[str, Object]:
    """The measure, and objects of two keys, where `measure` is named below them."""
    parts = [part for value in content.values() for part in _keys(value).values()]
    named = [name for name in options.measures if any(name in _keys(part) for part in parts)]
    if not named:
        return "score", content
    return named[0], {
        outer: {
            inner: part[named[0]] for inner, part in _keys(value).items() if named[0] in _keys(part)
        }
        for outer, value in content.items()
    }


def _runs(scores: Any) -> list[tuple[int | str, Any]]:  # Any: JSON values
    """The scores of one task and agent, each with its run."""
    if isinstance(scores, dict):
        return [(int(run) if run.isdigit() else run, score) for run, score in scores.items()]
    return list(enumerate(scores if isinstance(scores, list) else [scores]))


def _are_runs(names: Sequence[str]) -> bool:
    """Whether names are those of runs: counted, or with a word before the number; others may be times."""
    if all(map(RUN_NAME.fullmatch, names)):
        return bool(names)
    numbers = sorted(int(name) for name in names if name.isdigit())
    return len(numbers) == len(names) and numbers in (
        list(range(len(names))),
        list(range(1, len(names) + 1)),
    )


def _is_score(value: object) -> bool:
    """Whether a value is a number, also as text, or none was observed; or runs of such."""
    if isinstance(value, dict):
        return _are_runs(list(value)) and _is_score([*value.values()])
    if isinstance(value, list):
        return not any(isinstance(score, list | dict) for score in value) and all(
            map(_is_score, value)
        )
    if isinstance(value, str):
        return number(value) is not None or value.strip().lower() in MISSING
    return value is None or isinstance(value, int | float)


def _tasks_are_outer(
    outer: Sequence[str], inner: Sequence[str], file: SourceFile, options: TableOptions
) -> bool:
    if options.tasks_are is not None:
        return options.tasks_are == "rows"
    if mostly_tasks(outer) != mostly_tasks(inner):
        return mostly_tasks(outer)
    below = f" of objects ({listed(inner, limit=3)})" if inner else " of numbers"
    path = "" if inner else " --path '{agent}'", "" if inner else " --path '{task}'"
    raise InputError(
        f"{shorten(file.path, 200)} is one JSON object{below} with {counted(len(outer), 'key')} "
        f"({listed(outer, limit=3)}), which may be tasks, agents or neither. Tasks: `--tasks-are rows"
        f"{path[0]}`; agents: `--tasks-are columns{path[1]}`."
    )


def _no_scores(content: Object, file: SourceFile) -> InputError:
    """Return the error for an object that holds other things than scores, and where there are scores."""
    parts = [(name, part) for value in content.values() for name, part in _keys(value).items()]
    by_name = {
        name: " --tasks-are columns"
        for name, part in parts
        if _keys(part)
        and all(map(_is_score, _keys(part).values()))
        and not (is_known_task(name) or all(key.isdigit() for key in part))
    }
    below = [(name, part) for _, value in parts for name, part in _keys(value).items()]
    inner = dict.fromkeys(name for name, _ in parts)
    way = "" if mostly_tasks(list(content)) != mostly_tasks(list(inner)) else " --tasks-are columns"
    by_name |= {name: way for name, part in below if part is not None and _is_score(part)}
    single = {
        name: " --tasks-are columns --path '{task}'"
        for name, part in parts
        if _is_score(part) and part is not None
    }
    options = by_name or single
    what = (
        "If names stand in levels within each other, say what each level is: `--axes tasks,agents,runs`. "
        'Else write it as [{"agent": …, "task": …, "score": …}, …], or as CSV with these columns.'
    )
    name = suggested_measure(list(options)) or next(iter(options), None)
    if name is not None:
        what = (
            f"If these are agents, name what is measured, such as {listed(options, limit=6)}: `--measure "
            f"{shlex.quote(name)}{options[name]}`. {what}"
        )
    return InputError(
        f"{shorten(file.path, 200)} is one JSON object with {counted(len(content), 'key')} "
        f"({listed(content, limit=3)}), not a list of records. {what}"
    )

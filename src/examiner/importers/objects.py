"""JSON objects as results: scores below names of tasks and agents, levels that are named, or one record."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from examiner.importers.cells import MISSING
from examiner.importers.documents import Record, as_mapping, number
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.records import records_within, table_of
from examiner.importers.suggestions import MissingNamesError, suggested_measure
from examiner.importers.tables import table_reading
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    RUN_NAME,
    TASK_COLUMNS,
    columns_like,
    is_known_task,
    measure_columns,
    mostly_tasks,
)
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Provenance, frame_from

Names = Mapping[str, str | int]


def object_reading(
    content: Record,
    file: SourceFile,
    options: ReadOptions,
    notes: Sequence[str],
    kind: str = "json",
) -> Reading:
    """Read an object of names and scores, of names and such objects, or one record.

    Which names are tasks is said by `tasks_are` (the outer ones are rows), or known from the names.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x.json"), None, b"", names={"agent": "iris"})
    >>> reading = object_reading({"Alien": [368.7, 452.5], "Pong": [14.6, 3]}, file, ReadOptions(), ())
    >>> reading.results
    Results: 1 agent × 2 tasks, 2 runs, 1 trial; measures: score; 1 note
    """
    if not content:
        raise no_results(content, file)
    if options.axes:
        return levels_reading(content, file, options, notes, kind)
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
    measure, content = _measured(content, options)
    options.refuse_columns("one JSON object of scores")
    if options.where:
        raise InputError(
            f"{shorten(file.path, 200)} is one JSON object of scores, without columns to choose rows by. "
            f"Leave `--where` out."
        )
    nested = all(isinstance(value, dict) for value in content.values())
    inner = dict.fromkeys(name for value in content.values() for name in as_mapping(value))
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
    several = any(isinstance(leaf, list | dict) for leaf in leaves)
    rows = [
        {outer: name, measure: number(score)}
        | ({"run": run} if several else {})
        | ({other: second} if nested else {})
        for name, value in content.items()
        for second, scores in (value.items() if nested else [("", value)])
        for run, score in _runs(scores)
        if number(score) is not None
    ]
    if several:
        notes = (*notes, "The numbers of one task and agent in a JSON object are read as runs.")
    origin = Provenance(str(file.path), f"wide {kind}").with_notes(*notes)
    return Reading.of(pl.DataFrame(rows, strict=False), file, origin, [measure], ())


def is_table(content: Record) -> bool:
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


def _measured(content: Record, options: ReadOptions) -> tuple[str, Record]:
    """The measure, and what stands under its name one or two levels below, where `measure` is there."""
    second = [as_mapping(value) for value in content.values()]
    third = [as_mapping(part) for value in second for part in value.values()]
    for name in options.measures:
        if any(name in value for value in second):
            return name, _at(content, name)
    for name in options.measures:
        if any(name in part for part in third):
            return name, {key: _at(as_mapping(value), name) for key, value in content.items()}
    return "score", content


def _at(content: Record, name: str) -> Record:
    return {key: value[name] for key, value in content.items() if name in as_mapping(value)}


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
    count = len(names)
    return numbers in (list(range(count)), list(range(1, count + 1)))


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
    outer: Sequence[str], inner: Sequence[str], file: SourceFile, options: ReadOptions
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


def _no_scores(content: Record, file: SourceFile) -> InputError:
    """Return the error for an object that holds other things than scores, and where there are scores."""
    parts = [(name, part) for value in content.values() for name, part in as_mapping(value).items()]
    by_name = {
        name: " --tasks-are columns"
        for name, part in parts
        if as_mapping(part)
        and all(map(_is_score, part.values()))
        and not (is_known_task(name) or all(key.isdigit() for key in part))
    }
    below = [(name, part) for _, value in parts for name, part in as_mapping(value).items()]
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


# -------------------------------------------------------------------- named levels


def levels_reading(
    content: Any,  # Any: whatever JSON holds
    file: SourceFile,
    options: ReadOptions,
    notes: Sequence[str] = (),
    kind: str = "json",
) -> Reading:
    """Read numbers that stand below levels of names or positions, as `--axes tasks,agents,runs` names them.

    Each level is a key or a column.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x.json"), None, b"")
    >>> scores = {"pong": {"dqn": [1, 2], "ppo": [3, 4]}}
    >>> levels_reading(scores, file, ReadOptions(axes=("task", "agent", "run"))).results
    Results: 2 agents × 1 task, 2 runs, 1 trial; measures: score
    """
    measure = next(iter(options.measures), "score")
    around: dict[str, Any] = {}
    if measure in as_mapping(content):  # the numbers in one place, and texts beside it
        around = {name: part for name, part in content.items() if isinstance(part, str)}
        content = content[measure]
    leaves = list(_leaves(content, options.axes, {}, file))
    if not leaves:
        raise InputError(
            f"{shorten(file.path, 200)} has nothing {len(options.axes)} levels below its beginning "
            f"({listed(options.axes)}). Name as many levels as there are."
        )
    numbers = [leaf for _, leaf in leaves if isinstance(leaf, int | float)]
    if numbers and any(isinstance(leaf, dict) and measure not in leaf for _, leaf in leaves):
        raise InputError(  # fields of a summary, not runs or trials
            f"{shorten(file.path, 200)} has numbers ({listed(numbers, limit=3)}) beside objects without "
            f"{measure!r} below its levels: these look like the fields of one object, not like results. "
            "Name one level less (`--axes`), or leave the file out."
        )
    rows, trials, lacking = list[dict[str, Any]](), Counter[tuple[object, ...]](), 0
    for names, leaf in leaves:
        scores = _scores(leaf, measure, options, file)
        lacking += not scores
        # Other numbers of a leaf, such as the time of a checkpoint, are columns.
        beside = {
            name: part for name, part in as_mapping(leaf).items() if isinstance(part, int | float)
        }
        # Trials are numbered through all checkpoints of a run, as other training logs have them.
        run = tuple(name for axis, name in names.items() if axis != "checkpoint")
        for score in scores:
            numbered = {"trial": trials[run]} if len(scores) > 1 or "checkpoint" in names else {}
            rows.append({**around, **names, **beside, measure: number(score), **numbered})
            trials[run] += 1
    if lacking:
        notes = (*notes, f"{counted(lacking, 'object')} without {measure!r} left out.")
    plain = replace(options, axes=(), measures=(measure,))
    return table_reading(table_of(rows), file, plain, kind, notes)


def _leaves(
    value: Any, axes: Sequence[str], names: Names, file: SourceFile
) -> Iterator[tuple[Names, Any]]:
    if not axes:
        yield names, value
    elif isinstance(value, dict | list):
        entries = value if isinstance(value, dict) else dict(enumerate(value))
        for key, part in entries.items():
            if axes[0] == "checkpoint" and not re.search(r"\d", str(key)):
                continue  # a summary beside the checkpoints
            yield from _leaves(part, axes[1:], {**names, axes[0]: _name(axes[0], key)}, file)
    elif names:
        where = ", ".join(f"{key} {name}" for key, name in names.items())
        raise InputError(
            f"{shorten(file.path, 200)} has {shorten(value)} at {where}, where names or a list of the "
            f"{shorten(axes[0])} belong. Name as many levels as there are (`--axes`)."
        )


def _name(axis: str, key: str | int) -> str | int:
    """A key as the name on its axis; agents and tasks without names are numbered."""
    if isinstance(key, int):
        return f"{axis} {key + 1}" if axis in ("agent", "task") else key
    digits = re.search(r"\d+", key)
    if axis == "checkpoint" and digits:
        return int(digits[0])
    return int(key) if axis in ("run", "trial") and key.isdigit() else key


def _scores(leaf: Any, measure: str, options: ReadOptions, file: SourceFile) -> list[Any]:
    """The scores of a leaf; none where it has not the measure."""
    if isinstance(leaf, dict):
        if not options.measures and measure not in leaf:
            numbers = [name for name, part in leaf.items() if _is_numbers(part)]
            likely = next(iter(measure_columns(numbers)), suggested_measure(numbers))
            raise InputError(
                f"{shorten(file.path, 200)} has objects below its levels, with {listed(leaf, limit=8)}. "
                f"Name what is measured: `--measure {likely or next(iter(numbers), 'NAME')}`."
            )
        leaf = leaf.get(measure)
    return leaf if isinstance(leaf, list) else [] if leaf is None else [leaf]


def _is_numbers(value: object) -> bool:
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(part, int | float) for part in values)

"""The door: a path or a frame goes in, results come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examiner.importers.files import SourceFile, open_source
from examiner.importers.formats import FORMATS
from examiner.importers.tables import Layout, Orientation, TableOptions, results_from_table
from examiner.results import InputError, Provenance, Results
from examiner.results.checks import listed, shorten, unknown_name
from examiner.results.interchange import frame_from, is_frame
from examiner.results.provenance import announce

_ALIASES = {"tsv": "csv", "jsonl": "ndjson"}


def read(
    source: object,
    *,
    format: str | None = None,
    layout: Layout | None = None,
    tasks_are: Orientation | None = None,
    measure: str | Sequence[str] | None = None,
    item: Sequence[str] | None = None,
) -> Results:
    """Read results from a file, or from a pandas, polars or arrow table.

    The format is told from the content and can be named. `layout` is "tidy" (agent, task, score, …)
    or "wide" (a first column of names, then one column a task, or an agent with `tasks_are="rows"`).
    `measure` names the measures, `item` the columns that make an item beside the task. What was
    guessed is warned of and stands in the results' notes.

    >>> read({"agent": ["dqn", "random"], "pong": [18.0, -20.7], "venture": [380.0, None]})
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score; 1 missing cell
    """
    measures = (measure,) if isinstance(measure, str) else tuple(measure or ())
    options = TableOptions(layout, tasks_are, measures, None if item is None else tuple(item))
    if is_frame(source):
        kind = type(source).__module__.partition(".")[0].replace("builtins", "dict")
        results = results_from_table(frame_from(source), options, Provenance("memory", kind))
    elif isinstance(source, (str, Path)):
        file = open_source(source)
        results = FORMATS[_format_name(file, format)].read(file, options)
    else:
        raise InputError(
            f"Cannot read a {type(source).__name__}. Give a path, or a pandas, polars or arrow table."
        )
    announce(results.notes)
    return results


def _format_name(file: SourceFile, named: str | None) -> str:
    if named is not None:
        name = _ALIASES.get(named.lower(), named.lower())
        if name not in FORMATS:
            raise unknown_name("format", named, [*FORMATS, *_ALIASES])
        return name
    for name, kind in FORMATS.items():
        if kind.recognises(file):
            return name
    raise InputError(
        f"Cannot tell the format of {shorten(file.path, 200)}: it begins with "
        f"{shorten(repr(file.head[:16]))}. Known formats: {listed(FORMATS)}."
    )

"""Files of runs that ended after one or two rows, read as the other files of their folder are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.run_times import TooFewTimesError
from examiner.importers.table_columns import TableOptions
from examiner.importers.time import TimeColumn, time_columns
from examiner.messages import InputError
from examiner.results import Results, assemble


def with_short_runs(
    files: Sequence[SourceFile],
    tried: Sequence[Reading | InputError],
    options: TableOptions,
    read: Callable[[SourceFile, TableOptions], Reading],
) -> list[Reading | InputError]:
    """Read again what has too few rows to show its time, with the column that others of its kind have.

    `tried` are the readings of the files, or why one could not be read. Raises the first
    `TooFewTimesError` where no file is a training log.

    >>> with_short_runs([], [], TableOptions(), lambda file, options: Reading(None))
    []
    """
    logs = [
        reading.results.provenance
        for reading in tried
        if isinstance(reading, Reading) and reading.results.provenance.training
    ]
    short = next((problem for problem in tried if isinstance(problem, TooFewTimesError)), None)
    if short is not None and not logs:
        raise short
    if not logs or options.time is not None:
        return list(tried)
    evaluations = all(origin.rows == "inferred" for origin in logs)
    made: list[Reading | InputError] = []
    for file, attempt in zip(files, tried, strict=True):
        column = _time_of_short(attempt)
        if column is not None:
            attempt = read(file, replace(options, time=TimeColumn(column)))
            if evaluations:
                attempt = replace(attempt, results=_as_evaluations(attempt.results))
        made.append(attempt)
    return made


def _time_of_short(attempt: Reading | InputError) -> str | None:
    """The column that is time where a file alone is too short to show it; None where it is not."""
    if isinstance(attempt, TooFewTimesError):
        return attempt.column
    if isinstance(attempt, InputError) or attempt.results.provenance.training:
        return None
    if attempt.results.counts()["trials"] > 1:
        return None
    return next(iter(time_columns(attempt.results.attributes)), None)


def _as_evaluations(results: Results) -> Results:
    frame = results.to_polars().with_columns(checkpoint=pl.col("trial"))
    origin = replace(results.provenance, rows="inferred")
    return assemble(frame, results.measures, results.item, origin, results.scales)

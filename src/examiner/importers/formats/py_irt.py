"""py-irt JSON lines: {"subject_id": …, "responses": {item: 0, 1 or counts, …}}, one agent a line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.cells import SUCCESS, SUCCESSES, TRIALS, counted_out, spread
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, json_lines, text_of
from examiner.messages import InputError, RepeatedKeyError, shorten
from examiner.results import Provenance, name_column, trial_numbers

_RESPONSES = re.compile(rb'"responses"\s*:\s*\{')


def recognises(file: SourceFile) -> bool:
    """The first object has `responses`, themselves an object, and a `subject_id` as far as one sees.

    >>> recognises(SourceFile(Path("x"), None, b'{"subject_id": "bert", "responses": {"q1": 1}}'))
    True
    """
    head = beginning(file).lstrip()
    line, ended, _ = head.partition(b"\n")
    if not head.startswith(b"{") or not _RESPONSES.search(line):
        return False
    return b'"subject_id"' in line or not (ended or file.whole)


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read responses as the measure `correct`; an item that a subject lacks was not observed.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "responses.jsonl"
    >>> _ = path.write_text('{"subject_id": "bert", "responses": {"q1": 1, "q2": 0}}')
    >>> read(open_source(path), TableOptions()).results.measure("correct")
    array([1., 0.])

    Counts, `{"successes": 4, "trials": 5}`, are as many attempts, each 1 or 0 and a run of its own.
    """
    text = text_of(file)
    subjects: list[str] = []
    codes: list[NDArray[np.int64]] = []
    values: list[NDArray[np.float64]] = []
    trials: list[NDArray[np.float64]] = []
    lines: list[int] = []
    known: dict[str, int] = {}
    before: list[str] = []
    for number, record in json_lines(text.data, file.path):
        subject, responses = _fields(record, number, file.path)
        items = list(responses)
        if items != before or not codes:  # most subjects are asked what the last one was
            before = items
            coded = np.array([known.setdefault(item, len(known)) for item in items], np.int64)
        subjects.append(subject)
        codes.append(coded)
        successes, of = _counts(responses, number, file.path)
        values.append(successes)
        trials.append(of)
        lines.append(number)
    if not known:
        raise InputError(f"{shorten(file.path, 200)} holds no responses. Give at least one.")
    row = np.repeat(np.arange(len(subjects)), [len(part) for part in codes])
    frame = pl.DataFrame(
        {
            "agent": spread("agent", subjects, row),
            "task": name_column("task", list(known), np.concatenate(codes)),
            "trial": np.zeros(len(row), dtype=np.int64),
            "correct": np.concatenate(values),
        }
    )
    notes = text.notes
    if not np.isnan(of := np.concatenate(trials)).all():
        frame, row, note = _each_trial(frame, of, row, file)
        notes = (*notes, note)
    origin = Provenance(str(file.path), "py-irt").with_notes(*notes)
    line_of = np.array(lines)[row].__getitem__
    try:
        return Reading.of(frame, file, origin, ["correct"], (), line_of)
    except RepeatedKeyError as problem:
        raise InputError(
            f"Lines {line_of(problem.other_row)} and {line_of(problem.row or 0)} of "
            f"{shorten(file.path, 200)} both hold a response of the same subject to the same item: "
            f"{problem.key}. Keep one, or give the subjects different names.",
        ) from None


def _fields(record: dict[str, Any], number: int, path: Path) -> tuple[str, dict[str, Any]]:
    subject, responses = record.get("subject_id"), record.get("responses")
    if isinstance(subject, int) and not isinstance(subject, bool):
        subject = str(subject)
    if not isinstance(subject, str) or not subject or not isinstance(responses, dict):
        raise InputError(
            f"{shorten(path, 200)}, line {number}, has no `subject_id` (text) with `responses` (an "
            f"object of item: 0 or 1). Correct or remove the line."
        )
    return subject, responses


def _each_trial(
    frame: pl.DataFrame, trials: NDArray[np.float64], row: NDArray[np.intp], file: SourceFile
) -> tuple[pl.DataFrame, NDArray[np.intp], str]:
    """A row for each trial that was counted; a plain response is one trial."""
    single = np.isnan(trials)
    counts = frame.drop("trial", "correct").with_columns(
        pl.Series(SUCCESSES, frame["correct"]),
        pl.Series(TRIALS, np.where(single, 1.0, trials)),
        number=pl.int_range(pl.len()),
    )
    with Whereabouts.of(file, lambda place: None).named():
        each, note = counted_out(counts)
    numbers = each["number"].to_numpy()
    each = each.with_columns(trial=trial_numbers(each, ["number"])).drop("number")
    return (
        each.rename({SUCCESS: "correct"}),
        row[numbers],
        note.replace(repr(SUCCESS), repr("correct")),
    )


def _counts(
    responses: dict[str, Any], number: int, path: Path
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The successes of each response, and its trials; NaN where it is a plain one."""
    if not any(isinstance(value, dict) for value in responses.values()):
        values = _numbers(responses, number, path)
        return values, np.full(len(values), np.nan)
    parts: dict[str, dict[str, Any]] = {SUCCESSES: {}, TRIALS: {}}
    for item, value in responses.items():
        counted = isinstance(value, dict)
        if counted and set(value) != set(parts):
            raise InputError(
                f"{shorten(path, 200)}, line {number}, has {shorten(value)} as the response to "
                f"{shorten(item)}. Give 0, 1, null, or both `successes` and `trials`."
            )
        parts[SUCCESSES][item] = value[SUCCESSES] if counted else value
        parts[TRIALS][item] = value[TRIALS] if counted else None
    return _numbers(parts[SUCCESSES], number, path), _numbers(parts[TRIALS], number, path)


def _numbers(responses: dict[str, Any], number: int, path: Path) -> NDArray[np.float64]:
    try:
        array = np.array(list(responses.values()))
        if array.dtype.kind in "bif":
            return array.astype(np.float64)
    except (ValueError, OverflowError):
        pass
    checked = []
    for item, value in responses.items():
        if value is not None and not isinstance(value, int | float):
            raise InputError(
                f"{shorten(path, 200)}, line {number}, has {shorten(value)} as the response to "
                f"{shorten(item)}. Give 0, 1 or null."
            )
        try:
            checked.append(np.nan if value is None else float(value))
        except OverflowError:
            checked.append(np.inf)
    return np.array(checked, dtype=np.float64)

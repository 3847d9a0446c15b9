"""py-irt JSON lines: {"subject_id": …, "responses": {item: 0, 1 or counts, …}}, one agent a line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from examiner.importers.cells import SUCCESS, SUCCESSES, TRIALS, coded_names, counted_out
from examiner.importers.documents import json_lines
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.text import beginning, text_of
from examiner.messages import InputError, RepeatedKeyError, shorten
from examiner.results import Provenance, trial_numbers

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


def read(file: SourceFile, options: ReadOptions) -> Reading:
    """Read responses as the measure `correct`; an item that a subject lacks was not observed.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "responses.jsonl"
    >>> _ = path.write_text('{"subject_id": "bert", "responses": {"q1": 1, "q2": 0}}')
    >>> read(open_source(path), ReadOptions()).results.measure("correct")
    array([1., 0.])

    Counts, `{"successes": 4, "trials": 5}`, are as many attempts, each 1 or 0 and a run of its own.
    """
    text = text_of(file)
    subjects, items, lines = list[str](), list[str](), list[int]()
    successes, trials = list[float | None](), list[float | None]()
    for number, record in json_lines(text.data.split(b"\n"), file.path):
        subject, responses = _fields(record, number, file.path)
        counts = [_counts(item, value, number, file.path) for item, value in responses.items()]
        subjects += [subject] * len(responses)
        items += responses
        lines += [number] * len(responses)
        successes += [success for success, _ in counts]
        trials += [of for _, of in counts]
    if not items:
        raise InputError(f"{shorten(file.path, 200)} holds no responses. Give at least one.")
    rows = np.arange(len(items))
    notes, line_of = text.notes, np.array(lines)
    frame = pl.DataFrame(
        [coded_names("agent", subjects, rows), coded_names("task", items, rows)]
    ).with_columns(trial=pl.lit(0, pl.Int64), correct=pl.Series(successes, dtype=pl.Float64))
    if any(of is not None for of in trials):
        counted = frame.drop("trial").rename({"correct": SUCCESSES})
        counted = counted.with_columns(
            pl.Series(TRIALS, trials, pl.Float64).fill_null(1.0), row=rows
        )
        with Whereabouts.of(file, lambda place: None).named():
            frame, note = counted_out(counted)
        line_of, notes = (
            line_of[frame["row"].to_numpy()],
            (*notes, note.replace(repr(SUCCESS), repr("correct"))),
        )
        frame = frame.with_columns(trial=trial_numbers(frame, ["row"])).drop("row")
        frame = frame.rename({SUCCESS: "correct"})
    origin = Provenance(str(file.path), "py-irt").with_notes(*notes)
    try:
        return Reading.of(frame, file, origin, ["correct"], (), line_of.__getitem__)
    except RepeatedKeyError as problem:
        raise InputError(
            f"Lines {line_of[problem.other_row]} and {line_of[problem.row or 0]} of "
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


def _counts(item: str, value: Any, line: int, path: Path) -> tuple[float | None, float | None]:
    """The successes of a response and its trials, None where it is a plain one."""
    counts = value if isinstance(value, dict) else {SUCCESSES: value, TRIALS: None}
    numbers = all(part is None or isinstance(part, int | float) for part in counts.values())
    if not numbers or counts.keys() != {SUCCESSES, TRIALS}:
        raise InputError(
            f"{shorten(path, 200)}, line {line}, has {shorten(value)} as the response to "
            f"{shorten(item)}. Give 0, 1 or null, or both `successes` and `trials`."
        )
    try:
        success, trials = (
            None if counts[name] is None else float(counts[name]) for name in (SUCCESSES, TRIALS)
        )
    except OverflowError:
        return float("inf"), None
    return success, trials

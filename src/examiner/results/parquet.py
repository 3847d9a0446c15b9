"""Parquet files of our own: a table and a note beside it, which is checked when it comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl

from examiner.messages import InputError, first_line, shorten
from examiner.results.attributes import Attributes, Provenance
from examiner.results.scale import TaskScale
from examiner.results.storage import atomic_path
from examiner.validation import from_record, to_record

METADATA_KEY = "examiner"
RESULTS_SCHEMA = "examiner.results/1"
MATRIX_SCHEMA = "examiner.matrix/1"


class ResultsNote(NamedTuple):
    """What is stored beside the table of results."""

    item: tuple[str, ...]
    measures: tuple[str, ...]
    scales: tuple[TaskScale, ...]
    provenance: Provenance
    tasks: Attributes = Attributes("task")
    agents: Attributes = Attributes("agent")


class MatrixNote(NamedTuple):
    """What is stored beside the cells of a matrix: its names in their order."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]


Note = TypeVar("Note", ResultsNote, MatrixNote)
T = TypeVar("T")


def save_frame(
    frame: pl.DataFrame, path: str | Path, schema: str, note: ResultsNote | MatrixNote
) -> Path:
    """Write a frame and its note to one file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "m.parquet"
    >>> path == save_frame(pl.DataFrame({"value": [1]}), path, MATRIX_SCHEMA, MatrixNote(("a",), ("t",)))
    True
    >>> stored_note(path)
    {'schema': 'examiner.matrix/1', 'agents': ['a'], 'tasks': ['t']}
    """
    text = json.dumps({"schema": schema, **to_record(note)})
    with atomic_path(path) as temporary:
        frame.write_parquet(temporary, metadata={METADATA_KEY: text})
    return Path(path)


def loaded(
    path: str | Path,
    schema: str,
    restored: Callable[[pl.DataFrame, Mapping[str, Any]], T],  # Any: JSON values
    otherwise: str,
) -> T:
    """Return what is made of a frame and the note stored with it; a file `otherwise` stored is refused.

    >>> loaded("missing.parquet", RESULTS_SCHEMA, lambda frame, note: len(frame), "is another's")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.parquet': no such file. Check the path.
    """
    from examiner.results.polars_errors import PROBLEMS

    note = stored_note(path)
    if note is None or note.get("schema") != schema:
        raise InputError(f"{shorten(path, 200)} {otherwise}.")
    try:
        return restored(pl.read_parquet(path, glob=False), note)
    except InputError as problem:
        raise InputError(f"Cannot use {shorten(path, 200)}: {problem}") from None
    except PROBLEMS as problem:
        raise damaged(path, problem) from None


def damaged(path: str | Path, problem: BaseException) -> InputError:
    """Build the error for a Parquet file that polars cannot read.

    >>> str(damaged("x.parquet", ValueError("invalid thrift.")))
    "Cannot read 'x.parquet': the Parquet file is damaged (invalid thrift). Write it again."
    """
    reason = first_line(problem)
    return InputError(
        f"Cannot read {shorten(path, 200)}: the Parquet file is damaged ({reason}). Write it again."
    )


# Any: JSON values
def stored_note(path: str | Path, unpacked: bytes | None = None) -> dict[str, Any] | None:
    """Return the note examiner left in a Parquet file, or None where there is none.

    Of a packed file, what it holds is given too.

    >>> stored_note("missing.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.parquet': no such file. Check the path.
    """
    from examiner.results.polars_errors import PROBLEMS

    if unpacked is None and not Path(path).is_file():
        raise InputError(f"Cannot read {shorten(path, 200)}: no such file. Check the path.")
    try:
        whole = _is_whole(Path(path) if unpacked is None else unpacked)
        text = pl.read_parquet_metadata(unpacked or path).get(METADATA_KEY) if whole else None
        note = None if text is None else json.loads(text)
    except (*PROBLEMS, OSError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise InputError(
            f"{shorten(path, 200)} is not a whole Parquet file. It may be cut off or of another "
            f"kind: write it again, or name its format with `--format`."
        )
    return note if isinstance(note, dict) else None


def _is_whole(source: Path | bytes) -> bool:
    """Whether a file begins and ends as Parquet does and its footer lies within: polars trusts the rest."""
    if isinstance(source, bytes):
        size, ends = len(source), source[:4] + source[-8:]
    else:
        with source.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            head = stream.read(4)
            stream.seek(max(size - 8, 0))
            ends = head + stream.read()
    footer = int.from_bytes(ends[4:8], "little")
    return size >= 12 and ends[:4] == ends[8:] == b"PAR1" and footer <= size - 12


def checked_note(kind: type[Note], stored: Mapping[str, Any]) -> Note:  # Any: JSON values
    """Return a stored note as what it is a record of, or refuse it by the part that is wrong.

    >>> checked_note(MatrixNote, {"agents": ["a"], "tasks": [3]})
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The note that examiner stored with the table is damaged (tasks[0] is \
'3'. Give text). Write the file again.
    """
    try:
        return from_record(kind, stored)
    except InputError as problem:
        raise InputError(
            f"The note that examiner stored with the table is damaged ({str(problem).rstrip('.')}). "
            f"Write the file again."
        ) from None

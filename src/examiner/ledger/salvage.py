"""What can be saved of a damaged ledger: whole jobs, and their episodes before the first bad one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from examiner.ledger.integrity import Row, Tally, checksums, sealed
from examiner.ledger.schema import UNSEALED, read_only, schema_of
from examiner.messages import InputError, counted, shorten

_SMALL_STEPS = 64  # about a page of rows is stepped over one by one, then ever more at once
_LARGEST = 2**62  # numbers of rows are far smaller


@dataclass(frozen=True, slots=True)
class Salvage:
    """What of a ledger is whole: rows of sessions, jobs, checkpoints and plays, without their seals.

    `episodes` says how many of a job's episodes, from its first on, are as they were written;
    `whole` are the jobs that have as many as they should; `written` is how many there once were, as far as
    the ledger still tells.
    """

    sealed: bool = True
    sessions: list[Row] = field(default_factory=list)
    jobs: list[Row] = field(default_factory=list)
    checkpoints: list[Row] = field(default_factory=list)
    plays: list[Row] = field(default_factory=list)
    episodes: dict[int, int] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)
    written: int = 0

    @property
    def saved(self) -> int:
        """How many episodes can be saved."""
        return sum(self.episodes.values())


def damaged(path: Path, what: str) -> InputError:
    """Build the error for a ledger that is not as it was written: what is damaged, what can be saved."""
    found = salvage(path)
    if not found.saved:
        advice = "No episode of it can be saved: put back a copy of it, or run the plan into another folder"
    else:
        of = f" of {found.written:,}" if found.written > found.saved else ""
        advice = (
            f"{counted(found.saved, 'episode')}{of} can be saved: `examiner arena run --repair "
            f"{shorten(path, 200)}` writes them to a new folder, where the run goes on"
        )
    return InputError(f"The ledger {shorten(path, 200)} is damaged: {what}. {advice}.")


def salvage(path: Path) -> Salvage:
    """Find what of a ledger is whole, whatever else is wrong with it; nothing where no table is left."""
    try:
        with closing(read_only(path)) as database:
            database.text_factory = _as_text
            # Else SQLite reads nothing at all of a file that is shorter than it should be.
            database.execute("PRAGMA writable_schema = ON")
            database.execute("BEGIN")
            return _whole(database)
    except sqlite3.Error:
        return Salvage()


def _whole(database: sqlite3.Connection) -> Salvage:
    try:
        is_sealed = schema_of(database) != UNSEALED
    except sqlite3.Error:
        is_sealed = True
    found = Salvage(sealed=is_sealed)
    for table, kept in (
        ("sessions", found.sessions),
        ("jobs", found.jobs),
        ("checkpoints", found.checkpoints),
        ("plays", found.plays),
    ):
        for row in _rows(database, table):
            if not is_sealed:
                kept.append(row)
            elif row[-1] == sealed(row[:-1]):
                kept.append(row[:-1])
    tallies = {job: Tally(*told) for job, *told in _rows(database, "tallies")} if is_sealed else {}
    written = sum(tally.episodes for tally in tallies.values())
    for job in (row[0] for row in found.jobs):
        count, tally = _intact(database, job, is_sealed)
        found.episodes[job] = count
        if not is_sealed or tallies.get(job, Tally()) == tally:
            found.whole.add(job)
    return Salvage(
        is_sealed,
        found.sessions,
        found.jobs,
        found.checkpoints,
        found.plays,
        found.episodes,
        found.whole,
        written,
    )


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Row]:
    """Every row of a table that can be read, in the order of its number; what cannot is stepped over."""
    number, failures = 0, 0
    name = "session" if table == "sessions" else "job"
    while number < _LARGEST:
        try:
            query = f"SELECT * FROM {table} WHERE {name} > ? ORDER BY {name}"
            for row in database.execute(query, (number,)):
                number, failures = max(number, row[0]), 0
                yield row
            return
        except sqlite3.OperationalError:  # there is no such table
            return
        except sqlite3.DatabaseError:
            number += 2 ** max(0, failures - _SMALL_STEPS)
            failures += 1


def _intact(database: sqlite3.Connection, job: int, is_sealed: bool) -> tuple[int, Tally]:
    """How many episodes of a job, from its first on, are as they were written, and their tally."""
    rows: list[Row] = []
    with suppress(sqlite3.DatabaseError):
        query = "SELECT * FROM episodes WHERE job = ? ORDER BY episode"
        for row in database.execute(query, (job,)):  # one by one: those before a bad page count
            if row[:2] != (job, len(rows)):
                break
            rows.append(row)
    found = _own_checksums(rows)
    stored = [row[-1] for row in rows] if is_sealed else found
    pairs = enumerate(zip(found, stored, strict=True))
    count = next((index for index, (one, other) in pairs if one is None or one != other), len(rows))
    return count, Tally().plus(np.array(found[:count], np.int64)) if is_sealed else Tally()


def _own_checksums(rows: list[Row]) -> list[int | None]:
    """The checksum of each row; None for one that holds something else than numbers."""
    try:
        return list(checksums(rows).tolist())
    except (TypeError, ValueError):
        return [None] if len(rows) == 1 else [one for row in rows for one in _own_checksums([row])]


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")

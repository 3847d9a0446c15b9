"""What can be saved of a damaged ledger: whole jobs, and their episodes before the first bad one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from examiner.ledger.integrity import Row, Tally, checksums, sealed
from examiner.ledger.schema import read_only
from examiner.messages import InputError, counted, shorten


@dataclass(frozen=True, slots=True)
class Salvage:
    """What of a ledger is whole: rows of sessions, jobs, checkpoints and plays, without their seals.

    `episodes` says how many of a job's episodes, from its first on, are as they were written;
    `whole` are the jobs that have as many as they should; `written` is how many there once were, as far as
    the ledger still tells.
    """

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
            database.text_factory = partial(str, encoding="utf-8", errors="replace")
            # Else SQLite reads nothing at all of a file that is shorter than it should be.
            database.execute("PRAGMA writable_schema = ON")
            database.execute("BEGIN")
            return _whole(database)
    except sqlite3.Error:
        return Salvage()


def _whole(database: sqlite3.Connection) -> Salvage:
    found = Salvage()
    for table, kept in (
        ("sessions", found.sessions),
        ("jobs", found.jobs),
        ("checkpoints", found.checkpoints),
        ("plays", found.plays),
    ):
        kept += [row[:-1] for row in _rows(database, table) if row[-1] == sealed(row[:-1])]
    tallies = {job: Tally(*counts) for job, *counts in _rows(database, "tallies")}
    for job in (row[0] for row in found.jobs):
        intact = _intact(database, job)
        found.episodes[job] = intact.episodes
        if tallies.get(job, Tally()) == intact:
            found.whole.add(job)
    return replace(found, written=sum(tally.episodes for tally in tallies.values()))


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table until one cannot be read."""
    with suppress(sqlite3.DatabaseError):
        yield from database.execute(f"SELECT * FROM {table}")


def _intact(database: sqlite3.Connection, job: int) -> Tally:
    """The tally of a job's episodes, from its first on, that are as they were written."""
    intact: list[int] = []
    with suppress(
        sqlite3.DatabaseError, TypeError, ValueError
    ):  # an unreadable page, or no numbers
        query = "SELECT * FROM episodes WHERE job = ? ORDER BY episode"
        for row in database.execute(query, (job,)):
            checksum = int(checksums([row])[0])
            if row[:2] != (job, len(intact)) or row[-1] != checksum:
                break
            intact.append(checksum)
    return Tally().plus(np.array(intact, np.int64))

r"""Whether a ledger is what was written: SQLite's own check, a checksum of each row, a tally of each job.

Episodes are many and all numbers: their checksums are computed by the thousand,

.. math:: h_0 = 0, \quad h_{c+1} = m\big((h_c \oplus x_c) + (c + 1)\,\varphi\big),

over the 64 bits of each column, with the finaliser m and the constant φ of SplitMix64 (Steele, Lea &
Flood, 2014, fig. 14 and 17). Every step is one to one: a row in which one column differs has another
checksum for certain. A job's tally counts its episodes and adds up their checksums. Rows and tallies are
written in one commit. They find accidents, not forgers.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from examiner.messages import counted

Row: TypeAlias = tuple[Any, ...]  # Any: what SQLite holds
Words: TypeAlias = npt.NDArray[np.uint64]
Checksums: TypeAlias = npt.NDArray[np.int64]

SEALED = ("sessions", "jobs", "checkpoints")
"""Tables of few rows, each with the hash of all its columns in the last one; `plays` is like them."""
EPISODE_COLUMNS = (
    *("job", "episode", "phase", "frames", "length", "score", "lives", "truncated"),
    *("cpu_seconds", "session"),
)
_REAL = ("score", "cpu_seconds")
_PHASES = {"training": 0, "evaluation": 1}
_NO_PHASE = 2
_NO_NUMBERS = "an episode holds something else than numbers"
_ROWS_AT_ONCE = 20_000  # a few megabytes
_FEW = 8  # rows that are sooner done one by one
_ALL_BITS = 2**64 - 1
_STEPS = tuple(step * 0x9E3779B97F4A7C15 & _ALL_BITS for step in range(1, 11))
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Tally(NamedTuple):
    """How many episodes a job has, and the sum of their checksums."""

    episodes: int = 0
    checksum: int = 0

    def plus(self, checksums: Checksums) -> Tally:
        """Return the tally with so many episodes more.

        >>> Tally(1, 5).plus(np.array([2, 3]))
        Tally(episodes=3, checksum=10)
        """
        with np.errstate(over="ignore"):
            total = np.int64(self.checksum) + checksums.sum()
        return Tally(self.episodes + len(checksums), int(total))


def sealed(row: Sequence[object]) -> str:
    """Return the seal of a row: a hash of its values and of their kinds.

    >>> sealed((1, "pong")) == sealed((1, "pomg"))
    False
    """
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).hexdigest()


def checksums(rows: Sequence[Row]) -> Checksums:
    """Return the checksum of each episode, given as a row of the table; more columns are left alone.

    >>> row = (1, 0, "training", 500, 500, -20.0, 0, 0, 0.1, 1)
    >>> len(set(checksums([row, row, (1, 1, *row[2:])]).tolist()))
    2
    """
    if len(rows) <= _FEW:
        return np.array([_of_row(row) for row in rows], np.uint64).view(np.int64)
    return _of_columns(list(zip(*rows, strict=True)), len(rows))


def _of_row(row: Row) -> int:
    """The same for one episode: arrays of one number take ten times as long as the number."""
    mixed = 0
    for name, value, step in zip(EPISODE_COLUMNS, row, _STEPS, strict=False):
        word = (mixed ^ _word(name, value)) + step & _ALL_BITS
        word = (word ^ word >> 30) * _FIRST & _ALL_BITS
        word = (word ^ word >> 27) * _SECOND & _ALL_BITS
        mixed = word ^ word >> 31
    return mixed


def _word(name: str, value: Any) -> int:  # Any: what SQLite holds
    if name == "phase":
        return _PHASES.get(value, _NO_PHASE)
    if name in _REAL:
        number = math.nan if value is None or math.isnan(value) else value + 0.0
        return int.from_bytes(struct.pack("<d", number), "little")
    if type(value) is not int:
        raise TypeError(f"{name} is no whole number")
    return value & _ALL_BITS


def _of_columns(columns: Sequence[Row], length: int) -> Checksums:
    mixed = np.zeros(length, np.uint64)
    for index, (name, column) in enumerate(zip(EPISODE_COLUMNS, columns, strict=False)):
        mixed = _mixed((mixed ^ _words(name, column)) + np.uint64(_STEPS[index]))
    return mixed.view(np.int64)


def _words(name: str, column: tuple[Any, ...]) -> Words:
    """The 64 bits of each value; `TypeError` or `ValueError` where one is of another kind."""
    if name == "phase":
        return np.array([_PHASES.get(value, _NO_PHASE) for value in column], np.uint64)
    if name in _REAL:
        values = np.array(column, np.float64) + 0.0  # SQLite knows one zero,
        values[np.isnan(values)] = np.nan  # and keeps what is no number as NULL
        return values.view(np.uint64)
    whole = np.array(column)
    if whole.dtype.kind != "i":
        raise TypeError(f"{name} is no whole number")
    return whole.astype(np.int64).view(np.uint64)


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed


def insert_sealed(database: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    """Insert whole rows of a table of few, each with its seal; one of the same number is replaced."""
    if rows:
        values = ", ".join("?" * (len(rows[0]) + 1))
        query = f"INSERT OR REPLACE INTO {table} VALUES ({values})"
        database.executemany(query, ((*row, sealed(row)) for row in rows))


def insert_episodes(database: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Insert episodes with their checksums, and bring the tallies of their jobs up to date."""
    if not rows:
        return
    found = checksums(rows)
    marks = ", ".join("?" * (len(EPISODE_COLUMNS) + 1))
    database.executemany(
        f"INSERT INTO episodes VALUES ({marks})",
        ((*row, value) for row, value in zip(rows, found.tolist(), strict=True)),
    )
    jobs = np.array([row[0] for row in rows])
    for job in dict.fromkeys(jobs.tolist()):
        query = "SELECT episodes, checksum FROM tallies WHERE job = ?"
        before = Tally(*(database.execute(query, (job,)).fetchone() or ()))
        row = (job, *before.plus(found[jobs == job]))
        database.execute("INSERT OR REPLACE INTO tallies VALUES (?, ?, ?)", row)


def seal_row(database: sqlite3.Connection, table: str, number: int) -> None:
    """Give a row of few its seal, after it was changed."""
    where = f"WHERE {_number_of(table)} = ?"
    row = database.execute(f"SELECT * FROM {table} {where}", (number,)).fetchone()
    database.execute(f"UPDATE {table} SET seal = ? {where}", (sealed(row[:-1]), number))


def _number_of(table: str) -> str:
    return "session" if table == "sessions" else "job"


_OF_THE_DISK = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_PERM")


def damage(database: sqlite3.Connection) -> str | None:
    """Say what of a ledger is not as it was written; None where all is. Takes time like its size."""
    try:
        (said,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            words = str(said).removeprefix("*** in database main ***").split()
            return f"its structure is broken ({' '.join(words)[:200]})"
        return _altered_row(database) or _altered_episode(database)
    except sqlite3.DatabaseError as problem:
        if is_of_the_disk(problem):
            raise
        return f"its structure is broken ({problem})"


def is_of_the_disk(problem: sqlite3.Error) -> bool:
    """Whether an error tells of a disk or a lock, not of what is in the file.

    >>> is_of_the_disk(sqlite3.DatabaseError("database disk image is malformed"))
    False
    """
    return getattr(problem, "sqlite_errorname", "").startswith(_OF_THE_DISK)


def has_plays(database: sqlite3.Connection) -> bool:
    """Whether a ledger has the table of how single plays ended."""
    query = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'plays'"
    return bool(database.execute(query).fetchone()[0])


def _altered_row(database: sqlite3.Connection) -> str | None:
    for table in (*SEALED, "plays") if has_plays(database) else SEALED:
        rows = database.execute(f"SELECT * FROM {table}")
        altered = sum(row[-1] != sealed(row[:-1]) for row in rows)
        if altered:
            return f"values in {counted(altered, 'row')} of its {table} differ from those written"
    return None


def _altered_episode(database: sqlite3.Connection) -> str | None:
    tallies = {job: Tally(*told) for job, *told in database.execute("SELECT * FROM tallies")}
    known = [
        {number for (number,) in database.execute(f"SELECT {_number_of(table)} FROM {table}")}
        for table in ("jobs", "sessions")
    ]
    found: dict[int, Tally] = {}
    altered = 0
    cursor = database.execute("SELECT * FROM episodes ORDER BY job, episode")
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        columns = list(zip(*rows, strict=True))
        try:
            computed = _of_columns(columns, len(rows))
        except (TypeError, ValueError):
            return _NO_NUMBERS
        altered += int(np.sum(np.array(columns[-1]) != computed))
        if not set(columns[0]) <= known[0] or not set(columns[9]) <= known[1]:
            return "the jobs or sessions of some episodes are missing"
        jobs = np.array(columns[0])
        starts = np.flatnonzero(np.r_[True, jobs[1:] != jobs[:-1]])
        for job, part in zip(jobs[starts].tolist(), np.split(computed, starts[1:]), strict=True):
            found[job] = found.get(job, Tally()).plus(part)
    if altered:
        return f"values of {counted(altered, 'episode')} differ from those written"
    short = sum(tallies.get(job) != found.get(job) for job in tallies.keys() | found.keys())
    return f"episodes of {counted(short, 'job')} are missing" if short else None

"""The file of a ledger: opened by one driver at a time, and whole even when the disk is full.

SQLite with a write-ahead log and `synchronous=NORMAL`: what is committed survives any process that
dies. After a power cut the last moments may be missing, which the next run plays again. Whoever opens
it, to write or to read, first sees whether it is as it was written: that takes time like its size.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from examiner.ledger.integrity import damage, is_of_the_disk
from examiner.ledger.salvage import damaged
from examiner.ledger.schema import (
    APPLICATION_ID,
    SCHEMA,
    create,
    lost_columns,
    read_only,
    schema_of,
)
from examiner.messages import InputError, shorten

_PAGES_IN_LOG = 256  # a megabyte: what a reader has to look through beside the file
_BALLAST_BYTES = 2 * 2**20  # more than the log and the last commit take
_VERSION = re.compile(r"examiner\.ledger/\d+")
_READERS_MAY_TAKE_SECONDS = 60.0
_ANOTHER_FOLDER = "choose another folder with `--output`"


class LedgerFile:
    """An open database, the lock that keeps other drivers out, and some room kept for a full disk."""

    def __init__(self, path: Path) -> None:
        path = path.resolve()  # one file, one lock, by whatever name it was called
        if path.exists() and not path.is_file():
            raise InputError(
                f"{shorten(path, 200)} is no file that a ledger could be. C{_ANOTHER_FOLDER[1:]}."
            )
        self._path = path
        self._ballast = path.with_name(path.name + ".ballast")
        self._lock = _locked(path)
        try:
            with self.told():
                self.database = _opened(path)
                if not self._ballast.exists():
                    self._ballast.write_bytes(bytes(_BALLAST_BYTES))
            self._inode = _inode(path)
        except BaseException:
            self._lock.close()
            raise

    def close(self) -> None:
        """Let go of the file; what was not committed is given up."""
        with suppress(sqlite3.Error):
            self.database.rollback()
        with suppress(OSError):
            self._ballast.unlink()
        with suppress(sqlite3.Error):  # what stays in the log is read from there
            self.database.execute("PRAGMA busy_timeout = 0")  # whoever reads now keeps the log
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            # Without a log the file stands alone, and can be read where nothing can be written.
            self.database.execute("PRAGMA journal_mode = DELETE")
        self.database.close()
        with suppress(OSError):  # while it is ours; see `_locked`
            _lock_path(self._path).unlink()
        self._lock.close()

    def check_there(self) -> None:
        """Refuse to go on where the file was removed or replaced: what is written now would be lost."""
        if _inode(self._path) != self._inode:
            raise InputError(
                f"The ledger {shorten(self._path, 200)} was removed or replaced while the run was going "
                f"on. Put it back, then run the same command again to go on."
            )

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn what the disk refuses into a sentence; all that was committed stays."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as problem:
            with suppress(OSError):
                self._ballast.unlink()
            raise InputError(
                f"Cannot write the ledger {shorten(self._path, 200)}: {problem}. All episodes committed "
                f"so far are kept. Make room or mend the disk, then run the same command again to go on."
            ) from problem
        except sqlite3.DatabaseError as problem:
            raise damaged(self._path, f"its structure is broken ({problem})") from problem


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _locked(path: Path) -> sqlite3.Connection:
    """Hold a lock that ends with the process, however it ends.

    Whoever holds the lock removes its file at the end. Another driver may have opened that file just
    before: its lock counts only if the file is still the one that stands in the folder.
    """
    lock = _lock_path(path)
    while True:
        try:
            lock.touch()
            before = _inode(lock)
            connection = _held(lock, path)
        except (OSError, sqlite3.OperationalError) as problem:
            said = problem.strerror if isinstance(problem, OSError) else problem
            raise InputError(
                f"Cannot open {shorten(path, 200)}: {said}. Check the folder and its permissions."
            ) from problem
        if before is not None and before == _inode(lock):
            return connection
        connection.close()


def _held(lock: Path, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(lock, timeout=0.0, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as problem:
        connection.close()
        if "locked" not in str(problem):
            raise InputError(
                f"Cannot lock {shorten(lock, 200)}: {problem}. Remove it if no run is using it."
            ) from problem
        raise InputError(
            f"Another run is writing to {shorten(path, 200)}{_holder(path)}. Wait until it has ended, "
            f"or {_ANOTHER_FOLDER}."
        ) from None
    return connection


def _holder(path: Path) -> str:
    """Who has the ledger: the last to have begun a session."""
    try:
        with closing(read_only(path)) as database:
            row = database.execute(
                "SELECT pid, host, started FROM sessions ORDER BY session DESC LIMIT 1"
            ).fetchone()
    except sqlite3.Error:
        return ""
    return "" if row is None else f": process {row[0]} on {row[1]}, since {row[2]}"


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, timeout=_READERS_MAY_TAKE_SECONDS)
    try:
        (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables:
            _check_schema(
                database,
                path,
                if_other=f"C{_ANOTHER_FOLDER[1:]}.",
                if_newer=f"Go on with that version, or {_ANOTHER_FOLDER}.",
            )
        else:
            create(database)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_IN_LOG}")
    except BaseException as problem:
        database.close()
        # What the disk refuses is told by whoever opens; see `LedgerFile.told`.
        if type(problem) is sqlite3.DatabaseError:
            if _bears_mark(path):
                raise damaged(path, f"its structure is broken ({problem})") from None
            raise InputError(
                f"{shorten(path, 200)} is not a ledger: {problem}. C{_ANOTHER_FOLDER[1:]}."
            ) from None
        raise
    return database


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger to read from it, also while a run is writing to it.

    >>> with reading(Path("missing.sqlite")):
    ...     pass
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read the ledger 'missing.sqlite': unable to open database \
file. Check the path, or write it again.
    """
    try:
        with closing(read_only(path)) as database:
            database.execute("BEGIN")  # what is checked and what is read are of one moment
            _check_schema(
                database,
                path,
                if_other="Export its table as CSV or Parquet.",
                if_newer="Read it with that version and export it as Parquet.",
            )
            yield database
    except sqlite3.Error as problem:
        raise InputError(
            f"Cannot read the ledger {shorten(path, 200)}: {problem}. Check the path, or write it again."
        ) from problem


def _check_schema(
    database: sqlite3.Connection, path: Path, *, if_other: str, if_newer: str
) -> None:
    """Refuse what is no ledger, is of another version, or is damaged, and say what to do then."""
    try:
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        if mark != APPLICATION_ID:
            raise InputError(
                f"{shorten(path, 200)} is a database, but not a ledger of examiner. {if_other}"
            )
        schema = schema_of(database)
        if _VERSION.fullmatch(schema or "") is None:
            raise damaged(path, "its version cannot be read")
        if schema != SCHEMA:
            raise InputError(
                f"The ledger {shorten(path, 200)} was written by another version of examiner. {if_newer}"
            )
        what = _cut_off(database, path) or lost_columns(database) or damage(database)
    except sqlite3.DatabaseError as problem:
        if is_of_the_disk(problem) or not _bears_mark(path):
            raise
        what = f"its structure is broken ({problem})"
    if what is not None:
        raise damaged(path, what)


def _cut_off(database: sqlite3.Connection, path: Path) -> str | None:
    """Whether the end of a file is missing, which SQLite reads as zeros where it is less than a page."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:  # what is not in the file may be there
        return None
    (page,) = database.execute("PRAGMA page_size").fetchone()
    return "the end of its last page is missing" if path.stat().st_size % page else None


def _bears_mark(path: Path) -> bool:
    """Whether a file that SQLite cannot read says that it is a ledger."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(100)[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return False

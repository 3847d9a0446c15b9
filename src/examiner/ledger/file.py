"""The file of a ledger: its tables, its seals, and how one driver or any number of readers open it.

SQLite with a write-ahead log and `synchronous=NORMAL`: what is committed survives any process that
dies. After a power cut the last moments may be missing, which the next run plays again. Every row ends
with a seal, a hash of its other columns, and a job knows the number of its episodes. Whoever opens a
ledger, to write or to read, first checks it: that takes time in proportion to its size.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from filelock import FileLock, Timeout

from examiner.messages import InputError, counted, shorten

Row: TypeAlias = tuple[Any, ...]  # Any: what SQLite holds

APPLICATION_ID = 0x4558414D
"""What SQLite keeps in the header of a ledger: "EXAM"."""
SCHEMA = "examiner.ledger/3"
TABLES = {
    "sessions": "session INTEGER PRIMARY KEY, started TEXT, host TEXT, pid INTEGER, versions TEXT, "
    "plan TEXT",
    "jobs": "job INTEGER PRIMARY KEY, key TEXT UNIQUE, agent TEXT, game TEXT, entry TEXT, settings TEXT, "
    "observation TEXT, environment TEXT, mode INTEGER, difficulty INTEGER, seed INTEGER, split TEXT, "
    "protocol TEXT, protocol_settings TEXT, episodes INTEGER, frames INTEGER, variant TEXT, "
    "stateless INTEGER, state TEXT, reason TEXT, played INTEGER",
    "episodes": "job INTEGER REFERENCES jobs, episode INTEGER, phase TEXT, frames INTEGER, length INTEGER, "
    "score REAL, lives INTEGER, truncated INTEGER, cpu_seconds REAL, session INTEGER REFERENCES sessions",
    "checkpoints": "job INTEGER PRIMARY KEY REFERENCES jobs, episode INTEGER, frames INTEGER, "
    "evaluated INTEGER, sha256 TEXT",
    "plays": "job INTEGER PRIMARY KEY REFERENCES jobs, status TEXT, win INTEGER, model_calls INTEGER, "
    "reason TEXT",
}
"""The columns of each table; a seal follows in each."""
_DISK_ERRORS = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_PERM")
_ANOTHER_FOLDER = "hoose another folder with `--output`"


def create_tables(database: sqlite3.Connection) -> None:
    """Make the tables of a new ledger, in one transaction: from the first moment the file is a ledger."""
    database.execute("BEGIN EXCLUSIVE")
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute("CREATE TABLE ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    database.execute("INSERT INTO ledger VALUES ('schema', ?)", (SCHEMA,))
    for table, columns in TABLES.items():
        key = ", PRIMARY KEY (job, episode)) WITHOUT ROWID" if table == "episodes" else ")"
        database.execute(f"CREATE TABLE {table} ({columns}, seal INTEGER{key}")
    database.execute("COMMIT")


def seal(row: Sequence[object]) -> int:
    """Return the seal of a row: a hash of its values and of their kinds.

    >>> seal((1, "pong")) == seal((1, "pomg"))
    False
    """
    digest = hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def insert(database: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    """Insert whole rows with their seals; a row of the same key is replaced."""
    values = ", ".join("?" * (TABLES[table].count(",") + 2))
    query = f"INSERT OR REPLACE INTO {table} VALUES ({values})"
    database.executemany(query, ((*row, seal(row)) for row in rows))


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a file that is there, to read what one moment of it holds."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)


class LedgerFile:
    """An open database, the lock that keeps other drivers out, and some room kept for a full disk."""

    def __init__(self, path: Path) -> None:
        path = path.resolve()  # one file, one lock, by whatever name it was called
        if path.exists() and not path.is_file():
            raise InputError(
                f"{shorten(path, 200)} is no file that a ledger could be. C{_ANOTHER_FOLDER}."
            )
        self._path = path
        self._ballast = path.with_name(path.name + ".ballast")
        self._lock = _acquired_lock(path)
        try:
            with self.explained_errors():
                self.database = _opened(path)
                if not self._ballast.exists():
                    # More than the log and the last commit take.
                    self._ballast.write_bytes(bytes(2 * 2**20))
            self._inode = _inode(path)
        except BaseException:
            self._release_lock()
            raise

    def _release_lock(self) -> None:
        with suppress(
            OSError
        ):  # while it is ours: filelock does not count a lock on a removed file
            Path(self._lock.lock_file).unlink()
        self._lock.release()

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
        self._release_lock()

    def check_there(self) -> None:
        """Refuse to go on where the file was removed or replaced: what is written now would be lost."""
        if _inode(self._path) != self._inode:
            raise InputError(
                f"The ledger {shorten(self._path, 200)} was removed or replaced while the run was going "
                f"on. Put it back, then run the same command again to go on."
            )

    @contextmanager
    def explained_errors(self) -> Iterator[None]:
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
            raise _damaged(self._path, f"its structure is broken ({problem})") from problem


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _acquired_lock(path: Path) -> FileLock:
    """A lock that ends with the process, however it ends."""
    lock = FileLock(path.with_name(path.name + ".lock"), timeout=0, is_singleton=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"Another run is writing to {shorten(path, 200)}{_holder(path)}. Wait until it has ended, "
            f"or c{_ANOTHER_FOLDER}."
        ) from None
    except OSError as problem:
        raise InputError(
            f"Cannot open {shorten(path, 200)}: {problem.strerror}. Check the folder and its permissions."
        ) from problem
    return lock


def _holder(path: Path) -> str:
    """Who has the ledger: the last to have begun a session."""
    query = "SELECT pid, host, started FROM sessions ORDER BY session DESC LIMIT 1"
    with suppress(sqlite3.Error), closing(connect_to_read(path)) as database:
        for pid, host, started in database.execute(query):
            return f": process {pid} on {host}, since {started}"
    return ""


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        path, isolation_level=None, timeout=60.0
    )  # readers may take that long
    try:
        (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables:
            advice = f"C{_ANOTHER_FOLDER}."
            _check(database, path, advice, f"Go on with that version, or c{_ANOTHER_FOLDER}.")
        else:
            create_tables(database)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(
            "PRAGMA wal_autocheckpoint = 256"
        )  # pages that readers have to look through
    except BaseException as problem:
        database.close()
        if type(problem) is sqlite3.DatabaseError:
            if _has_mark(path):
                raise _damaged(path, f"its structure is broken ({problem})") from None
            raise InputError(
                f"{shorten(path, 200)} is not a ledger: {problem}. C{_ANOTHER_FOLDER}."
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
        with closing(connect_to_read(path)) as database:
            database.execute("BEGIN")  # what is checked and what is read are of one moment
            advice = "Export its table as CSV or Parquet."
            _check(database, path, advice, "Read it with that version and export it as Parquet.")
            yield database
    except sqlite3.Error as problem:
        raise InputError(
            f"Cannot read the ledger {shorten(path, 200)}: {problem}. Check the path, or write it again."
        ) from problem


def _check(database: sqlite3.Connection, path: Path, if_other: str, if_newer: str) -> None:
    """Refuse what is no ledger, is of another version, or is damaged, and say what to do then."""
    try:
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        if mark != APPLICATION_ID:
            raise InputError(
                f"{shorten(path, 200)} is a database, but not a ledger of examiner. {if_other}"
            )
        query = "SELECT value FROM ledger WHERE name = 'schema'"
        (schema,) = database.execute(query).fetchone() or ("",)
        if not schema.startswith("examiner.ledger/"):
            raise _damaged(path, "its version cannot be read")
        if schema != SCHEMA:
            raise InputError(
                f"The ledger {shorten(path, 200)} was written by another version of examiner. {if_newer}"
            )
        damage = _damage(database)
    except sqlite3.DatabaseError as problem:
        of_the_disk = getattr(problem, "sqlite_errorname", "").startswith(_DISK_ERRORS)
        if of_the_disk or not _has_mark(path):
            raise
        damage = f"its structure is broken ({problem})"
    if damage is not None:
        raise _damaged(path, damage)


def _damage(database: sqlite3.Connection) -> str | None:
    """Say what of a ledger is not as it was written; None where all is."""
    (report,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if report != "ok":
        words = str(report).removeprefix("*** in database main ***").split()
        return f"its structure is broken ({' '.join(words)[:200]})"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        create_tables(new)
        definitions = "SELECT name, sql FROM sqlite_master ORDER BY name"
        if new.execute(definitions).fetchall() != database.execute(definitions).fetchall():
            return "its tables have other columns than were written"
    for table in TABLES:
        rows = database.execute(f"SELECT * FROM {table}")
        altered = sum(row[-1] != seal(row[:-1]) for row in rows)
        if altered:
            return f"values in {counted(altered, 'row')} of its {table} differ from those written"
    if database.execute("PRAGMA foreign_key_check").fetchone() is not None:
        return "the jobs or sessions of some episodes are missing"
    (short,) = database.execute(
        "SELECT COUNT(*) FROM jobs AS j LEFT JOIN (SELECT job, COUNT(*) AS many, MAX(episode) AS last "
        "FROM episodes GROUP BY job) AS e ON e.job = j.job "
        "WHERE played != COALESCE(many, 0) OR many != last + 1"
    ).fetchone()
    return f"episodes of {counted(short, 'job')} are missing" if short else None


def _damaged(path: Path, damage: str) -> InputError:
    return InputError(
        f"The ledger {shorten(path, 200)} is damaged: {damage}. Put back a copy of it, or let "
        f"`examiner arena run --repair {shorten(path, 200)}` write what can be read of it to a new "
        f"folder, where the run goes on."
    )


def _has_mark(path: Path) -> bool:
    """Whether a file that SQLite cannot read says that it is a ledger."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(100)[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return False

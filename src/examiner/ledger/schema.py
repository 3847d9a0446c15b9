"""The tables of a ledger."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

APPLICATION_ID = 0x4558414D
"""What SQLite keeps in the header of a ledger: "EXAM"."""
SCHEMA = "examiner.ledger/2"

_TABLES = """
CREATE TABLE ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    versions TEXT NOT NULL, plan TEXT NOT NULL, seal TEXT);
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, entry TEXT NOT NULL,
    settings TEXT NOT NULL, observation TEXT NOT NULL, environment TEXT NOT NULL, game TEXT NOT NULL,
    mode INTEGER, difficulty INTEGER, seed INTEGER NOT NULL, split TEXT NOT NULL,
    protocol TEXT NOT NULL, protocol_settings TEXT NOT NULL, episodes INTEGER, frames INTEGER,
    stateless INTEGER, state TEXT NOT NULL DEFAULT 'waiting', reason TEXT, seal TEXT);
CREATE TABLE episodes (
    job INTEGER NOT NULL REFERENCES jobs, episode INTEGER NOT NULL, phase TEXT NOT NULL,
    frames INTEGER NOT NULL, length INTEGER NOT NULL, score REAL, lives INTEGER NOT NULL,
    truncated INTEGER NOT NULL, cpu_seconds REAL NOT NULL, session INTEGER NOT NULL REFERENCES sessions,
    checksum INTEGER, PRIMARY KEY (job, episode)) WITHOUT ROWID;
CREATE TABLE checkpoints (
    job INTEGER PRIMARY KEY REFERENCES jobs, episode INTEGER NOT NULL, frames INTEGER NOT NULL,
    evaluated INTEGER NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL, seal TEXT);
CREATE TABLE tallies (
    job INTEGER PRIMARY KEY REFERENCES jobs, episodes INTEGER NOT NULL, checksum INTEGER NOT NULL);
"""
PLAYS = """
CREATE TABLE IF NOT EXISTS plays (
    job INTEGER PRIMARY KEY REFERENCES jobs, status TEXT NOT NULL, win INTEGER,
    model_calls INTEGER NOT NULL, reason TEXT NOT NULL, seal TEXT)
"""
"""How single plays ended: a table that only ledgers with such plays have."""


def create(database: sqlite3.Connection) -> None:
    """Make the tables of a new ledger.

    In one transaction, and before there is a write-ahead log: the file's first page says from the first
    moment that it is a ledger.
    """
    database.execute("BEGIN EXCLUSIVE")
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in _TABLES.split(";"):
        database.execute(statement)
    database.execute("INSERT INTO ledger VALUES ('schema', ?)", (SCHEMA,))
    database.execute("COMMIT")


def schema_of(database: sqlite3.Connection) -> str | None:
    """Return by which format a ledger calls itself; None where it has no name.

    >>> with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
    ...     create(database)
    ...     schema_of(database)
    'examiner.ledger/2'
    """
    found = database.execute("SELECT value FROM ledger WHERE name = 'schema'").fetchone()
    return None if found is None else str(found[0])


def lost_columns(database: sqlite3.Connection) -> str | None:
    """Return what is wrong with the names of tables and columns; None where nothing is.

    >>> with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
    ...     create(database)
    ...     _ = database.execute("ALTER TABLE jobs RENAME COLUMN seed TO sead")
    ...     lost_columns(database)
    'the table jobs has other columns than were written'
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as whole:
        create(whole)
        whole.execute(PLAYS)
        written = _columns(whole)
    found = _columns(database)
    if "plays" not in found:
        del written["plays"]
    for table, names in written.items():
        if found.get(table) != names:
            return f"the table {table} has other columns than were written"
    return None


def _columns(database: sqlite3.Connection) -> dict[str, list[str]]:
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    query = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
    return {table: [name for (name,) in database.execute(query, (table,))] for (table,) in tables}


def read_only(path: Path) -> sqlite3.Connection:
    """Connect to a file that is there, to read what one moment of it holds."""
    where = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(where, uri=True, timeout=30.0, isolation_level=None)

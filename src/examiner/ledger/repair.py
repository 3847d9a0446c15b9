"""A new ledger from what SQLite can still read of a damaged one; the damaged one is left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from examiner.answers import Answer, scalar
from examiner.ledger.file import Row, connect_to_read, create_tables, insert, reading, seal
from examiner.ledger.ledger import checkpoint_file, read_checkpoint
from examiner.ledger.records import Checkpoint
from examiner.messages import InputError, counted, shorten

_UNKNOWN_SESSION = ("unknown", "unknown", 0, "{}", "")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repair(Answer):
    """What was saved of a damaged ledger, and where the new ledger is.

    `lost` counts the episodes that the jobs are known to have had; they are played again. `open_jobs` are
    those of which episodes are missing, or that had not ended before.

    >>> Repair(Path("pilot-repaired/ledger.sqlite"), 346, 54, 4, 1, 2)
    346 episodes were saved and 54 lost; 4 jobs were kept, 1 of them to be continued.
    """

    kind = "repair"

    ledger: Path = field(metadata=scalar("File of the new ledger"))
    saved: int = field(metadata=scalar("Episodes saved"))
    lost: int = field(metadata=scalar("Episodes lost, which are played again"))
    jobs: int = field(metadata=scalar("Jobs saved"))
    open_jobs: int = field(metadata=scalar("Jobs that are to be continued"))
    checkpoints: int = field(metadata=scalar("Checkpoints saved"))

    @property
    def headline(self) -> str:
        """How many episodes and jobs were saved and lost."""
        saved = f"{counted(self.saved, 'episode')} {'was' if self.saved == 1 else 'were'} saved"
        kept = f"{counted(self.jobs, 'job')} {'was' if self.jobs == 1 else 'were'} kept"
        open_jobs = f", {self.open_jobs:,} of them to be continued" if self.open_jobs else ""
        return f"{saved} and {self.lost:,} lost; {kept}{open_jobs}."


def repair(ledger: str | Path, output: str | Path | None = None) -> Repair:
    """Write what can be read of a damaged ledger to a new folder, in which its run can go on.

    `ledger` is its file or its folder, `output` the new folder: by default the old name with `-repaired`.
    Of each job the episodes before its first damaged one are kept, so that the others can be played again
    as they were. Nothing is overwritten.

    >>> repair("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    source = Path(ledger)
    source = (source / "ledger.sqlite" if source.is_dir() else source).absolute()
    if not source.is_file():
        raise InputError(f"Cannot read {shorten(ledger, 200)}: no such file. Check the path.")
    folder = source.parent.with_name(f"{source.parent.name}-repaired")
    target = (folder if output is None else Path(output)) / "ledger.sqlite"
    if target.exists():
        raise InputError(
            f"{shorten(target, 200)} is there already, and nothing is overwritten. Choose another folder "
            f"with `--output`."
        )
    _refuse_whole(source)
    with closing(connect_to_read(source)) as old:
        rows = {table: list(_sealed_rows(old, table)) for table in ("sessions", "jobs", "plays")}
        jobs = {row[0]: row for row in rows["jobs"]}
        if not jobs:
            raise InputError(
                f"Nothing of {shorten(source, 200)} can be saved: no row of a job in it is whole. Put back "
                f"a copy of it, or run the plan into another folder."
            )
        episodes = {job: _readable_episodes(old, job) for job in jobs}
        written = _written_episodes(old)
        checkpoints = [
            row
            for row in _sealed_rows(old, "checkpoints")
            if row[1] <= len(episodes.get(row[0], ()))
        ]
    kept_jobs = [_kept_job(row, len(episodes[row[0]])) for row in rows["jobs"]]
    sessions = {row[0]: row for row in rows["sessions"]}
    for row in (row for played in episodes.values() for row in played):
        sessions.setdefault(row[-1], (row[-1], *_UNKNOWN_SESSION))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept_checkpoints = [
            row for row in checkpoints if _copy_checkpoint(source, target, jobs[row[0]][1], row)
        ]
        unfinished = target.with_name(target.name + ".part")
        unfinished.unlink(missing_ok=True)
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as new:
            create_tables(new)
            new.execute("BEGIN")
            insert(new, "sessions", sessions.values())
            insert(new, "jobs", kept_jobs)
            insert(new, "episodes", (row for played in episodes.values() for row in played))
            insert(new, "plays", (row for row in rows["plays"] if episodes.get(row[0])))
            insert(new, "checkpoints", kept_checkpoints)
            new.execute("COMMIT")
        unfinished.rename(target)  # it has its name only when it is whole
    except (OSError, sqlite3.OperationalError) as problem:
        raise InputError(
            f"Cannot write {shorten(target, 200)}: {problem}. Make room, or choose another folder with "
            f"`--output`."
        ) from problem
    saved = sum(map(len, episodes.values()))
    return Repair(
        ledger=target,
        saved=saved,
        lost=max(0, written - saved),
        jobs=len(jobs),
        open_jobs=sum(row[-3] == "waiting" for row in kept_jobs),
        checkpoints=len(kept_checkpoints),
    )


def _refuse_whole(path: Path) -> None:
    try:
        with reading(path):
            pass
    except InputError:
        return
    raise InputError(
        f"The ledger {shorten(path, 200)} is whole: there is nothing to repair. Go on with its plan."
    )


def _sealed_rows(database: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table that are as they were written, until one cannot be read."""
    with suppress(sqlite3.DatabaseError, ValueError):
        # Else SQLite reads nothing at all of a file that is shorter than it should be.
        database.execute("PRAGMA writable_schema = ON")
        rows = database.execute(f"SELECT * FROM {table}")
        yield from (row[:-1] for row in rows if row[-1] == seal(row[:-1]))


def _readable_episodes(database: sqlite3.Connection, job: int) -> list[Row]:
    """The episodes of a job, from its first on, that are as they were written."""
    episodes: list[Row] = []
    with suppress(sqlite3.DatabaseError, ValueError):
        query = "SELECT * FROM episodes WHERE job = ? ORDER BY episode"
        for row in database.execute(query, (job,)):
            if row[:2] != (job, len(episodes)) or row[-1] != seal(row[:-1]):
                break
            episodes.append(row[:-1])
    return episodes


def _written_episodes(database: sqlite3.Connection) -> int:
    """How many episodes all jobs had, damaged ones too, as far as their rows can be read."""
    with suppress(sqlite3.DatabaseError):
        return int(database.execute("SELECT TOTAL(played) FROM jobs").fetchone()[0])
    return 0


def _kept_job(row: Row, episodes: int) -> Row:
    """The row of a job as it is now: one of which episodes are missing has not ended."""
    return row if row[-1] == episodes else (*row[:-3], "waiting", None, episodes)


def _copy_checkpoint(source: Path, target: Path, key: str, row: Row) -> bool:
    """Copy the file of a checkpoint if it is whole; learners without one begin again."""
    checkpoint = Checkpoint(*row[1:])
    data = read_checkpoint(source, key, checkpoint) if key.isalnum() else None
    if data is not None:
        path = checkpoint_file(target, key, checkpoint)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return data is not None

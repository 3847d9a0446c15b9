"""The ledger: every episode of a run, kept in one SQLite file by one driver, never lost, never doubled."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from examiner.ledger.file import LedgerFile, Row, insert
from examiner.ledger.records import Account, Checkpoint, Episode, JobRecord
from examiner.messages import InputError, shorten
from examiner.results import write_bytes
from examiner.workers import JobError

_COMPARED = ("phase", "frames", "length", "score", "lives", "truncated")
_SETTINGS = ("entry", "settings", "observation", "environment", "protocol", "episodes", "frames")
PACKAGES = ("examiner", "ale-py", "gymnasium", "numpy", "numba", "torch")
"""Their versions are kept with every session: they decide what an episode looks like."""


class Ledger(AbstractContextManager["Ledger"]):
    """An open ledger; only one driver can have it open, others may read.

    `versions` are those of what plays beside the packages of Python; all are kept with the session.

    >>> import tempfile
    >>> path, job = Path(tempfile.mkdtemp()) / "ledger.sqlite", JobRecord("1f", "random", "pong")
    >>> with Ledger(path) as ledger:
    ...     (account,) = ledger.enter([job])
    ...     ledger.record(account, Episode(0, 500, 500, -20.0, 0, False, 0.1))
    ...     ledger.end(account, None)
    >>> with Ledger(path) as ledger:
    ...     ledger.enter([job])[0].episodes
    1
    """

    def __init__(
        self, path: str | Path, *, plan: str = "", versions: Mapping[str, str] | None = None
    ) -> None:
        self.path = Path(path)
        self._file = LedgerFile(self.path)
        self._database = self._file.database
        self._new_rows: dict[str, list[Row]] = {}  # by table; they go into the file together
        self._changed: dict[int, Account] = {}
        try:
            query = "SELECT COALESCE(MAX(session), 0) + 1 FROM sessions"
            self._session: int = self._database.execute(query).fetchone()[0]
            started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            packages = json.dumps(_versions() | dict(versions or {}))
            session = (self._session, started, socket.gethostname(), os.getpid(), packages, plan)
            self._add("sessions", session)
            self.commit()
        except BaseException:
            self._file.close()
            raise

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit, and let go of the file.

        >>> import tempfile
        >>> Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite").close()
        """
        try:
            self.commit()
        finally:
            self._file.close()

    def enter(self, records: Sequence[JobRecord]) -> list[Account]:
        """Enter jobs that are not there yet, and return the account of each.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     [account.state for account in ledger.enter([JobRecord("1f", "random", "pong")])]
        ['waiting']
        """
        _refuse_doubles(records)
        with self._file.explained_errors():
            accounts = self._accounts()
        taken = {account.record.identity: account.record for account in accounts.values()}
        last = max((account.number for account in accounts.values()), default=0)
        new = [record for record in records if record.key not in accounts]
        for record in new:
            _refuse_other_settings(record, taken.get(record.identity))
        for number, record in enumerate(new, start=last + 1):
            accounts[record.key] = Account(record, number)
            self._add("jobs", _job_row(accounts[record.key]))
        self.commit()
        return [accounts[record.key] for record in records]

    def record(self, account: Account, episode: Episode) -> None:
        """Keep an episode; one that is there already must be the same again.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.record(account, Episode(0, 500, 500, -20.0, 0, False, 0.1))
        ...     ledger.record(account, Episode(0, 500, 500, -19.0, 0, False, 0.1))
        Traceback (most recent call last):
        ...
        examiner.workers.crew.JobError: episode 0 was played again and differs in score: -20.0 \
before, -19.0 now. The agent does not depend on its generator and its saved state alone: correct that
        """
        if episode.number < account.episodes:
            self._compare(account, episode)
            return
        if episode.number > account.episodes:
            raise JobError(
                f"episode {episode.number} came after {account.episodes} episodes: one is missing"
            )
        # Plain numbers: environments may give those of numpy, which SQLite does not know. SQLite
        # keeps NaN as NULL, and one zero only.
        score = None if math.isnan(episode.score) else float(episode.score) + 0.0
        counts = (int(episode.frames), int(episode.length))
        end = (int(episode.lives), int(episode.truncated), float(episode.cpu_seconds))
        key = (account.number, int(episode.number), str(episode.phase))
        self._add("episodes", (*key, *counts, score, *end, self._session))
        if episode.play is not None:
            self._add("plays", (account.number, *astuple(episode.play)))
        account.episodes += 1
        account.frames = episode.frames
        account.evaluated += episode.phase == "evaluation"
        account.cpu_seconds += episode.cpu_seconds
        self._changed[account.number] = account

    def note_stateless(self, account: Account, stateless: bool) -> None:
        """Remember whether the agent can go on at any episode.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.note_stateless(account, True)
        ...     account.stateless
        True
        """
        account.stateless = stateless
        self._changed[account.number] = account

    def keep_checkpoint(self, account: Account, checkpoint: Checkpoint, data: bytes) -> None:
        """Keep what a learner saved after an episode, in place of what it saved before.

        The episodes up to there are committed first, the older file goes last: at any moment there
        is one whole checkpoint that the ledger knows.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.keep_checkpoint(account, Checkpoint(0, 0, 0), b"weights")
        ...     ledger.checkpoint_data(account)
        b'weights'
        """
        before, stored = account.checkpoint, write_checkpoint(self.path, account, checkpoint, data)
        self._add("checkpoints", (account.number, *astuple(stored)))
        self.commit()
        account.checkpoint = stored
        if before is not None and before.episodes != stored.episodes:
            checkpoint_file(self.path, account.record.key, before).unlink(missing_ok=True)

    def checkpoint_data(self, account: Account) -> bytes | None:
        """Return what a learner last saved; None where there is nothing, or the file is damaged.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.checkpoint_data(ledger.enter([JobRecord("1f", "random", "pong")])[0])
        """
        if account.checkpoint is None:
            return None
        return read_checkpoint(self.path, account.record.key, account.checkpoint)

    def end(self, account: Account, reason: str | None) -> None:
        """Enter that a job is done, or why it failed.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.end(account, "KeyError: 'pong'")
        ...     account.state
        'failed'
        """
        account.state, account.reason = "done" if reason is None else "failed", reason
        self._changed[account.number] = account

    def reopen(self, account: Account) -> None:
        """Take back that a job failed: it is played again.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.end(account, "KeyError: 'pong'")
        ...     ledger.reopen(account)
        ...     account.state
        'waiting'
        """
        account.state, account.reason = "waiting", None
        self._changed[account.number] = account

    def commit(self) -> None:
        """Make all that was recorded durable, together: half of it would be a damaged ledger.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.commit()
        """
        new_rows, self._new_rows = self._new_rows, {}
        changed, self._changed = self._changed, {}
        if not new_rows and not changed:
            return
        with self._transaction() as database:
            for table, rows in new_rows.items():
                insert(database, table, rows)
            insert(database, "jobs", map(_job_row, changed.values()))

    def check_there(self) -> None:
        """Refuse to go on where somebody removed the file.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.check_there()
        """
        self._file.check_there()

    def _add(self, table: str, row: Row) -> None:
        self._new_rows.setdefault(table, []).append(row)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or, interrupted by a signal or the disk, nothing."""
        with self._file.explained_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._database.rollback()
                raise

    def _accounts(self) -> dict[str, Account]:
        """The accounts of all jobs of the file, by key."""
        rows = self._database.execute(
            f"SELECT j.job, {', '.join(f'j.{name}' for name in JobRecord._fields)}, "
            "stateless, state, reason, played, COALESCE(e.frames, 0), COALESCE(e.evaluated, 0), "
            "COALESCE(seconds, 0.0), c.episode, c.frames, c.evaluated, c.sha256 "
            "FROM jobs AS j LEFT JOIN checkpoints AS c ON c.job = j.job LEFT JOIN (SELECT job, "
            "MAX(frames) AS frames, SUM(phase = 'evaluation') AS evaluated, SUM(cpu_seconds) AS seconds "
            "FROM episodes GROUP BY job) AS e ON e.job = j.job"
        )
        accounts = {}
        width = 1 + len(JobRecord._fields)
        for row in rows:
            record = JobRecord(*row[1:width])
            stateless, state, reason, played, frames, evaluated, seconds = row[width:-4]
            stateless = None if stateless is None else bool(stateless)
            checkpoint = None if row[-4] is None else Checkpoint(*row[-4:])
            progress = played, frames, evaluated, seconds
            account = Account(record, row[0], stateless, state, reason, *progress, checkpoint)
            accounts[record.key] = account
        return accounts

    def _compare(self, account: Account, episode: Episode) -> None:
        self.commit()
        stored = self._database.execute(
            f"SELECT {', '.join(_COMPARED)} FROM episodes WHERE job = ? AND episode = ?",
            (account.number, episode.number),
        ).fetchone()
        for name, before in zip(_COMPARED, stored, strict=True):
            now = getattr(episode, name)
            if before != now and not (before is None and now != now):  # SQLite keeps NaN as NULL
                raise JobError(
                    f"episode {episode.number} was played again and differs in {name}: {before} "
                    f"before, {now} now. The agent does not depend on its generator and its saved "
                    f"state alone: correct that"
                )


def _job_row(account: Account) -> Row:
    stateless = None if account.stateless is None else int(account.stateless)
    ending = (account.state, account.reason, account.episodes)
    return (account.number, *account.record, stateless, *ending)


def checkpoint_file(ledger: Path, key: str, checkpoint: Checkpoint) -> Path:
    """Return the file of a checkpoint, in a folder beside the ledger; no name comes from the ledger.

    >>> checkpoint_file(Path("run/ledger.sqlite"), "1f", Checkpoint(3, 900, 0)).name
    '1f-3.checkpoint'
    """
    return ledger.with_name("checkpoints") / f"{key}-{int(checkpoint.episodes)}.checkpoint"


def write_checkpoint(
    ledger: Path, account: Account, checkpoint: Checkpoint, data: bytes
) -> Checkpoint:
    """Keep the bytes of a checkpoint; return it with their hash."""
    path = checkpoint_file(ledger, account.record.key, checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():  # writing would follow it
        path.unlink()
    write_bytes(data, path)
    return replace(checkpoint, sha256=hashlib.sha256(data).hexdigest())


def read_checkpoint(ledger: Path, key: str, checkpoint: Checkpoint) -> bytes | None:
    """Return the bytes of a checkpoint; None where there is no such file, or another than was written."""
    path = checkpoint_file(ledger, key, checkpoint)
    if path.is_symlink() or not path.is_file():
        return None
    data = path.read_bytes()
    return data if hashlib.sha256(data).hexdigest() == checkpoint.sha256 else None


def _refuse_doubles(records: Sequence[JobRecord]) -> None:
    """Refuse jobs that results could not distinguish: the same agent, game, variant and seed twice."""
    identities: set[tuple[object, ...]] = set()
    for record in records:
        if record.identity in identities:
            raise InputError(
                f"Two jobs are {shorten(record.agent)} on {shorten(record.game)}, seed {record.seed}. "
                f"Give one of the agents another name, or leave one out."
            )
        identities.add(record.identity)


def _refuse_other_settings(record: JobRecord, stored: JobRecord | None) -> None:
    """Refuse a job whose place in the results is taken by one that was played under other settings."""
    if stored is None:
        return
    differing = (name for name in _SETTINGS if getattr(stored, name) != getattr(record, name))
    name = next(differing, "settings")
    raise InputError(
        f"The ledger has {shorten(record.agent)} on {shorten(record.game)}, seed {record.seed}, with "
        f"another {name}: {shorten(getattr(stored, name))} there, {shorten(getattr(record, name))} in "
        f"the plan. Two protocols or budgets do not mix in one ledger: choose another folder with "
        f"`--output`."
    )


def _versions() -> dict[str, str]:
    """The installed versions by name; absent packages are left out."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return dict(sorted(versions.items()))

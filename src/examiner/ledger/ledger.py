"""The ledger: every episode of a run, kept in one SQLite file by one driver, never lost, never doubled."""

from __future__ import annotations

import json
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

from examiner.ledger.checkpoints import CheckpointFolder
from examiner.ledger.contents import (
    Account,
    Checkpoint,
    Episode,
    JobRecord,
    accounts_of,
    insert,
    refuse_doubles,
    refuse_holes,
)
from examiner.ledger.file import LedgerFile
from examiner.ledger.integrity import Row, insert_episodes, insert_sealed, seal_row
from examiner.ledger.schema import PLAYS
from examiner.workers import JobError

_COMPARED = ("phase", "frames", "length", "score", "lives", "truncated")
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
        self._checkpoints = CheckpointFolder(self.path.with_name("checkpoints"))
        self._file = LedgerFile(self.path)
        self._database = self._file.database
        self._fresh: list[Row] = []  # episodes that go into the file together
        self._ends: list[Row] = []  # how plays among them ended
        self._changed: set[int] = set()  # jobs whose rows want new seals
        try:
            self._session = self._begin_session(plan, _versions() | dict(versions or {}))
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
        refuse_doubles(records)
        with self._file.told():
            refuse_holes(self._database)
            with self._writing() as database:
                insert(records, database)
            self.commit()
            return accounts_of(records, self._database)

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
        # Plain numbers: environments may give those of numpy, which SQLite does not know.
        row = (
            *(account.number, int(episode.number), str(episode.phase), int(episode.frames)),
            *(
                int(episode.length),
                float(episode.score),
                int(episode.lives),
                int(episode.truncated),
            ),
            *(float(episode.cpu_seconds), self._session),
        )
        self._fresh.append(row)
        if episode.play is not None:
            self._ends.append((account.number, *astuple(episode.play)))
        account.episodes += 1
        account.frames = episode.frames
        account.evaluated += episode.phase == "evaluation"
        account.cpu_seconds += episode.cpu_seconds

    def note_stateless(self, account: Account, stateless: bool) -> None:
        """Remember whether the agent can go on at any episode.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.note_stateless(account, True)
        ...     account.stateless
        True
        """
        if account.stateless != stateless:
            self._set(account, stateless=stateless)

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
        before, name = account.checkpoint, f"{account.record.key}-{checkpoint.episodes}.checkpoint"
        stored = replace(checkpoint, file=name, sha256=self._checkpoints.write(name, data))
        with self._writing() as database:
            insert_sealed(database, "checkpoints", [(account.number, *astuple(stored))])
        self.commit()
        account.checkpoint = stored
        if before is not None and before.file != name:
            self._checkpoints.remove(before.file)

    def checkpoint_data(self, account: Account) -> bytes | None:
        """Return what a learner last saved; None where there is nothing, or the file is damaged.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.checkpoint_data(ledger.enter([JobRecord("1f", "random", "pong")])[0])
        """
        if account.checkpoint is None:
            return None
        return self._checkpoints.read(account.checkpoint.file, account.checkpoint.sha256)

    def end(self, account: Account, reason: str | None) -> None:
        """Enter that a job is done, or why it failed.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([JobRecord("1f", "random", "pong")])
        ...     ledger.end(account, "KeyError: 'pong'")
        ...     account.state
        'failed'
        """
        self._set(account, state="done" if reason is None else "failed", reason=reason)

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
        self._set(account, state="waiting", reason=None)

    def commit(self) -> None:
        """Make all that was recorded durable.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.commit()
        """
        self._flush()
        with self._file.told():
            if self._database.in_transaction:
                self._database.execute("COMMIT")

    def check_there(self) -> None:
        """Refuse to go on where somebody removed the file.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.check_there()
        """
        self._file.check_there()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database to write to; news that arrive together are committed together, by `commit`.

        Who is interrupted on the way, by a signal or the disk, gives up all since the last commit: half
        of it would be a damaged ledger.
        """
        with self._file.told():
            if not self._database.in_transaction:
                self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._fresh, self._ends, self._changed = [], [], set()
                with suppress(sqlite3.Error):
                    self._database.rollback()
                raise

    def _flush(self) -> None:
        if self._fresh or self._changed:
            with self._writing() as database:
                insert_episodes(database, self._fresh)
                if self._ends:
                    database.execute(PLAYS)
                    insert_sealed(database, "plays", self._ends)
                for job in self._changed:
                    seal_row(database, "jobs", job)
            self._fresh, self._ends, self._changed = [], [], set()

    def _set(self, account: Account, **columns: object) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        row = (*columns.values(), account.number)
        with self._writing() as database:
            self._changed.add(account.number)
            database.execute(f"UPDATE jobs SET {names} WHERE job = ?", row)
        for name, value in columns.items():
            setattr(account, name, value)

    def _begin_session(self, plan: str, versions: Mapping[str, str]) -> int:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        about = (started, socket.gethostname(), os.getpid(), json.dumps(versions), plan)
        with self._writing() as database:
            query = "SELECT COALESCE(MAX(session), 0) + 1 FROM sessions"
            session: int = database.execute(query).fetchone()[0]
            insert_sealed(database, "sessions", [(session, *about)])
        self.commit()
        return session

    def _compare(self, account: Account, episode: Episode) -> None:
        self._flush()
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


def _versions() -> dict[str, str]:
    """The installed versions by name; absent packages are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))

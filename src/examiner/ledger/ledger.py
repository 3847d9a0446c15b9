"""The ledger: every episode of a run, kept in one SQLite file by one driver, never lost, never doubled."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from examiner.arena.play.episodes import Episode
from examiner.arena.play.job import Job
from examiner.ledger.accounts import (
    INSERT_JOB,
    Account,
    account_rows,
    count_episodes,
    job_row,
    refuse_doubles,
    refuse_holes,
    refuse_other_settings,
)
from examiner.ledger.checkpoints import Checkpoint, CheckpointFiles
from examiner.ledger.file import LedgerFile
from examiner.ledger.versions import versions
from examiner.workers import JobError

_COMPARED = ("phase", "frames", "length", "score", "lives", "truncated")


class Ledger:
    """An open ledger; only one driver can have it open, others may read.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ledger.sqlite"
    >>> with Ledger(path) as ledger:
    ...     (account,) = ledger.enter([Job("random", "random", game="pong", episodes=1)])
    ...     ledger.record(account, Episode(0, 500, 500, -20.0, 0, False, 0.1))
    ...     ledger.end(account, None)
    >>> with Ledger(path) as ledger:
    ...     ledger.enter([account.job])[0].episodes
    1
    """

    def __init__(self, path: str | Path, *, plan: str = "") -> None:
        self.path = Path(path)
        self._files = CheckpointFiles(self.path.with_name("checkpoints"))
        self._file = LedgerFile(self.path)
        self._database = self._file.database
        try:
            self._session = self._begin_session(plan)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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

    def enter(self, jobs: Sequence[Job], splits: Sequence[str] = ()) -> list[Account]:
        """Enter jobs that are not there yet, and return the account of each.

        `splits` says of each whether its game is for tuning ("train") or for testing ("test").

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     [account.state for account in ledger.enter([Job("a", "random", game="pong")])]
        ['waiting']
        """
        refuse_doubles(jobs)
        with self._file.told():
            refuse_holes(self._database)
            known = account_rows(self._database)
            new = [place for place, job in enumerate(jobs) if job.key not in known]
            if new and known:
                refuse_other_settings([jobs[place] for place in new], self._database)
            self._write()
            rows = [job_row(jobs[place], splits[place] if splits else "test") for place in new]
            self._database.executemany(INSERT_JOB, rows)
            self.commit()
            known = account_rows(self._database) if new else known
            accounts = [known[job.key].account(job) for job in jobs]
            count_episodes(accounts, self._database)
            return accounts

    def record(self, account: Account, episode: Episode) -> None:
        """Keep an episode; one that is there already must be the same again.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([Job("a", "random", game="pong")])
        ...     ledger.record(account, Episode(0, 500, 500, -20.0, 0, False, 0.1))
        ...     ledger.record(account, Episode(0, 500, 500, -19.0, 0, False, 0.1))
        Traceback (most recent call last):
        ...
        examiner.workers.streaming.JobError: episode 0 was played again and differs in score: -20.0 \
before, -19.0 now. The agent does not depend on its generator and its saved state alone: correct that
        """
        if episode.number < account.episodes:
            self._compare(account, episode)
            return
        if episode.number > account.episodes:
            raise JobError(
                f"episode {episode.number} came after {account.episodes} episodes: one is missing"
            )
        row = (
            *(account.number, episode.number, episode.phase, episode.frames, episode.length),
            *(episode.score, episode.lives, int(episode.truncated), episode.cpu_seconds),
            self._session,
        )
        with self._file.told():
            self._write()
            self._database.execute(
                "INSERT INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )
        account.episodes += 1
        account.frames = episode.frames
        account.evaluated += episode.phase == "evaluation"
        account.cpu_seconds += episode.cpu_seconds

    def note_stateless(self, account: Account, stateless: bool) -> None:
        """Remember whether the agent can go on at any episode.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([Job("a", "random", game="pong")])
        ...     ledger.note_stateless(account, True)
        ...     account.stateless
        True
        """
        if account.stateless != stateless:
            account.stateless = stateless
            self._set(account, "stateless", int(stateless))

    def keep_checkpoint(self, account: Account, checkpoint: Checkpoint, data: bytes) -> None:
        """Keep what a learner saved after an episode, in place of what it saved before.

        The episodes up to there are committed first, the older file goes last: at any moment there
        is one whole checkpoint that the ledger knows.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([Job("a", "random", game="pong")])
        ...     ledger.keep_checkpoint(account, Checkpoint(0, 0, 0), b"weights")
        ...     ledger.checkpoint_data(account)
        b'weights'
        """
        before = account.checkpoint
        stored = self._files.write(account.job.key, checkpoint, data)
        with self._file.told():
            self._write()
            self._database.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)",
                (
                    *(account.number, stored.episodes, stored.frames, stored.evaluated),
                    *(stored.file, stored.sha256),
                ),
            )
        self.commit()
        account.checkpoint = stored
        if before is not None and before.file != stored.file:
            self._files.remove(before)

    def checkpoint_data(self, account: Account) -> bytes | None:
        """Return what a learner last saved; None where there is nothing, or the file is damaged.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.checkpoint_data(ledger.enter([Job("a", "random", game="pong")])[0])
        """
        return None if account.checkpoint is None else self._files.read(account.checkpoint)

    def end(self, account: Account, reason: str | None) -> None:
        """Enter that a job is done, or why it failed.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([Job("a", "random", game="pong")])
        ...     ledger.end(account, "KeyError: 'pong'")
        ...     account.state
        'failed'
        """
        account.state, account.reason = ("done" if reason is None else "failed"), reason
        self._set(account, "state", account.state)
        self._set(account, "reason", reason)

    def reopen(self, account: Account) -> None:
        """Take back that a job failed: it is played again.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     (account,) = ledger.enter([Job("a", "random", game="pong")])
        ...     ledger.end(account, "KeyError: 'pong'")
        ...     ledger.reopen(account)
        ...     account.state
        'waiting'
        """
        account.state, account.reason = "waiting", None
        self._set(account, "state", account.state)
        self._set(account, "reason", None)

    def commit(self) -> None:
        """Make all that was recorded durable.

        >>> import tempfile
        >>> with Ledger(Path(tempfile.mkdtemp()) / "ledger.sqlite") as ledger:
        ...     ledger.commit()
        """
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

    def _write(self) -> None:
        """Begin to write, where that has not begun: news that arrive together are committed together."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")

    def _set(self, account: Account, column: str, value: object) -> None:
        with self._file.told():
            self._write()
            self._database.execute(
                f"UPDATE jobs SET {column} = ? WHERE job = ?", (value, account.number)
            )

    def _begin_session(self, plan: str) -> int:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = (started, socket.gethostname(), os.getpid(), json.dumps(versions()), plan)
        with self._file.told():
            made = self._database.execute(
                "INSERT INTO sessions (started, host, pid, versions, plan) VALUES (?, ?, ?, ?, ?)",
                row,
            )
        assert made.lastrowid is not None
        return made.lastrowid

    def _compare(self, account: Account, episode: Episode) -> None:
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

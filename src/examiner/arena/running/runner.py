"""Runs: many jobs on a crew, every episode in the ledger, resumed wherever they were left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from examiner.arena.plans.plan import Plan
from examiner.arena.play.episodes import Episode
from examiner.arena.play.job import Job
from examiner.arena.running.performance import Saved, Start, perform_job
from examiner.arena.running.standing import Scoreboard, Watcher
from examiner.ledger.accounts import Account
from examiner.ledger.ledger import Ledger
from examiner.wording import InputError, shorten
from examiner.workers import JobError, Limits
from examiner.workers.crew import Crew
from examiner.workers.processes import ProcessCrew
from examiner.workers.streaming import oversee

_TELL_EVERY_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that could not be played to its end, and why."""

    job: Job
    reason: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of a run: jobs done before and now, those that failed, and what was played now."""

    ledger: Path
    jobs: int
    done_before: int
    done: int
    failed: tuple[FailedJob, ...]
    episodes: int
    frames: int
    seconds: float


def run(
    plan: Plan,
    ledger: str | Path,
    *,
    workers: int = 1,
    crew: Callable[[], Crew] | None = None,
    again: bool = True,
    watcher: Watcher | None = None,
) -> RunOutcome:
    """Play all jobs of a plan that are not done yet; see `run_jobs`. The ledger's folder is made.

    >>> import tempfile
    >>> from examiner.arena.plans.file import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\nepisodes = 1\\n[[agents]]\\nentry = "random"')
    >>> run(plan, Path(tempfile.mkdtemp()) / "pilot" / "ledger.sqlite").done
    1
    """
    jobs = plan.jobs()
    ledger = Path(ledger)
    try:
        ledger.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"Cannot make the folder {shorten(ledger.parent, 200)}: {problem.strerror}. Choose another."
        ) from None
    return run_jobs(
        jobs,
        ledger,
        splits=[plan.split(job.game) for job in jobs],
        plan=plan.source,
        workers=workers,
        crew=crew,
        limits=plan.limits,
        folders=() if plan.folder is None else (str(plan.folder),),
        again=again,
        watcher=watcher,
    )


def run_jobs(
    jobs: Sequence[Job],
    ledger: str | Path,
    *,
    splits: Sequence[str] = (),
    plan: str = "",
    workers: int = 1,
    crew: Callable[[], Crew] | None = None,
    limits: Limits | None = None,
    folders: Sequence[str] = (),
    again: bool = True,
    watcher: Watcher | None = None,
) -> RunOutcome:
    """Play all jobs that are not done yet and keep every episode in the ledger.

    A job that crashes, hangs, hoards memory or kills its process fails with a reason; the others go
    on. Jobs that failed in an earlier run are played `again`. Runs on `workers` local processes, or on
    what `crew` makes for `perform_job`. `limits` are each job's; `folders` are searched for agents;
    `watcher` is told how the run stands, several times a second.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ledger.sqlite"
    >>> outcome = run_jobs([Job("random", "random", game="pong", episodes=1)], path)
    >>> outcome.done, outcome.episodes
    (1, 1)
    """
    limits = limits or Limits()
    begun = time.monotonic()
    with Ledger(ledger, plan=plan) as book:
        accounts = book.enter(jobs, splits)
        before = [account.state for account in accounts]
        driver = _Driver(book, accounts, tuple(folders), watcher)
        waiting = [
            place
            for place, state in enumerate(before)
            if state == "waiting" or (state == "failed" and again)
        ]
        for place in waiting:
            if before[place] == "failed":
                book.reopen(accounts[place])
        episodes, frames = _totals(accounts)
        driver.board.done = before.count("done")
        driver.board.failed = len(accounts) - len(waiting) - driver.board.done
        if waiting:
            log = Path(ledger).with_name("output.log")
            hired = crew() if crew else _processes(min(workers, len(waiting)), limits, log)
            try:
                with hired:
                    oversee(hired, waiting, driver, limits=limits)
            except OSError as problem:
                raise InputError(
                    f"Cannot go on: {problem}. All episodes committed so far are kept. Mend that, then "
                    f"run the same command again."
                ) from problem
        driver.tell()
        return RunOutcome(
            ledger=Path(ledger),
            jobs=len(accounts),
            done_before=before.count("done"),
            done=sum(account.state == "done" for account in accounts) - before.count("done"),
            failed=tuple(
                FailedJob(account.job, account.reason or "")
                for account in accounts
                if account.state == "failed"
            ),
            episodes=_totals(accounts)[0] - episodes,
            frames=_totals(accounts)[1] - frames,
            seconds=time.monotonic() - begun,
        )


def _processes(count: int, limits: Limits, log: Path) -> ProcessCrew:
    if count < 1:
        raise InputError(f"Cannot play with {count} workers. Give at least 1.")
    return ProcessCrew(perform_job, count, memory_bytes=limits.memory_bytes, log=log)


def _totals(accounts: Sequence[Account]) -> tuple[int, int]:
    return sum(one.episodes for one in accounts), sum(one.frames for one in accounts)


class _Driver:
    """Oversees a run: gives each job its start, and keeps what it says."""

    def __init__(
        self,
        ledger: Ledger,
        accounts: Sequence[Account],
        folders: tuple[str, ...],
        watcher: Watcher | None,
    ) -> None:
        self.board = Scoreboard(accounts)
        self._ledger, self._accounts, self._folders = ledger, accounts, folders
        self._watcher, self._told = watcher, time.monotonic()

    def begin(self, place: int) -> Start:
        account = self._accounts[place]
        self.board.begin(place)
        data = self._ledger.checkpoint_data(account)
        return Start(
            job=account.job,
            folders=self._folders,
            episodes=account.episodes,
            frames=account.frames,
            evaluated=account.evaluated,
            stateless=account.stateless,
            checkpoint=account.checkpoint,
            data=data,
            seconds=account.cpu_seconds,
        )

    def hear(self, place: int, message: object) -> None:
        account = self._accounts[place]
        if isinstance(message, Episode):
            episodes, frames = account.episodes, account.frames
            self._ledger.record(account, message)
            self.board.count(account, episodes, frames)
            self.board.playing[place].append(message.score)
        elif isinstance(message, Saved):
            if message.checkpoint.episodes > account.episodes:
                raise JobError("it saved itself after an episode that was never heard of")
            self._ledger.keep_checkpoint(account, message.checkpoint, message.data)
        else:
            self._ledger.note_stateless(account, cast("bool", message))

    def end(self, place: int, reason: str | None) -> None:
        self._ledger.end(self._accounts[place], reason)
        self.board.end(place, failed=reason is not None)

    def breathe(self) -> None:
        self._ledger.commit()
        if time.monotonic() - self._told >= _TELL_EVERY_SECONDS:
            self._ledger.check_there()
            self.tell()

    def tell(self) -> None:
        self._told = time.monotonic()
        if self._watcher is not None:
            self._watcher(self.board.standing())

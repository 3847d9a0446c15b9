"""Runs: many jobs on a crew, every episode in the ledger, resumed where they were left; how they stand."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, text
from examiner.arena.gvgai.plan import GvgaiPlan
from examiner.arena.gvgai.play import GvgaiPlay
from examiner.arena.job import Job, Plan
from examiner.arena.plans import plan
from examiner.arena.play.episodes import Saved, Start, packages_of, perform_job
from examiner.arena.play.judging import Flavour
from examiner.ledger import Account, Episode, JobRecord, Ledger
from examiner.messages import InputError, counted, shorten
from examiner.workers import Crew, JobError, Limits, ProcessCrew, oversee

AnyJob: TypeAlias = Job | GvgaiPlay
AnyPlan: TypeAlias = Plan | GvgaiPlan
_WINDOW_SECONDS = 30.0  # speed is that of the last half minute: jobs differ
_SCORES = 100  # as many as performance is usually averaged over


@dataclass(frozen=True, slots=True)
class JobStanding:
    """How a job that is being played stands; `score` is the mean of its last 100 episodes here."""

    agent: str
    game: str
    seed: int
    episodes: int
    frames: int
    share: float
    score: float


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands: jobs that wait, play, are done and failed; frames a second; seconds to go."""

    jobs: int
    done: int
    failed: int
    playing: tuple[JobStanding, ...]
    episodes: int
    frames: int
    frames_per_second: float
    share: float
    seconds_left: float


Watcher = Callable[[Standing], None]


def share_done(job: AnyJob, episodes: int, frames: int) -> float:
    """The share of a job that is done, by whichever of its budgets is nearer its end.

    >>> share_done(Job("a", "random", game="pong", episodes=10), 5, 1000)
    0.5
    """
    shares = [0.0]
    if job.episodes is not None:
        shares.append(episodes / job.episodes)
    if job.last_frame is not None:
        shares.append(frames / job.last_frame)
    return min(1.0, max(shares))


@dataclass(slots=True)
class Scoreboard:
    """Keeps count while a run goes on; jobs and their accounts are known by their index."""

    jobs: Sequence[AnyJob]
    accounts: Sequence[Account]
    playing: dict[int, deque[float]] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    episodes: int = 0
    frames: int = 0
    _shares: float = 0.0
    _counted: dict[int, tuple[int, int, float]] = field(default_factory=dict)
    _history: deque[tuple[float, int, float]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        for index in range(len(self.jobs)):
            self.count(index)
        self._history.append((time.monotonic(), self.frames, self._shares))

    def count(self, index: int) -> None:
        """Take in what an account gained since it was last counted."""
        episodes, frames, share = self._counted.get(index, (0, 0, 0.0))
        account = self.accounts[index]
        now = account.episodes, account.frames, self._share(index)
        self.episodes += now[0] - episodes
        self.frames += now[1] - frames
        self._shares += now[2] - share
        self._counted[index] = now

    def standing(self) -> Standing:
        """Sum up."""
        now = time.monotonic()
        self._history.append((now, self.frames, self._shares))
        while len(self._history) > 2 and now - self._history[0][0] > _WINDOW_SECONDS:
            self._history.popleft()
        then, frames, shares = self._history[0]
        seconds = max(now - then, 1e-9)
        speed = (self._shares - shares) / seconds
        left = len(self.jobs) - self.failed - self._shares
        return Standing(
            jobs=len(self.jobs),
            done=self.done,
            failed=self.failed,
            playing=tuple(self._of_job(index) for index in sorted(self.playing)),
            episodes=self.episodes,
            frames=self.frames,
            frames_per_second=(self.frames - frames) / seconds,
            share=self._shares / max(1, len(self.jobs)),
            seconds_left=max(0.0, left) / speed if speed > 0 else float("nan"),
        )

    def begin(self, index: int) -> None:
        """Take note that a job is being played."""
        self.playing[index] = deque(maxlen=_SCORES)

    def end(self, index: int, *, failed: bool) -> None:
        """Take note that a job has ended."""
        self.playing.pop(index, None)
        if failed:  # what it played is no part of what there is to do any more
            self._shares -= self._counted[index][2]
        self.failed += failed
        self.done += not failed

    def _share(self, index: int) -> float:
        account = self.accounts[index]
        trained = account.episodes - account.evaluated
        return share_done(self.jobs[index], trained, account.frames)

    def _of_job(self, index: int) -> JobStanding:
        job, account, scores = self.jobs[index], self.accounts[index], self.playing[index]
        return JobStanding(
            *(job.agent, job.game, job.seed, account.episodes, account.frames),
            self._share(index),
            sum(scores) / len(scores) if scores else float("nan"),
        )


LEDGER = "ledger.sqlite"
"""The ledger's file in the folder of a run."""
_TELL_EVERY_SECONDS = 0.25  # as often as an eye follows


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that could not be played to its end, and why."""

    job: AnyJob
    reason: str


class FailedJobs(Table):
    """The jobs that failed, and why; `flavour` is absent where no game has modes."""

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    flavour: tuple[str, ...] | None = name(
        "Mode and difficulty of the game, or its level", default=None
    )
    seed: NDArray[np.int64] = count("Seed of the run")
    reason: tuple[str, ...] = text("Why the job failed")


def failed_jobs(failures: Sequence[FailedJob]) -> FailedJobs:
    """Return failed jobs as a table.

    >>> job = Job("mine", "random", environment="gymnasium", game="CartPole-v1")
    >>> failed_jobs([FailedJob(job, "it ran out of memory")])["mine"].reason
    'it ran out of memory'
    """
    jobs = [failure.job for failure in failures]
    flavours = [Flavour(job.mode, job.difficulty).short for job in jobs]
    return FailedJobs(
        agent=[job.agent for job in jobs],
        game=[job.game for job in jobs],
        flavour=flavours if any(flavours) else None,
        seed=[job.seed for job in jobs],
        reason=[failure.reason for failure in failures],
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunOutcome(Answer):
    """The outcome of a run: jobs completed before and now, failed jobs, and what was played now.

    `failures` are the failed jobs themselves, `failed` is their table. `episodes_file` is set where the
    episodes were exported.

    >>> RunOutcome(Path("pilot/ledger.sqlite"), 4, 1, 3, (), 30, 9_000, 2.5).headline
    '4 of 4 jobs done (1 before); played 30 episodes, 9,000 frames in 2.5 s.'
    """

    kind = "run"

    ledger: Path
    jobs: int
    done_before: int
    done_now: int
    failures: tuple[FailedJob, ...]
    episodes: int
    frames: int
    seconds: float
    episodes_file: Path | None = None

    @property
    def done(self) -> int:
        """The number of jobs that are done, before or now."""
        return self.done_before + self.done_now

    @property
    def failed(self) -> FailedJobs:
        """The failed jobs as a table."""
        return failed_jobs(self.failures)

    @property
    def headline(self) -> str:
        """How many jobs are done, and what was played."""
        before = f" ({self.done_before:,} before)" if self.done_before else ""
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return (
            f"{self.done:,} of {counted(self.jobs, 'job')} done{before}{failed}; played "
            f"{counted(self.episodes, 'episode')}, {counted(self.frames, 'frame')} in "
            f"{self.seconds:,.1f} s."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The failed jobs."""
        return {"failed": self.failed}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Where the episodes are stored, and how many jobs, episodes and frames there were."""
        file = None if self.episodes_file is None else str(self.episodes_file)
        return {
            "ledger": Scalar(str(self.ledger), "File of the ledger"),
            "episodes_file": Scalar(file, "Parquet file of all episodes"),
            "jobs": Scalar(self.jobs, "Jobs of the plan"),
            "done": Scalar(self.done, "Jobs that are done"),
            "done_before": Scalar(self.done_before, "Jobs that were done before"),
            "episodes": Scalar(self.episodes, "Episodes played now"),
            "frames": Scalar(self.frames, "Frames played now"),
            "seconds": Scalar(self.seconds, "Duration", "s"),
        }


def run(
    what: AnyPlan | str | Path | Sequence[Job],
    output: str | Path,
    *,
    workers: int | Callable[[], Crew] = 1,
    limits: Limits | None = None,
    again: bool = True,
    watcher: Watcher | None = None,
) -> RunOutcome:
    """Play all jobs that are not done yet and keep every episode in the ledger.

    `what` is a plan, its file or name, or jobs; `output` the run's folder, which is made, or the ledger
    itself (`….sqlite`). A job that crashes, hangs, hoards memory or kills its process fails with a
    reason; the others go on. Jobs that failed in an earlier run are played `again`. Runs on so many
    local processes, or on the crew that `workers` makes for `perform_job`. `limits` are each job's, by
    default the plan's; `watcher` is told how the run stands, several times a second.

    >>> import tempfile
    >>> outcome = run([Job("random", "random", game="pong", episodes=1)], tempfile.mkdtemp())
    >>> outcome.done, outcome.episodes
    (1, 1)
    """
    work, path, begun = _work(what), _ledger_path(output), time.monotonic()
    limits = work.limits if limits is None else limits
    with Ledger(path, plan=work.source, versions=work.versions) as ledger:
        driver = _Driver(work, ledger, ledger.enter(work.records), watcher)
        before = [account.state for account in driver.accounts]
        wanted = ("waiting", "failed") if again else ("waiting",)
        waiting = [index for index, state in enumerate(before) if state in wanted]
        driver.reopen(waiting)
        board = driver.board
        episodes, frames = board.episodes, board.frames
        if waiting:
            most = len(waiting)
            crew = workers() if callable(workers) else work.crew(min(workers, most), limits, path)
            try:
                with crew:
                    oversee(crew, waiting, driver, limits=limits)
            except OSError as problem:
                raise InputError(
                    f"Cannot go on: {problem}. All episodes committed so far are kept. Mend that, then "
                    f"run the same command again."
                ) from problem
        driver.tell()
        return RunOutcome(
            ledger=path,
            jobs=len(before),
            done_before=before.count("done"),
            done_now=board.done - before.count("done"),
            failures=driver.failures(),
            episodes=board.episodes - episodes,
            frames=board.frames - frames,
            seconds=time.monotonic() - begun,
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """The jobs of a run, and what goes with them."""

    jobs: Sequence[AnyJob]
    records: Sequence[JobRecord]
    source: str = ""
    limits: Limits = Limits()  # noqa: RUF009  frozen
    folders: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    plan: AnyPlan | None = None

    def crew(self, count: int, limits: Limits, ledger: Path) -> Crew:
        """So many local processes that can play these jobs."""
        if count < 1:
            raise InputError(f"Cannot play with {count} workers. Give at least 1.")
        log = ledger.with_name("output.log")
        if isinstance(self.plan, GvgaiPlan):
            return self.plan.crew(count, limits, log)
        return ProcessCrew(
            perform_job,
            count,
            memory_bytes=limits.memory_bytes,
            log=log,
            modules=packages_of(job for job in self.jobs if isinstance(job, Job)),
        )


def _work(what: AnyPlan | str | Path | Sequence[Job]) -> _Work:
    if isinstance(what, str | Path):
        what = plan(what)
    if not isinstance(what, AnyPlan):
        return _Work(tuple(what), [job.record() for job in what])
    jobs = what.jobs()
    return _Work(
        jobs,
        [job.record(what.split(job.game)) for job in jobs],
        what.source,
        what.limits,
        () if what.folder is None else (str(what.folder),),
        what.versions() if isinstance(what, GvgaiPlan) else {},
        what,
    )


def _ledger_path(output: str | Path) -> Path:
    path = Path(output)
    if path.suffix != ".sqlite" and not path.is_file():
        path = path / LEDGER
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"Cannot make the folder {shorten(path.parent, 200)}: {problem.strerror}. Choose another."
        ) from None
    return path


class _Driver:
    """Oversees a run: gives each job its start, and keeps what it says."""

    def __init__(
        self, work: _Work, ledger: Ledger, accounts: Sequence[Account], watcher: Watcher | None
    ) -> None:
        self.accounts, self.board = accounts, Scoreboard(work.jobs, accounts)
        self._work, self._ledger = work, ledger
        self._watcher, self._told = watcher, time.monotonic()

    def reopen(self, indices: Sequence[int]) -> None:
        for account in (self.accounts[index] for index in indices):
            if account.state == "failed":
                self._ledger.reopen(account)
        states = [account.state for account in self.accounts]
        self.board.done, self.board.failed = states.count("done"), states.count("failed")

    def failures(self) -> tuple[FailedJob, ...]:
        return tuple(
            FailedJob(job, account.reason or "")
            for job, account in zip(self._work.jobs, self.accounts, strict=True)
            if account.state == "failed"
        )

    def begin(self, index: int) -> Start | GvgaiPlay:
        job, account = self._work.jobs[index], self.accounts[index]
        self.board.begin(index)
        if isinstance(job, GvgaiPlay):  # one episode, and nothing to go on from
            return job
        data = self._ledger.checkpoint_data(account)
        return Start(job, replace(account), data, self._work.folders)

    def hear(self, index: int, message: object) -> None:
        account = self.accounts[index]
        if isinstance(message, Episode):
            self._ledger.record(account, message)
            self.board.count(index)
            self.board.playing[index].append(message.score)
        elif isinstance(message, Saved):
            if message.checkpoint.episodes > account.episodes:
                raise JobError("it saved itself after an episode that was never heard of")
            self._ledger.keep_checkpoint(account, message.checkpoint, message.data)
        else:
            self._ledger.note_stateless(account, cast("bool", message))

    def end(self, index: int, reason: str | None) -> None:
        self._ledger.end(self.accounts[index], reason)
        self.board.end(index, failed=reason is not None)

    def breathe(self) -> None:
        self._ledger.commit()
        if time.monotonic() - self._told >= _TELL_EVERY_SECONDS:
            self._ledger.check_there()
            self.tell()

    def tell(self) -> None:
        self._told = time.monotonic()
        if self._watcher is not None:
            self._watcher(self.board.standing())

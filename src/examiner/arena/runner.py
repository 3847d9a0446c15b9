"""Runs: many jobs on a crew, every episode in the ledger, resumed where they were left."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, scalar, text
from examiner.arena.episodes import BEGINNING, Saved, Start, packages_of, perform_job
from examiner.arena.gvgai.plan import GvgaiPlan
from examiner.arena.gvgai.play import GvgaiPlay
from examiner.arena.job import Flavour, Job
from examiner.arena.plan import JobLimits, Plan
from examiner.arena.plans import plan as named_plan
from examiner.ledger import Account, Checkpoint, Episode, Ledger
from examiner.messages import InputError, counted, shorten
from examiner.workers import Crew, JobError, Limits, ProcessCrew, oversee

AnyJob: TypeAlias = Job | GvgaiPlay
AnyPlan: TypeAlias = Plan | GvgaiPlan
_NO_LIMITS = JobLimits(silent_seconds=None)
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


LEDGER = "ledger.sqlite"
"""The ledger's file in the folder of a run."""


class FailedJobs(Table):
    """The jobs that failed, and why; `flavour` is absent where no game has modes."""

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    flavour: tuple[str, ...] | None = name(
        "Mode and difficulty of the game, or its level", default=None
    )
    seed: NDArray[np.int64] = count("Seed of the run")
    reason: tuple[str, ...] = text("Why the job failed")


def failed_jobs(failures: Mapping[AnyJob, str]) -> FailedJobs:
    """Return failed jobs with their reasons as a table.

    >>> job = Job("mine", "random", environment="gymnasium", game="CartPole-v1")
    >>> failed_jobs({job: "it ran out of memory"})["mine"].reason
    'it ran out of memory'
    """
    flavours = [Flavour(job.mode, job.difficulty).short for job in failures]
    return FailedJobs(
        agent=[job.agent for job in failures],
        game=[job.game for job in failures],
        flavour=flavours if any(flavours) else None,
        seed=[job.seed for job in failures],
        reason=list(failures.values()),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunOutcome(Answer):
    """The outcome of a run: jobs completed before and now, failed jobs, and what was played now.

    `failures` has the failed jobs with the reasons, `failed` is their table. `episodes_file` is set where
    the episodes were exported.

    >>> RunOutcome(Path("pilot/ledger.sqlite"), None, 4, 4, 1, 30, 9_000, 2.5, {}).headline
    '4 of 4 jobs done (1 before); played 30 episodes, 9,000 frames in 2.5 s.'
    """

    kind = "run"

    ledger: Path = field(metadata=scalar("File of the ledger"))
    episodes_file: Path | None = field(metadata=scalar("Parquet file of all episodes"))
    jobs: int = field(metadata=scalar("Jobs of the plan"))
    done: int = field(metadata=scalar("Jobs that are done"))
    done_before: int = field(metadata=scalar("Jobs that were done before"))
    episodes: int = field(metadata=scalar("Episodes played now"))
    frames: int = field(metadata=scalar("Frames played now"))
    seconds: float = field(metadata=scalar("Duration", "s"))
    failures: Mapping[AnyJob, str]

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
    started = time.monotonic()
    if isinstance(what, AnyPlan | str | Path):
        plan = named_plan(what)
    else:
        plan = Plan((), (), limits=_NO_LIMITS, tuning_games=(), listed=tuple(what))
    limits = limits or plan.limits
    jobs: Sequence[AnyJob] = plan.jobs()
    records = [plan.record(job) for job in jobs]  # type: ignore[arg-type]
    versions = plan.versions()
    path = _ledger_path(
        output
    )  # makes the folder: nothing is left behind by a plan that is refused
    with Ledger(path, plan=plan.source, versions=versions) as ledger:
        driver = _Driver(plan, jobs, ledger, ledger.enter(records), watcher)
        before = [account.state for account in driver.accounts]
        wanted = ("waiting", "failed") if again else ("waiting",)
        waiting = [index for index, state in enumerate(before) if state in wanted]
        driver.reopen(waiting)
        if waiting:
            try:
                with _crew(plan, workers, len(waiting), limits, path) as crew:
                    oversee(crew, waiting, driver, limits=limits)
            except OSError as problem:
                raise InputError(
                    f"Cannot go on: {problem}. All episodes committed so far are kept. Mend that, then "
                    f"run the same command again."
                ) from problem
        driver.report()
        return RunOutcome(
            ledger=path,
            episodes_file=None,
            jobs=len(jobs),
            done=driver.done,
            done_before=before.count("done"),
            episodes=driver.episodes_now,
            frames=driver.frames_now,
            seconds=time.monotonic() - started,
            failures={
                job: account.reason or ""
                for job, account in zip(jobs, driver.accounts, strict=True)
                if account.state == "failed"
            },
        )


def _crew(
    plan: AnyPlan, workers: int | Callable[[], Crew], jobs: int, limits: Limits, ledger: Path
) -> Crew:
    """The crew that somebody makes, or so many local processes that can play these jobs."""
    if callable(workers):
        return workers()
    if workers < 1:
        raise InputError(f"Cannot play with {workers} workers. Give at least 1.")
    count, log = min(workers, jobs), ledger.with_name("output.log")
    if isinstance(plan, GvgaiPlan):
        return plan.crew(count, limits, log)
    modules = packages_of(plan.jobs())
    memory = limits.memory_mib
    return ProcessCrew(perform_job, count, memory_mib=memory, log=log, modules=modules)


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


def resumed(
    job: Job, account: Account, saved: bytes | None, folders: tuple[str, ...] = ()
) -> Start:
    """Return where a job goes on: after its last episode, or a learner from what it last saved.

    >>> job = Job("random", "random", game="pong")
    >>> resumed(job, Account(job.record(), 1, stateless=True, episodes=3), None).reached.episodes
    3
    """
    if account.stateless:
        reached = Checkpoint(account.episodes, account.frames, account.evaluated)
    else:
        reached = (None if saved is None else account.checkpoint) or BEGINNING
    return Start(job, reached, saved, 0, account.cpu_seconds, folders)


class _Driver:
    """Oversees a run: gives each job its start, keeps what it says, and reports how the run stands."""

    def __init__(
        self,
        plan: AnyPlan,
        jobs: Sequence[AnyJob],
        ledger: Ledger,
        accounts: Sequence[Account],
        watcher: Watcher | None,
    ) -> None:
        self.accounts, self.episodes_now, self.frames_now = accounts, 0, 0
        self._plan, self._jobs, self._ledger, self._watcher = plan, jobs, ledger, watcher
        self._scores: dict[int, deque[float]] = {}  # of the jobs that are being played
        self._started = self._reported = time.monotonic()

    def reopen(self, indices: Sequence[int]) -> None:
        for account in (self.accounts[index] for index in indices):
            if account.state == "failed":
                self._ledger.reopen(account)
        states = [account.state for account in self.accounts]
        self.done, self._failed = states.count("done"), states.count("failed")
        self._episodes = sum(account.episodes for account in self.accounts)
        self._frames = sum(account.frames for account in self.accounts)
        self._first_share = self._share(indices)

    def begin(self, index: int) -> Start | GvgaiPlay:
        job, account = self._jobs[index], self.accounts[index]
        self._scores[index] = deque(maxlen=_SCORES)
        if isinstance(job, GvgaiPlay):  # one episode, and nothing to go on from
            return job
        assert isinstance(self._plan, Plan), "its jobs are of frames"
        folders = () if self._plan.folder is None else (str(self._plan.folder),)
        if learnt := self._plan.learnt.get(job):
            played = account.episodes if account.stateless else 0
            reached = Checkpoint(played, learnt.frames, played)
            return Start(job, reached, learnt.saved, learnt.episodes, folders=folders)
        return resumed(job, account, self._ledger.checkpoint_data(account), folders)

    def hear(self, index: int, message: object) -> None:
        account = self.accounts[index]
        if isinstance(message, Episode):
            episodes, frames = account.episodes, account.frames
            self._ledger.record(account, message)
            self.episodes_now += account.episodes - episodes
            self.frames_now += account.frames - frames
            self._scores[index].append(message.score)
        elif isinstance(message, Saved):
            if message.checkpoint.episodes > account.episodes:
                raise JobError("it saved itself after an episode that was never heard of")
            self._ledger.keep_checkpoint(account, message.checkpoint, message.data)
        else:
            self._ledger.note_stateless(account, cast("bool", message))

    def end(self, index: int, reason: str | None) -> None:
        self._ledger.end(self.accounts[index], reason)
        self._scores.pop(index, None)
        self._failed += reason is not None
        self.done += reason is None

    def breathe(self) -> None:
        self._ledger.commit()
        if time.monotonic() - self._reported >= 0.25:  # as often as an eye follows
            self._ledger.check_there()
            self.report()

    def report(self) -> None:
        self._reported = time.monotonic()
        if self._watcher is None:
            return
        seconds = max(self._reported - self._started, 1e-9)
        share = self._share(self._scores)
        speed = (share - self._first_share) / seconds
        self._watcher(
            Standing(
                jobs=len(self._jobs),
                done=self.done,
                failed=self._failed,
                playing=tuple(self._of_job(index) for index in sorted(self._scores)),
                episodes=self._episodes + self.episodes_now,
                frames=self._frames + self.frames_now,
                frames_per_second=self.frames_now / seconds,
                share=share,
                seconds_left=max(0.0, 1.0 - share) / speed if speed > 0 else float("nan"),
            )
        )

    def _share(self, unfinished: Iterable[int]) -> float:
        """The share of the run that is done; jobs that failed are no part of what there is to do."""
        partly = sum(_share_done(self._jobs[index], self.accounts[index]) for index in unfinished)
        return (self.done + partly) / max(1, len(self._jobs) - self._failed)

    def _of_job(self, index: int) -> JobStanding:
        job, account, scores = self._jobs[index], self.accounts[index], self._scores[index]
        return JobStanding(
            *(job.agent, job.game, job.seed, account.episodes, account.frames),
            _share_done(job, account),
            sum(scores) / len(scores) if scores else float("nan"),
        )


def _share_done(job: AnyJob, account: Account) -> float:
    """The share of a job that is done, by whichever of its budgets is nearer its end."""
    shares = [0.0]
    if job.episodes is not None:
        shares.append((account.episodes - account.evaluated) / job.episodes)
    if job.last_frame is not None:
        shares.append(account.frames / job.last_frame)
    return min(1.0, max(shares))

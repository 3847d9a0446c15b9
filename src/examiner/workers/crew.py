"""What a crew is, which runs jobs elsewhere, and the loop that feeds it, keeps limits and begins again."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Function = Callable[[Any], Iterable[object]]  # Any: each function has its own argument
Kind = Literal["begun", "heard", "done", "failed", "died"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use: seconds in one go, seconds without a word, and MiB of memory; None is no limit.

    >>> Limits(job_seconds=60).memory_mib is None
    True
    """

    job_seconds: float | None = None
    silent_seconds: float | None = None
    memory_mib: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a job: it began, said something, ended well, failed, or its process died.

    `failed` is the job's own doing and would happen again; `died` may be nobody's fault.
    """

    ticket: int
    kind: Kind
    value: object = None

    @property
    def reason(self) -> str:
        """Why the job failed or died."""
        return str(self.value)


class Crew(AbstractContextManager["Crew"]):
    """Runs one function on arguments, each under a ticket; the function yields what it has to say.

    A kind of crew says how many jobs it can have (`size`), how one begins (`start`), how it is ended
    (`end`) and what happened (`events`); what has a ticket is in `running`.
    """

    def __init__(self) -> None:
        self.running: dict[int, Any] = {}  # Any: each kind of crew has its own

    def size(self) -> int:
        """How many jobs can go on at once."""
        raise NotImplementedError

    def start(self, ticket: int, argument: object) -> None:
        """Begin a job."""
        raise NotImplementedError

    def events(self, seconds: float) -> Sequence[Event]:
        """What happened since, waiting so long for the first news."""
        raise NotImplementedError

    def end(self, running: Any) -> None:
        """End what runs a job at once."""
        raise NotImplementedError

    def free(self) -> int:
        """How many more jobs could begin now."""
        return self.size() - len(self.running)

    def stop(self, ticket: int) -> None:
        """End a job at once; nothing more is heard of it."""
        running = self.running.pop(ticket, None)
        if running is not None:
            self.end(running)

    def close(self) -> None:
        """End all jobs and processes."""
        for ticket in tuple(self.running):
            self.stop(ticket)

    def __exit__(self, *problem: object) -> None:
        self.close()


class JobError(Exception):
    """Raised while hearing a message to fail its job, with the reason; the other jobs go on."""


class Overseer(Protocol):
    """Whoever wants jobs done: gives each its start, hears what it says, and is told its end."""

    def begin(self, job: int) -> object:
        """The argument a job begins with now; another one than last time shows that it got on."""

    def hear(self, job: int, message: object) -> None:
        """Take one message; may raise `JobError`."""

    def end(self, job: int, reason: str | None) -> None:
        """Take note that a job is done, or why it failed."""

    def breathe(self) -> None:
        """Called after every bundle of news, and several times a second without any."""


@dataclass(slots=True)
class _Running:
    """A job with what it began with, how often its process died since it got on, and when it was heard."""

    argument: object
    deaths: int
    started: float | None = None
    heard: float | None = None


def oversee(
    crew: Crew,
    jobs: Iterable[int],
    overseer: Overseer,
    *,
    limits: Limits | None = None,
    tries: int = 3,
) -> None:
    """Have a crew do all jobs, whatever becomes of single ones.

    A job fails by its own error, or when it is over a limit of time. When its process dies it begins
    again where the overseer says; it fails after `tries` deaths in a row from the same beginning.

    >>> from examiner.workers.programs import ProcessCrew
    >>> class Printing:
    ...     def begin(self, job): return [job] * 2
    ...     def hear(self, job, message): print("heard", message)
    ...     def end(self, job, reason): print("end of", job, reason)
    ...     def breathe(self): pass
    >>> with ProcessCrew(iter, 1) as crew:
    ...     oversee(crew, [7], Printing())
    heard 7
    heard 7
    end of 7 None
    """
    watch = _Watch(crew, overseer, deque(jobs), limits or Limits(), tries)
    while watch.waiting or watch.running:
        watch.begin_jobs()
        for event in crew.events(0.2):  # seconds; the overseer breathes at least so often
            watch.take(event)
        watch.stop_late_jobs()
        overseer.breathe()


@dataclass(slots=True)
class _Watch:
    crew: Crew
    overseer: Overseer
    waiting: deque[int]
    limits: Limits
    tries: int
    running: dict[int, _Running] = field(default_factory=dict)
    died: dict[int, _Running] = field(default_factory=dict)
    """Jobs whose process died, as they ran last."""

    def begin_jobs(self) -> None:
        while self.waiting and self.crew.free() > 0:
            job = self.waiting.popleft()
            argument, before = self.overseer.begin(job), self.died.pop(job, None)
            deaths = before.deaths if before is not None and before.argument == argument else 0
            self.running[job] = _Running(argument, deaths)
            self.crew.start(job, argument)

    def take(self, event: Event) -> None:
        job = event.ticket
        running = self.running.get(job)
        if running is None:
            return  # stopped while its last words were under way
        running.heard = time.monotonic()
        running.started = running.started or running.heard
        if event.kind == "heard":
            try:
                self.overseer.hear(job, event.value)
            except JobError as problem:
                self.crew.stop(job)
                self.end(job, str(problem))
        elif event.kind == "died":
            running.deaths += 1
            if running.deaths >= self.tries:
                self.end(job, f"{event.reason}, {running.deaths} times in a row")
            else:
                self.died[job] = self.running.pop(job)
                self.waiting.append(job)
        elif event.kind != "begun":
            self.end(job, event.reason if event.kind == "failed" else None)

    def stop_late_jobs(self) -> None:
        now, most, silent = time.monotonic(), self.limits.job_seconds, self.limits.silent_seconds
        for job, running in tuple(self.running.items()):
            if running.started is None or running.heard is None:
                continue
            if most is not None and now - running.started > most:
                reason = f"it took longer than its limit of {most:g} seconds"
            elif silent is not None and now - running.heard > silent:
                reason = f"nothing was heard of it for longer than its limit of {silent:g} seconds"
            else:
                continue
            self.crew.stop(job)
            self.end(job, reason)

    def end(self, job: int, reason: str | None) -> None:
        del self.running[job]
        self.overseer.end(job, reason)


def reason_of(problem: BaseException) -> str:
    """Say an error in one line: its kind, its message, and where it happened.

    >>> reason_of(KeyError("pong"))
    "KeyError: 'pong'"
    """
    try:
        # Half characters (of file names that are no UTF-8) could be neither printed nor stored.
        text = str(problem).encode("utf-8", "backslashreplace").decode()
    except Exception:
        text = ""
    lines = text.strip().splitlines()
    sentence = f"{type(problem).__name__}: {lines[0][:500]}" if lines else type(problem).__name__
    frames = traceback.extract_tb(problem.__traceback__)
    if frames:
        last = frames[-1]
        sentence += f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
    return sentence

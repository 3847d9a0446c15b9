"""What a crew is, which runs jobs elsewhere, how a job is performed there, and the loop that feeds it.

Limits of time are kept, jobs of dead processes begin again.
"""

from __future__ import annotations

import os
import struct
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol

_WAIT_SECONDS = 0.2  # the overseer breathes at least so often

Function = Callable[[Any], Iterable[object]]  # Any: each function has its own argument
Kind = Literal["begun", "heard", "done", "failed", "died"]

_THREADS_OF = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use: seconds in one go, seconds without a word, and bytes of memory; None is no limit.

    >>> Limits(seconds=60).memory_bytes is None
    True
    """

    seconds: float | None = None
    silent_seconds: float | None = None
    memory_bytes: int | None = None


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
    argument: object
    begun: float | None = None
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
    watch = _Watch(crew, overseer, deque(jobs), tries)
    while watch.waiting or watch.running:
        watch.begin_jobs()
        for event in crew.events(_WAIT_SECONDS):
            watch.take(event)
        for job, reason in _late(watch.running, limits or Limits()).items():
            crew.stop(job)
            watch.end(job, reason)
        overseer.breathe()


@dataclass(slots=True)
class _Watch:
    crew: Crew
    overseer: Overseer
    waiting: deque[int]
    tries: int
    running: dict[int, _Running] = field(default_factory=dict)
    deaths: dict[int, tuple[object, int]] = field(default_factory=dict)
    """For jobs whose process died: what they had begun with, and how often in a row."""

    def begin_jobs(self) -> None:
        while self.waiting and self.crew.free() > 0:
            job = self.waiting.popleft()
            argument = self.overseer.begin(job)
            self.running[job] = _Running(argument)
            self.crew.start(job, argument)

    def take(self, event: Event) -> None:
        job = event.ticket
        clock = self.running.get(job)
        if clock is None:
            return  # stopped while its last words were under way
        clock.heard = time.monotonic()
        clock.begun = clock.begun or clock.heard
        if event.kind == "heard":
            try:
                self.overseer.hear(job, event.value)
            except JobError as problem:
                self.crew.stop(job)
                self.end(job, str(problem))
        elif event.kind == "died":
            self._bury(job, event.reason, clock.argument)
        elif event.kind != "begun":
            self.end(job, event.reason if event.kind == "failed" else None)

    def end(self, job: int, reason: str | None) -> None:
        del self.running[job]
        self.deaths.pop(job, None)
        self.overseer.end(job, reason)

    def _bury(self, job: int, reason: str, argument: object) -> None:
        before, count = self.deaths.get(job, (None, 0))
        count = count + 1 if before == argument else 1
        self.deaths[job] = (argument, count)
        if count >= self.tries:
            self.end(job, f"{reason}, {count} times in a row")
            return
        del self.running[job]
        self.waiting.append(job)


def _late(running: dict[int, _Running], limits: Limits) -> dict[int, str]:
    """The jobs over a limit of time, and which."""
    now = time.monotonic()
    late: dict[int, str] = {}
    for job, clock in running.items():
        if clock.begun is None or clock.heard is None:
            continue
        if limits.seconds is not None and now - clock.begun > limits.seconds:
            late[job] = f"it took longer than its limit of {limits.seconds:g} seconds"
        elif limits.silent_seconds is not None and now - clock.heard > limits.silent_seconds:
            late[job] = (
                f"nothing was heard of it for longer than its limit of "
                f"{limits.silent_seconds:g} seconds"
            )
    return late


# -------------------------------------------------------------------- in the worker


def worker_environment() -> dict[str, str]:
    """Variables under which another process finds the same modules, and keeps to one thread.

    Sets and dictionaries of names are in the same order in all processes.

    >>> worker_environment()["OMP_NUM_THREADS"], os.pathsep in worker_environment()["PYTHONPATH"]
    ('1', True)
    """
    here = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return dict.fromkeys(_THREADS_OF, "1") | {"PYTHONPATH": here, "PYTHONHASHSEED": "0"}


def perform(
    function: Function, argument: object, memory_bytes: int | None
) -> Iterator[tuple[str, object]]:
    """Yield ("begun", None), then what the function yields as "heard", then "done" or "failed".

    >>> list(perform(lambda number: [1 / number], 0, None))[-1]
    ('failed', 'ZeroDivisionError: division by zero (...)')
    """
    worker = os.getpid()
    yield "begun", None
    try:
        with same_folder(), memory_limit(memory_bytes):
            for message in function(argument):
                _end_forks_of(worker)
                yield "heard", message
    except GeneratorExit:
        raise
    except BaseException as problem:  # an agent may call sys.exit: its job's failure, not ours
        _end_forks_of(worker)
        yield "failed", reason_of(problem, memory_bytes)
    else:
        _end_forks_of(worker)
        yield "done", None


def _end_forks_of(worker: int) -> None:
    """In a child that a job forked and that comes back here: end it, its parent goes on with the job."""
    if os.getpid() != worker:
        os._exit(0)


def reason_of(problem: BaseException, memory_bytes: int | None = None) -> str:
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
    if isinstance(problem, MemoryError) and memory_bytes is not None:
        return (
            f"it needed more memory than its limit of {memory_bytes / 2**20:,.0f} MiB: {sentence}"
        )
    return sentence


@contextmanager
def same_folder() -> Iterator[None]:
    """Come back to the folder this process is in: the next job counts on it.

    >>> before = Path.cwd()
    >>> with same_folder():
    ...     os.chdir("/")
    >>> Path.cwd() == before
    True
    """
    try:
        before = Path.cwd()
    except OSError:  # it was removed
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.chdir(before)


@contextmanager
def memory_limit(memory_bytes: int | None) -> Iterator[None]:
    """Let this process allocate so many bytes more; beyond, Python raises MemoryError. Linux only.

    >>> with memory_limit(None):
    ...     pass
    """
    if memory_bytes is None:
        yield
        return
    try:
        import resource

        # Pages of data and stack. What is there already, the libraries, is not the job's.
        taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = taken + memory_bytes
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


HEAD = struct.Struct("!16sQ")
"""Before the bytes of a message stand the name of the job it belongs to, and their number."""
NO_JOB = bytes(16)
"""The name under which a worker gets its orders; names of jobs are random, so that none is used twice."""


class Orders(NamedTuple):
    """What a worker is told first: the function, the script it may be in, and the limit of memory.

    `clean` asks for a clean process for each job; `modules` are imported once, before any job.
    """

    function: bytes
    script: str | None
    memory_bytes: int | None
    clean: bool = True
    modules: tuple[str, ...] = ()


def packed(value: object) -> bytes:
    """Turn an object into bytes for another process of this run.

    >>> unpacked(packed(("heard", 3)))
    ('heard', 3)
    """
    return bytes(ForkingPickler.dumps(value))


def unpacked(data: bytes) -> object:
    """Turn bytes from another process of this run into an object again.

    Never used on files: these bytes come through a pipe from a process that we started.

    >>> unpacked(packed({"a": 1}))
    {'a': 1}
    """
    value: object = ForkingPickler.loads(data)
    return value


def of_script(data: bytes) -> bool:
    """Tell whether packed bytes name something of the user's own script.

    >>> of_script(packed(abs))
    False
    """
    return b"__main__" in data


def send(stream: IO[bytes], job: bytes, data: bytes) -> None:
    """Write the name of a job, a length and as many bytes, and flush.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, NO_JOB, b"abc")
    >>> stream.getvalue()[16:]
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03abc'
    """
    head = HEAD.pack(job, len(data))
    for part in (head + data,) if len(data) < 65_536 else (head, data):  # no copy of what is long
        written = stream.write(part)
        while written < len(part):  # a stream without a buffer may take less than it is given
            written += stream.write(memoryview(part)[written:])
    stream.flush()


class Message(NamedTuple):
    """The name of a job, and what was said of it."""

    job: bytes
    data: bytes


def receive(stream: IO[bytes], known: Callable[[bytes], bool]) -> Message | None:
    """Read one message of a known job; None where the other side is gone, even in the middle of a word.

    What bears another name was not said by who should be at the other side: `ValueError`.

    >>> import io
    >>> receive(io.BytesIO(bytes(2)), lambda job: True)
    >>> receive(io.BytesIO(b"junk" * 10), lambda job: job == NO_JOB)
    Traceback (most recent call last):
    ...
    ValueError: a message of an unknown job
    """
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    job, length = HEAD.unpack(head)
    if not known(job):
        raise ValueError("a message of an unknown job")
    data = stream.read(length)
    return Message(job, data) if len(data) == length else None

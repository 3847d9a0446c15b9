"""A crew of local programs that do jobs: replaced when one dies, fails or leaves children behind.

Jobs and news go through a program's pipes, each under the name of its job. In which words they go, and
how the program is started, is its tongue's matter.
"""

from __future__ import annotations

import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, Protocol, cast

from examiner.workers.crew import (
    NO_JOB,
    Crew,
    Event,
    Function,
    Kind,
    Message,
    Orders,
    of_script,
    packed,
    reason_of,
    receive,
    send,
    unpacked,
    worker_environment,
)
from examiner.workers.guard import MARK, Guard, end_family
from examiner.workers.serving import LOST_PIPES

_MOST_EVENTS = 512  # many enough that workers seldom wait, few enough to be heard in a moment
_PATIENCE_SECONDS = 2.0


class Tongue(Protocol):
    """How a kind of program is started, told its jobs, and understood."""

    @property
    def command(self) -> Sequence[str]:
        """The program and its arguments."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that it needs beside those of this process."""

    @property
    def folder(self) -> Path | None:
        """Where it is started; None is the folder of this process."""

    @property
    def orders(self) -> bytes | None:
        """What it is told before its first job, if anything."""

    def packed(self, argument: object) -> bytes:
        """Put what a job begins with into bytes."""

    def send(self, stream: IO[bytes], job: bytes, data: bytes) -> None:
        """Write a job and its name, and flush."""

    def receive(self, stream: IO[bytes], known: Callable[[bytes], bool]) -> Message | None:
        """Read one message; None where the other side is gone, `ValueError` where it is of no known job."""

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        """Say what a message tells; the value of "done" is whether the program must be replaced."""


class ProgramCrew(Crew):
    """Runs jobs on `count` local programs of one tongue, started as they are needed.

    What they print to standard error goes to `log`. A program whose job failed is replaced.
    """

    def __init__(self, tongue: Tongue, count: int, *, log: Path | None = None) -> None:
        super().__init__()
        self._tongue = tongue
        self._count = count
        self._log = log
        # Bounded: workers wait where the driver cannot follow.
        self._inbox: queue.Queue[tuple[_Process, bytes | None]] = queue.Queue(_MOST_EVENTS)
        self._idle: list[_Process] = []
        self._looked = time.monotonic()
        self._mark = secrets.token_hex(8)
        self._guard: Guard | None = None

    def size(self) -> int:
        """How many processes there may be."""
        return self._count

    def pids(self) -> tuple[int, ...]:
        """The processes that have a job now."""
        return tuple(process.pid for process in self.running.values())

    def start(self, ticket: int, argument: object) -> None:
        """Give a job to an idle process, or to a new one."""
        data = self._tongue.packed(argument)
        process = self._idle.pop() if self._idle else self._new_process()
        process.ticket = ticket
        self.running[ticket] = process
        process.give(data, secrets.token_bytes(len(NO_JOB)))

    def events(self, seconds: float) -> list[Event]:
        """What happened since, waiting so long for the first news."""
        events: list[Event] = []
        wait = seconds
        while len(events) < _MOST_EVENTS:
            try:
                process, data = self._inbox.get(timeout=wait) if wait else self._inbox.get_nowait()
            except queue.Empty:
                break
            news = self._understood(process, data)
            events += news
            wait = 0.0 if news else wait
        if time.monotonic() - self._looked > _PATIENCE_SECONDS:
            self._looked = time.monotonic()
            events += self._silent_deaths()
        return events

    def end(self, running: _Process) -> None:
        """Kill a process with all that it started, and wait until they are gone."""
        running.ticket = None
        if running in self._idle:
            self._idle.remove(running)
        running.kill()
        if self._guard is not None:
            self._guard.tell(running.pid, works=False)

    def close(self) -> None:
        """Kill all processes and all that they started, and wait until they are gone."""
        processes = [*self.running.values(), *self._idle]
        # All at once, also those whose start was interrupted before anybody had noted it.
        end_family([process.pid for process in processes if not process.waited_for], self._mark)
        for process in processes:
            self.end(process)
        self.running.clear()
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        with suppress(queue.Empty):  # a reader may wait for room to say that its process is gone
            while True:
                self._inbox.get_nowait()

    def _new_process(self) -> _Process:
        if self._guard is None and hasattr(os, "fork"):
            self._guard = Guard(self._mark)
        process = _Process(self._tongue, self._inbox, self._log, self._mark)
        if self._guard is not None:
            self._guard.tell(process.pid, works=True)
        return process

    def _silent_deaths(self) -> list[Event]:
        """Processes that died while a child of theirs still keeps their pipe open."""
        dead = [
            (ticket, process) for ticket, process in self.running.items() if process.dead_before
        ]
        for process in self.running.values():
            process.dead_before = process.is_dead()
        for ticket, _ in dead:
            self.stop(ticket)
        return [Event(ticket, "died", process.ending()) for ticket, process in dead]

    def _understood(self, process: _Process, data: bytes | None) -> list[Event]:
        ticket = process.ticket
        if data is None:
            process.await_death()
            self.end(process)
        if ticket is None:
            return []  # of a job that was stopped
        if data is None:
            del self.running[ticket]
            return [Event(ticket, "died", process.ending())]
        try:
            events = self._tongue.understood(data)
        except Exception as problem:  # a job may say anything that is understood at its side alone
            events = [("failed", f"what it said cannot be understood: {reason_of(problem)}")]
        return [self._event(ticket, process, *each) for each in events]

    def _event(self, ticket: int, process: _Process, kind: Kind, value: object) -> Event:
        if kind in ("done", "failed"):
            del self.running[ticket]
            process.ticket = None
            spoilt = kind == "done" and value
            if kind == "failed" or spoilt:
                self.end(process)
            else:
                self._idle.append(process)
            value = None if kind == "done" else value
        return Event(ticket, kind, value)


class _Process:
    """One process with its pipes, and the thread that reads from it; leader of a session of its own."""

    def __init__(
        self,
        tongue: Tongue,
        inbox: queue.Queue[tuple[_Process, bytes | None]],
        log: Path | None,
        mark: str,
    ) -> None:
        self.ticket: int | None = None
        self.dead_before = False  # when last looked: what it said last has been heard since
        self._job, self._disturbed = NO_JOB, False
        self._mark = f"{mark}-{secrets.token_hex(4)}"
        self._tongue = tongue
        environment = os.environ | dict(tongue.environment)
        # A worker of a worker bears both marks.
        environment[MARK] = f"{os.environ.get(MARK, '')}/{self._mark}"
        with nullcontext() if log is None else log.open("ab") as errors:
            self._popen = subprocess.Popen(
                list(tongue.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                cwd=tongue.folder,
                start_new_session=True,
            )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self.pid = self._popen.pid
        self._to, self._from = self._popen.stdin, self._popen.stdout
        self._reader = threading.Thread(target=self._read, args=(inbox,), daemon=True)
        self._reader.start()
        if tongue.orders is not None:
            self.give(tongue.orders, NO_JOB)

    @property
    def waited_for(self) -> bool:
        """Whether the process is known to have ended: its number may be another's."""
        return self._popen.returncode is not None

    def give(self, data: bytes, job: bytes) -> None:
        """Send a job; from now on only messages of that name are this process's."""
        self._job = job
        with suppress(OSError):  # dead already: its reader will say so
            self._tongue.send(self._to, job, data)

    def _read(self, inbox: queue.Queue[tuple[_Process, bytes | None]]) -> None:
        while True:
            try:
                message = self._tongue.receive(self._from, lambda job: job == self._job)
            except OSError:
                message = None
            except (ValueError, MemoryError):
                message, self._disturbed = None, True
            inbox.put((self, None if message is None else message.data))
            if message is None:
                self._from.close()
                return

    def is_dead(self) -> bool:
        """Whether the process has ended; its number stays its own until it is waited for."""
        if self.waited_for or not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        with suppress(ChildProcessError):
            ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.pid, ended) is not None
        return True

    def await_death(self) -> None:
        """Give a process that has said its last word a moment to end by itself: how tells why."""
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while not (self._disturbed or self.is_dead() or time.monotonic() > give_up):
            time.sleep(0.002)

    def kill(self) -> None:
        """End the process with all that it started; done already, nothing happens."""
        if not self.waited_for:
            end_family([self.pid], self._mark)
            with suppress(OSError):
                self._popen.kill()
            self._popen.wait()
        with suppress(OSError):
            self._to.close()

    def ending(self) -> str:
        """How the process ended, in words."""
        code = self._popen.returncode
        if self._disturbed:
            return "something else than its job was written to its pipe"
        if code == LOST_PIPES:
            return "its job closed files that were not its own, the pipes of its process"
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in _SIGNALS else "unknown"
            return f"its process was ended by signal {-code} ({name})"
        return f"its process ended with exit code {code}"


_SIGNALS = frozenset(map(int, signal.Signals))


_COMMAND = "from examiner.workers.serving import main; main()"
"""Not `-m`: the package imports the module before it would be run."""


class ProcessCrew(ProgramCrew):
    """Runs jobs on `count` local processes, started as they are needed.

    The function is a generator, known by its module and name; what it prints goes to `log`, else to
    standard error. Each job gets a `clean` process: on Linux a fork of one that has imported the
    function and `modules` and runs no job itself, elsewhere a new one. Not `clean`, a process performs
    one job after the other: for functions that leave no state behind.

    >>> with ProcessCrew(iter, 1) as crew:
    ...     crew.start(7, [1, 2])
    ...     event = crew.events(60)[0]
    >>> event.ticket, event.kind
    (7, 'begun')
    """

    def __init__(
        self,
        function: Function,
        count: int,
        *,
        memory_bytes: int | None = None,
        log: Path | None = None,
        clean: bool = True,
        modules: Sequence[str] = (),
    ) -> None:
        tongue = _PythonTongue(function, memory_bytes, clean, tuple(modules))
        super().__init__(tongue, count, log=log)


class _PythonTongue:
    """Objects, pickled, to and from processes of this Python."""

    folder: Path | None = None

    def __init__(
        self, function: Function, memory_bytes: int | None, clean: bool, modules: tuple[str, ...]
    ) -> None:
        findable = _findable(packed(function))
        self.orders = packed(Orders(findable, _script(), memory_bytes, clean, modules))

    @property
    def command(self) -> Sequence[str]:
        # -P: the current folder is not the first place to look for modules.
        return sys.executable, "-P", "-c", _COMMAND

    @property
    def environment(self) -> Mapping[str, str]:
        return worker_environment()

    def packed(self, argument: object) -> bytes:
        return _findable(packed(argument))

    def send(self, stream: IO[bytes], job: bytes, data: bytes) -> None:
        send(stream, job, data)

    def receive(self, stream: IO[bytes], known: Callable[[bytes], bool]) -> Message | None:
        return receive(stream, known)

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        return (cast("tuple[Kind, object]", unpacked(data)),)


def available_cores() -> int:
    """The cores this process may use.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _script() -> str | None:
    """The user's script, for functions that stand in it; an interactive session has none."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    return None if path is None else str(Path(path).absolute())


def _findable(data: bytes) -> bytes:
    if of_script(data) and _script() is None:
        raise ValueError(
            "The function was written in an interactive session, where other processes cannot find "
            "it. Put it into a module and import it, or use one process."
        )
    return data

"""A crew of local programs that do jobs: replaced when one dies, fails or leaves children behind.

Jobs and news go through a program's pipes, each under the name of its job.
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
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import cast

from examiner.workers.crew import Crew, Event, Function, Kind, reason_of
from examiner.workers.guard import MARK, Guard, end_family
from examiner.workers.messages import (
    LOST_PIPES,
    NO_JOB,
    Orders,
    of_script,
    packed,
    receive,
    send,
    unpacked,
)

_MOST_EVENTS = 512  # many enough that workers seldom wait, few enough to be heard in a moment
_PATIENCE_SECONDS = 2.0


class ProgramCrew(Crew):
    """Runs jobs on `count` local programs, started as they are needed with `orders`, if there are any.

    A kind of program says how arguments become bytes (`packed`) and what messages mean (`understood`). What
    programs print to standard error goes to `log`. A program whose job failed is replaced.
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        orders: bytes | None = None,
        log: Path | None = None,
    ) -> None:
        super().__init__()
        self._command, self._count, self._log = list(command), count, log
        self._environment, self._folder, self._orders = environment or {}, folder, orders
        # Bounded: workers wait where the driver cannot follow.
        self._inbox: queue.Queue[tuple[_Process, bytes | None]] = queue.Queue(_MOST_EVENTS)
        self._idle: list[_Process] = []
        self._looked = time.monotonic()
        self._mark = secrets.token_hex(8)
        self._guard: Guard | None = None

    def packed(self, argument: object) -> bytes:
        """Put what a job begins with into bytes."""
        raise NotImplementedError

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        """Say what a message tells; the value of "done" is whether the program must be replaced."""
        raise NotImplementedError

    def size(self) -> int:
        """How many processes there may be."""
        return self._count

    def pids(self) -> tuple[int, ...]:
        """The processes that have a job now."""
        return tuple(process.pid for process in self.running.values())

    def start(self, ticket: int, argument: object) -> None:
        """Give a job to an idle process, or to a new one."""
        data = self.packed(argument)
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
        mark = f"{self._mark}-{secrets.token_hex(4)}"
        # A worker of a worker bears both marks.
        marks = {MARK: f"{os.environ.get(MARK, '')}/{mark}"}
        with nullcontext() if self._log is None else self._log.open("ab") as errors:
            popen = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | dict(self._environment) | marks,
                cwd=self._folder,
                start_new_session=True,
            )
        process = _Process(popen, mark, self._inbox)
        if self._guard is not None:
            self._guard.tell(process.pid, works=True)
        if self._orders is not None:
            process.give(self._orders, NO_JOB)
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
            events = self.understood(data)
        except Exception as problem:  # a job may say anything that is understood at its side alone
            events = [("failed", f"what it said cannot be understood: {reason_of(problem)}")]
        return [self._event(ticket, process, *event) for event in events]

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
        popen: subprocess.Popen[bytes],
        mark: str,
        inbox: queue.Queue[tuple[_Process, bytes | None]],
    ) -> None:
        self.ticket: int | None = None
        self.dead_before = False  # when last looked: what it said last has been heard since
        self._job, self._disturbed = NO_JOB, False
        self._popen, self._mark, self.pid = popen, mark, popen.pid
        assert popen.stdin is not None and popen.stdout is not None
        self._to, self._from = popen.stdin, popen.stdout
        threading.Thread(target=self._read, args=(inbox,), daemon=True).start()

    @property
    def waited_for(self) -> bool:
        """Whether the process is known to have ended: its number may be another's."""
        return self._popen.returncode is not None

    def give(self, data: bytes, job: bytes) -> None:
        """Send a job; from now on only messages of that name are this process's."""
        self._job = job
        with suppress(OSError):  # dead already: its reader will say so
            send(self._to, job, data)

    def _read(self, inbox: queue.Queue[tuple[_Process, bytes | None]]) -> None:
        while True:
            try:
                message = receive(self._from, lambda job: job == self._job)
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
            name = next((one.name for one in signal.Signals if one == -code), "unknown")
            return f"its process was ended by signal {-code} ({name})"
        return f"its process ended with exit code {code}"


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
        memory_mib: float | None = None,
        log: Path | None = None,
        clean: bool = True,
        modules: Sequence[str] = (),
    ) -> None:
        orders = Orders(self.packed(function), _script(), memory_mib, clean, tuple(modules))
        super().__init__(
            # -P: the current folder is not the first place to look for modules.
            (sys.executable, "-P", "-c", _COMMAND),
            count,
            environment=worker_environment(),
            orders=packed(orders),
            log=log,
        )

    def packed(self, argument: object) -> bytes:
        """Pickle what a job begins with, where other processes can find the functions in it."""
        data = packed(argument)
        if of_script(data) and _script() is None:
            raise ValueError(
                "The function was written in an interactive session, where other processes cannot find "
                "it. Put it into a module and import it, or use one process."
            )
        return data

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        """Unpickle what a job says."""
        return (cast("tuple[Kind, object]", unpacked(data)),)


_THREADS_OF = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def worker_environment() -> dict[str, str]:
    """Variables under which another process finds the same modules, and keeps to one thread.

    Sets and dictionaries of names are in the same order in all processes.

    >>> worker_environment()["OMP_NUM_THREADS"], os.pathsep in worker_environment()["PYTHONPATH"]
    ('1', True)
    """
    here = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return dict.fromkeys(_THREADS_OF, "1") | {"PYTHONPATH": here, "PYTHONHASHSEED": "0"}


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

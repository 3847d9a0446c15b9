"""A crew of local processes: one thread each, replaced when one dies or its job fails."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, cast

from examiner.workers.crew import Crew, Event, Kind
from examiner.workers.worker import (
    SINGLE_THREAD,
    Orders,
    of_script,
    packed,
    receive,
    search_path,
    send,
    unpacked,
)

_MOST_EVENTS = 512  # many enough that workers seldom wait, few enough to be heard in a moment
_PATIENCE_SECONDS = 2.0


class ProcessCrew(Crew):
    """Runs jobs on `count` local processes, started as they are needed.

    The function is a generator, known by its module and name; what it prints goes to `log`, else to
    standard error. A process whose job failed is replaced.

    >>> with ProcessCrew(iter, 1) as crew:
    ...     crew.start(7, [1, 2])
    ...     event = crew.events(60)[0]
    >>> event.ticket, event.kind
    (7, 'begun')
    """

    def __init__(
        self,
        function: Callable[[Any], Iterable[object]],  # Any: each function has its own argument
        count: int,
        *,
        memory_bytes: int | None = None,
        log: Path | None = None,
    ) -> None:
        super().__init__()
        self._orders = packed(Orders(_findable(packed(function)), _script(), memory_bytes))
        self._count = count
        self._log = log
        # Bounded: workers wait where the driver cannot follow.
        self._inbox: queue.Queue[tuple[_Process, bytes | None]] = queue.Queue(_MOST_EVENTS)
        self._idle: list[_Process] = []
        self._leaving: list[_Process] = []
        self._looked = time.monotonic()

    def size(self) -> int:
        """How many processes there may be."""
        return self._count

    def pids(self) -> tuple[int, ...]:
        """The processes that have a job now."""
        return tuple(process.popen.pid for process in self.running.values())

    def start(self, ticket: int, argument: object) -> None:
        """Give a job to an idle process, or to a new one."""
        data = _findable(packed(argument))
        process = self._idle.pop() if self._idle else _Process(self._orders, self._inbox, self._log)
        process.ticket = ticket
        self.running[ticket] = process
        process.give(data)

    def events(self, seconds: float) -> list[Event]:
        """What happened since, waiting so long for the first news."""
        events: list[Event] = []
        wait = seconds
        while len(events) < _MOST_EVENTS:
            try:
                process, data = self._inbox.get(timeout=wait) if wait else self._inbox.get_nowait()
            except queue.Empty:
                break
            event = self._understood(process, data)
            if event is not None:
                events.append(event)
                wait = 0.0
        if time.monotonic() - self._looked > _PATIENCE_SECONDS:
            self._looked = time.monotonic()
            events += self._silent_deaths()
        return events

    def end(self, running: _Process) -> None:
        """Kill a process and wait until it is gone."""
        running.ticket = None
        running.kill()

    def close(self) -> None:
        """Kill all processes and wait until they are gone."""
        super().close()
        for group in (self._idle, self._leaving):
            while group:
                self.end(group.pop())
        with suppress(queue.Empty):  # a reader may wait for room to say that its process is gone
            while True:
                self._inbox.get_nowait()

    def _silent_deaths(self) -> list[Event]:
        """Processes that died while a child of theirs still keeps their pipe open."""
        dead = [(ticket, one) for ticket, one in self.running.items() if one.dead_before]
        for one in self.running.values():
            one.dead_before = one.popen.poll() is not None
        for ticket, _ in dead:
            self.stop(ticket)
        return [Event(ticket, "died", one.end()) for ticket, one in dead]

    def _understood(self, process: _Process, data: bytes | None) -> Event | None:
        ticket = process.ticket
        if data is None:
            reason = process.end()
            for group in (self._idle, self._leaving):
                if process in group:
                    group.remove(process)
            if ticket is None:
                return None
            self.stop(ticket)
            return Event(ticket, "died", reason)
        if ticket is None:
            return None  # of a job that was stopped
        kind, value = cast("tuple[Kind, object]", unpacked(data))
        if kind in ("done", "failed"):
            del self.running[ticket]
            process.ticket = None
            (self._idle if kind == "done" else self._leaving).append(process)
        return Event(ticket, kind, value)


_COMMAND = "from examiner.workers.worker import main; main()"
"""Not `-m`: the package imports the module before it would be run."""


class _Process:
    """One process with its pipes, and the thread that reads from it."""

    def __init__(
        self,
        orders: bytes,
        inbox: queue.Queue[tuple[_Process, bytes | None]],
        log: Path | None,
    ) -> None:
        self.ticket: int | None = None
        self.dead_before = False  # when last looked: what it said last has been heard since
        environment = os.environ | SINGLE_THREAD | {"PYTHONPATH": search_path()}
        with nullcontext() if log is None else log.open("ab") as errors:
            # -P: the current folder is not the first place to look for modules.
            self.popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        assert self.popen.stdin is not None and self.popen.stdout is not None
        self._to, self._from = self.popen.stdin, self.popen.stdout
        self._reader = threading.Thread(target=self._read, args=(inbox,), daemon=True)
        self._reader.start()
        self.give(orders)

    def give(self, data: bytes) -> None:
        with suppress(OSError):  # dead already: its reader will say so
            send(self._to, data)

    def _read(self, inbox: queue.Queue[tuple[_Process, bytes | None]]) -> None:
        while True:
            try:
                data = receive(self._from)
            except (OSError, ValueError):
                data = None
            inbox.put((self, data))
            if data is None:
                self._from.close()
                return

    def kill(self) -> None:
        with suppress(OSError):
            self.popen.kill()
        self.popen.wait()
        with suppress(OSError):
            self._to.close()

    def end(self) -> str:
        """How the process ended, in words; one that only closed its pipes is ended now."""
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(_PATIENCE_SECONDS)
        self.kill()
        code = self.popen.poll()
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in _SIGNALS else "unknown"
            return f"its process was ended by signal {-code} ({name})"
        return f"its process ended with exit code {code}"


_SIGNALS = frozenset(int(one) for one in signal.Signals)


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

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
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from examiner.workers.crew import Event, Kind
from examiner.workers.performing import SINGLE_THREAD, search_path
from examiner.workers.pipes import of_script, packed, receive, send, unpacked
from examiner.workers.worker import Orders

_MOST_EVENTS = 512
_PATIENCE_SECONDS = 2.0


class ProcessCrew:
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
        self._orders = packed(Orders(_findable(packed(function)), _script(), memory_bytes))
        self._count = count
        self._log = log
        # Bounded: workers wait where the driver cannot follow.
        self._inbox: queue.Queue[tuple[_Process, bytes | None]] = queue.Queue(_MOST_EVENTS)
        self._idle: list[_Process] = []
        self._busy: dict[int, _Process] = {}
        self._leaving: list[_Process] = []
        self._looked = time.monotonic()

    def free(self) -> int:
        """How many more jobs could begin now."""
        return self._count - len(self._busy)

    def pids(self) -> tuple[int, ...]:
        """The processes that have a job now."""
        return tuple(process.pid for process in self._busy.values())

    def start(self, ticket: int, argument: object) -> None:
        """Give a job to an idle process, or to a new one."""
        data = _findable(packed(argument))
        process = self._idle.pop() if self._idle else _Process(self._orders, self._inbox, self._log)
        process.ticket = ticket
        self._busy[ticket] = process
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

    def stop(self, ticket: int) -> None:
        """Kill the process that has this job."""
        process = self._busy.pop(ticket, None)
        if process is not None:
            process.ticket = None
            process.kill()

    def close(self) -> None:
        """Kill all processes and wait until they are gone."""
        for process in (*self._busy.values(), *self._idle, *self._leaving):
            process.ticket = None
            process.kill()
        for group in (self._busy, self._idle, self._leaving):
            group.clear()
        with suppress(queue.Empty):  # a reader may wait for room to say that its process is gone
            while True:
                self._inbox.get_nowait()

    def __enter__(self) -> ProcessCrew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _silent_deaths(self) -> list[Event]:
        """Processes that died while a child of theirs still keeps their pipe open."""
        dead = [(ticket, one) for ticket, one in self._busy.items() if one.dead_before]
        for one in self._busy.values():
            one.dead_before = one.dead
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
            del self._busy[ticket]
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
        with _opened(log) as errors:
            # -P: the current folder is not the first place to look for modules.
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._to, self._from = self._popen.stdin, self._popen.stdout
        self._reader = threading.Thread(target=self._read, args=(inbox,), daemon=True)
        self._reader.start()
        self.give(orders)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def dead(self) -> bool:
        return self._popen.poll() is not None

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
            self._popen.kill()
        self._popen.wait()
        with suppress(OSError):
            self._to.close()

    def end(self) -> str:
        """How the process ended, in words; one that only closed its pipes is ended now."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_PATIENCE_SECONDS)
        self.kill()
        code = self._popen.poll()
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in _SIGNALS else "unknown"
            return f"its process was ended by signal {-code} ({name})"
        return f"its process ended with exit code {code}"


_SIGNALS = frozenset(int(one) for one in signal.Signals)


class _opened:  # noqa: N801  a context manager, read as a word
    """The log to append to, or nothing; closed again once the process has it."""

    def __init__(self, log: Path | None) -> None:
        self._file: IO[bytes] | None = None if log is None else log.open("ab")

    def __enter__(self) -> IO[bytes] | None:
        return self._file

    def __exit__(self, *problem: object) -> None:
        if self._file is not None:
            self._file.close()


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

"""A crew of local processes: one thread each, replaced when one dies or its job fails.

A process is no child in the sense of `multiprocessing`: the user's script is not run again, unless the
function stands in it. Jobs and news go through its pipes.
"""

from __future__ import annotations

import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import nullcontext, suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import IO, NamedTuple, cast

from examiner.workers.crew import Crew, Event, Function, Kind, perform, worker_environment

_LENGTH = struct.Struct("!Q")  # what goes through a pipe is a length, then as many bytes
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
        function: Function,
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
        dead = [
            (ticket, process) for ticket, process in self.running.items() if process.dead_before
        ]
        for process in self.running.values():
            process.dead_before = process.popen.poll() is not None
        for ticket, _ in dead:
            self.stop(ticket)
        return [Event(ticket, "died", process.end()) for ticket, process in dead]

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


_COMMAND = "from examiner.workers.processes import main; main()"
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
        environment = os.environ | worker_environment()
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


_SIGNALS = frozenset(map(int, signal.Signals))


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


# -------------------------------------------------------------------- through the pipes


def packed(value: object) -> bytes:
    """Turn an object into bytes for another process of this run.

    >>> unpacked(packed(("heard", 3)))
    ('heard', 3)
    """
    return bytes(ForkingPickler.dumps(value))


def unpacked(data: bytes) -> object:
    """Turn bytes from another process of this run into an object again.

    Never used on files: these bytes come through a pipe from a process that we started.

    >>> unpacked(packed([1.5]))
    [1.5]
    """
    value: object = ForkingPickler.loads(data)
    return value


def of_script(data: bytes) -> bool:
    """Tell whether packed bytes name something of the user's own script.

    >>> of_script(packed(abs))
    False
    """
    return b"__main__" in data


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a length and as many bytes, and flush.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, b"abc")
    >>> stream.getvalue()
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03abc'
    """
    head = _LENGTH.pack(len(data))
    for part in (head + data,) if len(data) < 65_536 else (head, data):  # no copy of what is long
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read what `send` wrote; None where the other side is gone, even in the middle of a word.

    >>> import io
    >>> receive(io.BytesIO(b"\\x00\\x00"))
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


class Orders(NamedTuple):
    """What a worker is told first: the function, the script it may stand in, and the limit of memory."""

    function: bytes
    script: str | None
    memory_bytes: int | None


def serve(orders_in: IO[bytes], news_out: IO[bytes]) -> None:
    """Perform jobs until one fails or the other side is gone."""
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    first = receive(orders_in)
    if first is None:
        return
    orders = cast("Orders", unpacked(first))
    function = cast("Function", _found(orders.function, orders.script))
    threading.Thread(target=_listen, args=(orders_in, jobs), daemon=True).start()
    while True:
        argument = _found(jobs.get(), orders.script)
        for kind, value in perform(function, argument, orders.memory_bytes):
            send(news_out, packed((kind, value)))
        if kind == "failed":
            return  # who knows what it left behind: the next job gets a fresh process


def _found(data: bytes, script: str | None) -> object:
    if script is not None and of_script(data):
        from multiprocessing.spawn import import_main_path

        import_main_path(script)  # does nothing the second time
    return unpacked(data)


def _listen(orders_in: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    while True:
        data = receive(orders_in)
        if data is None:
            # Whoever started us is gone, perhaps killed: a job that never ends must end with it.
            os._exit(0)
        jobs.put(data)


def main() -> None:
    """Serve on standard input and output; what jobs print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    orders_in = os.fdopen(os.dup(0), "rb")
    news_out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(orders_in, news_out)
    sys.stderr.flush()
    os._exit(0)  # threads that a job left behind do not keep the process

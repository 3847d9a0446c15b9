"""A crew of local processes of Python, one thread each.

A process is no child in the sense of `multiprocessing`: the user's script is not run again, unless the
function stands in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from examiner.workers.crew import Function, Kind, worker_environment
from examiner.workers.messages import Message, Orders, of_script, packed, receive, send, unpacked
from examiner.workers.programs import ProgramCrew

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
        known = _findable(packed(function))
        self.orders = packed(Orders(known, _script(), memory_bytes, clean, modules))

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

"""The worker's side of its pipes: jobs come in, news go out, and only those of the worker itself.

An agent may fork, and its child then has a copy of everything, the pipes too. What the child says is
never sent; what it leaves running is told to the driver, who ends it with the worker.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import cast

from examiner.workers.crew import Function, perform, reason_of
from examiner.workers.messages import (
    Message,
    Orders,
    of_script,
    packed,
    receive,
    send,
    unpacked,
)

LOST_PIPES = 77
"""Exit code of a worker whose job closed its pipes: nothing else is left to say it with."""
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux


class Line:
    """The pipes to the driver: they speak for one process, and as long as they are its own."""

    def __init__(self, orders: int, news: int) -> None:
        self._pid = os.getpid()
        self._orders = os.fdopen(orders, "rb")
        # Without a buffer: a fork would take what is in it along, and say it a second time.
        self._news = os.fdopen(news, "wb", buffering=0)
        self._pipes = {pipe: _identity(pipe) for pipe in (orders, news)}
        self._news_pipe = news
        self.forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._cut, after_in_parent=self._note_fork)

    def say(self, job: bytes, data: bytes) -> None:
        """Send one message of a job."""
        if os.getpid() != self._pid:  # a fork that Python did not hear of
            os._exit(0)
        self._check(self._news_pipe)
        send(self._news, job, data)

    def hear(self) -> Message | None:
        """Wait for the next job, or for the driver's end."""
        self._check(self._orders.fileno())
        return receive(self._orders, lambda job: True)

    def _check(self, pipe: int) -> None:
        """End this process where a job has closed a pipe: its number may be that of a file by now."""
        if _identity(pipe) != self._pipes[pipe]:
            os._exit(LOST_PIPES)

    def _note_fork(self) -> None:
        self.forked = True

    def _cut(self) -> None:
        """In a forked child: let go of the driver's pipes, whatever the child does from here on."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for pipe, identity in self._pipes.items():
            if _identity(pipe) == identity:
                os.dup2(nowhere, pipe, inheritable=False)
        os.close(nowhere)


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def serve(line: Line, *, adopts: bool) -> None:
    """Perform jobs until one fails or the other side is gone; say whether each left children behind.

    `adopts` tells whether children of the dead are counted as ours.
    """
    first = line.hear()
    if first is None:
        return
    orders = cast("Orders", unpacked(first.data))
    function = cast("Function", _found(orders.function, orders.script))
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(line, jobs), daemon=True).start()
    while True:
        job, data = jobs.get()
        argument, kind = _found(data, orders.script), ""
        line.forked = False
        for kind, value in perform(function, argument, orders.memory_bytes):
            if kind in ("done", "failed"):
                _flush()
            if kind == "done":
                value = _left_children() or (line.forked and not adopts)
            try:
                news = packed((kind, value))
            except Exception as problem:
                kind, value = "failed", f"what it said cannot be sent: {reason_of(problem)}"
                news = packed((kind, value))
            line.say(job, news)
            if kind == "failed":
                return  # who knows what it left behind: the next job gets a fresh process


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):  # the driver may end this process at its last word
        with suppress(Exception):  # a job may have put anything in their place
            stream.flush()


def _left_children() -> bool:
    """Whether a child lives on; those that ended are forgotten."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except (ChildProcessError, AttributeError):  # there is none, or no way to have one
        return False
    return True


def _found(data: bytes, script: str | None) -> object:
    if script is not None and of_script(data):
        from multiprocessing.spawn import import_main_path

        import_main_path(script)  # does nothing the second time
    return unpacked(data)


def _listen(line: Line, jobs: queue.SimpleQueue[Message]) -> None:
    while True:
        job = line.hear()
        if job is None:
            # Whoever started us is gone, perhaps killed: a job that never ends must end with it.
            os._exit(0)
        jobs.put(job)


def _adopts_orphans() -> bool:
    """Have children whose parents died become ours, so that none is overlooked. Linux only."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0) == 0)


def main() -> None:
    """Serve on standard input and output; what jobs print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    line = Line(os.dup(0), os.dup(1))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(line, adopts=_adopts_orphans())
    _flush()
    os._exit(0)  # threads that a job left behind do not keep the process

"""The worker's side of its pipes: jobs come in, messages go out, and only those of the job itself.

A worker imports what all jobs need and runs none of them: it forks a clean child for each. Where it
cannot fork safely it performs a single job and asks to be replaced.

An agent may fork too, and its child then has a copy of everything, the pipes too. What that child says
is never sent; what it leaves running is reported to the driver, who ends it with the worker.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn, cast

from examiner.workers.crew import Function, reason_of
from examiner.workers.messages import (
    LOST_PIPES,
    Message,
    Orders,
    of_script,
    packed,
    receive,
    send,
    unpacked,
)

JOB_ENDED = 78
"""Exit code of a child that has sent the last message of its job; with any other, it died."""
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
_STARTS_THREADS = "polars"
"""A package that starts threads when it is imported: a worker that has it loaded cannot fork safely."""


class Line:
    """The pipes to the driver: they speak for one process, and as long as they are its own."""

    def __init__(self, orders: int, news: int) -> None:
        self._pid = os.getpid()
        self._orders = os.fdopen(orders, "rb")
        # Without a buffer: a fork would take what is in it along, and say it a second time.
        self._news = os.fdopen(news, "wb", buffering=0)
        self._pipes = {pipe: _identity(pipe) for pipe in (orders, news)}
        self._news_pipe = news
        self.forked = self._forks_child = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._cut, after_in_parent=self._note_fork)

    def say(self, job: bytes, data: bytes) -> None:
        """Send one message of a job."""
        if os.getpid() != self._pid:  # a fork that Python did not hear of
            os._exit(0)
        self._check(self._news_pipe)
        try:
            send(self._news, job, data)
        except BrokenPipeError:  # nobody listens any more
            os._exit(0)

    def hear(self) -> Message | None:
        """Wait for the next job, or for the driver's end."""
        self._check(self._orders.fileno())
        return receive(self._orders)

    def fork(self) -> int:
        """Fork a child that speaks in place of this process; return its number, 0 in the child."""
        self._forks_child = True
        child = os.fork()
        self._forks_child = False
        if not child:
            self._pid = os.getpid()
        return child

    def await_end(self) -> None:
        """Wait until the driver is gone, and read nothing: the next job is the parent's."""
        waiting = select.poll()
        waiting.register(self._orders.fileno(), 0)
        waiting.poll()

    def _check(self, pipe: int) -> None:
        """End this process where a job has closed a pipe: its number may be that of a file by now."""
        if _identity(pipe) != self._pipes[pipe]:
            os._exit(LOST_PIPES)

    def _note_fork(self) -> None:
        self.forked = True

    def _cut(self) -> None:
        """In a child that a job forked: let go of the driver's pipes, whatever it does from here on."""
        if self._forks_child:
            return
        nowhere = os.open(os.devnull, os.O_RDWR)
        for pipe, identity in self._pipes.items():
            if _identity(pipe) == identity:
                os.dup2(nowhere, pipe, inheritable=False)
        os.close(nowhere)


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def serve(line: Line) -> None:
    """Perform jobs, each in a clean process if the orders say so, until the other side is gone."""
    first = line.hear()
    if first is None:
        return
    orders = cast("Orders", unpacked(first.data))
    if orders.clean:
        defer_import(_STARTS_THREADS)
    for module in orders.modules:
        with suppress(ImportError):  # the job that needs it says so
            import_module(module)
    function = cast("Function", _loaded(orders.function, orders.script))
    if orders.clean and _is_single_threaded():
        _serve_by_children(line, orders, function)
    else:
        _serve_here(line, orders, function)


def _serve_by_children(line: Line, orders: Orders, function: Function) -> None:
    """Fork a child for each job; die as it dies, so that the driver learns how."""
    here = os.getpid()
    _control(_ADOPT_ORPHANS, 1)  # what a job leaves behind outlives its process, but not this one
    while (message := line.hear()) is not None:
        child = line.fork()
        if not child:
            _control(_DIE_WITH_PARENT, signal.SIGKILL)
            if os.getppid() != here:
                os._exit(0)
            if "numpy.random" in sys.modules:  # Python's own generator does so by itself
                sys.modules["numpy.random"].seed()
            threading.Thread(target=_end_with_driver, args=(line,), daemon=True).start()
            _perform(line, message, orders, function, spoilt=False)
            os._exit(JOB_ENDED)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != JOB_ENDED:
            _die_of(code)


def _serve_here(line: Line, orders: Orders, function: Function) -> None:
    """Perform jobs in this process: one after the other, or a single one that must have it clean."""
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(line, jobs), daemon=True).start()
    while _perform(line, jobs.get(), orders, function, spoilt=orders.clean):
        pass  # a job that failed may have left anything behind: the next one gets a new process


def _perform(
    line: Line, message: Message, orders: Orders, function: Function, *, spoilt: bool
) -> bool:
    """Perform a job and send what it says; the last message says whether this process must be replaced.

    `spoilt` says that it must be in any case. Return whether the job was done.
    """
    here, adopts = os.getpid(), _control(_ADOPT_ORPHANS, 1)
    argument = _loaded(message.data, orders.script)
    line.forked = False
    line.say(message.job, packed(("begun", None)))
    failure = ""
    try:
        with memory_limit(orders.memory_mib):
            for value in function(argument):
                try:
                    news = packed(("heard", value))
                except Exception as problem:
                    failure = f"what it said cannot be sent: {reason_of(problem)}"
                    break
                line.say(message.job, news)
    except BaseException as problem:  # an agent may call sys.exit: its job's failure, not ours
        failure = reason_of(problem)
        if isinstance(problem, MemoryError) and orders.memory_mib is not None:
            limit = f"its limit of {orders.memory_mib:,.0f} MiB"
            failure = f"it needed more memory than {limit}: {failure}"
    if os.getpid() != here:  # a child that the job forked: its parent goes on with the job
        os._exit(0)
    _flush()
    if failure:
        line.say(message.job, packed(("failed", failure)))
    else:
        replaced = _left_children() or (line.forked and not adopts) or spoilt
        line.say(message.job, packed(("done", replaced)))
    return not failure


@contextmanager
def memory_limit(memory_mib: float | None) -> Iterator[None]:
    """Let this process allocate so many MiB more; beyond, Python raises MemoryError. Linux only.

    >>> with memory_limit(None):
    ...     pass
    """
    used = Path("/proc/self/statm")
    if memory_mib is None or not used.exists():
        yield
        return
    import resource

    # Pages of data and stack. What is there already, the libraries, is not the job's.
    taken = int(used.read_text().split()[5]) * resource.getpagesize()
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = taken + int(memory_mib * 2**20)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _die_of(code: int) -> NoReturn:
    """End this process as a child of it ended."""
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code > 0 else 0)


def _is_single_threaded() -> bool:
    """Whether this process can fork safely: it has one thread, as only Linux tells."""
    tasks = Path("/proc/self/task")
    return hasattr(os, "fork") and tasks.is_dir() and len(list(tasks.iterdir())) == 1


class _DeferredModule(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> object:
        if self.__dict__.get("_loading") or (name.startswith("__") and name != "__path__"):
            raise AttributeError(name)
        self._loading = True
        sys.modules.pop(self.__name__, None)
        loaded = import_module(self.__name__)
        self.__dict__.update(loaded.__dict__)
        return getattr(loaded, name)


def defer_import(name: str) -> None:
    """Let imports of a package load it when something of it is first used, not before.

    >>> defer_import("this")
    >>> import this
    >>> "d" in vars(this)
    False
    """
    sys.modules.setdefault(name, _DeferredModule(name))


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


def _loaded(data: bytes, script: str | None) -> object:
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


def _end_with_driver(line: Line) -> None:
    line.await_end()
    os._exit(0)


def _control(option: int, value: int) -> bool:
    """Set an attribute of this process (`prctl`); False where there is none. Linux only."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def main() -> None:
    """Serve on standard input and output; what jobs print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    line = Line(os.dup(0), os.dup(1))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    serve(line)
    _flush()
    os._exit(0)  # threads that a job left behind do not keep the process

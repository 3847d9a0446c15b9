"""A worker: how a job is performed, and the process that performs jobs which come through its pipes.

The process is no child in the sense of `multiprocessing`: the user's script is not run again, unless the
function stands in it.
"""

from __future__ import annotations

import os
import queue
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import IO, NamedTuple, cast

Function = Callable[[object], Iterable[object]]

SINGLE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ),
    "1",
)
"""Environment under which the numeric libraries keep to one thread: one job, one core."""
_LENGTH = struct.Struct("!Q")  # what goes through a pipe is a length, then as many bytes


def search_path() -> str:
    """Where this process looks for modules, for the environment of another: it finds the same ones.

    >>> os.pathsep in search_path()
    True
    """
    return os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


def perform(
    function: Function, argument: object, memory_bytes: int | None
) -> Iterator[tuple[str, object]]:
    """Yield ("begun", None), then what the function yields as "heard", then "done" or "failed".

    >>> list(perform(lambda number: [1 / number], 0, None))[-1]
    ('failed', 'ZeroDivisionError: division by zero (...)')
    """
    yield "begun", None
    try:
        with same_folder(), memory_limit(memory_bytes):
            for message in function(argument):
                yield "heard", message
    except GeneratorExit:
        raise
    except BaseException as problem:  # an agent may call sys.exit: its job's failure, not ours
        yield "failed", reason_of(problem, memory_bytes)
    else:
        yield "done", None


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
    said = f"{type(problem).__name__}: {lines[0][:500]}" if lines else type(problem).__name__
    frames = traceback.extract_tb(problem.__traceback__)
    if frames:
        last = frames[-1]
        said += f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"
    if isinstance(problem, MemoryError) and memory_bytes is not None:
        return f"it needed more memory than its limit of {memory_bytes / 2**20:,.0f} MiB: {said}"
    return said


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

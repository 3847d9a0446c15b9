"""A job as its process performs it: what it says, why it failed, and how much memory it may have."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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

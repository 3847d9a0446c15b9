"""Jobs whose answers depend on what earlier jobs left in their process, and on who started it."""

import os
import time
from collections.abc import Iterator

CALLS: list[object] = []


def count_calls(job: object) -> int:
    """How often it has been called in this process, this time included."""
    CALLS.append(job)
    return len(CALLS)


def say_processes(job: object) -> Iterator[tuple[int, int]]:
    """Yield the numbers of this process and of its parent."""
    yield os.getpid(), os.getppid()


def say_processes_and_wait(job: object) -> Iterator[tuple[int, int]]:
    """As above; then give somebody the time to kill this process."""
    yield from say_processes(job)
    time.sleep(0.5)

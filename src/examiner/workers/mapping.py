"""One function over many jobs on local threads: answers in the order of the jobs, the first error wins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")
Progress = Callable[[str, int, int], None]
"""Told the stage, how many jobs are done, and how many there are."""

_MOST_THREADS = 16


def map(
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    stage: str = "working",
) -> list[Answer]:
    """Apply a function to every job and return the answers in the jobs' order.

    Threads suit work that waits for files or runs in compiled code. An error ends the work: the one
    of the earliest job is raised, whatever finished first, and jobs not yet begun are left undone.

    >>> map(abs, [-2, 1, -3])
    [2, 1, 3]
    """
    waiting = list(jobs)
    if threads is None:
        threads = min(_MOST_THREADS, 2 * (os.cpu_count() or 1))
    if threads <= 1 or len(waiting) <= 1:
        return _one_by_one(function, waiting, progress, stage)
    answers = []
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(function, job) for job in waiting]
        try:
            for done, future in enumerate(futures, start=1):
                answers.append(future.result())
                if progress is not None:
                    progress(stage, done, len(futures))
        finally:
            for future in futures:
                future.cancel()
    return answers


def _one_by_one(
    function: Callable[[Job], Answer], jobs: list[Job], progress: Progress | None, stage: str
) -> list[Answer]:
    answers = []
    for done, job in enumerate(jobs, start=1):
        answers.append(function(job))
        if progress is not None:
            progress(stage, done, len(jobs))
    return answers

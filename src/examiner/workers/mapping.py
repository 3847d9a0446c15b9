"""One function over many jobs, on threads or processes: answers in order, the first error wins."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from examiner.workers.crew import Crew, oversee, reason_of
from examiner.workers.messages import packed, unpacked
from examiner.workers.programs import ProcessCrew, available_cores

Job = TypeVar("Job")
Answer = TypeVar("Answer")
Progress = Callable[[str, int, int], None]
"""Told the stage, how many jobs are done, and how many there are."""


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
        threads = min(16, 2 * (os.cpu_count() or 1))  # more wait for the same disk
    if threads <= 1 or len(waiting) <= 1:
        return _in_turn(function, waiting, progress, stage)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(function, job) for job in waiting]
        try:
            return _in_turn(Future[Answer].result, futures, progress, stage)
        finally:
            for future in futures:
                future.cancel()


def map_processes(
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    *,
    processes: int | None = None,
    clean: bool = False,
    progress: Progress | None = None,
    stage: str = "working",
) -> list[Answer]:
    """Apply a function to every job on local processes, one thread each; otherwise like `map`.

    Processes suit work in Python itself. The function, jobs and answers travel between processes:
    the function is known by its module and name, so that a lambda will not do. The number of processes
    changes nothing in the answers; by default there is one for each core. A process that dies is
    replaced and its job begun again, at most three times. Each job gets a process of its own where it
    must be `clean`: where jobs run code that may leave state behind.

    >>> map_processes(abs, [-2, 1, -3], processes=2)
    [2, 1, 3]
    """
    waiting = list(jobs)
    processes = min(available_cores() if processes is None else processes, len(waiting))
    if processes < 1 or (processes == 1 and not clean):
        return _in_turn(function, waiting, progress, stage)
    modules = (function.__module__,) if clean else ()
    crew = ProcessCrew(answered, processes, clean=clean, modules=modules)
    return map_on(crew, function, waiting, progress, stage)


def map_where_it_pays(
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    *,
    processes: int | None = None,
    progress: Progress | None = None,
    stage: str = "working",
) -> Iterator[Answer]:
    """Apply a function to every job here, or on local processes where they are named or work is long.

    Without a number of processes, the first job is done here: the others go to processes if they would
    take ten seconds or more, of which starting processes takes one or two.

    >>> list(map_where_it_pays(abs, [-2, 1, -3]))
    [2, 1, 3]
    """
    if processes is not None:
        yield from map_processes(
            function, jobs, processes=processes, progress=progress, stage=stage
        )
        return
    first, *others = jobs
    start = time.process_time()
    yield function(first)
    if (time.process_time() - start) * len(others) >= 10.0:
        yield from map_processes(function, others, progress=progress, stage=stage)
        return
    for number, job in enumerate(others, 2):
        if progress is not None:
            progress(stage, number, len(others) + 1)
        yield function(job)


def map_ray(
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    *,
    address: str | None = None,
    progress: Progress | None = None,
    stage: str = "working",
) -> list[Answer]:
    """Apply a function to every job on a Ray cluster, one core each; otherwise like `map_processes`.

    `address` is that of a running cluster, `auto` the one on this machine; without it one is started
    here and ended again. Jobs of a node that is lost are begun again elsewhere.

    >>> map_ray(abs, [])
    []
    """
    waiting = list(jobs)
    if not waiting:
        return []
    from examiner.workers.cluster import RayCrew

    crew = RayCrew(answered, address=address, clean=False)
    return map_on(crew, function, waiting, progress, stage)


def map_on(
    crew: Crew,
    function: Callable[[Job], Answer],
    jobs: list[Job],
    progress: Progress | None = None,
    stage: str = "working",
) -> list[Answer]:
    """Apply a function to every job on a crew made for `answered`.

    >>> map_on(ProcessCrew(answered, 1), abs, [-1])
    [1]
    """
    answers: _Answers[Job, Answer] = _Answers(function, jobs, progress, stage)
    with crew, suppress(_EnoughError):
        oversee(crew, range(len(jobs)), answers)
    if answers.errors:
        raise answers.errors[min(answers.errors)]
    return [answers.by_job[job] for job in range(len(jobs))]


def answered(task: tuple[Callable[[Any], object], Any]) -> Iterator[tuple[bool, bytes]]:
    """Yield one message: whether the function worked, and its answer or its error.

    >>> [(worked, unpacked(data)) for worked, data in answered((abs, -2))]
    [(True, 2)]
    """
    function, job = task
    try:
        worked, value = True, packed(function(job))
    except Exception as problem:
        worked = False
        try:
            value = packed(problem)
            unpacked(value)  # some errors can be sent but not received
        except Exception:
            value = packed(RuntimeError(reason_of(problem)))
    yield worked, value


class _EnoughError(Exception):
    """An error was met, and all jobs before it are done."""


@dataclass(slots=True)
class _Answers(Generic[Job, Answer]):
    function: Callable[[Job], Answer]
    jobs: list[Job]
    progress: Progress | None
    stage: str
    by_job: dict[int, Answer] = field(default_factory=dict)
    errors: dict[int, Exception] = field(default_factory=dict)
    ended: int = 0

    def begin(self, job: int) -> object:
        return self.function, self.jobs[job]

    def hear(self, job: int, message: object) -> None:
        worked, data = cast("tuple[bool, bytes]", message)
        if worked:
            self.by_job[job] = cast("Answer", unpacked(data))
        else:
            self.errors[job] = cast("Exception", unpacked(data))

    def end(self, job: int, reason: str | None) -> None:
        if reason is not None:
            self.errors[job] = RuntimeError(f"Job {job + 1} of {len(self.jobs)} failed: {reason}.")
        self.ended += 1
        if self.progress is not None:
            self.progress(self.stage, self.ended, len(self.jobs))
        if self.errors and all(earlier in self.by_job for earlier in range(min(self.errors))):
            raise _EnoughError

    def breathe(self) -> None:
        return


def _in_turn(
    function: Callable[[Job], Answer], jobs: list[Job], progress: Progress | None, stage: str
) -> list[Answer]:
    answers = []
    for count, job in enumerate(jobs, start=1):
        answers.append(function(job))
        if progress is not None:
            progress(stage, count, len(jobs))
    return answers

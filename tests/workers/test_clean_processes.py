"""Jobs start in a clean process: a fork of a worker with one thread, or a new process."""

import os
import signal
from pathlib import Path

import pytest

from examiner.workers import ProcessCrew, map_processes, oversee
from workers import jobs_with_a_thread, jobs_with_state
from workers.jobs_with_state import count_calls
from workers.test_crews import Record

linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux forks")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_job_that_must_be_clean_finds_nothing_of_earlier_jobs(processes: int) -> None:
    assert map_processes(count_calls, range(4), processes=processes, clean=True) == [1] * 4


@linux
def test_every_job_is_a_child_of_its_own_of_one_worker() -> None:
    record = Record([None] * 4)
    with ProcessCrew(jobs_with_state.say_processes, 1) as crew:
        oversee(crew, range(4), record)
    processes, parents = zip(*(record.heard[job][0] for job in range(4)), strict=True)  # type: ignore[misc]
    assert len(set(processes)) == 4 and len(set(parents)) == 1 and os.getpid() not in parents


def test_a_worker_with_threads_does_not_fork_and_is_replaced_after_its_job() -> None:
    record = Record([None] * 3)
    with ProcessCrew(jobs_with_a_thread.say_processes_beside_a_thread, 1) as crew:
        oversee(crew, range(3), record)
    processes, parents = zip(*(record.heard[job][0] for job in range(3)), strict=True)  # type: ignore[misc]
    assert len(set(processes)) == 3 and set(parents) == {os.getpid()}


@linux
def test_a_job_whose_own_process_is_killed_is_begun_again() -> None:
    class Killing(Record):
        def hear(self, job: int, message: object) -> None:
            super().hear(job, message)
            if len(self.heard[job]) == 1:
                os.kill(message[0], signal.SIGKILL)  # type: ignore[index]

    record = Killing([None])
    with ProcessCrew(jobs_with_state.say_processes_and_wait, 1) as crew:
        oversee(crew, [0], record)
    assert record.reasons == {0: None} and len(record.heard[0]) == 2 and record.begun == 2

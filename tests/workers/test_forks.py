"""Agents that fork, leave processes behind or close what is not theirs: no job hears another's words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from child_processes import assert_gone, environment, left
from examiner.workers import Limits, ProcessCrew, oversee
from workers import jobs_that_fork as jobs
from workers.test_crews import Record

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")


def slow(*values: object) -> list[ParameterSet]:
    """Cases of which one stands for the others where time counts."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def heard_after(how: str, folder: Path, **limits: float) -> Record:
    """Run one job that behaves so and a slow one after it, on one worker."""
    record = Record([(f"{how}:{folder}", "odd"), "next"])
    with ProcessCrew(jobs.either, 1) as crew:
        oversee(crew, range(2), record, limits=Limits(**limits), tries=1)
    return record


@pytest.mark.parametrize(
    "how",
    [
        "forks and plays on",
        *slow("forks without python", "forks and raises", "forks and exits"),
    ],
)
def test_a_forked_child_is_heard_neither_in_its_own_job_nor_in_the_next(
    how: str, tmp_path: Path
) -> None:
    record = heard_after(how, tmp_path)
    assert record.reasons == {0: None, 1: None}
    assert record.heard == {0: ["odd"] * 2, 1: ["next"] * 10}
    assert not left(tmp_path)


@pytest.mark.parametrize(
    "how",
    [
        "leaves a daemon",
        *slow("leaves a sleeper", "leaves a program", "leaves a pool"),
        *slow("leaves a program without our variables"),
    ],
)
def test_what_a_job_leaves_behind_ends_before_the_next_begins(how: str, tmp_path: Path) -> None:
    class Looking(Record):
        def begin(self, job: int) -> object:
            if job == 1:
                assert os.listdir(tmp_path), "there was a child"  # noqa: PTH208
                assert not left(tmp_path)
            return super().begin(job)

    record = Looking([(f"{how}:{tmp_path}", "odd"), "next"])
    with ProcessCrew(jobs.either, 1) as crew:
        oversee(crew, range(2), record)
    assert record.reasons == {0: None, 1: None}
    assert record.heard == {0: ["odd"] * 2, 1: ["next"] * 10}


@pytest.mark.parametrize("how", ["leaves a child and dies", *slow("leaves a child and hangs")])
def test_children_end_with_a_worker_that_hangs_or_dies(how: str, tmp_path: Path) -> None:
    record = heard_after(how, tmp_path, silent_seconds=1.5)
    assert record.reasons[0] is not None and record.reasons[1] is None
    assert len(list(tmp_path.iterdir())) == 2 and not left(tmp_path)


def test_a_job_that_leaves_nothing_behind_keeps_its_worker() -> None:
    pids = set()

    class Looking(Record):
        def hear(self, job: int, message: object) -> None:
            super().hear(job, message)
            pids.update(crew.pids())

    record = Looking([("nothing:", "odd"), ("prints junk:", "odd")] * 3)
    with ProcessCrew(jobs.either, 1) as crew:
        oversee(crew, range(6), record)
    assert set(record.reasons.values()) == {None} and len(pids) == 1
    assert all(heard == ["odd"] * 2 for heard in record.heard.values())


@pytest.mark.parametrize("how", ["closes everything and opens files", *slow("closes everything")])
def test_a_job_that_closes_its_worker_s_pipes_fails_in_words_and_keeps_its_own_files(
    how: str, tmp_path: Path
) -> None:
    record = heard_after(how, tmp_path, silent_seconds=5.0)
    assert "closed files that were not its own" in str(record.reasons[0])
    assert record.reasons[1] is None and record.heard[1] == ["next"] * 10
    assert all(not one.stat().st_size for one in tmp_path.iterdir()), "nothing of ours is in them"


@pytest.mark.parametrize("job", [jobs.says_a_lambda, jobs.says_what_nobody_understands])
def test_what_cannot_travel_fails_its_job_and_not_the_run(job: object) -> None:
    record = Record([None])
    with ProcessCrew(job, 1) as crew:  # type: ignore[arg-type]
        oversee(crew, [0], record)
    assert record.heard[0] == [1]
    assert "cannot be sent" in str(record.reasons[0]) or "understood" in str(record.reasons[0])


DRIVER = """
import sys, time
from examiner.workers.programs import ProcessCrew
from workers import jobs_that_fork as jobs
crew = ProcessCrew(jobs.either, 1)
crew.start(0, (sys.argv[1], "odd"))
while not any(event.kind == "heard" for event in crew.events(5.0)): pass
print(crew.pids()[0], flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, *slow(signal.SIGTERM)])
def test_workers_and_their_children_end_with_a_driver_that_is_killed(
    ending: signal.Signals, tmp_path: Path
) -> None:
    words = [sys.executable, "-c", DRIVER, f"leaves a child and hangs:{tmp_path}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as driver:
        assert driver.stdout is not None
        worker = int(driver.stdout.readline())
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.02)
        pids = [worker, *left(tmp_path)]
        driver.send_signal(ending)
    assert len(pids) == 3
    assert_gone(pids)

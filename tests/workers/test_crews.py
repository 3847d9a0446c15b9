"""Crews and their overseer: every fate of a job is told, and none touches the others."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from child_processes import environment
from examiner.workers import JobError, Limits, ProcessCrew, oversee
from workers import jobs_for_workers as jobs

MEBIBYTE = 2**20


class Record:
    """An overseer that remembers what it was told."""

    def __init__(self, arguments: list[object]) -> None:
        self.arguments = arguments
        self.heard: dict[int, list[object]] = {job: [] for job in range(len(arguments))}
        self.reasons: dict[int, str | None] = {}
        self.begun = 0

    def begin(self, job: int) -> object:
        self.begun += 1
        return self.arguments[job]

    def hear(self, job: int, message: object) -> None:
        self.heard[job].append(message)

    def end(self, job: int, reason: str | None) -> None:
        assert job not in self.reasons, "a job ends once"
        self.reasons[job] = reason

    def breathe(self) -> None:
        return


def fates(*how: str, limits: Limits | None = None, log: Path | None = None) -> Record:
    record = Record(list(how))
    memory = None if limits is None else limits.memory_mib
    with ProcessCrew(jobs.behave, 2, memory_mib=memory, log=log) as crew:
        oversee(crew, range(len(how)), record, limits=limits)
    return record


def test_crashing_exiting_hanging_and_hungry_jobs_fail_with_reasons_and_the_rest_is_done() -> None:
    how = ("fine", "crash", "exit", "hang", "busy", "hoard", "fine", "fine")
    limits = Limits(job_seconds=3.0, memory_mib=200)
    record = fates(*how, limits=limits)
    reasons = [record.reasons[job] for job in range(len(how))]
    assert [reason is None for reason in reasons] == [name == "fine" for name in how]
    assert str(reasons[1]).startswith(
        "RuntimeError: the agent's own error (jobs_for_workers.py, line"
    )
    assert "second line" not in str(reasons[1])
    assert str(reasons[2]).startswith("SystemExit: I have had enough")
    assert reasons[3] == reasons[4] == "it took longer than its limit of 3 seconds"
    assert str(reasons[5]).startswith(
        "it needed more memory than its limit of 200 MiB: MemoryError"
    )
    assert record.heard[0] == ["here", "well"] and record.heard[5] == ["here"]


def test_a_silent_job_is_stopped_though_it_has_time_left() -> None:
    record = fates("hang", "fine", limits=Limits(silent_seconds=0.5))
    assert "nothing was heard of it for longer than its limit of 0.5" in str(record.reasons[0])
    assert record.reasons[1] is None


def test_a_job_that_always_kills_its_process_fails_after_three_deaths() -> None:
    record = fates("segfault", "fine")
    assert record.reasons[0] == "its process was ended by signal 11 (SIGSEGV), 3 times in a row"
    assert record.heard[0] == ["here"] * 3
    assert record.reasons[1] is None
    record = Record([None])
    with ProcessCrew(jobs.always_dies, 1) as crew:
        oversee(crew, [0], record, tries=2)
    assert record.reasons[0] == "its process ended with exit code 3, 2 times in a row"
    assert record.begun == 2


def test_a_process_that_leaves_a_child_behind_is_known_to_be_dead() -> None:
    begun = time.monotonic()
    record = Record(["leaves a child", "fine"])
    with ProcessCrew(jobs.behave, 2) as crew:
        oversee(crew, [0, 1], record, tries=1)
    assert str(record.reasons[0]).startswith("its process ended with exit code 6")
    assert record.reasons[1] is None
    assert time.monotonic() - begun < 28, "the children were not waited for"


def test_errors_that_cannot_be_said_or_stored_are_still_told() -> None:
    record = fates("half character", "speechless", "fine")
    assert str(record.reasons[0]).startswith("RuntimeError: no such file: \\udcff.rom (jobs_for")
    assert str(record.reasons[1]).startswith("SpeechlessError (jobs_for_workers.py, line")
    assert record.reasons[2] is None


def test_a_job_begins_in_the_folder_of_the_run_wherever_the_last_one_went() -> None:
    record = Record(["moves", "where"])
    with ProcessCrew(jobs.behave, 1) as crew:
        oversee(crew, [0, 1], record)
    assert record.heard[1] == ["here", str(Path.cwd()), "well"]


def test_deaths_do_not_count_while_the_job_gets_on() -> None:
    class GettingOn(Record):
        def begin(self, job: int) -> object:
            self.begun += 1
            return self.begun if self.begun <= 5 else 0  # each beginning is another

    record = GettingOn([None])
    with ProcessCrew(jobs.dies_unless_zero, 1) as crew:
        oversee(crew, [0], record, tries=2)
    assert record.reasons[0] is None and record.begun == 6


def test_what_jobs_print_goes_to_the_log_and_disturbs_nothing(tmp_path: Path) -> None:
    record = fates("print", "fine", log=tmp_path / "output.log")
    assert record.heard[0] == ["here", "well"]
    said = (tmp_path / "output.log").read_text()
    assert "chatter that must not disturb the pipe" in said and "more of it" in said


def test_an_overseer_can_fail_a_job_by_what_it_hears() -> None:
    class Strict(Record):
        def hear(self, job: int, message: object) -> None:
            super().hear(job, message)
            if job == 0 and message == 3:
                raise JobError("three is not allowed")

    record = Strict([100_000, 10])
    with ProcessCrew(jobs.count_to, 2) as crew:
        oversee(crew, range(2), record)
    assert record.reasons == {0: "three is not allowed", 1: None}
    assert record.heard[0] == [0, 1, 2, 3] and record.heard[1] == list(range(10))


def test_killed_workers_are_replaced_and_every_message_of_a_done_job_arrives() -> None:
    class Killing(Record):
        kills = 0

        def breathe(self) -> None:
            if self.kills < 5 and crew.pids():
                os.kill(crew.pids()[0], signal.SIGKILL)
                self.kills += 1

    record = Killing([5_000] * 6)
    with ProcessCrew(jobs.count_to, 2) as crew:
        oversee(crew, range(6), record, tries=100)
    assert record.kills == 5 and set(record.reasons.values()) == {None}
    for heard in record.heard.values():
        assert heard[-5_000:] == list(range(5_000))


def test_closing_a_crew_leaves_no_process(tmp_path: Path) -> None:
    with ProcessCrew(jobs.behave, 2) as crew:
        for ticket in range(2):
            crew.start(ticket, "busy")
        while sum(event.kind == "heard" for event in crew.events(5.0)) == 0:
            pass
        pids = crew.pids()
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


DRIVER = """
import sys
from examiner.workers.programs import ProcessCrew
from workers import jobs_for_workers as jobs
crew = ProcessCrew(jobs.behave, 1)
crew.start(0, "hang")
while not any(event.kind == "heard" for event in crew.events(5.0)): pass
print(crew.pids()[0], flush=True)
import time; time.sleep(60)
"""


def test_workers_end_when_their_driver_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, text=True, env=environment()
    ) as driver:
        assert driver.stdout is not None
        pid = int(driver.stdout.readline())
        driver.kill()
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the worker lives on without its driver")

"""A map over processes: the answers of a plain loop, whatever the number of processes and their fate."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from child_processes import TESTS
from examiner.workers import map_processes, map_where_it_pays
from workers import jobs_for_workers as jobs


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_answers_are_those_of_a_loop_for_any_number_of_processes(processes: int) -> None:
    numbers = list(range(20))
    assert map_processes(jobs.square, numbers, processes=processes) == [n * n for n in numbers]


def test_answers_stand_in_the_order_of_the_jobs_not_of_their_ends() -> None:
    assert map_processes(jobs.slow_for_small, range(5), processes=3) == [0, 1, 2, 3, 4]


def test_the_error_of_the_earliest_job_is_raised_with_its_type() -> None:
    with pytest.raises(ValueError, match="odd: 1"):
        map_processes(jobs.fails_on_odd, [0, 1, 2, 3, 5, 7], processes=3)


def test_an_error_that_cannot_travel_comes_as_its_sentence() -> None:
    with pytest.raises(
        RuntimeError, match=r"HomelessError: number 0 \(jobs_for_workers.py, line \d+"
    ):
        map_processes(jobs.raises_what_cannot_travel, [0, 1], processes=2)


def test_progress_is_told_of_every_job() -> None:
    told: list[tuple[str, int, int]] = []
    map_processes(
        jobs.square,
        range(4),
        processes=2,
        stage="squaring",
        progress=lambda stage, done, total: told.append((stage, done, total)),
    )
    assert told == [("squaring", done, 4) for done in (1, 2, 3, 4)]


def test_workers_keep_to_one_thread() -> None:
    assert set(map_processes(jobs.thread_setting, range(2), processes=2)) == {"11"}


def test_a_job_whose_process_was_killed_is_done_again(tmp_path: Path) -> None:
    paths = [str(tmp_path / "first"), str(tmp_path / "second")]
    assert map_processes(jobs.dies_once, paths, processes=2) == [5, 5]


@pytest.mark.slow
def test_a_map_on_ray_gives_the_same_answers_and_errors() -> None:
    pytest.importorskip("ray")
    code = (
        "from examiner.workers import map_ray\nfrom workers import jobs_for_workers as jobs\n"
        "import ray; ray.init(num_cpus=2, include_dashboard=False, logging_level='ERROR')\n"
        "print(map_ray(jobs.square, range(5)))\n"
        "try: map_ray(jobs.fails_on_odd, [0, 1, 3])\nexcept ValueError as problem: print(problem)\n"
    )
    lines = run("-c", code, RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", HOME="/tmp").stdout.splitlines()
    assert lines[-2:] == ["[0, 1, 4, 9, 16]", "odd: 1"]


SCRIPT = """
from examiner.workers import map_processes, map_where_it_pays
print("started")
from workers.jobs_for_workers import square
print(map_processes(square, [1, 2, 3], processes=2))
"""


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run(script)
    assert done.stdout.split("\n")[:2] == ["started", "[1, 4, 9]"], done.stderr


def test_a_function_of_the_script_itself_is_found_where_the_script_has_a_guard(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from examiner.workers import map_processes\n"
        "def triple(number):\n    return 3 * number\n"
        "if __name__ == '__main__':\n    print(map_processes(triple, [1, 2], processes=2))\n"
    )
    assert run(script).stdout.strip() == "[3, 6]"


def test_a_function_of_an_interactive_session_is_refused_in_words() -> None:
    code = (
        "from examiner.workers import map_processes\ndef f(x): return x\n"
        "map_processes(f, [1, 2], processes=2)\n"
    )
    done = run("-c", code)
    assert "Put it into a module and import it" in done.stderr


def run(*words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([TESTS, *sys.path])
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": path, **environment},
    )


def test_jobs_go_to_processes_only_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, reported = range(4), []

    def report(stage: str, done: int, total: int) -> None:
        reported.append((done, total))

    here = list(map_where_it_pays(jobs.process, numbers, progress=report))
    assert set(here) == {os.getpid()} and reported == [(2, 4), (3, 4), (4, 4)]
    clock = iter([0.0, 4.0])  # seconds before and after the first job: the others would take twelve
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    first, *others = map_where_it_pays(jobs.process, numbers)
    assert first == os.getpid() and os.getpid() not in others
    assert os.getpid() not in list(map_where_it_pays(jobs.process, numbers, processes=2))

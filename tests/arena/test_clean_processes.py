"""What an agent does to its process changes nothing for other agents, whatever the number of workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.hostile_agents import BEHAVIOURS
from arena.runs import PROTOCOL, rows, states
from child_processes import environment
from examiner.arena import Job, run
from examiner.workers import worker_environment


def job(agent: str, *, seed: int = 0, **settings: object) -> Job:
    return Job(
        agent=f"{agent} {seed} {settings}",
        entry=f"arena.hostile_agents:{agent}",
        settings=settings,
        environment="gymnasium",
        game="CartPole-v1",
        seed=seed,
        protocol=PROTOCOL,
        episodes=3,
    )


def jobs() -> list[Job]:
    """Hostile agents, with a sensitive one after each."""
    return [
        one
        for seed, how in enumerate(BEHAVIOURS)
        for one in (job("Hostile", seed=seed, how=how), job("Sensitive", seed=seed))
    ]


def test_hostile_agents_change_no_other_s_numbers_with_one_or_two_workers_or_alone(
    tmp_path: Path,
) -> None:
    run(jobs(), tmp_path / "one", workers=1)
    run(jobs()[::-1], tmp_path / "two", workers=2)
    one = rows(tmp_path / "one" / "ledger.sqlite")
    assert states(tmp_path / "one" / "ledger.sqlite") == [("done", None)] * len(jobs())
    assert one == rows(tmp_path / "two" / "ledger.sqlite")
    last = jobs()[-1]
    run([last], tmp_path / "alone")
    assert rows(tmp_path / "alone" / "ledger.sqlite") == [row for row in one if row[0] == last.key]


def test_agents_that_use_global_generators_play_different_seeds_differently(tmp_path: Path) -> None:
    run([job("Sensitive", seed=seed) for seed in range(6)], tmp_path, workers=1)
    scores = [row[5] for row in rows(tmp_path / "ledger.sqlite")]
    assert len(set(scores)) > 3


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux forks")
def test_jobs_are_forked_from_one_worker_that_has_loaded_what_they_need(tmp_path: Path) -> None:
    run([job("Parented", seed=seed) for seed in range(3)], tmp_path, workers=1)
    lines = (tmp_path / "output.log").read_text().splitlines()
    assert len(lines) == 3 and len(set(lines)) == 1
    assert lines[0] != f"parent {os.getpid()}", "a new worker for every job imports everything anew"


@pytest.mark.parametrize(
    "packages",
    [
        "ale_py, gymnasium",
        pytest.param("stable_baselines3", marks=pytest.mark.slow),
    ],
)
def test_workers_that_play_have_one_thread_when_they_fork(packages: str) -> None:
    for package in packages.split(", "):
        pytest.importorskip(package)
    code = (
        "import os\nfrom examiner.workers.serving import defer_import\ndefer_import('polars')\n"
        f"import {packages}, examiner.arena.episodes\n"
        "print(len(os.listdir('/proc/self/task')))\n"
        "import polars; print(polars.DataFrame({'a': [1]}).height)"
    )
    settings = environment(**worker_environment())
    done = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True
    )
    assert done.stdout.split() == ["1", "1"], done.stderr

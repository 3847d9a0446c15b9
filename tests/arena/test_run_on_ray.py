"""Runs on a Ray cluster of three nodes, one of them killed on the way: the table of a local run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.runs import cart_pole, cart_pole_plan, rows, states
from arena.test_clean_processes import jobs as hostile_jobs
from arena.test_load import quietly
from child_processes import environment, left
from examiner.arena import Job, Playing, run

pytest.importorskip("ray")
pytestmark = pytest.mark.slow


def jobs_for_ray() -> list[Job]:
    return [
        *(cart_pole("Stateless", seed=seed, episodes=60, slow=0.002) for seed in range(4)),
        *(cart_pole("Learner", seed=seed, episodes=60, slow=0.002) for seed in range(2)),
        cart_pole("Misbehaving", how="crash"),
        cart_pole("Misbehaving", seed=1, how="hang"),
        cart_pole("Misbehaving", seed=2, how="hoard"),
    ]


# In a process of its own: Ray reads its settings when it is imported, and leaves threads behind.
DRIVER = """
import json, sys
from ray.cluster_utils import Cluster
from arena.test_run_on_ray import jobs_for_ray
from examiner.arena import run
from examiner.arena.episodes import perform_job
from examiner.workers import Limits
from examiner.workers.cluster import RayCrew

node = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}
cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
nodes = [cluster.add_node(**node) for _ in range(2)]
killed = []

class Killer:
    def __call__(self, standing):
        if standing.episodes > 60 and not killed:
            killed.append(standing.episodes)
            cluster.remove_node(nodes[0], allow_graceful=False)

limits = Limits(silent_seconds=20.0, memory_mib=400)
outcome = run(
    jobs_for_ray(), sys.argv[1], limits=limits, watcher=Killer(),
    workers=lambda: RayCrew(perform_job, address=cluster.address, memory_mib=limits.memory_mib),
)
print("outcome", json.dumps({
    "done": outcome.done, "killed": killed,
    "failed": {job.settings["how"]: reason for job, reason in outcome.failures.items()},
}))
cluster.shutdown()
"""


def ray_environment() -> dict[str, str]:
    return environment(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")


def test_a_cluster_that_loses_a_node_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    words = [sys.executable, "-c", DRIVER, str(ledger)]
    done = subprocess.run(words, env=ray_environment(), capture_output=True, text=True, timeout=300)
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("outcome")] or [
        done.stderr
    ]
    outcome = json.loads(line.removeprefix("outcome"))
    assert outcome["killed"], "the node was killed while jobs were played"
    assert outcome["done"] == 6 and set(outcome["failed"]) == {"crash", "hang", "hoard"}
    assert outcome["failed"]["crash"].startswith("RuntimeError: out of ideas")
    assert "nothing was heard of it for longer than" in outcome["failed"]["hang"]
    assert "more memory than its limit of 400 MiB" in outcome["failed"]["hoard"]
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # the same episodes, only quicker
    good = jobs_for_ray()[:6]
    keys = {job.key for job in good}
    assert [row for row in rows(ledger) if row[0] in keys] == sorted(
        (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
        for job in good
        for e in Playing(job)
    )
    assert [state for state, _ in states(ledger)] == ["done"] * 6 + ["failed"] * 3


UNTIDY = ("fork", "sleeper", "program", "junk")
UNTIDY_DRIVER = """
import sys
from arena.test_run_on_ray import untidy_jobs
from examiner.arena import run
from examiner.arena.episodes import perform_job
from examiner.workers.cluster import RayCrew
outcome = run(untidy_jobs(sys.argv[2]), sys.argv[1], workers=lambda: RayCrew(perform_job))
sys.exit(len(outcome.failed))
"""


def untidy_jobs(folder: str) -> list[Job]:
    return [
        job
        for seed, how in enumerate(2 * UNTIDY)
        for job in (
            cart_pole("Untidy", seed=seed, how=how, folder=folder),
            cart_pole(seed=seed, slow=0.01),
        )
    ]


def test_what_agents_leave_behind_is_ended_with_their_jobs_on_ray(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    words = [sys.executable, "-c", UNTIDY_DRIVER, str(tmp_path / "ledger.sqlite"), str(pids)]
    done = subprocess.run(words, env=ray_environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(list(pids.iterdir())) == 6 and not left(pids)
    assert rows(tmp_path / "ledger.sqlite") == sorted(
        (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
        for job in untidy_jobs(str(pids))
        for e in quietly(job)
    )


PLAN = cart_pole_plan("ray_side_agent:Still", episodes=3)


def test_the_command_starts_ray_by_itself_and_finds_agents_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "ray_side_agent.py").write_text(
        "class Still:\n    def act(self, observation):\n        return 0\n"
    )
    words = [sys.executable, "-m", "examiner", "arena", "run", str(tmp_path / "plan.toml")]
    words += ["-o", str(tmp_path / "out"), "--workers", "ray", "--json"]
    done = subprocess.run(words, env=os.environ, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["done"], told["episodes"], told["failed"]) == (2, 6, [])


def test_an_address_where_nothing_listens_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace("ray_side_agent:Still", "random"))
    words = [sys.executable, "-m", "examiner", "arena", "run", str(tmp_path / "plan.toml")]
    words += ["-o", str(tmp_path / "out"), "--workers", "ray", "--address", "127.0.0.1:1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "Cannot reach a Ray cluster at '127.0.0.1:1'" in done.stderr


HOSTILE_DRIVER = """
import sys
from arena.test_clean_processes import jobs
from examiner.arena import run
from examiner.arena.episodes import perform_job
from examiner.workers.cluster import RayCrew
outcome = run(jobs(), sys.argv[1], workers=lambda: RayCrew(perform_job))
sys.exit(len(outcome.failed))
"""


def test_hostile_agents_change_no_other_s_numbers_on_ray(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOSTILE_DRIVER, str(tmp_path / "ray")]
    done = subprocess.run(words, env=ray_environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    run(hostile_jobs(), tmp_path / "local", workers=2)
    ledgers = [tmp_path / name / "ledger.sqlite" for name in ("ray", "local")]
    assert rows(ledgers[0]) == rows(ledgers[1])


def test_json_is_all_that_is_printed_when_ray_loses_a_worker(tmp_path: Path) -> None:
    plan = cart_pole_plan("arena.hostile_agents:Parented", episodes=1)
    (tmp_path / "plan.toml").write_text(plan + "settings = { end_grandparent = true }\n")
    words = [sys.executable, "-m", "examiner", "arena", "run", str(tmp_path / "plan.toml")]
    words += ["-o", str(tmp_path / "out"), "--workers", "ray", "--json"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    (first, second) = json.loads(done.stdout)["failed"]
    assert "its process or node was lost" in first["reason"] and second["seed"] == 1
    assert "A worker died or was killed" in done.stderr

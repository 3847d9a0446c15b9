"""Runs that are really killed, starved and crowded: nothing is lost, nothing doubled, the rest goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from arena.runs import cart_pole, cart_pole_plan, rows, states
from child_processes import environment
from examiner.arena import Job, Playing, Protocol, run
from examiner.workers import Limits

pytestmark = pytest.mark.slow
KILLS = 20


def jobs_to_kill() -> list[Job]:
    toys = [
        cart_pole(agent, seed=seed, episodes=350, slow=0.002)
        for seed in range(2)
        for agent in ("Stateless", "Learner")
    ]
    short = Protocol(max_episode_frames=600)
    atari = [Job("random", "random", game="pong", seed=9, protocol=short, episodes=60)]
    return [*toys, *atari]


DRIVER = """
import sys
from arena.test_run_faults import jobs_to_kill
from examiner.arena import run
outcome = run(jobs_to_kill(), sys.argv[1], workers=2)
sys.exit(len(outcome.failed))
"""


def start_driver(ledger: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(ledger)], env=environment())


def workers_of(driver: subprocess.Popen[bytes] | subprocess.Popen[str]) -> list[int]:
    try:
        children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text()
    except OSError:
        return []
    return [int(pid) for pid in children.split()]


def test_workers_and_drivers_killed_at_twenty_random_moments_change_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, rng = tmp_path / "ledger.sqlite", np.random.default_rng()
    killed = {"driver": 0, "worker": 0}
    seen: list[int] = []
    driver = start_driver(ledger)
    for kill in range(KILLS):
        what = "worker" if kill % 2 else "driver"
        while what == "worker" and not workers_of(driver):
            assert driver.poll() is None, "the run ended before all kills; make it longer"
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 2.0))
        assert driver.poll() is None, "the run ended before all kills; make it longer"
        if what == "worker":
            workers = workers_of(driver)
            if workers:
                os.kill(int(rng.choice(workers)), signal.SIGKILL)
                killed[what] += 1
            continue
        driver.kill()
        driver.wait()
        killed[what] += 1
        seen.append(len(rows(ledger)) if ledger.exists() and ledger.stat().st_size else 0)
        driver = start_driver(ledger)
    assert driver.wait(timeout=300) == 0
    assert killed["driver"] >= 5 and killed["worker"] >= 5
    assert seen == sorted(seen), "no committed episode ever goes"
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # the same episodes, only quicker
    expected = sorted(
        (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
        for job in jobs_to_kill()
        for e in Playing(job)
    )
    assert rows(ledger) == expected
    assert {state for state, _ in states(ledger)} == {"done"}


def test_a_hundred_jobs_with_three_bad_agents_complete_the_rest(tmp_path: Path) -> None:
    bad = [
        cart_pole("Misbehaving", seed=s, how=h) for s, h in enumerate(("crash", "hang", "hoard"))
    ]
    good = [cart_pole(seed=seed, episodes=3) for seed in range(97)]
    jobs = [*good[:10], *bad, *good[10:]]
    ledger = tmp_path / "ledger.sqlite"
    limits = Limits(silent_seconds=20.0, memory_mib=400)
    outcome = run(jobs, ledger, workers=2, limits=limits)
    assert (outcome.jobs, outcome.done, len(outcome.failed)) == (100, 97, 3)
    reasons = {job.settings["how"]: reason for job, reason in outcome.failures.items()}
    assert reasons["crash"].startswith("RuntimeError: out of ideas")
    assert "nothing was heard of it for longer than its limit of 20 seconds" in reasons["hang"]
    assert "more memory than its limit of 400 MiB" in reasons["hoard"]
    keys = {job.key for job in good}
    assert [row for row in rows(ledger) if row[0] in keys] == sorted(
        (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
        for job in good
        for e in Playing(job)
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting a tmpfs needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


PLAN = cart_pole_plan("random", episodes=400)


def command(folder: Path, plan: Path) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "examiner",
        "arena",
        "run",
        str(plan),
        "-o",
        str(folder),
        "--json",
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def test_a_full_disk_ends_the_run_with_a_sentence_and_a_ledger_that_opens(
    small_disk: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    folder = small_disk / "run"
    folder.mkdir()
    filler = small_disk / "filler"
    room = shutil.disk_usage(small_disk).free
    filler.write_bytes(bytes(room - 2_220_000))  # the ledger begins, and soon there is no room
    done = command(folder, plan)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("examiner: Cannot write the ledger") and done.stdout == ""
    assert "run the same command again to go on" in done.stderr and "Traceback" not in done.stderr
    committed = rows(folder / "ledger.sqlite")
    assert 0 < len(committed) < 800, "some episodes were committed before"
    assert len(ex.read(folder / "ledger.sqlite")) == len(committed)
    filler.unlink()
    done = command(folder, plan)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["episodes"] == 800 - len(committed)
    final = rows(folder / "ledger.sqlite")
    assert len(final) == 800 and set(committed) <= set(final)


def test_a_disk_without_any_room_is_refused_before_anything_is_played(
    small_disk: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    (small_disk / "filler").write_bytes(bytes(shutil.disk_usage(small_disk).free - 50_000))
    done = command(small_disk / "run", plan)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "Cannot write the ledger" in done.stderr


def test_two_runs_of_one_plan_at_once_the_second_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    driver = start_driver(ledger)
    try:
        while not ledger.exists() or not workers_of(driver):
            time.sleep(0.05)
        second = subprocess.run(
            [sys.executable, "-c", DRIVER, str(ledger)],
            env=environment(),
            capture_output=True,
            text=True,
        )
    finally:
        driver.kill()
        driver.wait()
    assert f"Another run is writing to '{ledger}': process {driver.pid} on" in second.stderr


def test_stopping_by_hand_keeps_everything_and_says_how_to_go_on(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("episodes = 400", "episodes = 4000"))
    folder = tmp_path / "run"
    words = [sys.executable, "-m", "examiner", "arena", "run", str(plan), "-o", str(folder)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as driver:
        while not (folder / "ledger.sqlite").exists() or len(rows(folder / "ledger.sqlite")) < 50:
            time.sleep(0.1)
        workers = workers_of(driver)
        driver.send_signal(signal.SIGINT)
        _, said = driver.communicate(timeout=30)
    assert driver.returncode == 130
    assert (
        said
        == "note: stopped; all episodes so far are kept. The same command goes on with the rest.\n"
    )
    assert workers and not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert len(rows(folder / "ledger.sqlite")) >= 50

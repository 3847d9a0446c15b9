"""SIGTERM, SIGHUP and Ctrl-C end a run in order; killed, it leaves no process behind."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.runs import cart_pole_plan, rows
from child_processes import assert_gone, environment, left

PLAN = cart_pole_plan("stopping_agent:Forking", episodes=100_000)
AGENT = """
import os, time
from pathlib import Path
HERE = Path(__file__).parent / "pids"
class Forking:
    forked = False
    def act(self, observation):
        if not Forking.forked:
            Forking.forked = True
            (HERE / str(os.getpid())).touch()
            if not os.fork():
                os.setsid()
                (HERE / str(os.getpid())).touch()
                time.sleep(60)
        return 0
"""
KEPT = "note: stopped; all episodes so far are kept. The same command goes on with the rest.\n"


def started(folder: Path, **how: object) -> subprocess.Popen[str]:
    """A run whose two workers have each left a child in a session of its own."""
    (folder / "plan.toml").write_text(PLAN)
    (folder / "stopping_agent.py").write_text(AGENT)
    (folder / "pids").mkdir(exist_ok=True)
    words = [
        sys.executable,
        "-m",
        "examiner",
        "arena",
        "run",
        "plan.toml",
        "-o",
        "out",
        "--workers",
        "2",
    ]
    driver = subprocess.Popen(
        words,
        cwd=folder,
        text=True,
        env=environment(),
        **({"stderr": subprocess.PIPE} | how),  # type: ignore[call-overload]
    )
    ledger = folder / "out" / "ledger.sqlite"
    give_up = time.monotonic() + 60
    while len(left(folder / "pids")) < 4 or len(rows(ledger)) < 20:
        assert driver.poll() is None and time.monotonic() < give_up
        time.sleep(0.05)
    return driver


@pytest.mark.parametrize(
    "name",
    [
        "SIGTERM",
        pytest.param("SIGHUP", marks=pytest.mark.slow),
        pytest.param("SIGINT", marks=pytest.mark.slow),
    ],
)
def test_signals_end_a_run_with_a_note_a_code_and_nothing_left(name: str, tmp_path: Path) -> None:
    number = getattr(signal, name)
    with started(tmp_path) as driver:
        pids = left(tmp_path / "pids")
        begun = time.monotonic()
        driver.send_signal(number)
        if name == "SIGTERM":  # a batch system may send more than one
            time.sleep(0.02)
            driver.send_signal(signal.SIGHUP)
        _, said = driver.communicate(timeout=30)
    assert time.monotonic() - begun < 5.0
    assert driver.returncode == 128 + number and said == KEPT
    assert len(pids) == 4 and not left(tmp_path / "pids")
    beside = {one.name for one in (tmp_path / "out").iterdir()}
    assert beside == {"ledger.sqlite", "output.log"}, "neither lock nor log is left"


@pytest.mark.slow
def test_a_killed_run_leaves_no_process_for_longer_than_two_seconds(tmp_path: Path) -> None:
    driver = started(tmp_path)
    pids = left(tmp_path / "pids")
    driver.kill()
    driver.communicate()
    assert len(pids) == 4
    assert_gone(pids)


@pytest.mark.slow
def test_what_nohup_ignores_stays_ignored(tmp_path: Path) -> None:
    ignore: Callable[[], object] = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    with started(tmp_path, preexec_fn=ignore) as driver:
        driver.send_signal(signal.SIGHUP)
        time.sleep(1.0)
        assert driver.poll() is None
        driver.send_signal(signal.SIGTERM)
        driver.communicate(timeout=30)
    assert driver.returncode == 128 + signal.SIGTERM


@pytest.mark.slow
def test_a_terminal_that_is_closed_ends_its_run_in_order(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    driver = started(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    os.close(ours)  # whoever writes from here on gets an error
    driver.send_signal(signal.SIGHUP)
    assert driver.wait(30) == 128 + signal.SIGHUP
    assert not left(tmp_path / "pids")
    assert not list((tmp_path / "out").glob("*.lock"))

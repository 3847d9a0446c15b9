"""What the tests of runs share: jobs on a small environment, the command, and episodes as rows."""

from __future__ import annotations

import contextlib
import io
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from examiner.arena import Job, Playing, Protocol
from examiner.cli import main

PROTOCOL = Protocol(frame_skip=1, sticky_probability=0.1)
COLUMNS = "key, episode, phase, e.frames, length, score, lives, truncated"


def cart_pole(
    agent: str = "Stateless", *, seed: int = 0, episodes: int = 5, **settings: object
) -> Job:
    return Job(
        agent=agent.lower(),
        entry=f"arena.toy_agents:{agent}",
        settings=settings,
        environment="gymnasium",
        game="CartPole-v1",
        seed=seed,
        protocol=PROTOCOL,
        episodes=episodes,
    )


def cart_pole_plan(entry: str, *, episodes: int) -> str:
    """The text of a plan for one agent with two seeds."""
    return f"""
environment = "gymnasium"
games = ["CartPole-v1"]
episodes = {episodes}
seeds = 2
protocol = {{ frame_skip = 1 }}
[[agents]]
entry = "{entry}"
"""


def rows(ledger: Path) -> list[tuple[object, ...]]:
    """Every episode in every column but time and session, in the order of jobs and episodes."""
    database = sqlite3.connect(ledger)
    try:
        return database.execute(
            f"SELECT {COLUMNS} FROM episodes AS e JOIN jobs USING (job) ORDER BY key, episode"
        ).fetchall()
    finally:
        database.close()


def states(ledger: Path) -> Sequence[tuple[str, str | None]]:
    database = sqlite3.connect(ledger)
    try:
        return database.execute("SELECT state, reason FROM jobs ORDER BY job").fetchall()
    finally:
        database.close()


def assert_resuming_changes_nothing(job: Job, *, after: int) -> None:
    """Play a job whole, and again interrupted after so many episodes: scores and checkpoints agree."""
    whole = Playing(job)
    episodes = list(whole)
    begun = Playing(job)
    half = [next(begun) for _ in range(after)]
    again = Playing(job, episodes=after, frames=half[-1].frames, saved=begun.checkpoint())
    rest = list(again)
    assert [one.score for one in half + rest] == [one.score for one in episodes]
    assert again.checkpoint() == whole.checkpoint()


def command(*words: object) -> SimpleNamespace:
    """Run the command in this process: its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["examiner", *map(str, words)]
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())

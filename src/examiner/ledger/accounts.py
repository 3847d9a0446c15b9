"""The account of a job: what a ledger holds of it, and how it gets in and out of the tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from examiner.arena.play.job import Job
from examiner.ledger.checkpoints import Checkpoint
from examiner.wording import InputError, shorten


@dataclass(slots=True)
class Account:
    """What the ledger holds of one job."""

    number: int
    job: Job
    state: str = "waiting"
    reason: str | None = None
    stateless: bool | None = None
    episodes: int = 0
    frames: int = 0
    evaluated: int = 0
    cpu_seconds: float = 0.0
    checkpoint: Checkpoint | None = None


_COLUMNS = (
    *(
        "key",
        "agent",
        "entry",
        "settings",
        "observation",
        "environment",
        "game",
        "mode",
        "difficulty",
    ),
    *("seed", "split", "protocol", "protocol_settings", "episodes", "frames"),
)
INSERT_JOB = f"INSERT INTO jobs ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_IDENTITY = ("agent", "game", "mode", "difficulty", "seed")
_SETTINGS = ("entry", "settings", "observation", "environment", "protocol", "episodes", "frames")


class AccountRow(NamedTuple):
    """What the tables say of a job, beside its episodes."""

    number: int
    state: str
    reason: str | None
    stateless: bool | None
    checkpoint: Checkpoint | None

    def account(self, job: Job) -> Account:
        """Return the account of the job, its episodes not yet counted."""
        return Account(
            self.number, job, self.state, self.reason, self.stateless, checkpoint=self.checkpoint
        )


def account_rows(database: sqlite3.Connection) -> dict[str, AccountRow]:
    """Return what a ledger says of every job, by key."""
    rows = database.execute(
        "SELECT key, jobs.job, state, reason, stateless, c.episode, c.frames, c.evaluated, c.file, "
        "c.sha256 FROM jobs LEFT JOIN checkpoints AS c ON c.job = jobs.job"
    )
    return {
        key: AccountRow(
            number,
            state,
            reason,
            None if stateless is None else bool(stateless),
            None if saved[0] is None else Checkpoint(*saved),
        )
        for key, number, state, reason, stateless, *saved in rows
    }


def count_episodes(accounts: Sequence[Account], database: sqlite3.Connection) -> None:
    """Fill in how many episodes and frames each account has."""
    rows = database.execute(
        "SELECT job, COUNT(*), MAX(frames), SUM(phase = 'evaluation'), SUM(cpu_seconds) "
        "FROM episodes GROUP BY job"
    )
    counts = {number: counted for number, *counted in rows}
    for account in accounts:
        if account.number in counts:
            account.episodes, account.frames, account.evaluated, account.cpu_seconds = counts[
                account.number
            ]


def refuse_holes(database: sqlite3.Connection) -> None:
    """Refuse a ledger from which rows were taken: nobody can tell how it came to be."""
    found = database.execute(
        "SELECT j.agent, j.game, j.seed FROM (SELECT job, COUNT(*) AS many, MAX(episode) AS last FROM "
        "episodes GROUP BY job) AS e LEFT JOIN jobs AS j ON j.job = e.job "
        "WHERE many != last + 1 OR j.job IS NULL LIMIT 1"
    ).fetchone()
    if found is None:
        return
    agent, game, seed = found
    what = (
        "jobs"
        if agent is None
        else f"episodes of {shorten(agent)} on {shorten(game)}, seed {seed},"
    )
    raise InputError(
        f"In the ledger {what} are missing that once were there. Put back a copy of it, or choose "
        f"another folder with `--output`."
    )


def job_row(job: Job, split: str) -> tuple[object, ...]:
    """Return a job as a row of the table."""
    return (
        *(job.key, job.agent, job.entry, json.dumps(dict(job.settings), sort_keys=True)),
        *(job.observation, job.environment, job.game, job.mode, job.difficulty, job.seed, split),
        *(job.protocol.hash, json.dumps(job.protocol.to_dict(), sort_keys=True)),
        *(job.episodes, job.frames),
    )


def refuse_doubles(jobs: Sequence[Job]) -> None:
    """Refuse jobs that results could not tell apart: the same agent, game, variant and seed twice."""
    seen: set[tuple[object, ...]] = set()
    for job in jobs:
        identity = tuple(getattr(job, name) for name in _IDENTITY)
        if identity in seen:
            raise InputError(
                f"Two jobs are {shorten(job.agent)} on {shorten(job.game)}, seed {job.seed}. Give one of "
                f"the agents another name, or leave one out."
            )
        seen.add(identity)


def refuse_other_settings(jobs: Sequence[Job], database: sqlite3.Connection) -> None:
    """Refuse jobs whose place in the results is taken by one that was played under other settings."""
    names = ", ".join((*_IDENTITY, *_SETTINGS))
    places = len(_IDENTITY)
    taken = {row[:places]: row[places:] for row in database.execute(f"SELECT {names} FROM jobs")}
    for job in jobs:
        now: Mapping[str, object] = dict(zip(_COLUMNS, job_row(job, ""), strict=True))
        stored = taken.get(tuple(now[name] for name in _IDENTITY))
        if stored is None:
            continue
        name, before = next(
            ((name, one) for name, one in zip(_SETTINGS, stored, strict=True) if one != now[name]),
            ("settings", stored[1]),
        )
        raise InputError(
            f"The ledger has {shorten(job.agent)} on {shorten(job.game)}, seed {job.seed}, with "
            f"another {name}: {shorten(before)} there, {shorten(now[name])} in the plan. Two protocols "
            f"or budgets do not mix in one ledger: choose another folder with `--output`."
        )

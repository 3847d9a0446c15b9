"""What a ledger holds, for the driver of a run: jobs, and what became of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from examiner.ledger.checkpoints import check_name
from examiner.ledger.integrity import insert_sealed
from examiner.messages import InputError, shorten

Phase = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """How a play in somebody else's framework ended: won (1), not won (0) or not observed (None).

    `status` is "finished" for a game that came to its end; `model_calls` are those of the whole play.

    >>> PlayEnd("crashed", None, 120, "java.lang.NullPointerException").win is None
    True
    """

    status: str
    win: int | None
    model_calls: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole game: from its start to game over or to the protocol's cap.

    `number` counts from 0 over both phases. `frames` are the training frames of the run at the
    episode's end: evaluation adds none. `length` is this episode's, in frames; `lives` are those
    left at its end. Where a framework plays by itself, a job is one episode, and `play` says how it ended.
    """

    number: int
    frames: int
    length: int
    score: float
    lives: int
    truncated: bool
    cpu_seconds: float
    phase: Phase = "training"
    play: PlayEnd | None = None


class JobRecord(NamedTuple):
    """A job as a row of the table: its key, and all that decides what is played.

    Settings of the agent and of the protocol are JSON; `protocol` is a hash. `split` says whether the
    game is for tuning ("train") or for testing ("test"). The `mode` of a GVGAI game is its level.
    """

    key: str
    agent: str
    game: str
    entry: str = ""
    settings: str = "{}"
    observation: str = "raw"
    environment: str = "ale"
    mode: int | None = None
    difficulty: int | None = None
    seed: int = 0
    split: str = "test"
    protocol: str = ""
    protocol_settings: str = "{}"
    episodes: int | None = None
    frames: int | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """By what results tell jobs apart."""
        return tuple(getattr(self, name) for name in _IDENTITY)


_STORED = (
    *("key", "agent", "entry", "settings", "observation", "environment", "game", "mode"),
    *("difficulty", "seed", "split", "protocol", "protocol_settings", "episodes", "frames"),
)
"""The order of the table's columns."""
_IDENTITY = ("agent", "game", "mode", "difficulty", "seed")
_SETTINGS = ("entry", "settings", "observation", "environment", "protocol", "episodes", "frames")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After how many episodes and frames a learner saved itself, and in which file.

    >>> Checkpoint(episodes=10, frames=12_000, evaluated=0).file
    ''
    """

    episodes: int
    frames: int
    evaluated: int
    file: str = ""
    sha256: str = ""


@dataclass(slots=True)
class Account:
    """What the ledger holds of one job."""

    record: JobRecord
    number: int
    state: str = "waiting"
    reason: str | None = None
    stateless: bool | None = None
    episodes: int = 0
    frames: int = 0
    evaluated: int = 0
    cpu_seconds: float = 0.0
    checkpoint: Checkpoint | None = None


def insert(records: Sequence[JobRecord], database: sqlite3.Connection) -> None:
    """Insert the jobs that are not there yet, after refusing what could not be told apart later."""
    known = {key for (key,) in database.execute("SELECT key FROM jobs")}
    new = [record for record in records if record.key not in known]
    if new and known:
        _refuse_other_settings(new, database)
    (last,) = database.execute("SELECT COALESCE(MAX(job), 0) FROM jobs").fetchone()
    rows = [
        (number, *(getattr(record, name) for name in _STORED), None, "waiting", None)
        for number, record in enumerate(new, start=last + 1)
    ]
    insert_sealed(database, "jobs", rows)


def accounts_of(records: Sequence[JobRecord], database: sqlite3.Connection) -> list[Account]:
    """Return what a ledger holds of jobs that were entered, in their order."""
    rows = database.execute(
        "SELECT key, j.job, state, reason, stateless, COALESCE(many, 0), COALESCE(e.frames, 0), "
        "COALESCE(e.evaluated, 0), COALESCE(seconds, 0.0), "
        "c.episode, c.frames, c.evaluated, c.file, c.sha256 "
        "FROM jobs AS j LEFT JOIN checkpoints AS c ON c.job = j.job LEFT JOIN (SELECT job, COUNT(*) AS "
        "many, MAX(frames) AS frames, SUM(phase = 'evaluation') AS evaluated, SUM(cpu_seconds) AS seconds "
        "FROM episodes GROUP BY job) AS e ON e.job = j.job"
    )
    held = {key: (told[:8], told[8:]) for key, *told in rows}
    accounts = []
    for record in records:
        told, saved = held[record.key]
        account = Account(record, *told)
        account.stateless = None if account.stateless is None else bool(account.stateless)
        if saved[0] is not None:
            account.checkpoint = Checkpoint(*saved)
            check_name(account.checkpoint.file)
        accounts.append(account)
    return accounts


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
    episodes = f"episodes of {shorten(agent)} on {shorten(game)}, seed {seed},"
    what = "jobs" if agent is None else episodes
    raise InputError(
        f"In the ledger {what} are missing that once were there. Put back a copy of it, or choose "
        f"another folder with `--output`."
    )


def refuse_doubles(records: Sequence[JobRecord]) -> None:
    """Refuse jobs that results could not tell apart: the same agent, game, variant and seed twice."""
    seen: set[tuple[object, ...]] = set()
    for record in records:
        if record.identity in seen:
            raise InputError(
                f"Two jobs are {shorten(record.agent)} on {shorten(record.game)}, seed {record.seed}. "
                f"Give one of the agents another name, or leave one out."
            )
        seen.add(record.identity)


def _refuse_other_settings(records: Sequence[JobRecord], database: sqlite3.Connection) -> None:
    """Refuse jobs whose place in the results is taken by one that was played under other settings."""
    names, width = ", ".join((*_IDENTITY, *_SETTINGS)), len(_IDENTITY)
    taken = {row[:width]: row[width:] for row in database.execute(f"SELECT {names} FROM jobs")}
    for record in records:
        stored = taken.get(record.identity)
        if stored is None:
            continue
        before = dict(zip(_SETTINGS, stored, strict=True))
        name = next(
            (name for name in _SETTINGS if before[name] != getattr(record, name)), "settings"
        )
        raise InputError(
            f"The ledger has {shorten(record.agent)} on {shorten(record.game)}, seed {record.seed}, with "
            f"another {name}: {shorten(before[name])} there, {shorten(getattr(record, name))} in the "
            f"plan. Two protocols or budgets do not mix in one ledger: choose another folder with "
            f"`--output`."
        )

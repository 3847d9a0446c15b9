"""What a ledger holds: jobs and what became of them, for the driver; episodes as results, for readers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from examiner.ledger.checkpoints import check_name
from examiner.ledger.file import reading
from examiner.ledger.integrity import insert_sealed
from examiner.results.attributes import Provenance
from examiner.results.scale import Scales
from examiner.results.table import Results, assemble
from examiner.wording import InputError, counted, listed, shorten

Phase = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole game: from its start to game over or to the protocol's cap.

    `number` counts from 0 over both phases. `frames` are the training frames of the run at the
    episode's end: evaluation adds none. `length` is this episode's, in frames; `lives` are those
    left at its end.
    """

    number: int
    frames: int
    length: int
    score: float
    lives: int
    truncated: bool
    cpu_seconds: float
    phase: Phase = "training"


class JobRecord(NamedTuple):
    """A job as a row of the table: its key, and all that decides what is played.

    Settings of the agent and of the protocol are JSON; `protocol` is a hash. `split` says whether the
    game is for tuning ("train") or for testing ("test").
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


_QUERY = """
SELECT agent, game AS task, mode, difficulty, seed AS run, episode AS trial, score, e.frames AS frames,
       length, lives, truncated, cpu_seconds, seed, split, environment, key AS job, protocol, session
FROM episodes AS e JOIN jobs AS j ON j.job = e.job WHERE phase = ? ORDER BY j.job, episode
"""
_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("agent", "task", "split", "environment", "job", "protocol"), pl.String),
    **dict.fromkeys(("mode", "difficulty", "run", "trial", "seed", "session"), pl.Int64),
    **dict.fromkeys(("frames", "length", "lives", "truncated"), pl.Int64),
    **dict.fromkeys(("score", "cpu_seconds"), pl.Float64),
}


_ROWS_AT_ONCE = 50_000


class LedgerState(NamedTuple):
    """How many jobs and episodes a ledger holds, and which jobs have not ended well."""

    jobs: int
    unfinished: int
    failed: tuple[tuple[str, str], ...]
    training_episodes: int
    evaluation_episodes: int
    report_points: int
    learners: int


def ledger_results(path: str | Path, phase: Phase | None = None) -> Results:
    """Return the episodes of a run: agent, game, variant, seed (the run), episode (the trial), score, ….

    `phase` chooses training or evaluation episodes; by default those that the protocol reports:
    evaluation where there is any, else training. A run may still be going on.

    >>> ledger_results("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    if not Path(path).is_file():
        raise InputError(f"Cannot read {shorten(path, 200)}: no such file. Check the path.")
    with reading(Path(path)) as database:
        state = _state(database)
        if phase is None:
            phase = "evaluation" if state.evaluation_episodes else "training"
        frame = _episodes(database.execute(_QUERY, (phase,)))
        about = dict(database.execute("SELECT session, versions FROM sessions"))
    if frame.is_empty():
        raise InputError(
            f"The ledger {shorten(path, 200)} holds no {phase} episodes yet, of "
            f"{counted(state.jobs, 'job')}. Run its plan first."
        )
    frame = _with_versions(frame, about).with_columns(pl.col("truncated").cast(pl.Boolean))
    training = state.learners > 0 if phase == "training" else state.report_points > 1
    origin = Provenance(str(path), "ledger", training=training)
    origin = origin.with_notes(*_notes(state, phase))
    item = [name for name in ("mode", "difficulty") if _varies(frame, name)]
    return assemble(frame, ["score"], item, Scales(), origin)


def _episodes(cursor: sqlite3.Cursor) -> pl.DataFrame:
    """The rows as a frame, made in parts: rows of Python take ten times the memory."""
    schema = [(name, _TYPES[name]) for name, *_ in cursor.description]
    parts = [pl.DataFrame(schema=schema)]
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(parts)


def export(ledger: str | Path, path: str | Path, phase: Phase | None = None) -> Path:
    """Write the episodes in a ledger as Parquet, which every command reads; see `ledger_results`.

    >>> export("missing.sqlite", "episodes.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    return ledger_results(ledger, phase).save(path)


def ledger_state(path: str | Path) -> LedgerState:
    """Return how far a run has come.

    >>> ledger_state("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read the ledger 'missing.sqlite': unable to open database \
file. Check the path, or write it again.
    """
    with reading(Path(path)) as database:
        return _state(database)


def _state(database: sqlite3.Connection) -> LedgerState:
    failed = database.execute(
        "SELECT agent || ' on ' || game || ', seed ' || seed, COALESCE(reason, '') FROM jobs "
        "WHERE state = 'failed' ORDER BY job"
    ).fetchall()
    jobs, unfinished, learners = database.execute(
        "SELECT COUNT(*), COALESCE(SUM(state = 'waiting'), 0), COALESCE(SUM(stateless = 0), 0) FROM jobs"
    ).fetchone()
    episodes = dict(database.execute("SELECT phase, COUNT(*) FROM episodes GROUP BY phase"))
    (points,) = database.execute(
        "SELECT COALESCE(MAX(points), 0) FROM (SELECT COUNT(DISTINCT frames) AS points FROM episodes "
        "WHERE phase = 'evaluation' GROUP BY job)"
    ).fetchone()
    counts = (episodes.get("training", 0), episodes.get("evaluation", 0))
    return LedgerState(jobs, unfinished, tuple(failed), *counts, points, learners)


def _notes(state: LedgerState, phase: Phase) -> Sequence[str]:
    notes = []
    if state.failed:
        notes.append(
            f"{counted(len(state.failed), 'job')} of {state.jobs:,} failed, and only the episodes before "
            f"are here: {listed(name for name, _ in state.failed)}."
        )
    if state.unfinished:
        notes.append(
            f"{counted(state.unfinished, 'job')} of {state.jobs:,} not finished: only the episodes so far "
            f"are here."
        )
    if phase == "evaluation" and state.training_episodes:
        notes.append(
            f"These are evaluation episodes, as the protocol reports. "
            f"{counted(state.training_episodes, 'training episode')} are left out: read them with the "
            f"format 'ledger-training'."
        )
    return notes


def _with_versions(frame: pl.DataFrame, about: dict[int, str]) -> pl.DataFrame:
    """The versions of each session's packages, a column each, in place of the session."""
    known = {session: json.loads(text) for session, text in about.items()}
    names = sorted({name for versions in known.values() for name in versions})
    table = pl.DataFrame(
        {"session": list(known)}
        | {
            f"version_{name}": [versions.get(name) for versions in known.values()] for name in names
        },
        schema_overrides={"session": pl.Int64},
    )
    return frame.join(table, on="session", how="left", maintain_order="left").drop("session")


def _varies(frame: pl.DataFrame, name: str) -> bool:
    """Whether any game was played in more than one mode or difficulty: else it is no part of the item."""
    known = frame.select("task", name).drop_nulls()
    return len(known) == len(frame) and known.n_unique() > known["task"].n_unique()

"""What a ledger holds, for readers: its episodes as results, and how far its run has come."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from examiner.ledger.file import reading
from examiner.ledger.records import Phase
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import (
    CHECKPOINT,
    EVALUATION,
    LEARNS,
    Attributes,
    Provenance,
    Results,
    Scales,
    assemble,
    atari_scales,
)

_COLUMNS = """
agent, game AS task, mode, difficulty, variant, seed AS run, episode AS trial, score, e.frames AS frames,
length, lives, truncated, cpu_seconds, seed, split, environment, key AS job, protocol, session,
CASE phase WHEN 'evaluation' THEN 1 END AS evaluation
"""
_QUERY = (
    f"SELECT {_COLUMNS}, status, win, model_calls, p.reason AS reason FROM episodes AS e "
    "JOIN jobs AS j ON j.job = e.job LEFT JOIN plays AS p ON p.job = e.job "
    "WHERE phase IN (?, ?) ORDER BY j.job, episode"
)
_LEARNERS = "SELECT agent, MAX(stateless = 0) FROM jobs GROUP BY agent"
_TEXT = ("agent", "task", "variant", "split", "environment", "job", "protocol", "status", "reason")
_FRACTIONAL = ("score", "cpu_seconds", "win")  # the other columns are whole numbers
_ATARI = "ale"  # the environment of Atari games in the arena


class LedgerState(NamedTuple):
    """How many jobs and episodes a ledger holds, and which jobs have not ended well."""

    jobs: int
    unfinished: int
    failed: tuple[tuple[str, str], ...]
    training_episodes: int
    evaluation_episodes: int
    report_points: int
    learners: int


def ledger_results(path: str | Path, phase: Phase | Literal["both"] | None = None) -> Results:
    """Return the episodes of a run: agent, game, variant, seed (the run), episode (the trial), score, ….

    `phase` chooses training or evaluation episodes, or both; by default those that the protocol
    reports: evaluation where there is any, else training. Evaluations are marked in the column
    `evaluation`, and those after equally many training frames are a `checkpoint`, so that a run counts
    with its last one. A run may still be going on.

    >>> ledger_results("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    if not Path(path).is_file():
        raise InputError(f"Cannot read {shorten(path, 200)}: no such file. Check the path.")
    with reading(Path(path)) as database:
        state = _state(database)
        if phase is None:
            phase = "evaluation" if state.evaluation_episodes else "training"
        phases = ("training", "evaluation") if phase == "both" else (phase, phase)
        frame = _episodes(database.execute(_QUERY, phases))
        learning = dict(database.execute(_LEARNERS))
        packages = dict(database.execute("SELECT session, versions FROM sessions"))
        versions = {session: dict(json.loads(text)) for session, text in packages.items()}
    if frame.is_empty():
        episodes = "episodes" if phase == "both" else f"{phase} episodes"
        raise InputError(
            f"The ledger {shorten(path, 200)} holds no {episodes} yet, of {counted(state.jobs, 'job')}. "
            f"Run its plan first."
        )
    frame = _with_versions(frame, versions).with_columns(pl.col("truncated").cast(pl.Boolean))
    if phase != "evaluation" and not state.evaluation_episodes:
        frame, phase = frame.drop(EVALUATION), "training"
    training = {
        "training": state.learners > 0,
        "evaluation": state.report_points > 1,
        "both": True,  # what was played while learning must not be averaged with what was not
    }[phase]
    origin = Provenance(str(path), "ledger", training=training)
    origin = origin.with_notes(*_notes(state, phase))
    if frame["status"].null_count() == 0:
        return _plays(frame, origin)
    if frame["status"].null_count() == len(frame):  # no job of somebody else's framework
        frame = frame.drop("status", "win", "model_calls", "reason")
    if frame["variant"].null_count() == len(frame):
        frame = frame.drop("variant")
    item = [name for name in ("mode", "difficulty", "variant") if _varies(frame, name)]
    if phase == "evaluation":
        frame = _with_checkpoints(frame)
    results = assemble(frame, ["score"], item, origin)
    if not item and (frame["environment"] == _ATARI).all():
        results = _with_atari_scales(results)
    if not training:
        return results
    values = tuple((bool(learning[agent]),) for agent in results.agents)
    return results.with_attributes(Attributes("agent", results.agents, (LEARNS,), values))


def _with_checkpoints(frame: pl.DataFrame) -> pl.DataFrame:
    """Number evaluations: episodes after equally many training frames are one checkpoint."""
    number = pl.col("frames").rank("dense").over("job").cast(pl.Int64) - 1
    return frame.with_columns(number.alias(CHECKPOINT))


def _with_atari_scales(results: Results) -> Results:
    """Attach the published scales of the games that were played, and say so."""
    played = set(results.tasks)
    scales = Scales(scale for scale in atari_scales() if scale.task in played)
    if not scales:
        return results
    note = (
        f"{counted(len(scales.tasks), 'Atari game')} of {len(played):,} got the published scale, 0 random "
        f"and 1 human (data set 'atari-human-random'). Attach your own to use others."
    )
    return results.with_notes(note).with_scales(scales)


def _plays(frame: pl.DataFrame, origin: Provenance) -> Results:
    """Single plays as results: levels are items, and a play stands for itself as a run and as a trial."""
    frame = frame.drop("difficulty", "variant", "lives", "frames", "trial").rename(
        {"mode": "level", "length": "ticks"}
    )
    frame = frame.with_columns(trial=pl.col("run"))
    ends = Counter(frame["status"].to_list())
    odd = {status: count for status, count in sorted(ends.items()) if status != "finished"}
    if odd:
        counts = ", ".join(f"{count:,} {status}" for status, count in odd.items())
        origin = origin.with_notes(
            f"Not every play came to its end: {counts}, of {len(frame):,}. Capped plays have the score of "
            f"then; wins and scores of the others are not observed, or as far as they were."
        )
    won = frame["win"].null_count() < len(frame)  # wins first, where any was observed
    return assemble(frame, ["win", "score"] if won else ["score"], ["level"], origin)


def _episodes(cursor: sqlite3.Cursor) -> pl.DataFrame:
    """The rows as a frame, made in parts: rows of Python take ten times the memory."""
    # Not a constant: workers import this module, and could not fork once polars is loaded.
    types = dict.fromkeys(_TEXT, pl.String) | dict.fromkeys(_FRACTIONAL, pl.Float64)
    schema = {name: types.get(name, pl.Int64) for name, *_ in cursor.description}
    parts = [pl.DataFrame(schema=schema)]
    while rows := cursor.fetchmany(50_000):
        parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(parts)


def export(ledger: str | Path, path: str | Path, phase: Phase | None = None) -> Path:
    """Write the episodes in a ledger as Parquet, which every command reads; see `ledger_results`.

    >>> export("missing.sqlite", "episodes.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    return ledger_results(ledger, phase).save(path)


def ledger_state(path: str | Path) -> LedgerState:
    """Return how far a run has come.

    >>> ledger_state("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read the ledger 'missing.sqlite': unable to open database \
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


def _notes(state: LedgerState, phase: Phase | Literal["both"]) -> Sequence[str]:
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
        verb = "is" if state.training_episodes == 1 else "are"
        notes.append(
            f"These are evaluation episodes, as the protocol reports. "
            f"{counted(state.training_episodes, 'training episode')} {verb} excluded: read both with the "
            f"format 'ledger-training'."
        )
    return notes


def _with_versions(frame: pl.DataFrame, known: dict[int, dict[str, object]]) -> pl.DataFrame:
    """The versions of each session's packages, a column each, in place of the session."""
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
    if name not in frame.columns:
        return False
    pairs = frame.select("task", name).drop_nulls()
    return len(pairs) == len(frame) and pairs.n_unique() > pairs["task"].n_unique()

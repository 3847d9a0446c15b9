"""A ledger as earlier versions wrote it, statement by statement, is gone on with and read."""

import hashlib
import sqlite3
from pathlib import Path

import examiner as ex
from arena.runs import cart_pole, rows
from examiner.arena import Playing, run

# What is below is what versions before this one wrote. It must never be changed.
SCHEMA = """
PRAGMA application_id = 1163411789;
CREATE TABLE ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    versions TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, entry TEXT NOT NULL,
    settings TEXT NOT NULL, observation TEXT NOT NULL, environment TEXT NOT NULL, game TEXT NOT NULL,
    mode INTEGER, difficulty INTEGER, seed INTEGER NOT NULL, split TEXT NOT NULL,
    protocol TEXT NOT NULL, protocol_settings TEXT NOT NULL, episodes INTEGER, frames INTEGER,
    stateless INTEGER, state TEXT NOT NULL DEFAULT 'waiting', reason TEXT);
CREATE TABLE episodes (
    job INTEGER NOT NULL REFERENCES jobs, episode INTEGER NOT NULL, phase TEXT NOT NULL,
    frames INTEGER NOT NULL, length INTEGER NOT NULL, score REAL, lives INTEGER NOT NULL,
    truncated INTEGER NOT NULL, cpu_seconds REAL NOT NULL, session INTEGER NOT NULL REFERENCES sessions,
    PRIMARY KEY (job, episode)) WITHOUT ROWID;
CREATE TABLE checkpoints (
    job INTEGER PRIMARY KEY REFERENCES jobs, episode INTEGER NOT NULL, frames INTEGER NOT NULL,
    evaluated INTEGER NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL);
INSERT INTO ledger VALUES ('schema', 'examiner.ledger/1');
INSERT INTO sessions VALUES (1, '2025-01-01T00:00:00Z', 'here', 7, '{"numpy": "2.0.0"}', '');
"""
PROTOCOL_HASH = "6bc92de3d8d0ae90"
PROTOCOL_SETTINGS = (
    '{"action_set": "full", "difficulty": null, "evaluation_episodes": 0, "frame_skip": 1, '
    '"max_episode_frames": 18000, "max_start_no_ops": 0, "mode": null, "report_shares": [0.05, 0.25, '
    '0.5, 1.0], "screens": "averaged", "sticky_probability": 0.1, "training_ends_at": "game over", '
    '"training_frames": 200000000, "window_episodes": 100}'
)
JOBS = {
    "0f51af17034050b51b72cb78a9632fe6": ("Stateless", 5, 1),
    "0cbd306f0f905da0268c50d88adc46b5": ("Learner", 6, 0),
}
"""By their keys: the agent, how many episodes it is to play, and whether it keeps nothing between them."""


def begun(folder: Path, *, known: int, saved: int) -> Path:
    """A ledger with the first episodes of two jobs, and a checkpoint of the one that learns."""
    path = folder / "ledger.sqlite"
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    for number, (key, (agent, episodes, stateless)) in enumerate(JOBS.items(), start=1):
        database.execute(
            "INSERT INTO jobs VALUES (?, ?, ?, ?, '{}', 'raw', 'gymnasium', 'CartPole-v1', NULL, NULL, 0, "
            "'test', ?, ?, ?, NULL, ?, 'waiting', NULL)",
            (
                *(number, key, agent.lower(), f"arena.toy_agents:{agent}"),
                *(PROTOCOL_HASH, PROTOCOL_SETTINGS, episodes, stateless),
            ),
        )
        playing = Playing.begin(cart_pole(agent, episodes=episodes))
        for e in (next(playing) for _ in range(known)):
            database.execute(
                "INSERT INTO episodes VALUES (?, ?, 'training', ?, ?, ?, 0, ?, 0.01, 1)",
                (number, e.number, e.frames, e.length, e.score, int(e.truncated)),
            )
            data = playing.checkpoint()
            if data is not None and e.number + 1 == saved:
                (folder / "checkpoints").mkdir()
                file = f"{key}-{saved}.checkpoint"
                (folder / "checkpoints" / file).write_bytes(data)
                database.execute(
                    "INSERT INTO checkpoints VALUES (?, ?, ?, 0, ?, ?)",
                    (number, saved, e.frames, file, hashlib.sha256(data).hexdigest()),
                )
    database.commit()
    database.close()
    return path


def test_a_run_begun_by_an_earlier_version_ends_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    path = begun(tmp_path, known=4, saved=2)
    jobs = [cart_pole(agent, episodes=episodes) for agent, episodes, _ in JOBS.values()]
    assert [job.key for job in jobs] == list(JOBS)
    outcome = run(jobs, path)
    assert (outcome.done, outcome.failed, outcome.episodes) == (2, (), 1 + 2)
    (tmp_path / "anew").mkdir()
    run(jobs, tmp_path / "anew")
    assert rows(path) == rows(tmp_path / "anew" / "ledger.sqlite")


def test_a_ledger_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    results = ex.read(begun(tmp_path, known=3, saved=2))
    assert results.agents == ("stateless", "learner") and len(results) == 6
    assert set(results.column("version_numpy")) == {"2.0.0"}
    assert set(results.column("protocol")) == {PROTOCOL_HASH}

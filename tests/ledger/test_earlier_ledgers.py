"""A ledger as earlier versions wrote it, statement by statement, is gone on with and read."""

import hashlib
import sqlite3
from pathlib import Path

import pytest

import examiner as ex
from arena.runs import cart_pole, rows
from examiner.arena import Ledger, Playing, run
from examiner.ledger import file as ledger_file
from examiner.ledger import repair

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
    folder.mkdir(exist_ok=True)
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
    assert results.agents == ("learner", "stateless") and len(results) == 6
    assert set(results.column("version_numpy")) == {"2.0.0"}
    assert set(results.column("protocol")) == {PROTOCOL_HASH}
    assert schema(tmp_path) == "examiner.ledger/1", "reading changes nothing"


def schema(folder: Path) -> str:
    database = sqlite3.connect(folder / "ledger.sqlite")
    try:
        return str(database.execute("SELECT value FROM ledger").fetchone()[0])
    finally:
        database.close()


def test_a_run_that_goes_on_gives_an_earlier_ledger_its_checksums(tmp_path: Path) -> None:
    path = begun(tmp_path, known=4, saved=2)
    before = rows(path)
    Ledger(path).close()
    assert schema(tmp_path) == "examiner.ledger/2" and rows(path) == before
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("UPDATE episodes SET score = 7 WHERE job = 2 AND episode = 2")
    database.close()
    with pytest.raises(
        ex.InputError, match=r"values of 1 episode differ .* 6 episodes of 8 can be saved"
    ):
        ex.read(path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sessions SET versions = '{half'",
        "UPDATE sessions SET versions = '[1, 2]'",
        "UPDATE episodes SET frames = 'many' WHERE episode = 1",
        "UPDATE jobs SET seed = 'seven'",
    ],
)
def test_values_of_another_kind_are_told_without_checksums_too(change: str, tmp_path: Path) -> None:
    path = begun(tmp_path, known=3, saved=2)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(change)
    database.close()
    with pytest.raises(ex.InputError, match="holds something else than"):
        ex.read(path)


def test_an_earlier_ledger_with_values_of_another_kind_gets_no_checksums_but_can_be_saved(
    tmp_path: Path,
) -> None:
    path = begun(tmp_path / "old", known=3, saved=2)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("UPDATE episodes SET frames = 'many' WHERE episode = 1 AND job = 1")
    database.close()
    with pytest.raises(
        ex.InputError, match=r"something else than numbers\. 4 episodes can be saved"
    ):
        Ledger(path)
    assert repair(path, tmp_path / "new").saved == 4


def test_giving_checksums_is_done_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun(tmp_path, known=4, saved=2)
    before = path.read_bytes()

    def failing(database: sqlite3.Connection) -> None:
        database.execute("UPDATE jobs SET seal = 'half'")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("examiner.ledger.schema.seal_everything", failing)
    with pytest.raises(ex.InputError, match="disk is full"):
        Ledger(path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    Ledger(path).close()
    assert schema(tmp_path) == ledger_file.SCHEMA


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM episodes WHERE episode = 0", "episodes of 'stateless' on .* are missing"),
        ("DELETE FROM jobs", "jobs are missing"),
    ],
)
def test_rows_taken_from_an_earlier_ledger_are_missed(
    change: str, said: str, tmp_path: Path
) -> None:
    path = begun(tmp_path, known=4, saved=2)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(change)
    database.close()
    with pytest.raises(ex.InputError, match=said):
        run([cart_pole(episodes=5)], path)


def test_what_can_be_read_of_a_damaged_earlier_ledger_is_saved_with_a_word_of_caution(
    tmp_path: Path,
) -> None:
    path = begun(tmp_path / "old", known=4, saved=2)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:-1])
    whole = repair(tmp_path / "old", tmp_path / "new")
    assert whole.saved == 8 and not whole.verified
    jobs = [cart_pole(agent, episodes=episodes) for agent, episodes, _ in JOBS.values()]
    assert run(jobs, whole.ledger).failed == ()

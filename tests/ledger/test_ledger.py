"""The ledger: one driver, every committed episode once, and a file that opens whatever happened."""

import dataclasses
import fcntl
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import examiner as ex
from arena.runs import cart_pole, rows
from child_processes import environment
from examiner.arena import Episode, Ledger, Playing
from examiner.ledger import Checkpoint, ledger_results, ledger_state
from examiner.messages import InputError
from examiner.workers import JobError

EPISODE = Episode(0, 20, 20, 20.0, 0, False, 0.1)


def test_episodes_come_back_as_they_were_recorded(tmp_path: Path) -> None:
    job = cart_pole(episodes=4)
    played = list(Playing(job))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (account,) = ledger.enter([job.record()])
        for episode in played:
            ledger.record(account, episode)
        ledger.end(account, None)
    results = ledger_results(tmp_path / "ledger.sqlite")
    for column in ("frames", "length", "score", "lives", "truncated", "cpu_seconds"):
        assert results.column(column) == [getattr(one, column) for one in played]
    assert results.column("trial") == [0, 1, 2, 3] and results.column("run") == [0] * 4
    assert results.agents == ("stateless",) and results.tasks == ("CartPole-v1",)
    assert results.column("job") == [job.key] * 4
    assert results.column("protocol") == [job.protocol.hash] * 4


def test_what_was_not_committed_is_not_there_and_what_was_is(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    (account,) = ledger.enter([cart_pole().record()])
    ledger.record(account, EPISODE)
    ledger.commit()
    ledger.record(account, dataclasses.replace(EPISODE, number=1, frames=40))
    assert len(rows(path)) == 1
    ledger.close()
    assert len(rows(path)) == 2


@pytest.mark.parametrize("column", ["frames", "length", "score", "lives", "truncated", "phase"])
def test_an_episode_played_again_must_be_the_same(tmp_path: Path, column: str) -> None:
    other = {"truncated": True, "phase": "evaluation"}.get(column, 7)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        ledger.record(account, EPISODE)
        ledger.record(account, dataclasses.replace(EPISODE, cpu_seconds=9.0))
        with pytest.raises(JobError, match=f"episode 0 was played again and differs in {column}"):
            ledger.record(account, dataclasses.replace(EPISODE, **{column: other}))
        with pytest.raises(JobError, match="episode 2 came after 1 episodes: one is missing"):
            ledger.record(account, dataclasses.replace(EPISODE, number=2))
    assert len(rows(tmp_path / "ledger.sqlite")) == 1


def test_a_second_driver_is_refused_and_told_who_has_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    code = f"from examiner.arena import Ledger; Ledger({str(path)!r})"
    with Ledger(path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "Another run is writing to" in done.stderr
        assert f"process {os.getpid()} on" in done.stderr
        with pytest.raises(InputError, match="Another run is writing"):
            Ledger(path)
    Ledger(path).close()


def test_a_killed_driver_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    code = (
        f"import os; from ledger.test_ledger import EPISODE, cart_pole; from examiner.arena import Ledger\n"
        f"ledger = Ledger({str(path)!r}); account, = ledger.enter([cart_pole().record()])\n"
        f"ledger.record(account, EPISODE); ledger.commit(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment())
    assert done.returncode == -9
    with Ledger(path) as ledger:
        assert ledger.enter([cart_pole().record()])[0].episodes == 1


def test_a_ledger_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        with pytest.raises(InputError, match="holds no training episodes yet, of 1 job"):
            ex.read(path)
        ledger.record(account, EPISODE)
        ledger.commit()
        results = ex.read(path)
    assert len(results) == 1
    assert "1 job of 1 not finished: only the episodes so far are here." in results.notes


def test_other_files_are_refused_in_words(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE t (x)")
    database.commit()
    database.close()
    with pytest.raises(
        InputError, match=r"is a database, but not a ledger of examiner\. Choose another"
    ):
        Ledger(other)
    with pytest.raises(InputError, match="Cannot tell the format of"):
        ex.read(other)
    with pytest.raises(InputError, match="is a database, but not a ledger"):
        ex.read(other, format="ledger")
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all" * 100)
    with pytest.raises(InputError, match="is not a ledger: file is not a database"):
        Ledger(text)
    os.mkfifo(tmp_path / "pipe.sqlite")
    with pytest.raises(
        InputError, match=r"pipe.sqlite' is no file that a ledger could be\. Choose"
    ):
        Ledger(tmp_path / "pipe.sqlite")
    with pytest.raises(InputError, match=r"Cannot open .*: (Not a directory|File exists)"):
        Ledger(tmp_path / "text.sqlite" / "ledger.sqlite")


def test_a_damaged_ledger_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        ledger.record(account, EPISODE)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(
        InputError, match=r"is damaged: its structure is broken .* Put back a copy of it"
    ):
        ex.read(path)


def test_another_protocol_or_budget_for_the_same_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.enter([cart_pole(episodes=5).record()])
    with Ledger(path) as ledger:
        assert len(ledger.enter([cart_pole(episodes=5).record(), cart_pole(seed=1).record()])) == 2
        with pytest.raises(InputError, match="another episodes: '5' there, '6' in the plan"):
            ledger.enter([cart_pole(episodes=6).record()])
        with pytest.raises(InputError, match="another settings"):
            ledger.enter([cart_pole(slow=0.5).record()])


def test_there_is_always_one_whole_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        assert ledger.checkpoint_data(account) is None
        ledger.keep_checkpoint(account, Checkpoint(1, 20, 0), b"one")
        ledger.keep_checkpoint(account, Checkpoint(2, 40, 0), b"two")
        assert [one.name for one in (tmp_path / "checkpoints").iterdir()] == [
            f"{account.record.key}-2.checkpoint"
        ]
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        assert account.checkpoint is not None and account.checkpoint.episodes == 2
        assert ledger.checkpoint_data(account) == b"two"
        (tmp_path / "checkpoints" / f"{account.record.key}-2.checkpoint").write_bytes(b"tw")
        assert ledger.checkpoint_data(account) is None, "a damaged checkpoint is none"


def test_failed_jobs_are_told_with_the_results(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        good, bad = ledger.enter([cart_pole().record(), cart_pole("Learner").record()])
        for account in (good, bad):
            ledger.record(account, EPISODE)
        ledger.end(good, None)
        ledger.end(bad, "KeyError: 'x'")
    assert ledger_state(path).failed == (("learner on CartPole-v1, seed 0", "KeyError: 'x'"),)
    (note,) = ex.read(path).notes
    assert note.startswith("1 job of 2 failed") and "learner on CartPole-v1, seed 0" in note


def test_what_the_protocol_reports_is_read_unless_training_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole("Learner").record()])
        ledger.note_stateless(account, False)
        ledger.record(account, EPISODE)
        ledger.record(
            account, dataclasses.replace(EPISODE, number=1, phase="evaluation", score=9.0)
        )
        ledger.end(account, None)
    results = ex.read(path)
    assert results.column("score") == [9.0] and not results.provenance.training
    assert "1 training episode is excluded" in results.notes[0]
    both = ex.read(path, format="ledger-training")
    assert both.column("score") == [20.0, 9.0] and both.provenance.training
    assert both.column("evaluation") == [None, 1]
    assert ex.scores.reduce(both).column("score") == [20.0]
    assert ledger_results(path, "training").column("score") == [20.0]


def test_a_closed_ledger_stands_alone_and_reading_it_leaves_nothing_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole(episodes=1).record()])
        ledger.record(account, EPISODE)
    assert len(ledger_results(path)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["ledger.sqlite"]
    with Ledger(path):  # and it is as quick and safe as before when a run goes on
        reader = sqlite3.connect(path)
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        reader.close()


def test_a_reader_at_the_end_of_a_run_does_not_hold_it_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.enter([cart_pole().record()])
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM jobs").fetchone() == (1,)
    ledger.close()
    assert reader.execute("SELECT COUNT(*) FROM jobs").fetchone() == (1,)
    reader.close()
    Ledger(path).close()


def test_a_lock_on_a_file_that_was_just_removed_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    first = Ledger(path)
    waiting = path.with_name("ledger.sqlite.lock").open()  # a second driver, before the first ends
    first.close()
    third = Ledger(path)
    fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(InputError, match="Another run is writing"):
        Ledger(path)
    waiting.close()
    third.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM episodes WHERE episode = 0", "is damaged: episodes of 1 job are missing"),
        ("DELETE FROM jobs", "is damaged: the jobs or sessions of some episodes are missing"),
        ("UPDATE ledger SET value = 'examiner.ledger/9'", "written by another version of examiner"),
    ],
)
def test_a_ledger_that_was_tampered_with_is_refused_before_anything_is_played(
    tmp_path: Path, change: str, said: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        ledger.record(account, EPISODE)
        ledger.record(account, dataclasses.replace(EPISODE, number=1, frames=40))
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(change)
    database.close()
    with pytest.raises(InputError, match=said), Ledger(path) as ledger:
        ledger.enter([cart_pole().record()])


def test_damaged_ledgers_and_locks_are_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.enter([cart_pole(seed=seed).record() for seed in range(100)])
    whole, page = path.read_bytes(), 4096
    path.write_bytes(whole[: 4 * page] + b"\x5a" * (len(whole) - 4 * page))
    damaged = pytest.raises(InputError, match="is damaged: its structure is broken")
    with damaged, Ledger(path) as ledger:
        ledger.enter([cart_pole().record()])
    path.unlink()
    path.with_name("ledger.sqlite.lock").mkdir()
    with pytest.raises(InputError, match=r"Cannot open .*ledger\.sqlite': Is a directory"):
        Ledger(path)

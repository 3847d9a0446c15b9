"""A ledger that is not as it was written is never read as if it were; what is whole of it can be saved."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from arena.runs import cart_pole, rows
from examiner.arena import Episode, Job, Ledger, run
from examiner.ledger import Checkpoint, ledger_results, ledger_state, repair
from examiner.messages import InputError

PAGE = 4096
FLIPS = 120
Table = dict[str, list[object]]


def written(folder: Path, jobs: int = 3, episodes: int = 130) -> Path:
    """A ledger with two sessions, finished and unfinished jobs, and a checkpoint."""
    path = folder / "ledger.sqlite"
    records = [cart_pole(seed=seed, episodes=episodes).record() for seed in range(jobs)]
    rng = np.random.default_rng(3)
    for half in range(2):
        with Ledger(path) as ledger:
            accounts = ledger.enter(records)
            for number in range(half * episodes // 2, (half + 1) * episodes // 2):
                for account in accounts:
                    score = float(rng.normal()) if number % 9 else float("nan")
                    frames = account.frames + int(rng.integers(500))
                    ledger.record(account, Episode(number, frames, 7, score, 0, False, 0.1))
                if number % 5 == 0:
                    ledger.commit()
            if half:
                ledger.end(accounts[0], None)
                ledger.keep_checkpoint(accounts[1], Checkpoint(100, 9, 0), b"weights")
                ledger.end(accounts[-1], "KeyError: 'pong'")
    return path


def held(path: Path) -> tuple[object, Table]:
    """All that a reader can learn from a ledger, numbers as text: what is no number equals itself."""
    results = ledger_results(path)
    table: Table = {name: list(map(str, column)) for name, column in results.to_dict().items()}
    return (ledger_state(path), results.notes), table


def flipped(path: Path, bit: int, folder: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    altered = folder / "flipped" / "ledger.sqlite"
    altered.parent.mkdir(exist_ok=True)
    altered.write_bytes(data)
    return altered


def test_every_flipped_bit_is_told_or_changes_nothing_that_is_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    truth, bits = held(path), path.stat().st_size * 8
    told = 0
    for bit in np.random.default_rng(0).integers(bits, size=FLIPS):
        altered = flipped(path, int(bit), tmp_path)
        try:
            assert held(altered) == truth, f"bit {bit} changed what is read, and nobody said so"
        except InputError as problem:
            told += 1
            assert "flipped/ledger.sqlite'" in str(problem)
    assert told > FLIPS / 3


@pytest.mark.slow
def test_every_flipped_bit_is_told_or_changes_nothing_for_a_run_that_goes_on(
    tmp_path: Path,
) -> None:
    path = written(tmp_path)
    records = [cart_pole(seed=seed, episodes=130).record() for seed in range(3)]

    def accounts(ledger: Path) -> object:
        with Ledger(ledger) as opened:
            return opened.enter(records)

    shutil.copytree(tmp_path, tmp_path.with_name("copy"))
    truth = accounts(tmp_path.with_name("copy") / path.name)
    for bit in np.random.default_rng(1).integers(path.stat().st_size * 8, size=400):
        altered = flipped(path, int(bit), tmp_path)
        try:
            assert accounts(altered) == truth, f"bit {bit}"
        except InputError:
            continue
        finally:
            shutil.rmtree(altered.parent)


def test_a_truncated_ledger_is_refused_at_every_length(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    cuts = [*range(PAGE, len(whole), PAGE), len(whole) - 1, len(whole) - 600]
    assert len(cuts) > 8
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="' is damaged: "):
            ex.read(path)
        with pytest.raises(InputError, match="is damaged"):
            Ledger(path)
        assert path.read_bytes() == whole[:cut], "nothing is written to it"


@pytest.mark.slow
def test_a_damaged_log_of_a_killed_run_gives_an_earlier_moment_or_is_told(tmp_path: Path) -> None:
    path, killed = tmp_path / "ledger.sqlite", tmp_path / "killed"
    ledger = Ledger(path)
    accounts = ledger.enter([cart_pole(seed=seed, episodes=400).record() for seed in range(3)])
    moments = [[]]
    for number in range(400):
        for account in accounts:
            ledger.record(account, Episode(number, number, 7, number / 3, 0, False, 0.1))
        if number % 7 == 0:
            ledger.commit()
            moments.append(rows(path))
    ledger.commit()
    moments.append(rows(path))
    killed.mkdir()
    for name in (path.name, path.name + "-wal"):
        shutil.copy(tmp_path / name, killed / name)
    ledger.close()
    log = killed / (path.name + "-wal")
    whole, whole_file = log.read_bytes(), (killed / path.name).read_bytes()
    assert rows(killed / path.name) == moments[-1] and len(whole) > 50 * PAGE
    earlier = 0
    for bit in np.random.default_rng(2).integers(len(whole) * 8, size=200):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        for one in killed.iterdir():
            one.unlink()
        log.write_bytes(data)
        (killed / path.name).write_bytes(whole_file)
        try:
            found = ledger_results(killed / path.name)
        except InputError:
            continue
        assert rows(killed / path.name) in moments
        assert any("not finished" in note for note in found.notes)
        earlier += len(found) < len(moments[-1])
    assert earlier > 50


CHANGES = {
    "UPDATE episodes SET score = score + 1 WHERE job = 2 AND episode = 50": "1 row of its episodes differ",
    "UPDATE episodes SET score = NULL WHERE job = 2 AND episode = 50": "1 row of its episodes differ",
    "UPDATE episodes SET lives = 'many' WHERE job = 1 AND episode = 9": "1 row of its episodes differ",
    "UPDATE episodes SET phase = 'evaluation'": "390 rows of its episodes differ",
    "DELETE FROM episodes WHERE job = 3 AND episode > 100": "episodes of 1 job are missing",
    "DELETE FROM episodes WHERE job = 3": "episodes of 1 job are missing",
    "UPDATE jobs SET agent = 'better' WHERE job = 1": "values in 1 row of its jobs differ",
    "UPDATE jobs SET state = 'done'": "values in 2 rows of its jobs differ",
    "DELETE FROM jobs WHERE job = 2": "the jobs or sessions of some episodes are missing",
    "UPDATE sessions SET versions = '{}' WHERE session = 1": "1 row of its sessions differ",
    "DELETE FROM sessions": "the jobs or sessions of some episodes are missing",
    "UPDATE checkpoints SET episode = 101": "1 row of its checkpoints differ",
    "UPDATE jobs SET played = 7 WHERE job = 1": "1 row of its jobs differ",
}


@pytest.mark.parametrize(("change", "said"), CHANGES.items())
def test_changed_rows_are_reported_with_the_way_to_repair_them(
    change: str, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(change)
    database.close()
    with pytest.raises(InputError, match=said) as refusal:
        ledger_state(path)
    assert str(refusal.value).endswith("to a new folder, where the run goes on.")


def played(folder: Path) -> tuple[list[Job], Path]:
    """A run of stateless agents and learners, to its end."""
    jobs = [cart_pole(agent, seed=seed, episodes=60) for seed in range(3) for agent in AGENTS]
    return jobs, run(jobs, folder, workers=1).ledger


AGENTS = ("Stateless", "Learner")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Job], Path]:
    return played(tmp_path_factory.mktemp("runs") / "pilot")


@pytest.mark.parametrize(
    "how",
    ["truncated", "a value"]
    + [pytest.param(one, marks=pytest.mark.slow) for one in ("a page", "a job")],
)
def test_a_repaired_run_goes_on_and_ends_as_if_nothing_had_happened(
    how: str, finished: tuple[list[Job], Path], tmp_path: Path
) -> None:
    jobs, whole = finished
    truth, folder = rows(whole), tmp_path / "pilot"
    shutil.copytree(whole.parent, folder)
    path = folder / "ledger.sqlite"
    data = bytearray(path.read_bytes())
    if how == "truncated":
        del data[-2 * PAGE :]
    elif how == "a page":
        pages = range(0, len(data), PAGE)
        last = [page for page in pages if b"training" in data[page : page + PAGE]][-1]
        data[last : last + PAGE] = bytes(PAGE)
    path.write_bytes(data)
    if how in ("a value", "a job"):
        table, column = ("episodes", "length") if how == "a value" else ("jobs", "seed")
        database = sqlite3.connect(path, isolation_level=None)
        database.execute(f"UPDATE {table} SET {column} = {column} + 1 WHERE job = 2")
        database.close()
    before = {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    found = repair(folder)
    assert before == {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    assert found.ledger == tmp_path / "pilot-repaired" / "ledger.sqlite"
    saved = rows(found.ledger)
    assert len(saved) == found.saved and set(saved) < set(truth) and found.saved > 0
    assert found.lost == len(truth) - found.saved or how == "truncated"
    outcome = run(jobs, found.ledger)
    assert not outcome.failures and rows(found.ledger) == truth
    with pytest.raises(InputError, match="is there already, and nothing is overwritten"):
        repair(folder)


def test_only_what_is_damaged_is_repaired(finished: tuple[list[Job], Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is whole: there is nothing to repair"):
        repair(finished[1].parent, tmp_path / "new")
    (tmp_path / "junk.sqlite").write_bytes(b"junk" * 5000)
    with pytest.raises(InputError, match=r"Nothing of .*junk\.sqlite' can be saved"):
        repair(tmp_path / "junk.sqlite", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_numbers_of_numpy_are_kept_like_any(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (account,) = ledger.enter([cart_pole().record()])
        ledger.record(account, Episode(0, np.int64(5), 5, np.float32(-0.0), 0, np.bool_(True), 0.1))  # type: ignore[arg-type]
        ledger.record(account, Episode(1, 9, 4, -float("nan"), 0, False, 0.0))
    results = ledger_results(tmp_path / "ledger.sqlite")
    assert results.column("score")[0] == 0.0 and results.column("truncated") == [True, False]


# ------------------------------------------------------------------------ checkpoints


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "precious.checkpoint"
    path.write_bytes(b"precious")
    return path


def learner(folder: Path) -> Path:
    """A ledger with a checkpoint after ten episodes."""
    path = folder / "run" / "ledger.sqlite"
    path.parent.mkdir()
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole("Learner").record()])
        ledger.keep_checkpoint(account, Checkpoint(0, 0, 0), b"weights")
    return path


def test_links_in_the_folder_of_checkpoints_are_not_followed(tmp_path: Path, victim: Path) -> None:
    path = learner(tmp_path)
    (file,) = (path.parent / "checkpoints").iterdir()
    file.unlink()
    file.symlink_to(victim)
    later = file.with_name(file.name.replace("-0.", "-1."))
    later.symlink_to(victim)
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole("Learner").record()])
        assert ledger.checkpoint_data(account) is None
        ledger.keep_checkpoint(account, Checkpoint(1, 9, 0), b"new")
        assert ledger.checkpoint_data(account) == b"new"
    assert victim.read_bytes() == b"precious" and not file.is_symlink()


# ------------------------------------------------------------------- stopped on the way


@pytest.mark.parametrize("table", ["episodes", "checkpoints", "jobs"])
def test_a_signal_in_the_middle_of_writing_leaves_a_whole_ledger(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from examiner.ledger import ledger as module

    path, insert = tmp_path / "ledger.sqlite", module.insert

    def interrupted(database: sqlite3.Connection, into: str, new: list[tuple[object, ...]]) -> None:
        insert(database, into, new)
        if into == table:  # these rows are in, others are not
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole("Learner").record()])
        ledger.record(account, Episode(0, 9, 9, 1.0, 0, False, 0.1))
        ledger.commit()
        ledger.record(account, Episode(1, 18, 9, 1.0, 0, False, 0.1))
        ledger.record(account, Episode(2, 27, 9, 1.0, 0, False, 0.1))
        monkeypatch.setattr(module, "insert", interrupted)
        ledger.keep_checkpoint(account, Checkpoint(2, 9, 0), b"weights")
    monkeypatch.undo()
    with Ledger(path) as ledger:
        (account,) = ledger.enter([cart_pole("Learner").record()])
        assert account.state == "waiting" and account.episodes == 1 and account.checkpoint is None
    assert len(ledger_results(path)) == 1


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"score REAL", b"scose REAL", "its tables have other columns than were written"),
        (b"examiner.ledger/3", b"examinfr.ledger/3", "its version cannot be read"),
        (b"SQLite format 3", b"SQLitf format 3", "its structure is broken"),
    ],
)
def test_damage_to_names_and_versions_is_damage(
    before: bytes, after: bytes, said: str, tmp_path: Path
) -> None:
    """A byte in the name of a column was 'no such column', and nothing to repair."""
    path = written(tmp_path, jobs=2, episodes=4)
    data = path.read_bytes()
    assert data.count(before)
    path.write_bytes(data.replace(before, after, 1))
    with pytest.raises(InputError, match=said):
        ex.read(path)
    if b"SQLite" not in before:
        assert repair(path, tmp_path / "new").saved == 8

"""Pipes, devices, folders of the system and bombs: nothing hangs, nothing floods the memory."""

from __future__ import annotations

import gzip
import os
import re
import signal
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.arena import plan
from examiner.importers import files, read_agents, read_classification, read_scales, read_tasks
from examiner.importers.templates import PathTemplate

TABLE = b"agent,task,score\na,pong,1\nb,pong,2\n"
READERS = [ex.read, read_tasks, read_agents, read_scales, read_classification, plan, ex.load_saved]
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


@pytest.fixture(autouse=True)
def _no_test_hangs() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise AssertionError("It hangs.")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path / "pipe.csv"


def write_into(pipe: Path, data: bytes) -> None:
    def write() -> None:
        with suppress(BrokenPipeError), pipe.open("wb") as stream:
            stream.write(data)

    threading.Thread(target=write, daemon=True).start()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "/dev/null"])
def test_devices_are_refused_before_they_are_opened(reader, device: str):
    with pytest.raises(ex.InputError, match=r"is a device, not a file"):
        reader(device)


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_that_nobody_writes_into_is_refused(reader, pipe: Path, monkeypatch):
    monkeypatch.setattr("examiner.validation.outside.WRITER_SECONDS", 0.05)
    with pytest.raises(ex.InputError):
        reader(pipe)


def test_a_pipe_whose_writer_is_silent_is_refused(pipe: Path, monkeypatch):
    monkeypatch.setattr("examiner.validation.outside.SILENT_SECONDS", 0.05)
    writer = os.open(pipe, os.O_RDWR)
    with pytest.raises(ex.InputError, match=r"nothing came through the pipe for"):
        ex.read(pipe)
    os.close(writer)


def test_a_pipe_that_drips_for_ever_is_refused(pipe: Path, monkeypatch):
    monkeypatch.setattr("examiner.validation.outside.PIPE_SECONDS", 0.2)
    writer = os.open(pipe, os.O_RDWR)
    ended = threading.Event()

    def drip() -> None:
        while not ended.wait(0.02):
            os.write(writer, b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(ex.InputError, match=r"the pipe did not end within"):
        ex.read(pipe)
    ended.set()
    thread.join()
    os.close(writer)


@pytest.mark.parametrize("packed", [TABLE, gzip.compress(TABLE)], ids=["plain", "packed"])
def test_what_comes_through_a_pipe_is_read(packed: bytes, pipe: Path):
    write_into(pipe, packed)
    assert ex.read(pipe).agents == ("a", "b")


def test_a_table_of_many_blocks_comes_through_a_pipe(pipe: Path):
    rows = b"".join(b"a,t%d,%d\n" % (number, number) for number in range(40_000))
    write_into(pipe, b"agent,task,score\n" + rows)
    assert ex.read(pipe).measure().sum() == sum(range(40_000))


def test_a_pipe_may_hold_so_much_and_no_more(pipe: Path, monkeypatch):
    monkeypatch.setattr(files, "PIPE_BYTES", 2**16)
    write_into(pipe, TABLE * 10_000)
    with pytest.raises(ex.InputError, match=r"came through the pipe"):
        ex.read(pipe)


def test_a_pipe_with_a_bomb_inside_is_refused(pipe: Path):
    write_into(pipe, gzip.compress(bytes(80 * 2**20)))
    with pytest.raises(ex.InputError, match=r"as a zip bomb does"):
        ex.read(pipe)


def test_plans_come_through_pipes_too(pipe: Path):
    write_into(pipe, b'games = ["pong"]\nepisodes = 1\n[[agents]]\nentry = "random"\n')
    assert len(plan(pipe).jobs()) == 1


@pytest.mark.parametrize("source", ["", "*.csv", "**/*.csv"])
def test_pipes_and_devices_in_folders_are_passed_over_and_said(source: str, pipe: Path):
    (pipe.parent / "scores.csv").write_bytes(TABLE)
    (pipe.parent / "zero.csv").symlink_to("/dev/zero")
    results = ex.read(pipe.parent / source)
    assert results.agents == ("a", "b")
    assert any("2 files were skipped that are not regular" in note for note in results.notes)


def test_a_folder_of_pipes_only_is_refused(pipe: Path):
    with pytest.raises(ex.InputError, match=r"There are no files in"):
        ex.read(pipe.parent)


@pytest.mark.parametrize("folder", ["/proc", "/proc/self", "/sys", "/dev"])
def test_folders_of_the_system_are_refused(folder: str):
    if Path(folder).stat().st_dev == Path("/").stat().st_dev:
        pytest.skip("an ordinary folder here")
    with pytest.raises(ex.InputError, match=r"belongs to the system|is like none of|no files"):
        ex.read(folder)


@pytest.mark.parametrize("file", ["/proc/self/status", "/proc/self/mem", "/proc/self/pagemap"])
def test_files_that_the_system_makes_up_are_empty(file: str):
    if not Path(file).exists():
        pytest.skip("not there")
    with pytest.raises(ex.InputError, match=r"is empty"):
        ex.read(file)


def test_links_that_lead_in_circles_end_under_a_pattern_too(tmp_path: Path):
    for name in ("one", "two", "three"):
        (tmp_path / name).symlink_to(tmp_path)
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    (tmp_path / "runs" / "deep" / "scores.csv").write_bytes(TABLE)
    assert ex.read(f"{tmp_path}/**/*.csv").agents == ("a", "b")
    assert ex.read(f"{tmp_path}/**/deep").agents == ("a", "b")
    assert ex.read(f"{tmp_path}/**").agents == ("a", "b")
    with pytest.raises(ex.InputError, match=r"No file is like"):
        ex.read(f"{tmp_path}/**/shallow/*.csv")


def test_folders_nested_deeper_than_python_can_recurse_are_walked(tmp_path: Path):
    (tmp_path / "scores.csv").write_bytes(TABLE)
    deepest = tmp_path
    for _ in range(1100):
        deepest = deepest / "d"
        if len(str(deepest)) > 3500:
            break
        deepest.mkdir()
    assert ex.read(tmp_path).agents == ("a", "b")
    while deepest != tmp_path:  # pytest could not clean up after itself
        with suppress(FileNotFoundError):
            deepest.rmdir()
        deepest = deepest.parent


# ------------------------------------------------------------------ templates


@given(st.lists(st.text("ab_", max_size=2), min_size=2, max_size=5), st.text("ab_x", max_size=12))
def test_templates_match_as_the_pattern_that_they_stand_for(around: list[str], text: str):
    around = [around[0], *(piece or "_" for piece in around[1:-1]), around[-1]]
    names = [f"n{index}" for index in range(len(around) - 1)]
    template = around[0] + "".join(
        f"{{{name}}}{piece}" for name, piece in zip(names, around[1:], strict=True)
    )
    pattern = re.compile("(.+)".join(map(re.escape, around)), re.DOTALL).fullmatch(text)
    wanted = pattern and dict(zip(names, pattern.groups(), strict=True))
    assert PathTemplate.of(f"{template}/").match(Path(text or "_") / "x.csv") == (
        wanted if text else PathTemplate.of(f"{template}/").match(Path("_") / "x.csv")
    )


def test_a_template_of_twelve_joined_names_takes_no_time():
    template = PathTemplate.of("a".join(f"{{n{number}}}" for number in range(12)) + "!/")
    began = time.process_time()
    assert template.match(Path("a" * 240) / "scores.csv") is None
    assert time.process_time() - began < 1.0


# ------------------------------------------------------------------ bombs


def refused_within(path: Path, most_mib: int) -> None:
    tracemalloc.start()
    with pytest.raises(ex.InputError):
        ex.read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most_mib * 2**20


def test_a_bomb_is_refused_early_however_large_it_is(tmp_path: Path):
    block = gzip.compress(b"agent,task,score\n" + bytes(2**24))
    (tmp_path / "bomb.csv.gz").write_bytes(block * 40)  # 640 MiB from 650 kB
    refused_within(tmp_path / "bomb.csv.gz", 100)


def test_an_array_whose_header_never_ends_is_refused(tmp_path: Path):
    header = b"\x93NUMPY\x02\x00" + (2**26).to_bytes(4, "little")
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scores.npy", header + bytes(2**26))
    refused_within(tmp_path / "x.npz", 30)


def test_a_table_of_very_many_equal_rows_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_FREELY_BYTES", 2**20)
    rows = 2**19
    cells = {
        "agent": pl.repeat("a", rows),
        "task": pl.repeat("t", rows),
        "score": pl.repeat(1.0, rows),
    }
    pl.select(**cells).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(ex.InputError, match=r"as a zip bomb does"):
        ex.read(tmp_path / "x.parquet")


def test_stored_answers_and_plans_are_read_only_so_far(tmp_path: Path, monkeypatch):
    (tmp_path / "plan.toml").write_bytes(b"#" * (5 * 2**20))
    with pytest.raises(ex.InputError, match=r"has more than 4,194,304 bytes, too many for a plan"):
        plan(tmp_path / "plan.toml")
    sparse = tmp_path / "fit.json"
    with sparse.open("wb") as stream:
        stream.truncate(2**40)
    monkeypatch.setattr("examiner.storage.documents._MOST_BYTES", 2**20)
    with pytest.raises(ex.InputError, match=r"too many for a stored answer"):
        ex.load_saved(sparse)

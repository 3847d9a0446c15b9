"""Bad input: every message names the file, the line or the value, and what to do."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.importers import files, text
from importers.example_files import EXAMPLES, write_example

quiet = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

TEXTS = {
    "empty": ("x.csv", b"", r"x\.csv' is empty\. Give a file with results"),
    "no rows": ("x.csv", b"agent,task,score\n", r"x\.csv'.*has no rows\. Give at least one"),
    "no agent": ("x.csv", b"task,score\nt,1\n", r"no column for the agent; found 'task', 'score'"),
    "no task": ("x.csv", b"agent,score\na,1\n", r"no column for the task; found 'agent', 'score'"),
    "no measure": ("x.csv", b"agent,task,colour\na,t,red\n", r"No measure found among the columns"),
    "text": (
        "x.csv",
        b"agent,task,score\na,t,1\nb,t,x\n",
        r"line 3: .* 'x', not a number\. Correct",
    ),
    "infinite": ("x.csv", b"agent,task,score\na,t,1\nb,t,-inf\n", r"line 3: .* -inf\. Infinite"),
    "same key": (
        "x.csv",
        b"agent,task,trial,score\na,t,0,1\na,t,0,2\n",
        r"line 3: Row 2 repeats the key of row 1: agent 'a', task 't'.*Give each attempt its own",
    ),
    "ragged": (
        "x.csv",
        b"agent,task,score\na,t,1\nb,t,1,9\n",
        r"line 3 has 4 fields, the header has 3",
    ),
    "short": ("x.csv", b"agent,task,score\na,t,1\nb,t\n", r"line 3 has 2 fields, the header has 3"),
    "merge": (
        "x.csv",
        b"agent,task,score\na,t,1\n<<<<<<< HEAD\nb,t,1\n=======\nb,t,2\n>>>>>>> other\n",
        r"x\.csv', line 3, is a mark of an unresolved git merge .*Resolve the merge first",
    ),
    "merge in JSON lines": (
        "x.jsonl",
        b'{"agent": "a", "task": "t", "score": 1}\n<<<<<<< HEAD\n',
        r"x\.jsonl', line 2, is a mark of an unresolved git merge",
    ),
    "merge in JSON": (
        "x.json",
        b'[{"Iteration": 0, "Value": 1, "Agent": "a"},\n<<<<<<< HEAD\n',
        r"x\.json', line 2, is a mark of an unresolved git merge",
    ),
    "merge in responses": (
        "x.jsonl",
        b'{"subject_id": "a", "responses": {"q": 1}}\n=======\n',
        r"x\.jsonl', line 2, is a mark of an unresolved git merge",
    ),
    "merge in printed plays": (
        "x.log",
        b" ** Playing game a.txt, level a_lvl0.txt (1/1) **\n>>>>>>> main\n",
        r"x\.log', line 2, is a mark of an unresolved git merge",
    ),
    "merge in executor lines": (
        "x.txt",
        b"aliens 0 1 1 8 9\n<<<<<<< HEAD\n",
        r"x\.txt', line 2, is a mark of an unresolved git merge",
    ),
    "broken Parquet": (
        "x.parquet",
        b"PAR1 and no more",
        r"x\.parquet' is not a whole Parquet file",
    ),
    "cut JSON lines": (
        "x.jsonl",
        b'{"agent": "a", "task": "t", "score": 1}\n{"agent": "b", "ta',
        r"line 2 is not a whole JSON object .*Correct or remove the line",
    ),
    "cut JSON": (
        "x.json",
        b'{"DQN": [[1, 2], [3',
        r"x\.json': the JSON is broken at line 1\. .*again",
    ),
    "a key twice": (
        "x.jsonl",
        b'{"agent": "a", "task": "t", "score": 1, "score": 2}\n',
        r"x\.jsonl', line 1, has the key 'score' twice in one object",
    ),
    "a key twice beside a line without it": (
        "x.jsonl",
        b'{"agent": "a", "task": "t", "score": 1, "run": 1, "score": 2}\n'
        b'{"agent": "b", "task": "t", "score": 1}\n',
        r"x\.jsonl', line 1, has the key 'score' twice in one object",
    ),
    "an item twice": (
        "x.jsonl",
        b'{"subject_id": "a", "responses": {"q": 1, "q": 0}}\n',
        r"line 1, has the key 'q' twice",
    ),
    "an algorithm twice": (
        "x.json",
        b'{"a": [[1]], "a": [[2]]}',
        r"x\.json' has the key 'a' twice",
    ),
    "repeated names": ("x.csv", b"agent,pong,pong\na,1,2\n", r"x\.csv'.*'pong' appears twice"),
    "only missing": (
        "x.csv",
        b"agent,task,score\na,t,\nb,t,NA\n",
        r"'score' holds only missing values",
    ),
    "NUL in the middle": (
        "x.csv",
        b"agent,task,score\n" + b"a,t,1\n" * 20_000 + b"a\0,t,1\n",
        r"x\.csv' has a NUL byte on line 20002, which no text has",
    ),
    "a list of records": ("x.json", b'[{"a": 1}]', r"has only the column 'a'"),
    "a deep object": (
        "x.jsonl",
        b'{"a": ' * 100_000,
        r"x.jsonl', line 1, has lists and objects nested in each other more than 100 levels deep",
    ),
    "a response in words": (
        "x.jsonl",
        b'{"subject_id": "a", "responses": {"q": "yes"}}\n',
        r"line 1, has 'yes' as the response to 'q'\. Give 0, 1 or null",
    ),
    "an unknown win": (
        "x.csv",
        b"a,g,0,1,5,9\n" * 60 + b"a,g,0,7,5,9\n",
        r"line 61, has the win '7'\. It is 1 \(win\), 0 \(loss\)",
    ),
    "a result of no game": (
        "x.log",
        b"Result (1->win; 0->lose): Player0:1, Player0-Score:80.0, timesteps:476\n",
        r"line 1, is a result, and no line before it says `\*\* Playing game",
    ),
    "two players": (
        "x.log",
        b" ** Playing game a.txt, level b.txt (1/2) **\nResult (1->win; 0->lose): Player0:1, Player1:0, "
        b"Player0-Score:8.0, Player1-Score:1.0, timesteps:4\n",
        r"line 2, is a result of several players",
    ),
}


@quiet
@pytest.mark.parametrize("case", TEXTS)
def test_bad_text_gets_a_sentence(case: str, tmp_path: Path):
    name, content, message = TEXTS[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ex.InputError, match=message):
        ex.read(tmp_path / name)


def test_a_missing_file_and_a_folder_in_its_place(tmp_path: Path):
    with pytest.raises(ex.InputError, match=r"nowhere\.csv': no such file\. Check the path"):
        ex.read(tmp_path / "nowhere.csv")
    with pytest.raises(ex.InputError, match="cannot be a path"):
        ex.read("nul\0byte.csv")


def test_an_unknown_format_lists_the_known(tmp_path: Path):
    path = write_example(tmp_path, "csv")
    with pytest.raises(ex.InputError, match=r"Unknown format 'monitr'.*'sb3-monitor'"):
        ex.read(path, format="monitr")


def test_undecodable_bytes_are_read_as_cp1252_and_said(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes("agent,task,score\nPokémon,t,1\n".encode("cp1252"))
    with pytest.warns(ex.ExaminerWarning, match=r"not UTF-8 text \(byte 0xe9 on line 2\).*cp1252"):
        assert ex.read(path).agents == ("Pokémon",)


@quiet
@pytest.mark.parametrize("rows", [1, 30_000])
def test_late_undecodable_bytes_change_no_other_name(rows: int, tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"agent,task,score\n" + b"a,t,1\n" * rows + b"b\x81,t,1\nb\x8d,t,2\n")
    results = ex.read(path)
    assert len(results) == rows + 2
    assert len(results.agents) == 3


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@quiet
def test_byte_order_marks_and_other_encodings_are_read(encoding: str, tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes("agent,task,score\r\né,t,1\r\n".encode(encoding))
    assert ex.read(path).agents == ("é",)


def test_a_zip_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_FREELY_BYTES", 2**20)
    path = tmp_path / "x.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"agent,task,score\n" + b"0" * 2**24)
    with pytest.raises(
        ex.InputError, match=r"unpacks to more than .* as a zip bomb .*EXAMINER_MAX_B"
    ):
        ex.read(path)


def test_a_bomb_of_arrays_is_refused_by_what_it_declares(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(files, "UNPACKED_FREELY_BYTES", 2**20)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, DQN=np.zeros((4096, 1024)))
    with pytest.raises(ex.InputError, match="as a zip bomb"):
        ex.read(path)


def test_an_array_cannot_declare_more_than_it_holds(tmp_path: Path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
        head = head.ljust(117) + b"\n"
        archive.writestr("DQN.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(ex.InputError, match="cut off or damaged"):
        ex.read(path, format="rliable")


def test_the_limit_can_be_named(tmp_path: Path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_bytes(b"agent,task,score\n" + b"a,t,1\n" * 20_000)
    monkeypatch.setenv("EXAMINER_MAX_BYTES", "10K")
    with pytest.raises(ex.InputError, match=r"more than the .* GiB that may be read at once"):
        ex.read(path)
    monkeypatch.setenv("EXAMINER_MAX_BYTES", "much")
    with pytest.raises(
        ex.InputError, match=r"EXAMINER_MAX_BYTES is 'much'\. Give a number of bytes"
    ):
        ex.read(path)


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(text, "LONGEST_LINE_BYTES", 2**18)
    path = tmp_path / "x.csv"
    path.write_bytes(b"agent,task,score\na,t,1\n" + b"7" * 2**20)
    with pytest.raises(ex.InputError, match="has a line of more than"):
        ex.read(path)


@pytest.mark.slow
def test_a_line_of_ten_gigabytes_does_not_take_the_memory_down(tmp_path: Path):
    path = tmp_path / "x.csv"
    with path.open("wb") as stream:
        stream.write(b"agent,task,score\n" + b"7" * 100_000)
        stream.truncate(10 * 2**30)
    program = textwrap.dedent(f"""
        import resource, examiner as ex
        ex.read
        resource.setrlimit(resource.RLIMIT_DATA, (2**31, 2**31))
        try:
            ex.read({str(path)!r})
        except ex.InputError as problem:
            print(problem)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "has a line of more than 128 MiB" in done.stdout


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_are_refused(protocol: int, tmp_path: Path):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({"DQN": [[1.0]]}, protocol=protocol))
    with pytest.raises(ex.InputError, match="is a Python pickle, which can run code"):
        ex.read(path)


@quiet
def test_long_seeds_stay_apart(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text(f"agent,task,seed,score\na,t,{2**70},1\na,t,{2**70 + 1},2\n")
    assert ex.read(path).counts()["runs"] == 2
    path.write_text(
        "".join(
            json.dumps({"agent": "a", "task": "t", "seed": 2**64 + extra, "score": 1}) + "\n"
            for extra in (0, 1)
        )
    )
    assert ex.read(path, format="ndjson").counts()["runs"] == 2


def test_whole_numbers_that_are_rounded_are_said(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"agent": "a", "task": "t", "score": 2**53 + 1}) + "\n")
    with pytest.warns(ex.ExaminerWarning, match="rounded to 16 digits: 'score'"):
        ex.read(path)


@quiet
def test_numbers_and_truths_in_one_column_are_not_lost(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"agent": "a", "task": "t", "correct": true}\n{"agent": "b", "task": "t", "correct": 0}\n'
    )
    assert ex.read(path).measure("correct").tolist() == [1, 0]


@pytest.mark.slow
@quiet
def test_a_hundred_thousand_columns_are_read(tmp_path: Path):
    path = tmp_path / "x.csv"
    names = ",".join(f"task_{number}" for number in range(100_000))
    path.write_text(
        f"agent,{names}\na,{','.join(['1'] * 100_000)}\nb,{','.join(['0'] * 100_000)}\n"
    )
    assert len(ex.read(path).tasks) == 100_000


@quiet
def test_a_huge_whole_number_is_refused_or_kept(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"agent": "a", "task": "t", "score": ' + "9" * 400 + "}\n")
    with pytest.raises(ex.InputError):
        ex.read(path)


def test_parquet_with_more_cells_than_memory_is_refused(tmp_path: Path, monkeypatch):
    path = tmp_path / "x.parquet"
    pl.DataFrame(
        {"agent": ["a"] * 10_000, "task": ["t"] * 10_000, "score": [1.0] * 10_000}
    ).write_parquet(path)
    monkeypatch.setenv("EXAMINER_MAX_BYTES", "100K")
    with pytest.raises(ex.InputError, match="may be read at once"):
        ex.read(path)


@quiet
@pytest.mark.parametrize(
    "name", [name for name in EXAMPLES if not EXAMPLES[name][0].endswith((".npz", ".npy", ".eval"))]
)
def test_windows_line_ends_change_nothing(name: str, tmp_path: Path):
    path = write_example(tmp_path, name)
    if name == "parquet":
        pytest.skip("not text")
    before = ex.read(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert ex.read(path) == before


def test_nested_columns_of_parquet_are_left_out_and_said(tmp_path: Path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"agent": ["a"], "task": ["t"], "score": [1.0], "log": [[1, 2]]}).write_parquet(
        path
    )
    with pytest.warns(ex.ExaminerWarning, match="Nested values are left out: 'log'"):
        assert ex.read(path).attributes == ()


@pytest.mark.parametrize("value", [np.float64(1), 1.0, "x", {"t": 1.0}])
def test_single_values_in_the_place_of_columns_are_refused_in_one_sentence(value) -> None:
    with pytest.raises(ex.InputError, match="not a list of values"):
        ex.read({"a": value, "b": value})

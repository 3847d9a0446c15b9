"""Damaged files of every format, alone, packed and in folders: results, or one sentence."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from arena.runs import cart_pole
from examiner.arena import Episode, Ledger
from fuzzing.attack import LONG_SECONDS, attacks, both, survives
from importers.example_files import EXAMPLES
from mutations import damaged_bytes


def ledger(folder: Path) -> bytes:
    path = folder / "made.sqlite"
    with Ledger(path) as kept:
        (account,) = kept.enter([cart_pole().record()])
        for number in range(40):
            kept.record(
                account, Episode(number, 20 * (number + 1), 20, float(number), 0, False, 0.1)
            )
        kept.end(account, None)
    return path.read_bytes()


def mixed_parquet(folder: Path) -> bytes:
    columns = {
        "agent": ["a", "b"] * 40,
        "task": ["t", "t", "u", "u"] * 20,
        "run": [number // 4 for number in range(80)],
        "score": [1.5, None] * 40,
        "note": ["x" * number for number in range(80)],
        "log": [[1, 2]] * 80,
        "key": [b"\xff"] * 80,
    }
    pl.DataFrame(columns).write_parquet(folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


ORIGINALS = EXAMPLES | {
    "ledger": ("ledger.sqlite", ledger),
    "parquet of others": ("x.parquet", mixed_parquet),
}


def footer_damaged(original: bytes, rng: random.Random) -> bytes:
    """A Parquet file whose footer is damaged and its length right: what a look at both ends cannot tell."""
    length = int.from_bytes(original[-8:-4], "little")
    footer = damaged_bytes(original[-8 - length : -8], rng)
    return original[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@both
@pytest.mark.parametrize("name", [name for name in ORIGINALS if not name.startswith("parquet")])
def test_damaged_files_give_results_or_a_sentence(name: str, long: bool, tmp_path: Path) -> None:
    damaged_files(name, long, tmp_path)


@both
@pytest.mark.parametrize("name", ["parquet", "parquet of others"])
def test_damaged_parquet_gives_results_or_a_sentence(name: str, long: bool, tmp_path: Path) -> None:
    """In a process of its own: of some 30,000 damaged files one made polars end the process.

    That is no fault that could be mended here; what it raises is, and every other way to end.
    """
    began, first, crashes = time.monotonic(), 0, 0
    while first == 0 or (long and time.monotonic() - began < LONG_SECONDS):
        call = f"damaged_files({name!r}, {long}, Path({str(tmp_path)!r}), {first})"
        child = subprocess.run(
            [sys.executable, "-c", f"from fuzzing.test_readers import *\n{call}"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert child.returncode <= 0, child.stderr
        crashes += child.returncode < 0
        first = 1 + int((tmp_path / "attack").read_text())
    assert crashes <= 1 + first / 2000


def damaged_files(name: str, long: bool, tmp_path: Path, first: int = 0) -> None:
    """Attack the reader of a format; the number of the attack is left in a file."""
    file_name, content = ORIGINALS[name]
    original = content(tmp_path)
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    path = folder / file_name
    for number, rng in enumerate(attacks(name, long, few=first + 12, first=first), start=first):
        (tmp_path / "attack").write_text(str(number))
        parquet = name.startswith("parquet") and rng.random() < 0.5
        data = (footer_damaged if parquet else damaged_bytes)(original, rng)
        way = rng.choice(["alone", "folder", "named", "packed"])
        for other in folder.iterdir():
            other.unlink()
        (path if way != "packed" else folder / f"{file_name}.gz").write_bytes(
            gzip.compress(data) if way == "packed" else data
        )
        known = None if way != "named" or name == "parquet of others" else name
        source = {"folder": folder, "packed": folder / f"{file_name}.gz"}.get(way, path)
        results = survives(lambda: ex.read(source, format=known))  # noqa: B023  called at once
        if isinstance(results, ex.Results):
            assert len(results) and results.agents and results.tasks
            assert not any(np.isinf(results.measure(measure)).any() for measure in results.measures)


SIDE_TABLE = b"task,random,reference,direction,cost\npong,-20.7,14.6,higher,2\nu,1,2,lower,3\n"


@both
def test_damaged_tables_of_tasks_give_scales_or_a_sentence(long: bool, tmp_path: Path) -> None:
    results = ex.Results.from_numpy([[1.0, 2.0], [3.0, 4.0]], tasks=["pong", "u"])
    readers = [
        lambda path: ex.importers.attach(results, tasks=path),
        lambda path: ex.importers.attach(results, scales=[path]),
        lambda path: ex.importers.attach(results, agents=path),
        ex.importers.read_classification,
    ]
    for rng in attacks("tables of tasks", long, few=30):
        path = tmp_path / "tasks.csv"
        path.write_bytes(damaged_bytes(SIDE_TABLE, rng))
        reader = rng.choice(readers)
        survives(lambda: reader(path))  # noqa: B023  called at once

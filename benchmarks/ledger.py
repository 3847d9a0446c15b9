"""Claim: a ledger takes time like its size, up to ten million episodes: to fill, to go on with, to export.

insert   episodes recorded and committed by the hundred, as a driver does; `seals` is their part of it
open     what everyone does first: SQLite's own check of the structure, then all seals
resume   a driver opens the ledger and learns how far each job is; opening is part of it
export   the episodes read and written as Parquet; opening is part of it
CPU seconds a million episodes at each size; claimed: at most 1.5 × those of the smallest size.
Run: python benchmarks/ledger.py [--episodes 100000 1000000 10000000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from examiner.ledger import Episode, JobRecord, Ledger, export
from examiner.ledger.file import connect_to_read, reading, seal

EPISODES_A_JOB = 1_000
AT_ONCE = 4  # jobs that are played side by side
COMMIT_EVERY = 100


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    begun = time.process_time()
    yield
    seconds[name] = time.process_time() - begun


def records(episodes: int) -> list[JobRecord]:
    jobs = episodes // EPISODES_A_JOB
    return [JobRecord(f"{job:032x}", f"agent-{job % 50}", "pong", seed=job) for job in range(jobs)]


def fill(path: Path, episodes: int, rng: np.random.Generator) -> None:
    with Ledger(path) as ledger:
        accounts = ledger.enter(records(episodes))
        since = 0
        for first in range(0, len(accounts), AT_ONCE):
            scores = rng.normal(size=EPISODES_A_JOB).tolist()
            side_by_side = accounts[first : first + AT_ONCE]
            for number, score in enumerate(scores):
                for account in side_by_side:
                    frames = 500 * (number + 1)
                    ledger.record(account, Episode(number, frames, 500, score, 0, False, 0.01))
                since += len(side_by_side)
                if since >= COMMIT_EVERY:
                    ledger.commit()
                    since = 0
            for account in side_by_side:
                ledger.end(account, None)


def seal_seconds(episodes: int) -> float:
    row = (1, 7, "training", 500, 500, -20.5, 0, 0, 0.01, 1)
    begun = time.process_time()
    for _ in range(20_000):
        seal(row)
    return (time.process_time() - begun) / 20_000 * episodes


def measure(episodes: int) -> dict[str, float]:
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        with timed(seconds, "insert"):
            fill(path, episodes, np.random.default_rng(0))
        seconds["seals"] = seal_seconds(episodes)
        database = connect_to_read(path)
        for check in ("quick_check", "integrity_check"):
            with timed(seconds, check):
                assert database.execute(f"PRAGMA {check}(1)").fetchone() == ("ok",)
        database.close()
        with timed(seconds, "open"), reading(path):
            pass
        with timed(seconds, "resume"), Ledger(path) as ledger:
            assert sum(one.episodes for one in ledger.enter(records(episodes))) == episodes
        with timed(seconds, "export"):
            export(path, path.with_name("episodes.parquet"))
        seconds["bytes"] = path.stat().st_size
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    first: dict[str, float] = {}
    for episodes in parser.parse_args().episodes:
        found = measure(episodes)
        bytes_each = found.pop("bytes") / episodes
        each = {name: 1e6 * seconds / episodes for name, seconds in found.items()}
        first = first or each
        print(f"{episodes:,} episodes, {bytes_each:.0f} bytes each:")
        for name, value in each.items():
            print(
                f"  {name:<16} {found[name]:8.2f} s   {value:7.2f} s a million   "
                f"{value / first[name]:5.2f} × the first"
            )
        most = max(each[name] / first[name] for name in ("insert", "open", "resume", "export"))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"  claimed: at most 1.5 × the first: {'holds' if most <= 1.5 else 'FAILS'}; "
            f"{memory:.1f} GiB of memory at most",
            flush=True,
        )


if __name__ == "__main__":
    main()

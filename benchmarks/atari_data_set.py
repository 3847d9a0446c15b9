"""Turns ledgers of the arena into the table of a bundled data set, and says what its card has to say.

    python benchmarks/atari_data_set.py OUT.parquet LEDGER [LEDGER …]

Ledgers of one data set are played under one protocol but for the frame skip. All their jobs must be done,
unless `--begun` takes what is there. Prints the rows, jobs, core-hours and hash.
Run: python benchmarks/atari_data_set.py table1.parquet sticky/ledger.sqlite dqn-sticky.sqlite
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import polars as pl

from examiner.arena import game_split
from examiner.ledger import ledger_results, ledger_state


def episodes(ledger: Path, *, begun: bool) -> pl.DataFrame:
    """Every episode of a ledger whose jobs are all done."""
    state = ledger_state(ledger)
    if state.unfinished and not begun:
        raise SystemExit(
            f"{ledger}: {state.unfinished} of {state.jobs} jobs are not done. Let the run go on."
        )
    return ledger_results(ledger).to_polars()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("table", type=Path)
    options.add_argument("ledgers", type=Path, nargs="+")
    options.add_argument("--begun", action="store_true")
    given = options.parse_args()
    parts = [episodes(ledger, begun=given.begun) for ledger in given.ledgers]
    rows = pl.concat(parts, how="diagonal_relaxed").sort("agent", "task", "run", "trial")
    splits = {game: game_split(game) for game in rows["task"].unique()}
    rows = rows.with_columns(
        pl.col("cpu_seconds").round(3), pl.col("task").replace_strict(splits).alias("split")
    )
    rows.write_parquet(given.table, compression="zstd", compression_level=19)
    digest = hashlib.sha256(given.table.read_bytes()).hexdigest()
    hours = rows["cpu_seconds"].sum() / 3600
    print(f"{len(rows):,} episodes of {rows['job'].n_unique()} jobs, {hours:.1f} core-hours")
    print(f"{given.table.stat().st_size:,} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()

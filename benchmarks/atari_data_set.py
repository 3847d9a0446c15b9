"""Turns ledgers of the arena into the table of a bundled data set, and says what its card has to say.

    python benchmarks/atari_data_set.py OUT.parquet PART [PART …]

A part is a ledger, or a table made earlier (Parquet), to which later runs are added: give it first, and
its columns and rows stay as they are. Ledgers of one data set are played under one protocol but for the
frame skip. All their jobs must be done, unless `--begun` takes what is there. Prints the rows, jobs,
core-hours and hash.
Run: python benchmarks/atari_data_set.py table1.parquet sticky/ledger.sqlite dqn-sticky.sqlite
     python benchmarks/atari_data_set.py more.parquet table1.parquet dqn-sticky-later.sqlite
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import polars as pl

from examiner.arena import game_split
from examiner.ledger import ledger_results, ledger_state


def episodes(part: Path, *, begun: bool) -> pl.DataFrame:
    """Every episode of a table made earlier, or of a ledger whose jobs are all done."""
    if part.suffix == ".parquet":
        return pl.read_parquet(part)
    state = ledger_state(part)
    if state.unfinished and not begun:
        raise SystemExit(
            f"{part}: {state.unfinished} of {state.jobs} jobs are not done. Let the run go on."
        )
    return ledger_results(part).to_polars()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("table", type=Path)
    options.add_argument("parts", type=Path, nargs="+")
    options.add_argument("--begun", action="store_true")
    given = options.parse_args()
    parts = [episodes(part, begun=given.begun) for part in given.parts]
    rows = pl.concat(parts, how="diagonal_relaxed").sort("agent", "task", "run", "trial")
    if rows.select("job", "trial").is_duplicated().any():
        raise SystemExit("Two parts have the same job. Give every job once.")
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

"""Turns the ledger of the plan gvgai-planners into the data set of that name: its table and its card.

    python benchmarks/gvgai_data_set.py planners/ledger.sqlite FOLDER

Only levels that every controller has played on every game go in, so that the table has no holes that somebody
might take for results. The table goes to `src/examiner/datasets/data`, the card to `cards` beside it; the line
in `DATASETS` (`load.py`) is `"gvgai-planners": load_plays`. Then run `python docs/datasets_page.py`.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import polars as pl

from examiner.ledger import ledger_results, ledger_state

COLUMNS = {
    "agent": "controller that played",
    "game": "game of the GVGAI framework",
    "level": "level of the game, from 0",
    "trial": "number of the play, from 0",
    "win": "1 if the play was won, else 0; empty where that was not observed",
    "score": "score at the end, in points of the game; empty where it was not observed",
    "ticks": "length of the play, in ticks of the game",
    "status": "how the play ended: finished, or capped, disqualified, crashed, hung, exited, undecided",
    "model_calls": "calls of the forward model in the whole play",
    "cpu_seconds": "CPU seconds that the play took",
}


def complete_levels(plays: pl.DataFrame) -> list[int]:
    """Levels of which no cell is missing that any level has."""
    whole = plays.select("agent", "game").n_unique()
    counted = plays.group_by("level").agg(pl.struct("agent", "game").n_unique().alias("cells"))
    return sorted(counted.filter(pl.col("cells") == whole)["level"].to_list())


def table(ledger: Path) -> tuple[pl.DataFrame, dict[str, str]]:
    results = ledger_results(ledger)
    plays = results.to_polars().rename({"task": "game"})
    versions = {
        name.removeprefix("version_"): ", ".join(sorted(set(plays[name].drop_nulls().to_list())))
        for name in plays.columns
        if name in ("version_gvgai", "version_java", "version_examiner")
    }
    plays = plays.filter(pl.col("level").is_in(complete_levels(plays)))
    plays = plays.with_columns(pl.col("win").cast(pl.Int64), pl.col("cpu_seconds").round(2))
    return plays.select(list(COLUMNS)).sort("level", "game", maintain_order=True), versions


def card(plays: pl.DataFrame, versions: dict[str, str], planned: int, digest: str) -> str:
    agents, games = plays["agent"].n_unique(), plays["game"].n_unique()
    levels = sorted(set(plays["level"].to_list()))
    ends = {
        status: count
        for status, count in plays["status"].value_counts().sort("status").iter_rows()
        if status != "finished"
    }
    told = ", ".join(f"{count:,} {status}" for status, count in ends.items()) or "none"
    unseen = plays["score"].null_count()
    notes = [
        f"Of {len(plays):,} plays these did not come to their end: {told}. Capped plays took more than 20 CPU seconds "
        f"and have the score of then; slow games and controllers are capped most. {unseen:,} plays have no outcome.",
        "There is one play per controller and level, so the variation between plays of one level is not known.",
    ]
    if len(plays) < planned:
        notes.append(
            f"{len(plays):,} of {planned:,} planned plays are here: levels {', '.join(map(str, levels))}, complete."
        )
    listed = "\n".join(f'    """{note}""",' for note in notes)
    columns = "\n".join(f'{name} = "{meaning}"' for name, meaning in COLUMNS.items())
    return f'''\
title = "{len(plays):,} plays of {games} GVGAI games by {agents} controllers, {len(levels)} levels each"
returns = "Results"
source = """\\
Played for this package by `examiner run gvgai-planners`; the plan comes with the package. The General Video Game \\
AI framework (github.com/GAIGResearch/GVGAI) at {versions.get("gvgai", "unknown")}, Java {versions.get("java", "unknown")}."""
year = 2026
protocol = """\\
Controllers that the framework comes with: at most 50 calls of the forward model for an action, on a clock of \\
calls, at most 2,000 ticks and 20 CPU seconds a play. All controllers play a level with the same seed of the game."""
changed = [
    "Own measurement: nothing was changed after it. The run is set to the trial on loading: a seed here is that of one play, not of a training run.",
]
notes = [
{listed}
]
licence = "Own measurement, under the licence of this package (MIT)."
file = "gvgai-planners.csv"
sha256 = "{digest}"

[columns]
{columns}
'''


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("ledger", type=Path)
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    plays, versions = table(given.ledger)
    if plays.is_empty():
        raise SystemExit("No level is complete yet: let the run go on.")
    given.folder.mkdir(parents=True, exist_ok=True)
    data = plays.write_csv().encode()
    (given.folder / "gvgai-planners.csv").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    text = card(plays, versions, ledger_state(given.ledger).jobs, digest)
    (given.folder / "gvgai-planners.toml").write_text(text, encoding="utf-8")
    print(f"{len(plays):,} plays, {len(data):,} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()

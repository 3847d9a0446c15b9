"""Turns the ledger of the plan gvgai-planners into the data set of that name: its table and its card.

    python benchmarks/gvgai_data_set.py planners/ledger.sqlite FOLDER

Only levels that every controller has played on every game go in, so that the table has no holes that
somebody might take for results. The table goes to `src/examiner/datasets/data`, the card to `cards`
beside it; the line in `DATASETS` (`load.py`) is `"gvgai-planners": load_plays`. Then run
`python docs/datasets_page.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import polars as pl

from examiner.ledger import ledger_results, ledger_state

LEVELS = 5
COLUMNS = {
    "agent": "controller that played",
    "game": "game of the GVGAI framework",
    "level": "level of the game, from 0",
    "trial": "number of the play, from 0",
    "win": "1 if the play was won, else 0; empty where that was not observed",
    "score": "score at the end, in points of the game; empty where it was not observed",
    "ticks": "length of the play, in ticks of the game",
    "status": "how the play ended: finished, capped, disqualified, crashed, hung, exited, undecided",
    "model_calls": "calls of the forward model in the whole play",
    "cpu_seconds": "CPU seconds that the play took",
}
PROTOCOL = (
    "Controllers that the framework comes with: at most 50 calls of the forward model for an action, on a "
    "clock of calls, at most 2,000 ticks and 20 CPU seconds a play. All controllers play a level with the "
    "same seed of the game."
)
CHANGED = (
    "Own measurement: nothing was changed after it. The run is set to the trial on loading: a seed here is "
    "that of one play, not of a training run."
)


def table(ledger: Path) -> tuple[pl.DataFrame, str]:
    """The plays of complete levels, and the versions they were played with, in words."""
    plays = ledger_results(ledger).to_polars().rename({"task": "game"})
    gvgai, java = (
        ", ".join(sorted(set(plays[f"version_{name}"].drop_nulls().to_list())))
        for name in ("gvgai", "java")
    )
    cells = ledger_state(ledger).jobs // LEVELS
    counted = plays.group_by("level").len().filter(pl.col("len") == cells)
    plays = plays.filter(pl.col("level").is_in(counted["level"].to_list()))
    plays = plays.with_columns(pl.col("win").cast(pl.Int64), pl.col("cpu_seconds").round(2))
    ordered = plays.select(list(COLUMNS)).sort("level", "game", maintain_order=True)
    return ordered, f"(github.com/GAIGResearch/GVGAI) at {gvgai}, Java {java}"


def notes(plays: pl.DataFrame, planned: int) -> list[str]:
    ends = plays["status"].value_counts().sort("status").iter_rows()
    odd = [f"{count:,} {status}" for status, count in ends if status != "finished"]
    said = [
        f"Of {len(plays):,} plays these did not come to their end: {', '.join(odd) or 'none'}. Capped "
        f"plays took more than 20 CPU seconds and have the score of then: slow games and controllers are "
        f"capped most. {plays['score'].null_count():,} plays have no outcome.",
        "There is one play per controller and level, so the variation between plays is not known.",
    ]
    if len(plays) < planned:
        levels = ", ".join(map(str, sorted(set(plays["level"].to_list()))))
        said.append(f"{len(plays):,} of {planned:,} planned plays are here: levels {levels}.")
    return said


def card(plays: pl.DataFrame, versions: str, planned: int, digest: str) -> str:
    agents, games, levels = (plays[name].n_unique() for name in ("agent", "game", "level"))
    fields: dict[str, object] = {
        "title": f"{len(plays):,} plays of {games} GVGAI games by {agents} controllers, "
        f"{levels} levels each",
        "returns": "Results",
        "source": "Played for this package by `examiner arena run gvgai-planners`; the plan comes with the "
        f"package. The General Video Game AI framework {versions}.",
        "year": 2026,
        "protocol": PROTOCOL,
        "changed": [CHANGED],
        "notes": notes(plays, planned),
        "licence": "Own measurement, under the licence of this package (MIT).",
        "file": "gvgai-planners.csv",
        "sha256": digest,
    }
    # JSON's text, numbers and lists are TOML's.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    columns = [f"{name} = {json.dumps(meaning)}" for name, meaning in COLUMNS.items()]
    return "\n".join([*lines, "", "[columns]", *columns, ""])


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

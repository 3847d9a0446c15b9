"""A training log with a known end, and what happens to such logs: gaps, copies, other orders, crashes."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

Row = dict[str, Any]
FINAL = {"late": 1001.0, "early": 601.0}
"""What the agents end with, on average over three seeds."""


def score(agent: str, step: int, seed: int) -> float:
    share = step / 1_000_000
    if agent == "late":
        return (
            1000 / (1 + math.exp(-20 * (min(share, 0.99) - 0.75))) * (share < 1)
            + 1000 * (share == 1)
            + seed
        )
    return 600 * (1 - math.exp(-8 * share)) * (share < 1) + 600 * (share == 1) + seed


def log(every: int = 50_000) -> list[Row]:
    """Two agents, two tasks, three seeds, an evaluation every 50,000 steps up to a million."""
    return [
        {
            "agent": agent,
            "task": task,
            "seed": seed,
            "step": step,
            "score": score(agent, step, seed),
        }
        for agent in FINAL
        for task in ("a", "b")
        for seed in range(3)
        for step in range(0, 1_000_001, every)
    ]


def _shuffled(rows: list[Row]) -> list[Row]:
    rows = list(rows)
    random.Random(1).shuffle(rows)
    return rows


def _moved(rows: list[Row], place: int, to: int) -> list[Row]:
    rows = list(rows)
    rows.insert(to, rows.pop(place))
    return rows


def _without(rows: list[Row], place: int) -> list[Row]:
    return [row for number, row in enumerate(rows) if number != place]


def _renamed(rows: list[Row], old: str, new: str, factor: int = 1) -> list[Row]:
    return [{new if key == old else key: value * factor if key == old else value
             for key, value in row.items()} for row in rows]  # fmt: skip


def _crashed(rows: list[Row]) -> list[Row]:
    return [
        row
        for row in rows
        if not (row["agent"] == "late" and row["seed"] < 2 and row["step"] > 300_000)
    ]


def _with_another_log(rows: list[Row]) -> list[Row]:
    """The log and another of the same runs, at other times."""
    return rows + [row | {"step": row["step"] + 25_000, "score": row["score"] / 2} for row in rows]


READ: dict[str, Callable[[list[Row]], list[Row]]] = {
    "as it is": list,
    "a gap": lambda rows: _without(rows, 30),
    "no last evaluation of one run, and others": lambda rows: _without(rows, 1),
    "one row out of place": lambda rows: _moved(rows, 30, 37),
    "one row among those of another run": lambda rows: _moved(rows, 30, 200),
    "reversed": lambda rows: rows[::-1],
    "shuffled": _shuffled,
    "a column episode": lambda rows: [
        row | {"episode": number % 21} for number, row in enumerate(rows)
    ],
    "a column episode that counts episodes so far": lambda rows: [
        row | {"episode": 7 * (number % 21)} for number, row in enumerate(rows)
    ],
    "a column of lengths of evaluated episodes": lambda rows: [
        row | {"episode_length": 900 + number % 100} for number, row in enumerate(rows)
    ],
    "one copied row": lambda rows: [*rows[:31], rows[30], *rows[31:]],
    "one copied row at the end": lambda rows: [*rows, rows[30]],
    "a copy of the log appended": lambda rows: rows + rows,
    "a resumed run that repeats times": lambda rows: (
        [*(row | {"score": -5.0} for row in rows[:12]), *rows[9:]]
    ),
    "runs begun again after a crash": lambda rows: (
        [row | {"score": -5.0} for row in rows if row["step"] <= 300_000] + rows
    ),
    "runs begun again and given up": lambda rows: (
        rows + [row | {"score": -5.0} for row in rows if row["step"] <= 300_000]
    ),
    "other intervals": lambda rows: [
        row for row in rows if row["agent"] == "late" or row["step"] % 100_000 == 0
    ],
    "intervals that change": lambda rows: [
        row for row in rows if row["step"] <= 300_000 or row["step"] % 100_000 == 0
    ],
    "crashed runs": _crashed,
    "times in frames": lambda rows: _renamed(rows, "step", "frames", 4),
    "times in fractions": lambda rows: _renamed(rows, "step", "global_step", 1.0),
    "times that wait for the end of an episode": lambda rows: [
        row | {"step": row["step"] + (37 * number) % 1000 * (row["step"] < 1_000_000)}
        for number, row in enumerate(rows)
    ],
}
"""What is read as the log that it is."""

REFUSED: dict[str, Callable[[list[Row]], list[Row]]] = {
    "another log between the times of the first": lambda rows: _with_another_log(rows),
    "two whole logs of the same runs": lambda rows: (
        rows + [row | {"score": row["score"] + 5} for row in rows]
    ),
    "two logs at alternating times, shuffled": lambda rows: _shuffled(_with_another_log(rows)),
    "two logs at alternating times, sorted": lambda rows: sorted(
        _with_another_log(rows), key=lambda row: row["step"]
    ),
    "two scores of one time": lambda rows: [*rows[:31], rows[30] | {"score": 7.0}, *rows[31:]],
    "two scores of one time, numbered": lambda rows: [
        row | {"episode": number}
        for number, row in enumerate([*rows[:31], rows[30] | {"score": 7.0}, *rows[31:]])
    ],
    "a time that is missing": lambda rows: [*rows[:31], rows[31] | {"step": None}, *rows[32:]],
    "steps within an episode": lambda rows: [
        row | {"step": number % 7} for number, row in enumerate(rows)
    ],
    "lengths of episodes": lambda rows: [
        row | {"step": random.Random(number).randrange(50, 5000)} for number, row in enumerate(rows)
    ],
}
"""What cannot be read, and is refused with the run and the row."""


def as_csv(rows: list[Row], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_ndjson(rows: list[Row], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def as_parquet(rows: list[Row], path: Path) -> Path:
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    return path


def as_folder(rows: list[Row], path: Path) -> Path:
    """One file for each run, with the rows that the log has of it, in their order."""
    runs: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        kept = {key: value for key, value in row.items() if key not in ("agent", "task", "seed")}
        runs.setdefault((row["agent"], row["task"], row["seed"]), []).append(kept)
    for (agent, task, seed), of_run in runs.items():
        folder = path / agent / task
        folder.mkdir(parents=True, exist_ok=True)
        as_csv(of_run, folder / f"{seed}.csv")
    return path


def by_task(rows: list[Row], path: Path) -> Path:
    """One file for each agent, with all its tasks."""
    path.mkdir()
    for agent in FINAL:
        kept = [{key: value for key, value in row.items() if key != "agent"} for row in rows
                if row["agent"] == agent]  # fmt: skip
        as_csv(kept, path / f"{agent}.csv")
    return path

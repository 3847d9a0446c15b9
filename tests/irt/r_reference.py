"""Responses, and what R's mirt made of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.results import ResponseMatrix

FOLDER = Path(__file__).parents[1] / "reference" / "irt"


def table(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def numbers(name: str, column: str) -> NDArray[np.float64]:
    return np.array([np.nan if row[column] == "NA" else float(row[column]) for row in table(name)])


def responses(name: str) -> ResponseMatrix:
    rows = table(name)
    tasks = list(rows[0])[1:]
    values = [[float(row[task]) if row[task] else np.nan for task in tasks] for row in rows]
    return ResponseMatrix.from_array(values, [row["agent"] for row in rows], tasks)


def log_likelihood(tag: str) -> float:
    return float(next(row["logLik"] for row in table("summary") if row["tag"] == tag))

"""The matrix of papers/002 and what R's ltm and the authors' tables say of it."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.irt import Abilities, ItemParameters
from examiner.results import ResponseMatrix, Results

REFERENCE = Path(__file__).parents[1] / "reference" / "irt"
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ale_published_scores_2018.csv"

needs_published_scores = pytest.mark.skipif(
    not PUBLISHED.exists(), reason="the published scores are not beside the checkout"
)


class Published(NamedTuple):
    """All 45 techniques, the 40 × 41 matrix of the paper, and Φ(z) of the 40 on all 49 games."""

    results: Results
    matrix: ResponseMatrix
    scores: ResponseMatrix


def column(file: str, name: str) -> np.ndarray:
    with (REFERENCE / file).open(encoding="utf-8") as lines:
        texts = [row[name] for row in csv.DictReader(lines)]
    return np.array([float(text) if text != "NA" else np.nan for text in texts])


def names(file: str, name: str) -> tuple[str, ...]:
    with (REFERENCE / file).open(encoding="utf-8") as lines:
        return tuple(row[name] for row in csv.DictReader(lines))


def ltm_items() -> ItemParameters:
    file = "ale_ltm_items.csv"
    return ItemParameters.of(names(file, "item"), column(file, "slope"), column(file, "intercept"))


def ltm_abilities() -> Abilities:
    """Posterior modes, which ltm calls empirical Bayes."""
    file = "ale_ltm_abilities.csv"
    return Abilities(
        names(file, "agent"), column(file, "ability_EB"), column(file, "se_EB"), "ltm's EB"
    )


@cache
def published() -> Published:
    results = ex.Results.from_frame(
        pl.read_csv(PUBLISHED)
        .rename({"technique": "agent"})
        .unpivot(index="agent", variable_name="task", value_name="score")
    )  # in the table's own order, in which the first of two near-identical techniques is kept
    kept = names("ale_ltm_abilities.csv", "agent")
    chosen = np.array([agent in kept for agent in results.agents])
    matrix = ex.responses(results.where(chosen[results.agent_codes]), success=100)
    matrix = matrix.take(agents=[matrix.agents.index(agent) for agent in kept])
    share = matrix.to_numpy().mean(axis=0)
    varied = np.flatnonzero((share > 0) & (share < 1))
    scores = ex.responses(ex.normalise(results, "z-score"))
    scores = scores.take(agents=[scores.agents.index(agent) for agent in kept])
    return Published(results, matrix.take(tasks=varied.tolist()), scores)

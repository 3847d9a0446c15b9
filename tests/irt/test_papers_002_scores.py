"""papers/002's table without discretising: what agrees with the binary fit, as the page says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

import examiner as ex
from examiner.results import ResponseMatrix
from irt.ale_of_papers_002 import needs_published_scores, published
from irt.pages import text_of

pytestmark = needs_published_scores
PAGE = text_of("papers/002.md")
FITS = ("binary", "normal", "normal, log₁₀", "beta, min-max")


@cache
def fitted(name: str) -> ex.irt.IRTFit:
    table = published()
    if name == "binary":
        return ex.irt.fit(table.matrix, starts=1)
    raw = ex.responses(table.results)
    agents = [raw.agents.index(agent) for agent in table.matrix.agents]
    tasks = [raw.tasks.index(task) for task in table.matrix.tasks]
    scores = raw.to_numpy()[np.ix_(agents, tasks)] / 100  # the human is 1
    landmark: float | None = 1.0
    if name == "normal, log₁₀":
        scores, landmark = np.log10(np.maximum(scores, 0.01)), 0.0
    elif name == "beta, min-max":
        scores, landmark = (scores - scores.min(0)) / (scores.max(0) - scores.min(0)), None
    matrix = ResponseMatrix.from_array(scores, table.matrix.agents, table.matrix.tasks)
    return ex.irt.fit(matrix, name.split(",")[0], starts=1, landmark=landmark)


def row(name: str) -> list[float]:
    binary, made = fitted("binary"), fitted(name)
    ability = binary.abilities.ability, made.abilities.ability
    steep = (binary.items.slope > 0.3) & (made.items.slope > 0.3)
    hard = binary.items.difficulty[steep], made.items.difficulty[steep]
    return [
        float(np.corrcoef(*ability)[0, 1]),
        float(spearmanr(*ability)[0]),
        float(spearmanr(*hard)[0]),
        float(spearmanr(binary.items.slope, made.items.slope)[0]),
        float(np.median(made.abilities.error)),
    ]


@pytest.mark.parametrize("name", FITS)
def test_what_agrees_is_on_the_page(name: str) -> None:
    assert f"| {name} | " + " | ".join(f"{value:.2f}" for value in row(name)) + " |" in PAGE


def test_difficulty_keeps_its_meaning_without_ends_and_loses_it_between_worst_and_best() -> None:
    assert row("normal")[2] > 0.85 and row("normal, log₁₀")[2] > 0.85
    assert abs(row("beta, min-max")[2]) < 0.4
    assert all(row(name)[1] > 0.95 for name in FITS)

"""Identical agents: neither a fit nor a place names one as abler, or a task as more discriminating."""

from __future__ import annotations

import numpy as np
import pytest

from examiner.irt import ItemParameters, fit, indicators, place, simulate
from examiner.reporting import FINDINGS, Study
from examiner.reporting.findings import fit as fit_finding
from examiner.reporting.prose import plain_text
from examiner.results import Results

NAMING = (
    "ablest",
    "comes first",
    "discriminate more than",
    "discriminates more than",
    "reward",
    "able do",
)


def _drawn(
    size: tuple[int, int, int], rng: np.random.Generator, *, slope: float = 0.0
) -> tuple[float, bool, bool]:
    """The share of agents beyond 1.96 errors, whether anything is named, and whether `place` ranks."""
    agents, tasks, trials = size
    names = [f"t{n}" for n in range(tasks)]
    items = ItemParameters.of(names, np.full(tasks, slope), rng.normal(size=tasks))
    matrix = simulate(items, agents + 1, trials=trials, rng=rng)
    made = fit(matrix.take(list(range(agents))), starts=1)
    beyond = float((np.abs(made.abilities.ability) > 1.96 * made.abilities.error).mean())
    data = fit_finding.render_fit(made, indicators(made)).data
    named = any(row["tied_first"] for row in data["agents"])
    named |= any(row["significance"] for row in data["tasks"])
    placements = place(matrix.take([agents]), made)
    return beyond, named, not any("chance" in note for note in placements.notes)


def _shares(size: tuple[int, int, int], tables: int, slope: float = 0.0) -> np.ndarray:
    rngs = np.random.default_rng(size).spawn(tables)
    return np.mean([_drawn(size, rng, slope=slope) for rng in rngs], axis=0)


def test_of_identical_agents_nobody_is_named() -> None:
    beyond, named, ranked = _shares((12, 14, 1), 40)
    assert beyond <= 0.05
    most = 0.05 + 2.06 * np.sqrt(0.05 * 0.95 / 40)  # exceeded by chance in one sample of fifty
    assert named <= most and ranked <= most


def test_agents_who_differ_are_named() -> None:
    _, named, ranked = _shares((12, 14, 1), 8, slope=2.0)
    assert named == ranked == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("size", [(12, 15, 4), (23, 40, 1), (45, 41, 1)])
def test_of_identical_agents_nobody_is_named_at_sizes_of_papers(size: tuple[int, int, int]) -> None:
    beyond, named, ranked = _shares(size, 200)
    assert beyond <= 0.05
    most = 0.05 + 2.06 * np.sqrt(0.05 * 0.95 / 200)
    assert named <= most and ranked <= most


def test_a_report_of_identical_agents_names_nobody() -> None:
    rng = np.random.default_rng(3)
    study = Study.of(Results.from_numpy(rng.integers(0, 2, (14, 16)).astype(float)))
    assert study.fitted.fit.evidence is not None
    assert not study.fitted.fit.evidence.abilities_differ
    for name in ("wright_map", "task_curves", "task_table", "agent_curves", "ability_generality"):
        told = plain_text(FINDINGS[name](study).lead)
        assert (
            "Agents are not shown to differ in ability" in told or "more able than another" in told
        )
        assert not any(words in told for words in NAMING)

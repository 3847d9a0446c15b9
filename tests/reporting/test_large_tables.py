"""Reports of large tables: no section vanishes, and what was left out is said."""

from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import Study
from examiner.reporting.findings import information

SWEBENCH = Path(__file__).parents[3] / "shared" / "data" / "swebench_verified_responses.jsonl"
APPLY_TO_NONE = {"learning", "curves", "typology", "cost", "editions"}
USUAL = {name for name, entry in ex.reporting.FINDINGS.items() if entry.default == "always"}
LARGE = USUAL - APPLY_TO_NONE - {"similarity"}
"""The sections of a large table of zeros and ones: its tasks are compared in pairs by `cluster`."""


def simulated(agents: int, tasks: int, seed: int = 0) -> ex.Results:
    rng = np.random.default_rng(seed)
    slope, intercept = np.exp(0.3 * rng.normal(size=tasks)), rng.normal(size=tasks)
    logit = rng.normal(size=(agents, 1)) * slope + intercept
    return ex.Results.from_numpy((rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(float))


def test_no_section_vanishes_because_a_table_is_large(monkeypatch) -> None:
    for name in ("MOST_CELLS", "MOST_SELECTED_CELLS", "MOST_PAIRED_CELLS"):
        monkeypatch.setattr(f"examiner.reporting.study.{name}", 500)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_AGENTS", 25)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 20)
    report = ex.report(simulated(40, 30))
    assert {section.key for section in report.sections} == LARGE
    told = {section["key"]: str(section) for section in report.to_dict()["sections"]}
    modelled = ("wright_map", "task_table", "agent_curves", "ability_generality", "next_task")
    for key in (*modelled, "selection"):
        assert "Based on the sample of this report: 25 of 40 agents" in told[key], key
        assert "20 of 30 tasks, drawn at random (seed 0)" in told[key], key


def test_all_sections_use_the_same_sample(monkeypatch) -> None:
    for name in ("MOST_CELLS", "MOST_SELECTED_CELLS", "MOST_PAIRED_CELLS"):
        monkeypatch.setattr(f"examiner.reporting.study.{name}", 500)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_AGENTS", 25)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 20)
    study = Study.of(simulated(40, 30))
    sampled = study.sample[0].results
    assert study.for_models is study.for_pairs is study.sample
    assert set(study.fitted.fit.abilities.agents) == set(sampled.agents)
    assert set(study.selected.material.tasks) == set(sampled.tasks)
    assert set(study.selected.material.agents) == set(sampled.agents)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(134, 500), (500, 4000)])
def test_every_section_is_there_at_the_sizes_of_leaderboards(shape) -> None:
    if shape == (134, 500):
        if not SWEBENCH.exists():
            pytest.skip("needs ../shared/data")
        results = ex.read(SWEBENCH)
    else:
        results = simulated(*shape)
    assert (len(results.agents), len(results.tasks)) == shape
    report = ex.report(results)
    assert {section.key for section in report.sections} == LARGE


def test_agents_are_kept_from_the_best_to_the_worst(monkeypatch) -> None:
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_AGENTS", 5)
    monkeypatch.setattr("examiner.reporting.study.SAMPLED_TASKS", 3)
    study = Study.of(ex.Results.from_numpy(np.random.default_rng(0).normal(size=(50, 8))), rng=1)
    small, note = study.sample
    ends = [study.results.agents[row] for row in study.order[[0, -1]]]
    assert set(ends) <= set(small.results.agents)
    assert small.comparable.shape == (5, 3) and "5 of 50 agents" in note


def test_medians_of_zeros_and_ones_are_not_shown() -> None:
    report = ex.report(simulated(12, 15), sections=["ranking"]).to_dict()
    table = next(b for b in report["sections"][0]["blocks"] if b["kind"] == "table")
    ends = ["low", "high"]
    assert table["columns"] == ["agent", "mean", *ends, "rank", *ends, "group"]
    assert "median" not in str(report["sections"][0]).lower()


def test_bits_about_ability_stand_where_bits_about_agents_cannot() -> None:
    told = information.finding(Study.of(simulated(40, 12)))
    assert "about ability" in told.lead
    assert told.data["about"] == "ability"

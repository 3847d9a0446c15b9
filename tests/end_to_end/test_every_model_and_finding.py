"""Every IRT model × every finding of a report: told, shown on a page and as data, without a failure."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import examiner as ex
from examiner.irt import MODELS, ItemParameters
from examiner.reporting import FINDINGS, Fitted, Report, Study, reach_verdict
from examiner.results import Results, Scales, TaskScale

SHAPES = {"square": (24, 24), "more agents": (25, 24), "more tasks": (24, 25)}
"""Enough tasks for two bins of difficulty, which curves of agents need."""
OF_FITS = [name for name, entry in FINDINGS.items() if entry.needs == "fit"]


def results_of(model: str, agents: int, tasks: int) -> Results:
    """Responses as the model takes them, of agents who differ; the last task has no human score."""
    rng = np.random.default_rng(agents + tasks)
    slope, difficulty = rng.uniform(0.8, 2.0, tasks), rng.normal(size=tasks)
    response = {"beta": "beta", "normal": "normal"}.get(model, "binomial")
    more = {} if response == "binomial" else {"precision": 4.0}
    items = ItemParameters.of(
        [f"task {n}" for n in range(tasks)],
        slope,
        difficulty=difficulty,
        response=response,
        **more,
    )
    values = ex.irt.simulate(items, np.linspace(-2, 2, agents), rng=0).to_numpy()
    scales = Scales(TaskScale(task, random=-2.0, reference=2.0) for task in items.tasks)
    kept = {"scales": scales} if model == "normal" else {}
    return Results.from_numpy(
        values, agents=[f"agent {n}" for n in range(agents)], tasks=items.tasks, **kept
    )


@cache
def study_of(model: str, shape: str) -> Study:
    """A study whose fit is of this model."""
    results = results_of(model, *SHAPES[shape])
    study = Study.of(results)
    matrix = ex.responses(study.scores)
    fit = ex.irt.fit(matrix, model, starts=1, rng=0)
    vars(study)["_fit"] = Fitted(fit, ex.irt.indicators(fit), matrix, f"responses of {model}")
    return study


def check(model: str, shape: str, name: str) -> None:
    study = study_of(model, shape)
    section = FINDINGS[name](study)
    assert section.lead and section.failure is None
    assert section.applies or name not in OF_FITS or name == "next_task", section.lead
    told = reach_verdict(study, [section])
    shown = Report("T", (section,), {"notes": []}, "examiner report x", told)
    assert f'id="{name}"' in shown.html and shown.markdown
    assert shown.to_dict()["sections"][0]["finding"]


@pytest.mark.parametrize("shape", ["square", "more agents"])
@pytest.mark.parametrize("name", OF_FITS)
@pytest.mark.parametrize("model", ["2pl", "normal"])
def test_findings_about_a_fit_are_told_of_successes_and_scores(
    model: str, name: str, shape: str
) -> None:
    check(model, shape, name)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FINDINGS)
@pytest.mark.parametrize("model", MODELS)
def test_every_finding_is_told_of_every_model(model: str, name: str, shape: str) -> None:
    check(model, shape, name)

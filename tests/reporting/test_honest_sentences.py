"""Sentences of a report agree with what it draws, with each other and with their numbers."""

from __future__ import annotations

import numpy as np

import examiner as ex
from examiner.reporting import Study, everything
from examiner.reporting import render_ability_information as tell_bits
from examiner.reporting.finding import Notes
from examiner.reporting.findings import fit as fits
from examiner.reporting.findings.distributions import rank_probabilities
from examiner.reporting.findings.heatmap import finding as heatmap
from examiner.reporting.findings.suspects import finding as suspects
from examiner.reporting.prose import plain_text
from examiner.results import ResponseMatrix, Results


def notes_of(finding, title):
    notes = (block for block in finding.blocks if isinstance(block, Notes))
    return [plain_text(item) for block in notes if block.title == title for item in block.items]


def test_the_figure_of_tests_is_described_as_drawn():
    scores = Results.from_numpy(np.linspace(0.1, 0.9, 24).reshape(8, 3).T)
    (section,) = ex.report(scores, sections=["significance"]).sections
    assert section.reads.startswith("Agents are drawn at their mean, best on the left;")


def test_equal_means_on_several_tasks_are_not_one_task():
    scores = Results.from_numpy(np.tile([[1.0, 2.0], [2.0, 1.0]], 2) * 3)
    assert plain_text(heatmap(Study.of(scores, None)).lead).startswith(
        "The mean is 4.5 on every task."
    )


def test_all_tasks_give_what_all_of_them_give():
    items = ex.irt.ItemParameters.of(list("tuvw"), [1.0, 2.0, 0.5, 1.5], [0.0, 1.0, -1.0, 0.3])
    fit = ex.irt.known(items, ex.irt.simulate(items, np.linspace(-2, 2, 12), rng=0))
    found = ex.irt.ability_information(fit, rng=0, size=4)
    assert found.whole_bits == found.chosen.bits[-1]
    assert plain_text(tell_bits(found).lead).startswith("All 4 tasks together carry ")


def test_an_infinite_generality_is_a_dash_with_its_reason():
    items = ex.irt.ItemParameters.of(list("tuvw"), [1.0, 2.0, 0.5, 1.5], [0.0, 1.0, -1.0, 0.3])
    matrix = ResponseMatrix.from_array([[1, 1, 1, 1], [0, 1, 0, 1]], tasks=list("tuvw"))
    fit = ex.irt.known(items, matrix)
    finding = fits.render_fit(fit, ex.irt.indicators(fit))
    reasons = notes_of(finding, "Infinite")
    assert any("generality is infinite: it succeeded at everything" in each for each in reasons)
    lines = [line for line in everything(finding) if line.startswith("agent 1 ")]
    assert lines and not any(" inf" in line for line in lines)


def test_one_agent_holds_one_rank():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5, 12, 4))
    scores[0] += 9
    shown = rank_probabilities(Study.of(Results.from_numpy(scores)))
    captions = [plain_text(block.caption) for block in shown.blocks if hasattr(block, "caption")]
    assert captions[0].startswith("1 of 5 agents holds one rank")


def test_tasks_with_negative_discrimination_by_one_test_alone_are_named(monkeypatch):
    rng = np.random.default_rng(0)
    table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(float)
    table[:, 0] = 1 - table[:, 0]  # a wrong key
    study = Study.of(Results.from_numpy(table))
    study.fitted  # noqa: B018  # as the section of the fit does
    assert study.weak_tasks == ("task 1",)
    assert not [note for note in notes_of(suspects(study), "Warning") if "negative" in note]
    monkeypatch.setattr(Study, "weak_tasks", ("task 2", "elsewhere"))
    assert notes_of(suspects(study), "Warning")[-3:] == [
        "The fit finds significantly negative discrimination on 'elsewhere', which the audited sample "
        "does not contain.",
        "The fit finds significantly negative discrimination on 'task 2'; the audit, which compares each "
        "task with the other tasks, does not.",
        "The audit, which compares each task with the other tasks, finds significantly negative "
        "discrimination on 'task 1'; the fit does not.",
    ]

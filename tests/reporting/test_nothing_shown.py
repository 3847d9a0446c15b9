"""A report of identical agents: one test stands before all sections, and none of them names anybody."""

from __future__ import annotations

import numpy as np
import pytest

from examiner.irt import fit
from examiner.reporting import FINDINGS, Figure, Finding, Study
from examiner.reporting.findings import curves as curves_finding
from examiner.reporting.findings import information as information_finding
from examiner.reporting.findings import ranking as ranking_finding
from examiner.reporting.prose import plain_text
from examiner.results import Results
from examiner.scores import curves, responses

QUICK = [name for name in FINDINGS if name not in ("selection", "information")]
"""Sections but for two that take seconds and are looked at by themselves."""


def identical(seed: int, shape: tuple[int, int, int], *, scores: bool = False) -> Results:
    """Draw runs of agents who are all alike on tasks that are not."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=shape[1])[None, :, None]
    if scores:
        return Results.from_numpy(level + rng.normal(size=shape))
    return Results.from_numpy((rng.random(shape) < 1 / (1 + np.exp(-level))).astype(float))


def sentences(told: Finding) -> list[str]:
    """Return what a finding says in its lead, its paragraphs and under its figures."""
    texts = [block for block in told.blocks if isinstance(block, str)]
    captions = [block.caption for block in told.blocks if isinstance(block, Figure)]
    return [plain_text(prose) for prose in (told.lead, *texts, *captions)]


def alike(scores: bool) -> Study:
    """Return a study of identical agents in which chance happens to be as common as it mostly is."""
    study = Study.of(identical(0, (12, 15, 4), scores=scores))
    assert study.chance is not None and study.chance.p_value > 0.1
    return study


@pytest.mark.parametrize("scores", [False, True])
def test_no_section_names_an_agent_as_ahead_or_a_task_as_telling(scores: bool) -> None:
    study = alike(scores)
    claims = (
        " leads",
        " lead by",
        "comes first by",
        "is best",
        "at or above",
        "spread most",
        "ablest",
    )
    for name in QUICK:
        for sentence in sentences(FINDINGS[name](study)):
            assert not any(words in sentence for words in claims), (name, sentence)


@pytest.mark.parametrize("name", ["ranking", "intervals", "rank_probabilities", "significance"])
def test_sections_on_scores_say_that_agents_do_not_differ_significantly(name: str) -> None:
    assert "Agents do not differ significantly: p = " in plain_text(
        FINDINGS[name](alike(True)).lead
    )


def test_a_report_asks_as_the_fit_of_the_same_results_does() -> None:
    results = identical(5, (11, 9, 3))
    made = fit(responses(results), rng=0)
    assert made.evidence is not None
    assert Study.of(results).chance_over_tasks == made.evidence.abilities


def test_agents_who_differ_are_named_everywhere() -> None:
    rng = np.random.default_rng(2)
    able = rng.random((12, 15, 4)) < np.linspace(0.1, 0.9, 12)[:, None, None]
    study = Study.of(Results.from_numpy(able.astype(float)))
    assert study.not_shown == ""
    best = study.results.agents[int(study.order[0])]
    for name in ("ranking", "intervals", "rank_probabilities"):
        assert plain_text(FINDINGS[name](study).lead).startswith(best)


def test_groups_that_share_no_task_are_not_ranked_against_each_other() -> None:
    scores = np.full((8, 12), np.nan)
    rng = np.random.default_rng(0)
    scores[:4, :6], scores[4:, 6:] = rng.random((2, 4, 6)) + np.arange(4)[:, None]
    study = Study.of(Results.from_numpy(scores))
    for name in ("ranking", "profiles", "intervals", "rank_probabilities"):
        told = plain_text(FINDINGS[name](study).lead)
        assert "2 groups that share no task" in told and " leads" not in told


def test_tasks_are_named_as_informative_only_beyond_chance() -> None:
    from examiner.information import analyse

    found = analyse(identical(3, (6, 8, 5), scores=True), rng=0, reps=40)
    assert plain_text(information_finding.render_information(found).lead).startswith(
        "No task discriminates significantly"
    )


def test_learning_curves_of_identical_agents_have_no_leader() -> None:
    rng = np.random.default_rng(4)
    size = 4 * 5 * 2 * 12
    rows = {
        "agent": np.repeat([f"a{n}" for n in range(4)], size // 4),
        "task": np.tile(np.repeat([f"t{n}" for n in range(5)], 24), 4),
        "run": np.tile(np.repeat([0, 1], 12), 20),
        "trial": np.tile(np.arange(12), 40),
        "score": rng.normal(size=size),
    }
    made = curves(Results.from_dict({name: list(column) for name, column in rows.items()}), last=3)
    assert plain_text(curves_finding.render_summaries(made).lead).startswith(
        "No agent is shown to be ahead"
    )


def test_scores_say_that_intervals_of_pairs_are_not_adjusted_for_their_number() -> None:
    from examiner.scores import rank

    made = rank(identical(0, (5, 6, 3), scores=True), rng=0, reps=50)
    told = sentences(ranking_finding.render_ranking(made))
    assert any("not adjusted for 10 pairs" in sentence for sentence in told)
    assert any("0 of 10 pairs of agents differ significantly" in sentence for sentence in told)


def test_each_trial_that_counts_as_a_run_is_told_once() -> None:
    rows = [(agent, task, trial) for agent in "ab" for task in "tuv" for trial in range(4)]
    agent, task, trial = (list(column) for column in zip(*rows, strict=True))
    table = {"agent": agent, "task": task, "trial": trial, "run": trial, "score": [0.5] * len(rows)}
    told = plain_text(FINDINGS["reading"](Study.of(Results.from_dict(table))).lead)
    assert "up to 4 runs of 1 trial each" in told

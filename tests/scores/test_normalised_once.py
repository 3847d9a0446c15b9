"""Scores that were normalised are not normalised again by default."""

from __future__ import annotations

import examiner as ex


def test_a_selection_of_normalised_scores_is_that_of_the_command() -> None:
    results = ex.load("atari-dqn-family")
    asked = ex.selection.benchmark(results, ex.Recipe(normaliser="human"))
    before = ex.selection.select(ex.normalise(results, "human"), 5)
    assert before.tasks.task == ex.selection.select(asked, 5).tasks.task


def test_a_report_of_normalised_scores_keeps_their_unit() -> None:
    scores = ex.normalise(ex.load("atari-dqn-family"), "human")
    report = ex.report(scores, sections=["ranking"])
    assert (
        "normalised by 'human'" in report.to_dict()["unit"]
        or report.to_dict()["normaliser"] is None
    )

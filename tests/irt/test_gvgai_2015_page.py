"""The page on the trials of 2015 says what the trials and the authors' parameters say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import examiner as ex
from examiner.irt import SLOPE_NOT_SIGNIFICANT
from irt.gvgai_of_papers_002 import (
    EDGES,
    authors_items,
    needs_trials_of_2015,
    successes,
    trials,
)
from irt.pages import said, text_of

pytestmark = needs_trials_of_2015
PAGE = text_of("papers/gvgai-2015.md")


@cache
def correlations(fit: ex.irt.IRTFit, edges: tuple[float, ...] | None) -> dict[str, str]:
    scores = ex.responses(ex.normalise(trials(), "z-score"))
    found = ex.irt.indicators(fit, scores, bins=None if edges is None else list(edges))
    columns = {
        "ability": fit.abilities.ability,
        "regularity": np.asarray(found.regularity),
        "generality": np.asarray(found.generality),
        "slope": np.asarray(found.slope),
    }
    return {
        f"{row.first}-{row.second}": f"{said(row.pearson)} "
        f"({said(row.pearson_low)} to {said(row.pearson_high)})"
        for row in ex.irt.indicator_correlations(columns).correlations
    }


@cache
def authors_fit() -> ex.irt.IRTFit:
    return ex.irt.known(authors_items(), successes(), nodes=21)


def test_trials_levels_and_signs_are_those_of_the_paper() -> None:
    assert len(trials()) == 28_175
    assert len(trials().agents) == 23 and len(trials().tasks) == 245
    assert set(successes().tasks) == set(authors_items().tasks) and len(successes().tasks) == 154
    slope = authors_items().slope
    assert (slope > 0).sum() == 148 and (slope < 0).sum() == 6


def test_levels_in_the_bins_of_figure_five() -> None:
    items = authors_items()
    counts = np.histogram(items.difficulty[items.slope >= 0], EDGES)[0]
    assert "{}, {}, {} and {}".format(*counts) in PAGE


def test_log_likelihoods_of_the_authors_parameters() -> None:
    assert said(authors_fit().log_likelihood) in PAGE
    assert said(ex.irt.known(authors_items(), successes()).log_likelihood) in PAGE
    assert f"slopes (up to {authors_items().slope.max():.0f})" in PAGE


def test_correlations_with_the_authors_parameters_and_bins() -> None:
    found = correlations(authors_fit(), tuple(EDGES))
    assert found["ability-regularity"] == "−0.83 (−0.93 to −0.64)"
    assert "−0.83 with their parameters and 21 nodes, 95 %: −0.93 to −0.64" in PAGE
    assert found["ability-generality"].replace("(", "(95 %: ") in PAGE
    for pair in ("ability-slope", "regularity-generality", "regularity-slope"):
        assert found[pair] in PAGE


def test_the_six_negative_levels_are_within_noise() -> None:
    fit = ex.irt.fit(successes(), rng=0)
    theirs = authors_items()
    assert fit.errors is not None
    for task in [name for name, slope in zip(theirs.tasks, theirs.slope, strict=True) if slope < 0]:
        place = fit.items.tasks.index(task)
        assert SLOPE_NOT_SIGNIFICANT in fit.flags[place]
        low, high = fit.errors.slope_low[place], fit.errors.slope_high[place]
        row = (
            f"| {task} | {said(theirs.slope[theirs.tasks.index(task)])} | "
            f"{said(fit.items.slope[place])} | {said(low)} to {said(high)} |"
        )
        assert row in PAGE


def test_dominance_is_the_exception() -> None:
    found = ex.irt.dominance(successes())
    count = len(found.agents)
    assert f"in {found.dominates.sum()} of {count * (count - 1) // 2} pairs" in PAGE
    assert f"{len(found.undominated)} of {count} are dominated by nobody" in PAGE


@pytest.mark.slow
def test_counting_trials_keeps_more_levels_and_the_conclusion() -> None:
    fit = ex.irt.fit(ex.responses(trials()), rng=0)
    assert f"{len(fit.items.tasks)} levels then have a difficulty" in PAGE
    found = correlations(fit, None)
    assert found["ability-generality"] in PAGE
    assert f"regularity by {found['ability-regularity'].partition(' ')[0]}" in PAGE

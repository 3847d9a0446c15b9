"""The page that shows papers/002 beside our numbers says what the fit says."""

from __future__ import annotations

import json
import shlex
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.irt import SEPARATED, SLOPE_NOT_SIGNIFICANT
from irt.ale_of_papers_002 import (
    PUBLISHED,
    ltm_abilities,
    ltm_items,
    needs_published_scores,
    published,
)
from irt.pages import said, text_of

pytestmark = needs_published_scores
PAGE = text_of("papers/002.md")
EDGES = [-11, -1, 0, 1, 10]


@cache
def with_priors() -> ex.irt.IRTFit:
    return ex.irt.fit(published().matrix, priors="fixed", rng=0)


def test_ten_of_ten_starts_end_at_the_stated_optimum() -> None:
    fit = with_priors()
    assert fit.objective == pytest.approx(-550.7732, abs=0.001)
    assert fit.starts.agreeing == len(fit.starts.objectives) == 10
    assert said(fit.objective, 4) in PAGE
    low, high = fit.items.slope.min(), fit.items.slope.max()
    assert f"between {said(low)} and {said(high)}" in PAGE


def test_the_command_on_the_page_gives_the_numbers_on_the_page() -> None:
    command = PAGE.partition("examiner fit ale_published_scores_2018.csv")[2].partition("```")[0]
    words = ["fit", str(PUBLISHED), *shlex.split(command.replace("\\\n", " "))]
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert said(told["objective"], 4) in PAGE
    slopes = [
        task["discrimination"] for task in told["tasks"] if task["discrimination"] is not None
    ]
    assert f"between {said(min(slopes))} and {said(max(slopes))}" in PAGE
    assert len(told["agents"]) == 40 and len(slopes) == 41


def test_ltms_parameters_integrated_finely() -> None:
    fine = ex.irt.log_likelihood(
        published().matrix, ltm_items(), ex.irt.Quadrature.grid(-6, 6, 4801)
    )
    assert f"is {said(fine)}, not −490.40" in PAGE


def test_the_four_negative_games_are_within_noise() -> None:
    fit, theirs = with_priors(), ltm_items()
    negative = [
        task for task, slope in zip(fit.items.tasks, fit.items.slope, strict=True) if slope < 0
    ]
    assert negative == ["Centipede", "Tennis", "Venture", "Video Pinball"]
    assert fit.errors is not None
    for task in negative:
        place = fit.items.tasks.index(task)
        assert SLOPE_NOT_SIGNIFICANT in fit.flags[place]
        low, high = fit.errors.slope_low[place], fit.errors.slope_high[place]
        row = f"| {task} | {said(theirs.slope[place])} | {said(fit.items.slope[place])} | "
        assert f"{row}{said(low)} to {said(high)} |" in PAGE
    separated = [
        task for task, flags in zip(fit.items.tasks, fit.flags, strict=True) if SEPARATED in flags
    ]
    assert f"({', '.join(separated)})" in PAGE


def test_correlations_on_the_page() -> None:
    ale = published()
    theirs = ex.irt.known(ltm_items(), ale.matrix, abilities=ltm_abilities(), nodes=21)
    for fit in (theirs, with_priors()):
        found = {
            (c.first, c.second): c
            for c in ex.irt.indicators(fit, ale.scores, bins=EDGES).correlations
        }
        for pair in (("ability", "slope"), ("ability", "generality")):
            one = found[pair]
            ends = f"{said(one.pearson_low)} to {said(one.pearson_high)}"
            assert said(one.pearson) in PAGE or said(one.pearson, 4) in PAGE
            assert ends in PAGE, (pair, ends)
        if fit is theirs:
            first, second = found["ability", "regularity"], found["regularity", "slope"]
            for one in (first, second):
                assert (
                    f"{said(one.pearson, 4)}, 95 %: {said(one.pearson_low)} to {said(one.pearson_high)}"
                    in PAGE
                )
            assert f"with the slope by {said(found['generality', 'slope'].pearson)}" in PAGE


def test_the_rules_own_techniques_and_dominance() -> None:
    ale = published()
    ours = ex.responses(ex.scores.without_near_identical(ale.results), success=100)
    fit = ex.irt.fit(ours, rng=0, starts=3)
    tennis = fit.items.tasks.index("Tennis")
    assert fit.items.slope[tennis] > 0
    made = ex.irt.dominance(ale.matrix)
    assert (
        f"in {made.transitive_share:.0%} of pairs; {len(made.undominated)} of 40".replace("%", " %")
        in PAGE
    )


def test_maximum_likelihood_with_21_nodes_has_several_ends() -> None:
    fit = ex.irt.fit(published().matrix, estimator="ml", nodes=21, rng=0, errors=False)
    assert fit.log_likelihood >= -490.40
    ends = {said(value) for value in np.round(fit.starts.objectives, 2)}
    assert len(ends) > 1 and said(fit.log_likelihood) in PAGE


@pytest.mark.slow
def test_item_fit_is_good_and_one_ability_is_not_enough() -> None:
    found = ex.irt.diagnose(with_priors(), replicates=40, rng=0)
    known = np.isfinite(found.tasks.sum_score_p)
    bad = (found.tasks.sum_score_p[known] < 0.01).sum()
    assert f"{bad} of the {known.sum()} games that have an S-X² with p < 0.01" in PAGE
    assert f"{found.tasks.misfit.sum()} of 41 with infit or outfit" in PAGE
    assert f"{found.agents.unexpected.sum()} of 40 techniques with odd responses" in PAGE
    sizes = f"is {said(found.dimensions.first)}, with a cut-off of {said(found.dimensions.cutoff)}"
    assert not found.dimensions.one_dimension and sizes in PAGE


def test_what_a_compound_of_ability_and_generality_hides() -> None:
    told = ex.irt.indicators(with_priors(), published().scores, bins=EDGES)
    made = ex.irt.compound(told)
    assert f"the order of {100 * made.undecided:.0f} % of the 780 pairs" in PAGE
    row = made["Wang.noops_DUEL"]
    assert (row.best_rank, row.worst_rank) == (1.0, 15.5)
    moved = made.agents.worst_rank - made.agents.best_rank
    assert np.median(moved) >= 12 and f"move by {np.floor(np.median(moved)):.0f} ranks" in PAGE
    assert (moved > 0).all()

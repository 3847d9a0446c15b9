"""papers/002 again: its matrix, likelihood and indicators, held against R and the authors' tables."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.irt import Indicators, indicators, known, log_likelihood
from irt.ale_of_papers_002 import (
    column,
    ltm_abilities,
    ltm_items,
    names,
    needs_published_scores,
    published,
)

pytestmark = needs_published_scores
EDGES = [-11, -1, 0, 1, 10]


def made(**options: object) -> Indicators:
    ale = published()
    fit = known(ltm_items(), ale.matrix, abilities=ltm_abilities(), nodes=21)
    return indicators(fit, ale.scores, bins=EDGES, **options)  # type: ignore[arg-type]


def test_the_matrix_is_40_by_41_with_the_games_of_ltm_in_their_order() -> None:
    matrix = published().matrix
    assert matrix.shape == (40, 41)
    assert matrix.tasks == names("ale_ltm_items.csv", "item")
    np.testing.assert_allclose(
        matrix.to_numpy().mean(axis=0), column("ale_ltm_items.csv", "p_value"), atol=1e-12
    )
    assert matrix.to_numpy().sum(axis=1).tolist() == column("ale_ltm_abilities.csv", "raw").tolist()


def test_the_log_likelihood_at_ltms_parameters_with_21_nodes() -> None:
    assert log_likelihood(published().matrix, ltm_items(), 21) == pytest.approx(
        -490.39886, abs=1e-5
    )


def test_regularity_and_generality_are_those_of_the_reference() -> None:
    found = made()
    reference = "ale_indicators.csv"
    assert found.bins is not None and found.bins.counts.tolist() == [9, 11, 9, 8]
    np.testing.assert_allclose(found.regularity, column(reference, "regularity"), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        found.generality, column(reference, "generality_eq3_binary"), rtol=0, atol=1e-6
    )
    of_scores = made(generality_of="scores").generality
    np.testing.assert_allclose(
        of_scores, column(reference, "generality_eq3_pnorm"), rtol=0, atol=1e-6
    )


def test_the_slope_of_the_empirical_curve_at_one_half() -> None:
    """30 agents have one; the three that cross nothing inherited a neighbour's in the paper."""
    found = made().slope
    np.testing.assert_allclose(found, column("ale_indicators.csv", "slope_fixed"), atol=1e-9)
    assert int(np.isfinite(found).sum()) == 30


def test_correlations_between_the_indicators_with_their_intervals() -> None:
    found = {(one.first, one.second): one for one in made().correlations}
    first = found["ability", "regularity"]
    assert first.pearson == pytest.approx(-0.6824, abs=0.0005)
    assert first.agents == 40
    assert -0.83 < first.pearson_low < -0.79 and -0.50 < first.pearson_high < -0.45
    assert found["regularity", "slope"].pearson == pytest.approx(0.6252, abs=0.0005)
    assert found["ability", "slope"].pearson == pytest.approx(-0.1776, abs=0.0005)
    assert found["ability", "slope"].agents == 30
    drawn = made(reps=2000, rng=1).correlations[0]
    assert drawn.pearson == first.pearson and drawn.pearson_low < first.pearson < drawn.pearson_high


def test_negative_games_and_no_others_are_left_out_of_generality() -> None:
    found = made()
    assert found.bins is not None
    assert found.bins.excluded == ("Centipede", "Tennis", "Venture", "Video Pinball")


def test_automatic_bins_have_the_sizes_of_the_papers() -> None:
    ale = published()
    fit = known(ltm_items(), ale.matrix, abilities=ltm_abilities(), nodes=21)
    bins = indicators(fit).bins
    assert bins is not None and bins.counts.tolist() == [10, 9, 9, 9]


def test_the_papers_own_rule_does_not_give_the_papers_own_techniques() -> None:
    """A correlation above 0.99 drops PRIOR..DUEL.; the paper kept it and dropped DUEL (0.984)."""
    results = published().results
    ours = set(ex.scores.without_near_identical(results).agents)
    theirs = set(names("ale_ltm_abilities.csv", "agent"))
    # Of three reports of the same DQN the paper kept Nair's, the rule keeps the one with the highest mean.
    assert theirs - ours == {"Wang.Humanstarts_PRIOR..DUEL.", "Nair.humanstarts_DQN.humnorm"}
    assert ours - theirs == {"Wang.Humanstarts_DUEL", "vanHasselt.Humanstarts_DQN"}
    table = ex.responses(results)
    rows = [table.agents.index(f"Wang.{start}_DUEL") for start in ("noops", "Humanstarts")]
    pair = np.corrcoef(table.to_numpy()[rows])[0, 1]
    assert pair == pytest.approx(0.984, abs=0.0005)

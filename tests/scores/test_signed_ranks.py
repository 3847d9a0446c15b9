"""Wilcoxon's signed ranks: exact against every pattern of signs and against scipy, and never slow."""

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.scores import normal_signed_rank_p, wilcoxon_holm
from examiner.scores.signed_ranks import MOST_EXACT, signed_rank_p

tied = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def by_every_pattern(differences: list[int]) -> float:
    """The definition: all 2ⁿ signs of the midranks, none of it shared with what is tested."""
    left = np.array([value for value in differences if value])
    if not len(left):
        return 1.0
    ranks = stats.rankdata(np.abs(left))
    found = ranks[left > 0].sum()
    sums = np.array([ranks @ signs for signs in product((0, 1), repeat=len(ranks))])
    return min(1.0, 2 * min((sums <= found).mean(), (sums >= found).mean()))


@given(tied)
def test_p_values_are_the_share_of_sign_patterns_at_least_as_far_out(differences: list[int]):
    assert signed_rank_p(np.array([differences], dtype=float)) == pytest.approx(
        by_every_pattern(differences)
    )


@pytest.mark.parametrize("seed", range(6))
def test_p_values_with_ties_are_scipys(seed: int):
    rng = np.random.default_rng(seed)
    differences = rng.integers(-3, 4, size=int(rng.integers(4, 11))).astype(float)
    differences[0] = 2.0  # scipy says nothing where all are zero
    assert signed_rank_p(differences[None]) == pytest.approx(stats.wilcoxon(differences).pvalue)


@pytest.mark.parametrize("size", [5, 20, MOST_EXACT])
def test_p_values_without_ties_are_scipys_exact_ones(size: int):
    differences = np.random.default_rng(size).normal(0.3, 1.0, size=(4, size))
    theirs = [stats.wilcoxon(row, method="exact").pvalue for row in differences]
    np.testing.assert_allclose(signed_rank_p(differences), theirs, rtol=1e-12)


@pytest.mark.parametrize("digits", [1, 8])
def test_many_differences_are_judged_by_the_normal_approximation_as_scipy_does(digits: int):
    differences = np.random.default_rng(1).normal(0.2, 1.0, size=(4, 80)).round(digits)
    theirs = [stats.wilcoxon(row, method="asymptotic").pvalue for row in differences]
    np.testing.assert_allclose(signed_rank_p(differences), theirs)
    np.testing.assert_allclose(normal_signed_rank_p(differences), theirs)


@given(tied)
def test_turning_all_signs_round_changes_nothing(differences: list[int]):
    values = np.array([differences], dtype=float)
    assert signed_rank_p(values) == signed_rank_p(-values)


def test_thirty_agents_on_thirteen_tasks_of_zeros_and_ones_take_no_time():
    solved = (np.random.default_rng(0).random((30, 13)) < 0.5).astype(float)
    began = time.process_time()
    found = ex.scores.significance(ex.Results.from_numpy(solved))
    assert time.process_time() - began < 5.0  # every sign pattern of every pair took minutes
    assert np.isfinite(found.p).all()


def test_differences_too_large_for_a_number_are_the_largest_and_not_unseen():
    values = np.array([[1e308, 1e308, 1e308, 1.0, 5.0], [-1e308, -1e308, -1e308, 0.0, 7.0]])
    raw = by_every_pattern([9, 9, 9, 1, -2])
    assert wilcoxon_holm(values)[0, 1] == pytest.approx(raw)

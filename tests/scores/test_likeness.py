"""Correlation of tasks, and agents that are nearly the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import examiner as ex


def drawn(seed: int, missing: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(12, 5)).round(1)
    values[rng.random(values.shape) < missing] = np.nan
    return values


@pytest.mark.parametrize(
    ("method", "peer"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)]
)
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.3]))
def test_correlation_agrees_with_scipy_over_common_agents(method, peer, seed, missing) -> None:
    values = drawn(seed, missing)
    matrix = ex.ResponseMatrix.from_array(values)
    ours = ex.scores.correlation(matrix, method)
    for left in range(5):
        for right in range(5):
            both = ~np.isnan(values[:, left]) & ~np.isnan(values[:, right])
            assert ours.counts[left, right] == both.sum()
            x, y = values[both, left], values[both, right]
            if both.sum() < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
                assert np.isnan(ours.values[left, right])
            else:
                assert ours.values[left, right] == pytest.approx(peer(x, y).statistic, abs=1e-12)


def test_too_few_pairs_and_constant_tasks_have_no_correlation() -> None:
    matrix = ex.ResponseMatrix.from_array(
        [[1.0, 2.0, 5.0], [2.0, np.nan, 5.0], [3.0, 4.0, 5.0], [4.5, np.nan, 5.0]]
    )
    values = ex.scores.correlation(matrix).values
    assert np.isnan(values[0, 1]) and np.isnan(values[2]).all()
    with pytest.raises(ex.InputError, match="Unknown correlation 'kendall'"):
        ex.scores.correlation(matrix, "kendall")


def test_exact_repeats_are_found_even_without_variation() -> None:
    results = ex.Results.from_numpy([[1.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    pairs = ex.scores.near_identical(results)
    assert [(pair.a, pair.b, pair.exact) for pair in pairs.pairs] == [("agent 1", "agent 2", True)]


def test_agents_are_listed_but_kept_until_asked() -> None:
    base = np.random.default_rng(0).normal(size=20)
    values = np.stack([base, base + 1e-6 * np.arange(20), np.random.default_rng(1).normal(size=20)])
    results = ex.Results.from_numpy(values, agents=["a", "a again", "b"])
    assert [(pair.a, pair.b, pair.exact) for pair in ex.scores.near_identical(results).pairs] == [
        ("a", "a again", False)
    ]
    assert results.agents == ("a", "a again", "b")
    kept = ex.scores.without_near_identical(results)
    assert kept.agents == ("a again", "b"), "the better of the two"
    assert "'a'" in kept.provenance.steps[-1]


def test_a_chain_of_likeness_keeps_every_agent_unlike_those_kept() -> None:
    # b is like a, c is like b but not like a: dropping b must not drop c.
    results = ex.Results.from_numpy(
        [[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 2.0, 6.0]]
    )
    limit = 0.96
    pairs = {(pair.a, pair.b) for pair in ex.scores.near_identical(results, limit).pairs}
    assert pairs == {("agent 1", "agent 2"), ("agent 2", "agent 3")}
    assert ex.scores.without_near_identical(results, limit).agents == ("agent 1", "agent 3")


def test_limits_outside_minus_one_to_one_are_refused() -> None:
    with pytest.raises(ex.InputError, match=r"limit is 1.5"):
        ex.scores.near_identical(ex.Results.from_numpy([[1.0]]), limit=1.5)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("gap", [False, True])
def test_correlation_minds_no_unit(size: float, gap: bool) -> None:
    values = np.array(
        [[1.0, 5.0, 2.0], [2.0, 3.0, 9.0], [3.0, 8.0, 1.0], [4.0, 9.0, np.nan if gap else 4.0]]
    )
    expected = ex.scores.correlation(ex.Results.from_numpy(values)).values
    ours = ex.scores.correlation(ex.Results.from_numpy(values * size)).values
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e12])
def test_what_lies_outside_the_common_agents_does_not_matter(outlier: float) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(10, 2))
    expected = stats.pearsonr(*values.T).statistic
    ours = ex.scores.correlation(
        ex.Results.from_numpy(np.vstack([values, [outlier, np.nan]]))
    ).values[0, 1]
    assert ours == pytest.approx(expected, abs=1e-9)


def test_the_order_of_the_table_does_not_decide_which_of_two_agents_is_dropped() -> None:
    base = np.random.default_rng(0).normal(size=20)
    values = np.stack([base, base + 1e-6 * np.arange(20), np.random.default_rng(1).normal(size=20)])
    for order in ([0, 1, 2], [1, 2, 0], [2, 1, 0]):
        names = [f"a{place}" for place in range(3)]  # other names for other orders
        results = ex.Results.from_numpy(values[order], names)
        kept = ex.scores.without_near_identical(results).agents
        assert {order[names.index(agent)] for agent in kept} == {1, 2}, "the better of the two"

"""Friedman, Wilcoxon with Holm, Nemenyi and cliques, against scipy and Demšar's worked example."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores.significance import cliques, critical_difference, holm

# Demšar (2006), table 6: AUC of four variants of C4.5 on fourteen data sets
DEMSAR = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.975, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
    ]
)  # fmt: skip
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def test_mean_ranks_are_those_demsar_prints() -> None:
    found = ex.significance(ex.Results.from_numpy(DEMSAR, NAMES))
    # The printed scores tie once where the paper's ranks, of unrounded scores, do not.
    np.testing.assert_allclose(found.mean_rank, [3.143, 2.000, 2.893, 1.964], atol=0.5 / 14 + 1e-3)


def test_nemenyi_concludes_as_demsar_does() -> None:
    results = ex.Results.from_numpy(DEMSAR, NAMES)
    strict = ex.significance(results, "nemenyi", alpha=0.05)
    assert strict.critical == pytest.approx(1.25, abs=0.005)
    assert len(strict.cliques) == 1  # "not powerful enough to detect any significant differences"
    loose = ex.significance(results, "nemenyi", alpha=0.10)
    assert loose.critical == pytest.approx(1.12, abs=0.005)
    worse = {NAMES[b] for b in range(1, 4) if loose.p[0, b] < 0.10}
    assert worse == {"C4.5+m", "C4.5+m+cf"}
    assert [{NAMES[agent] for agent in clique} for clique in loose.cliques] == [
        {"C4.5+m+cf", "C4.5+m", "C4.5+cf"},
        {"C4.5+cf", "C4.5"},
    ]


def test_friedman_equals_scipys() -> None:
    found = ex.significance(ex.Results.from_numpy(DEMSAR, NAMES))
    theirs = stats.friedmanchisquare(*DEMSAR)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.p_value < 0.05


def test_wilcoxon_with_holm_equals_scipys_p_values_adjusted_by_hand() -> None:
    values = np.random.default_rng(0).normal(size=(4, 30)) + np.arange(4)[:, None] / 3
    found = ex.significance(ex.Results.from_numpy(values))
    pairs = list(combinations(range(4), 2))
    raw = [stats.wilcoxon(values[a], values[b]).pvalue for a, b in pairs]
    order = np.argsort(raw)
    expected, worst = np.empty(6), 0.0
    for step, place in enumerate(order):
        worst = max(worst, min(1.0, (6 - step) * raw[place]))
        expected[place] = worst
    np.testing.assert_allclose([found.p[pair] for pair in pairs], expected)


def test_holm_equals_the_worked_example_of_its_definition() -> None:
    np.testing.assert_allclose(holm(np.array([0.01, 0.02, 0.03, 0.005])), [0.03, 0.04, 0.04, 0.02])


@pytest.mark.parametrize(("agents", "q"), [(2, 1.960), (4, 2.569), (7, 2.949), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table(agents: int, q: float) -> None:
    distance = critical_difference(agents, 20)
    assert distance / np.sqrt(agents * (agents + 1) / 120) == pytest.approx(q, abs=1e-3)


def test_nemenyi_finds_what_lies_further_apart_than_the_critical_difference() -> None:
    values = np.random.default_rng(0).normal(size=(5, 25)) + np.arange(5)[:, None] / 2
    found = ex.significance(ex.Results.from_numpy(values), "nemenyi")
    apart = np.abs(found.mean_rank[:, None] - found.mean_rank[None, :])
    np.testing.assert_array_equal(found.p < 0.05, apart > found.critical)
    for clique in found.cliques:
        assert np.ptp(found.mean_rank[list(clique)]) <= found.critical


def test_cliques_are_largest_groups_without_any_difference() -> None:
    p = np.ones((4, 4))
    p[0, 3] = p[3, 0] = p[1, 3] = p[3, 1] = 0.01
    assert cliques(np.array([1.0, 2.0, 3.0, 4.0]), p, 0.05) == ((0, 1, 2), (2, 3))
    assert cliques(np.array([4.0, 3.0, 2.0, 1.0]), np.ones((4, 4)), 0.05) == ((3, 2, 1, 0),)


def test_tasks_that_some_agent_misses_are_left_out_and_named() -> None:
    values = np.random.default_rng(0).normal(size=(3, 6))
    values[1, 2] = np.nan
    found = ex.significance(ex.Results.from_numpy(values))
    assert len(found.tasks) == 5
    assert "'task 3'" in found.notes[0]


def test_agents_that_never_differ_do_not_differ_significantly() -> None:
    found = ex.significance(ex.Results.from_numpy(np.tile(np.arange(6.0), (3, 1))))
    assert found.p_value == 1.0
    assert (found.p == 1).all()
    assert found.cliques == ((0, 1, 2),)


def test_two_agents_are_compared_without_friedman() -> None:
    values = np.random.default_rng(0).normal(size=(2, 12))
    found = ex.significance(ex.Results.from_numpy(values))
    assert np.isnan(found.p_value)
    assert found.p[0, 1] == pytest.approx(stats.wilcoxon(values[0], values[1]).pvalue)


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        (np.ones((1, 3)), {}, "There is one agent"),
        ([[1.0, np.nan], [np.nan, 1.0]], {}, "0 such tasks"),
        (np.ones((2, 3)), {"posthoc": "tukey"}, "Unknown post-hoc test 'tukey'"),
        (np.ones((2, 3)), {"alpha": 0.0}, "level of significance is 0.0"),
    ],
)
def test_bad_input_is_refused(values: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        ex.significance(ex.Results.from_numpy(values), **options)

"""Friedman, Wilcoxon with Holm, Nemenyi and cliques, against scipy and Demšar's worked example."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores import friedman, holm
from examiner.scores.significance import cliques, nemenyi

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
    found = ex.scores.significance(ex.Results.from_numpy(DEMSAR, NAMES), normalise=None)
    # The printed scores tie once where the paper's ranks, of unrounded scores, do not.
    printed = dict(zip(NAMES, [3.143, 2.000, 2.893, 1.964], strict=True))
    expected = [printed[agent] for agent in found.agent_names]
    np.testing.assert_allclose(found.mean_rank, expected, atol=0.5 / 14 + 1e-3)
    assert found.mean.tolist() == sorted(found.mean, reverse=True), "best first"


def test_nemenyi_concludes_as_demsar_does() -> None:
    results = ex.Results.from_numpy(DEMSAR, NAMES)
    strict = ex.scores.significance(results, "nemenyi", alpha=0.05, normalise=None)
    assert strict.critical == pytest.approx(1.25, abs=0.005)
    assert len(strict.cliques) == 1  # "not powerful enough to detect any significant differences"
    loose = ex.scores.significance(results, "nemenyi", alpha=0.10, normalise=None)
    assert loose.critical == pytest.approx(1.12, abs=0.005)
    plain = loose.p[loose.agent_names.index("C4.5")]
    assert {loose.agent_names[b] for b in range(4) if plain[b] < 0.10} == {"C4.5+m", "C4.5+m+cf"}
    assert [{loose.agent_names[agent] for agent in clique} for clique in loose.cliques] == [
        {"C4.5+m+cf", "C4.5+m", "C4.5+cf"},
        {"C4.5+cf", "C4.5"},
    ]


def test_friedman_equals_scipys() -> None:
    found = ex.scores.significance(ex.Results.from_numpy(DEMSAR, NAMES), normalise=None)
    theirs = stats.friedmanchisquare(*DEMSAR)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.p_value < 0.05


def in_table_order(matrix: np.ndarray, found: ex.scores.Significance) -> np.ndarray:
    """A matrix of agents that are called "agent 1", "agent 2" and so on, in this order."""
    rows = [
        found.agent_names.index(f"agent {number + 1}") for number in range(len(found.agent_names))
    ]
    return matrix[np.ix_(rows, rows)]


OF_SCIPY = {"t-holm": stats.ttest_rel, "wilcoxon-holm": stats.wilcoxon}


@pytest.mark.parametrize("posthoc", OF_SCIPY)
def test_tests_of_pairs_equal_scipys_p_values_adjusted_by_hand(posthoc) -> None:
    values = np.random.default_rng(0).normal(size=(4, 30)) + np.arange(4)[:, None] / 3
    found = ex.scores.significance(ex.Results.from_numpy(values), posthoc, normalise=None)
    pairs = list(combinations(range(4), 2))
    raw = [OF_SCIPY[posthoc](values[a], values[b]).pvalue for a, b in pairs]
    order = np.argsort(raw)
    expected, worst = np.empty(6), 0.0
    for step, place in enumerate(order):
        worst = max(worst, min(1.0, (6 - step) * raw[place]))
        expected[place] = worst
    p = in_table_order(found.p, found)
    np.testing.assert_allclose([p[pair] for pair in pairs], expected)


def test_holm_equals_the_worked_example_of_its_definition() -> None:
    np.testing.assert_allclose(holm(np.array([0.01, 0.02, 0.03, 0.005])), [0.03, 0.04, 0.04, 0.02])


@pytest.mark.parametrize(("agents", "q"), [(2, 1.960), (4, 2.569), (7, 2.949), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table(agents: int, q: float) -> None:
    distance = nemenyi(np.arange(1.0, agents + 1), 20)[1]
    assert distance / np.sqrt(agents * (agents + 1) / 120) == pytest.approx(q, abs=1e-3)


def test_nemenyi_finds_what_lies_further_apart_than_the_critical_difference() -> None:
    values = np.random.default_rng(0).normal(size=(5, 25)) + np.arange(5)[:, None] / 2
    found = ex.scores.significance(ex.Results.from_numpy(values), "nemenyi", normalise=None)
    apart = np.abs(found.mean_rank[:, None] - found.mean_rank[None, :])
    np.testing.assert_array_equal(found.p < 0.05, apart > found.critical)
    for clique in found.cliques:
        assert np.ptp(found.mean_rank[list(clique)]) <= found.critical


def test_cliques_are_largest_groups_without_any_difference() -> None:
    p = np.ones((4, 4))
    p[0, 3] = p[3, 0] = p[1, 3] = p[3, 1] = 0.01
    assert cliques(np.array([1.0, 2.0, 3.0, 4.0]), p, 0.05) == ((0, 1, 2), (2, 3))
    assert cliques(np.array([4.0, 3.0, 2.0, 1.0]), np.ones((4, 4)), 0.05) == ((3, 2, 1, 0),)


def test_nemenyi_leaves_out_tasks_that_some_agent_misses_and_names_them() -> None:
    values = np.random.default_rng(0).normal(size=(3, 6))
    values[1, 2] = np.nan
    found = ex.scores.significance(ex.Results.from_numpy(values), "nemenyi", normalise=None)
    assert len(found.tasks) == 5
    assert "'task 3'" in found.notes[0]


def with_gaps(agents: int = 6, tasks: int = 90, share: float = 0.3, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(agents, tasks)) + np.linspace(0.0, 1.0, agents)[:, None]
    values[rng.random(values.shape) < share] = np.nan
    return values


@pytest.mark.parametrize("posthoc", OF_SCIPY)
def test_with_gaps_each_pair_is_tested_on_the_tasks_both_have_as_scipy_does(posthoc) -> None:
    values = with_gaps()
    found = ex.scores.significance(ex.Results.from_numpy(values), posthoc, normalise=None)
    pairs = list(combinations(range(len(values)), 2))
    raw = [OF_SCIPY[posthoc](values[a], values[b], nan_policy="omit").pvalue for a, b in pairs]
    order = np.argsort(raw)
    steps = np.minimum(1, np.array(raw)[order] * np.arange(len(raw), 0, -1))
    expected = np.empty(len(raw))
    expected[order] = np.maximum.accumulate(steps)
    p, common = (in_table_order(part, found) for part in (found.p, found.common))
    np.testing.assert_allclose([p[pair] for pair in pairs], expected)
    assert (expected < 0.05).any()
    both = np.isfinite(values)
    assert common[0, 5] == (both[0] & both[5]).sum()
    assert found.notes == () and len(found.tasks) == 90


def test_gaps_do_not_hide_what_complete_tasks_alone_could_not_show() -> None:
    rng = np.random.default_rng(3)
    solved = (rng.random((30, 200)) < np.linspace(0.3, 0.8, 30)[:, None]).astype(float)
    solved[rng.random(solved.shape) < 0.06] = np.nan
    found = ex.scores.significance(ex.Results.from_numpy(solved), normalise=None)
    assert np.isfinite(solved).all(axis=0).sum() < 60
    assert found.p[0, 29] < 1e-6 and int((found.p < 0.05).sum()) // 2 > 100


@pytest.mark.parametrize("rounded", [False, True])
def test_friedman_without_gaps_is_scipys_with_ties_too(rounded: bool) -> None:
    values = np.random.default_rng(4).normal(size=(5, 25))
    values = values.round() if rounded else values
    statistic, p_value = friedman(values)
    theirs = stats.friedmanchisquare(*values)
    assert (statistic, p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_friedman_of_zeros_and_ones_is_cochrans_q() -> None:
    solved = (np.random.default_rng(5).random((4, 30)) < 0.5).astype(float)
    agents, tasks = solved.sum(axis=1), solved.sum(axis=0)
    k = len(agents)
    q = k * (k - 1) * ((agents - agents.mean()) ** 2).sum() / (tasks * (k - tasks)).sum()
    assert friedman(solved) == pytest.approx((q, stats.chi2.sf(q, k - 1)))


def test_friedman_of_balanced_incomplete_blocks_is_durbins() -> None:
    # Conover (1999), chapter 5.9: seven ice creams, three a judge, each pair judged once together
    blocks = [(0, 1, 3), (1, 2, 4), (2, 3, 5), (3, 4, 6), (4, 5, 0), (5, 6, 1), (6, 0, 2)]
    ranks = [(2, 3, 1), (3, 1, 2), (2, 1, 3), (1, 2, 3), (3, 1, 2), (3, 1, 2), (3, 1, 2)]
    values = np.full((7, 7), np.nan)
    for task, (agents, places) in enumerate(zip(blocks, ranks, strict=True)):
        values[list(agents), task] = places
    t, k, r = 7, 3, 3
    total = np.nansum(values, axis=1)
    durbin = 12 * (t - 1) / (r * t * (k - 1) * (k + 1)) * ((total - r * (k + 1) / 2) ** 2).sum()
    assert friedman(values) == pytest.approx((durbin, stats.chi2.sf(durbin, t - 1)))


def test_friedman_with_gaps_keeps_its_level() -> None:
    rng = np.random.default_rng(6)
    found = []
    for _ in range(400):
        values = rng.normal(size=(5, 40))
        values[rng.random(values.shape) < 0.3] = np.nan
        found.append(friedman(values)[1])
    assert 0.02 < np.mean(np.array(found) < 0.05) < 0.08


def test_pairs_without_common_tasks_are_said_not_to_be_told_apart() -> None:
    values = np.full((3, 12), np.nan)
    values[0, :6], values[1, 6:], values[2] = np.arange(6.0), np.arange(6.0), np.arange(12.0) + 1
    found = ex.scores.significance(ex.Results.from_numpy(values), normalise=None)
    p, common = (in_table_order(part, found) for part in (found.p, found.common))
    assert p[0, 1] == 1.0 and common[0, 1] == 0
    assert "1 pair of agents share fewer than 2 tasks" in found.notes[0]


def test_agents_that_never_differ_do_not_differ_significantly() -> None:
    found = ex.scores.significance(
        ex.Results.from_numpy(np.tile(np.arange(6.0), (3, 1))), normalise=None
    )
    assert found.p_value == 1.0
    assert (found.p == 1).all()
    assert found.cliques == ((0, 1, 2),)


def test_two_agents_are_compared_without_friedman() -> None:
    values = np.random.default_rng(0).normal(size=(2, 12))
    found = ex.scores.significance(ex.Results.from_numpy(values), normalise=None)
    assert np.isnan(found.p_value)
    assert found.p[0, 1] == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue)


def test_several_runs_of_one_task_are_tested_by_welch_as_scipy_does() -> None:
    values = np.random.default_rng(3).normal(size=(2, 1, 6)) * np.array([1.0, 3.0])[:, None, None]
    found = ex.scores.significance(ex.Results.from_numpy(values), normalise=None)
    theirs = stats.ttest_ind(values[0, 0], values[1, 0], equal_var=False).pvalue
    assert found.unit == "runs"
    assert found.p[0, 1] == pytest.approx(theirs)


def test_agents_far_apart_on_five_tasks_differ_significantly() -> None:
    levels = np.array([400.0, 300.0, 200.0, 100.0])[:, None]
    noise = np.random.default_rng(0).normal(scale=10, size=(4, 5))
    for table in (levels + noise, levels + 0 * noise):
        found = ex.scores.significance(ex.Results.from_numpy(table), normalise=None)
        assert (found.p[np.triu_indices(4, 1)] < 0.05).all()
        assert found.cliques == ()


def test_single_trials_of_zeros_and_ones_are_tested_exactly() -> None:
    solved = (np.random.default_rng(1).random((2, 25)) < [[0.9], [0.4]]).astype(float)
    only_a, only_b = ((solved[0] > solved[1]).sum(), (solved[0] < solved[1]).sum())
    found = ex.scores.significance(ex.Results.from_numpy(solved), normalise=None)
    assert found.p[0, 1] == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue)


SHAPES = [(4, 3, 2), (3, 10, 5), (6, 4, 1), (2, 3, 1), (2, 2, 2), (12, 27, 1)]


@pytest.mark.parametrize(
    "shape", [(4, 5, 1), *(pytest.param(shape, marks=pytest.mark.slow) for shape in SHAPES)]
)
@pytest.mark.parametrize("kind", ["normal", "skewed", "steps", "binary"])
def test_identical_agents_differ_significantly_in_few_tables(shape, kind) -> None:
    rng, found = np.random.default_rng(0), 0
    draw = {
        "normal": lambda: rng.normal(size=shape),
        "skewed": lambda: rng.lognormal(size=shape) * rng.lognormal(size=(1, shape[1], 1)),
        "steps": lambda: rng.integers(0, 3, size=shape).astype(float),
        "binary": lambda: (rng.random(shape) < 0.7).astype(float),
    }[kind]
    tables = 150
    for _ in range(tables):
        p = ex.scores.significance(ex.Results.from_numpy(draw()), normalise=None).p
        found += (p < 0.05).any()
    assert found / tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)


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
        ex.scores.significance(ex.Results.from_numpy(values), **options, normalise=None)

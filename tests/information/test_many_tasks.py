"""Clusters of more tasks than distances fit into memory, and means of correlations without a table."""

import sys

import numpy as np
import pytest

import examiner as ex
from examiner.information import MOST_TASKS, clusters, general_factor, similarity
from examiner.information.factors import singular, standard_scores
from examiner.information.general_factor import first_share, mean_correlations, share_by_chance
from examiner.scores import correlate_columns


def planted(agents: int, tasks: int, groups: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores made of one factor for each group, and the group of each task."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=tasks)
    factors = rng.normal(size=(agents, groups))
    return factors[:, group] + 0.6 * rng.normal(size=(agents, tasks)), group


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pairs of tasks on which two groupings agree (Rand, 1971)."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(len(one), size=(2, 20_000))
    return float(((one[a] == one[b]) == (other[a] == other[b])).mean())


def test_beyond_the_limit_planted_clusters_are_found(monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["examiner.information.clusters"], "JOINED", 500)
    scores, group = planted(150, MOST_TASKS + 1000, 4)
    found = clusters(ex.Results.from_numpy(scores))
    assert agreement(found.label, group) > 0.97
    assert found.correlation.shape == (500, 500)
    assert len(found.order) == len(set(found.order)) == MOST_TASKS + 1000
    assert "Of 6,000 tasks 500 were joined" in found.notes[0]


@pytest.fixture
def few_joined(monkeypatch):
    """Join only so many tasks, and assign the others to the nearest cluster."""

    def join(count: int) -> None:
        module = sys.modules["examiner.information.clusters"]
        monkeypatch.setattr(module, "MOST_TASKS", count)
        monkeypatch.setattr(module, "JOINED", count)

    return join


def test_those_that_follow_go_where_joining_all_would_have_put_them(few_joined) -> None:
    scores, _ = planted(50, 300, 3, seed=2)
    results = ex.Results.from_numpy(scores)
    whole = clusters(results)
    few_joined(120)
    assert agreement(clusters(results).label, whole.label) > 0.97


def test_a_task_like_no_other_stands_alone(few_joined) -> None:
    scores, _ = planted(200, 60, 2, seed=3)
    scores[:, 7] = np.random.default_rng(9).normal(size=200)
    few_joined(40)
    found = clusters(ex.Results.from_numpy(scores))
    assert (found.label == found.label[7]).sum() == 1


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_the_mean_correlation_is_that_of_the_whole_table(method) -> None:
    table = np.random.default_rng(4).normal(size=(9, 12)).round(1)
    table[:, 3] = 2.0  # does not vary
    table[:, 5] = np.nan  # nobody was seen
    correlation, _ = correlate_columns(table, method)
    np.fill_diagonal(correlation, np.nan)
    assert mean_correlations(table, method) == pytest.approx([np.nanmean(correlation)])


def test_who_was_searched_is_said_where_not_all_were() -> None:
    rng = np.random.default_rng(5)
    scores = (rng.random((110, 12)) < rng.random((110, 1))).astype(float)
    found = similarity(ex.Results.from_numpy(scores)).favourable
    assert found.searched == 100
    assert len(found.winners) <= 100
    assert "of the first 100 of 110 agents by mean" in found.headline


def test_the_first_factor_of_shuffled_agents_is_that_of_chance() -> None:
    noise = np.random.default_rng(0).normal(size=(250, 400))
    assert first_share(standard_scores(noise)) == pytest.approx(share_by_chance(250, 400), rel=0.05)


def test_the_first_singular_values_of_a_large_table_are_those_of_all(monkeypatch) -> None:
    for shape in ((40, 60), (60, 40)):
        scores = np.random.default_rng(1).normal(size=shape)
        left, values, right = singular(scores, 4)
        monkeypatch.setattr(sys.modules["examiner.information.factors"], "SMALL_TABLE", 10)
        few = singular(scores, 4)
        monkeypatch.undo()
        np.testing.assert_allclose(few[1], values, rtol=1e-10)
        np.testing.assert_allclose((few[0] * few[1]) @ few[2], (left * values) @ right, atol=1e-8)


def test_a_large_table_has_the_general_factor_of_a_small_one(monkeypatch) -> None:
    results = ex.Results.from_numpy(planted(60, 90, 1)[0])
    exact = general_factor(results, rng=0, reps=10)
    module = sys.modules["examiner.information.general_factor"]
    monkeypatch.setattr(module, "MANY_CELLS", 1000)
    monkeypatch.setattr(module, "MOST_COLUMNS", 40)
    monkeypatch.setattr(sys.modules["examiner.information.factors"], "SMALL_TABLE", 20)
    found = general_factor(results, rng=0, reps=10)
    for name in ("mean_task_correlation", "mean_agent_correlation", "first_factor_share"):
        one, other = getattr(found, name), getattr(exact, name)
        assert one.value == pytest.approx(other.value, abs=1e-9)
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.3)
    assert found.first_factor_by_chance == pytest.approx(exact.first_factor_by_chance, rel=0.1)

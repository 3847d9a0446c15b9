"""The parts that choosing is made of, against brute force, scipy and the neighbouring rooms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.irt import ItemParameters
from examiner.scores import POINTS, TaskScores, cell_means
from examiner.selection import METHODS, Constraints, benchmark, fold_of
from examiner.selection.constraints import terms_of
from examiner.selection.evidence import SelectionEvidence, fill
from examiner.selection.intervals import Reach
from examiner.selection.prediction import HeldOut, fit_predictor
from examiner.selection.proof.ordering import detectable, held_out_pairs, kendall, top_hits
from examiner.selection.ridge import Design, ridge_fits
from examiner.selection.targets import aggregate, remainder
from examiner.validation import from_record, to_record

RNG = np.random.default_rng


def evidence_of(values: np.ndarray, **parts: object) -> SelectionEvidence:
    tasks = tuple(f"t{place:02d}" for place in range(values.shape[1]))
    agents = tuple(f"a{place}" for place in range(len(values)))
    return SelectionEvidence(agents, tasks, values, terms_of(Constraints(), tasks), **parts)


@given(seed=st.integers(0, 10**6), agents=st.integers(5, 12), size=st.integers(1, 3))
def test_leaving_out_in_closed_form_is_refitting_without(seed: int, agents: int, size: int) -> None:
    rng = RNG(seed)
    values, target = rng.normal(size=(agents, 5)), rng.normal(size=agents)
    design = Design.of(values).values
    chosen = rng.permutation(5)[:size]
    fits = ridge_fits(design, target, chosen[None])
    penalty = agents * fits.shrinkage[0] * np.eye(size)
    for agent in range(agents):
        kept = np.arange(agents) != agent
        x, y = design[np.ix_(kept, chosen)], target[kept]
        centre = x.mean(axis=0)
        beta = np.linalg.solve(
            (x - centre).T @ (x - centre) + penalty, (x - centre).T @ (y - y.mean())
        )
        expected = target[agent] - y.mean() - (design[agent, chosen] - centre) @ beta
        assert fits.left_out[0, agent] == pytest.approx(expected, abs=1e-9)


def test_predictors_travel_through_plain_values() -> None:
    values = RNG(0).normal(size=(9, 1)) + RNG(1).normal(size=(9, 5))
    for target in ("mean", "rank-points"):
        material = benchmark(ex.Results.from_numpy(values), target=target)
        fold = fold_of(material, np.arange(9), ())
        held = HeldOut(fold.evidence.target + RNG(4).normal(size=9), Reach(0.5, 0.25))
        predictor = fit_predictor(fold, (0, 3), held)
        again = from_record(type(predictor), to_record(predictor))
        new = RNG(3).normal(size=(4, 2))
        for one, other in zip(predictor.aggregate(new), again.aggregate(new), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(predictor.each_task(new), again.each_task(new))


@pytest.mark.parametrize(("agents", "slope"), [(12, 1.0), (12, 0.6), (40, 1.0)])
def test_the_detectable_difference_is_ordered_right_nine_times_of_ten(
    agents: int, slope: float
) -> None:
    rng, noise, right = RNG(0), 0.3, []
    for _ in range(400):
        truth = rng.normal(size=agents)
        said = slope * truth + noise * rng.normal(size=agents)
        found = float(detectable(held_out_pairs([np.arange(agents)], [truth], [said])))
        # Two other agents so far apart: their predictions err by a normal of deviation √2 · noise
        right.append(stats.norm.cdf(slope * found / (np.sqrt(2) * noise)))
    assert 0.88 <= np.mean(right) <= 0.925


def test_a_subset_that_tells_nothing_detects_nothing() -> None:
    rng = RNG(0)
    truth = rng.normal(size=30)
    blind, true = rng.normal(size=30), truth + 1e-9 * rng.normal(size=30)
    pairs = held_out_pairs([np.arange(30)], [truth], [np.stack([blind - truth, true])])
    found = detectable(pairs)
    assert found[0] == np.inf
    assert found[1] < 1e-8


def test_weights_of_one_change_no_detectable_difference() -> None:
    truth, said = RNG(0).normal(size=20), RNG(1).normal(size=(3, 20))
    pairs = held_out_pairs([np.arange(20)], [truth], [truth + 0.3 * said])
    once = detectable(pairs, np.ones((2, 20)))
    np.testing.assert_allclose(once, np.repeat(detectable(pairs)[:, None], 2, axis=1))


def test_kendall_within_folds_is_scipys_where_there_is_one_fold() -> None:
    truth, said = RNG(0).normal(size=20), RNG(1).normal(size=(3, 20))
    pairs = held_out_pairs([np.arange(20)], [truth], [said])
    expected = [stats.kendalltau(truth, one).statistic for one in said]
    np.testing.assert_allclose(kendall(pairs), expected)
    np.testing.assert_allclose(kendall(pairs, np.ones((1, 20)))[:, 0], expected)
    assert top_hits([truth], [truth[None]], 1) == [1.0]
    assert top_hits([truth], [-truth[None]], 3) == [0.0]


RELATIVE = [name for name, known in ex.scores.NORMALISERS.items() if known.relative]


@pytest.mark.parametrize("kind", RELATIVE)
def test_values_of_a_fold_of_all_agents_are_those_of_the_normaliser(kind: str) -> None:
    values = RNG(0).normal(size=(9, 4, 3))
    values[2, 1] = values[3, 1]
    values[5, 2] = np.nan
    values[:, 3] = 0.5  # a constant task
    results = ex.Results.from_numpy(values)
    whole = benchmark(results, ex.Recipe(normaliser=kind), coverage=0.5)
    fold = fold_of(whole, np.arange(9), ())
    expected = cell_means(ex.normalise(results, kind))
    np.testing.assert_allclose(fold.observed, expected)
    some = fold_of(whole, np.arange(2, 9), ())  # others are put beside the agents of the fold
    alone = ex.normalise(results.where(results.agent_codes >= 2), kind)
    np.testing.assert_allclose(some.observed, cell_means(alone))


def test_points_for_ranks_are_shared_by_equals() -> None:
    table = TaskScores.of_cells(np.array([[3.0], [2.0], [2.0], [1.0]]), list("abcd"), ["t"])
    points = ex.scores.NORMALISERS["points"]
    scale = points.learn(table)
    assert points.apply(scale, table).tolist() == [25, 16.5, 16.5, 12]
    # A newcomer between them takes the place it would have had.
    new = TaskScores.of_cells(np.array([[2.5], [2.0], [9.0]]), list("xyz"), ["t"])
    assert points.apply(scale, new).tolist() == [18, pytest.approx((18 + 15 + 12) / 3), 25]
    assert sum(POINTS) == 101


def test_a_task_that_tells_nothing_borrows_nothing_from_others() -> None:
    filled, centre = fill(np.array([[1.0, np.nan], [3.0, np.nan]]))
    assert filled[:, 1].tolist() == [2.0, 2.0]
    assert centre[1] == 2.0


def test_gaps_are_filled_from_the_agent_and_the_task() -> None:
    values = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, np.nan], [2.0, 3.0, 4.0]])
    filled, centre = fill(values)
    assert centre.tolist() == [2.0, 3.0, 3.5]
    assert filled[1, 2] == 3.5 + 1.0


def test_remainders_and_aggregates() -> None:
    values = RNG(0).normal(size=(4, 6))
    sets = np.array([[0, 2], [5, 1]])
    for row, chosen in enumerate(sets):
        rest = np.delete(values, chosen, axis=1).mean(axis=1)
        np.testing.assert_allclose(remainder(values, sets)[row], rest)
    from examiner.scores import interquartile_mean

    expected = [interquartile_mean(row) for row in values]
    np.testing.assert_allclose(aggregate(values, "iqm"), expected)
    np.testing.assert_allclose(aggregate(values, "median"), np.median(values, axis=1))
    with pytest.raises(ex.InputError, match="Unknown target 'mode'"):
        benchmark(ex.Results.from_numpy(values), target="mode")


def test_information_methods_are_those_of_the_information_room() -> None:
    results = ex.Results.from_numpy(RNG(0).normal(size=(7, 9, 1)) + RNG(1).normal(size=(7, 9, 4)))
    channels = ex.information.channels(results)
    evidence = SelectionEvidence(
        *(results.agents, results.tasks, np.zeros((7, 9))),
        terms_of(Constraints(), results.tasks),
        channels=channels,
    )
    found = METHODS["information_gain"].select(evidence, 4, RNG(0))
    expected = ex.information.best_set(channels, 4)
    assert found.tasks == expected.tasks.task
    np.testing.assert_allclose(np.cumsum(found.gain), expected.tasks.bits)
    swapped = METHODS["information_swap"].select(evidence, 4, RNG(0))
    assert swapped.gain.sum() >= found.gain.sum() - 1e-9
    optimum = ex.information.best_set(channels, 4, "optimum").bits
    assert optimum - 0.02 <= swapped.gain.sum() <= optimum + 1e-9


def test_anchors_are_medoids() -> None:
    values = RNG(0).normal(size=(6, 9))
    found = METHODS["anchors"].select(evidence_of(values), 3, RNG(0))
    distance = np.linalg.norm(values[:, :, None] - values[:, None, :], axis=0)

    def away(places: tuple[int, ...]) -> float:
        return float(distance[:, list(places)].min(axis=1).sum())

    best = min(away(places) for places in combinations(range(9), 3))
    assert best <= away(found.columns) <= 1.05 * best
    assert found.gain.sum() == 9


def test_regression_finds_the_tasks_the_target_is_made_of() -> None:
    values = RNG(0).normal(size=(40, 12))
    target = values[:, [2, 7, 9]].mean(axis=1)
    found = METHODS["regression"].select(evidence_of(values, target=target), 3, RNG(0))
    assert sorted(found.columns) == [2, 7, 9]


def test_fisher_maximises_the_expected_log_information() -> None:
    items = ItemParameters.of(
        [f"t{n:02d}" for n in range(7)], RNG(0).uniform(0.5, 2, 7), RNG(1).normal(size=7)
    )
    ability = RNG(2).normal(size=30)
    found = METHODS["fisher"].select(
        evidence_of(np.zeros((30, 7)), items=items, ability=ability), 3, RNG(0)
    )

    def worth(places: tuple[int, ...]) -> float:
        total = np.ones(30)
        for place in places:
            p = 1 / (1 + np.exp(-(items.slope[place] * ability + items.intercept[place])))
            total += items.slope[place] ** 2 * p * (1 - p)
        return float(np.log(total).mean())

    sets = list(combinations(range(7), 3))
    best = max(sets, key=worth)
    assert worth(found.columns) == pytest.approx(found.gain.sum())
    assert worth(found.columns) >= (1 - 1 / np.e) * worth(best)
    assert worth(found.columns) == pytest.approx(worth(best), rel=0.01)


def test_discrimination_prefers_steep_curves_where_the_agent_is() -> None:
    items = ItemParameters.of(list("abcd"), [2.0, 2.0, 0.5, -3.0], difficulty=[0.0, 3.0, 0.0, 0.0])
    evidence = evidence_of(np.zeros((1, 4)), items=items, ability=np.array([0.0]))
    assert METHODS["discrimination"].select(evidence, 4, RNG(0)).columns == (0, 2, 1, 3)
    evidence = evidence_of(np.zeros((1, 4)), items=items, ability=np.array([3.0]))
    assert METHODS["discrimination"].select(evidence, 1, RNG(0)).columns == (1,)


def test_clusters_and_kinds_give_one_task_each() -> None:
    base = RNG(0).normal(size=(30, 3))
    values = np.repeat(base, [4, 3, 2], axis=1) + 0.1 * RNG(1).normal(size=(30, 9))
    label = np.repeat([0, 1, 2], [4, 3, 2])
    found = METHODS["clusters"].select(evidence_of(values), 3, RNG(0))
    assert label[list(found.columns)].tolist() == [0, 1, 2]
    assert found.gain.tolist() == [4, 3, 2]
    groups = tuple("abcabcabc")
    kinds = METHODS["typology"].select(evidence_of(values, groups=groups), 3, RNG(0))
    assert {groups[place] for place in kinds.columns} == set("abc")


def test_spread_goes_evenly_from_easy_to_hard() -> None:
    values = np.tile(np.arange(9.0), (4, 1))
    found = METHODS["spread"].select(evidence_of(values), 3, RNG(0))
    assert sorted(found.columns) == [1, 4, 7]


def test_random_draws_every_task_alike() -> None:
    evidence = evidence_of(np.zeros((2, 6)))
    drawn = np.bincount(
        [
            place
            for seed in range(600)
            for place in METHODS["random"].select(evidence, 2, RNG(seed)).columns
        ]
    )
    assert stats.chisquare(drawn).pvalue > 1e-3


def test_costs_come_from_columns_of_results_and_of_tasks() -> None:
    table = {
        "agent": ["a", "a", "b"],
        "task": ["t", "t", "t"],
        "run": [0, 0, 0],
        "trial": [0, 1, 0],
    }
    results = ex.Results.from_dict(table | {"score": [1, 2, 3], "frames": [10, 30, 50]})
    assert ex.scores.task_costs(results, "frames").tolist() == [40.0], "frames add up within a run"
    about = ex.results.Attributes.from_dicts("task", [{"task": "t", "money": 7.0}])
    assert ex.scores.task_costs(results.with_attributes(about), "money").tolist() == [7.0]
    with pytest.raises(ex.InputError, match="No column 'gold'"):
        ex.scores.task_costs(results, "gold")

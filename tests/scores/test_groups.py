"""Tasks that come in groups: repositories, passages, levels of a game, families."""

from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.messages import InputError
from examiner.scores import compare, intervals, rank, ranks, significance, task_groups, total
from examiner.scores.nest import Nest, Step, grouped_error

UNEQUAL = (60, 30, 5, 5, 5, 5, 5, 5)


def grouped(scores: np.ndarray, sizes: tuple[int, ...], column: str = "repo") -> ex.Results:
    agents, tasks = scores.shape
    group = np.repeat(np.arange(len(sizes)), sizes)
    return ex.Results.from_dict(
        {
            "agent": np.repeat([f"a{row}" for row in range(agents)], tasks).tolist(),
            "task": [f"t{row}" for row in range(tasks)] * agents,
            column: [f"g{row}" for row in group] * agents,
            "score": scores.ravel().tolist(),
        }
    )


def by_definition(
    values: np.ndarray, weights: np.ndarray, group: np.ndarray
) -> tuple[float, float]:
    """CR2 and Bell and McCaffrey's degrees from residual makers, as the papers write them."""
    n, shares = len(values), weights / weights.sum()
    maker = np.eye(n) - np.ones((n, 1)) @ shares[None, :]
    rows = []
    for code in np.unique(group):
        part = np.where(group == code, shares, 0.0)
        row = part @ maker  # the group's sum of weighted residuals, as a row of weights on values
        factor = (part**2).sum() / (row**2).sum()
        rows.append(np.sqrt(factor) * row)
    stacked = np.array(rows)
    gram = stacked @ stacked.T
    error = np.sqrt(((stacked @ values) ** 2).sum())
    return float(error), float(np.trace(gram) ** 2 / (gram**2).sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_over_groups_are_those_of_the_definition(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(8), UNEQUAL)
    weights = rng.uniform(0.5, 2.0, 120) if weighted else np.ones(120)
    none = np.zeros(120, dtype=int)
    nest = Nest((Step(none, weights),), none, sampled=group)
    values = rng.normal(size=120)
    size, degrees, groups = grouped_error(values, nest)
    assert (size, degrees) == pytest.approx(by_definition(values, weights, group))
    assert groups == 8


def test_single_tasks_as_groups_give_the_plain_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=30)
    size, degrees, _ = grouped_error(values, replace(Nest.flat(30), sampled=np.arange(30)))
    assert (size, degrees) == pytest.approx((values.std(ddof=1) / np.sqrt(30), 29))


def test_equal_groups_have_the_error_of_their_means() -> None:
    values = np.random.default_rng(1).normal(size=(10, 6))
    nest = replace(Nest.flat(60), sampled=np.repeat(np.arange(10), 6))
    size, degrees, _ = grouped_error(values.ravel(), nest)
    assert (size, degrees) == pytest.approx((values.mean(axis=1).std(ddof=1) / np.sqrt(10), 9))


def test_a_total_of_many_families_has_the_error_of_their_means() -> None:
    rng = np.random.default_rng(2)
    sizes = (9, 7, 5, 4, 3, 2, 2, 2, 1, 1)
    scores = rng.normal(size=(3, sum(sizes))) + rng.normal(size=(3, 10)).repeat(sizes, axis=1)
    results = grouped(scores, sizes, "family")
    made = intervals(results, total=total(results, by="family"), reps=200, normalise=None)
    families = np.array([part.mean(axis=1) for part in np.split(scores, np.cumsum(sizes)[:-1], 1)])
    width = families.std(axis=0, ddof=1) / np.sqrt(10)
    half = (made.high - made.low)[:, 0] / 2
    order = [int(name[1:]) for name in made.agent_names]
    t = 2.262 * width[order]
    assert half == pytest.approx(t, rel=0.25)  # degrees are those of unequal families


def test_groups_are_found_announced_and_can_be_refused() -> None:
    rng = np.random.default_rng(0)
    results = grouped((rng.random((3, 120)) < 0.5).astype(float), UNEQUAL, "repository")
    groups = task_groups(results, None, None)
    assert groups is not None and (groups.column, groups.number) == ("repository", 8)
    assert task_groups(results, "none", None) is None
    note = next(note for note in rank(results, reps=50, normalise=None).notes if "groups" in note)
    assert "8 groups by 'repository'" in note and "worth about" in note and "none" in note
    assert not any(
        "groups by" in note for note in rank(results, reps=50, group="none", normalise=None).notes
    )


def test_other_columns_are_groups_only_where_they_are_named() -> None:
    rng = np.random.default_rng(0)
    results = grouped((rng.random((3, 120)) < 0.5).astype(float), UNEQUAL, "subject")
    assert task_groups(results, None, None) is None
    assert rank(results, reps=50, group="subject", normalise=None).aggregates.how.group == "subject"


def test_levels_of_a_task_are_groups() -> None:
    table = {
        "agent": ["a"] * 6,
        "task": ["g", "g", "h", "h", "i", "i"],
        "level": [0, 1] * 3,
        "score": [1, 0, 1, 1, 0, 0],
    }
    groups = task_groups(ex.Results.from_dict(table), None, None)
    assert groups is not None and groups.code.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_column_that_is_not_there_or_says_nothing_is_refused() -> None:
    results = grouped(np.ones((2, 4)), (4,))
    with pytest.raises(InputError, match="No column 'passage'"):
        rank(results, reps=10, group="passage", normalise=None)
    with pytest.raises(InputError, match="All tasks have the same 'repo'"):
        rank(results, reps=10, group="repo", normalise=None)


def test_a_comparison_over_groups_is_a_t_test_of_their_differences() -> None:
    rng = np.random.default_rng(3)
    won = (rng.random((2, 60)) < 0.6).astype(float)
    pair = compare(grouped(won, (6,) * 10), "a0", "a1", reps=50, normalise=None).pairs[0]
    gaps = (won[0] - won[1]).reshape(10, 6).mean(axis=1)
    from scipy import stats

    theirs = stats.ttest_1samp(gaps, 0)
    assert pair.test == "t over groups"
    assert pair.p == pytest.approx(theirs.pvalue)
    assert (pair.difference_low, pair.difference_high) == pytest.approx(
        tuple(theirs.confidence_interval())
    )
    alone = compare(grouped(won, (6,) * 10), "a0", "a1", reps=50, group="none", normalise=None)
    assert alone.pairs[0].test == "McNemar's exact test"


def test_repeated_tasks_count_once() -> None:
    rng = np.random.default_rng(4)
    once = rng.normal(size=(2, 12))
    copies = grouped(once.repeat(5, axis=1), (5,) * 12)
    pair = compare(copies, "a0", "a1", reps=50, normalise=None).pairs[0]
    plain = compare(
        ex.Results.from_numpy(once), "agent 1", "agent 2", reps=50, normalise=None
    ).pairs[0]
    assert (pair.difference, pair.difference_error) == pytest.approx(
        (plain.difference, plain.difference_error)
    )
    assert pair.effective_tasks == pytest.approx(12, rel=0.1)


def test_ranks_over_groups_are_those_of_group_means() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(4, 40))
    results = grouped(scores, (4,) * 10)
    means = scores.reshape(4, 10, 4).mean(axis=2)
    plain = significance(ex.Results.from_numpy(means), normalise=None)
    assert significance(results, normalise=None).p_value == pytest.approx(plain.p_value)
    wilcoxon = significance(results, "wilcoxon-holm", normalise=None).p
    assert np.sort(wilcoxon, axis=None) == pytest.approx(
        np.sort(
            significance(ex.Results.from_numpy(means), "wilcoxon-holm", normalise=None).p, axis=None
        )
    )


def test_groups_are_drawn_as_a_whole_for_ranks() -> None:
    scores = np.concatenate([np.ones((1, 40)), np.zeros((1, 40))])
    scores[:, 36:] = scores[::-1, 36:]  # one group in which the other agent is better
    drawn = ranks(grouped(scores, (36, 4)), reps=400, normalise=None).probability
    alone = ranks(grouped(scores, (36, 4)), reps=400, group="none", normalise=None).probability
    assert drawn[0, 0] == pytest.approx(0.5, abs=0.1) and alone[0, 0] == 1.0


def test_results_missing_with_hard_tasks_are_noticed() -> None:
    rng = np.random.default_rng(0)
    easiness = np.linspace(-1, 1, 60)
    scores = easiness + rng.normal(size=(12, 60)) * 0.3
    at_random = np.where(rng.random(scores.shape) < 0.3, np.nan, scores)
    assert not any(
        "missing at random" in note
        for note in rank(ex.Results.from_numpy(at_random), reps=20, normalise=None).notes
    )
    hard = np.where(rng.random(scores.shape) < (1 - easiness) / 2.2, np.nan, scores)
    note = next(
        note
        for note in rank(ex.Results.from_numpy(hard), reps=20, normalise=None).notes
        if "missing at random" in note
    )
    assert "tasks with fewer results have lower scores" in note and "off by up to" in note


def test_results_missing_with_weak_agents_are_noticed() -> None:
    rng = np.random.default_rng(1)
    ability = np.linspace(0.1, 0.9, 20)[:, None]
    scores = (rng.random((20, 50)) < ability).astype(float)
    gone = np.where(rng.random(scores.shape) < 0.8 * (1 - ability), np.nan, scores)
    notes = rank(ex.Results.from_numpy(gone), reps=20, normalise=None).notes
    assert any("agents with fewer results have lower scores" in note for note in notes)


def test_medians_of_single_trials_in_groups_have_an_interval_or_a_note() -> None:
    rng = np.random.default_rng(6)
    results = grouped((rng.random((2, 120)) < 0.5).astype(float), UNEQUAL)
    made = intervals(results, "median", reps=50, normalise=None)
    assert np.isnan(made.low).all() or ((made.low <= made.value) & (made.value <= made.high)).all()


def test_bca_is_refused_for_groups() -> None:
    results = grouped(np.random.default_rng(7).normal(size=(2, 120)), UNEQUAL)
    with pytest.raises(InputError, match="no jackknife for groups of tasks"):
        intervals(results, interval="bca", reps=50, normalise=None)
    assert np.isfinite(
        intervals(results, interval="bca", reps=50, group="none", normalise=None).low
    ).all()

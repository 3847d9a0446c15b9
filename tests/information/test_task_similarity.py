"""Clusters of tasks, the general factor, tasks that disagree, and who could be crowned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.information.clusters import mean_silhouette
from examiner.information.observations import shares
from examiner.messages import InputError
from examiner.results import Results, Scales, TaskScale

SEEDS = st.integers(0, 2**32 - 1)


def two_kinds(seed: int = 0, agents: int = 30) -> Results:
    rng = np.random.default_rng(seed)
    skills = rng.normal(size=(agents, 2))
    loads = np.array([[1, 0]] * 5 + [[0, 1]] * 4)
    values = skills @ loads.T + 0.4 * rng.normal(size=(agents, 9))
    return Results.from_numpy(
        values, tasks=[f"p{n}" for n in range(5)] + [f"q{n}" for n in range(4)]
    )


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("number", [None, "auto", 2])
def test_tasks_of_two_skills_form_two_clusters(method, number) -> None:
    found = ex.information.clusters(two_kinds(), method=method, number=number, threshold=0.5)
    assert {frozenset(names) for names in found.clusters} == {
        frozenset(f"p{n}" for n in range(5)),
        frozenset(f"q{n}" for n in range(4)),
    }
    assert found.suggested == 2
    assert found.borders == (5,)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_permuting_tasks_and_agents_changes_no_cluster(seed) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(8, 7))
    agents, tasks = rng.permutation(8), rng.permutation(7)
    names = [f"t{n}" for n in range(7)]
    first = ex.information.clusters(Results.from_numpy(values, tasks=names))
    other = ex.information.clusters(
        Results.from_numpy(values[agents][:, tasks], tasks=[names[n] for n in tasks])
    )
    assert {frozenset(one) for one in first.clusters} == {frozenset(one) for one in other.clusters}


@settings(max_examples=15)
@given(seed=SEEDS)
def test_every_task_is_in_one_cluster_and_clusters_stand_together(seed) -> None:
    values = np.random.default_rng(seed).normal(size=(6, 9))
    values[:, 3] = 1.0
    found = ex.information.clusters(Results.from_numpy(values))
    assert sorted(found.order) == list(range(9))
    assert [task for names in found.clusters for task in names] == [
        found.tasks[place] for place in found.order
    ]
    assert found.clusters[-1] == ("task 4",)
    assert "1 task without any correlation" in found.notes[0]


def test_the_silhouette_is_that_of_its_definition() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 2))
    distance = np.abs(points[:, None] - points).sum(axis=2)
    labels = np.array([0] * 4 + [1] * 7 + [2])
    plain = []
    for one in range(12):
        own = [distance[one, o] for o in range(12) if labels[o] == labels[one] and o != one]
        if not own:
            plain.append(0.0)
            continue
        a = np.mean(own)
        b = min(
            np.mean([distance[one, o] for o in range(12) if labels[o] == label])
            for label in set(labels) - {labels[one]}
        )
        plain.append((b - a) / max(a, b))
    assert mean_silhouette(distance, labels) == pytest.approx(np.mean(plain))


def test_a_lower_is_better_task_is_turned_before_it_is_compared() -> None:
    values = np.column_stack([np.arange(6.0), -np.arange(6.0) + 0.1 * np.arange(6) ** 2])
    scales = Scales([TaskScale("u", direction="lower")])
    plain = ex.information.clusters(Results.from_numpy(values, tasks="tu"))
    turned = ex.information.clusters(Results.from_numpy(values, tasks="tu", scales=scales))
    assert len(plain.clusters) == 2 and len(turned.clusters) == 1


def test_the_task_against_the_rest_is_found() -> None:
    rng = np.random.default_rng(1)
    skill = rng.normal(size=(20, 1))
    values = skill * np.array([1, 1, 1, 1, -1.0]) + 0.3 * rng.normal(size=(20, 5))
    found = ex.information.opposed(Results.from_numpy(values, tasks="abcde"))
    assert found.opposed == ("e",)
    rest = stats.zscore(values)[:, :4].mean(axis=1)
    assert found.correlation[4] == pytest.approx(stats.pearsonr(values[:, 4], rest).statistic)
    test = stats.pearsonr(values[:, 4], rest, alternative="less")
    assert found.chance[4] == pytest.approx(test.pvalue, rel=1e-6)


def test_deceptive_tasks_need_a_score_and_a_win() -> None:
    assert ex.information.deceptive(two_kinds()) is None
    found = ex.information.deceptive(ex.load("gvgai-plays").with_items())
    assert found.score == "score" and found.win == "win"
    assert all(found.correlation[found.tasks.index(task)] < 0 for task in found.deceptive)


def test_one_skill_is_one_factor_and_noise_is_none() -> None:
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(40, 1))
    one = ex.information.general_factor(
        Results.from_numpy(skill + 0.2 * rng.normal(size=(40, 12))), rng=rng, reps=30
    )
    assert one.first_factor_share.value > 0.9
    assert one.mean_task_correlation.low > 0.85
    none = ex.information.general_factor(
        Results.from_numpy(rng.normal(size=(40, 12))), rng=rng, reps=30
    )
    assert none.first_factor_share.value == pytest.approx(none.first_factor_by_chance, abs=0.05)
    assert none.mean_task_correlation.low < 0 < none.mean_task_correlation.high


def test_factors_give_the_standardised_table_back() -> None:
    results = two_kinds()
    factors = ex.information.factors(results)
    table = stats.zscore(results.measure().reshape(30, 9))
    assert factors.agents_on @ factors.tasks_on.T == pytest.approx(table)
    eigenvalues = np.linalg.eigvalsh(np.corrcoef(table.T))[::-1]
    assert factors.share == pytest.approx(eigenvalues / 9)


def test_the_best_on_every_task_alone_can_be_crowned() -> None:
    values = np.array([[3.0, 3.0, 3.0], [2.0, 1.0, 2.0], [1.0, 2.0, 0.0]])
    found = ex.information.crowns(Results.from_numpy(values), size=1, rng=np.random.default_rng(0))
    assert found.wins.tolist() == [True, False, False]


@settings(max_examples=10)
@given(seed=SEEDS)
def test_a_crowned_agent_really_leads_on_its_tasks(seed) -> None:
    values = np.random.default_rng(seed).random((6, 12))
    results = Results.from_numpy(values)
    found = ex.information.crowns(results, size=3, rng=np.random.default_rng(0))
    for agent, names in enumerate(found.tasks):
        places = [results.tasks.index(name) for name in names]
        means = values[:, places].mean(axis=1)
        assert found.lead[agent] == pytest.approx(means[agent] - np.delete(means, agent).max())
        assert len(set(names)) == 3
    assert (found.wins | ~found.by_factors).all()  # the search is never worse than the factors


def test_the_search_finds_what_trying_every_set_finds() -> None:
    from itertools import combinations

    values = np.random.default_rng(2).random((5, 9))
    found = ex.information.crowns(Results.from_numpy(values), size=3, rng=np.random.default_rng(0))
    for agent in range(5):
        best = max(
            values[agent, list(places)].mean()
            - np.delete(values[:, list(places)].mean(axis=1), agent).max()
            for places in combinations(range(9), 3)
        )
        assert (found.lead[agent] > 0) == (best > 0)


def test_winners_made_of_noise_lose_on_held_out_trials() -> None:
    noise = np.random.default_rng(0).normal(size=(10, 40, 6))
    found = ex.information.crowns(Results.from_numpy(noise), size=5, rng=np.random.default_rng(0))
    assert found.wins.all()
    assert found.held_out.sum() <= 4 and found.crownable == 0


def test_without_repeated_trials_nothing_is_held_out_and_that_is_said() -> None:
    found = ex.information.crowns(two_kinds(), size=2, rng=np.random.default_rng(0))
    assert found.held_out is None
    assert found.crownable <= found.wins.sum()
    assert "single trial" in found.notes[0]


def test_a_task_on_which_all_are_alike_has_no_shares_and_says_nothing() -> None:
    values = np.random.default_rng(3).normal(size=(6, 8)) * 50
    with_one = np.column_stack([values, np.full(6, 7.0)])
    assert np.isnan(shares(with_one)[:, -1]).all()
    assert np.array_equal(shares(with_one)[:, :-1], shares(values))
    plain, other = (Results.from_numpy(table) for table in (values, with_one))
    factor, same = (ex.information.general_factor(table, rng=0, reps=3) for table in (plain, other))
    assert same.mean_agent_correlation.value == pytest.approx(factor.mean_agent_correlation.value)
    assert same.mean_task_correlation.value == pytest.approx(factor.mean_task_correlation.value)
    crowned, alike = (ex.information.crowns(table, size=2, rng=0) for table in (plain, other))
    assert alike.wins.tolist() == crowned.wins.tolist()
    only = ex.information.crowns(Results.from_numpy(np.full((3, 2), 7.0)), size=1, rng=0)
    assert only.lead.tolist() == [0.0, 0.0, 0.0] and only.crownable == 0


def test_shares_of_the_halves_held_out_stand_on_the_scale_of_the_halves_chosen_on() -> None:
    first, second = np.array([[0.0], [10.0]]), np.array([[5.0], [20.0]])
    assert shares(second, like=first).ravel().tolist() == [0.5, 2.0]
    assert np.isnan(shares(np.array([[3.0, 4.0]]))).all()  # nobody to be compared with


def test_what_comes_back_shows_itself_in_a_line_and_as_a_table() -> None:
    results = two_kinds()
    found = ex.information.likeness(results, rng=0, size=2, threshold=0.5)
    lines = {
        "LikenessAnalysis: TaskClusters by score: 9 tasks in ": found,
        "TaskClusters by score: 9 tasks in ": found.main,
        "GeneralFactor: one factor tells ": found.factor,
        "Crowning: ": found.crowning,
        "OpposedTasks: of 9 tasks against the rest: ": found.opposed,
        "TaskFactors: the first of 9 tells ": ex.information.factors(results),
        "DeceptiveTasks: score against win on: ": ex.information.deceptive(
            ex.load("gvgai-plays").with_items()
        ),
    }
    for line, shown in lines.items():
        assert repr(shown).startswith(line) and "\n" not in repr(shown)
        assert shown._repr_html_().count("<tr>") > 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: ex.information.clusters(r, linkage="ward"), "Unknown linkage 'ward'"),
        (lambda r: ex.information.clusters(r, threshold=3.0), "The threshold is 3.0"),
        (lambda r: ex.information.clusters(r, number=0), "The number of clusters is '0'"),
        (
            lambda r: ex.information.crowns(r, size=99, rng=np.random.default_rng(0)),
            "Cannot choose 99 of 9 tasks",
        ),
        (
            lambda r: ex.information.general_factor(r, rng=np.random.default_rng(0), level=2.0),
            "The level is 2.0",
        ),
        (
            lambda r: ex.information.likeness(
                Results.from_numpy([[1.0, 2.0]]), rng=np.random.default_rng(0)
            ),
            "There is one agent",
        ),
    ],
)
def test_what_cannot_be_told_is_said_in_a_sentence(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call(two_kinds())


def test_two_agents_have_no_correlation_and_that_is_said() -> None:
    found = ex.information.likeness(
        Results.from_numpy([[1.0, 2.0], [3.0, 1.0]]), rng=np.random.default_rng(0)
    )
    assert "at least three agents" in found.notes[0]
    assert np.isnan(found.factor.mean_task_correlation.value)


def test_a_dendrogram_joins_at_the_distances_of_scipy_and_never_crosses() -> None:
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    rng = np.random.default_rng(3)
    table = rng.normal(size=(9, 3)) @ rng.normal(size=(3, 12)) + 0.3 * rng.normal(size=(9, 12))
    found = ex.information.clusters(Results.from_numpy(table))
    distance = np.clip(1 - np.corrcoef(table.T), 0, None)
    heights = np.sort(linkage(squareform(distance, checks=False), "average")[:, 2])
    assert np.allclose(np.sort(found.branches[:, 1, 1]), heights)
    # Both legs of a join stand on what they join: on a task, or on the bar of a lower join.
    bars = {(float(join[1:3, 0].mean()), float(join[1, 1])) for join in found.branches}
    feet = {(float(x), float(y)) for join in found.branches for x, y in (join[0], join[3])}
    leaves = {(float(place), 0.0) for place in range(12)}
    assert feet - leaves <= bars and leaves <= feet
    assert cophenet(linkage(squareform(distance, checks=False), "average")).max() == heights[-1]


def test_like_tasks_stand_side_by_side_below_their_join() -> None:
    rng = np.random.default_rng(0)
    level = rng.normal(size=(20, 2))
    table = np.repeat(level, 3, axis=1) + 0.05 * rng.normal(size=(20, 6))
    found = ex.information.clusters(Results.from_numpy(table, tasks="abcdef"))
    low = [join for join in found.branches if join[1, 1] < 0.2]
    assert len(low) == 4
    assert all(abs(join[0, 0] - join[3, 0]) < 2 for join in low)

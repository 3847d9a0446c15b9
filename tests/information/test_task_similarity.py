"""Clusters of tasks, the general factor, tasks that disagree, and favourable tasks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.information.factors import shares
from examiner.messages import InputError
from examiner.results import Results, Scales, TaskScale
from examiner.scores import mean_silhouette

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
    assert {frozenset(names) for names in found.members} == {
        frozenset(f"p{n}" for n in range(5)),
        frozenset(f"q{n}" for n in range(4)),
    }
    assert found.suggested == 2
    assert found.clusters.size.tolist() == [5, 4]


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
    assert {frozenset(one) for one in first.members} == {frozenset(one) for one in other.members}


@settings(max_examples=15)
@given(seed=SEEDS)
def test_every_task_is_in_one_cluster_and_clusters_are_contiguous(seed) -> None:
    values = np.random.default_rng(seed).normal(size=(6, 9))
    values[:, 3] = 1.0
    found = ex.information.clusters(Results.from_numpy(values))
    assert sorted(found.order) == list(range(9))
    assert [task for names in found.members for task in names] == list(found.tasks.task)
    assert (
        found.clusters[-1].tasks == ("task 4",)
        and found.tasks["task 4"].cluster == found.clusters[-1].cluster
    )
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
    assert len(plain.members) == 2 and len(turned.members) == 1


def test_the_task_against_the_rest_is_found() -> None:
    rng = np.random.default_rng(1)
    skill = rng.normal(size=(20, 1))
    values = skill * np.array([1, 1, 1, 1, -1.0]) + 0.3 * rng.normal(size=(20, 5))
    found = ex.information.opposed(Results.from_numpy(values, tasks="abcde"))
    assert found.opposed == ("e",)
    rest = stats.zscore(values)[:, :4].mean(axis=1)
    assert found.tasks["e"].correlation == pytest.approx(
        stats.pearsonr(values[:, 4], rest).statistic
    )
    test = stats.pearsonr(values[:, 4], rest, alternative="less")
    assert found.tasks["e"].p_value == pytest.approx(test.pvalue, rel=1e-6)
    assert found.headline == "1 of 5 tasks ranks agents against the others: e."


def test_deceptive_tasks_need_a_score_and_a_win() -> None:
    with pytest.raises(InputError, match="need a score and a win"):
        ex.information.deceptive(two_kinds())
    found = ex.information.deceptive(ex.load("gvgai-plays").with_items())
    assert found.score == "score" and found.win == "win"
    assert all(found.tasks[task].correlation < 0 for task in found.deceptive)


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


def test_only_the_best_on_every_task_can_win() -> None:
    values = np.array([[3.0, 3.0, 3.0], [2.0, 1.0, 2.0], [1.0, 2.0, 0.0]])
    found = ex.information.favourable_tasks(
        Results.from_numpy(values), size=1, rng=np.random.default_rng(0)
    )
    assert [row.agent for row in found.agents if row.wins] == ["agent 1"]


@settings(max_examples=10)
@given(seed=SEEDS)
def test_an_agent_really_leads_on_its_favourable_tasks(seed) -> None:
    values = np.random.default_rng(seed).random((6, 12))
    results = Results.from_numpy(values)
    found = ex.information.favourable_tasks(results, size=3, rng=np.random.default_rng(0))
    for row in found.agents:
        agent = results.agents.index(row.agent)
        places = [results.tasks.index(name) for name in row.tasks]
        means = values[:, places].mean(axis=1)
        assert row.lead == pytest.approx(means[agent] - np.delete(means, agent).max())
        assert len(set(row.tasks)) == 3
    assert (
        found.agents.wins | ~found.agents.by_factors
    ).all()  # the search is never worse than the factors


def test_the_search_finds_what_trying_every_set_finds() -> None:
    from itertools import combinations

    values = np.random.default_rng(2).random((5, 9))
    found = ex.information.favourable_tasks(
        Results.from_numpy(values), size=3, rng=np.random.default_rng(0)
    )
    for agent in range(5):
        best = max(
            values[agent, list(places)].mean()
            - np.delete(values[:, list(places)].mean(axis=1), agent).max()
            for places in combinations(range(9), 3)
        )
        assert (found.agents[f"agent {agent + 1}"].lead > 0) == (best > 0)


def test_winners_made_of_noise_lose_on_held_out_trials() -> None:
    noise = np.random.default_rng(0).normal(size=(10, 40, 6))
    found = ex.information.favourable_tasks(
        Results.from_numpy(noise), size=5, rng=np.random.default_rng(0)
    )
    assert found.agents.wins.all()
    assert found.agents.held_out.sum() <= 4 and found.winners == ()
    assert found.headline == "No choice of 5 tasks makes any of 10 agents win significantly."


def test_without_repeated_trials_nothing_is_held_out_and_that_is_said() -> None:
    found = ex.information.favourable_tasks(two_kinds(), size=2, rng=np.random.default_rng(0))
    assert found.agents.held_out is None
    assert len(found.winners) <= found.agents.wins.sum()
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
    chosen, same = (
        ex.information.favourable_tasks(table, size=2, rng=0) for table in (plain, other)
    )
    assert {row.agent: row.wins for row in same.agents} == {
        row.agent: row.wins for row in chosen.agents
    }
    only = ex.information.favourable_tasks(Results.from_numpy(np.full((3, 2), 7.0)), size=1, rng=0)
    assert only.agents.lead.tolist() == [0.0, 0.0, 0.0] and only.winners == ()


def test_shares_of_held_out_halves_are_on_the_scale_of_the_halves_chosen_on() -> None:
    first, second = np.array([[0.0], [10.0]]), np.array([[5.0], [20.0]])
    assert shares(second, like=first).ravel().tolist() == [0.5, 2.0]
    assert np.isnan(shares(np.array([[3.0, 4.0]]))).all()  # nobody to be compared with


def test_every_answer_has_a_headline_tables_and_json() -> None:
    results = two_kinds()
    found = ex.information.similarity(results, size=2, threshold=0.5)
    years = {agent: 2010 + int(agent[-1]) % 2 for agent in results.agents}
    answers = {
        "cluster": found,
        "clusters": found.main,
        "general_factor": found.factor,
        "general_factor_by": ex.information.general_factor_by(results, years, reps=3),
        "favourable_tasks": found.favourable,
        "opposed": found.opposition,
        "factors": ex.information.factors(results),
        "deceptive": ex.information.deceptive(ex.load("gvgai-plays").with_items()),
    }
    for kind, answer in answers.items():
        content = answer.to_dict()
        assert content["schema"] == f"examiner.{kind}/1"
        assert content["headline"].endswith(".") and repr(answer).startswith(
            content["headline"][:20]
        )
        assert answer._repr_html_().count("<tr>") > 2
        for name, rows in answer.tables.items():
            assert len(content[name]) == len(rows)
    assert found.headline.startswith(
        "9 tasks form 2 significant clusters, the largest of 5 tasks (p = "
    )
    assert found.clusters["1"].tasks == found.main.significant[0]
    assert found.settings["threshold"] == 0.5 and found.settings["seed"] == 0
    loadings = answers["factors"].tables["tasks"]
    assert loadings["q1", "2"].loading == answers["factors"].tasks_on[6, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: ex.information.clusters(r, linkage="ward"), "Unknown linkage 'ward'"),
        (lambda r: ex.information.clusters(r, threshold=3.0), "The threshold is 3.0"),
        (lambda r: ex.information.clusters(r, number=0), "The number of clusters is '0'"),
        (
            lambda r: ex.information.favourable_tasks(r, size=99, rng=np.random.default_rng(0)),
            "Cannot choose 99 of 9 tasks",
        ),
        (
            lambda r: ex.information.general_factor(r, rng=np.random.default_rng(0), level=2.0),
            "The level is 2.0",
        ),
        (
            lambda r: ex.information.similarity(
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
    found = ex.information.similarity(
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

"""The ranking of agents: the same numbers as its parts by themselves, and what it leaves out."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

import examiner as ex
from examiner.results import Results
from examiner.scores.differences import difference_of, pairwise_tests
from examiner.scores.runs import run_scores


def results(agents: int = 4, runs: int = 5) -> Results:
    rng = np.random.default_rng(0)
    return Results.from_numpy(rng.normal(size=(agents, 6, runs)) + np.arange(agents)[:, None, None])


def test_each_part_is_what_the_function_by_itself_gives() -> None:
    table = results()
    made = ex.scores.rank(table, ["mean", "iqm"], rng=3, reps=100)
    alone = ex.scores.intervals(table, ["mean", "iqm"], rng=3, reps=100)
    np.testing.assert_array_equal(made.aggregates.low, alone.low)
    pairs = ex.scores.improvement_matrix(table, rng=3, reps=100)
    for row in pairs.pairs:
        assert made.pairs[row.a, row.b].probability_low == row.probability_low
    ranked = ex.scores.ranks(table, "mean", rng=3, reps=100)
    np.testing.assert_array_equal(made.ranks.probability, ranked.probability)
    assert made.tests.p_value == ex.scores.significance(table).p_value
    assert made.decision.headline == ex.scores.decision(table).headline


def test_generators_in_the_same_state_give_the_same_and_their_seed_is_recorded() -> None:
    one, same = (ex.scores.rank(results(), rng=np.random.default_rng(5), reps=50) for _ in "ab")
    np.testing.assert_array_equal(one.ranks.probability, same.ranks.probability)
    again = ex.scores.rank(results(), rng=one.aggregates.seed, reps=50)
    np.testing.assert_array_equal(one.ranks.probability, again.ranks.probability)
    assert one.settings["seed"] == one.ranks.seed


def test_one_agent_is_aggregated_and_compared_with_nobody() -> None:
    made = ex.scores.rank(results(agents=1), rng=0, reps=50)
    assert (made.ranks, made.tests) == (None, None)
    assert made.to_dict()["pairs"] == [] and "friedman_p" not in made.to_dict()
    assert made.headline.startswith("agent 1 has the best mean: ")


def test_of_many_agents_only_neighbours_are_compared() -> None:
    made = ex.scores.rank(results(agents=35, runs=2), rng=0, reps=20)
    assert len(made.pairs) == 34
    assert any("only neighbours in rank" in note for note in made.notes)


def test_the_mean_is_taken_of_any_scores_unless_asked_and_all_means_all() -> None:
    binary = Results.from_numpy([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    fractions = Results.from_numpy([[0.25, 0.5, 1.0], [0.5, 0.5, 0.75]])
    for table in (binary, fractions, results()):
        assert ex.scores.rank(table, rng=0, reps=20).aggregates.aggregates == ("mean",)
    every = ex.scores.rank(results(), ["all"], rng=0, reps=20).aggregates.aggregates
    assert every == tuple(ex.scores.AGGREGATES)


def test_corrected_intervals_are_of_aggregates_only() -> None:
    made = ex.scores.rank(results(), ["mean"], rng=0, reps=200, interval="bca")
    pairs = ex.scores.improvement_matrix(results(), rng=0, reps=200, interval="rescaled").pairs
    assert made.aggregates.interval == "bca"
    assert made.pairs[pairs[0].a, pairs[0].b].probability_low == pairs[0].probability_low
    assert any("have no 'bca' interval" in note for note in made.notes)


def test_agents_come_best_first_with_intervals_ranks_and_who_is_among_the_best() -> None:
    made = ex.scores.rank(results(), rng=0, reps=200)
    json.dumps(made.to_dict())
    assert made.agents.agent == ("agent 4", "agent 3", "agent 2", "agent 1")
    row = made["agent 4"]
    assert row.mean_low < row.mean < row.mean_high
    assert (row.rank, row.rank_low, row.leading) == (1, 1, True)
    assert row.probability_first == made.ranks.probability[0, 0]
    alike = [
        agent for agent, p in zip(made.tests.agent_names, made.tests.p[0], strict=True) if p >= 0.05
    ]
    assert set(made.leading) == set(alike) == {one.agent for one in made.agents if one.leading}


def test_an_agent_that_is_better_on_common_tasks_is_named_beside_one_with_easier_tasks() -> None:
    scores = np.random.default_rng(0).normal([[[0.4]], [[0.5]]], 0.01, (2, 8, 5))
    scores[0, :4], scores[:, 4:] = np.nan, scores[:, 4:] + 0.4  # "few" lacks the four hard tasks
    table = Results.from_numpy(scores, agents=["few", "all"])
    made = ex.scores.rank(table, rng=0, reps=20)
    assert np.nanmean(scores[0]) > scores[1].mean() and scores[0, 4:].max() < scores[1, 4:].min()
    assert made.headline == (
        "few has the best mean, but all is significantly better on the tasks that both have."
    )
    assert made.leading == ("few", "all") and all(made.agents.leading)
    assert "is significantly better on the tasks that both have." in ex.report(table).html


def test_agents_that_do_not_differ_are_not_named_as_better() -> None:
    same = Results.from_numpy(np.random.default_rng(1).normal(size=(3, 5, 4)))
    made = ex.scores.rank(same, rng=0, reps=50)
    assert made.headline == "No agent is significantly better than another."
    assert all(made.agents.leading)


def test_scores_are_normalised_before_they_are_ranked() -> None:
    table = Results.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 2)) * 100)
    here = ex.scores.rank(table, normalise="min-max", rng=0, reps=20)
    there = ex.scores.rank(ex.normalise(table, "min-max"), rng=0, reps=20)
    np.testing.assert_array_equal(here.agents.mean, there.agents.mean)
    assert "min-max" in here.agents.columns["mean"].unit


def test_anything_that_can_be_read_is_ranked() -> None:
    made = ex.scores.rank({"dqn": [[1.0, 2.0], [3.0, 2.0]], "random": [[0.0, 0.0], [0.0, 1.0]]})
    assert made.agents.agent == ("dqn", "random") and made["dqn"].mean == 2.0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[0.1, 0.9], [0.4, 0.5]], ()),
        ([[1.0, 1e6], [3.0, 9e6]], ("-fold apart",)),
    ],
)
def test_raw_scores_far_apart_are_noted(values: list[list[float]], said: tuple[str, ...]) -> None:
    notes = ex.scores.averaging_notes(Results.from_numpy(values))
    assert len(notes) == len(said) and all(word in notes[0] for word in said)


def test_groups_that_share_no_task_are_neither_ranked_nor_tested_together() -> None:
    scores = np.full((6, 8, 2), np.nan)
    scores[:3, :4], scores[3:, 4:] = np.random.default_rng(0).random((2, 3, 4, 2))
    made = ex.scores.rank(Results.from_numpy(scores), rng=0, reps=50)
    assert made.ranks is None and made.tests is None
    assert any("2 groups that share no task" in note for note in made.notes)
    assert len(made.pairs) == 6


@pytest.mark.parametrize("measure", ["millisecond", "PAR10", "test_error", "CPU time"])
def test_a_measure_named_like_a_cost_is_doubted_until_its_direction_is_stated(measure: str) -> None:
    table = ex.read(
        {"agent": ["slow", "fast"], "task": ["t", "t"], measure: [9.0, 2.0]}, measure=measure
    )
    doubt = f"Higher is taken as better, though '{measure}'"
    assert ex.scores.rank(table).notes[0].startswith(doubt)
    assert doubt in ex.report(table).html.replace("&#39;", "'")
    lower = ex.results.TaskScale("t", measure=measure, direction="lower")
    stated = table.with_scales(ex.results.Scales([lower]))
    made = ex.scores.rank(stated, normalise="rank")
    assert made.agents.agent[0] == "fast" and not any(doubt in note for note in made.notes)


def test_ranges_of_ranks_hold_together_and_agree_with_the_tests_they_come_from() -> None:
    tables, agents, tasks = 100, 8, 60
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(tables):
        ability = rng.normal(scale=0.05, size=agents)
        scores = ability[:, None] + rng.normal(size=tasks) + 0.2 * rng.normal(size=(agents, tasks))
        made = ex.scores.rank(Results.from_numpy(scores), reps=20, normalise=None)
        true_rank = dict(zip(made.tests.agent_names, np.zeros(agents), strict=True))
        for place, row in enumerate(np.argsort(-ability).tolist()):
            true_rank[f"agent {row + 1}"] = place + 1
        wrong += any(not r.rank_low <= true_rank[r.agent] <= r.rank_high for r in made.agents)
        assert made[made.leading[0]].rank_low == 1
    assert wrong <= 10  # 5 % of tables, and what chance adds in one of a hundred


def test_tests_of_all_pairs_are_those_of_each_pair_with_gaps_runs_and_huge_scores() -> None:
    rng = np.random.default_rng(0)
    for size, gaps in ((1.0, 0.4), (1e300, 0.0), (1e-300, 0.0)):
        values = size * rng.normal(size=(5, 9, 3))
        values[rng.random((5, 9)) < gaps] = np.nan
        values[4] = values[3] + 0.1 * size  # a difference that hardly varies
        scores = run_scores(Results.from_numpy(values))
        for unit in ("tasks", "runs"):
            gap, p = pairwise_tests(scores, unit)
            for a, b in combinations(range(5), 2):
                alone = difference_of(scores.strata[a], scores.strata[b], unit=unit)
                np.testing.assert_allclose(gap[a, b], alone.difference, rtol=1e-9)
                np.testing.assert_allclose(p[a, b], alone.p, rtol=1e-9)

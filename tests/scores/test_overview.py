"""The overview of scores: the same numbers as its parts by themselves, and what it leaves out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex
from examiner.results import Results


def results(agents: int = 4, runs: int = 5) -> Results:
    rng = np.random.default_rng(0)
    return Results.from_numpy(rng.normal(size=(agents, 6, runs)) + np.arange(agents)[:, None, None])


def test_each_part_is_what_the_function_by_itself_gives() -> None:
    table = results()
    made = ex.scores.overview(table, ["mean", "iqm"], rng=3, reps=100)
    alone = ex.scores.intervals(table, ["mean", "iqm"], rng=3, reps=100)
    np.testing.assert_array_equal(made.aggregates.low, alone.low)
    pairs = ex.scores.improvement_matrix(table, rng=3, reps=100)
    np.testing.assert_array_equal(made.improvement.probability, pairs.probability)
    ranked = ex.scores.ranks(table, "mean", rng=3, reps=100)
    np.testing.assert_array_equal(made.ranks.probability, ranked.probability)
    assert made.tests.p_value == ex.scores.significance(table).p_value
    assert made.decision.answer == ex.scores.decision(table).answer


def test_generators_in_the_same_state_give_the_same_and_their_seed_is_recorded() -> None:
    one, same = (ex.scores.overview(results(), rng=np.random.default_rng(5), reps=50) for _ in "ab")
    np.testing.assert_array_equal(one.ranks.probability, same.ranks.probability)
    again = ex.scores.overview(results(), rng=one.aggregates.seed, reps=50)
    np.testing.assert_array_equal(one.ranks.probability, again.ranks.probability)
    assert one.to_dict()["seed"] == one.ranks.seed == one.improvement.seed


def test_one_agent_is_aggregated_and_compared_with_nobody() -> None:
    made = ex.scores.overview(results(agents=1), rng=0, reps=50)
    assert (made.pairs, made.improvement, made.ranks, made.tests) == ((), None, None, None)
    assert made.to_dict()["improvement"] == [] and made.to_dict()["tests"] is None


def test_of_many_agents_only_neighbours_are_compared() -> None:
    made = ex.scores.overview(results(agents=35, runs=2), rng=0, reps=20)
    assert len(made.pairs) == 34
    assert any("only neighbours in rank" in note for note in made.notes)


def test_the_mean_is_taken_of_any_scores_unless_asked_and_all_means_all() -> None:
    binary = Results.from_numpy([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    fractions = Results.from_numpy([[0.25, 0.5, 1.0], [0.5, 0.5, 0.75]])
    for table in (binary, fractions, results()):
        assert ex.scores.overview(table, rng=0, reps=20).aggregates.aggregates == ("mean",)
    every = ex.scores.overview(results(), ["all"], rng=0, reps=20).aggregates.aggregates
    assert every == tuple(ex.scores.AGGREGATES)


def test_corrected_intervals_are_of_aggregates_only() -> None:
    made = ex.scores.overview(results(), ["mean"], rng=0, reps=200, interval="bca")
    assert made.aggregates.interval == "bca" and made.improvement.interval == "rescaled"
    assert any("have no 'bca' interval" in note for note in made.notes)


def test_the_overview_is_json_and_has_a_short_name() -> None:
    made = ex.scores.overview(results(), rng=0, reps=20)
    json.dumps(made.to_dict())
    assert repr(made) == "Overview of 4 agents, 6 pairs compared"


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
    made = ex.scores.overview(Results.from_numpy(scores), rng=0, reps=50)
    assert made.ranks is None and made.tests is None
    assert any("2 groups that share no task" in note for note in made.notes)
    assert len(made.pairs) == 6

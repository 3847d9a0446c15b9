"""Choosing agents and tasks by patterns: repeats on one key add up, different keys must all hold."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

TABLE = {
    "agent": ["sac", "sac", "ppo", "ppo", "dqn"],
    "task": ["ALE/SpaceInvaders-v5", "go", "ALE/SpaceInvaders-v5", "go", "go"],
    "level": [0, 1, 0, 0, 1],
    "score": [1, 2, 3, 4, 5],
}


@pytest.fixture
def results() -> ex.Results:
    return ex.Results.from_dict(TABLE)


def test_keeps_on_one_key_add_up(results: ex.Results) -> None:
    assert results.keeping("agent:sac", "agent:ppo").agents == ("sac", "ppo")
    assert results.keeping("agent:sac", "agent:ppo").provenance.steps == (
        "kept agents like 'sac', 'ppo' (2)",
    )


def test_keeps_on_different_keys_must_all_hold(results: ex.Results) -> None:
    kept = results.keeping("agent:sac", "task:go", "agent:ppo")
    assert (kept.agents, kept.tasks) == (("sac", "ppo"), ("go.1", "go.0"))
    assert kept.provenance.steps == (
        "kept agents like 'sac', 'ppo' (2)",
        "kept tasks like 'go' (2)",
    )


def test_drops_add_up(results: ex.Results) -> None:
    left = results.dropping("agent:sac", "agent:p*")
    assert (left.agents, left.tasks) == (("dqn",), ("go.1",))
    assert results.dropping("agent:d*", "task:go.1").tasks == ("ALE/SpaceInvaders-v5.0", "go.0")
    assert results.dropping("agent:sac").provenance.steps == ("dropped agents like 'sac' (1)",)


def test_keeping_and_dropping_part_the_rows(results: ex.Results) -> None:
    for pattern in ("agent:s*", "task:go", "task:*.0"):
        kept, dropped = results.keeping(pattern), results.dropping(pattern)
        assert sorted((*kept.measure(), *dropped.measure())) == sorted(results.measure())


def test_a_game_stands_for_its_items_under_any_of_its_names(results: ex.Results) -> None:
    assert results.keeping("task:space_*").tasks == ("ALE/SpaceInvaders-v5.0",)
    assert results.keeping("task:go").tasks == ("go.1", "go.0")
    assert results.keeping("task:go.1").tasks == ("go.1",)


def test_nothing_is_chosen_by_no_pattern(results: ex.Results) -> None:
    assert results.keeping() == results.dropping() == results


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "sac",
            r"Cannot tell what 'sac' means\. Write `agent:GLOB`, `task:GLOB` or `split:test`, for example",
        ),
        ("level:0", r"Cannot tell what 'level:0' means"),
        ("agent:", r"Cannot tell what 'agent:' means"),
        ("agent:z*", r"No agent is like 'z\*'\. There are 'sac', 'ppo', 'dqn'\."),
        ("task:chess", r"No task is like 'chess'\. There are 'ALE/SpaceInvaders-v5\.0'"),
    ],
)
def test_a_pattern_that_chooses_nothing_is_refused(
    results: ex.Results, pattern: str, message: str
) -> None:
    for choose in (results.keeping, results.dropping):
        with pytest.raises(ex.InputError, match=message):
            choose(pattern)
    with pytest.raises(ex.InputError, match=message):
        results.keeping("agent:sac", "task:go", pattern)


def test_dropping_everything_is_refused(results: ex.Results) -> None:
    with pytest.raises(ex.InputError, match=r"Every agent is like '\*', and none would be left"):
        results.dropping("agent:*")
    with pytest.raises(ex.InputError, match=r"none would be left"):
        results.dropping("agent:s*", "agent:p*", "agent:d*")


def test_results_have_at_least_one_measure(results: ex.Results) -> None:
    with pytest.raises(
        ex.InputError, match=r"No measure is named\. Name one of the columns 'agent'"
    ):
        results.with_measures()


def test_zeros_and_ones_are_told_from_scores() -> None:
    table = {"agent": ["a"] * 3, "task": ["t"] * 3, "win": [1, 0, None], "score": [1, 0, 0.5]}
    results = ex.Results.from_dict(table, measures=["win", "score"])
    assert results.is_binary() and results.is_binary("win")
    assert not results.is_binary("score")
    with pytest.raises(ex.InputError, match="Unknown measure 'ticks'"):
        results.is_binary("ticks")
    assert ex.Results.from_numpy(np.eye(2)).is_binary()

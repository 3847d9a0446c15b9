"""The bundled profiles: whom they cover, and whether another seed gives the same classes."""

from __future__ import annotations

import pytest

import examiner as ex
from examiner.datasets.load import data_frame
from examiner.reporting import classes, unsure


@pytest.fixture(scope="module")
def rows():
    """Rows of the file as text, by seed."""
    frame = data_frame("atari-profile.csv").cast({"measured.seed": int})
    found = {0: {}, 1: {}}
    for row in frame.iter_rows(named=True):
        text = {name: "" if value is None else str(value) for name, value in row.items()}
        found[row["measured.seed"]][row["task"]] = text
    return found


def test_every_game_that_is_classified_or_played_here_is_measured():
    measured = set(ex.load("atari-profile").tasks)
    assert set(ex.load("atari-typology").tasks) <= measured
    assert set(ex.load("atari-arena").tasks) <= measured
    assert set(ex.load("atari-dqn-family").tasks) <= measured


def test_the_numbers_fall_into_the_classes_of_the_agent_centric_schema():
    kinds = ex.typology.conform(ex.load("atari-profile"), "agent-centric")
    assert set(kinds.features) == set(ex.typology.SCHEMAS["agent-centric"].names)
    known = dict(zip(kinds.tasks, kinds.feature("reward.density"), strict=True))
    assert known["freeway"] == known["montezuma_revenge"] == "up to 1.2 %"  # sparse by repute
    assert known["pong"] == "1.2 to 30 %"


def test_another_seed_gives_the_same_classes(rows):
    """Limits were set on seed 0 alone; numbers away from them keep their class, others mostly do."""
    games = sorted(rows[1])
    one, other = (classes([rows[seed][game] for game in games]) for seed in (0, 1))
    assert len(games) == 62
    same = [
        (a == b, feature in unsure(rows[0][game]))
        for game, first, second in zip(games, one.values, other.values, strict=True)
        for feature, a, b in zip(one.features, first, second, strict=True)
    ]
    assert sum(equal for equal, _ in same) >= 0.9 * len(same)
    sure = [equal for equal, doubtful in same if not doubtful]
    assert sum(sure) >= 0.95 * len(sure) and len(sure) >= 0.75 * len(same)


@pytest.mark.parametrize("game", ["MountainCar-v0", "CartPole-v1"])
def test_a_game_measured_anew_with_two_other_seeds_has_the_same_classes(game):
    pytest.importorskip("gymnasium")
    found = [
        ex.arena.profile(game, environment="gymnasium", seed=seed, frames=2_000).row
        for seed in (2, 3)
    ]
    one, other = (classes([row]).values for row in found)
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("game", ["breakout", "pong", "seaquest"])
def test_an_atari_game_measured_anew_with_another_seed_has_the_bundled_classes(game, rows):
    pytest.importorskip("ale_py")
    found = ex.arena.profile(game, seed=2).row
    one, other = (classes([row]) for row in (rows[0][game], found))
    sure = set(one.features) - set(unsure(rows[0][game]))
    changed = {
        feature
        for feature, before, after in zip(one.features, one.values[0], other.values[0], strict=True)
        if before != after
    }
    assert not changed & sure


def test_the_best_held_action_in_freeway_goes_up():
    found = ex.load("atari-profile")
    action = dict(zip(found.tasks, found.attributes["measured.open_loop_action"], strict=True))
    assert action["freeway"].startswith("UP")


@pytest.mark.slow
@pytest.mark.parametrize("game", ["breakout", "pong"])
def test_the_bundled_row_comes_again(game, rows):
    row = ex.arena.profile(game, seed=0).row
    bundled = rows[0][game]
    for name in ("reward.density", "episode.length", "action_space.branching", "play.open_loop"):
        assert float(row[name]) == pytest.approx(float(bundled[name]), rel=1e-5)

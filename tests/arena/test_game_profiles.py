"""Measured profiles of games, and the typology they feed."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import examiner as ex
from examiner.arena import PROTOCOLS, Job, Playing, profile_row, profile_table, profiled_kinds
from examiner.arena import profile as profile_game
from examiner.arena.job import environment_of
from examiner.arena.profiling.other_play import (
    branching,
    first_reward,
    open_loop,
    quiet_environment,
    rate,
    share_of_two,
    walk,
)
from examiner.messages import InputError

pytest.importorskip("ale_py")
pytest.importorskip("gymnasium")


def test_a_profile_says_what_is_known_of_an_environment():
    profile = profile_game("MountainCar-v0", environment="gymnasium", frames=2_400)
    assert (profile.actions, profile.observation_shape) == (3, (2,))
    assert (profile.episode_frames, profile.truncated, profile.episodes) == (200.0, 1.0, 3)
    assert (profile.reward_density, profile.reward_low, profile.reward_high) == (1.0, -1.0, -1.0)
    assert (profile.mean_score, profile.reward_delay, profile.reward_gap) == (-200.0, 1.0, 1.0)
    assert profile.branching == 3.0  # left, nothing and right push it to three speeds
    assert profile.screen_change == 1.0  # both place and speed change


def test_a_profile_is_pickled_and_copied():
    profile = profile_game("MountainCar-v0", environment="gymnasium", frames=1_000)
    for copied in (pickle.loads(pickle.dumps(profile)), copy.deepcopy(profile)):
        assert copied.to_dict() == profile.to_dict()


def test_a_profile_of_an_atari_game_is_that_of_the_random_agents_episodes():
    protocol = ex.arena.PROTOCOLS["machado-2018"]
    job = Job("r", "random", game="breakout", observation="ram", episodes=3)
    profile = profile_game(job, frames=1_500)
    played = list(Playing.begin(job))[: profile.episodes]
    assert profile.episodes in (1, 2, 3)
    assert profile.mean_score == sum(one.score for one in played) / profile.episodes
    assert profile.episode_frames == sum(one.length for one in played) / profile.episodes
    assert (profile.actions, profile.observation_shape) == (18, (128,))
    assert profile.protocol == protocol.hash
    assert 0 < profile.reward_density < 0.1
    assert profile.reward_low == 0.0 < profile.reward_high


@pytest.mark.parametrize(
    ("game", "environment", "protocol", "expected"),
    [
        ("pong", "ale", "machado-2018", "noise added"),
        ("pong", "ale", "mnih-2015", "noise added"),
        ("pong", "ale", "deterministic", "deterministic"),
        ("CartPole-v1", "gymnasium", "gymnasium", "stochastic"),
    ],
)
def test_determinism_is_measured(game, environment, protocol, expected):
    profile = profile_game(
        game,
        environment=environment,
        frames=1_000,
        protocol=ex.arena.protocol(protocol, max_episode_frames=200),
    )
    assert profile.determinism == expected


def test_up_is_the_action_to_hold_in_freeway_where_random_play_gets_nothing():
    short = ex.arena.protocol("machado-2018", max_episode_frames=600)
    job = Job("r", "random", game="freeway", protocol=short)
    environment = environment_of(job)
    walked = walk(environment, job, 700, 2)
    held = open_loop(environment, job, walked, 6_000)
    assert held.action.startswith("UP") and held.score.value >= 1
    assert held.random.value == 0 and held.share.value == 1.0
    assert first_reward(walked.rewards).value == math.inf
    assert 1 < branching(quiet_environment(job), job, walked.moments).value <= 18


def test_foresight_pays_where_the_next_step_is_all_there_is():
    """Falling off the cliff costs 100 at once: one step of foresight never does, random play does."""
    short = ex.arena.protocol("gymnasium", max_episode_frames=100)
    profile = profile_game("CliffWalking-v1", environment="gymnasium", protocol=short, frames=2_000)
    assert profile.lookahead.score.value > profile.lookahead.random.value
    assert profile.lookahead.share.value > 0.6


def test_whatever_has_no_standard_error_has_a_note():
    short = ex.arena.protocol("machado-2018", max_episode_frames=100)
    profile = profile_game("freeway", protocol=short, frames=1_000)
    without = {name for name, error in profile.errors.items() if math.isnan(error)}
    assert {"reward_delay", "reward_gap"} <= without <= set(profile.reasons)
    assert math.isnan(profile.lookahead.share.value) and profile.reasons["lookahead"].startswith(
        "nei"
    )
    assert "below" in profile.reasons["reward_density"]


def test_continuous_actions_are_called_so():
    profile = profile_game("Pendulum-v1", environment="gymnasium", frames=1_000)
    assert profile.actions is None and profile.lookahead is None and profile.open_loop is None
    assert profile.features["action_space.size"] == "continuous"
    assert profile.features["action_space.branching"] == "continuous"
    assert profile.reasons["lookahead"] == profile.reasons["branching"] == "actions are continuous"


def test_profiles_feed_the_agent_centric_schema():
    games = ("CartPole-v1", "MountainCar-v0", "Pendulum-v1")
    profiles = [profile_game(game, environment="gymnasium", frames=1_000) for game in games]
    kinds = ex.typology.conform(profiled_kinds(profiles), "agent-centric")
    assert kinds.tasks == games
    assert kinds.feature("action_space.size") == ("up to 4", "up to 4", "continuous")
    assert kinds.feature("dynamics.determinism") == ("stochastic",) * 3
    assert kinds.feature("reward.density") == ("more than 30 %",) * 3
    assert set(kinds.features) == {
        one.name for one in ex.typology.SCHEMAS["agent-centric"].dimensions
    }


def test_the_table_of_a_profile_has_its_estimates_errors_and_reasons():
    profile = profile_game("Pendulum-v1", environment="gymnasium", frames=1_000)
    assert profile.headline == (
        "Pendulum-v1 has continuous actions and is stochastic; an episode of random play takes 200 "
        "frames on average."
    )
    mean_score = profile["mean_score"]
    assert mean_score.value == profile.mean_score and mean_score.unit == "score"
    assert mean_score.value_error == profile.errors["mean_score"]
    assert profile["branching"].reason == profile["open_loop"].reason == "actions are continuous"
    content = profile.to_dict()
    assert content["schema"] == "examiner.game-profile/1" and content["actions"] is None
    assert content["settings"]["seed"] == 0 and content["measures"][7]["value"] is None


def test_the_same_seed_gives_the_same_numbers():
    short = ex.arena.protocol("machado-2018", max_episode_frames=250)
    one, other = (
        profile_row(profile_game("pong", protocol=short, frames=1_000, seed=3)) for _ in range(2)
    )
    assert {**one, "measured.cpu_seconds": ""} == {**other, "measured.cpu_seconds": ""}


def test_standard_errors_are_those_of_repeated_walks():
    """Rewards in bursts of twenty: a naive error would be a third of what repetition shows."""
    rng = np.random.default_rng(0)

    def drawn() -> np.ndarray:
        return np.repeat(rng.random(200) < 0.2, 20).astype(float)

    estimates = [rate([drawn()]) for _ in range(200)]
    spread = np.std([one.value for one in estimates])
    assert np.mean([one.error for one in estimates]) == pytest.approx(spread, rel=0.25)


def test_waiting_times_that_were_cut_off_count_as_waiting():
    rng, cap = np.random.default_rng(1), 30
    waits = rng.geometric(1 / 50, size=4_000)
    episodes = [(np.arange(1, cap + 1) == wait).astype(float) for wait in waits]
    found = first_reward(episodes)
    assert abs(found.value - 50) < 4 * found.error
    assert first_reward([np.zeros(5)]).value == math.inf


def test_shares_do_not_depend_on_the_unit_of_scores():
    assert share_of_two(30.0, 10.0) == share_of_two(3.0, 1.0) == 0.75
    assert share_of_two(1.0, 3.0) == 1 - share_of_two(3.0, 1.0)
    assert -1 < share_of_two(-2.0, -1.0) < 0.5


def test_a_table_goes_on_where_it_was_left(tmp_path, monkeypatch):
    path = tmp_path / "profiles.csv"
    how = {"environment": "gymnasium", "frames": 1_000}
    profile_table(["CartPole-v1"], path, **how)
    first = path.read_text(encoding="utf-8")
    measured = []
    real = ex.arena.profiling.table.profile

    def noted(game, **settings):
        measured.append(game)
        return real(game, **settings)

    monkeypatch.setattr("examiner.arena.profiling.table.profile", noted)
    rows = profile_table(["Acrobot-v1", "CartPole-v1"], path, **how)
    assert measured == ["Acrobot-v1"] and [row["task"] for row in rows] == [
        "Acrobot-v1",
        "CartPole-v1",
    ]
    assert path.read_text(encoding="utf-8").startswith(first)


def test_a_table_measured_otherwise_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "profiles.csv"
    profile_table(["CartPole-v1"], path, environment="gymnasium", frames=1_000)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"with 'seed 0 instead of 1'. Name another file"):
        profile_table(["CartPole-v1"], path, environment="gymnasium", frames=1_000, seed=1)
    assert path.read_text(encoding="utf-8") == before
    path.write_text("agent,score\ndqn,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"is no table of profiles"):
        profile_table(["CartPole-v1"], path, environment="gymnasium", frames=1_000)


def test_progress_is_told():
    told = []
    profile_game(
        "CartPole-v1", environment="gymnasium", frames=1_000, progress=lambda *a: told.append(a)
    )
    assert told == [("measuring CartPole-v1", stage, 5) for stage in range(1, 6)]


def test_nothing_to_measure_is_refused():
    with pytest.raises(InputError, match=r"in 0 frames. Give at least 1,000"):
        profile_game("pong", frames=0)
    with pytest.raises(InputError, match=r"Unknown environment 'atari'"):
        profile_game("pong", environment="atari")
    with pytest.raises(InputError, match=r"There are no profiles"):
        profiled_kinds([])
    assert PROTOCOLS["gymnasium"].name == "gymnasium"

"""Measured profiles of games, and the typology they feed."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import examiner as ex
from examiner.arena import PROTOCOLS, Job, Playing, profile_table, profiled_kinds
from examiner.arena import profile as profile_game
from examiner.arena.job import environment_of
from examiner.arena.simple_play import (
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
    values = {row.measure: row.value for row in profile.measures}
    assert (values["episode_frames"], values["truncated"], profile.episodes) == (200.0, 1.0, 3)
    rewards = {
        name: values[f"reward_{name}"] for name in ("density", "low", "high", "delay", "gap")
    }
    assert rewards == {"density": 1.0, "low": -1.0, "high": -1.0, "delay": 1.0, "gap": 1.0}
    assert values["mean_score"] == -200.0
    assert values["branching"] == 3.0  # left, nothing and right push it to three speeds
    assert values["screen_change"] == 1.0  # both place and speed change


def test_a_profile_is_pickled_and_copied():
    profile = profile_game("MountainCar-v0", environment="gymnasium", frames=1_000)
    for copied in (pickle.loads(pickle.dumps(profile)), copy.deepcopy(profile)):
        assert copied.to_dict() == profile.to_dict()


def test_a_profile_of_an_atari_game_is_that_of_the_random_agents_episodes():
    protocol = ex.arena.PROTOCOLS["machado-2018"]
    job = Job("r", "random", game="breakout", observation="ram", episodes=3)
    profile = profile_game(job, frames=1_500)
    played = list(Playing(job))[: profile.episodes]
    assert profile.episodes in (1, 2, 3)
    score, length = profile["mean_score"].value, profile["episode_frames"].value
    assert score == sum(one.score for one in played) / profile.episodes
    assert length == sum(one.length for one in played) / profile.episodes
    assert (profile.actions, profile.observation_shape) == (18, (128,))
    assert profile.protocol == protocol.hash
    assert 0 < profile["reward_density"].value < 0.1
    assert profile["reward_low"].value == 0.0 < profile["reward_high"].value


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
    assert profile["lookahead_score"].value > profile["lookahead_random"].value
    assert profile["lookahead_share"].value > 0.6


def test_whatever_has_no_standard_error_has_a_note():
    short = ex.arena.protocol("machado-2018", max_episode_frames=100)
    profile = profile_game("freeway", protocol=short, frames=1_000)
    without = {row.measure: row.reason for row in profile.measures if math.isnan(row.value_error)}
    assert {"reward_delay", "reward_gap"} <= set(without) and all(without.values())
    share = profile["lookahead_share"]
    assert math.isnan(share.value) and share.reason.startswith("neither")
    assert "below" in profile["reward_density"].reason


def test_continuous_actions_are_called_so():
    profile = profile_game("Pendulum-v1", environment="gymnasium", frames=1_000)
    assert profile.actions is profile.lookahead_decisions is profile.open_loop_decisions is None
    assert profile.row["action_space.size"] == "continuous"
    assert profile.row["action_space.branching"] == "continuous"
    assert profile.row["play.open_loop"] == "unknown"
    reasons = {profile[name].reason for name in ("lookahead_share", "open_loop_score", "branching")}
    assert reasons == {"actions are continuous"}


def test_profiles_feed_the_agent_centric_schema():
    games = ("CartPole-v1", "MountainCar-v0", "Pendulum-v1")
    profiles = [profile_game(game, environment="gymnasium", frames=1_000) for game in games]
    rows = [profile.row for profile in profiles]
    kinds = ex.typology.conform(profiled_kinds(rows), "agent-centric")
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
    assert profile["mean_score"].unit == "score" and profile["mean_score"].value_error > 0
    assert profile["branching"].reason == "actions are continuous"
    content = profile.to_dict()
    assert content["schema"] == "examiner.game-profile/1" and content["actions"] is None
    assert content["settings"]["seed"] == 0 and content["measures"][7]["value"] is None


def test_the_same_seed_gives_the_same_numbers():
    short = ex.arena.protocol("machado-2018", max_episode_frames=250)
    one, other = (profile_game("pong", protocol=short, frames=1_000, seed=3).row for _ in range(2))
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
    real = ex.arena.profiles.profile

    def noted(game, **settings):
        measured.append(game)
        return real(game, **settings)

    monkeypatch.setattr("examiner.arena.profiles.profile", noted)
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

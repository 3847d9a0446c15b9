"""Measured profiles of games, and the typology they feed."""

from __future__ import annotations

import pytest

import examiner as ex
from examiner.arena import PROTOCOLS, Job, Playing, profiled_kinds
from examiner.arena import profile as profile_game
from examiner.wording import InputError

pytest.importorskip("ale_py")
pytest.importorskip("gymnasium")


def test_a_profile_says_what_is_known_of_an_environment():
    profile = profile_game("MountainCar-v0", environment="gymnasium", episodes=3)
    assert (profile.actions, profile.observation_shape) == (3, (2,))
    assert (profile.episode_frames, profile.truncated) == (200.0, 1.0)
    assert (profile.reward_density, profile.reward_low, profile.reward_high) == (1.0, -1.0, -1.0)
    assert profile.mean_score == -200.0


def test_a_profile_of_an_atari_game_is_that_of_the_random_agents_episodes():
    protocol = ex.arena.PROTOCOLS["machado-2018"]
    job = Job("r", "random", game="breakout", observation="ram", episodes=3)
    profile = profile_game(job, episodes=3)
    played = list(Playing.begin(job))
    assert profile.mean_score == sum(one.score for one in played) / 3
    assert profile.episode_frames == sorted(one.length for one in played)[1]
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
        episodes=1,
        protocol=ex.arena.protocol(protocol, max_episode_frames=200),
    )
    assert profile.determinism == expected


def test_continuous_actions_are_called_so():
    profile = profile_game("Pendulum-v1", environment="gymnasium", episodes=1)
    assert profile.actions is None
    assert profile.features["action_space.size"] == "continuous"


def test_profiles_feed_the_agent_centric_schema():
    games = ("CartPole-v1", "MountainCar-v0", "Pendulum-v1")
    profiles = [profile_game(game, environment="gymnasium", episodes=2) for game in games]
    kinds = ex.typology.conform(profiled_kinds(profiles), "agent-centric")
    assert kinds.tasks == games
    assert kinds.feature("action_space.size") == ("up to 4", "up to 4", "continuous")
    assert kinds.feature("dynamics.determinism") == ("stochastic",) * 3
    assert kinds.feature("reward.density") == ("more than 10 %",) * 3
    assert set(kinds.features) == {
        one.name for one in ex.typology.SCHEMAS["agent-centric"].dimensions
    }


def test_progress_is_told():
    told = []
    profile_game(
        "CartPole-v1", environment="gymnasium", episodes=2, progress=lambda *args: told.append(args)
    )
    assert told == [("playing CartPole-v1", 1, 2), ("playing CartPole-v1", 2, 2)]


def test_nothing_to_measure_is_refused():
    with pytest.raises(InputError, match=r"in 0 episodes. Give at least 1"):
        profile_game("pong", episodes=0)
    with pytest.raises(InputError, match=r"Unknown environment 'atari'"):
        profile_game("pong", environment="atari")
    with pytest.raises(InputError, match=r"There are no profiles"):
        profiled_kinds([])
    assert PROTOCOLS["gymnasium"].name == "gymnasium"

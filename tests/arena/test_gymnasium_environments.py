"""Any Gymnasium environment: played as Gymnasium plays it, copied for planners, refused in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from examiner.arena import PROTOCOLS, Job, Playing, Protocol, check_job
from examiner.arena.environments.gymnasium import GymnasiumEnvironment
from examiner.messages import InputError

gymnasium = pytest.importorskip("gymnasium")
PLAIN = PROTOCOLS["gymnasium"]


def job(game, **changes):
    settings = {"episodes": 3, "environment": "gymnasium", "protocol": PLAIN} | changes
    return Job("random", "random", game=game, **settings)


def test_the_plain_protocol_plays_as_gymnasium_does():
    environment = GymnasiumEnvironment("CartPole-v1", protocol=PLAIN)
    reference = gymnasium.make("CartPole-v1")
    environment.reset(np.random.default_rng(4))
    shown, _ = reference.reset(seed=int(np.random.default_rng(4).integers(2**31)))
    ended = cut = False
    while not environment.over:
        assert np.array_equal(environment.observe(), shown)
        reward = environment.step(1)
        shown, expected, ended, cut, _ = reference.step(1)
        assert reward == expected
    assert (ended, cut) == (True, False)
    assert not environment.truncated


def test_the_environments_own_limit_truncates():
    (first, *_) = Playing(job("MountainCar-v0", episodes=1))
    assert (first.length, first.truncated, first.score) == (200, True, -200.0)


def test_frame_skip_and_cap_count_steps():
    protocol = replace(PLAIN, frame_skip=4, max_episode_frames=10)
    environment = GymnasiumEnvironment("MountainCar-v0", protocol=protocol)
    environment.reset(np.random.default_rng(0))
    assert [environment.step(0) for _ in range(3)] == [-4.0, -4.0, -2.0]
    assert (environment.frames, environment.over, environment.truncated) == (10, True, True)


@pytest.mark.parametrize("game", ["CartPole-v1", "Pendulum-v1", "Taxi-v4", "Blackjack-v1"])
def test_seeds_reproduce_episodes_with_any_kind_of_action_and_observation(game):
    def scores(seed):
        return [(e.score, e.length) for e in Playing(job(game, seed=seed, episodes=8))]

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_tuples_are_seen_as_one_array():
    environment = GymnasiumEnvironment("Blackjack-v1", protocol=PLAIN)
    environment.reset(np.random.default_rng(0))
    assert environment.observe().shape == environment.observation_shape == (32 + 11 + 2,)


def test_the_model_works_on_copies_and_does_not_foresee_noise():
    environment = GymnasiumEnvironment("Taxi-v4", protocol=PLAIN)
    environment.reset(np.random.default_rng(0))
    model = environment.model(np.random.default_rng(1))
    root = model.root()
    for _ in range(2):
        model.restore(root)
        imagined = [(model.advance(a), model.observe().tobytes()) for a in (0, 1, 2, 3)]
    assert environment.frames == 0
    played = [(environment.step(a), environment.observe().tobytes()) for a in (0, 1, 2, 3)]
    assert played == imagined
    # Cards are drawn anew in every simulation.
    environment = GymnasiumEnvironment("Blackjack-v1", protocol=PLAIN)
    environment.reset(np.random.default_rng(0))
    model = environment.model(np.random.default_rng(1))
    root, drawn = model.root(), set()
    for _ in range(30):
        model.restore(root)
        model.advance(1)
        drawn.add(model.observe().tobytes())
    assert len(drawn) > 5


def test_an_environment_that_cannot_be_copied_has_no_model():
    environment = GymnasiumEnvironment("CartPole-v1", protocol=PLAIN)
    environment.world.env.unwrapped.guard = (one for one in ())  # generators cannot be copied
    with pytest.raises(InputError, match=r"cannot be copied .* Choose an agent that does not plan"):
        environment.model(np.random.default_rng(0))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (job("ALE/Pong-v5"), 'is an Atari game. Play it with environment = "ale"'),
        (job("ALE/Combat-v5"), "is an Atari game"),
        (
            job("NoSuchThing-v0"),
            "Gymnasium cannot make 'NoSuchThing-v0'.* Registered: .*CartPole-v1",
        ),
        (job("CartPole-v1", observation="ram"), "has no observation 'ram'"),
        (job("CartPole-v1", mode=1), "has no modes and difficulties"),
        (
            job("CartPole-v1", protocol=replace(PLAIN, max_start_no_ops=30)),
            "begins with up to 30 frames of doing nothing",
        ),
        (
            job("CartPole-v1", environment="gvgai"),
            "Unknown environment 'gvgai'. Known: 'ale', 'gym",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_before_it_starts(changed, said):
    with pytest.raises(InputError, match=said):
        check_job(changed)


class Switches(gymnasium.Env):
    """Three switches, to be set all at once."""

    action_space = gymnasium.spaces.MultiBinary(3)
    observation_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        assert self.action_space.contains(action), action
        return 0, float(sum(action)), True, False, {}


def test_switches_are_not_taken_for_numbered_actions():
    gymnasium.register("Switches-v0", Switches)
    try:
        environment = GymnasiumEnvironment("Switches-v0", protocol=PLAIN)
        environment.reset(np.random.default_rng(0))
        assert environment.action_names == ()
        assert environment.step(np.array([1, 0, 1], dtype=np.int8)) == 2.0
        assert len(list(Playing(job("Switches-v0")))) == 3
    finally:
        del gymnasium.registry["Switches-v0"]


def test_recorded_starts_are_of_atari_games():
    with pytest.raises(InputError, match="Recorded starts are of Atari games"):
        GymnasiumEnvironment("CartPole-v1", protocol=Protocol(starts=("pong: NOOP",)))


def test_random_frame_skips_work_on_any_environment():
    protocol = Protocol(sticky_probability=0.0, frame_skip=1, max_frame_skip=3)
    environment = GymnasiumEnvironment("MountainCar-v0", protocol=protocol)
    environment.reset(np.random.default_rng(0))
    ends = [0]
    for _ in range(30):
        environment.step(1)
        ends.append(environment.frames)
    assert set(np.diff(ends)) == {1, 2, 3}

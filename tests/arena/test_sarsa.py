"""Sarsa(λ): lazy traces equal eager ones, it learns what can be learnt, and resumes where it was left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.runs import assert_resuming_changes_nothing
from examiner.arena import Job, Playing, Task, check_job
from examiner.arena import protocol as named_protocol
from examiner.messages import InputError

pytest.importorskip("numba")

from examiner.arena.agents.sarsa import Sarsa
from examiner.arena.learning.blob_prost import BlobProst
from examiner.arena.learning.traced_weights import TracedWeights


class EagerWeights:
    """Replacing traces as the textbook has them: every trace is decayed at every step."""

    def __init__(self, rows, actions, decay, cut):
        self.weights, self.traces = np.zeros((rows, actions)), np.zeros((rows, actions))
        self._decay, self._cut = decay, cut

    def begin(self):
        self.traces[:] = 0.0

    def values(self, rows):
        return self.weights[rows].sum(axis=0)

    def mark(self, rows, action):
        value = self.weights[rows, action].sum()
        self.traces *= self._decay
        self.traces[self.traces < self._cut] = 0.0
        self.traces[rows, action] = 1.0
        return value

    def add(self, amount):
        self.weights += amount * self.traces


@given(
    seed=st.integers(0, 2**32 - 1),
    decay=st.sampled_from([0.0, 0.5, 0.891, 1.0]),
    last_stamp=st.sampled_from([60, 101, 65535]),
)
def test_lazy_traces_equal_eager_ones(seed, decay, last_stamp):
    rng = np.random.default_rng(seed)
    rows, actions = 40, 3
    # A trace that never fades lasts as long as stamps do: cut it by the length of episodes.
    lazy = TracedWeights(
        actions=actions, decay=decay, cut=0.01, max_rows=rows, last_stamp=last_stamp
    )
    # Weights are of single precision: seven digits, whatever their size.
    eager = EagerWeights(rows, actions, decay, 0.01)
    for length in rng.integers(1, 50, size=12):
        lazy.begin()
        eager.begin()
        for _ in range(length):
            active = rng.permutation(rows)[: rng.integers(1, 12)].astype(np.int32)
            action, amount = int(rng.integers(actions)), float(rng.normal())
            assert lazy.mark(active, action) == pytest.approx(
                eager.mark(active, action), rel=1e-6, abs=1e-4
            )
            assert lazy.values(active) == pytest.approx(eager.values(active), rel=1e-6, abs=1e-4)
            lazy.add(amount)
            eager.add(amount)
    assert lazy.settled(rows) == pytest.approx(eager.weights, rel=1e-6, abs=1e-4)


def real_steps(game, count):
    """Screens, actions and rewards of a random player; None as an action begins an episode."""
    from examiner.arena.environments.ale import AtariEnvironment

    environment = AtariEnvironment(game, protocol=named_protocol("machado-2018"))
    rng = np.random.default_rng(3)
    environment.reset(rng)
    yield environment.observe(), None, 0.0
    for _ in range(count):
        action = environment.random_action(rng)
        reward = environment.step(action)
        yield environment.observe(), action, reward


def test_what_is_learnt_of_a_real_game_is_what_the_textbook_learns():
    """The whole update, feature numbers as keys of dictionaries, eager traces, double precision."""
    pytest.importorskip("ale_py")
    agent = Sarsa(explore=0.0)
    task = Task(tuple("ABCDEFGHIJKLMNOPQR"), (210, 160), draw=lambda rng: 0)
    agent.begin(task, np.random.default_rng(0))
    features, weights, traces = BlobProst((210, 160)), {}, {}
    most, unit, steps = 1, 0.0, iter(real_steps("asterix", 40))
    screen, _, _ = next(steps)
    agent.act(screen)
    active = set(features.active(screen).tolist())
    for screen, action, reward in steps:
        agent._chosen = action
        agent.learn(reward, screen, False, False)
        following = agent._next  # the tie was broken by the agent's own random numbers
        agent.act(screen)
        most = max(most, len(active))
        unit = unit or abs(reward)
        value = sum(weights.get((one, action), 0.0) for one in active)
        traces = {key: trace * 0.891 for key, trace in traces.items() if trace * 0.891 >= 0.01}
        traces |= {(one, action): 1.0 for one in active}
        active = set(features.active(screen).tolist())
        after = sum(weights.get((one, following), 0.0) for one in active)
        error = (reward / unit if unit else 0.0) + 0.99 * after - value
        for key, trace in traces.items():
            weights[key] = weights.get(key, 0.0) + 0.5 / most * error * trace
    assert unit > 0.0
    learnt = agent.weights.settled(len(agent.table))
    expected = np.zeros_like(learnt)
    rows = {feature: row for row, feature in enumerate(agent.table.features().tolist())}
    for (feature, action), weight in weights.items():
        expected[rows[feature], action] = weight
    assert np.count_nonzero(expected) > 1000
    assert np.abs(learnt - expected).max() < 1e-4 * np.abs(expected).max()


class Lamp:
    """A screen with a lamp, red or green, at a random place; the right button gives a point."""

    def __init__(self, rng):
        self._rng = rng

    def screen(self):
        self.green = bool(self._rng.integers(2))
        screen = np.zeros((35, 40), dtype=np.uint8)
        row, column = self._rng.integers(30), self._rng.integers(35)
        screen[row : row + 3, column : column + 3] = 200 if self.green else 60
        return screen


def play_lamps(agent, episodes, *, seed, learning=True):
    task = Task(("A", "B", "C"), (35, 40), draw=lambda rng: 0, learning=learning)
    right = []
    for number in range(episodes):
        lamp = Lamp(np.random.default_rng([seed, number]))
        agent.begin(task, np.random.default_rng([seed, number, 1]))
        seen = lamp.screen()
        for step in range(10):
            point = agent.act(seen) == (2 if lamp.green else 1)
            right.append(point)
            seen = lamp.screen()
            if learning:
                agent.learn(5.0 * point, seen, step == 9, False)
    return float(np.mean(right))


def test_it_learns_what_colours_mean_wherever_they_are():
    agent = Sarsa(discount=0.0)
    assert play_lamps(agent, 2, seed=1) < 0.8
    play_lamps(agent, 150, seed=2)
    assert play_lamps(agent, 30, seed=3, learning=False) > 0.95


def test_evaluation_changes_nothing():
    agent = Sarsa()
    play_lamps(agent, 3, seed=1)
    before = agent.save()
    play_lamps(agent, 3, seed=2, learning=False)
    assert agent.save() == before


def test_an_episode_that_is_cut_off_is_no_end():
    """With a reward of 1 for ever, values grow beyond 1 only if the last one counts."""
    ends, cut_off = Sarsa(explore=0.0), Sarsa(explore=0.0)
    task = Task(("A",), (14, 8), draw=lambda rng: 0)
    screen = np.zeros((14, 8), dtype=np.uint8)
    for agent in (ends, cut_off):
        for _ in range(200):
            agent.begin(task, np.random.default_rng(0))
            agent.act(screen)
            agent.learn(1.0, screen, agent is ends, agent is cut_off)
    features = BlobProst((14, 8))
    value = {}
    for agent in (ends, cut_off):
        features.begin()
        rows = agent.table.rows(features.active(screen), add=False)
        value[agent] = float(agent.weights.values(rows)[0])
    assert value[ends] == pytest.approx(1.0, abs=1e-3)
    assert value[cut_off] > 1.5


def test_features_beyond_the_bound_are_ignored():
    agent = Sarsa(max_features=50)
    play_lamps(agent, 5, seed=1)
    assert len(agent.table) == 50
    assert len(agent.weights.settled(50)) == 50


@pytest.mark.parametrize("settings", [{}, {"basic_without_colour": True}])
def test_resuming_equals_an_uninterrupted_run_bit_for_bit(settings):
    pytest.importorskip("ale_py")
    protocol = named_protocol("machado-2018", max_episode_frames=300)
    job = Job("sarsa", "sarsa", settings, game="asterix", episodes=6, protocol=protocol)
    assert_resuming_changes_nothing(job, after=3)


def test_resuming_across_the_moment_when_weights_are_brought_up_to_date_changes_nothing():
    def weights():
        return TracedWeights(actions=2, decay=0.9, cut=0.01, max_rows=20, last_stamp=70)

    def play(one, first, last):
        for number in range(first, last):
            rng = np.random.default_rng(number)
            one.begin()
            for _ in range(25):
                one.mark(rng.permutation(20)[:5].astype(np.int32), int(rng.integers(2)))
                one.add(float(rng.normal()))

    whole, half, rest = weights(), weights(), weights()
    play(whole, 0, 9)
    play(half, 0, 5)
    rest.load(half.settled(20), half.clock)
    play(rest, 5, 9)
    assert np.array_equal(whole.settled(20), rest.settled(20))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"explore": 1.5}, "explore is 1.5. Give a number of at least 0 and at most 1"),
        ({"step_size": 0.0}, "step_size is 0.0"),
        ({"max_features": 0}, "max_features is 0"),
        ({"max_features": 1e6}, "max_features is 1000000.0. Give a whole number"),
    ],
)
def test_settings_without_sense_are_refused_in_words(settings, said):
    with pytest.raises(InputError, match=said):
        check_job(Job("sarsa", "sarsa", settings, game="pong"))


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_screens_that_are_not_bytes_are_refused_before_their_colours_are_looked_up(kind):
    agent = Sarsa()
    agent.begin(Task(("A",), (14, 8), draw=lambda rng: 0), np.random.default_rng(0))
    with pytest.raises(InputError, match=f"this one has shape .14, 8. of {np.dtype(kind)}"):
        agent.act(np.full((14, 8), 10**6, dtype=kind))


def test_tasks_it_cannot_play_and_foreign_checkpoints_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="continuous"):
        Sarsa().begin(Task((), (210, 160), draw=lambda rng: 0), rng)
    with pytest.raises(InputError, match="observation to 'raw'"):
        Sarsa().begin(Task(("A",), (4, 84, 84), draw=lambda rng: 0), rng)
    with pytest.raises(InputError, match="no checkpoint of the agent 'sarsa'"):
        Sarsa().load(b"")
    empty = Sarsa()
    empty.load(Sarsa().save())
    assert play_lamps(empty, 2, seed=1) == play_lamps(Sarsa(), 2, seed=1)


@pytest.mark.slow
def test_it_learns_to_cross_the_road():
    """Freeway at 20 frames an action: random play crosses now and then, a learner twenty times."""
    pytest.importorskip("ale_py")
    protocol = named_protocol("machado-2018", frame_skip=20)

    def scores(agent):
        job = Job(agent, agent, game="freeway", frames=80_000, protocol=protocol)
        return [episode.score for episode in Playing(job)]

    assert np.mean(scores("sarsa")[-3:]) > 10 > 3 > np.mean(scores("random"))

"""The Brute: its values are those of dynamic programming by hand, and it resumes where it was left."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.runs import assert_resuming_changes_nothing
from examiner.arena import Job, Playing, Task, check_job
from examiner.arena import protocol as named_protocol
from examiner.messages import InputError

pytest.importorskip("numba")

from examiner.arena.agents.brute import Brute
from examiner.arena.learning.history_tree import (
    BEGINNING,
    START,
    HistoryTree,
    Trajectory,
)

ACTIONS = 3


def trajectory(episode):
    first, steps = episode
    return Trajectory(
        first=first,
        actions=np.array([action for action, _, _ in steps], dtype=np.int16),
        rewards=np.array([reward for _, reward, _ in steps], dtype=np.float64),
        keys=np.array([seen for _, _, seen in steps], dtype=np.uint64),
    )


def values_by_hand(episodes, discount):
    """Value of every history by recursion over all episodes that begin with it."""

    def value(begun):  # what is left of each episode after the history
        by_action = defaultdict(list)
        for steps in begun:
            if steps:
                by_action[steps[0][0]].append(steps)
        outcomes = []
        for tries in by_action.values():
            by_seen = defaultdict(list)
            for steps in tries:
                by_seen[steps[0][2]].append(steps)
            outcomes.append(
                sum(
                    len(same) / len(tries)
                    * (
                        sum(steps[0][1] for steps in same) / len(same)
                        + discount * value([steps[1:] for steps in same])
                    )
                    for same in by_seen.values()
                )
            )  # fmt: skip
        return max(outcomes, default=0.0)

    histories = {(first,) for first, _ in episodes}
    for first, steps in episodes:
        for length in range(1, len(steps) + 1):
            histories.add((first, *((action, seen) for action, _, seen in steps[:length])))
    found = {}
    for history in histories:
        begun = [
            steps[len(history) - 1 :]
            for first, steps in episodes
            if (first, *((action, seen) for action, _, seen in steps[: len(history) - 1]))
            == history
        ]
        found[history] = value(begun), len(begun)
    return found


step = st.tuples(st.integers(0, ACTIONS - 1), st.integers(-3, 5), st.integers(0, 2))
episode = st.tuples(st.integers(0, 1), st.lists(step, min_size=1, max_size=5))


@given(st.lists(episode, min_size=1, max_size=12), st.sampled_from([1.0, 0.9]))
def test_values_and_visits_are_those_of_dynamic_programming_over_all_episodes(episodes, discount):
    tree = HistoryTree(actions=ACTIONS, max_nodes=1000, discount=discount)
    for one in episodes:
        tree.remember(trajectory(one))
    by_hand = values_by_hand(episodes, discount)
    assert len(tree) == len(by_hand) + 1
    for (first, *steps), (value, visits) in by_hand.items():
        node = tree.find(START, BEGINNING, first)
        for action, seen in steps:
            node = tree.find(node, action, seen)
        assert tree.value(node) == pytest.approx(value, abs=1e-12)
        assert tree.visits(node) == visits


class Corridor:
    """A deterministic game of four decisions with a random reward for every sequence of actions."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rewards = {
            way: float(rng.integers(-5, 20))
            for length in range(1, 5)
            for way in itertools.product(range(ACTIONS), repeat=length)
        }

    def best(self, way=()):
        if len(way) == 4:
            return 0.0
        return max(
            self.rewards[(*way, action)] + self.best((*way, action)) for action in range(ACTIONS)
        )


def play(agent, game, number, *, learning=True, sticky=0.0):
    task = Task(("A", "B", "C"), (1,), draw=lambda rng: 0, learning=learning)
    noise = np.random.default_rng([number, 99])
    agent.begin(task, np.random.default_rng(number))
    way, score = (), 0.0
    for _ in range(4):
        action = agent.act(np.array(way))
        if way and noise.random() < sticky:
            action = way[-1]
        way = (*way, action)
        score += game.rewards[way]
        if learning:
            agent.learn(game.rewards[way], np.array(way), len(way) == 4, False)
    return score


@pytest.mark.parametrize("seed", range(3))
def test_a_deterministic_game_is_solved(seed):
    agent, game = Brute(explore=0.6), Corridor(seed)
    for number in range(2500):
        play(agent, game, number)
    assert play(agent, game, 10**6, learning=False) == game.best()


def test_the_best_found_so_far_is_followed_when_nothing_is_explored():
    agent, game = Brute(explore=0.0), Corridor(0)
    first = play(agent, game, 0)
    assert [play(agent, game, number) for number in range(1, 5)] == [first] * 4


def test_evaluation_changes_nothing():
    agent, game = Brute(), Corridor(0)
    play(agent, game, 0)
    before = agent.save()
    play(agent, game, 1, learning=False)
    assert agent.save() == before


def test_random_actions_become_rarer_with_visits():
    """Expected over visits n of a history: explore / log(n + 2), and any of three actions then."""
    tried, expected, variance = 0, 0.0, 0.0
    task = Task(("A", "B", "C"), (1,), draw=lambda rng: 0)
    for number in range(40):
        agent, known = Brute(explore=0.6), False
        for time in range(30):
            agent.begin(task, np.random.default_rng([number, time]))
            action = agent.act(np.zeros(1))
            agent.learn(1.0 if action == 0 else 0.0, np.zeros(1), True, False)
            if known:
                chance = 0.6 / np.log(time + 2) * 2 / 3
                tried += action != 0
                expected, variance = expected + chance, variance + chance * (1 - chance)
            known = known or action == 0
    assert abs(tried - expected) < 4 * np.sqrt(variance)


def test_memory_is_bounded_and_small():
    tree = HistoryTree(actions=18, max_nodes=20_000)
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(60):
        steps = [(int(rng.integers(18)), 1.0, int(rng.integers(2**63))) for _ in range(500)]
        tree.remember(trajectory((0, steps)))
        largest = max(largest, tree.bytes / len(tree))
    assert len(tree) == 20_000
    assert largest < 65


def test_a_full_tree_goes_on_counting_what_it_knows_and_forgets_the_rest():
    tree = HistoryTree(actions=2, max_nodes=3)
    tree.remember(trajectory((0, [(0, 1.0, 5)])))
    tree.remember(trajectory((0, [(0, 3.0, 5)])))
    tree.remember(trajectory((0, [(1, 9.0, 6)])))
    node = tree.find(START, BEGINNING, 0)
    assert (tree.visits(node), tree.value(node), len(tree)) == (3, 2.0, 3)


@pytest.mark.parametrize(
    ("observation", "sticky", "frame_skip"), [("ram", 0.0, 5), ("raw", 0.25, 5), ("raw", 0.0, 1)]
)
def test_resuming_equals_an_uninterrupted_run_bit_for_bit(observation, sticky, frame_skip):
    pytest.importorskip("ale_py")
    protocol = named_protocol(
        "deterministic",
        max_episode_frames=60 * frame_skip,
        sticky_probability=sticky,
        frame_skip=frame_skip,
    )
    job = Job(
        "brute",
        "brute",
        {"explore": 0.1},
        observation,
        game="asterix",
        episodes=8,
        protocol=protocol,
    )
    assert_resuming_changes_nothing(job, after=3)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"explore": 2.0}, "explore is 2.0"),
        ({"discount": -1.0}, "discount is -1.0"),
        ({"max_nodes": 0}, "max_nodes is 0"),
        ({"max_nodes": 1e7}, "max_nodes is 10000000.0. Give a whole number"),
    ],
)
def test_settings_without_sense_are_refused_in_words(settings, said):
    with pytest.raises(InputError, match=said):
        check_job(Job("brute", "brute", settings, game="pong"))


def test_continuous_actions_and_foreign_checkpoints_are_refused():
    agent = Brute()
    with pytest.raises(InputError, match="continuous"):
        agent.begin(Task((), (3,), draw=lambda rng: 0), np.random.default_rng(0))
    with pytest.raises(InputError, match="no checkpoint of the agent 'brute'"):
        agent.load(b"something else")
    empty = Brute()
    empty.load(Brute().save())
    assert play(empty, Corridor(0), 0) == play(Brute(), Corridor(0), 0)


@pytest.mark.slow
def test_sticky_actions_take_from_the_brute_what_determinism_gave():
    """Machado et al. (2018), Table 1, at 1/250 of its budget: high, then about random."""
    pytest.importorskip("ale_py")

    def last_scores(agent, sticky, seed):
        protocol = named_protocol("deterministic", sticky_probability=sticky)
        job = Job(
            agent, agent, {}, "ram", game="asterix", seed=seed, frames=120_000, protocol=protocol
        )
        return np.mean([one.score for one in Playing(job)][-30:])

    random = np.mean([last_scores("random", 0.25, seed) for seed in range(3)])
    deterministic = np.mean([last_scores("brute", 0.0, seed) for seed in range(3)])
    sticky = np.mean([last_scores("brute", 0.25, seed) for seed in range(3)])
    assert deterministic > 1.5 * sticky
    assert sticky < 1.5 * random

"""Agents as plug-ins: the contract over the whole table, and what users bring themselves."""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest

from arena import agents_for_tests
from examiner.arena import AGENTS, Job, Playing, Task, check_job
from examiner.arena import protocol as named_protocol
from examiner.arena.contract import make_agent
from examiner.messages import InputError

TASK = Task(("NOOP", "FIRE", "UP", "DOWN"), (210, 160), draw=lambda rng: int(rng.integers(4)))


def actions(entry, settings, count=12, seed=0):
    agent = make_agent(entry, settings, AGENTS)
    if hasattr(agent, "begin"):
        agent.begin(TASK, np.random.default_rng(seed))
    return [agent.act(None) for _ in range(count)]


class Watched:
    """An agent whose actions are noted."""

    def __init__(self, agent):
        self._agent, self.chosen = agent, []

    def act(self, observation):
        self.chosen.append(self._agent.act(observation))
        return self.chosen[-1]

    def __getattr__(self, name):
        return getattr(self._agent, name)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_chooses_among_the_actions_and_the_same_in_the_same_job(name):
    pytest.importorskip("gymnasium")
    settings = {"constant": {"action": 1}, "periodic": {"actions": [0, 1]}}.get(name, {})
    if "budget" in inspect.signature(AGENTS[name]).parameters:
        settings["budget"] = 20  # frames that a planner may simulate for a decision
    if name == "dqn":
        pytest.importorskip("stable_baselines3")
    sees_screens = name == "sarsa"
    job = Job(
        name,
        name,
        settings,
        environment="ale" if sees_screens else "gymnasium",
        game="pong" if sees_screens else "CartPole-v1",
        episodes=2,
        protocol=named_protocol("gymnasium", max_episode_frames=4),
    )
    ways = []
    for _ in range(2):
        playing = Playing(job)
        watched = playing.agent = Watched(playing.agent)
        assert [episode.number for episode in playing] == [0, 1]
        assert set(watched.chosen) <= set(range(18 if sees_screens else 2))
        ways.append(watched.chosen)
    assert ways[0] == ways[1]


def test_the_random_agent_chooses_all_actions_equally_often():
    counts = Counter(actions("random", {}, 8000))
    deviation = np.sqrt(8000 * 0.25 * 0.75)
    assert all(abs(counts[action] - 2000) < 4 * deviation for action in range(4))


def test_constant_periodic_and_no_op_do_what_they_say():
    assert actions("constant", {"action": "UP"}, 3) == [2, 2, 2]
    assert actions("periodic", {"actions": ["UP", 3], "steps": 2}, 6) == [2, 2, 3, 3, 2, 2]
    assert actions("no-op", {}, 3) == [0, 0, 0]


def test_the_periodic_agent_begins_anew_with_every_episode():
    agent = make_agent("periodic", {"actions": [1, 2, 3]}, AGENTS)
    agent.begin(TASK, np.random.default_rng(0))
    agent.act(None)
    agent.begin(TASK, np.random.default_rng(0))
    assert agent.act(None) == 1


@pytest.mark.parametrize(
    "entry", ["arena.agents_for_tests:Bare", "arena.agents_for_tests:ready_made"]
)
def test_any_object_with_act_is_an_agent(entry):
    assert type(make_agent(entry, {}, AGENTS)) is agents_for_tests.Bare


@pytest.mark.parametrize(
    ("entry", "settings", "said"),
    [
        ("randm", {}, "Unknown agent 'randm'. Did you mean 'random'.* module:factory"),
        ("no_such_module:Agent", {}, "Cannot find the agent .* No module named 'no_such_module'"),
        ("arena.agents_for_tests:Nobody", {}, "has no attribute 'Nobody'"),
        (":Agent", {}, "Cannot find the agent ':Agent'"),
        ("arena.agents_for_tests:not_an_agent", {}, "without a method act"),
        ("arena.agents_for_tests:a_number", {}, "is a int. Give a class"),
        (
            "arena.agents_for_tests:Learner",
            {"exploring": 1},
            "Unknown setting of .*Learner 'exploring'. Did you mean 'explore'",
        ),
        ("random", {"seed": 1}, "The agent 'random' has no settings"),
        ("constant", {}, "cannot be made with these settings: missing .* 'action'"),
        ("periodic", {"actions": []}, "got 0 actions"),
    ],
)
def test_what_is_no_agent_is_refused_in_words(entry, settings, said):
    with pytest.raises(InputError, match=said):
        check_job(Job("mine", entry, settings, game="pong"))


def test_an_action_the_game_lacks_is_refused_with_those_it_has():
    with pytest.raises(InputError, match=r"no action 'JUMP'. The 4 actions are 'NOOP'"):
        actions("constant", {"action": "JUMP"})
    with pytest.raises(InputError, match=r"no action 4"):
        actions("constant", {"action": 4})


def test_continuous_actions_have_no_names():
    task = Task((), (3,), draw=lambda rng: rng.normal(size=1))
    with pytest.raises(InputError, match=r"actions of this environment are continuous"):
        task.action(0)

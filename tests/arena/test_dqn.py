"""DQN: the memory gives back what was seen, and training resumes where it was left."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.runs import assert_resuming_changes_nothing
from examiner.arena import AGENTS, Job, Playing, Task, check_job
from examiner.arena import protocol as named_protocol
from examiner.arena.learning.deep_network import ReplayMemory
from examiner.messages import InputError


@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=8),
    size=st.integers(12, 60),
    seed=st.integers(0, 1000),
)
def test_what_is_drawn_from_memory_is_what_happened(lengths, size, seed):
    """Stacks of four screens from single ones, over episodes, endings and a full memory."""
    rng = np.random.default_rng(seed)
    memory, happened = ReplayMemory((4, 2, 2), np.uint8, size=size), {}
    for length in lengths:
        stack = np.repeat(rng.integers(256, size=(1, 2, 2), dtype=np.uint8), 4, axis=0)
        memory.see(stack)
        for step in range(length):
            following = np.concatenate(
                [stack[1:], rng.integers(256, size=(1, 2, 2), dtype=np.uint8)]
            )
            number, ended = len(happened), step == length - 1
            memory.follow(action=number % 7, reward=number, observation=following, ended=ended)
            happened[number] = stack, following, ended
            stack = following
    if memory._whole(np.arange(len(memory))).any():
        drawn = memory.draw(50, rng)
        for row in range(50):
            number = int(drawn.rewards[row])
            before, after, ended = happened[number]
            assert np.array_equal(drawn.observations[row], before)
            assert np.array_equal(drawn.next_observations[row], after)
            assert (drawn.actions[row], drawn.ended[row]) == (number % 7, ended)


def test_everything_in_memory_is_drawn_equally_often():
    memory = ReplayMemory((1,), np.float32, size=10)
    memory.see(np.zeros(1, np.float32))
    for number in range(30):
        memory.follow(
            action=0, reward=number, observation=np.full(1, number, np.float32), ended=False
        )
    drawn = memory.draw(9000, np.random.default_rng(0)).rewards
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(21, 30))
    assert np.all(np.abs(counts - 1000) < 4 * np.sqrt(1000))


def test_screens_are_kept_once():
    memory = ReplayMemory((4, 84, 84), np.uint8, size=2000)
    stack = np.zeros((4, 84, 84), dtype=np.uint8)
    memory.see(stack)
    for number in range(1990):
        stack = np.concatenate([stack[1:], np.full((1, 84, 84), number % 256, np.uint8)])
        memory.follow(action=0, reward=0.0, observation=stack, ended=False)
    assert memory.bytes < 2000 * (84 * 84 + 10)


@pytest.mark.parametrize("shape", [(4, 3, 3), (5,)])
def test_a_memory_goes_on_after_it_was_stored(shape):
    def fill(memory, first, last):
        for number in range(first, last):
            rng = np.random.default_rng(number)
            memory.see(rng.integers(256, size=shape).astype(np.uint8))
            for _ in range(20):
                seen = rng.integers(256, size=shape).astype(np.uint8)
                memory.follow(action=1, reward=number, observation=seen, ended=False)

    whole, half, rest = (ReplayMemory(shape, np.uint8, size=500) for _ in range(3))
    fill(whole, 0, 12)
    fill(half, 0, 7)
    rest.load(half.to_arrays())
    fill(rest, 7, 12)
    one, other = (memory.draw(64, np.random.default_rng(0)) for memory in (whole, rest))
    assert np.array_equal(one.observations, other.observations)
    assert np.array_equal(one.next_observations, other.next_observations)


SMALL = {
    "memory": 400, "random_decisions": 20, "explore_decisions": 60, "target_every": 15, "batch": 8,
}  # fmt: skip


def needs_the_extra():
    pytest.importorskip("torch")
    pytest.importorskip("stable_baselines3")


@pytest.mark.slow
@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
def test_resuming_equals_an_uninterrupted_run_bit_for_bit(optimiser):
    needs_the_extra()
    pytest.importorskip("ale_py")
    protocol = named_protocol("machado-2018", max_episode_frames=200)
    settings = SMALL | {"optimiser": optimiser}
    job = Job("dqn", "dqn", settings, "dqn84x4", game="pong", episodes=4, protocol=protocol)
    assert_resuming_changes_nothing(job, after=2)


@pytest.mark.slow
def test_it_learns_to_balance_a_pole():
    needs_the_extra()
    settings = {
        "optimiser": "adam", "learning_rate": 0.001, "memory": 20_000, "random_decisions": 500,
        "explore_decisions": 3000, "explore": 0.02, "target_every": 200, "batch": 64, "train_every": 1,
    }  # fmt: skip
    job = Job(
        "dqn", "dqn", settings, environment="gymnasium", game="CartPole-v1", frames=15_000,
        protocol=named_protocol("gymnasium"),
    )  # fmt: skip
    scores = [episode.score for episode in Playing(job)]
    assert np.mean(scores[:20]) < 40
    assert np.mean(scores[-20:]) > 100


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    found = sys.modules["examiner.arena.agents.dqn"].importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *rest: None if name == "torch" else found(name, *rest),
    )
    with pytest.raises(InputError, match=r"pip install 'examiner\[dqn\]'"):
        AGENTS["dqn"]()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"batch": 0}, "batch is 0. Give a whole number of at least 1"),
        ({"batch": "8"}, "batch is '8'"),
        ({"explore": 2}, "explore is 2. Give a number of at least 0 and at most 1"),
        ({"optimiser": "sgd"}, "'rmsprop' or 'adam'"),
    ],
)
def test_settings_without_sense_are_refused_in_words(settings, said):
    needs_the_extra()
    with pytest.raises(InputError, match=said):
        check_job(Job("dqn", "dqn", settings, game="pong"))


def test_a_memory_that_holds_no_stack_and_its_successor_is_refused():
    needs_the_extra()
    pytest.importorskip("ale_py")
    job = Job("dqn", "dqn", SMALL | {"memory": 4}, "dqn84x4", game="pong")
    with pytest.raises(InputError, match="memory is 4"):
        next(Playing(job))


@pytest.mark.parametrize("shape", [(96, 96, 3), (84, 84)])
def test_pictures_that_are_no_stacks_of_screens_are_refused(shape):
    needs_the_extra()
    agent = AGENTS["dqn"](**SMALL)
    task = Task(("A", "B"), shape, draw=lambda rng: 0)
    with pytest.raises(InputError, match="observation to 'dqn84x4'"):
        agent.begin(task, np.random.default_rng(0))


def test_screens_it_cannot_see_and_foreign_checkpoints_are_refused():
    needs_the_extra()
    pytest.importorskip("ale_py")
    with pytest.raises(InputError, match="observation to 'dqn84x4'"):
        next(Playing(Job("dqn", "dqn", SMALL, game="pong")))
    with pytest.raises(InputError, match="no checkpoint of the agent 'dqn'"):
        AGENTS["dqn"]().load(b"?")

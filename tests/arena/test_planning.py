"""Planning agents on small worlds whose best play is known, and on Gymnasium's."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from arena.recording import recorded
from arena.toy_worlds import Bandit, Corridor, Grid, Lives, Shaft, Trap
from examiner.arena import AGENTS, Job, Playing
from examiner.arena import protocol as named_protocol
from examiner.arena.agents.state_trees import Novelty, Tree
from examiner.arena.planner import Planner
from examiner.messages import InputError

PLANNERS = (
    *("one-step-lookahead", "breadth-first", "iw1", "uct", "olets", "rolling-horizon"),
    *("random-search", "hill-climbing", "simulated-annealing"),
)
FAR = tuple(name for name in PLANNERS if name != "one-step-lookahead")


def test_the_table_holds_every_planner():
    planners = [name for name, made in AGENTS.items() if getattr(made, "plans", False)]
    assert sorted(planners) == sorted(PLANNERS)


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("budget", [5, 13, 100, 431])
def test_no_decision_simulates_more_frames_than_its_budget(name, budget):
    world = Grid()
    agent = AGENTS[name](budget=budget)
    agent.begin(world.task(), np.random.default_rng(0))
    for _ in range(5):
        before = world.frames
        assert 0 <= agent.act(world.shown(world.played)) < 6
        assert 0 < world.frames - before <= budget


@pytest.mark.parametrize("name", FAR)
def test_planners_prefer_the_large_reward_far_away_to_the_small_one(name):
    found = [Corridor(seed).play(AGENTS[name](budget=4_000), 8, seed)[1] for seed in range(10)]
    assert np.mean(found) == 5.0


@pytest.mark.parametrize("search", ["rollouts", "breadth-first"])
def test_iw1_digs_straight_down_where_breadth_first_search_would_need_millions_of_frames(search):
    # Six actions to the power of eight; but only a new depth is a new atom again and again.
    for seed in range(5):
        chosen, total = Shaft(seed).play(AGENTS["iw1"](budget=1_500, search=search), 20, seed)
        assert (chosen, total) == ([0] * 8, 1.0)
    chosen, _ = Shaft().play(AGENTS["breadth-first"](budget=1_500), 8)
    assert chosen != [0] * 8


def test_iw1_cannot_reach_what_needs_two_atoms_at_once():
    agent = AGENTS["iw1"](budget=3_000, search="breadth-first")
    world = Grid()
    agent.begin(world.task(), np.random.default_rng(0))
    agent.act(world.shown(world.played))
    nodes_of_width_one = 6 * (1 + 3 + 3)  # the root, and one node for each new row or column
    assert world.advanced == nodes_of_width_one


def test_breadth_first_finds_a_shortest_path_once_its_tree_is_deep_enough():
    class SmallGrid(Grid):
        actions = ("up", "down", "left", "right")

    nodes = sum(4**depth for depth in range(1, 7))
    chosen, total = SmallGrid().play(AGENTS["breadth-first"](budget=nodes * 5), 20)
    assert (len(chosen), total) == (6, 1.0)


def test_breadth_first_values_equal_those_of_all_sequences_by_brute_force():
    rng = np.random.default_rng(7)
    rewards = {}
    for depth in range(1, 5):
        for path in itertools.product(range(3), repeat=depth):
            rewards[path] = float(rng.normal())
    tree, nodes = Tree(), {(): 0}
    for path, reward in rewards.items():
        nodes[path] = tree.add(nodes[path[:-1]], path[-1], reward)
    wanted = [
        max(
            sum(0.9**step * rewards[path[: step + 1]] for step in range(4))
            for path in itertools.product(range(3), repeat=4)
            if path[0] == action
        )
        for action in range(3)
    ]
    assert tree.action_values(actions=3, discount=0.9) == pytest.approx(wanted)


def test_breadth_first_tries_all_actions_before_any_second_step():
    world = Grid()
    agent = AGENTS["breadth-first"](budget=6 * 5)
    agent.begin(world.task(), np.random.default_rng(0))
    agent.act(None)
    assert (world.advanced, world.restored) == (6, 6)


def test_uct_and_olets_settle_on_the_best_arm():
    for name in ("uct", "olets"):
        chosen = [
            Bandit(seed).play(AGENTS[name](budget=5_000), 1, seed)[0][0] for seed in range(20)
        ]
        assert chosen.count(2) >= 19


def test_more_budget_finds_the_best_arm_more_often():
    def share(budget):
        arms = [
            Bandit(seed).play(AGENTS["uct"](budget=budget), 1, seed)[0][0] for seed in range(60)
        ]
        return arms.count(2) / 60

    assert share(20) < share(100) < share(1_000)


@pytest.mark.parametrize("name", ["uct", "olets"])
def test_a_dial_leads_from_the_planner_to_random_play(name):
    def arms(explore):
        return [
            Bandit(seed).play(AGENTS[name](budget=2_000, explore=explore), 1, seed)[0][0]
            for seed in range(80)
        ]

    usual = [Bandit(seed).play(AGENTS[name](budget=2_000), 1, seed)[0][0] for seed in range(80)]
    assert arms(0.0) == usual
    best = max(set(usual), key=usual.count)
    shares = [arms(explore).count(best) / 80 for explore in (0.0, 0.5, 1.0)]
    assert shares[0] > shares[1] > shares[2]
    assert abs(shares[2] - 1 / len(Bandit.actions)) < 4 * np.sqrt(0.25 / 80)


@pytest.mark.parametrize("name", FAR)
def test_planners_that_look_two_steps_ahead_avoid_a_trap(name):
    first = [Trap(seed).play(AGENTS[name](budget=2_000), 1, seed)[0][0] for seed in range(20)]
    assert first.count(0) >= 18


def test_one_step_lookahead_walks_into_the_trap():
    assert Trap().play(AGENTS["one-step-lookahead"](), 1)[0] == [1]


def test_a_life_is_worth_the_largest_reward_unless_it_is_free():
    greedy = AGENTS["one-step-lookahead"]
    careful, _ = Lives().play(greedy(life_cost=1.0), 5)
    reckless, _ = Lives().play(greedy(life_cost=0.0), 5)
    assert (careful, reckless) == ([0] * 5, [1] * 3)


def test_an_action_is_held_in_simulation_and_in_play():
    world = Corridor()
    agent = AGENTS["one-step-lookahead"](hold=3, budget=30)
    agent.begin(world.task(), np.random.default_rng(0))
    # Three steps of the same action reach both ends: the better one is seen in one held action.
    assert [agent.act(None) for _ in range(3)] == [1, 1, 1]
    assert world.advanced == 6


def test_one_step_lookahead_averages_over_samples():
    chosen = [
        Bandit(seed).play(AGENTS["one-step-lookahead"](samples=50, budget=1_000), 1, seed)[0][0]
        for seed in range(20)
    ]
    assert chosen.count(2) >= 19


@pytest.mark.parametrize("name", PLANNERS)
def test_a_planner_keeps_nothing_from_one_episode_to_the_next(name):
    agent, fresh = AGENTS[name](budget=200), AGENTS[name](budget=200)
    Grid(1).play(agent, 3, seed=1)
    assert Grid(2).play(agent, 6, seed=2) == Grid(2).play(fresh, 6, seed=2)


@pytest.mark.parametrize("name", PLANNERS)
def test_planners_play_gymnasium_and_resume_to_the_same_episodes(name):
    pytest.importorskip("gymnasium")
    protocol = replace(named_protocol("gymnasium"), max_episode_frames=30, sticky_probability=0.25)
    settings = {"budget": 12}
    job = Job(
        name,
        name,
        settings,
        environment="gymnasium",
        game="CartPole-v1",
        protocol=protocol,
        episodes=2,
        seed=3,
    )
    (first, before), (second, after) = recorded(Playing(job), 2)
    again = Playing(job, episodes=1, frames=first.frames)
    assert again.stateless
    assert recorded(again, 1) == [(second, after)]
    assert before != after


def test_a_planner_balances_the_pole_far_longer_than_chance():
    pytest.importorskip("gymnasium")
    protocol = named_protocol("gymnasium", max_episode_frames=60)
    scores = {}
    for name, settings in (("random", {}), ("uct", {"budget": 60, "depth": 12})):
        job = Job(
            name,
            name,
            settings,
            environment="gymnasium",
            game="CartPole-v1",
            protocol=protocol,
            episodes=2,
        )
        scores[name] = [episode.score for episode in Playing(job)]
    assert min(scores["uct"]) == 60.0 > max(scores["random"])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"budget": 0}, "The setting budget is 0. Give a whole number of at least 1."),
        ({"hold": 1.5}, "The setting hold is 1.5. Give a whole number of at least 1."),
        (
            {"discount": 1.1},
            "The setting discount is 1.1. Give a number of at least 0 and at most 1.",
        ),
        ({"explore": 2}, "The setting explore is 2. Give a number of at least 0 and at most 1."),
        ({"life_cost": -1}, "The setting life_cost is -1. Give a number of at least 0."),
        (
            {"discount": float("nan")},
            "The setting discount is nan. Give a number of at least 0 and at most 1.",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence):
    for name in PLANNERS:
        with pytest.raises(InputError) as refusal:
            AGENTS[name](**settings)
        assert str(refusal.value) == sentence


def test_an_unknown_search_of_iw1_is_refused():
    with pytest.raises(InputError, match="Unknown search of the agent 'iw1' 'depth-first'"):
        AGENTS["iw1"](search="depth-first")


def test_a_budget_below_one_action_is_refused():
    with pytest.raises(InputError, match="budget of 9 frames is less than one action of 10 frames"):
        AGENTS["uct"](budget=9, hold=2).begin(Grid().task(), np.random.default_rng(0))


def test_continuous_actions_and_a_missing_model_are_refused():
    task = Grid().task()
    for given, sentence in (
        (replace(task, actions=()), "continuous ones"),
        (replace(task, model=None), "no forward model"),
    ):
        with pytest.raises(InputError, match=sentence):
            AGENTS["uct"]().begin(given, np.random.default_rng(0))


def test_a_planner_that_does_not_say_how_it_chooses_fails_in_words():
    agent = Planner()
    agent.begin(Grid().task(), np.random.default_rng(0))
    with pytest.raises(NotImplementedError, match="Planner does not say how it chooses"):
        agent.act(None)


def _slow_novelty(sequence):
    """Which of some states are new: with sets, atom by atom."""
    known, new = set(), []
    for atoms in sequence:
        new.append(not set(atoms) <= known)
        known |= set(atoms)
    return new


def test_novelty_of_memories_is_that_of_sets():
    rng = np.random.default_rng(0)
    memories = rng.integers(0, 3, size=(60, 4)).astype(np.uint8)
    novelty = Novelty()
    found = [novelty.new(novelty.atoms(one)) for one in memories]
    assert found == _slow_novelty([list(enumerate(one.tolist())) for one in memories])
    assert 0 < sum(found) < 60


def test_novelty_of_screens_is_colours_in_tiles():
    rng = np.random.default_rng(0)
    screens = np.zeros((40, 21, 12), dtype=np.uint8)
    for screen in screens:
        screen[rng.integers(21), rng.integers(12)] = rng.integers(1, 3)
    atoms = [
        [(row // 7, column // 4, int(value)) for (row, column), value in np.ndenumerate(screen)]
        for screen in screens
    ]
    novelty = Novelty()
    found = [novelty.new(novelty.atoms(one)) for one in screens]
    assert found == _slow_novelty(atoms)
    assert 0 < sum(found) < 40


def test_novelty_of_fractions_is_by_cells():
    novelty = Novelty(cell=0.5)
    shown = [np.array([one]) for one in (0.1, 0.4, 0.6, -0.1, 0.9)]
    assert [novelty.new(novelty.atoms(one)) for one in shown] == [True, False, True, True, False]
    exact = Novelty(cell=0.0)
    assert [exact.new(exact.atoms(one)) for one in shown] == [True] * 5


def test_a_state_seen_at_a_lesser_depth_takes_novelty_from_the_deeper_one():
    novelty = Novelty()
    atoms = novelty.atoms(np.array([4]))
    assert novelty.new(atoms, depth=3)
    assert novelty.holds(atoms, depth=3)
    assert novelty.new(atoms, depth=1)
    assert not novelty.holds(atoms, depth=3)
    assert not novelty.new(atoms, depth=2)


@pytest.mark.parametrize("frame_skip", [1, 3])
def test_tasks_tell_the_frame_skip_that_budgets_count(frame_skip):
    pytest.importorskip("gymnasium")
    protocol = named_protocol("gymnasium", frame_skip=frame_skip)
    job = Job(
        "random",
        "random",
        environment="gymnasium",
        game="CartPole-v1",
        protocol=protocol,
        episodes=1,
    )
    playing, told = Playing(job), []
    begin = playing.agent.begin
    playing.agent.begin = lambda task, rng: told.append(task.frame_skip) or begin(task, rng)
    next(playing)
    assert told == [frame_skip]


def test_pictures_are_seen_whole_and_of_stacks_the_last_screen():
    novelty = Novelty()
    picture = np.zeros((6, 6, 3), dtype=np.uint8)
    changed = picture.copy()
    changed[0, 0, 0] = 1
    assert novelty.new(novelty.atoms(picture))
    assert novelty.new(novelty.atoms(changed))
    stacks, older = Novelty(), np.zeros((4, 84, 84), dtype=np.uint8)
    older[0, 0, 0] = 1
    assert stacks.new(stacks.atoms(np.zeros_like(older)))
    assert not stacks.new(stacks.atoms(older))

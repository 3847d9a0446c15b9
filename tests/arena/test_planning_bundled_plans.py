"""The plans that come with the package can be read and mean what they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from examiner.arena import AGENTS, TRAINING_GAMES, deviations
from examiner.arena import plan as bundled

pytest.importorskip("ale_py", reason="Atari games need ale-py")


def test_the_plan_of_the_arena_has_both_tracks_on_the_games_of_atari_100k():
    plan = bundled("atari-arena")
    jobs = plan.jobs()
    assert len(plan.agents) >= 12
    assert len({job.game for job in jobs}) == 27
    assert {job.seed for job in jobs} == {0, 1, 2, 3, 4}
    planning = [one for one in plan.agents if getattr(AGENTS[one.entry], "plans", False)]
    learning = [one for one in plan.agents if hasattr(AGENTS[one.entry], "learn")]
    assert (len(planning), len(learning)) == (8, 2)
    apart = [one.setting for one in deviations(plan.protocol) if not one.free]
    assert apart == ["max_episode_frames"]
    assert plan.protocol.max_episode_frames == 4_500


def test_the_plan_without_sticky_actions_is_else_the_same_on_every_third_game():
    sticky, still = bundled("atari-arena"), bundled("atari-arena-deterministic")
    assert still.agents == sticky.agents
    assert still.games == sticky.games[::3]
    assert replace(still.protocol, sticky_probability=0.25) == sticky.protocol


def test_the_plan_of_table_1_is_the_papers_protocol_on_its_games():
    plan = bundled("machado-2018-table1")
    assert tuple(game.name for game in plan.games) == TRAINING_GAMES
    assert {job.frames for job in plan.jobs()} == {50_000_000}
    assert not [one for one in deviations(plan.protocol) if not one.free]
    assert (plan.protocol.sticky_probability, plan.protocol.window_episodes) == (0.25, 100)


@pytest.mark.parametrize("name", ["machado-2018-table1", "machado-2018-table1-small"])
def test_plans_of_table_1_have_all_its_agents_and_dqn_acts_on_every_fourth_frame(name: str):
    jobs = bundled(name).jobs()
    skips = {job.agent: job.protocol.frame_skip for job in jobs}
    assert skips == {"brute": 5, "sarsa-blob-prost": 5, "dqn": 4}
    cells = Counter((job.agent, job.game) for job in jobs)
    runs = {agent: {cells[agent, game] for game in TRAINING_GAMES} for agent in skips}
    full = {"brute": {24}, "sarsa-blob-prost": {24}, "dqn": {5}}
    small = {"brute": {3}, "sarsa-blob-prost": {3}, "dqn": {2}}
    assert runs == (small if name.endswith("small") else full)


def test_fewer_seeds_are_the_first_of_each_agent():
    jobs = bundled("machado-2018-table1").with_fewer_seeds(6).jobs()
    seeds = {agent: {job.seed for job in jobs if job.agent == agent} for agent in ("brute", "dqn")}
    assert seeds == {"brute": set(range(6)), "dqn": set(range(5))}


def test_the_plan_of_table_1_at_a_million_frames_is_else_the_papers():
    paper, small = bundled("machado-2018-table1"), bundled("atari-table1")
    assert (small.agents[:2], small.games) == (paper.agents[:2], paper.games)
    assert {job.frames for job in small.jobs() if job.agent != "random"} == {1_000_000}
    assert not [one for one in deviations(small.protocol) if not one.free]


def test_anchors_differ_in_one_dial_each_under_the_protocol_of_the_arena():
    plan, arena = bundled("atari-anchors"), bundled("atari-arena")
    assert plan.protocol == arena.protocol
    in_order = sorted(game.name for game in arena.games)
    assert [game.name for game in plan.games] == in_order[::2]
    settings = {agent.name: dict(agent.settings) for agent in plan.agents}
    for family in ("uct", "iw1"):
        budgets = [settings[f"{family}-{budget}"].pop("budget") for budget in (40, 120, 360, 1080)]
        assert budgets == [40, 120, 360, 1080]
        left = [settings[f"{family}-{budget}"] for budget in (40, 120, 360, 1080)]
        assert all(one == left[0] for one in left)
    copies = [settings[f"uct-360-random-{share}"] for share in (25, 50, 75)]
    assert [copy.pop("explore") for copy in copies] == [0.25, 0.5, 0.75]
    assert all(copy == settings["uct-360"] | {"budget": 360} for copy in copies)


def test_flavours_are_two_a_game_one_of_them_the_default_under_the_protocol_of_the_anchors():
    plan = bundled("atari-flavours")
    assert plan.protocol == bundled("atari-anchors").protocol
    learnt = {
        game.name: {(job.mode, job.difficulty) for job in plan.jobs() if job.game == game.name}
        for game in plan.games
    }
    assert all(len(pair) == 2 and (0, 0) in pair for pair in learnt.values())
    assert {job.frames for job in plan.jobs()} == {250_000}

"""The plans that come with the package can be read and mean what they say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from examiner.arena import TRAINING_GAMES, deviations
from examiner.arena import plan as bundled
from examiner.arena.agents import AGENTS

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

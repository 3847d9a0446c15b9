"""Planning agents on Atari games: exact repetition, what they see, and that they beat chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arena.recording import recorded
from examiner.arena import Job, Playing
from examiner.arena import protocol as named_protocol

pytest.importorskip("ale_py", reason="Atari games need ale-py")

SHORT = named_protocol("machado-2018", max_episode_frames=30)


def job(name, game="asterix", protocol=SHORT, observation="raw", **settings):
    settings = {"budget": 180, "hold": 2} | settings
    return Job(
        name, name, settings, observation=observation, game=game, protocol=protocol, episodes=2
    )


@pytest.mark.parametrize(
    ("name", "observation", "frame_skip"),
    [
        ("iw1", "raw", 5), ("iw1", "ram", 5), ("iw1", "dqn84x4", 5), ("uct", "raw", 5), ("iw1", "raw", 1),
    ],
)  # fmt: skip
def test_seeds_reproduce_episodes_exactly_also_when_resumed(name, observation, frame_skip):
    planned = job(
        name, "seaquest", replace(SHORT, frame_skip=frame_skip), observation, budget=36 * frame_skip
    )
    (first, before), (second, after) = recorded(Playing(planned), 2)
    again = Playing(planned, episodes=1, frames=first.frames)
    assert recorded(again, 1) == [(second, after)]
    assert before != after


def test_planning_leaves_the_game_that_is_played_alone():
    # The same actions give the same game, whether they were planned or are only repeated.
    protocol = named_protocol("deterministic", max_episode_frames=100)
    playing = Playing(job("uct", protocol=protocol))
    chosen, act = [], playing.agent.act
    playing.agent.act = lambda seen: chosen.append(act(seen)) or chosen[-1]
    episode = next(playing)
    blind = Job(
        "again", "periodic", {"actions": chosen}, game="asterix", protocol=protocol, episodes=1
    )
    repeated = next(Playing(blind))
    assert (repeated.score, repeated.length) == (episode.score, episode.length)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iw1", "uct"])
@pytest.mark.parametrize("game", ["asterix", "crazy_climber"])
def test_iw1_and_uct_play_far_above_random(name, game):
    protocol = named_protocol("machado-2018", max_episode_frames=1_500)
    random = replace(job("random", game, protocol), settings={}, episodes=10)
    scores = [episode.score for episode in Playing(random)]
    planned = job(name, game, protocol, "ram", budget=600, hold=3, depth=8)
    assert next(Playing(planned)).score > np.mean(scores) + 3 * np.std(scores, ddof=1)

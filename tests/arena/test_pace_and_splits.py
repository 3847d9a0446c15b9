"""How long a plan takes, environments beside it, and games for testing chosen by their split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.arena import paces, plan, plan_from_toml, run

WORLD = """
import gymnasium
import numpy as np


class Tiny(gymnasium.Env):
    def __init__(self):
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), 1.0, self.steps >= 5, False, {}


gymnasium.register("TinyBeside-v0", entry_point="worlds_beside:Tiny")
"""


def test_an_environment_in_a_module_beside_the_plan_is_found(tmp_path: Path):
    pytest.importorskip("gymnasium")
    (tmp_path / "worlds_beside.py").write_text(WORLD)
    (tmp_path / "plan.toml").write_text(
        'environment = "gymnasium"\ngames = ["worlds_beside:TinyBeside-v0"]\nepisodes = 2\n'
        '[[agents]]\nentry = "random"\n'
    )
    (unknown,) = paces(plan(tmp_path / "plan.toml"))
    assert np.isnan(unknown.frames_per_second), "its code is not run before it is played"
    (timed,) = paces(plan(tmp_path / "plan.toml"), own_code=True)
    assert timed.frames_per_second > 0
    outcome = run(plan(tmp_path / "plan.toml"), tmp_path / "out", workers=1)
    assert (outcome.done, outcome.episodes, outcome.frames) == (1, 2, 10)


def test_paces_bound_the_time_of_every_agent():
    pytest.importorskip("ale_py")
    planned = plan_from_toml(
        'games = ["pong", "freeway"]\nseeds = 3\nepisodes = 2\n'
        '[[agents]]\nentry = "random"\n[[agents]]\nentry = "no-op"\nepisodes = 5\n'.replace(
            '"no-op"', '"constant"\nsettings = {action = 0}\nname = "no-op"'
        )
    )
    ticks = iter(range(1000))
    random, constant = paces(planned, clock=lambda: float(next(ticks)))
    assert (random.jobs, random.most_frames) == (6, 6 * 2 * 18_000)
    assert constant.most_frames == 6 * 5 * 18_000
    assert random.frames_per_second == pytest.approx(40.0), "forty frames between two ticks"
    assert random.seconds == pytest.approx(random.most_frames / 40.0)


def test_a_split_can_be_kept_or_dropped():
    arena = ex.load("atari-arena")
    test, tuning = arena.keeping("split:test"), arena.dropping("split:test")
    assert set(test.column("split")) == {"test"} and set(tuning.column("split")) == {"train"}
    assert set(test.tasks).isdisjoint(tuning.tasks)
    assert len(test.tasks) + len(tuning.tasks) == len(arena.tasks)
    with pytest.raises(ex.InputError, match=r"There is no column 'split'"):
        ex.Results.from_numpy([[1.0]]).keeping("split:test")
    with pytest.raises(ex.InputError, match=r"Write `agent:GLOB`, `task:GLOB` or `split:test`"):
        arena.keeping("level:3")

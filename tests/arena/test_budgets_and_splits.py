"""How many frames a plan plays, environments beside it, and games for testing chosen by their split."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

import examiner as ex
from arena.runs import command
from examiner.arena import frame_budgets, plan, plan_from_toml, run

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
    explained = command("arena", "run", tmp_path / "plan.toml", "--explain")
    assert explained.code == 0, explained.err
    assert "worlds_beside" not in sys.modules, "its code is not run before it is played"
    outcome = run(plan(tmp_path / "plan.toml"), tmp_path / "out", workers=1)
    assert (outcome.done, outcome.episodes, outcome.frames) == (1, 2, 10)


def test_budgets_bound_the_frames_of_every_agent():
    planned = plan_from_toml(
        'games = ["pong", "freeway"]\nseeds = 3\nepisodes = 2\n'
        '[[agents]]\nentry = "random"\n'
        '[[agents]]\nentry = "constant"\nsettings = {action = 0}\nepisodes = 5\n'
    )
    random, constant = frame_budgets(planned)
    assert (random.jobs, random.training_frames, random.evaluation_frames) == (6, 6 * 2 * 18_000, 0)
    assert constant.training_frames == 6 * 5 * 18_000


def test_budgets_count_evaluation_and_what_is_played_keeps_to_them(tmp_path: Path):
    pytest.importorskip("gymnasium")
    (tmp_path / "plan.toml").write_text(
        'environment = "gymnasium"\ngames = ["CartPole-v1"]\nframes = 200\n'
        "protocol = { frame_skip = 1, max_episode_frames = 30, evaluation_episodes = 2, "
        "report_shares = [0.5, 1.0] }\n"
        '[[agents]]\nentry = "random"\n'
    )
    (budget,) = frame_budgets(plan(tmp_path / "plan.toml"))
    assert (budget.training_frames, budget.evaluation_frames) == (230, 2 * 2 * 30)
    run(plan(tmp_path / "plan.toml"), tmp_path / "out")
    with closing(sqlite3.connect(tmp_path / "out" / "ledger.sqlite")) as database:
        played = dict(database.execute("SELECT phase, SUM(length) FROM episodes GROUP BY phase"))
    assert 200 <= played["training"] <= 230 and 0 < played["evaluation"] <= 120


def test_no_bound_is_stated_where_an_episode_may_last_for_any_time(tmp_path: Path):
    pytest.importorskip("gymnasium")
    (tmp_path / "plan.toml").write_text(
        'environment = "gymnasium"\ngames = ["CartPole-v1"]\nframes = 200\n'
        '[[agents]]\nentry = "random"\n'
    )
    (budget,) = frame_budgets(plan(tmp_path / "plan.toml"))
    outcome = run(plan(tmp_path / "plan.toml"), tmp_path / "out")
    assert outcome.frames > 200, "the last episode is played to its end"
    assert math.isinf(budget.training_frames)
    explained = command("arena", "run", tmp_path / "plan.toml", "--explain")
    assert re.search(r"random +1 +–", explained.out)


def test_an_explained_plan_promises_no_time_and_counts_evaluation(tmp_path: Path):
    (tmp_path / "dqn.toml").write_text(
        'games = ["pong"]\nframes = 1_000_000\nprotocol = { evaluation_episodes = 10 }\n'
        '[[agents]]\nentry = "dqn"\nobservation = "dqn84x4"\n'
    )
    explained = command("arena", "run", tmp_path / "dqn.toml", "--explain")
    assert explained.code == 0 and "hours" not in explained.out
    assert "evaluation" in explained.out and "0.72" in explained.out


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


def test_games_that_settings_were_tuned_on_are_not_reported():
    told = command("scores", "atari-arena", "--tuned-on", "split:train", "--all", "--reps", "50")
    assert told.code == 0, told.err
    assert (
        "Settings were tuned on 4 tasks, which are excluded: only the other 23 tasks"
        in " ".join((told.out + told.err).split())
    )
    kept = command("scores", "atari-arena", "--keep", "split:test", "--json", "--reps", "50")
    tuned = command("scores", "atari-arena", "--tuned-on", "split:train", "--json", "--reps", "50")
    one, other = json.loads(kept.out), json.loads(tuned.out)
    assert one["agents"] == other["agents"]


@pytest.mark.parametrize("verb", ["scores", "curves"])
def test_tuning_and_testing_on_the_same_games_is_a_warning(verb: str):
    told = command(verb, "atari-table1", "--tuned-on", "split:train", "--all")
    assert told.code == 0, told.err
    text = " ".join((told.out + told.err).split())
    assert "Warning: settings were tuned on all 5 tasks reported here." in text


def test_settings_are_tuned_on_tasks_only():
    told = command("scores", "atari-arena", "--tuned-on", "agent:random")
    assert told.code == 2 and "Settings are tuned on tasks, not on 'agent:random'." in told.err

"""The variant of a task that adds most information is found, confirmed on fresh seeds, and resumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from arena.runs import command
from examiner.arena import design, plan, plan_from_toml
from examiner.arena.environments.gymnasium import game_with_settings, settings_of_game
from examiner.arena.variants import base_tasks, design_variants
from examiner.messages import InputError

pytest.importorskip("gymnasium")

WORLD = """
import gymnasium
import numpy as np


class Skill(gymnasium.Env):
    \"\"\"One step, whose reward is the action's number times `gain`, and noise.\"\"\"

    def __init__(self, gain=0.0, render_mode=None):
        self.gain = gain
        self.action_space = gymnasium.spaces.Discrete(8)
        self.observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        reward = self.gain * int(action) + float(self.np_random.normal())
        return np.zeros(1, np.float32), reward, True, False, {}


gymnasium.register("Skill-v0", entry_point="skill_world:Skill")


def variants():
    yield {"game": "skill_world:Skill-v0", "settings": {"gain": 9.0}}
"""
PLAN = """
environment = "gymnasium"
games = ["skill_world:Skill-v0"]
episodes = 1

[design]
plays = 200
runs = 2
confirming_runs = 5
random_variants = 3
held_out = ["five", "six", "seven"]

[[design.variants]]
game = "skill_world:Skill-v0"
settings = { gain = [0.1, 0.2, 0.3, 5.0] }
"""
AGENTS = {"none": 0, "one": 1, "three": 3, "five": 5, "six": 6, "seven": 7}


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    (tmp_path / "skill_world.py").write_text(WORLD)
    agents = "".join(
        f'\n[[agents]]\nname = "{name}"\nentry = "constant"\nsettings = {{ action = {action} }}\n'
        for name, action in AGENTS.items()
    )
    (tmp_path / "skills.toml").write_text(PLAN + agents)
    return tmp_path / "skills.toml"


def test_the_most_informative_variant_is_chosen_and_repeated_without_playing(skills: Path) -> None:
    out, standings = skills.parent / "out", []
    first = command("arena", "design", skills, "-o", out, "--workers", "2", "--json")
    assert first.code == 0, first.err
    answer = design(skills, out, watcher=standings.append)
    assert {standing.frames_per_second for standing in standings} == {0.0}, (
        "nothing is played again"
    )
    assert json.loads(first.out)["chosen"] == answer.chosen == "skill_world:Skill-v0(gain=5.0)"
    assert answer.advantages.agents == ("panel", "held-out agents")
    assert (answer.advantages.advantage_low > 0).all()
    assert (answer.advantages.base_bits < 0.3).all(), "the present task is pure noise"
    assert "significantly more than random variants" in answer.headline
    assert answer.searched.variant[0] == answer.chosen and len(answer.searched) == 4
    assert answer.plays <= answer.budget
    ledger = ex.read(out / "ledger.sqlite")
    assert len(ledger) == answer.plays, "every play is kept"
    assert len(ledger.tasks) == 5, "variants are tasks of their own"


def test_a_function_of_ones_own_generates_variants(skills: Path) -> None:
    skills.write_text(
        skills.read_text().replace("[design]", '[design]\ngenerator = "skill_world:variants"')
    )
    names = [variant.name for variant in design_variants(plan(skills))]
    assert names[-1] == "skill_world:Skill-v0(gain=9.0)" and len(names) == 5


def test_modes_difficulties_frame_skips_and_stickiness_of_atari_games_are_variants() -> None:
    pytest.importorskip("ale_py")
    planned = plan("design-atari")
    assert [task.name for task in base_tasks(planned)] == [game.name for game in planned.games]
    names = [variant.name for variant in design_variants(planned)]
    assert "freeway 7/0" in names and "breakout 12/0, frame skip 2" in names
    assert "pong 1/3, ς 0.75" in names
    assert "freeway 0/0" not in names, "the present tasks are not variants"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("plays = 200", "plays = 20", "A budget of 20 plays is too small: to search two variants"),
        ('"five", "six"', '"five", "sicks"', "there is no agent 'sicks' in the plan"),
        ("[0.1, 0.2, 0.3, 5.0]", "[0.1]", "has 1 variants beyond the present tasks"),
        ("[0.1, 0.2, 0.3, 5.0]", "0.1", "Give a list of values to choose from"),
        ('"five", "six", "seven"', '"one", "none", "three", "five", "six"', "has 1 agent"),
        ("settings = { gain", "modes = [1]\nsettings = { gain", "has no modes to vary"),
    ],
)
def test_designs_that_cannot_be_are_refused_in_a_sentence(
    before: str, after: str, said: str, skills: Path
) -> None:
    text = skills.read_text()
    assert before in text
    skills.write_text(text.replace(before, after))
    with pytest.raises(InputError, match=said):
        design(skills, skills.parent / "out")


def test_frames_have_no_wins(skills: Path) -> None:
    skills.write_text(skills.read_text().replace("[design]", '[design]\nmeasure = "win"'))
    with pytest.raises(InputError, match="have no wins"):
        design(skills, skills.parent / "out")


def test_a_plan_without_a_design_is_refused() -> None:
    text = 'environment = "gymnasium"\ngames = ["CartPole-v1"]\n[[agents]]\nentry = "random"'
    with pytest.raises(InputError, match=r"has no table \[design\]"):
        design(plan_from_toml(text), "nowhere")


def test_settings_of_an_environment_stand_behind_its_name() -> None:
    settings = {"map_name": "8x8", "is_slippery": False, "success_rate": 0.5}
    name = game_with_settings("FrozenLake-v1", settings)
    assert settings_of_game(name) == ("FrozenLake-v1", settings)
    with pytest.raises(InputError, match=r"The settings of 'FrozenLake-v1.*cannot be read"):
        settings_of_game("FrozenLake-v1(slippery")
    job = ex.arena.Job(
        "r", "random", environment="gymnasium", game='FrozenLake-v1(map_name="8x8")', episodes=1
    )
    assert len(ex.arena.results_of(job)) == 1


def test_added_bits_recover_the_truth_and_noise_adds_nothing() -> None:
    rng = np.random.default_rng(1)
    base, new = rng.normal(size=(2, 10)) * 3
    means = np.stack([base, base, new, np.zeros(10)], axis=1)
    drawn = means[:, :, None] + rng.normal(size=(10, 4, 400))
    model = ex.information.ChannelModel(ex.information.Noise(deviations="pooled"))
    truth = ex.information.added(ex.Results.from_numpy(drawn), ["task 1"], model=model, reps=20)
    few = ex.Results.from_numpy(drawn[:, :, :5])
    answer = ex.information.added(few, ["task 1"], model=model)
    for task in ("task 2", "task 3", "task 4"):
        row, exact = answer.tasks[task], truth.tasks[task].added_bits
        assert row.added_bits_low <= exact <= row.added_bits_high
    assert answer.tasks.task[-1] == "task 4" and answer.tasks["task 4"].added_bits < 0.1
    with pytest.raises(InputError, match="All tasks are in the set"):
        ex.information.added(few, few.tasks)

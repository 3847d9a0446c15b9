"""Levels, maps and parameters of GVGAI games are variants, and the most informative one is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import examiner as ex
from arena.gvgai_games import DESCRIPTION
from arena.runs import command
from examiner.arena import design, plan
from examiner.arena.gvgai.checkout import checkout
from examiner.arena.gvgai.description import level_text, varied_description
from examiner.arena.variants import base_tasks, design_variants
from examiner.messages import InputError

TEXT = DESCRIPTION.format(length=12)
PLAN = """
environment = "gvgai"
games = ["aliens(prize.value=1)"]
levels = [0]
rules = {{ model_calls = 20, cpu_seconds = 0.5 }}
checkout = "{checkout}"

[[agents]]
entry = "doNothing"
[[agents]]
entry = "simpleRandom"
[[agents]]
name = "searches"
entry = "misbehaving.Agent$Searches"
[[agents]]
name = "held-out nothing"
entry = "doNothing"
[[agents]]
name = "held-out random"
entry = "simpleRandom"

[design]
held_out = ["held-out nothing", "held-out random"]
plays = 120
runs = 2
confirming_runs = 2
random_variants = 2
measure = "win"

[[design.variants]]
game = "aliens"
settings = {{ prize.value = [1, 100], Timeout.limit = [12, 3] }}

[[design.variants]]
game = "zelda"
levels = [0, 1]
settings = {{ prize.value = [1] }}
"""


@pytest.fixture
def skills(framework: Path, tmp_path: Path) -> Path:
    (tmp_path / "levels.toml").write_text(PLAN.format(checkout=framework))
    return tmp_path / "levels.toml"


def test_levels_and_parameters_of_a_game_are_variants_beyond_the_present_ones(
    skills: Path,
) -> None:
    planned = plan(skills)
    assert [task.name for task in base_tasks(planned)] == ["aliens(prize.value=1) level 0"]
    assert [variant.name for variant in design_variants(planned)] == [
        "aliens(Timeout.limit=3, prize.value=1) level 0",
        "aliens(Timeout.limit=12, prize.value=100) level 0",
        "aliens(Timeout.limit=3, prize.value=100) level 0",
        "zelda(prize.value=1) level 0",
        "zelda(prize.value=1) level 1",
    ]


def test_equal_variants_are_one_whatever_they_are_called(skills: Path) -> None:
    skills.write_text(
        skills.read_text() + '[[design.variants]]\ngame = "aliens"\n'
        '[[design.variants]]\ngame = "aliens"\nsettings = { prize.limited = [2, 7] }\n'
    )
    names = [variant.name for variant in design_variants(plan(skills))]
    assert len(names) == 6, "the game as it is has been listed with its own values before"
    assert names[-1] == "aliens(prize.limited=7) level 0"


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac on the PATH")
def test_the_most_informative_level_is_chosen_kept_and_not_played_again(skills: Path) -> None:
    out, standings = skills.parent / "out", []
    first = command("arena", "design", skills, "-o", out, "--workers", "2", "--json")
    assert first.code == 0, first.err
    answer = design(skills, out, watcher=standings.append)
    assert {standing.frames_per_second for standing in standings} == {0.0}, "nothing is played"
    assert json.loads(first.out)["chosen"] == answer.chosen
    assert "prize.value=100" in answer.chosen, "nobody wins where going right is worth nothing"
    assert answer.present == ("aliens(prize.value=1) level 0",)
    assert answer.advantages.agents == ("panel", "held-out agents")
    plays = ex.read(out / "ledger.sqlite")
    assert len(plays) == answer.plays, "every play is kept"
    assert answer.chosen.replace(" level ", ".") in plays.tasks


def test_maps_of_ones_own_are_levels(skills: Path, framework: Path) -> None:
    generator = """
def levels():
    yield {"game": "aliens", "settings": {"map": ["wwww", "wApw", "wwww"]}}
    yield {"game": "zelda", "level": 1, "settings": {"prize": {"value": 7}}}
"""
    (skills.parent / "own_levels.py").write_text(generator)
    text = skills.read_text().replace("[design]", '[design]\ngenerator = "own_levels:levels"')
    skills.write_text(text)
    *_, drawn, varied = design_variants(plan(skills))
    assert drawn.name == 'aliens(map=["wwww", "wApw", "wwww"])'
    assert varied.name == "zelda(prize.value=7) level 1"
    games = checkout(framework)
    assert games.level_file(drawn.job.game, 0).read_text() == "wwww\nwApw\nwwww\n"
    assert games.levels(drawn.job.game) == (0,)
    assert "value=7" in games.game_file(varied.job.game).read_text()
    assert games.game_file("zelda(prize.value=100)") == games.game_file("zelda")


def test_a_parameter_is_changed_where_it_is_written_or_added_where_it_is_inherited() -> None:
    text = varied_description(TEXT, {"prize.value": 5, "prize.color": "RED", "avatar.speed": 0.5})
    changed = [
        (before, after)
        for before, after in zip(TEXT.splitlines(), text.splitlines(), strict=True)
        if before != after
    ]
    assert [after.strip() for _, after in changed] == [
        "prize > Resource value=5 limited=2 color=RED",
        "avatar > MovingAvatar speed=0.5",
    ]
    assert varied_description(TEXT, {"prize.color": "BLUE", "prize.value": 100.0}) == TEXT
    noted = varied_description(TEXT, {"floor.speed": 2})
    assert "floor > Immovable img=floor speed=2# speed=9 stands in a comment" in noted


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"prise.value": 1}, "Did you mean 'prize'"),
        ({"prize.strength": 1}, "no parameter 'strength' that can be varied. It has 'color', 'val"),
        ({"SpriteCounter.win": True}, "2 lines 'SpriteCounter' with the parameter 'win'"),
        ({"prize.value": 0.5}, "the framework ignores a fraction there. Give a whole number"),
        ({"prize.value": [1]}, "Give a number, true or false, or a word"),
        ({"prize.value": "two words"}, "Give a number, true or false, or a word"),
        ({"value": 1}, "sprite or end of the game 'value'"),
    ],
)
def test_parameters_that_cannot_be_varied_are_refused(
    changes: dict[str, object], refused: str
) -> None:
    with pytest.raises(InputError) as problem:
        varied_description(TEXT, changes)
    assert refused in str(problem.value)


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        (["ww", "w"], "rows as a list of texts of equal length"),
        ("wAw", "rows as a list of texts of equal length"),
        (["wAx"], "letter 'x', which the game does not know"),
    ],
)
def test_maps_that_are_no_levels_are_refused(rows: object, refused: str) -> None:
    with pytest.raises(InputError, match=refused):
        level_text(rows, TEXT)


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("levels = [0, 1]\nsettings", "frame_skip = [2]\nsettings", "has no frame_skip to vary"),
        ('game = "zelda"', 'game = "zelbda"', "Did you mean 'zelda'"),
        ("levels = [0, 1]", "levels = [0, 9]", "has no level 9"),
        ("prize.value = [1] }", "prize.value = 1 }", "Give a list of values to choose from"),
    ],
)
def test_designs_of_levels_that_cannot_be_are_refused(
    before: str, after: str, refused: str, skills: Path
) -> None:
    text = skills.read_text()
    assert before in text
    skills.write_text(text.replace(before, after))
    with pytest.raises(InputError, match=refused):
        design(skills, skills.parent / "out")

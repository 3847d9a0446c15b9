"""The bundled plays: one row a play, levels as items, and what is missing said aloud."""

import numpy as np

from examiner.datasets import card, load

EVERY_LEVEL = {"doNothing", "onestep", "random"}


def test_plays_are_13_controllers_on_129_games():
    plays = load("gvgai-plays")
    assert len(plays) == 3035
    assert len(plays.agents) == 13
    assert len(set(plays.task_names)) == 129


def test_a_level_is_an_item_of_its_game():
    plays = load("gvgai-plays")
    assert plays.item == ("level",)
    assert len(plays.tasks) == 129 * 5
    assert ("freeway", 3) in plays.items
    assert "freeway.3" in plays.tasks


def test_win_comes_first_then_score_and_ticks_are_kept_beside():
    plays = load("gvgai-plays")
    assert plays.measures == ("win", "score")
    assert plays.attributes == ("seed", "ticks")
    assert set(np.unique(plays.measure("win"))) == {0.0, 1.0}
    assert max(plays.column("ticks")) == 2000


def test_a_seed_of_a_play_is_not_taken_for_a_training_run():
    plays = load("gvgai-plays")
    assert len(set(plays.column("seed"))) == len(plays)
    assert plays.column("run") == plays.column("trial")
    assert plays.counts()["runs"] == 1
    assert any("run is set to the trial" in change for change in card("gvgai-plays").changed)


def test_only_the_cheap_controllers_played_other_levels_than_the_first():
    plays = load("gvgai-plays")
    level, agent = np.array(plays.column("level")), np.array(plays.column("agent"))
    assert set(agent[level > 0]) == EVERY_LEVEL


def test_the_number_of_missing_plays_told_is_the_number_missing():
    plays = load("gvgai-plays")
    planned = 129 * (5 * len(EVERY_LEVEL) + len(set(plays.agents) - EVERY_LEVEL))
    assert planned == 3225
    assert (
        f"{planned - len(plays)} of {planned:,} planned plays are missing, not at random"
        in (plays.notes[0])
    )

"""Atari games are known under any of their names."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from examiner import Results, load
from examiner.results import Scales, TaskScale, atari_game, atari_games

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ale_published_scores_2018.csv"


def camel(game: str) -> str:
    """ale-py's own rule for the names of environments (`rom_id_to_name`)."""
    return game.title().replace("_", "")


@pytest.mark.parametrize(
    "ending", ["", "-v0", "-v4", "NoFrameskip-v4", "Deterministic-v4", "-ram-v0"]
)
def test_every_game_is_known_as_an_environment(ending):
    assert [atari_game(camel(game) + ending) for game in atari_games()] == list(atari_games())


def test_every_game_is_known_as_an_ale_environment_as_a_title_and_by_its_id():
    for game in atari_games():
        for name in (f"ALE/{camel(game)}-v5", game.replace("_", " ").title(), game, game.upper()):
            assert atari_game(name) == game


def test_all_games_of_ale_py_are_listed():
    assert len(atari_games()) == 108
    assert {"combat", "joust", "maze_craze", "warlords"} < set(atari_games())


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("H.E.R.O", "hero"),
        ("Q*Bert", "qbert"),
        ("Montezuma's Revenge", "montezuma_revenge"),
        ("Up and Down", "up_n_down"),
        ("Up'n Down", "up_n_down"),
        ("Up n’ Down", "up_n_down"),
        ("Ms. Pacman", "ms_pacman"),
        ("Ms. Pac-Man", "ms_pacman"),
        ("James Bond", "jamesbond"),
        ("Kung-Fu Master", "kung_fu_master"),
        ("Wizard of Wor", "wizard_of_wor"),
        ("River Raid", "riverraid"),
        ("Yars' Revenge", "yars_revenge"),
        ("Robot Tank", "robotank"),
        ("  Pitfall! ", "pitfall"),
        ("Pitfall II", "pitfall2"),
        ("Stargunner", "star_gunner"),
    ],
)
def test_titles_lead_to_ids(name, game):
    assert atari_game(name) == game


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "", "pong2", "space", "MinAtar/Breakout-v1", "my_pong", "-v4", "Pong-v"]
)
def test_what_is_no_atari_game_is_not_taken_for_one(name):
    assert atari_game(name) is None


def test_all_bundled_atari_data_use_ids():
    names = {*load("atari-human-random").tasks, *load("atari-dqn-family").tasks}
    assert {name: atari_game(name) for name in names} == {name: name for name in names}


def test_the_games_of_the_published_scores_are_all_known():
    if not PUBLISHED.is_file():
        pytest.skip("the published scores lie beside the checkout only, and are not there")
    with PUBLISHED.open(encoding="utf-8") as lines:
        games = next(csv.reader(lines))[1:]
    found = [atari_game(game) for game in games]
    assert len(games) == 49
    assert None not in found
    assert len(set(found)) == 49
    assert set(found) <= set(load("atari-human-random").tasks)


# ------------------------------------------------------------------ where names are looked up


def results_on(*tasks):
    return Results.from_dict(
        {"agent": ["a"] * len(tasks), "task": list(tasks), "score": [1.0] * len(tasks)}
    )


def test_scales_are_found_under_other_names_and_labels_stay():
    results = results_on("Space Invaders", "PongNoFrameskip-v4", "pong").with_scales(
        load("atari-human-random")
    )
    scales = results.scales.aligned(results.task_names)
    assert scales.reference.tolist() == [1668.7, 14.6, 14.6]
    assert results.tasks == ("Space Invaders", "PongNoFrameskip-v4", "pong")
    assert results.notes == (
        "2 task names were recognised as Atari games, for example 'PongNoFrameskip-v4' as 'pong'.",
    )


def test_a_scale_of_the_same_name_goes_before_one_of_the_same_game():
    scales = Scales([TaskScale("pong", random=1.0), TaskScale("Pong", random=2.0)])
    assert scales.aligned(["Pong", "pong", "PONG"]).random.tolist() == [2.0, 1.0, 1.0]
    assert scales.lookup("Pong").random == 2.0


def test_tasks_without_a_scale_are_named():
    notes = results_on("pong", "chess", "go").with_scales(load("atari-human-random")).notes
    assert notes == ("2 of 3 tasks have no scale: 'chess', 'go'.",)


def test_a_reference_no_better_than_random_is_named_when_scales_are_attached():
    scales = Scales([TaskScale("Video Pinball", random=20.0, reference=10.0)])
    notes = results_on("video_pinball").with_scales(scales).notes
    assert any("no better than random on 'video_pinball'" in note for note in notes)


def test_scales_for_another_measure_are_not_used_silently():
    notes = results_on("pong").with_scales(Scales([TaskScale("pong", measure="win")])).notes
    assert notes == (
        "No scale is for a measure of these results: scales are of 'win', results have 'score'.",
    )


def test_the_direction_of_the_first_scale_holds_for_scores_of_a_later_one():
    scales = Scales([TaskScale("t", direction="lower"), TaskScale("t", random=10.0, reference=2.0)])
    aligned = scales.aligned(["t"], needs=["random", "reference"])
    assert aligned.sign.tolist() == [-1.0]
    assert aligned.inverted == ()

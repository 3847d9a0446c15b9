"""Which games can be played, which are refused and how, and which are for tuning."""

from __future__ import annotations

import pytest

import examiner.arena.environments.games as games
from examiner.arena import (
    TRAINING_GAMES,
    UNSAFE_GAMES,
    Job,
    check_job,
    game_split,
    game_variant,
    game_variants,
    playable_game,
    playable_games,
)
from examiner.messages import InputError

pytest.importorskip("ale_py")


def test_the_training_games_are_the_five_of_bellemare_and_others():
    assert TRAINING_GAMES == ("asterix", "beam_rider", "freeway", "seaquest", "space_invaders")
    assert [game_split(game) for game in ("Beam Rider", "ALE/Seaquest-v5")] == ["train", "train"]
    assert game_split("montezuma_revenge") == "test"


def test_playable_games_are_those_that_gymnasium_offers_for_one_player():
    gymnasium = pytest.importorskip("gymnasium")
    import ale_py

    gymnasium.register_envs(ale_py)
    offered = {name for name in gymnasium.registry if name.startswith("ALE/")}
    assert {playable_game(name) for name in offered} == set(playable_games())


@pytest.mark.parametrize("game", UNSAFE_GAMES)
def test_unsafe_games_are_refused_by_name_and_never_loaded(game, monkeypatch):
    def loaded():
        raise AssertionError("an emulator was made")

    monkeypatch.setattr(games, "ale_package", loaded)
    for refused in (playable_game, game_variants, game_variant):
        with pytest.raises(InputError, match=f"'{game}' cannot be played") as error:
            refused(game)
        assert "'venture'" in str(error.value)  # all valid ones are listed
    with pytest.raises(InputError, match=r"cannot be played"):
        check_job(Job("random", "random", game=game))


def test_unknown_games_are_refused_with_a_hint_and_the_whole_list():
    with pytest.raises(
        InputError, match=r"Unknown Atari game 'pogn'. Did you mean 'pong'?"
    ) as error:
        playable_game("pogn")
    assert all(repr(game) in str(error.value) for game in playable_games())


def test_unknown_modes_and_difficulties_are_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"'breakout' has no mode 5. It has 0, 4, 8, 12"):
        game_variant("breakout", mode=5)
    with pytest.raises(InputError, match=r"'breakout' has no difficulty 2. It has 0, 1"):
        game_variant("breakout", difficulty=2)
    with pytest.raises(InputError, match=r"has no mode 5"):
        check_job(Job("random", "random", game="breakout", mode=5))


@pytest.mark.slow
def test_there_are_1090_variants():
    variants = [game_variants(game) for game in playable_games()]
    assert sum(len(one.modes) * len(one.difficulties) for one in variants) == 1090
    assert all(one.default_mode in one.modes for one in variants)
    assert all(one.default_difficulty in one.difficulties for one in variants)

"""Protocols: what the papers say, what hashes see, what is refused, how deviations are told."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from examiner.arena import PROTOCOLS, Protocol, deviations, plan
from examiner.arena import protocol as named_protocol
from examiner.arena.protocol import SETTINGS
from examiner.datasets import load
from examiner.messages import InputError

OTHER_VALUES = {
    "sticky_probability": 0.1,
    "training_ends_at": "life loss",
    "action_set": "minimal",
    "frame_skip": 4,
    "screens": "pooled",
    "max_episode_frames": None,
    "max_start_no_ops": 30,
    "max_frame_skip": 7,
    "starts": ("pong: NOOP*60 FIRE",),
    "mode": 1,
    "difficulty": 1,
    "training_frames": 1_000_000,
    "report_shares": (1.0,),
    "window_episodes": 10,
    "evaluation_episodes": 30,
}


def test_the_default_protocol_is_that_of_the_protocol_paper():
    protocol = Protocol()
    assert protocol == PROTOCOLS["machado-2018"]
    assert protocol.sticky_probability == 0.25  # section 4.2
    assert protocol.training_ends_at == "game over"  # section 2, episode termination
    assert protocol.action_set == "full"
    assert protocol.max_episode_frames == 5 * 60 * 60  # five minutes at 60 frames a second
    assert protocol.max_start_no_ops == 0
    assert protocol.evaluation_episodes == 0  # section 3: performance during training
    assert protocol.window_episodes == 100
    assert protocol.report_frames == (10_000_000, 50_000_000, 100_000_000, 200_000_000)


def test_the_deterministic_protocol_differs_in_stickiness_alone():
    assert replace(PROTOCOLS["deterministic"], sticky_probability=0.25) == Protocol()


def test_mnih_2015_tells_learners_of_lost_lives_and_evaluates_whole_games():
    protocol = PROTOCOLS["mnih-2015"]
    assert protocol.training_ends_at == "life loss"
    assert (protocol.sticky_probability, protocol.max_start_no_ops) == (0.0, 30)
    assert (protocol.evaluation_episodes, protocol.max_episode_frames) == (30, 18_000)


def test_atari_100k_is_a_hundred_thousand_decisions():
    protocol = PROTOCOLS["atari-100k"]
    assert protocol.training_frames / protocol.frame_skip == 100_000


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_preset_has_its_name_and_a_citation_with_a_year(name):
    assert PROTOCOLS[name].name == name
    assert any(year in PROTOCOLS[name].source for year in ("2013", "2015", "2018", "2020", "2024"))


def test_presets_have_different_hashes():
    assert len({protocol.hash for protocol in PROTOCOLS.values()}) == len(PROTOCOLS)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_changes_the_hash_and_is_told_as_a_deviation(setting):
    changed = replace(Protocol(), **{setting: OTHER_VALUES[setting]})
    assert changed.hash != Protocol().hash
    (told,) = deviations(changed)
    assert (told.setting, told.value) == (setting, OTHER_VALUES[setting])
    assert told.reference == getattr(Protocol(), setting)
    assert told.meaning


def test_names_and_sources_change_neither_hash_nor_equality():
    named = Protocol(name="mine", source="nobody")
    assert named == Protocol()
    assert named.hash == Protocol().hash


def test_all_fields_but_name_and_source_are_settings():
    assert set(SETTINGS) == {one.name for one in fields(Protocol)} - {"name", "source"}


def test_a_protocol_survives_json():
    for protocol in PROTOCOLS.values():
        stored = json.loads(json.dumps(protocol.to_dict()))
        assert Protocol.from_dict(stored) == protocol
        assert Protocol.from_dict(stored).hash == protocol.hash


def test_report_points_scale_with_the_budget():
    assert Protocol(training_frames=200_000).report_frames == (10_000, 50_000, 100_000, 200_000)


def test_a_protocol_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Protocol().frame_skip = 4  # type: ignore[misc]


def test_a_preset_with_a_change_says_so_in_its_name():
    assert named_protocol("mnih-2015", frame_skip=4).name == "mnih-2015"
    assert named_protocol("mnih-2015", frame_skip=5).name == "mnih-2015, changed"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"sticky_probability": 1.5},
            "The protocol's sticky_probability is '1.5'. Give a probability between 0 and 1.",
        ),
        ({"sticky_probability": float("nan")}, "sticky_probability is 'nan'"),
        ({"frame_skip": 0}, "The protocol's frame_skip is '0'. Give a whole number of at least 1."),
        ({"frame_skip": 4.0}, "frame_skip is '4.0'"),
        ({"max_episode_frames": -1}, "max_episode_frames is '-1'"),
        (
            {"screens": "mixed"},
            "screens is 'mixed'. Give one of 'last', 'averaged', 'pooled'.",
        ),
        ({"action_set": "all"}, "action_set is 'all'. Give one of 'full', 'minimal'."),
        (
            {"training_ends_at": "death"},
            "is 'death'. Give one of 'game over', 'life loss'.",
        ),
        ({"report_shares": (0.5, 0.25)}, "Give rising shares"),
        ({"report_shares": ()}, "Give rising shares"),
        ({"report_shares": (0.5, 1.5)}, "Give rising shares"),
        ({"report_shares": 1.0}, "Give rising shares"),
        ({"window_episodes": True}, "window_episodes is 'True'"),
        ({"sticky": 0.1}, "Unknown setting of a protocol 'sticky'. Known: .*'sticky_probability'"),
    ],
)
def test_impossible_settings_are_refused_by_name(changes, said):
    with pytest.raises(InputError, match=said):
        named_protocol("machado-2018", **changes)


def test_whole_numbers_and_fractions_of_the_same_value_have_one_hash():
    assert Protocol(sticky_probability=0).hash == Protocol(sticky_probability=0.0).hash
    assert Protocol(report_shares=(1,)).hash == Protocol(report_shares=(1.0,)).hash


def test_what_was_played_before_a_setting_was_there_keeps_its_hash():
    played = set(load("atari-arena").column("protocol"))
    assert played == {plan("atari-arena").protocol.hash}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_frame_skip": 2}, "at least the frame skip, 5"),
        ({"starts": ["NOOP*60"]}, "game: ACTION"),
        ({"starts": ["pong: jump"]}, "game: ACTION"),
    ],
)
def test_skips_and_starts_that_cannot_be_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        Protocol(**changes)

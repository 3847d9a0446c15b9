"""Every data set has a file and a card, and the card tells the truth about the file."""

import hashlib
import pickle
import sys
from dataclasses import fields
from importlib.resources import files
from typing import get_args, get_overloads, get_type_hints

import pytest

from examiner.datasets import DATASETS, Card, card, load
from examiner.datasets.card import card_fields
from examiner.datasets.load import data_bytes, data_frame
from examiner.messages import InputError
from examiner.results import Classification, Results, Scales

NAMES = sorted(DATASETS)
ROOM = files("examiner.datasets")


def stems(folder: str, suffix: str) -> set[str]:
    return {
        entry.name.removesuffix(suffix)
        for entry in ROOM.joinpath(folder).iterdir()
        if not entry.name.startswith("__")
    }


def test_every_data_set_has_a_card_and_a_file_and_nothing_else_is_shipped():
    assert stems("cards", ".toml") == set(DATASETS)
    assert {card(name).file for name in DATASETS} == {
        entry.name for entry in ROOM.joinpath("data").iterdir()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_card_has_exactly_the_fields_of_a_card_and_none_is_empty(name):
    written = card_fields(name)
    assert set(written) == {field.name for field in fields(Card)} - {"name"}
    assert all(written.values())
    assert isinstance(written["year"], int)
    assert all(isinstance(written[key], list) for key in ("changed", "notes"))


@pytest.mark.parametrize(
    ("altered", "message"),
    [
        ({"year": "old"}, r"year is 'old'\. Give a whole number"),
        ({"yaer": 1}, r"Unknown key 'yaer'"),
    ],
)
def test_a_card_that_is_written_wrongly_is_refused_by_what_is_wrong(altered, message, monkeypatch):
    fields_of = card_fields
    monkeypatch.setattr(
        sys.modules[Card.__module__], "card_fields", lambda name: fields_of(name) | altered
    )
    with pytest.raises(InputError, match=message):
        card("gvgai-plays")


@pytest.mark.parametrize("name", NAMES)
def test_the_checksum_on_the_card_is_that_of_the_file(name):
    assert hashlib.sha256(data_bytes(card(name).file)).hexdigest() == card(name).sha256


@pytest.mark.parametrize("name", NAMES)
def test_a_card_explains_exactly_the_columns_of_its_file(name):
    assert list(card(name).columns) == data_frame(card(name).file).columns


@pytest.mark.parametrize("name", NAMES)
def test_load_returns_the_type_the_card_names(name):
    assert type(load(name)).__name__ == card(name).returns


def test_what_type_checkers_are_told_agrees_with_the_cards():
    told = {}
    for overload in get_overloads(load):
        hints = get_type_hints(overload)
        told |= dict.fromkeys(get_args(hints["name"]), hints["return"])
    assert told
    assert {name: kind.__name__ for name, kind in told.items()} == {
        name: card(name).returns for name in told
    }


@pytest.mark.parametrize("name", NAMES)
def test_loading_twice_gives_equal_data(name):
    assert load(name) == load(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_caveats_of_a_card_travel_with_the_data(name):
    data = load(name)
    if not isinstance(data, (Scales, Classification)):
        assert data.notes == card(name).notes
    if isinstance(data, Results):
        assert (data.provenance.source, data.provenance.format) == (name, "bundled")


@pytest.mark.parametrize("function", [load, card])
def test_an_unknown_data_set_is_refused_with_the_known_ones(function):
    with pytest.raises(InputError) as error:
        function("atari-dqn")
    assert str(error.value) == (
        "Unknown data set 'atari-dqn'. Did you mean 'atari-dqn-family'? Known: "
        + ", ".join(repr(name) for name in NAMES)
        + "."
    )


@pytest.mark.parametrize("function", [load, card])
@pytest.mark.parametrize("name", [None, 7, ["atari-dqn-family"]])
def test_a_name_that_is_no_text_is_refused_like_an_unknown_one(function, name):
    with pytest.raises(InputError, match="Unknown data set"):
        function(name)


def test_the_table_of_data_sets_is_read_only():
    with pytest.raises(TypeError):
        DATASETS["mine"] = DATASETS["gvgai-plays"]


@pytest.mark.parametrize("name", NAMES)
def test_a_card_shows_its_source_changes_and_notes(name):
    shown = " ".join(repr(card(name)).split())
    told = [card(name).source, card(name).licence, *card(name).changed, *card(name).notes]
    assert all(" ".join(text.split()) in shown for text in told)


def test_a_card_in_a_notebook_shows_its_title_and_what_each_column_means():
    html = card("atari-human-random")._repr_html_()
    assert "Random and human reference scores of 57 Atari games" in html
    assert "mean score of a professional human games tester" in html
    assert "<li>Licence: " in html


@pytest.mark.parametrize("name", NAMES)
def test_a_card_survives_pickling_and_cannot_be_changed(name):
    original = card(name)
    assert pickle.loads(pickle.dumps(original)) == original
    assert len({original, card(name)}) == 1
    with pytest.raises(TypeError):
        original.columns["mine"] = "x"
    with pytest.raises(AttributeError):
        original.title = "mine"

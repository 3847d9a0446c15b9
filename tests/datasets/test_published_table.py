"""PublishedTable: immutable columns of equal length, given to other libraries unchanged."""

import math
import pickle

import pytest

from examiner.datasets import PublishedTable, load
from examiner.messages import InputError

BITS = {"game": ("freeway", "chase"), "rank": (1, 2), "bits": (1.89, None)}


def test_tables_of_the_same_name_and_columns_are_equal_whatever_their_notes():
    table = PublishedTable("bits", BITS)
    assert table == PublishedTable("bits", BITS, notes=("Only two games.",))
    assert hash(table) == hash(PublishedTable("bits", dict(BITS)))
    assert table != PublishedTable("more bits", BITS)
    assert table != PublishedTable("bits", BITS | {"bits": (1.89, 0.2)})


def test_columns_cannot_be_changed_through_the_table_or_what_it_was_made_from():
    source = {"bits": [1.0, 2.0]}
    table = PublishedTable("bits", source)
    source["bits"].append(3.0)
    assert len(table) == 2
    with pytest.raises(TypeError):
        table.columns["bits"] = ()
    with pytest.raises(AttributeError):
        table.name = "other"


def test_columns_of_different_length_are_refused_by_name():
    with pytest.raises(InputError) as error:
        PublishedTable("bits", {"game": ("freeway",), "bits": (1.0, 2.0)})
    assert str(error.value) == (
        "The column 'game' has 1 values and 'bits' has 2. Give each column one value a row."
    )


def test_a_table_without_columns_is_refused():
    with pytest.raises(InputError, match="The table 'bits' has no columns"):
        PublishedTable("bits", {})


def test_a_table_goes_to_polars_and_comes_back_the_same():
    table = load("atari-irt-2017-table1")
    assert PublishedTable(table.name, table.to_polars().to_dict(as_series=False)) == table


def test_a_missing_number_is_none_in_a_dictionary_and_nan_in_pandas():
    table = PublishedTable("bits", BITS)
    assert table.to_dict() == {"game": ["freeway", "chase"], "rank": [1, 2], "bits": [1.89, None]}
    frame = table.to_pandas()
    assert list(frame.columns) == ["game", "rank", "bits"]
    assert math.isnan(frame["bits"][1])


def test_a_table_survives_pickling_with_its_notes():
    table = load("gvgai-information-2019")
    copy = pickle.loads(pickle.dumps(table))
    assert (copy, copy.notes) == (table, table.notes)


def test_a_table_says_its_name_rows_and_columns():
    assert repr(PublishedTable("bits", BITS)) == (
        "PublishedTable 'bits': 2 rows of 'game', 'rank', 'bits'"
    )


def test_a_table_in_a_notebook_shows_notes_escapes_names_and_says_what_is_left_out():
    html = PublishedTable("bits", {"game": ("<b>",) * 70}, notes=("Careful.",))._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "<li>Careful.</li>" in html
    assert "and 10 more rows" in html

"""Records come back as they were, and anything else is refused by the path of what is wrong."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from examiner.messages import InputError
from examiner.validation import Axes, Bounds, ShapeError, Wanted, from_record, settle, to_record


class Ending(Enum):
    DONE = "It is done."
    OPEN = "It goes on."


class Point(NamedTuple):
    name: str
    at: float = 0.0


@dataclass(frozen=True)
class Sheet:
    names: Annotated[tuple[str, ...], Axes("tasks")]
    values: Annotated[NDArray[np.float64], Axes("tasks")]
    table: Annotated[NDArray[np.float64], Axes("agents", "tasks")]
    ending: Ending
    kind: Literal["none", "log"] = "none"
    share: Annotated[float, Bounds(0.0, 1.0, "a share between 0 and 1")] = 0.5
    points: tuple[Point, ...] = ()
    by_name: Mapping[str, float] = field(default_factory=dict)
    success: float | Literal["reference"] | None = None
    count: int = 3
    sure: bool = True


SHEET = Sheet(
    ("pong", "qbert"),
    np.array([1 / 3, math.nan]),
    np.array([[0.1, -math.inf], [math.inf, 2.0], [0.0, 0.0]]),
    Ending.OPEN,
    "log",
    0.25,
    (Point("a", 0.1), Point("b")),
    {"pong": 7.0},
    "reference",
)


def stored():
    return json.loads(json.dumps(to_record(SHEET), allow_nan=False))


def test_a_record_comes_back_with_every_bit():
    back = from_record(Sheet, stored())
    assert np.array_equal(back.values, SHEET.values, equal_nan=True)
    assert np.array_equal(back.table, SHEET.table)
    assert not back.table.flags.writeable
    for name in (
        "names",
        "ending",
        "kind",
        "share",
        "points",
        "by_name",
        "success",
        "count",
        "sure",
    ):
        assert getattr(back, name) == getattr(SHEET, name)


def test_parts_with_a_default_may_be_missing():
    small = {"names": ["t"], "values": [1], "table": [[2]], "ending": "DONE"}
    assert from_record(Sheet, small).count == 3


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("names", None, "names is missing. Give a list."),
        ("names", ["pong", 3], "names[1] is '3'. Give text."),
        ("values", [1.0, 2.0, 3.0], "values has 3 entries. Give 2, as many as names."),
        ("values", [1.0, "high"], "values[1] is 'high'. Give a number."),
        ("values", [1.0, True], "values[1] is 'True'. Give a number."),
        ("table", [[1.0, 2.0], [3.0]], "table is ragged or too large. Give lists of equal length."),
        ("table", [1.0, 2.0], "table is nested 1 deep. Give agents of tasks."),
        ("ending", "LATER", "ending is 'LATER'. Give one of 'DONE', 'OPEN'."),
        ("kind", "sqrt", "kind is 'sqrt'. Give one of 'none', 'log'."),
        ("share", 1.5, "share is '1.5'. Give a share between 0 and 1."),
        ("points", [{"at": 1.0}], "points[0].name is missing. Give text."),
        ("by_name", {"pong": []}, "by_name.pong is '[]'. Give a number."),
        ("success", [1], "success is '[1]'. Give a number or one of 'reference'."),
        ("count", 2.5, "count is '2.5'. Give a whole number."),
        ("share", 10**400, "share has too many digits. Give a number below 1e308."),
        ("sure", 1, "sure is '1'. Give true or false."),
    ],
)
def test_what_is_wrong_is_named_by_its_path(part, value, sentence):
    with pytest.raises(InputError) as refused:
        from_record(Sheet, stored() | {part: value})
    assert str(refused.value) == sentence


@pytest.mark.parametrize("digits", [20, 5000])
def test_whole_numbers_of_too_many_digits_are_refused(digits):
    for value in (10**digits, [10**digits]):
        with pytest.raises(InputError, match=r"Give a whole number"):
            from_record(Sheet, stored() | {"count": value})


@dataclass(frozen=True)
class Rota:
    seeds: Annotated[
        Annotated[int, Bounds(1, 9)] | Annotated[tuple[int, ...], Bounds(1)],
        Wanted("how many there are, up to 9, or a list such as [0, 1]"),
    ]
    name: Annotated[str, Bounds(1, words="a name")] = "x"
    count: Annotated[int, Bounds(1, words="a whole number of at least 1")] = 1
    share: float = 1.0


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (
            {"seeds": 10},
            "The rota's seeds is '10'. Give how many there are, up to 9, or a list such as [0, 1].",
        ),
        (
            {"seeds": []},
            "The rota's seeds is '[]'. Give how many there are, up to 9, or a list such",
        ),
        ({"seeds": [0, "x"]}, "The rota's seeds[1] is 'x'. Give a whole number."),
        ({}, "The rota's seeds is missing. Give how many there are, up to 9, or a list such as"),
        ({"seeds": 1, "name": ""}, "The rota's name is ''. Give a name."),
        ({"seeds": 1, "name": 3}, "The rota's name is '3'. Give a name."),
        (
            {"seeds": 1, "count": 1.5},
            "The rota's count is '1.5'. Give a whole number of at least 1.",
        ),
        (
            {"seeds": 1, "count": 10**20},
            "The rota's count is '100000000000000000000'. Give a whole number up",
        ),
        ({"seeds": 1, "nmae": "y"}, "Unknown key of the rota 'nmae'. Did you mean 'name'?"),
        (3, "The rota is '3'. Give a table of names and values."),
    ],
)
def test_what_is_wanted_is_said_as_it_is_declared_and_of_which_record(record, sentence):
    with pytest.raises(InputError) as refused:
        from_record(Rota, record, strict=True, what="rota")
    assert str(refused.value).startswith(sentence)


@dataclass(frozen=True)
class Settled(Rota):
    def __post_init__(self):
        settle(self, "rota")


def test_parts_given_in_python_are_checked_and_typed_like_those_of_a_record():
    made = Settled([0, 1], share=1)
    assert made.seeds == (0, 1) and isinstance(made.share, float)
    with pytest.raises(InputError, match=r"The rota's share is 'much'\. Give a number"):
        Settled(1, share="much")


def test_unknown_keys_are_refused_where_that_is_strict():
    record = stored() | {"coutn": 3}
    assert from_record(Sheet, record).count == 3
    with pytest.raises(InputError, match=r"Unknown key 'coutn'\. Did you mean 'count'"):
        from_record(Sheet, record, strict=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(part=st.sampled_from(list(Sheet.__dataclass_fields__)), value=JSON)
def test_any_other_value_is_taken_or_refused_in_words(part, value):
    try:
        from_record(Sheet, stored() | {part: value})
    except InputError as problem:
        assert "Give" in str(problem)


@given(value=JSON)
def test_any_other_record_is_refused_in_words(value):
    with pytest.raises(InputError, match="Give"):
        from_record(Sheet, value)


class Mixed(NamedTuple):
    """Alternatives whose order matters, and long lists of plain values."""

    number_or_text: float | str
    text_or_number: str | float
    whole_or_number: int | float
    number_or_whole: float | int
    many: tuple[str | int | float | bool | None, ...] = ()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("inf", (math.inf, "inf")),
        ("low", ("low", "low")),
        (2.5, (2.5, 2.5)),
    ],
)
def test_the_first_alternative_that_fits_is_taken(value, read):
    record = {"number_or_text": value, "text_or_number": value}
    made = from_record(Mixed, record | {"whole_or_number": 2, "number_or_whole": 2})
    assert (made.number_or_text, made.text_or_number) == read
    assert (type(made.whole_or_number), type(made.number_or_whole)) == (int, float)


def test_plain_values_of_long_lists_are_kept_and_others_refused_by_their_index():
    record = {"number_or_text": 1, "text_or_number": 1, "whole_or_number": 1, "number_or_whole": 1}
    plain = ["a", 1, 2.5, True, None, "inf"]
    made = from_record(Mixed, record | {"many": plain}).many
    assert made == tuple(plain) and [type(one) for one in made] == [type(one) for one in plain]
    with pytest.raises(ShapeError, match=r"many\[1\]"):
        from_record(Mixed, record | {"many": ["a", {}]})
    assert from_record(Mixed, record | {"many": [10**30]}).many == (1e30,)

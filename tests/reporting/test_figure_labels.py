"""Names in figures: cut, distinct, and never markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examiner.messages import InputError
from examiner.reporting.prose import cut, distinct_labels, plain


@given(st.lists(st.text(min_size=1), unique=True), st.integers(12, 60))
def test_labels_of_different_names_stay_different(names, limit):
    labels = distinct_labels(names, limit)
    assert len(set(labels)) == len(names)


@given(st.text(), st.integers(8, 60))
def test_a_cut_name_is_never_longer_than_the_limit(name, limit):
    assert 0 < len(cut(name, limit)) <= limit


def test_names_that_differ_only_in_the_tail_keep_their_tails():
    labels = distinct_labels(["x" * 5000 + "1", "x" * 5000 + "2"], limit=20)
    assert [label[-1] for label in labels] == ["1", "2"]


def test_names_that_differ_only_in_the_middle_are_numbered():
    labels = distinct_labels(["x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50], limit=20)
    assert [label[-4:] for label in labels] == ["(#1)", "(#2)"]


def test_a_name_that_looks_like_a_numbered_label_is_still_told_apart():
    long = ["x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50]
    taken = distinct_labels(long, limit=20)[0]
    assert len(set(distinct_labels([*long, taken], limit=20))) == 3


def test_marks_that_turn_the_direction_of_writing_are_left_out():
    assert cut("\u202eabc\u2066", 20) == "abc"


def test_a_blank_name_has_a_label_one_can_see():
    assert cut(" \n", 20) == "(blank)"


@given(st.text())
def test_no_name_is_markup_or_mathematics_to_plotly(name):
    assert not set("<>$") & set(plain(name))


def test_labels_too_short_to_tell_apart_are_refused():
    with pytest.raises(InputError, match=r"too short\. Allow 8"):
        distinct_labels(["a"], limit=3)

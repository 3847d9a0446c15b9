"""Tables of answers: columns of any name, masks and order, types of empty tables, and copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.answers import Column, Row, Scalar, StoredAnswer, Table
from examiner.messages import InputError

AWKWARD = (
    "columns",
    "level",
    "values",
    "caption",
    "score_unit",
    "keys",
    "take",
    "records",
    "sorted_by",
    "to_dict",
    "to_csv",
    "of",
    "declared",
    "_values",
    "_table",
    "kind",
    "name",
)


def awkward() -> Table:
    columns = [Column("task", "name", "Task")]
    columns += [Column(name, "number", name) for name in AWKWARD]
    values = {name: [float(at), 0.5] for at, name in enumerate(AWKWARD)}
    return Table.of(columns, {"task": ["pong", "alien"], **values}, level=0.9, caption="Two tasks")


def of_every_kind(rows: int) -> Table:
    kinds = ("name", "number", "count", "flag", "text", "words")
    values = {"name": "a", "number": 0.5, "count": 2, "flag": True, "text": "b", "words": ["c"]}
    return Table.of(
        [Column(f"a_{kind}", kind, kind) for kind in kinds],
        {f"a_{kind}": [values[kind]] * rows for kind in kinds},
    )


def test_columns_may_have_the_names_of_attributes_of_a_table() -> None:
    table = awkward()
    assert table.level == 0.9 and table.caption == "Two tasks" and table.keys == ("task",)
    for at, name in enumerate(AWKWARD):
        assert table.values(name).tolist() == [at, 0.5]
        assert table["pong"][name] == at
        assert table.take([1]).values(name).tolist() == [0.5]
        assert table.sorted_by(name, descending=True)[0]["task"] == ("pong" if at else "alien")


def test_columns_with_names_of_attributes_go_through_every_format() -> None:
    table = awkward()
    answer = StoredAnswer("examiner.example/1", "Two tasks.", {"tasks": table})
    assert list(table.to_polars().columns) == list(table.to_pandas().columns) == ["task", *AWKWARD]
    assert table.to_csv().splitlines()[0] == ",".join(("task", *AWKWARD))
    for text in (table.to_latex(), table.to_markdown(), repr(answer), answer._repr_html_()):
        assert "pong" in text
    assert StoredAnswer.from_json(answer.to_json()).to_dict() == answer.to_dict()
    assert pickle.loads(pickle.dumps(table)).to_dict() == table.to_dict()


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_rows_and_tables_are_copied(copied) -> None:
    row = Row({"agent": "dqn", "mean": 0.5})
    assert copied(row) == row and copied(row).mean == 0.5
    table = of_every_kind(2)
    assert copied(table).to_dict() == table.to_dict() and copied(table).columns == table.columns
    with pytest.raises(ValueError, match="read-only"):
        copied(table).a_number[0] = 1.0


def test_an_unknown_column_is_refused_by_name() -> None:
    with pytest.raises(
        AttributeError, match=r"no column 'levle'\. Did you mean 'level'\? Its columns"
    ):
        awkward().values("levle")


def test_a_mask_keeps_the_rows_where_it_is_true() -> None:
    table = awkward()
    assert table.take(np.array([False, True])).task == ("alien",)
    assert table.take([True, False]).task == ("pong",)
    assert table.take([1, 0]).task == ("alien", "pong")
    assert len(table.take([])) == 0
    with pytest.raises(
        InputError, match=r"A mask of 3 values cannot choose from 2 rows\. Give one"
    ):
        table.take([True, False, True])


def test_names_are_sorted_with_numbers_as_numbers() -> None:
    names = ["task 10", "task 2", "a"]
    table = Table.of([Column("task", "name", "Task")], {"task": names})
    assert table.sorted_by("task").task == ("a", "task 2", "task 10")
    assert table.sorted_by("task", descending=True).task == ("task 10", "task 2", "a")


def test_numbers_are_sorted_with_what_was_not_observed_last() -> None:
    table = Table.of([Column("bits", "number", "Bits")], {"bits": [np.nan, 1.0, 2.0]})
    for descending, first in ((False, 1.0), (True, 2.0)):
        ordered = table.sorted_by("bits", descending=descending).bits
        assert ordered[0] == first and np.isnan(ordered[2])


def test_empty_tables_keep_their_types_in_data_frames() -> None:
    empty, full = of_every_kind(0), of_every_kind(1)
    assert empty.to_polars().schema == full.to_polars().schema
    expected = [pl.String, pl.Float64, pl.Int64, pl.Boolean, pl.String, pl.List(pl.String)]
    assert empty.to_polars().dtypes == expected
    assert empty.to_pandas().dtypes.equals(full.to_pandas().dtypes)
    counts = Table.of([Column("n", "count", "N")], {"n": [1, float("nan")]})
    assert counts.to_polars().dtypes == [pl.Float64] and counts.to_pandas()["n"].isna()[1]


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "1",
        "[]",
        "not json",
        "",
        "[" * 100_000,
        "{}",
        '{"schema": "examiner.example/1", "columns": {}}',
        '{"schema": 1, "headline": "a", "notes": [], "settings": {}, "columns": {}}',
        '{"schema": "a", "headline": "a", "notes": 1, "settings": {}, "columns": {}}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": []}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": {"t": 1}}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": {"t": 1}, "t": []}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": {"t": {"columns": '
        '{"x": {"kind": "odd", "meaning": "x"}}, "level": 0.9, "caption": ""}}, "t": []}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": {"t": {"columns": '
        '{"x": {"kind": "number", "meaning": "x"}}, "level": 0.9, "caption": ""}}, "t": [{"x": "y"}]}',
        '{"schema": "a", "headline": "a", "notes": [], "settings": {}, "columns": {"scalars": 1}}',
    ],
)
def test_what_is_no_stored_answer_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(
        InputError, match=r"(?s)^This is no stored answer: .*`to_json` wrote\.$"
    ) as problem:
        StoredAnswer.from_json(text)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("content", [None, 1, "a", [1]])
def test_what_is_no_object_is_refused_in_one_sentence(content: object) -> None:
    with pytest.raises(InputError, match=r"^This is no stored answer: .* is no object\. Give what"):
        StoredAnswer.from_dict(content)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["schema", "headline", "notes", "settings", "columns", "scalars"])
def test_tables_and_scalars_cannot_have_the_names_of_other_parts_in_json(name: str) -> None:
    with pytest.raises(InputError, match=rf"cannot be called '{name}' in JSON, .* Rename it"):
        StoredAnswer("examiner.example/1", "One.", {name: of_every_kind(1)}).to_json()
    with pytest.raises(InputError, match=rf"cannot be called '{name}' in JSON"):
        StoredAnswer("examiner.example/1", "One.", {}, {name: Scalar(1, "One")}).to_json()


def test_a_table_and_a_scalar_of_one_name_are_refused_in_json() -> None:
    answer = StoredAnswer("examiner.x/1", "One.", {"a": of_every_kind(1)}, {"a": Scalar(1, "One")})
    with pytest.raises(InputError, match="cannot be called 'a' in JSON"):
        answer.to_json()


def test_counts_that_were_not_observed_come_back_from_json() -> None:
    counts = Table.of([Column("n", "count", "N")], {"n": [1, float("nan")]})
    answer = StoredAnswer("examiner.x/1", "One.", {"counts": counts})
    stored = StoredAnswer.from_json(answer.to_json())
    assert stored.to_dict() == answer.to_dict() and stored.to_csv() == answer.to_csv()
    assert repr(stored) == repr(answer) and stored.tables["counts"].n.dtype == np.float64


def test_sets_in_settings_are_lists_in_json() -> None:
    answer = StoredAnswer("examiner.x/1", "One.", stored_settings={"tasks": {"b", "a"}, "n": {2}})
    assert answer.to_dict()["settings"] == {"tasks": ["a", "b"], "n": [2]}
    assert StoredAnswer.from_json(answer.to_json()).to_dict() == answer.to_dict()


def test_a_description_keeps_how_columns_were_interpreted_in_json() -> None:
    answer = ex.Results.from_numpy([[1.0, 2.0]]).describe()
    stored = StoredAnswer.from_json(answer.to_json())
    assert stored.to_dict() == answer.to_dict()
    assert list(stored.tables) == list(answer.tables)
    assert len(stored.tables["column_meanings"]) == len(answer.column_meanings)


def test_the_information_of_no_tasks_is_refused() -> None:
    results = ex.Results.from_numpy([[[0.0, 2.0]], [[9.0, 10.0]]])
    with pytest.raises(InputError, match=r"There are no tasks to measure .* Name at least one\."):
        ex.information.gain(results, [])


def test_a_similarity_analysis_is_pickled() -> None:
    results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(5, 4)))
    answer = ex.information.similarity(results)
    for copied in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert copied.to_dict() == answer.to_dict()

"""Results: keys and their defaults, what is kept, what is refused, how it shows itself."""

import pickle

import numpy as np
import polars as pl
import pytest

import examiner as ex

BARE = {"agent": ["a", "a", "b"], "task": ["t", "t", "t"], "score": [1.0, 2.0, 3.0]}


def test_without_run_and_trial_repeats_are_numbered_and_that_is_said() -> None:
    with pytest.warns(ex.ExaminerWarning, match="is taken as one run, up to 2"):
        results = ex.Results.from_dict(BARE)
    assert results.column("trial") == [0, 1, 0]
    assert results.column("run") == [0, 1, 0]
    assert len(results.notes) == 1
    counts = results.counts()
    assert (counts["runs"], counts["trials"]) == (2, 1), "a trial is an attempt inside a run"


def test_a_seed_stands_for_the_run() -> None:
    results = ex.Results.from_dict({**BARE, "seed": [11, 12, 11]})
    assert results.column("run") == [11, 12, 11]
    assert results.notes == ("There is no 'run' column: each 'seed' is taken as one run.",)
    assert results.column("seed") == [11, 12, 11]


def test_without_a_run_each_trial_is_a_run() -> None:
    results = ex.Results.from_dict({**BARE, "trial": [4, 5, 4]})
    assert results.column("run") == [4, 5, 4]
    assert results.notes == ("There is no 'run' column: each trial is taken as one run.",)


def test_with_runs_trials_are_numbered_within_them() -> None:
    results = ex.Results.from_dict({**BARE, "run": ["x", "x", "x"]})
    assert results.column("trial") == [0, 1, 0]


def test_a_complete_table_needs_no_notes() -> None:
    results = ex.Results.from_dict({**BARE, "run": [0, 0, 0], "trial": [0, 1, 0]})
    assert results.notes == ()


@pytest.mark.parametrize(
    "keys", [{}, {"run": [3, 4, 3]}, {"trial": [0, 1, 0]}, {"run": ["x", "y", "x"]}]
)
def test_keys_become_small_and_codes_point_to_names(keys: dict) -> None:
    results = ex.Results.from_dict({**BARE, **keys})
    assert results.agent_codes.dtype == np.uint8
    assert [results.agents[code] for code in results.agent_codes] == BARE["agent"]
    assert [results.tasks[code] for code in results.task_codes] == BARE["task"]


def test_several_measures_and_attributes_are_kept() -> None:
    results = ex.Results.from_dict(
        {**BARE, "win": [1, 0, 1], "ticks": [9, 8, 7], "note": ["x", "y", None]}
    )
    assert results.measures == ("score", "win")
    assert results.attributes == ("ticks", "note")
    assert results.with_measures("ticks").measure().tolist() == [9.0, 8.0, 7.0]
    assert set(results.with_measures("ticks").attributes) == {"score", "win", "note"}


def test_items_are_tuples_and_labels_are_only_labels() -> None:
    table = {
        "agent": ["a"] * 3,
        "task": ["t", "t", "u"],
        "level": [1, 2, 1],
        "run": [0] * 3,
        "score": [1, 2, 3],
    }
    results = ex.Results.from_dict(table)
    assert results.tasks == ("t.1", "t.2", "u.1")
    assert results.items == (("t", 1), ("t", 2), ("u", 1))
    assert results.task_names == ("t", "t", "u")
    assert results.item == ("level",)


def test_folding_items_renumbers_trials_within_runs() -> None:
    table = {
        "agent": ["a"] * 4,
        "task": ["t"] * 4,
        "level": [1, 2, 1, 2],
        "run": [0, 0, 1, 1],
        "trial": [0] * 4,
        "score": [1, 2, 3, 4],
    }
    folded = ex.Results.from_dict(table).with_items()
    assert folded.tasks == ("t",)
    assert folded.column("trial") == [0, 1, 0, 1]
    assert "level" in folded.attributes
    assert "folded into the trials" in folded.provenance.steps[-1]


def test_ambiguous_labels_are_told_apart() -> None:
    table = {
        "agent": ["a"] * 2,
        "task": ["t", "t.1"],
        "level": ["1.2", "2"],
        "run": [0] * 2,
        "score": [1, 2],
    }
    assert len(set(ex.Results.from_dict(table).tasks)) == 2


def test_missing_values_are_not_observed_and_never_zero() -> None:
    results = ex.Results.from_dict({**BARE, "run": [0, 1, 0], "score": [1.0, None, float("nan")]})
    np.testing.assert_array_equal(results.measure(), [1.0, np.nan, np.nan])
    assert results.counts()["missing_cells"] == 1  # agent b was never observed on t


def test_keeping_rows_keeps_the_order_of_names() -> None:
    results = ex.Results.from_numpy([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]], agents=["c", "a", "b"])
    chosen = results.where(results.agent_codes != 1)
    assert chosen.agents == ("c", "b")
    assert chosen.tasks == results.tasks == ("task 1", "task 2")
    with pytest.raises(ex.InputError, match="No rows are left"):
        results.where(np.zeros(len(results), dtype=bool))


def test_names_without_any_value_are_left_out_and_said() -> None:
    with pytest.warns(
        ex.ExaminerWarning, match="1 agent without any observed value is left out: 'b'"
    ):
        results = ex.Results.from_numpy([[1.0, 2.0], [np.nan, np.nan]], agents=["a", "b"])
    assert results.agents == ("a",)


def test_results_cannot_be_changed() -> None:
    results = ex.Results.from_dict(BARE)
    with pytest.raises(AttributeError):
        results.agents = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        results.agent_codes[0] = 1
    frame = results.to_polars()
    frame[0, "score"] = 99.0
    assert results.measure()[0] == 1.0


def test_equality_is_of_content() -> None:
    one = ex.Results.from_dict(BARE)
    assert one == ex.Results.from_dict(BARE)
    assert one != ex.Results.from_dict({**BARE, "score": [1.0, 2.0, 4.0]})
    assert one != one.with_scales(ex.results.Scales([ex.results.TaskScale("t", random=0.0)]))
    assert one != "something else"


def test_results_travel_to_worker_processes() -> None:
    results = ex.load("atari-dqn-family")
    assert pickle.loads(pickle.dumps(results)) == results
    classification = ex.load("atari-typology")
    assert pickle.loads(pickle.dumps(classification)) == classification


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agent": ["a", None, "b"]}, r"Row 2 has no agent \(1 row without one\)"),
        ({"agent": ["a", "", "b"]}, "Row 2 has an empty agent name"),
        ({"run": [0, None, 0]}, "Row 2 has no run"),
        ({"score": ["1", "two", "3"]}, "The score of row 2 is 'two', not a number"),
        ({"score": [1.0, float("inf"), 3.0]}, "The score of row 2 is inf"),
        ({"score": [None, None, None]}, "holds only missing values"),
        ({"trial": [0, 0, 0]}, r"Row 2 repeats the key of row 1: agent 'a', task 't'"),
    ],
)
def test_bad_tables_are_refused_in_words(change: dict, message: str) -> None:
    with pytest.raises(ex.InputError, match=message):
        ex.Results.from_dict({**BARE, **change})


def test_missing_columns_list_what_was_found() -> None:
    with pytest.raises(ex.InputError, match=r"no column 'task'; found 'agent', 'score'"):
        ex.Results.from_dict({"agent": ["a"], "score": [1]})
    with pytest.raises(
        ex.InputError, match=r"No measure found among the columns 'agent', 'task', 'x'"
    ):
        ex.Results.from_dict({"agent": ["a"], "task": ["t"], "x": [1]})
    with pytest.raises(ex.InputError, match="no rows"):
        ex.Results.from_dict({"agent": [], "task": [], "score": []})


def test_the_notebook_view_escapes_every_name() -> None:
    name = "<script>alert(1)</script>"
    results = ex.Results.from_numpy([[1.0]], [name], [name]).with_notes(name)
    for view in (results._repr_html_(), ex.responses(results)._repr_html_()):
        assert "<script>" not in view and "&lt;script&gt;" in view


def test_far_apart_seeds_and_many_keys_are_coded() -> None:
    rng = np.random.default_rng(0)
    table = {
        "agent": [f"a{number}" for number in range(50)],
        "task": ["t"] * 50,
        "run": rng.integers(0, 2**62, 50),
        "trial": rng.integers(0, 2**62, 50),
        "level": rng.integers(0, 2**62, 50),
        "score": rng.normal(size=50),
    }
    results = ex.Results.from_dict(table)
    assert len(results.tasks) == 50
    assert results.counts()["runs"] == 1


def test_mixed_numbers_and_text_in_an_attribute_are_kept() -> None:
    results = ex.Results.from_dict({**BARE, "size": [1, 2.5, None], "tag": [1, "x", None]})
    assert results.column("size") == [1.0, 2.5, None]
    assert results.column("tag") == ["1", "x", None]


def test_pandas_is_read_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**BARE, "kind": pandas.Categorical(["x", "y", "x"])})
    frame["score"] = frame["score"].astype("Float64")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    results = ex.read(frame)
    assert results.measure().tolist() == [1.0, 2.0, 3.0]
    assert results.column("kind") == ["x", "y", "x"]
    assert results.to_pandas()["agent"].tolist() == BARE["agent"]
    with pytest.raises(ex.InputError, match="pip install pyarrow"):
        results.to_arrow()


def test_a_pandas_index_of_names_is_a_column() -> None:
    pandas = pytest.importorskip("pandas")
    wide = pandas.DataFrame({"pong": [1.0, 2.0]}, index=pandas.Index(["a", "b"], name="agent"))
    assert ex.read(wide).agents == ("a", "b")


def test_lazy_frames_are_collected() -> None:
    assert ex.read(pl.DataFrame(BARE).lazy()).agents == ("a", "b")


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ex.InputError, match="Cannot read a int"):
        ex.read(7)


def test_runs_far_apart_are_told_apart_in_the_type_they_are_kept_in():
    runs = (-32768, 255, -32257)
    rows = [(f"a{n}", f"t{m}", run) for n in range(10) for m in range(12) for run in runs]
    names = dict(zip(("agent", "task", "run"), map(list, zip(*rows, strict=True)), strict=True))
    results = ex.Results.from_dict(names | {"score": [1.0] * len(rows)})
    assert len(np.unique(results.run_numbers)) == len(rows)


@pytest.mark.parametrize("seed", [5_000_000_000, 2**63 + 1, -(2**40)])
def test_seeds_of_any_size_are_described(seed):
    table = {
        "agent": ["a", "a", "b"],
        "task": ["t"] * 3,
        "run": [seed, 7, 7],
        "score": [1.0, 2.0, 3.0],
    }
    assert "2 runs" in repr(ex.Results.from_dict(table))

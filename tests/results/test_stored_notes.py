"""Parquet files whose note was altered are read or refused in a sentence, whatever was altered."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.results import Attributes, Scales, TaskScale
from mutations import altered, parts

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

ODD: tuple[Any, ...] = (
    *(None, True, -1, 2.5, 10**30, "", "agent", "run", "nowhere", "∞" * 3),
    *([], ["score", "score"], [3], [None], [["x"]], {}, {"task": 1}, {"names": 3}, [{}]),
)


def full_results() -> ex.Results:
    table = {
        "agent": ["a", "a", "b", "b"],
        "task": ["t", "u", "t", "u"],
        "level": [0, 1, 0, 1],
        "score": [1.0, 2.0, None, 4.0],
        "win": [1, 0, 1, 1],
        "colour": ["red", "blue", None, "red"],
        "log": [[1], [2], [3], [4]],
    }
    results = ex.Results.from_dict(table, scales=Scales([TaskScale("t", random=0.5, reference=2)]))
    results = results.with_attributes(
        Attributes.from_dicts("task", [{"task": "t", "cost": 2, "group": "x"}])
    )
    results = results.with_attributes(Attributes.from_dicts("agent", [{"agent": "a", "cpu": 1.5}]))
    return results.with_notes("Odd.").with_items()


def without(note: Any, path: tuple[Any, ...]) -> Any:
    note = copy.deepcopy(note)
    inner = note
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return note


def variants(note: Any) -> Iterator[Any]:
    for path in parts(note):
        for value in ODD:
            yield altered(note, path, value)
        if path:
            yield without(note, path)


def stored(path: Path) -> tuple[pl.DataFrame, Any]:
    return pl.read_parquet(path), json.loads(pl.read_parquet_metadata(path)["examiner"])


def write(path: Path, frame: pl.DataFrame, note: Any) -> None:
    frame.write_parquet(path, metadata={"examiner": json.dumps(note)})


@pytest.mark.slow
def test_results_with_an_altered_note_are_read_or_refused(tmp_path: Path) -> None:
    path = full_results().save(tmp_path / "results.parquet")
    frame, note = stored(path)
    outcomes = {"read": 0, "refused": 0}
    for wrong in variants(note):
        write(path, frame, wrong)
        for load in (ex.Results.load, ex.read):
            try:
                made = load(path)
                made.with_attributes(Attributes("task")).describe()
                made.task_attributes.aligned(made.tasks, "cost")
                outcomes["read"] += 1
            except ex.InputError as problem:
                assert "not foreseen" not in str(problem), (wrong, problem)
                assert "results.parquet" in str(problem), problem
                outcomes["refused"] += 1
    assert outcomes["read"] > 100 and outcomes["refused"] > 500


@pytest.mark.parametrize("kind", ["counts", "values"])
def test_matrices_with_an_altered_note_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    cells = [[1, 0, np.nan], [1, 1, 0]] if kind == "counts" else [[0.5, 0.25, np.nan], [1, 0, 3]]
    matrix = ex.ResponseMatrix.from_array(cells, ["a", "b"], ["t", "u", "v"])
    path = matrix.save(tmp_path / "matrix.parquet")
    frame, note = stored(path)
    for wrong in variants(note):
        write(path, frame, wrong)
        try:
            assert ex.ResponseMatrix.load(path) == matrix
        except ex.InputError as problem:
            assert "matrix.parquet" in str(problem), problem


def test_a_matrix_whose_table_was_altered_is_refused(tmp_path: Path) -> None:
    path = ex.ResponseMatrix.from_array([[0.5, 2.0]]).save(tmp_path / "matrix.parquet")
    frame, note = stored(path)
    for wrong in (
        frame.drop("value"),
        frame.drop("agent"),
        frame.with_columns(value=pl.lit("x")),
        frame.with_columns(value=pl.lit(float("inf"))),
        frame.with_columns(task=pl.lit("x")),
        frame.cast({"task": pl.String}),
    ):
        write(path, wrong, note)
        with pytest.raises(ex.InputError, match=r"matrix\.parquet"):
            ex.ResponseMatrix.load(path)


def test_a_damaged_note_is_said_with_the_part_that_is_wrong(tmp_path: Path) -> None:
    path = full_results().save(tmp_path / "results.parquet")
    frame, note = stored(path)
    write(path, frame, altered(note, ("scales", 0, "random"), "low"))
    for load in (ex.Results.load, ex.read):
        with pytest.raises(
            ex.InputError,
            match=r"results\.parquet.*note .* is damaged \(scales\[0\]\.random is 'low'.*Write the file",
        ):
            load(path)


def test_notes_of_earlier_versions_are_read(tmp_path: Path) -> None:
    results = full_results()
    path = results.save(tmp_path / "results.parquet")
    frame, note = stored(path)
    for kind in ("tasks", "agents"):
        note[kind].pop("kind", None)
    write(path, frame, note)
    assert ex.Results.load(path) == results
    bare = {key: note[key] for key in ("schema", "item", "measures", "scales")}
    history = {"source": "x", "format": "y", "steps": [], "notes": []}
    write(path, frame, bare | {"provenance": history})
    loaded = ex.Results.load(path)
    assert (loaded.provenance.source, loaded.agent_attributes.kind) == ("x", "agent")

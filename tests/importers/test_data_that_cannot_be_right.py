"""Data whose reading would lose or invent something: refused in one sentence, or read with a note."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import examiner as ex
from examiner.importers import archives
from examiner.messages import ExaminerWarning

KEYS = {"agent": ["a", "b"], "task": ["t", "t"]}


@pytest.mark.parametrize("lines", ['{"a":{"t1":1,"t1":5}}', '{"a":{"t1":1},\n"b":{"t2":3,"t2":4}}'])
def test_an_object_with_a_key_twice_is_refused_by_name(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "scores.json"
    path.write_text(lines)
    with pytest.raises(ex.InputError, match=r"has the key 't[12]' twice in one object"):
        ex.read(path, tasks_are="columns")


COMPLEX = np.array([[1 + 2j, 3]])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ex.read({"dqn": COMPLEX}), "The array of 'dqn' holds complex numbers."),
        (lambda: ex.Results.from_runs({"dqn": COMPLEX}), "The array of 'dqn' holds complex"),
        (lambda: ex.Results.from_numpy(COMPLEX), "The array holds complex numbers. Give real"),
        (lambda: ex.read(KEYS | {"score": COMPLEX[0]}), "Column 'score' holds complex numbers"),
        (lambda: ex.read(KEYS | {"score": [1j, 2]}), "Column 'score' holds complex numbers"),
        (lambda: ex.read(pd.DataFrame(KEYS | {"score": [1j, 2]})), "'score' holds complex numbers"),
        (
            lambda: ex.read({"dqn": [[1, 2], [3]]}),
            "The array of 'dqn' has rows of different lengths",
        ),
        (lambda: ex.Results.from_numpy([[1, 2], [3]]), "The array has rows of different lengths"),
        (lambda: ex.Results.from_numpy([["x", "y"]]), "The array holds text. Give real numbers."),
        (lambda: ex.read({"dqn": [["1", "2"]]}), "The array of 'dqn' holds text."),
        (lambda: ex.read({"dqn": np.empty((2, 0))}), "The table has no rows."),
        (
            lambda: ex.read(KEYS | {"score": [1]}),
            "The columns have different lengths: 'agent' has 2 rows, 'task' has 2 rows, 'score' has 1 row.",
        ),
        (lambda: ex.read({}), "The table has no columns."),
        (lambda: ex.Results.from_dict({}), "The table has no columns."),
    ],
)
def test_values_that_are_no_scores_are_refused_in_a_sentence(build, message: str) -> None:
    with pytest.raises(ex.InputError, match=re.escape(message)):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: ex.read({"a\ud800": [[1, 2]]}),
        lambda: ex.Results.from_numpy([[1.0]], tasks=["a\ud800"]),
        lambda: ex.read({"agent": ["a\ud800", "b"], "task": ["t", "t"], "score": [1, 2]}),
        lambda: ex.read({"agent": ["a", "b"], "a\ud800": [1, 2]}),
    ],
)
def test_a_lone_surrogate_is_refused_with_its_name(build) -> None:
    with pytest.raises(ex.InputError, match=r"'a\\ud800'.* not valid Unicode \(a lone surrogate\)"):
        build()


def test_none_in_an_array_was_not_observed() -> None:
    assert ex.read({"a": [[None, 2.0]], "b": [[1, 3]]}).measure().tolist() == [2, 1, 3]


def test_an_agent_without_runs_is_noted() -> None:
    with pytest.warns(ExaminerWarning) as warned:
        results = ex.read({"a": np.empty((0, 3)), "b": np.ones((2, 3))})
    notes = [str(warning.message) for warning in warned]
    assert notes == ["1 agent without any observed value is left out: 'a'."]
    assert results.agents == ("b",)


def test_axes_that_a_file_does_not_name_end_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "curves.npz"
    np.savez(path, dqn=np.ones((10, 3)))
    with pytest.raises(ex.InputError, match=r"shape \(10, 3\).*`--axes runs,tasks`; others"):
        ex.read(path)
    assert ex.read(path, axes="runs,tasks").counts()["runs"] == 10
    np.savez(path, dqn=np.ones((10, 3)), tasks=np.array(["x", "y", "z"]))
    assert ex.read(path).tasks == ("x", "y", "z")


def test_two_rows_of_one_name_on_a_leaderboard_end_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    rows = [f"m{place},t,0.{place},2024-0{place}" for place in range(1, 8)]
    path.write_text("\n".join(["model,task,score,date", *rows, "m1,t,0.9,2024-09"]))
    message = r"2 of 8 rows have the same agent and task .*differ in 'date'.*`--run date`"
    with pytest.raises(ex.InputError, match=message):
        ex.read(path)
    assert ex.read(path, run="date").counts()["runs"] == 2


def _board_with_a_second_row(**others: list[object]) -> dict[str, list[object]]:
    """Eight models, of which two have a second row; its other columns as given."""
    models = [*(f"m{number}" for number in range(1, 9)), "m1", "m2"]
    top1 = [70.1, 71.3, 72.2, 73.9, 74.4, 75.8, 76.5, 77.7, 70.9, 71.8]
    return {"model": models, "task": ["imagenet"] * 10, "top1": top1, **others}


def test_a_second_row_of_a_model_at_another_setting_is_no_run() -> None:
    table = _board_with_a_second_row(img_size=[224, 224, 288, 224, 288, 224, 288, 224, 288, 288])
    message = r"4 of 10 rows have the same agent.*'img_size' \(224, 288\).*--where img_size=224"
    with pytest.raises(ex.InputError, match=message):
        ex.read(table, measure="top1")
    assert ex.read(table, measure="top1", where="img_size=224").counts()["agents"] == 5
    assert ex.read(table, measure="top1", run="img_size").counts()["runs"] == 2


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("run", [1] * 8 + [2, 2]),
        ("seed", [42] * 8 + [43, 43]),
        ("attempt_number", [0] * 8 + [1, 1]),
        ("global_step", [1000] * 8 + [2000, 2000]),
        ("top5", [90.1, 91.2, 90.4, 93.3, 92.5, 95.1, 94.8, 93.7, 90.2, 91.9]),
        ("accuracy", [0.7, 0.8, 0.8, 0.7, 0.8, 0.7, 0.7, 0.8, 0.8, 0.7]),
    ],
)
def test_a_second_row_with_another_run_step_or_measure_is_a_run(
    name: str, values: list[object]
) -> None:
    results = ex.read(_board_with_a_second_row(**{name: values}), measure="top1")
    assert len(results) == 10


def test_headers_of_arrays_are_parsed_in_one_thread_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in range(12):
        np.save(tmp_path / f"TD3_Ant-v1_{run}.npy", np.ones(5))
    busy, together = threading.Lock(), []
    parse = np.lib.format.read_array_header_1_0

    def watched(stream: object) -> object:
        alone = busy.acquire(blocking=False)
        together.append(not alone)
        try:
            threading.Event().wait(0.01)
            return parse(stream)
        finally:
            if alone:
                busy.release()

    monkeypatch.setattr(archives.np.lib.format, "read_array_header_1_0", watched)
    with pytest.warns(ExaminerWarning):
        ex.read(tmp_path)
    assert len(together) >= 12 and not any(together)


@pytest.mark.parametrize(
    "columns",
    [
        {"agent": ["a", "b"], "task": ["t1", "t1"], "score": [1, 2]},
        {"agent": ["a", "b"], "task": ["t1", "t2"], "score": [1, 2]},
        {"agent": [1, 2], "task": [1, 2], "score": [0.1, 0.2]},
        {"agent": ["a", "b"], "t1": [1, 2], "t2": [3, None]},
        {"score": [1, 2, 3], "Model": ["a", "b", "c"], "game": ["pong"] * 3},
    ],
)
def test_columns_in_json_are_read_as_they_are_in_python(tmp_path: Path, columns: dict) -> None:
    path = tmp_path / "columns.json"
    for indent in (None, 1):
        path.write_text(json.dumps(columns, indent=indent))
        assert ex.read(path).to_dict() == ex.read(columns).to_dict()


def test_columns_of_different_lengths_in_json_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "columns.json"
    path.write_text(json.dumps({"agent": ["a", "b"], "task": ["t", "t"], "score": [1]}))
    with pytest.raises(ex.InputError, match=r"columns.json': The columns have different lengths"):
        ex.read(path)


@pytest.mark.parametrize("nothing", ["[]", "null", "{}", " [ ]\n"])
def test_a_json_file_without_results_is_refused_as_such(tmp_path: Path, nothing: str) -> None:
    path = tmp_path / "empty.json"
    path.write_text(nothing)
    for named in (None, "json"):
        with pytest.raises(ex.InputError, match=r"The file '.*empty.json' holds no results, only"):
            ex.read(path, format=named)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", r'{"a\ud800": {"Pong": 1}, "b": {"Pong": 2}}'),
        ("x.json", r'{"a\ud800": [[1, 2]], "b": [[1, 2]]}'),
        ("x.json", r'[{"agent": "a\ud800", "task": "t", "score": 1}]'),
        ("x.json", r'{"agent": ["a\ud800"], "task": ["t"], "score": [1]}'),
        *(
            ("x.jsonl", f'{{"agent": "{name}", "task": "t", "score": 1}}\n' * 2)
            for name in (r"a\ud800", r"a\uDFFF", r"\ud83d\ude00\ude00")
        ),
    ],
)
def test_a_lone_surrogate_in_a_file_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ex.InputError, match=r"not valid Unicode \(a lone surrogate\)"):
        ex.read(tmp_path / name)


def test_a_pair_of_surrogates_is_one_character(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(r'{"agent": "\ud83d\ude00", "task": "t", "score": 1}' + "\n")
    assert ex.read(path).agents == ("\U0001f600",)

"""Arrays by agent, [runs, tasks], as rliable takes them, are results everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

RUNS = {"dqn": np.array([[1.0, 2.0], [3.0, np.nan]]), "random": [[0.0, 0.5]]}


def test_arrays_become_runs_of_agents_and_nan_is_not_observed() -> None:
    results = ex.read(RUNS)
    assert results.agents == ("dqn", "random") and results.counts()["runs"] == 2
    assert results.counts()["rows"] == 5
    assert ex.scores.aggregate(results).agents.mean.tolist() == [2.0, 0.25]


def test_functions_take_what_read_takes(tmp_path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("agent,task,score\na,t,1\nb,t,2\n")
    frame = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1.0, 2.0]}
    assert (
        ex.scores.aggregate(path).agents.mean.tolist()
        == ex.scores.aggregate(frame).agents.mean.tolist()
    )
    assert ex.scores.aggregate(RUNS).agents.agent == ("dqn", "random")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (
            {"a": np.zeros((2, 3, 4))},
            r"Give each agent \[runs, tasks\]; of \[runs, tasks, checkpoints\]",
        ),
        ({"a": np.zeros((2, 3)), "b": np.zeros((2, 4))}, "Give every agent the same tasks"),
    ],
)
def test_arrays_of_other_shapes_are_refused(arrays, sentence) -> None:
    with pytest.raises(ex.InputError, match=sentence):
        ex.read(arrays)


def test_rows_are_chosen_by_a_list_of_true_and_false() -> None:
    results = ex.Results.from_numpy([[1.0, 2.0]])
    assert results.where([True, False]).tasks == ("task 1",)
    for wrong in ([1, 0], [True], [[True, False]]):
        with pytest.raises(ex.InputError, match="2 times true or false, one per row"):
            results.where(wrong)

"""Rows of one agent and task that differ by a setting are refused, repeats of them are runs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import examiner as ex

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def table(**conditions: list[Any]) -> dict[str, list[Any]]:  # Any: values of any column
    """Two agents, three tasks, a row for each combination of some conditions."""
    names = ["agent", "task", *conditions]
    rows = list(itertools.product(["a", "b"], ["t", "u", "v"], *conditions.values()))
    columns = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    return columns | {"score": [(7 * n**2 % 101) / 100 for n in range(len(rows))]}


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        (
            {"shots": [0, 2, 8]},
            r"differ in 'shots' \(0, 2, 8\).*`--item task,shots`.*--run shots.*--where shots=0",
        ),
        ({"split": ["train", "test"]}, r"differ in 'split' \(train, test\)"),
        ({"split": ["x", "y"], "shots": [0, 5]}, r"differ in 'split', 'shots'.*task,split,shots"),
        ({"split": ["x", "y"], "copy": [0, 1]}, r"differ in 'split' \(x, y\)"),
        ({"seed": [7, 9], "split": ["x", "y"]}, r"differ in 'split' \(x, y\)"),
    ],
)
def test_settings_are_not_averaged(conditions, said):
    with pytest.raises(ex.InputError, match=said):
        ex.read(table(**conditions))


def test_settings_become_tasks_or_runs_as_they_are_named():
    columns = table(shots=[0, 2, 8])
    assert len(ex.read(columns, item=("shots",)).tasks) == 9
    assert ex.read(columns, run="shots").counts()["runs"] == 3


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"fold": [3, 5]},
        {"copy": [1, 2, 3]},
        {"seed": [42, 1337]},
        {"level": [0, 4]},
    ],
)
def test_repeats_and_items_are_read(conditions):
    assert len(ex.read(table(**conditions))) == 6 * len(next(iter(conditions.values()), [0]))


def test_a_column_that_differs_by_chance_is_no_setting():
    columns = table(fold=[1, 2])
    columns["node"] = [f"gpu{n % 5}" for n in range(len(columns["agent"]))]
    assert len(ex.read(columns)) == 12


def test_a_table_of_checkpoints_has_one_run_per_agent_and_task():
    results = ex.read(table(checkpoint=[1000, 5000, 143000]))
    assert results.counts()["runs"] == 1
    final = ex.reduce(results)
    assert final.measure().tolist() == table(checkpoint=[1000, 5000, 143000])["score"][2::3]


def test_an_item_column_that_belongs_to_agents_is_asked_about():
    columns = {
        "model": ["gpt", "llama", "gpt", "llama"],
        "task": ["t", "t", "u", "u"],
        "mode": ["closed", "open", "closed", "open"],
        "score": [1.0, 2.0, 3.0, 4.0],
    }
    with pytest.raises(
        ex.InputError, match=r"Each agent has one value of 'mode' \(closed, open\).*`--item task`"
    ):
        ex.read(columns)
    assert ex.read(columns, item=()).tasks == ("t", "u")
    assert len(ex.read(columns, item=("mode",)).tasks) == 4

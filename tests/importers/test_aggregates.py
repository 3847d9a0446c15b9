"""Rows and columns that sum up the others are excluded with a note; agents and tasks never are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")
TASKS = ("pong", "venture", "alien", "qbert")
AGENTS = ("dqn", "ppo", "a2c", "rainbow", "iqn")


def values(decimals: int = 1) -> np.ndarray:
    return np.round(np.random.default_rng(2).uniform(0, 100, (len(AGENTS), len(TASKS))), decimals)


def wide(table: np.ndarray, tasks: tuple[str, ...], agents: tuple[str, ...] = AGENTS) -> ex.Results:
    return ex.read(pl.DataFrame({"agent": agents, **dict(zip(tasks, table.T, strict=True))}))


@pytest.mark.parametrize("name", ["Average", "MEAN", "avg.", "Overall"])
def test_a_column_of_printed_means_is_excluded_and_said(name: str):
    table = values()
    results = wide(np.column_stack([table, np.round(table.mean(axis=1), 1)]), (*TASKS, name))
    assert results.tasks == tuple(sorted(TASKS))
    assert f"The task '{name}' is the mean of the others and is excluded." in results.notes


@pytest.mark.parametrize(
    ("name", "statistic"), [("Total", np.sum), ("sum", np.sum), ("Median", np.median)]
)
def test_totals_and_medians_are_excluded_too(name: str, statistic):
    table = values()
    column = np.round(statistic(table, axis=1), 2)
    assert wide(np.column_stack([table, column]), (*TASKS, name)).tasks == tuple(sorted(TASKS))


def test_rows_and_columns_of_means_are_excluded_together(tmp_path: Path):
    table = values()
    table = np.column_stack([table, np.round(table.mean(axis=1), 1)])
    table = np.vstack([table, np.round(table.mean(axis=0), 1)])
    results = wide(table, (*TASKS, "Average"), (*AGENTS, "mean"))
    assert (len(results.agents), len(results.tasks)) == (5, 4)
    again = ex.read(ex.write(results, tmp_path / "tidy.csv"))
    assert again.counts() == results.counts() and not again.notes


def test_a_tidy_table_with_a_task_called_average_loses_it_too():
    table = values()
    rows = [
        (agent, task, value)
        for agent, line in zip(AGENTS, table, strict=True)
        for task, value in zip((*TASKS, "Average"), (*line, round(line.mean(), 1)), strict=True)
    ]
    results = ex.read(pl.DataFrame(rows, schema=["agent", "task", "score"], orient="row"))
    assert results.tasks == tuple(sorted(TASKS))


def test_means_computed_before_rounding_are_found():
    exact = np.random.default_rng(5).uniform(0, 100, (5, 4))
    table = np.column_stack([np.round(exact, 1), np.round(exact.mean(axis=1), 1)])
    assert wide(table, (*TASKS, "Average")).tasks == tuple(sorted(TASKS))


def test_a_mean_under_any_other_name_is_excluded_where_chance_cannot_explain_it():
    table = values(2)
    results = wide(np.column_stack([table, table.mean(axis=1)]), (*TASKS, "Ø"))
    assert "The task 'Ø' is the mean of the others and is excluded." in results.notes


def test_a_task_called_average_that_is_none_is_kept_and_said():
    table = np.column_stack([values(), np.linspace(1, 90, 5)])
    results = wide(table, (*TASKS, "Average"))
    assert "Average" in results.tasks
    assert any("no mean, sum or median of the others" in note for note in results.notes)


@pytest.mark.parametrize(
    "table",
    [
        np.ones((5, 4)),
        np.repeat(np.arange(5.0)[:, None], 4, axis=1),
        np.random.default_rng(0).integers(0, 2, (5, 4)).astype(float),
        np.array([[1.0, 1], [2, 2], [3, 3], [4, 4], [5, 5]]),
        np.arange(20.0).reshape(5, 4),
    ],
    ids=["constant", "constant rows", "zeros and ones", "two equal columns", "equal steps"],
)
def test_tables_without_an_aggregate_lose_nothing(table: np.ndarray):
    names = TASKS[: table.shape[1]]
    results = wide(table, names)
    assert (len(results.agents), len(results.tasks)) == table.shape


def test_random_tables_lose_nothing_whatever_their_decimals():
    rng = np.random.default_rng(1)
    for number in range(300):
        agents, tasks = rng.integers(2, 6, 2)
        table = np.round(
            rng.normal(50, 20, (agents, 1)) + rng.normal(0, 5, (agents, tasks)), number % 3
        )
        results = wide(table, (*TASKS, "zaxxon")[:tasks], AGENTS[:agents])
        assert (len(results.agents), len(results.tasks)) == (agents, tasks)


def test_zeros_and_ones_of_a_task_called_sum_are_kept():
    table = np.random.default_rng(0).integers(0, 2, (5, 4)).astype(float)
    assert "sum" in wide(table, (*TASKS[:3], "sum")).tasks


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_whose_sums_overflow_hide_no_aggregate() -> None:
    from examiner.importers.aggregates import without_aggregates

    results = ex.Results.from_numpy(1e308 * np.where(np.eye(4) > 0, -1.0, 1.0))
    assert without_aggregates(results).tasks == results.tasks

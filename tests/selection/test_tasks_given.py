"""Tasks given by hand are judged as chosen ones are: in the same folds, with the same predictor."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.results import Results
from examiner.selection.ridge import Design, ridge_fits


@pytest.fixture(scope="module")
def results() -> Results:
    rng = np.random.default_rng(3)
    return Results.from_numpy(rng.normal(size=(14, 9)) + np.linspace(0, 2, 14)[:, None])


def predicted_by_refitting(values, truth, columns):
    """Ridge with a free intercept, learnt without each agent in turn."""
    predicted = np.empty(len(values))
    for agent in range(len(values)):
        others = np.arange(len(values)) != agent
        design = Design.of(values[others])
        z = design.values[:, columns]
        penalty = ridge_fits(design.values, truth[others], np.array([columns])).shrinkage[0]
        x = np.column_stack([np.ones(len(z)), z])
        weight = np.diag([0.0, *([len(z) * penalty] * len(columns))])
        beta = np.linalg.solve(x.T @ x + weight, x.T @ truth[others])
        new = (values[agent, columns] - design.centre[columns]) / design.unit
        predicted[agent] = beta[0] + new @ beta[1:]
    return predicted


@pytest.mark.parametrize("columns", [[2], [0, 4], [1, 3, 5, 7, 8]])
def test_each_agent_is_predicted_by_the_others_alone(results, columns):
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    found = ex.selection.judge_tasks(whole, [results.tasks[column] for column in columns])
    values = results.measure().reshape(14, 9)
    truth = values.mean(axis=1)
    predicted = predicted_by_refitting(values, truth, columns)
    row = found.row("given", len(columns))
    assert found.truth == pytest.approx(truth)
    assert found.predicted[0, 0] == pytest.approx(predicted)
    assert row.mae == pytest.approx(np.abs(predicted - truth).mean())
    spread = ((truth - truth.mean()) ** 2).sum()
    assert row.r2 == pytest.approx(1 - ((predicted - truth) ** 2).sum() / spread)


def test_all_tasks_predict_the_mean(results):
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    row = ex.selection.judge_tasks(whole, results.tasks).row("given", 9)
    assert row.r2 > 0.99 and row.kendall > 0.95 and row.cost == 9.0


def test_the_command_line_says_the_same(results, tmp_path):
    path = tmp_path / "scores.csv"
    ex.write(results, path)
    words = ["select", str(path), "--normalise", "none", "--exactly", "task 2,task 5", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    whole = ex.selection.benchmark(ex.read(path), ex.Recipe(normaliser=None))
    row = ex.selection.judge_tasks(whole, ["task 2", "task 5"]).row("given", 2)
    assert told["schema"] == "examiner.judgement/1"
    shown = told["methods"][0]
    assert (shown["mae"], shown["r2"], shown["kendall"]) == pytest.approx(
        (row.mae, row.r2, row.kendall)
    )
    assert shown["tasks"] == ["task 2", "task 5"]
    assert told["headline"].startswith("These 2 tasks predict the mean of held-out agents with R² ")
    assert told["folds"] == "leave-one-out"


def test_unknown_and_no_tasks_are_refused(results):
    with pytest.raises(ex.InputError, match=r"No task is called 'pong'\. There are 'task 1'"):
        ex.selection.judge_tasks(results, ["pong"])
    with pytest.raises(ex.InputError, match="No task is named"):
        ex.selection.judge_tasks(results, [])


def test_sets_of_a_comparison_are_those_that_are_chosen(results):
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    found = ex.selection.judge(whole, [1, 2, 5], ["covariance"])
    assert found.sets[0] == tuple(ex.selection.choose(whole, size).tasks for size in (1, 2, 5))


def test_one_size_is_judged_alike_alone_and_among_others(results):
    alone = ex.selection.select_and_judge(results, 3).judgement
    among = ex.selection.judge(results, [1, 3, 5], ["covariance"])
    for method in ("covariance", "random"):
        one, other = (dict(found.row(method, 3)) for found in (alone, among))
        assert one.pop("tasks") == other.pop("tasks") and one.pop("taken") == other.pop("taken")
        assert one == pytest.approx(other, nan_ok=True)
    assert alone.seed == among.seed == 0

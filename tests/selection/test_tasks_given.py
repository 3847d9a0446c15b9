"""Tasks given by hand: leaving an agent out in closed form is leaving it out."""

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


def left_out_by_refitting(values, truth, columns, penalty):
    """Ridge with a free intercept, learnt without each agent in turn under the same penalty."""
    z = Design.of(values).values[:, columns]
    agents, size = z.shape
    said = np.empty(agents)
    for agent in range(agents):
        others = np.arange(agents) != agent
        x = np.column_stack([np.ones(agents - 1), z[others]])
        weight = np.diag([0.0, *([agents * penalty] * size)])
        beta = np.linalg.solve(x.T @ x + weight, x.T @ truth[others])
        said[agent] = beta[0] + z[agent] @ beta[1:]
    return said


@pytest.mark.parametrize("columns", [[2], [0, 4], [1, 3, 5, 7, 8]])
def test_each_agent_is_predicted_by_the_others_alone(results, columns):
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    made = ex.selection.trial(whole, [results.tasks[column] for column in columns])
    values = results.measure().reshape(14, 9)
    truth = values.mean(axis=1)
    penalty = ridge_fits(Design.of(values).values, truth, np.array([columns])).shrinkage[0]
    said = left_out_by_refitting(values, truth, columns, penalty)
    assert made.truth == pytest.approx(truth)
    assert made.predicted == pytest.approx(said)
    assert made.error == pytest.approx(np.abs(said - truth).mean())


def test_all_tasks_tell_the_mean(results):
    made = ex.selection.trial(
        ex.selection.benchmark(results, ex.Recipe(normaliser=None)), results.tasks
    )
    assert made.r2 > 0.99 and made.kendall > 0.95 and made.cost == 9.0


def test_the_command_line_says_the_same(results, tmp_path):
    path = tmp_path / "scores.csv"
    ex.write(results, path)
    words = ["select", str(path), "--normalise", "none", "--exactly", "task 2,task 5", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    made = ex.selection.trial(
        ex.selection.benchmark(ex.read(path), ex.Recipe(normaliser=None)), ["task 2", "task 5"]
    )
    assert told["schema"] == "examiner.trial/1"
    assert (told["error"], told["kendall"]) == pytest.approx((made.error, made.kendall))


def test_unknown_and_no_tasks_are_refused(results):
    with pytest.raises(ex.InputError, match=r"No task is called 'pong'\. There are 'task 1'"):
        ex.selection.trial(results, ["pong"])
    with pytest.raises(ex.InputError, match="No task is named"):
        ex.selection.trial(results, [])


def test_sets_of_sizes_are_those_that_are_chosen(results):
    from examiner.selection.given import sets_of

    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    sets = sets_of(whole, [1, 2, 5], rng=0)
    assert sets == {size: ex.selection.choose(whole, size, rng=0).tasks for size in (1, 2, 5)}

"""One question has one number: in Python, by a command, in the report, of what was stored and reopened.

Each test asks one question in every way there is. A number that one room computes by itself would differ.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import examiner as ex
from examiner.results import Provenance

ATARI = "atari-dqn-family"
PLAYS = ("gvgai-plays", "--item", "task")


@pytest.fixture
def told(examiner):
    """What a command says with `--json`."""

    def asked(*arguments: object) -> dict[str, Any]:
        done = examiner(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return asked


@pytest.fixture
def atari() -> ex.Results:
    return ex.load(ATARI)


@pytest.fixture
def plays() -> ex.Results:
    return ex.load("gvgai-plays").with_items()


def column(section: dict[str, Any], table: int, name: str, of: str) -> dict[str, Any]:
    """A column of the n-th table of a report's section, by the name of its row."""
    shown = [block for block in section["blocks"] if block["kind"] == "table"][table]
    key, value = shown["columns"].index(of), shown["columns"].index(name)
    return {row[key]: row[value] for row in shown["rows"]}


def means_of(scores: ex.Results) -> dict[str, float]:
    agents = ex.scores.aggregate(scores).agents
    return dict(zip(agents.agent, agents.mean.tolist(), strict=True))


def section_of(results: ex.Results, key: str, **options: Any) -> dict[str, Any]:
    return ex.report(results, sections=[key], **options).to_dict()["sections"][0]


def test_how_good_is_an_agent(told, atari) -> None:
    scores = ex.normalise(atari, "human")
    here = means_of(scores)
    content = told("scores", ATARI, "--normalise", "human", "--reps", 10)
    by_command = {row["agent"]: row["mean"] for row in content["agents"]}
    assert by_command == pytest.approx(here)
    in_report = column(section_of(atari, "ranking", normalise="human"), 0, "mean", "agent")
    assert in_report == pytest.approx(here)
    recipe = ex.Recipe(normaliser="human").learn(atari)
    by_recipe = np.nanmean(recipe.values(atari), axis=1)
    assert dict(zip(atari.agents, by_recipe, strict=True)) == pytest.approx(here)


def test_how_able_is_an_agent_and_how_hard_a_task(told, plays, tmp_path) -> None:
    fit = ex.irt.fit(plays, rng=0)
    here = dict(zip(fit.abilities.agents, fit.abilities.ability, strict=True))
    hard = dict(zip(fit.items.tasks, fit.items.difficulty, strict=True))
    content = told("fit", *PLAYS, "--output", "fit.json")
    assert {row["agent"]: row["ability"] for row in content["agents"]} == pytest.approx(here)
    assert {row["task"]: row["difficulty"] for row in content["tasks"]} == pytest.approx(hard)
    opened = ex.load_saved(tmp_path / "fit.json")
    assert opened.abilities.ability == pytest.approx(fit.abilities.ability)
    in_report = column(section_of(plays, "task_table"), 0, "difficulty", "task")
    # The report tries fewer starts, and shows the most difficult.
    assert in_report == pytest.approx({task: hard[task] for task in in_report}, abs=1e-3)


def test_where_does_a_new_agent_stand(told, plays, tmp_path) -> None:
    name = plays.agents[0]
    fit = ex.irt.fit(plays.dropping(f"agent:{name}"), rng=0)
    path = ex.save(fit, tmp_path / "fit.json")
    new = plays.keeping(f"agent:{name}")
    here = ex.irt.place(new, fit)[0]
    again = ex.irt.place(new, ex.load_saved(path))[0]
    by_command = told("place", *PLAYS, "--keep", f"agent:{name}", "--fit", path)["agents"][0]
    for placed in (again.ability, by_command["ability"]):
        assert placed == pytest.approx(here.ability)
    assert by_command["ability_low"] == pytest.approx(here.ability_low)
    # An examination that gives every task estimates what place estimates.
    last = ex.adaptive.examine(fit, new, rng=0)
    asked = told("examine", "--fit", path, "--oracle", *PLAYS, "--agent", name, "--most", 1000)
    assert last.ability == pytest.approx(here.ability, abs=1e-6)
    assert last.error == pytest.approx(here.ability_error, rel=1e-6)
    for key, number in (
        ("ability", here.ability),
        ("ability_error", here.ability_error),
        ("ability_low", here.ability_low),
    ):
        assert asked[key] == pytest.approx(number, rel=1e-5)


def test_how_many_bits_does_a_task_tell(told, plays) -> None:
    here = ex.information.gain(plays)
    known = {row.task: row.bits for row in here.tasks if np.isfinite(row.bits)}
    content = told("information", *PLAYS, "--reps", 0)
    by_command = {row["task"]: row["bits"] for row in content["tasks"] if row["bits"] is not None}
    assert by_command == pytest.approx(known)
    curve = next(
        block for block in section_of(plays, "information")["blocks"] if block["kind"] == "figure"
    )
    chosen = ex.information.best_set(plays, len(curve["data"]["tasks"]))
    assert list(chosen.tasks.task) == curve["data"]["tasks"]
    assert [row["task"] for row in content["chosen"]] == curve["data"]["tasks"]


def test_which_few_tasks_are_enough(told, atari, tmp_path) -> None:
    here = ex.selection.select(atari, 4, rng=0)
    content = told("select", ATARI, "--size", 4, "--output", "few.json")
    assert [row["task"] for row in content["tasks"]] == list(here.tasks.task)
    new = atari.keeping(f"agent:{atari.agents[2]}")
    predicted = ex.selection.place(new, here)[0].predicted
    opened = ex.load_saved(tmp_path / "few.json")
    assert ex.selection.place(new, opened)[0].predicted == pytest.approx(predicted)
    by_command = told("place", ATARI, "--keep", f"agent:{atari.agents[2]}", "--with", "few.json")
    assert by_command["agents"][0]["predicted"] == pytest.approx(predicted)


def test_what_is_in_a_table(told, plays) -> None:
    content = told("describe", *PLAYS)
    here = plays.describe().to_dict()
    for key in ("agents", "tasks", "runs", "trials", "rows", "missing_cells", "measure_ranges"):
        assert content[key] == here[key]
    whole = ex.report(plays, sections=["reading"]).to_dict()
    assert (whole["agents"], whole["missing_cells"]) == (here["agents"], here["missing_cells"])


@pytest.mark.parametrize("normaliser", ["rank", "min-max", "z-score", "points"])
def test_how_does_an_agent_compare_on_one_task(told, atari, normaliser, tmp_path) -> None:
    scores = ex.normalise(atari, normaliser)
    here = means_of(scores)
    content = told("scores", ATARI, "--normalise", normaliser, "--reps", 10)
    by_command = {row["agent"]: row["mean"] for row in content["agents"]}
    assert list(by_command) == list(here), "in one order"
    assert by_command == pytest.approx(here)
    recipe = ex.Recipe(normaliser=normaliser).learn(atari)
    by_recipe = np.nanmean(recipe.values(atari), axis=1)
    assert dict(zip(atari.agents, by_recipe, strict=True)) == pytest.approx(here)
    whole = ex.selection.benchmark(atari, ex.Recipe(normaliser=normaliser))
    few = ex.selection.select(whole, 3, "spread", rng=0)
    stored = ex.load_saved(ex.save(few, tmp_path / "few.json"))
    np.testing.assert_allclose(stored.recipe.values(atari), few.recipe.values(atari))


def test_how_good_an_agent_is_at_the_end_of_its_training(told) -> None:
    """A training log is reduced before it is averaged, whoever averages it."""
    log = ex.load("atari-arena")
    assert log.provenance.training
    reduced = ex.reduce(log)
    content = told("scores", "atari-arena", "--aggregate", "mean", "--reps", 10)
    by_command = [row["mean"] for row in content["agents"]]
    for results in (log, reduced):
        assert list(ex.scores.aggregate(results).agents.mean) == pytest.approx(by_command)
    bits = told("information", "atari-arena", "--reps", 0)["tasks"]
    here = {row.task: row.bits for row in ex.information.gain(log).tasks}
    assert {row["task"]: row["bits"] for row in bits} == pytest.approx(here)
    found = ex.scores.intervals(log, "mean", rng=0, reps=50).value
    np.testing.assert_allclose(found, ex.scores.intervals(reduced, "mean", rng=0, reps=50).value)
    z = ex.scores.aggregate(ex.normalise(log, "min-max")).agents.mean
    np.testing.assert_allclose(z, ex.scores.aggregate(ex.normalise(reduced, "min-max")).agents.mean)


def test_how_often_an_agent_succeeds_at_the_end_of_its_training(told) -> None:
    """A trial is a run's value, not each of its episodes."""
    log = ex.load("atari-arena")
    content = told(
        "scores", "atari-arena", "--success", "human", "--aggregate", "mean", "--reps", 10
    )
    by_command = [row["mean"] for row in content["agents"]]
    marked = ex.scores.mark_success(log, "human")
    assert list(ex.scores.aggregate(marked).agents.mean) == pytest.approx(by_command)
    matrix = ex.responses(log, "human")
    solved = dict(zip(matrix.agents, np.nanmean(matrix.to_numpy(), axis=1), strict=True))
    assert solved == pytest.approx(means_of(marked))
    assert matrix.trials.max() == 5, "five seeds"


def test_which_aggregate_suits_a_training_log_of_wins() -> None:
    """A run's last episodes are won by a share: what suits is chosen for that, not for zeros and ones."""
    wins = np.random.default_rng(0).integers(0, 2, size=(2, 3, 200)).astype(float)
    of = [(agent, task, trial) for agent in "ab" for task in "tuv" for trial in range(200)]
    columns = dict(zip(("agent", "task", "trial"), map(list, zip(*of, strict=True)), strict=True))
    log = ex.Results.from_dict(
        {**columns, "run": [0] * len(of), "win": wins.ravel()},
        provenance=Provenance(training=True),
    )
    raw, reduced = (ex.scores.rank(results, rng=0, reps=20) for results in (log, ex.reduce(log)))
    assert raw.aggregates.aggregates == reduced.aggregates.aggregates

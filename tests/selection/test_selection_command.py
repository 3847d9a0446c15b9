"""`select`, `compare` and `place --with`: one JSON object, stored recipes, one sentence for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import examiner as ex
from examiner.cli import app

AGENTS, TASKS = 14, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw scores of 14 agents, and of a new one, on tasks with scales of their own."""
    path = tmp_path_factory.mktemp("selection")
    rng = np.random.default_rng(0)
    ability = np.append(np.linspace(-1.5, 1.5, AGENTS), 0.4)
    scores = ability[:, None] * rng.uniform(0.5, 1.5, TASKS) + 0.2 * rng.normal(
        size=(AGENTS + 1, TASKS)
    )
    raw = 50 + 10 * np.arange(1, TASKS + 1) * scores
    names = [f"t{place}" for place in range(TASKS)]

    def table(rows: range) -> str:
        lines = ["agent," + ",".join(names)]
        lines += [f"a{row}," + ",".join(f"{value:.6f}" for value in raw[row]) for row in rows]
        return "\n".join(lines) + "\n"

    (path / "all.csv").write_text(table(range(AGENTS)))
    (path / "new.csv").write_text(table(range(AGENTS, AGENTS + 1)))
    lines = ["task,random,reference,cost,group"]
    lines += [
        f"{name},50,{50 + 10 * (n + 1)},{n + 1},{'xy'[n % 2]}" for n, name in enumerate(names)
    ]
    (path / "tasks.csv").write_text("\n".join(lines) + "\n")
    lines = ["agent,family"] + [f"a{row},f{row // 2}" for row in range(AGENTS)]
    (path / "agents.csv").write_text("\n".join(lines) + "\n")
    return path


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def complaint(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr


def test_select_proves_its_choice_and_place_repeats_its_recipe(folder: Path) -> None:
    stored = folder / "chosen.json"
    told = json.loads(
        run(
            *("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--size", 3),
            *("--method", "regression", "-o", stored, "--json"),
        )
    )
    assert list(told)[:2] == ["schema", "method"]
    assert told["schema"] == "examiner.select/1"
    assert len(told["tasks"]) == len(told["gain"]) == len(told["why"]) == 3
    assert told["quality"]["method"] == "regression"
    assert told["quality"]["r2"] > 0.8
    assert told["seed"] == 0
    assert len(told["rank_changes"]) == AGENTS
    placed = json.loads(run("place", folder / "new.csv", "--with", stored, "--json"))
    agent = placed["agents"][0]
    # The recipe normalised by the scales of tasks.csv, which `place` was not given again.
    new = ex.normalise(
        ex.read(folder / "new.csv").with_scales(ex.read_scales(folder / "tasks.csv")), "human"
    )
    truth = new.measure().mean()
    assert agent["predicted"]["low"] < truth < agent["predicted"]["high"]
    assert agent["predicted"]["value"] == pytest.approx(truth, abs=0.2)
    assert 1 <= agent["rank"]["low"] <= agent["rank"]["high"] <= AGENTS + 1
    assert {one["task"] for one in agent["predictions"]} == {f"t{n}" for n in range(TASKS)} - set(
        told["tasks"]
    )


def test_unexpected_results_are_named(folder: Path) -> None:
    stored = folder / "odd.json"
    run(
        *("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--method", "regression"),
        *("--size", 4, "--no-proof", "-o", stored),
    )
    tasks = json.loads(stored.read_text())["selection"]["tasks"]
    results = ex.read(folder / "new.csv")
    values = results.measure().copy()
    values[results.tasks.index(tasks[2])] += 500
    odd = results.with_measure("score", values)
    odd.to_pandas()[["agent", "task", "score"]].to_csv(folder / "odd.csv", index=False)
    placed = json.loads(run("place", folder / "odd.csv", "--with", stored, "--json"))
    assert tasks[2] in [one["task"] for one in placed["agents"][0]["unexpected"]]
    assert f"on {tasks[2]}" in run("place", folder / "odd.csv", "--with", stored)


def test_a_budget_buys_what_it_can(folder: Path) -> None:
    told = json.loads(
        run(
            *("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--cost", "cost"),
            *("--budget", 9, "--method", "spread", "--no-proof", "--json"),
        )
    )
    assert told["cost"] == sum(int(task[1:]) + 1 for task in told["tasks"]) <= 9
    assert told["quality"] is None


def test_compare_tells_every_method_at_every_size(folder: Path) -> None:
    words = ("compare", folder / "all.csv", "--tasks", folder / "tasks.csv", "--sizes", "1,3")
    more = ("--agents", folder / "agents.csv", "--groups", "family", "--draws", 10, "--reps", 20)
    told = json.loads(run(*words, *more, "--methods", "spread,regression,best_of", "--json"))
    assert told["schema"] == "examiner.compare/1"
    assert told["folds"] == "leave-one-out, families kept together"
    rows = [(row["method"], row["size"]) for row in told["rows"]]
    expected = [(m, k) for k in (1, 3) for m in ("spread", "regression", "best_of", "random")]
    assert rows == [*expected, ("full", TASKS)]
    for name in ("r2", "r2_remainder", "relative_error", "mae", "kendall", "top1", "optimistic_r2"):
        assert all(name in row for row in told["rows"])
    assert told["answer"].endswith(".")
    table = run(*words, "--methods", "spread", "--draws", 5, "--reps", 5, "--folds", 4)
    assert "On held-out agents" in table


def test_choosing_on_some_judges_the_others(folder: Path) -> None:
    told = json.loads(
        run(
            *(
                "select",
                folder / "all.csv",
                "--tasks",
                folder / "tasks.csv",
                "--method",
                "regression",
            ),
            *("--choose-on", "a?", "--size", 2, "--json"),
        )
    )
    assert sorted(told["rank_changes"]) == ["a10", "a11", "a12", "a13"]


def test_lexicographic_measures_give_points_for_ranks(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["agent,task,win,score,ticks"]
    for agent in range(6):
        for task in range(5):
            row = (int(rng.random() < 0.2 + agent / 8), rng.integers(9), rng.integers(1, 99))
            lines.append(f"a{agent},t{task}," + ",".join(str(value) for value in row))
    (tmp_path / "plays.csv").write_text("\n".join(lines) + "\n")
    words = ("--target", "rank-points", "--lexicographic", "win,score,-ticks", "--size", 2)
    told = json.loads(
        run("select", tmp_path / "plays.csv", *words, "--method", "spread", "--no-proof", "--json")
    )
    assert told["target"] == "rank-points"
    assert all(0 <= one["mean"] <= 25 for one in told["why"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "guess"), "Unknown selection method 'guess'"),
        (("--size", 3, "--budget", 2), "Both a size and a budget"),
        (("--size", 99), "between 1 and 8"),
        (("--budget", 3), "no task has a cost"),
        (("--method", "typology"), "typology needs groups of tasks"),
        (("--must", "pong"), "is not there"),
        (("--choose-on", "nobody"), "No agent is like 'nobody'"),
        (("--cost", "gold", "--budget", 3), "No column 'gold' says what a task costs"),
        (("--groups", "team"), "No column 'team' says which agents belong together"),
        (("--floor", 0), "The floor is 0"),
    ],
)
def test_bad_demands_get_one_sentence(folder: Path, words: tuple[object, ...], said: str) -> None:
    assert said in complaint("select", folder / "all.csv", *words)


def test_bad_comparisons_and_placements_get_one_sentence(folder: Path) -> None:
    results = folder / "all.csv"
    assert "The folds are 'some'" in complaint("compare", results, "--folds", "some")
    assert "The sizes are 'few'" in complaint("compare", results, "--sizes", "few")
    (folder / "no.json").write_text("[]")
    assert "not 'examiner.chosen/1'" in complaint("place", results, "--with", folder / "no.json")
    (folder / "half.json").write_text('{"schema": "examiner.chosen/1"}')
    assert "lacks 'selection'" in complaint("place", results, "--with", folder / "half.json")
    assert "`--with chosen.json`" in complaint("place", results)
    assert "one of them at a time" in complaint("place", results, "--with", "a", "--fit", "b")

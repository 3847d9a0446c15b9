"""`select`, `compare` and `place --with`: one JSON object, stored recipes, one sentence for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

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
    assert list(told)[:2] == ["schema", "headline"]
    assert told["schema"] == "examiner.selection/1"
    assert (told["size"], told["of_tasks"], told["method"]) == (3, TASKS, "regression")
    tasks = [row["task"] for row in told["tasks"]]
    assert len(tasks) == 3
    assert told["methods"][0]["method"] == "regression"
    assert told["r2"] == told["methods"][0]["r2"] > 0.8
    assert told["settings"]["seed"] == 0
    assert len(told["predictions"]) == AGENTS
    few = [word for task in tasks for word in ("--keep", f"task:{task}")]
    placed = json.loads(run("place", folder / "new.csv", *few, "--with", stored, "--json"))
    agent = placed["agents"][0]
    # The recipe normalised by the scales of tasks.csv, which `place` was not given again.
    new = ex.normalise(
        ex.read(folder / "new.csv").with_scales(ex.importers.read_scales(folder / "tasks.csv")),
        "human",
    )
    truth = new.measure().mean()
    assert placed["schema"] == "examiner.set-placement/1"
    assert agent["predicted_low"] < truth < agent["predicted_high"]
    assert agent["predicted"] == pytest.approx(truth, abs=0.2)
    assert 1 <= agent["best_rank"] <= agent["worst_rank"] <= AGENTS + 1
    assert {one["task"] for one in placed["predictions"]} == {f"t{n}" for n in range(TASKS)} - set(
        tasks
    )


def test_unexpected_results_are_named(folder: Path) -> None:
    stored = folder / "odd.json"
    run(
        *("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--method", "regression"),
        *("--size", 4, "--no-proof", "-o", stored),
    )
    tasks = json.loads(stored.read_text())["chosen"]["tasks"]
    results = ex.read(folder / "new.csv")
    values = results.measure().copy()
    values[results.tasks.index(tasks[2])] += 500
    odd = results.with_measure("score", values)
    odd.to_pandas()[["agent", "task", "score"]].to_csv(folder / "odd.csv", index=False)
    placed = json.loads(run("place", folder / "odd.csv", "--with", stored, "--json"))
    assert tasks[2] in [one["task"] for one in placed["unexpected"]]
    assert f"on {tasks[2]}" in run("place", folder / "odd.csv", "--with", stored)


def test_a_budget_buys_what_it_can(folder: Path) -> None:
    told = json.loads(
        run(
            *("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--cost", "cost"),
            *("--budget", 9, "--method", "spread", "--no-proof", "--json"),
        )
    )
    assert told["cost"] == sum(int(row["task"][1:]) + 1 for row in told["tasks"]) <= 9
    assert "r2" not in told and "without validation" in told["headline"]


def test_judge_reports_every_method_at_every_size(folder: Path) -> None:
    words = (
        "select",
        folder / "all.csv",
        "--tasks",
        folder / "tasks.csv",
        "--sizes",
        "1,3",
        "--judge",
    )
    more = ("--agents", folder / "agents.csv", "--families", "family", "--draws", 10, "--reps", 20)
    told = json.loads(run(*words, *more, "--methods", "spread,regression,best_of", "--json"))
    assert told["schema"] == "examiner.judgement/1"
    assert told["folds"] == "leave-one-out, families kept together"
    rows = [(row["method"], row["size"]) for row in told["methods"]]
    expected = [(m, k) for k in (1, 3) for m in ("spread", "regression", "best_of", "random")]
    assert rows == [*expected, ("full", TASKS)]
    for name in ("r2", "r2_remainder", "relative_error", "mae", "kendall", "top1", "optimistic_r2"):
        assert all(name in row for row in told["methods"])
    assert told["headline"].endswith(".")
    table = run(*words, "--methods", "spread", "--draws", 5, "--reps", 5, "--folds", 4)
    assert "Predicting held-out agents" in table


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
    assert sorted(row["agent"] for row in told["predictions"]) == ["a10", "a11", "a12", "a13"]


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
    assert all(0 <= one["mean"] <= 25 for one in told["tasks"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "guess"), "Unknown selection method 'guess'"),
        (("--size", 3, "--budget", 2), "`--size` exclude each other"),
        (("--size", 99), "between 1 and 8"),
        (("--budget", 3), "no task has a cost"),
        (("--method", "typology"), "typology needs groups of tasks"),
        (("--must", "pong"), "is not there"),
        (("--choose-on", "nobody"), "No agent is like 'nobody'"),
        (("--cost", "gold", "--budget", 3), "No column 'gold' says what a task costs"),
        (("--families", "team"), "No column 'team' says which agents belong together"),
        (("--transform", "log", "--floor", 0), "The floor is 0"),
    ],
)
def test_bad_demands_get_one_sentence(folder: Path, words: tuple[object, ...], said: str) -> None:
    assert said in complaint("select", folder / "all.csv", *words)


def test_bad_comparisons_and_placements_get_one_sentence(folder: Path) -> None:
    results = folder / "all.csv"
    assert "The folds are 'some'" in complaint("select", results, "--judge", "--folds", "some")
    assert "The sizes are 'few'" in complaint("select", results, "--judge", "--sizes", "few")
    (folder / "no.json").write_text("[]")
    assert "not 'examiner.chosen/3'" in complaint("place", results, "--with", folder / "no.json")
    (folder / "half.json").write_text('{"schema": "examiner.chosen/3"}')
    told = complaint("place", results, "--with", folder / "half.json")
    assert "This stored selection is damaged: its chosen is missing" in told
    (folder / "old.json").write_text('{"schema": "examiner.chosen/1"}')
    told = complaint("place", results, "--with", folder / "old.json")
    assert "written by another version of examiner" in told
    assert "`--with chosen.json`" in complaint("place", results)
    assert "exclude each other" in complaint("place", results, "--with", "a", "--fit", "b")


@pytest.mark.slow
def test_tables_fit_eighty_columns_with_headers_whole(folder: Path) -> None:
    source = (folder / "all.csv", "--tasks", folder / "tasks.csv")
    told = run("select", *source, "--method", "regression", "--size", 3, "--folds", 4)
    for header in ("remainder", "Kendall", "top 1", "coverage", "optimistic", "detectable"):
        assert any(header in line.split() or header in line for line in told.splitlines())
    assert "Predicting held-out agents (4 folds)" in told
    quick = ("--methods", "information_swap,spread", "--folds", 3, "--draws", 5, "--reps", 5)
    compared = run("select", *source, "--judge", "--sizes", "2,3", *quick)
    lines = compared.splitlines()
    header = next(line for line in lines if line.startswith("method"))
    assert header.split() == [
        *("method", "size", "R²", "low", "high", "mae", "relative", "coverage"),
    ]
    rows = [line for line in lines if line.startswith("information_swap")]
    assert len(rows) == 6  # two sizes in three tables, and no name is broken
    assert all(len(line) <= 80 for line in lines if not line.endswith("."))
    assert not any("_" in word for word in header.split())


def test_every_unit_of_gains_has_words_for_people() -> None:
    from examiner.reporting import GAINS
    from examiner.selection import METHODS, fold_of

    scores = np.random.default_rng(0).normal(size=(12, 6, 3)) + np.arange(12.0)[:, None, None]
    groups = {f"task {place + 1}": "xy"[place % 2] for place in range(6)}
    material = ex.selection.benchmark(
        ex.Results.from_numpy(scores),
        ex.Recipe(),
        constraints=ex.selection.Constraints(groups=groups),
    )
    evidence = fold_of(
        material, np.arange(12), ("channels", "items", "ability", "shrinkage")
    ).evidence
    units = {one.select(evidence, 2, np.random.default_rng(0)).unit for one in METHODS.values()}
    assert units == set(GAINS)


def test_costs_of_tasks_of_the_set_and_of_all_are_told(folder: Path) -> None:
    words = ("select", folder / "all.csv", "--tasks", folder / "tasks.csv", "--cost", "cost")
    more = ("--budget", 9, "--method", "spread", "--no-proof")
    told = json.loads(run(*words, *more, "--json"))
    costs = [int(row["task"][1:]) + 1 for row in told["tasks"]]
    assert [row["cost"] for row in told["tasks"]] == costs
    assert (told["cost"], told["cost_of_all"], told["budget"]) == (sum(costs), 36, 9)
    shown = run(*words, *more)
    assert f"Cost: {sum(costs)} of a budget of 9; all tasks cost 36" in shown
    first = next(line for line in shown.splitlines() if line.startswith(told["tasks"][0]["task"]))
    assert first.split()[1] == str(costs[0])
    free = json.loads(run("select", folder / "all.csv", "--size", 2, *more[2:], "--json"))
    assert free["cost"] is free["budget"] is None and "cost" not in free["tasks"][0]
    assert "Cost:" not in run("select", folder / "all.csv", "--size", 2, *more[2:])


def table_of(path: Path, agents: int, tasks: int) -> Path:
    scores = np.random.default_rng(0).normal(size=(agents, tasks)).round(3)
    scores += np.arange(agents)[:, None] / 10
    lines = ["agent," + ",".join(f"t{place}" for place in range(tasks))]
    lines += [f"a{row}," + ",".join(map(str, values)) for row, values in enumerate(scores)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_large_tables_are_judged_in_ten_folds_and_that_is_said(tmp_path: Path) -> None:
    large = table_of(tmp_path / "large.csv", 101, 3)
    words = ("select", large, "--method", "spread", "--size", 1, "--json", "--workers", 1)
    told = json.loads(run(*words))
    assert told["folds"] == "10 folds"
    assert json.loads(run(*words, "--folds", 3))["folds"] == "3 folds"
    assert "The folds are 'some'" in complaint(*words[:-3], "--folds", "some")
    small = table_of(tmp_path / "small.csv", 12, 4)
    told = json.loads(run("select", small, "--method", "spread", "--size", 1, "--json"))
    assert told["folds"] == "leave-one-out"


def test_ten_folds_still_leave_every_agent_out_so_that_intervals_are_honest(tmp_path: Path) -> None:
    from examiner.selection import Holdout, benchmark, choose, with_predictor
    from examiner.selection import judge as judge_methods

    results = ex.read(table_of(tmp_path / "some.csv", 30, 6))
    material = benchmark(results, ex.Recipe())
    rng = np.random.default_rng(0)
    chosen = choose(material, 2, "regression", rng=rng)
    ten = Holdout(folds=10, draws=2)
    found = judge_methods(material, [2], ["regression"], rng=rng, holdout=ten)
    assert np.isfinite(found.predicted).all()
    kept = with_predictor(material, chosen, judgement=found, rng=rng)
    np.testing.assert_allclose(kept.predictor.held_out, found.predicted[0, 0])


def test_lines_off_a_terminal_say_how_far_the_work_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from examiner.cli import output as progress

    now = iter([0.0, 0.0, 10.0, 31.0, 35.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.progress_bar("reading") as advance:
        for done in (1, 2, 3, 4):
            advance("judging folds", done, 5)
    told = capsys.readouterr()
    assert told.err == "judging folds: 3 of 5   0:31 to go\n"
    assert told.out == ""


def test_what_is_predicted_is_said_in_words(folder: Path) -> None:
    stored = folder / "words.json"
    source = (folder / "all.csv", "--tasks", folder / "tasks.csv")
    run("select", *source, "--method", "spread", "--size", 2, "--no-proof", "-o", stored)
    told = run("place", folder / "new.csv", "--with", stored)
    assert "mean of 8 tasks, predicted from 2" in told
    assert "Predicted is the mean the agent would get if all tasks were run." in told

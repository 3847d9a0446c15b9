"""`examiner scores`: the JSON it prints, what it refuses, and what people read."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from examiner.cli import app


def examiner(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("scores") / "runs.csv"
    lines = ["agent,task,run,score"]
    for agent in range(3):
        lines += [
            f"a{agent},t{task},{run},{rng.normal() + agent:.6f}"
            for task in range(6)
            for run in range(5)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_json_has_aggregates_improvement_ranks_and_variance(table: Path) -> None:
    done = examiner("scores", str(table), "--json")
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == "examiner.scores/1"
    agents = [row["agent"] for row in content["agents"]]
    values = [row["mean"] for row in content["agents"]]
    assert sorted(agents) == ["a0", "a1", "a2"]
    assert values == sorted(values, reverse=True), "best first"
    for row in content["agents"]:
        assert row["mean_low"] < row["mean"] < row["mean_high"]
        assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= 3
    assert sum(row["probability_first"] for row in content["agents"]) == pytest.approx(1)
    pairs = [(row["a"], row["b"]) for row in content["pairs"]]
    assert pairs == list(combinations(agents, 2))
    for row in content["pairs"]:
        ends = row["probability_low"], row["probability"], row["probability_high"]
        assert 0 <= ends[0] <= ends[1] <= ends[2] <= 1
        assert row["difference_low"] < row["difference"] < row["difference_high"]
    parts = [row["component"] for row in content["variance"]]
    assert parts == ["agent", "task", "agent × task", "run"]
    used = content["settings"]
    assert (used["unit"], used["reps"], used["seed"]) == ("runs", 2000, 0)
    assert (used["tests"]["posthoc"], used["tests"]["unit"]) == ("t-holm", "runs")


def test_the_seed_is_used(table: Path) -> None:
    def low(seed: str) -> float:
        done = examiner("scores", str(table), "--json", "--seed", seed, "--reps", "200")
        return float(json.loads(done.stdout)["agents"][0]["mean_low"])

    assert low("0") == low("0") != low("1")


def test_one_run_a_cell_is_null_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "single.csv"
    path.write_text("agent,task,score\na,t,1\na,u,2\nb,t,0\nb,u,3\n")
    content = json.loads(examiner("scores", str(path), "--json", "--unit", "runs").stdout)
    assert content["agents"][0]["mean_low"] is None
    assert any("one run in every cell" in note for note in content["notes"])
    content = json.loads(examiner("scores", str(path), "--json").stdout)
    assert content["settings"]["unit"] == "tasks"
    assert content["agents"][0]["mean_low"] is not None


def test_people_read_tables_and_an_answer(table: Path) -> None:
    done = examiner("scores", str(table), "--aggregate", "mean", "--aggregate", "iqm", "--all")
    assert "95% intervals, unit: runs, studentised, 2,000 resamples, seed 0" in done.stdout
    assert "a beats b" in done.stdout
    assert "Twice the runs" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--aggregate", "iqr"], "Unknown aggregate 'iqr'. Did you mean 'iqm'?"),
        (["--interval", "bca", "--aggregate", "median"], "fails for the aggregate 'median'"),
        (["--reps", "0"], "0 replicates were asked for"),
        (["--level", "2"], "The level is 2.0"),
    ],
)
def test_bad_options_end_with_one_sentence(table: Path, options: list[str], said: str) -> None:
    done = examiner("scores", str(table), *options)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_agent_alone_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "alone.csv"
    path.write_text("agent,task,run,score\na,t,0,1\na,t,1,2\n")
    content = json.loads(examiner("scores", str(path), "--json").stdout)
    assert content["pairs"] == []
    assert "rank_low" not in content["agents"][0] and "friedman_p" not in content

"""`examiner information` and `examiner cluster`, as a user runs them."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from examiner.cli import app


@pytest.fixture
def plays(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["agent,task,run,trial,score,win"]
    for agent in range(4):
        for task in range(5):
            for trial in range(6):
                score = (agent * (task + 1)) % 5 + rng.normal()
                lines.append(f"a{agent},t{task},{trial},0,{score:.6f},{int(score > 2)}")
    path = tmp_path / "plays.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_information_prints_one_json_object(examiner, plays: Path) -> None:
    done = examiner(
        *("information", plays, "--measure", "win", "--measure", "score"),
        *("--size", 3, "--reps", 5, "--json"),
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == "examiner.information/1"
    assert content["agents"] == 4 and content["max_bits"] == 2.0
    assert {(row["task"], row["measure"]) for row in content["by_measure"]} == {
        (f"t{n}", measure) for n in range(5) for measure in ("win", "score")
    }
    bits = [task["bits"] for task in content["tasks"]]
    assert bits == sorted(bits, reverse=True)
    assert len(content["chosen"]) == 3
    assert content["chosen"][0]["bits"] == pytest.approx(bits[0])
    assert all(0 <= step["chance_bits"] <= 2 for step in content["chosen"])
    assert (
        content["settings"]["seed"] == 0
        and content["columns"]["tasks"]["columns"]["bits"]["unit"] == "bits"
    )


def test_the_same_seed_gives_the_same_output(examiner, plays: Path) -> None:
    runs = [
        examiner("information", plays, "--reps", 4, "--seed", seed, "--json").stdout
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_information_in_words_with_every_option(examiner, plays: Path) -> None:
    done = examiner(
        *("information", plays, "--noise", "mean", "--spread", "quadrature", "--exact"),
        *("--correlated", "--deviations", "pooled", "--search", "optimum", "--size", 2),
        *("--reps", 2, "--measure", "score", "--measure", "win"),
    )
    assert done.returncode == 0, done.stderr
    assert "4 agents, score, win: at most 2.000 bits; seed 0" in done.stdout
    assert "By optimum:" in done.stdout


def test_swaps_are_at_least_as_good_as_greedy(examiner, plays: Path) -> None:
    words = ("information", plays, "--search", "swap", "--size", 2, "--reps", 0, "--json")
    content = json.loads(examiner(*words).stdout)
    assert content["improved"][-1]["bits"] >= content["chosen"][-1]["bits"] - 1e-12
    assert "chance_bits" not in content["chosen"][0] and content["p_value"] is None


def test_single_trials_end_with_a_sentence(examiner, tmp_path: Path) -> None:
    (tmp_path / "once.csv").write_text("agent,t,u\na,1,2\nb,3,5\nc,4,4\n")
    done = examiner("information", "once.csv")
    assert done.returncode == 2 and done.stdout == ""
    assert "is a single trial" in done.stderr and "--deviations 0.2" in done.stderr
    stated = examiner("information", "once.csv", "--deviations", "0.2", "--json")
    assert json.loads(stated.stdout)["p_value"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("information", "--deviations", "none"), "Choose 'own', 'pooled', or a number"),
        (("information", "--size", "50"), "Cannot choose 50 of 5 tasks"),
        (("cluster", "--clusters", "many"), "Give 1 or more, or 'auto'"),
        (("cluster", "--threshold", "9"), "The threshold is 9.0"),
    ],
)
def test_bad_options_end_with_a_sentence(examiner, plays: Path, words, message) -> None:
    done = examiner(words[0], plays, *words[1:])
    assert done.returncode == 2 and message in done.stderr


def test_cluster_prints_one_json_object(examiner, plays: Path) -> None:
    content = json.loads(examiner("cluster", plays, "--json").stdout)
    assert content["schema"] == "examiner.cluster/1"
    order = [row["task"] for row in content["tasks"]]
    assert sorted(order) == [f"t{n}" for n in range(5)]
    first = content["settings"]["measures"][0]
    clustered = [t for row in content["clusters"] if row["measure"] == first for t in row["tasks"]]
    assert set(clustered) <= set(order) and len(set(clustered)) == len(clustered)
    assert 0 <= content["possible_winners"] <= 4
    assert [row["statistic"] for row in content["statistics"]][2] == "first_factor_share"


def test_cluster_says_the_same_in_words(examiner, plays: Path) -> None:
    done = examiner("cluster", plays, "--clusters", "2", "--correlation", "spearman")
    assert done.returncode == 0, done.stderr
    assert "win significantly" in done.stdout
    assert "mean_task_correlation" in done.stdout


def test_single_trials_of_zeros_and_ones_tell_of_ability(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    logit = 1.5 * rng.normal(size=(30, 1)) - rng.normal(size=8)
    values = (rng.random((30, 8)) < 1 / (1 + np.exp(-logit))).astype(int)
    lines = ["agent," + ",".join(f"t{task}" for task in range(8))]
    lines += [f"a{row}," + ",".join(map(str, each)) for row, each in enumerate(values)]
    path = tmp_path / "single.csv"
    path.write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["information", str(path), "--json"])
    told = json.loads(done.stdout)
    assert told["about"] == "ability" and told["model"] == "2pl"
    assert all(0 <= row["bits_low"] <= row["bits_high"] <= 1 for row in told["tasks"])
    agents = CliRunner().invoke(app, ["information", str(path), "--deviations", "0.5", "--json"])
    assert "max_bits" in json.loads(agents.stdout)


def test_agents_who_are_all_alike_are_clustered_without_a_number_that_is_none(
    tmp_path: Path,
) -> None:
    lines = [f"a{n % 6},t{n // 6},3.0" for n in range(42)]
    (tmp_path / "alike.csv").write_text("\n".join(["agent,task,score", *lines]) + "\n")
    done = CliRunner().invoke(app, ["cluster", str(tmp_path / "alike.csv")])
    assert done.exit_code == 0 and "Tasks form no significant clusters" in done.stdout
    assert "nan" not in done.stdout

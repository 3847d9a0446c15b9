"""Stored selections and examinations that were damaged, and scores no proof can be made of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

SCORES = np.random.default_rng(6).normal(size=(12, 6)) + np.arange(12)[:, None]


def table(path: Path, scores: np.ndarray = SCORES) -> Path:
    lines = [",".join(["agent", *(f"t{n}" for n in range(scores.shape[1]))])]
    lines += [",".join([f"a{n}", *map(repr, row.tolist())]) for n, row in enumerate(scores)]
    path.write_text("\n".join(lines) + "\n")
    return path


WRONG = [
    ("chosen", "tasks", ["t0"]),
    ("chosen", "tasks", [None, None]),
    (None, "level", -1),
    (None, "level", 10**400),
    ("recipe", "item", [[1]]),
    ("predictor", "all_tasks", [[]] * 6),
    ("predictor", "centre", []),
    ("predictor", "beta", None),
    ("predictor", "held_out", [0.0]),
    ("predictor", "reach_low", -1.0),
    ("predictor", "task_mean", []),
    ("predictor", "other_error", [1.0]),
]


def test_damaged_selections_are_refused_in_a_sentence(examiner, tmp_path):
    path, stored = table(tmp_path / "scores.csv"), tmp_path / "chosen.json"
    choose = ("--size", "2", "--method", "regression", "--no-proof", "-o", stored)
    assert examiner("select", path, *choose).returncode == 0
    assert examiner("place", path, "--with", stored).returncode == 0
    whole = json.loads(stored.read_text())
    for part, name, value in WRONG:
        damaged = json.loads(json.dumps(whole))
        (damaged if part is None else damaged[part])[name] = value
        stored.write_text(json.dumps(damaged))
        done = examiner("place", path, "--with", stored, "--json")
        assert (done.returncode, done.stdout) == (2, ""), (part, name, value)
        assert done.stderr.startswith("examiner: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("cost", float("nan")), ("ability", "x"), ("ability_error", None), ("worth", 10**400)],
)
def test_damaged_examinations_are_refused_and_left_as_they_are(examiner, tmp_path, name, value):
    path = table(tmp_path / "wins.csv", np.greater(SCORES, np.median(SCORES)).astype(float))
    fit, saved = tmp_path / "fit.json", tmp_path / "examination.json"
    examiner("fit", path, "-o", fit)
    who = ("examine", "--fit", fit, "--oracle", path, "--agent", "a5")
    assert examiner(*who, "--most", "2", "--output", saved).returncode == 0
    content = json.loads(saved.read_text())
    content["steps"][0][name] = value
    saved.write_text(json.dumps(content))
    before = saved.read_bytes()
    done = examiner(*who, "--most", "3", "--resume", saved, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "This is no examination" in done.stderr and saved.read_bytes() == before


def test_agents_that_are_all_alike_are_not_told_to_be_predicted_well(examiner, tmp_path):
    path = table(tmp_path / "alike.csv", np.tile(np.arange(6.0), (8, 1)))
    few = ("--methods", "spread", "--sizes", "1", "--draws", "3", "--reps", "3")
    done = examiner("select", path, "--judge", *few, "--json")
    answer = json.loads(done.stdout)["headline"]
    assert "nan" not in answer and "all alike" in answer


def test_scores_whose_squares_overflow_and_too_few_agents_are_refused(examiner, tmp_path):
    done = examiner("select", table(tmp_path / "huge.csv", SCORES * 1e300), "--size", "2")
    assert done.returncode == 2 and "larger units" in done.stderr
    done = examiner("select", table(tmp_path / "three.csv", SCORES[:3]), "--size", "2")
    assert done.returncode == 2 and "Give results of more agents" in done.stderr


def test_a_budget_that_buys_no_task_is_refused_and_nothing_is_stored(examiner, tmp_path):
    path, costs = table(tmp_path / "scores.csv"), tmp_path / "costs.csv"
    costs.write_text("task,cost\n" + "".join(f"t{n},{n + 2}\n" for n in range(6)))
    choose = ("--cost", costs, "--method", "spread", "--no-proof", "-o", tmp_path / "chosen.json")
    done = examiner("select", path, *choose, "--budget", "1.5", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "The budget is 1.5, and the cheapest task costs 2" in done.stderr
    assert not (tmp_path / "chosen.json").exists()
    assert examiner("select", path, *choose, "--budget", "2", "--json").returncode == 0


def test_forbidding_every_task_is_refused_without_naming_impossible_sizes(examiner, tmp_path):
    none = [word for n in range(6) for word in ("--must-not", f"t{n}")]
    for judge in ((), ("--judge",)):
        done = examiner("select", table(tmp_path / "scores.csv"), *none, *judge)
        assert done.returncode == 2 and "No task is left to choose" in done.stderr

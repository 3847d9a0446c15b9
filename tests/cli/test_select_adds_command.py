"""`examiner select --adds` tells what `selection.adds` does."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex

SET = ["task 1", "task 2", "task 3"]


def test_the_command_tells_what_python_does(examiner, tmp_path) -> None:
    path = tmp_path / "runs.csv"
    scores = np.random.default_rng(0).normal(size=(12, 1, 1)) + np.random.default_rng(1).normal(
        size=(12, 10, 3)
    )
    ex.write(ex.Results.from_numpy(scores), path)
    done = examiner(
        "select",
        path,
        "--adds",
        "task 10",
        "--set",
        "task 1,task 2,task 3",
        "--json",
        "--reps",
        "9",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    own = ex.selection.adds(ex.read(path), "task 10", SET, rng=0, reps=9)
    assert told["schema"] == "examiner.addition/1"
    assert told["quantities"][0]["value"] == pytest.approx(own.bits.value)
    assert told["headline"] == own.headline
    both = examiner("select", path, "--adds", "task 10", "--set", "task 1", "--with", "x.json")
    assert both.returncode == 2 and "exclude each other" in both.stderr


def test_names_with_commas_are_given_in_quotation_marks(examiner, tmp_path) -> None:
    path = tmp_path / "runs.csv"
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 1, 1)) + rng.normal(size=(12, 6, 3))
    names = ["a, b", 'the "x", y', "c", "d", "e", "f"]
    ex.write(ex.Results.from_numpy(scores, tasks=names), path)
    given = '"a, b", c,"the ""x"", y"'
    done = examiner("select", path, "--adds", "d", "--set", given, "--json", "--reps", "9")
    assert done.returncode == 0, done.stderr
    same = ex.selection.adds(ex.read(path), "d", ["a, b", "c", names[1]], rng=0, reps=9)
    assert json.loads(done.stdout)["headline"] == same.headline
    done = examiner("select", path, "--exactly", given, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["methods"][0]["size"] == 3
    done = examiner("select", path, "--exactly", '"a, b,c')
    assert done.returncode == 2 and "The quotation marks in the list" in done.stderr

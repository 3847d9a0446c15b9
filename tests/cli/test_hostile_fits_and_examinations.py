"""Options, files and names that nobody means well: one sentence, exit code 2, no control characters."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest


def table(path: Path, agents: int = 12, tasks: int = 6, prefix: str = "t") -> Path:
    rng = np.random.default_rng(4)
    wins = rng.random((agents, tasks)) < 1 / (1 + np.exp(-rng.normal(size=(agents, 1))))
    lines = [",".join(["agent", *(f"{prefix}{n}" for n in range(tasks))])]
    lines += [",".join([f"a{n}", *(f"{int(x)}" for x in row)]) for n, row in enumerate(wins)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("bins", ["nan", "inf", "2.5", "two"])
def test_bins_that_are_no_whole_number_are_refused_in_a_sentence(examiner, tmp_path, bins):
    done = examiner("fit", table(tmp_path / "wins.csv"), "--bins", bins, "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"examiner: The bins are '{bins}'")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--sizes", "3-1"], "3-1 is empty. Write the smaller first"),
        (["--sizes", "1-99999999999"], "Give whole numbers"),
        (["--sizes", "9" * 5000], "Give whole numbers"),
        (["--tolerance", "nan"], "The tolerance is nan"),
        (["--tolerance", "-1"], "The tolerance is -1"),
        (["--lexicographic", ""], "Name them with commas"),
        (["--lexicographic", "score,-"], "Name them with commas"),
        (["--families", "family"], "No column 'family' says which agents belong together. Give a"),
    ],
)
def test_options_of_compare_that_make_no_sense_are_refused(examiner, tmp_path, options, sentence):
    path = table(tmp_path / "wins.csv")
    done = examiner("select", path, "--judge", "--methods", "spread", *options, "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_one_agent_to_choose_on_is_refused_without_naming_impossible_numbers(examiner, tmp_path):
    path = table(tmp_path / "wins.csv")
    done = examiner("select", path, "--choose-on", "a1", "--size", "2", "--no-proof")
    assert done.returncode == 2
    assert "One agent or family cannot be split into folds" in done.stderr


WRONG = [
    ("errors", "slope", None),
    ("errors", "intercept", 0),
    ("errors", "guessing", []),
    ("errors", "covariance", "x"),
    ("abilities", "agents", [[]] * 12),
    ("abilities", "agents", ["same"] * 12),
    ("quadrature", "nodes", [0.0]),
    (None, "population_sd", -1.0),
    (None, "population_sd", None),
    ("recipe", "reduction", -1),
    ("recipe", "success", []),
    ("recipe", "success", "x"),
    ("recipe", "share", "x"),
    ("recipe", "beating", "x"),
    ("recipe", "beating", {"t1": None}),
    ("recipe", "normaliser", 3),
    ("recipe", "learnt", {"scale": {"tasks": ["t1"], "marks": [["x"]], "sign": [1.0]}}),
    ("recipe", "learnt", {"scale": {"tasks": ["t1"], "marks": [[1.0, 2.0]], "sign": [1.0]}}),
]


def test_damaged_fits_are_refused_in_a_sentence_wherever_they_are_read(examiner, tmp_path):
    path, stored = table(tmp_path / "wins.csv"), tmp_path / "fit.json"
    assert examiner("fit", path, "-o", stored).returncode == 0
    whole = json.loads(stored.read_text())
    for part, name, value in WRONG:
        damaged = json.loads(json.dumps(whole))
        (damaged if part is None else damaged[part])[name] = value
        stored.write_text(json.dumps(damaged))
        for command in (["place", path], ["examine", "--oracle", path, "--agent", "a1"]):
            done = examiner(*command, "--fit", stored, "--json")
            assert (done.returncode, done.stdout) == (2, ""), (part, name, value, done)
            assert done.stderr.startswith("examiner: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--better-than", "nan"], "The ability to compare with is nan"),
        (["--better-than", "inf"], "The ability to compare with is inf"),
        (["--trials", "100000"], "Ask for at most 1,000 at once"),
        (
            ["--simulate", "5", "--output", "one.json"],
            "has no effect with `--simulate`",
        ),
    ],
)
def test_options_of_examine_that_make_no_sense_are_refused(examiner, tmp_path, options, sentence):
    path, stored = table(tmp_path / "wins.csv"), tmp_path / "fit.json"
    examiner("fit", path, "-o", stored)
    who = [] if "--simulate" in options else ["--oracle", path, "--agent", "a1"]
    done = examiner("examine", "--fit", stored, *who, *options, "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "one.json").exists()


def test_an_examination_shows_the_control_characters_of_names_instead_of_obeying_them(
    examiner, tmp_path, monkeypatch
):
    path, stored = table(tmp_path / "wins.csv"), tmp_path / "fit.json"
    examiner("fit", path, "-o", stored)
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    done = examiner(
        "examine", "--fit", stored, "--interactive", "--agent", "a\x1b[31m\nb", "--most", "1"
    )
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    assert done.stdout.startswith(r"a\x1b[31m\nb: ability")

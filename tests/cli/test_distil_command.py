"""`examiner distil` writes a tiny version that `place --with` reads, and lists for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from importers.evaluation_files import lm_eval_line, write_lm_eval


def write_table(path: Path, names: list[str]) -> ex.Results:
    rng = np.random.default_rng(0)
    level = 2 * (rng.normal(size=(24, 1)) - np.linspace(-2, 2, len(names)))
    results = ex.Results.from_numpy(
        (rng.random(level.shape) < 1 / (1 + np.exp(-level))) * 1.0, tasks=names
    )
    ex.write(results, path)
    return results


def test_the_file_holds_what_python_makes_and_places_agents(examiner, tmp_path) -> None:
    path, stored = tmp_path / "table.csv", tmp_path / "tiny.json"
    results = write_table(path, [f"t{number}" for number in range(12)])
    done = examiner("distil", path, "--size", 4, "--folds", 3, "-o", stored, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["schema"] == "examiner.selection/1" and told["stored"] == str(stored)
    tiny = ex.selection.distil(results, 4, rng=0, holdout=ex.selection.Holdout(3))
    assert [row["task"] for row in told["tasks"]] == list(tiny.tasks.task)
    assert tiny.record is not None
    assert told["mae"] == pytest.approx(tiny.record.error)
    opened = ex.load_saved(stored)
    assert opened.record == tiny.record
    placed = examiner("place", path, "--keep", "agent:agent 3", "--with", stored, "--json")
    assert placed.returncode == 0, placed.stderr


def test_lists_for_other_tools_are_written_from_their_logs(examiner, tmp_path) -> None:
    rng = np.random.default_rng(1)
    for agent in range(12):
        for task in ("arc_easy", "piqa"):
            lines = [
                lm_eval_line(number, {"acc": float(rng.random() < (agent + 1) / 13)})
                for number in range(8)
            ]
            write_lm_eval(tmp_path / "logs" / f"org__m{agent}", task, lines)
    samples = tmp_path / "samples.json"
    done = examiner(
        *("distil", tmp_path / "logs", "--size", 5, "-o", tmp_path / "tiny.json"),
        *("--lm-eval", samples, "--folds", 3, "--json"),
    )
    assert done.returncode == 0, done.stderr
    listed = json.loads(samples.read_text())
    tasks = [row["task"] for row in json.loads(done.stdout)["tasks"]]
    assert sorted(f"{task}/{number}" for task in listed for number in listed[task]) == sorted(tasks)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--lm-eval", "samples.json"), "no document of lm-evaluation-harness"),
        (("--size", 0), "0"),
        (("--size", 99), "99"),
        (("--choose-on", "agent*"), "on all agents"),
        (("--folds", "x"), "'x'"),
        (("--size", 12), "must have fewer tasks than the benchmark"),
        (("--lm-eval", "nowhere/list.json"), "its folder does not exist"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(examiner, tmp_path, options, said) -> None:
    path = tmp_path / "table.csv"
    write_table(path, [f"t{number}" for number in range(12)])
    size = () if "--size" in options else ("--size", 4)
    folds = () if "--folds" in options else ("--folds", 3)
    done = examiner("distil", path, *size, *folds, "-o", tmp_path / "tiny.json", *options)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["table.csv"]


def test_files_do_not_overwrite_each_other_or_the_source(examiner, tmp_path) -> None:
    path, stored = tmp_path / "table.csv", tmp_path / "tiny.json"
    write_table(path, [f"t{number}" for number in range(12)])
    before = path.read_bytes()
    twice = ("-o", stored, "--inspect", stored)
    for options, said in ((("-o", path), "is read"), (twice, "written twice")):
        done = examiner("distil", path, "--size", 4, *options)
        assert done.returncode == 2 and said in done.stderr
    assert path.read_bytes() == before and not stored.exists()


def test_ids_of_several_evaluations_are_not_mixed_for_inspect(examiner, tmp_path) -> None:
    path = tmp_path / "table.csv"
    write_table(path, [f"{part}/{number}" for part in "ab" for number in range(6)])
    done = examiner(
        *("distil", path, "--size", 8, "--folds", 3, "-o", tmp_path / "tiny.json"),
        *("--inspect", tmp_path / "ids.json"),
    )
    assert done.returncode == 2 and "of several evaluations ('" in done.stderr
    assert not (tmp_path / "tiny.json").exists()


@pytest.mark.parametrize("number", ["NaN", "1e308", "null"])
@pytest.mark.parametrize("where", ["mean", "beta", "slope", "weight", "usual"])
def test_a_tiny_version_with_numbers_that_no_agents_give_places_nobody(
    examiner, tmp_path, where, number
) -> None:
    path, stored = tmp_path / "table.csv", tmp_path / "tiny.json"
    results = write_table(path, [f"t{number}" for number in range(12)])
    ex.save(ex.selection.select(results, 4, rng=0), stored)
    content = json.loads(stored.read_text())
    holder = content["predictor"] if where in ("mean", "beta") else content["predictor"]["curves"]
    value = json.loads(number)
    holder[where] = value if where == "mean" else [value, *holder[where][1:]]
    stored.write_text(json.dumps(content))
    done = examiner("place", path, "--keep", "agent:agent 3", "--with", stored)
    assert done.returncode == 2 and "Traceback" not in done.stderr

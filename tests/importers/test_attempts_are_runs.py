"""The same independent attempts have the same uncertainty in every format: each is a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from importers.evaluation_files import helm_instance, inspect_sample, write_helm

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")
WON = np.random.default_rng(0).integers(0, 2, (6, 5))


def as_rows(folder: Path) -> Path:
    path = folder / "rows.csv"
    lines = [f"m,arc/{q},{won}" for q, attempts in enumerate(WON) for won in attempts]
    path.write_text("agent,task,success\n" + "\n".join(lines))
    return path


def as_counts(folder: Path) -> Path:
    path = folder / "counts.csv"
    lines = [f"m,arc/{q},{attempts.sum()},5" for q, attempts in enumerate(WON)]
    path.write_text("agent,task,successes,trials\n" + "\n".join(lines))
    return path


def as_py_irt(folder: Path) -> Path:
    path = folder / "x.jsonl"
    counts = {f"arc/{q}": {"successes": int(row.sum()), "trials": 5} for q, row in enumerate(WON)}
    path.write_text(json.dumps({"subject_id": "m", "responses": counts}))
    return path


def as_inspect(folder: Path) -> Path:
    path = folder / "log.json"
    samples = [
        inspect_sample(q, "C" if won else "I", epoch)
        for q, attempts in enumerate(WON)
        for epoch, won in enumerate(attempts, start=1)
    ]
    about = {"version": 2, "status": "success", "eval": {"task": "arc", "model": "m"}}
    path.write_text(json.dumps(about | {"samples": samples}))
    return path


def as_helm(folder: Path) -> Path:
    instances = [
        helm_instance(str(q), int(won), trial)
        for q, attempts in enumerate(WON)
        for trial, won in enumerate(attempts)
    ]
    return write_helm(folder, instances)


@pytest.mark.parametrize("writing", [as_rows, as_counts, as_py_irt, as_inspect, as_helm])
def test_five_attempts_are_five_runs_in_every_format(writing, tmp_path: Path):
    results = ex.read(writing(tmp_path))
    assert results.counts()["runs"] == 5
    assert len(set(zip(results.column("task"), results.column("run"), strict=True))) == WON.size
    means = ex.scores.cells.cell_means(results)
    np.testing.assert_allclose(means[0], WON.mean(axis=1))


def test_epochs_of_two_evaluations_are_runs_of_their_own(tmp_path: Path):
    for number in range(2):
        path = as_inspect(tmp_path)
        log = json.loads(path.read_text())
        log["eval"]["task_id"] = f"evaluation {number}"
        path.write_text(json.dumps(log))
        path.rename(tmp_path / f"log {number}.json")
    assert ex.read(tmp_path).counts()["runs"] == 10


def test_judges_rate_one_attempt_and_are_no_runs():
    table = {
        "agent": ["a"] * 6,
        "task": ["t"] * 6,
        "judge": ["gpt", "claude", "human"] * 2,
        "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
    results = ex.read(table)
    assert results.counts()["runs"] == 2 and results.counts()["trials"] == 3
    assert any("'judge' are ratings of one run" in note for note in results.notes)
    runs = ex.read(table | {"run": [7, 7, 7, 8, 8, 8]})
    assert runs.counts()["runs"] == 2 and runs.counts()["trials"] == 3
    single = ex.read(table | {"judge": ["gpt"] * 6})
    assert single.counts()["runs"] == 6, "one judge of six attempts"

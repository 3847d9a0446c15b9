"""`examiner fit --check` says of a fit what the library does, and finds what was planted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Eighty agents on ten tasks that one ability explains, and the last a copy of the first."""
    rng = np.random.default_rng(5)
    items = ex.irt.ItemParameters.of([f"t{n}" for n in range(10)], np.full(10, 1.5), np.zeros(10))
    answers = ex.irt.simulate(items, 80, rng=rng).to_numpy()
    results = ex.Results.from_numpy(
        np.column_stack([answers, answers[:, 0]]), tasks=[*items.tasks, "copy"]
    )
    return ex.write(results, tmp_path / "answers.csv", layout="wide")


def test_a_copied_task_is_named_as_one_that_shares_more_than_ability(examiner, table: Path) -> None:
    done = examiner("fit", table, "--check", "--draws", "20", "--quick", "--starts", "1", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {told["pairs"][0]["first"], told["pairs"][0]["second"]} == {"t0", "copy"}
    fit = ex.irt.fit(ex.read(table), starts=1, rng=0)
    same = ex.irt.diagnose(fit, replicates=20, refit=False, overdispersion=False, rng=0)
    assert told["findings"] == list(same.findings())
    infit = {row.task: row.infit for row in same.tasks}
    assert {row["task"]: row["infit"] for row in told["tasks"]} == pytest.approx(infit)


def test_too_few_draws_are_refused(examiner, table: Path) -> None:
    done = examiner("fit", table, "--check", "--draws", "5", "--starts", "1")
    assert done.returncode == 2 and "Give at least 20" in done.stderr

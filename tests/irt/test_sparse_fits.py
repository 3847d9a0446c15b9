"""Fits of tables of which little was observed: by lists of cells as by all cells, in less memory."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from child_processes import environment
from examiner.irt.diagnostics.evidence_tests import ability_test
from examiner.irt.diagnostics.flags import separated
from examiner.irt.diagnostics.standardised import rest_correlation_deviates
from examiner.irt.errors import information

MODELS = [("1pl", 1), ("2pl", 1), ("3pl", 1), ("2pl", 4)]


def table(
    model: str, trials: int, missing: float = 0.98, shape: tuple[int, int] = (400, 400)
) -> ex.ResponseMatrix:
    """Simulated responses, of which most cells were not observed."""
    rng = np.random.default_rng(7)
    agents, tasks = shape
    slope = np.ones(tasks) if model == "1pl" else rng.lognormal(0.0, 0.3, tasks)
    guessing = 0.2 if model == "3pl" else 0.0
    eta = slope * rng.normal(size=(agents, 1)) + rng.normal(size=tasks)
    tried = (rng.random(shape) > missing) * rng.integers(1, trials + 1, shape)
    chance = guessing + (1 - guessing) / (1 + np.exp(-eta))
    return ex.ResponseMatrix.from_counts(rng.binomial(tried, chance), tried)


@pytest.mark.parametrize(("model", "trials"), MODELS)
def test_fits_by_lists_of_cells_equal_those_by_all(model: str, trials: int) -> None:
    matrix = table(model, trials)
    whole = ex.irt.fit(matrix, model, starts=1)
    listed = ex.irt.fit(matrix.as_sparse(), model, starts=1)
    assert listed.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-8)
    np.testing.assert_allclose(listed.items.intercept, whole.items.intercept, atol=1e-6)
    np.testing.assert_allclose(listed.abilities.error, whole.abilities.error, rtol=1e-5)
    assert listed.errors is not None and whole.errors is not None
    np.testing.assert_allclose(listed.errors.intercept, whole.errors.intercept, rtol=1e-5)
    assert (listed.flags, listed.notes) == (whole.flags, whole.notes)
    assert (listed.dropped, listed.left_out) == (whole.dropped, whole.left_out)


@pytest.mark.parametrize(("model", "trials"), MODELS)
def test_errors_of_many_tasks_are_the_same_cell_by_cell(
    model: str, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(information, "MOST_TOGETHER", 20)  # beyond so many parameters by directions
    matrix = table(model, trials, 0.9, (400, 300))
    whole, listed = (ex.irt.fit(part, model, starts=1) for part in (matrix, matrix.as_sparse()))
    assert listed.errors is not None and whole.errors is not None
    assert "directions" in whole.errors.method and listed.errors.method == whole.errors.method
    # levels end where they are a ten-thousandth of the information, in blocks of other sizes
    np.testing.assert_allclose(listed.errors.intercept, whole.errors.intercept, rtol=2e-3)
    np.testing.assert_allclose(listed.errors.slope, whole.errors.slope, rtol=2e-3)
    np.testing.assert_allclose(listed.abilities.error, whole.abilities.error, rtol=2e-3)


def test_single_precision_of_many_cells_stays_near_double() -> None:
    matrix = table("2pl", 1, 0.9, (2500, 1000)).as_sparse()
    found = ex.irt.fit(matrix, starts=1, errors=False)
    told = ex.irt.abilities(matrix, found.items).ability
    np.testing.assert_allclose(found.abilities.ability, told, atol=1e-4)
    exact = ex.irt.log_likelihood(matrix, found.items)
    assert found.log_likelihood == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("trials", [1, 3])
def test_what_chance_gives_is_told_alike_by_lists_of_cells(trials: int) -> None:
    matrix = table("2pl", trials, 0.9, (300, 200))
    listed, theta = matrix.as_sparse(), np.random.default_rng(0).normal(size=300)
    np.testing.assert_allclose(
        rest_correlation_deviates(listed), rest_correlation_deviates(matrix), atol=1e-9
    )
    np.testing.assert_array_equal(separated(listed, theta), separated(matrix, theta))
    here, there = (ability_test(part, np.random.default_rng(0)) for part in (matrix, listed))
    assert here.p_value == pytest.approx(there.p_value, rel=1e-6)
    assert here.statistic == pytest.approx(there.statistic, rel=1e-9)


LARGE = """
import json, sys, warnings
import numpy as np, polars as pl
import examiner as ex

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
agents, tasks, count = map(int, sys.argv[2:])
agent, task = rng.integers(0, agents, count), rng.integers(0, tasks, count)
eta = rng.normal(size=agents)[agent] + rng.normal(size=tasks)[task]
won = rng.random(count) < 1 / (1 + np.exp(-eta))
names = {"agent": pl.Series(agent).cast(pl.String), "task": pl.Series(task).cast(pl.String)}
matrix = ex.responses(ex.Results.from_frame(pl.DataFrame({**names, "win": won})))
again = ex.ResponseMatrix.load(matrix.save(sys.argv[1]))
fit = ex.irt.fit(again, "1pl", errors=False)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
same = again == matrix and again.observed_cells is not None
print(json.dumps([same, fit.converged, int(peak.split()[1]) / 1e6]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="told by Linux alone")
@pytest.mark.parametrize(
    ("agents", "tasks", "most_gigabytes"),
    [(6_000, 40_000, 0.4), pytest.param(20_000, 50_000, 1.0, marks=pytest.mark.slow)],
)
def test_tables_of_which_few_cells_were_observed_take_little_memory(
    agents: int, tasks: int, most_gigabytes: float, tmp_path: Path
) -> None:
    """Two bytes per cell would be 0.48 and 2 GB, on top of what the libraries take."""
    size = map(str, (agents, tasks, agents * tasks // 5000))
    job = [sys.executable, "-c", LARGE, str(tmp_path / "matrix.parquet"), *size]
    ended = subprocess.run(job, capture_output=True, text=True, env=environment())
    assert ended.returncode == 0, ended.stderr
    same, converged, gigabytes = json.loads(ended.stdout)
    assert same and converged
    assert gigabytes < most_gigabytes


def test_tasks_that_diverge_do_not_spoil_the_errors_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Maximum likelihood of few responses for each task: leading directions against the whole inverse."""
    matrix = table("2pl", 1, 0.9, (400, 300)).as_sparse()
    whole = ex.irt.fit(matrix, estimator="ml", starts=1)
    monkeypatch.setattr(information, "MOST_TOGETHER", 20)
    quick = ex.irt.fit(matrix, estimator="ml", starts=1)
    assert whole.errors is not None and quick.errors is not None
    assert "nearly diverge kept apart" in quick.errors.method
    ordinary = np.abs(whole.items.slope) < 4
    assert (np.abs(whole.items.slope) > 10).any() and ordinary.sum() > 250
    for name in ("slope", "intercept"):
        ratio = getattr(quick.errors, name)[ordinary] / getattr(whole.errors, name)[ordinary]
        assert np.median(ratio) == pytest.approx(1.0, abs=0.02)
        assert (np.abs(ratio - 1) < 0.05).mean() > 0.9

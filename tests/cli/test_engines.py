"""`examiner fit --engine`: the same numbers from shards and devices, and what cannot be had there."""

import json

import numpy as np
import polars as pl
import pytest

import examiner as ex
from engines.like_fits import MATRIX


@pytest.fixture
def shards(tmp_path):
    half = len(MATRIX.agents) // 2
    (tmp_path / "shards").mkdir()
    MATRIX.take(range(half)).save(tmp_path / "shards" / "a.parquet")
    MATRIX.take(range(half, 2 * half)).save(tmp_path / "shards" / "b.parquet")
    return tmp_path / "shards"


def test_shards_are_fitted_with_the_numbers_of_memory(examiner, shards, tmp_path):
    out = tmp_path / "fit.json"
    done = examiner("fit", shards, "--engine", "shards", "--json", "-o", out)
    told = json.loads(done.stdout)
    here = ex.irt.fit(MATRIX, errors=False, starts=1)
    assert told["engine"] == "shards"
    assert told["log_likelihood"] == pytest.approx(here.log_likelihood, rel=1e-8)
    assert any("responses on disk were read" in warning for warning in told["notes"])
    stored = ex.load_saved(out)
    np.testing.assert_allclose(np.sort(stored.items.slope), np.sort(here.items.slope), atol=1e-4)


@pytest.mark.parametrize("success", [None, "0.5"])
def test_agents_are_placed_on_a_stored_fit_of_shards(examiner, tmp_path, success):
    rows = MATRIX.take(range(60)).to_polars().unpivot(index="agent", variable_name="task")
    (tmp_path / "d").mkdir()
    points = rows.rename({"value": "win"}).drop_nulls()
    if success is not None:
        points = points.with_columns(win=0.25 + pl.col("win") / 2)
    points.write_parquet(tmp_path / "d" / "s.parquet")
    points.filter(pl.col("agent") == MATRIX.agents[3]).with_columns(
        agent=pl.lit("new")
    ).write_parquet(tmp_path / "new.parquet")
    how = [] if success is None else ["--success", success]
    done = examiner("fit", "d", "--engine", "shards", "-o", "fit.json", "--cache", "d", *how)
    assert done.returncode == 2 and "is read and would be overwritten" in done.stderr
    done = examiner("fit", "d", "--engine", "shards", "-o", "fit.json", *how)
    assert done.returncode == 0, done.stderr
    done = examiner("place", "new.parquet", "--fit", "fit.json", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    fit = ex.load_saved(tmp_path / "fit.json")
    (placed,) = ex.irt.place(ex.read(tmp_path / "new.parquet"), fit)
    alike = fit.abilities.ability[fit.abilities.agents.index(MATRIX.agents[3])]
    assert placed.ability == pytest.approx(alike, abs=1e-3)
    assert told["agents"][0]["ability"] == pytest.approx(placed.ability)


def test_a_gpu_that_is_not_there_is_one_sentence(examiner, shards):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    done = examiner("fit", shards / "a.parquet", "--engine", "gpu")
    assert done.returncode == 2
    assert "There is no GPU that torch can use" in done.stderr


def test_what_shards_cannot_do_is_said(examiner, shards):
    done = examiner("fit", shards, "--engine", "shards", "--normalise", "z-score")
    assert done.returncode == 2
    assert "Shards are fitted without changes, and '--normalise' would change them" in done.stderr
    done = examiner("fit", shards, "--engine", "shards", "--memory", "0.01")
    assert done.returncode == 2
    assert "0.01 GB of memory are too little for 30 tasks" in done.stderr


def test_results_of_another_day_are_added_to_a_fit(examiner, tmp_path):
    tasks = len(MATRIX.tasks)
    MATRIX.take(range(250), range(tasks - 3)).to_polars().write_parquet(tmp_path / "first.parquet")
    MATRIX.take(range(250, 400)).to_polars().write_parquet(tmp_path / "today.parquet")
    examiner("fit", "first.parquet", "--starts", "1", "-o", "fit.json")
    before = ex.load_saved(tmp_path / "fit.json")
    done = examiner("fit", "--add", "today.parquet", "--fit", "fit.json", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["agents"]) == 150 and len(told["tasks"]) == 3
    assert "moved" in told["drift"]
    after = ex.load_saved(tmp_path / "fit.json")
    assert len(after.items) == tasks
    np.testing.assert_array_equal(after.items.slope[: tasks - 3], before.items.slope)
    done = examiner("place", "today.parquet", "--fit", "fit.json", "--json")
    assert done.returncode == 0, done.stderr
    done = examiner("fit", "today.parquet", "--fit", "fit.json")
    assert done.returncode == 2
    assert "`--fit` has no effect without `--add`" in done.stderr


def test_a_url_is_fitted_by_command_and_refused_where_results_are_needed_in_memory(
    examiner, shards
):
    here = json.loads(examiner("fit", shards, "--engine", "shards", "--json").stdout)
    for engine in ("auto", "shards"):
        done = examiner("fit", f"{shards.as_uri()}/", "--engine", engine, "--json")
        told = json.loads(done.stdout)
        assert told["engine"] == "shards" and told["log_likelihood"] == here["log_likelihood"]
    refusal = "Cannot read 's3://board/day/' into memory: of URLs, Parquet alone is read"
    for command in (("describe",), ("fit", "--engine", "memory"), ("scores",)):
        done = examiner(command[0], "s3://board/day/", *command[1:])
        assert done.returncode == 2 and refusal in done.stderr
    done = examiner("fit", "s3://board/day/", "--keep", "agent:a")
    assert done.returncode == 2 and "or download them for `--engine memory`" in done.stderr


def test_a_cache_that_no_engine_uses_is_said(examiner, shards, tmp_path):
    done = examiner("fit", shards, "--cache", tmp_path / "kept", "--starts", "1")
    assert (
        "--cache has no effect: it is for shards and Ray, and the engine is memory" in done.stderr
    )
    assert not (tmp_path / "kept").exists()

"""Parquet files that need more memory than is allowed: a sample of agents and tasks is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex

AGENTS, TASKS = 120, 200
LITTLE = 0.352
"""GB: what Python takes, and a little for data."""


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    scores = np.random.default_rng(0).random(AGENTS * TASKS)
    return pl.DataFrame(
        {
            "agent": np.repeat([f"agent-{n}" for n in range(AGENTS)], TASKS),
            "task": np.tile([f"task-{n}" for n in range(TASKS)], AGENTS),
            "score": scores,
        }
    )


@pytest.fixture(scope="module")
def files(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("large")
    paths = {name: folder / f"{name}.parquet" for name in ("tidy", "wide", "stored")}
    frame.write_parquet(paths["tidy"])
    frame.pivot("task", index="agent", values="score").write_parquet(paths["wide"])
    ex.read(paths["tidy"]).save(paths["stored"])
    paths["parts"] = folder / "parts"
    paths["parts"].mkdir()
    for part in range(3):
        frame[part::3].write_parquet(paths["parts"] / f"{part}.parquet")
    return paths


@pytest.mark.parametrize("name", ["tidy", "wide", "stored", "parts"])
def test_the_same_sample_is_read_of_any_layout_and_the_note_says_so(
    frame: pl.DataFrame, files: dict[str, Path], name: str
) -> None:
    results = ex.read(files[name], memory=LITTLE)
    assert results.agents == ex.read(files["tidy"], memory=LITTLE).agents
    assert (len(results.agents), len(results.tasks)) == (AGENTS, 128)
    drawn = pl.DataFrame({"agent": results.agents}), pl.DataFrame({"task": results.tasks})
    kept = frame.join(drawn[0], on="agent").join(drawn[1], on="task")
    assert float(np.nansum(results.to_polars()["score"])) == pytest.approx(kept["score"].sum())
    [note] = [note for note in results.notes if "drawn at random (seed 0)" in note]
    assert f"{AGENTS * TASKS:,} results" in note and "more memory" in note


def test_rows_in_another_order_give_the_same_sample(
    frame: pl.DataFrame, files: dict[str, Path], tmp_path: Path
) -> None:
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(tmp_path / "shuffled.parquet")
    results = ex.read(tmp_path / "shuffled.parquet", memory=LITTLE)
    assert results == ex.read(files["tidy"], memory=LITTLE)


def test_of_few_agents_all_are_kept(tmp_path: Path, frame: pl.DataFrame) -> None:
    few = frame.filter(pl.col("agent").is_in([f"agent-{n}" for n in range(10)]))
    few.write_parquet(tmp_path / "few.parquet")
    results = ex.read(tmp_path / "few.parquet", memory=0.3501)
    assert len(results.agents) == 10 and len(results.tasks) < TASKS


def test_files_whose_name_was_not_drawn_are_passed_over(
    tmp_path: Path, frame: pl.DataFrame
) -> None:
    for (task,), part in frame.group_by("task"):
        part.drop("task").write_parquet(tmp_path / f"{task}.parquet")
    results = ex.read(tmp_path, path="{task}.parquet", memory=LITTLE, strict=True)
    assert (len(results.agents), len(results.tasks)) == (AGENTS, 128)


def test_files_of_agents_that_were_not_drawn_are_passed_over(
    tmp_path: Path, frame: pl.DataFrame
) -> None:
    for (agent,), part in frame.group_by("agent"):
        part.write_parquet(tmp_path / f"{agent}.parquet")
    results = ex.read(tmp_path, memory=0.3501)
    assert len(results.agents) == len(results.tasks) < AGENTS // 2
    assert not any("could not be read" in note for note in results.notes)


def test_training_logs_and_tables_that_fit_are_read_whole(
    files: dict[str, Path], tmp_path: Path, frame: pl.DataFrame
) -> None:
    assert len(ex.read(files["tidy"]).tasks) == TASKS
    steps = pl.Series("global_step", np.arange(len(frame)))
    frame.with_columns(steps, run=pl.lit(0)).write_parquet(tmp_path / "log.parquet")
    assert len(ex.read(tmp_path / "log.parquet", memory=LITTLE).agents) == AGENTS

"""Shards say what a table in memory says: who shares no task, which measure, cells that stand twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from engines.like_fits import MATRIX, assert_same_fit
from examiner.irt import IRTFit
from examiner.results import connections, connections_of_blocks


def by_shards(matrix: ex.ResponseMatrix, folder: Path) -> IRTFit:
    return ex.irt.fit(ex.engines.sharded(matrix.save(folder / "t.parquet")), starts=1)


def by_device(matrix: ex.ResponseMatrix, folder: Path) -> IRTFit:
    pytest.importorskip("torch")
    return ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), starts=1)


def divided(bridge: bool) -> ex.ResponseMatrix:
    """Half of the agents met half of the tasks, and the others the others; or one agent both."""
    values = MATRIX.to_numpy()[:60].copy()
    values[:30, 15:], values[30:, :15] = np.nan, np.nan
    if bridge:
        values[0, 15:17] = 0.0, 1.0
    return ex.ResponseMatrix.from_array(values, MATRIX.agents[:60], MATRIX.tasks)


@pytest.mark.parametrize("bridge", [True, False])
@pytest.mark.parametrize("engine", [by_shards, by_device])
def test_groups_and_weak_links_are_told_as_in_memory(
    engine: Callable[[ex.ResponseMatrix, Path], IRTFit], bridge: bool, tmp_path: Path
) -> None:
    here, there = ex.irt.fit(divided(bridge), starts=1), engine(divided(bridge), tmp_path)
    assert here.notes and there.notes[:1] == here.notes[:1]
    assert there.groups == here.groups and there.outcome == here.outcome
    assert bool(here.groups) is not bridge


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_many_agents_are_found_block_by_block(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, of_task = rng.integers(0, 3, 900), rng.integers(0, 3, 40)
    values = np.where(kinds[:, None] == of_task, rng.integers(0, 2, (900, 40)), np.nan)
    values[rng.random(values.shape) < 0.7] = np.nan
    values = values[:, np.isfinite(values).any(axis=0)]
    values = values[np.isfinite(values).any(axis=1)]
    matrix = ex.ResponseMatrix.from_array(values)
    expected = connections(matrix)
    found = connections_of_blocks(matrix.agents, matrix.tasks, [matrix.trials])
    np.testing.assert_array_equal(found.agent_group, expected.agent_group)
    np.testing.assert_array_equal(found.task_group, expected.task_group)


def test_no_more_blocks_are_looked_at_than_it_takes() -> None:
    def blocks() -> object:
        yield np.ones((2, 3), dtype=bool)
        raise AssertionError("all hang together by now")

    found = connections_of_blocks(tuple("abcd"), tuple("tuv"), blocks())  # type: ignore[arg-type]
    assert not found.separate


NAMES = {
    "agent": [f"a{agent}" for agent in range(30) for _ in range(8)],
    "task": [f"t{task}" for _ in range(30) for task in range(8)],
}
WINS = (np.random.default_rng(0).random(240) < 0.5).astype(float)


def shard(folder: Path, **columns: object) -> Path:
    folder.mkdir(exist_ok=True)
    pl.DataFrame(NAMES | columns).write_parquet(folder / "s.parquet")
    return folder


def test_empty_names_are_refused(tmp_path: Path) -> None:
    for what in ("agent", "task"):
        names = ["", *NAMES[what][1:]]
        folder = shard(tmp_path / what, **{what: names, "win": WINS})
        with pytest.raises(ex.InputError, match=rf"empty {what} name\. Give every {what} a name"):
            ex.engines.sharded(folder)


def test_of_several_measures_the_one_that_memory_takes_is_fitted_and_said(tmp_path: Path) -> None:
    folder = shard(tmp_path / "d", success=1 - WINS, points=WINS * 3, win=WINS)
    there = ex.irt.fit(ex.engines.sharded(folder), starts=1)
    here = ex.irt.fit(ex.read(folder / "s.parquet"), starts=1)
    assert_same_fit(there, here)
    assert there.notes[0].startswith("Of the measures 'win', 'success' the first is fitted.")
    assert there.recipe is not None and there.recipe.measure == "win"


def test_cells_that_stand_twice_are_told_once(tmp_path: Path) -> None:
    twice = {name: part * 2 for name, part in NAMES.items()}
    folder = shard(tmp_path / "d", **twice, win=np.tile(WINS, 2))
    said = "repeated rows of one agent and task are taken as trials, up to 2."
    fits = [ex.irt.fit(ex.engines.sharded(folder, cache=tmp_path / "c"), starts=1) for _ in "ab"]
    for fit in fits:  # the second from the cache
        assert fit.notes.count(f"There is no 'trial' column: {said}") == 1
    levels = shard(tmp_path / "l", **twice, win=np.tile(WINS, 2), level=[0] * 240 + [1] * 240)
    fit = ex.irt.fit(ex.engines.sharded(levels), starts=1)
    assert f"'level' is not told apart in shards: {said}" in fit.notes
    once = ex.irt.fit(ex.engines.sharded(shard(tmp_path / "o", win=WINS)), starts=1)
    assert not any("trial" in note for note in once.notes)


def test_shards_are_not_decoded_into_their_own_folder(tmp_path: Path) -> None:
    folder = shard(tmp_path / "d", win=WINS)
    for source in (folder, folder / "s.parquet"):
        with pytest.raises(ex.InputError, match=r"is that of the shards themselves\. Name another"):
            ex.engines.sharded(source, cache=folder / ".." / "d")
    assert [path.name for path in folder.iterdir()] == ["s.parquet"]

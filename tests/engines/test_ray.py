"""Fits on a Ray cluster equal fits in memory, also when workers are killed on the way."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from engines.like_fits import MATRIX, assert_same_fit, holed
from engines.test_shard_errors import assert_errors_of

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    from examiner.workers import connected

    package, _ = connected(None)
    yield
    package.shutdown()


def table(missing: float) -> ex.ResponseMatrix:
    return holed(MATRIX, missing) if missing else MATRIX


def test_sources_share_a_cluster_and_the_last_one_ends_it(tmp_path: Path) -> None:
    assert not ray.is_initialized()
    path, cores = table(0.6).save(tmp_path / "t.parquet"), os.cpu_count()
    first = ex.engines.ray(path, shards=cores)
    ex.irt.fit(first, starts=1, errors=False)
    second = ex.engines.ray(path, shards=cores)  # while the first has its workers
    found = ex.irt.fit(second, starts=1, errors=False)
    del first
    gc.collect()
    assert_same_fit(ex.irt.fit(second, starts=1, errors=False), found)
    del second, found
    gc.collect()
    assert not ray.is_initialized()


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_a_fit_on_a_cluster_equals_the_fit_in_memory(
    missing: float, model: str, tmp_path: Path, cluster: None
) -> None:
    matrix = table(missing)
    source = ex.engines.ray(matrix.save(tmp_path / "t.parquet"), shards=3)
    fit = ex.irt.fit(source, model, starts=1)
    assert_same_fit(fit, ex.irt.fit(matrix, model, starts=1, errors=False))
    assert_errors_of(matrix, fit)


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_agents_that_lie_by_ability_are_fitted_as_in_memory(
    missing: float, tmp_path: Path, cluster: None
) -> None:
    """Workers then look at other nodes than each other, and none of them knows all curves."""
    rng = np.random.default_rng(0)
    names = [f"task {n}" for n in range(300)]
    items = ex.irt.ItemParameters.of(names, rng.uniform(0.6, 1.8, 300), rng.normal(size=300))
    ability = np.sort(rng.normal(0.0, 1.5, 450))
    matrix = holed(ex.irt.simulate(items, ability, rng=1), missing)
    source = ex.engines.ray(matrix.save(tmp_path / "t.parquet"), shards=3)
    fit = ex.irt.fit(source, starts=1, errors=False)
    assert_same_fit(fit, ex.irt.fit(matrix, starts=1, errors=False))


def test_a_killed_worker_costs_its_shard_once_more(tmp_path: Path, cluster: None) -> None:
    matrix = table(0.6)
    source = ex.engines.ray(matrix.save(tmp_path / "t.parquet"), shards=3)
    usual, killed = source.results, []

    def killing(*given: object, **how: object) -> object:
        answers = usual(*given, **how)  # type: ignore[arg-type]
        first = next(answers)  # all are asked by now
        if source.passes in (3, 7):
            worker = source.workers[-1]
            killed.append(ray.get(worker.__ray_call__.remote(lambda _: os.getpid())))
            os.kill(killed[-1], signal.SIGKILL)
        return itertools.chain([first], answers)

    source.results = killing  # type: ignore[method-assign, assignment]
    fit = ex.irt.fit(source, starts=1)
    assert len(set(killed)) == 2
    assert_same_fit(fit, ex.irt.fit(matrix, starts=1, errors=False))


def test_what_is_wrong_on_a_cluster_is_one_sentence(tmp_path: Path, cluster: None) -> None:
    path = table(0.0).save(tmp_path / "t.parquet")
    source = ex.engines.ray(path, shards=2, cache=tmp_path / "cache")
    shutil.rmtree(source.decoded.folder)  # as where nodes do not see the folder
    with pytest.raises(ex.InputError, match=r"A worker of the Ray cluster cannot go on: .*decoded"):
        ex.irt.fit(source)


def test_no_cluster_at_an_address_is_said(tmp_path: Path) -> None:
    if ray.is_initialized():
        ray.shutdown()
    with pytest.raises(ex.InputError, match=r"Cannot reach a Ray cluster at '127.0.0.1:1'"):
        ex.engines.ray(table(0.0).save(tmp_path / "t.parquet"), address="127.0.0.1:1")

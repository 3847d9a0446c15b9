"""A node of a Ray cluster that is killed costs its shard once more; one without the package is said."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import examiner as ex
from engines.like_fits import MATRIX, assert_same_fit, holed
from examiner.engines import cluster as engine
from examiner.irt import Unknowns

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray")
utils = pytest.importorskip("ray.cluster_utils")


@pytest.fixture
def nodes() -> Iterator[utils.Cluster]:
    if ray.is_initialized():
        ray.shutdown()
    held = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield held
    ray.shutdown()
    held.shutdown()


def node_of(worker: object) -> str:
    asked = worker.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())  # type: ignore[attr-defined]
    return str(ray.get(asked))


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_a_killed_node_costs_its_shard_once_more(
    missing: float, tmp_path: Path, nodes: utils.Cluster
) -> None:
    matrix = holed(MATRIX, missing) if missing else MATRIX
    other = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    path = matrix.save(tmp_path / "t.parquet")
    source = ex.engines.ray(path, address=nodes.address, shards=2, cache=tmp_path / "cache")
    source.suited(Unknowns.of(ex.irt.MODELS["2pl"], "binomial", source.tasks, None))
    before = {node_of(worker) for worker in source.workers}
    assert len(before) == 2
    usual, killed = source.results, []

    def killing(*given: object, **how: object) -> object:
        answers = usual(*given, **how)  # type: ignore[arg-type]
        if source.passes == 4 and not killed:
            killed.append(other)
            first = next(answers)  # all are asked by now
            nodes.remove_node(other, allow_graceful=False)
            nodes.add_node(num_cpus=1)
            return itertools.chain([first], answers)
        return answers

    source.results = killing  # type: ignore[method-assign, assignment]
    fit = ex.irt.fit(source, starts=1)
    after = {node_of(worker) for worker in source.workers}
    assert killed and len(after) == 2 and after != before
    assert_same_fit(fit, ex.irt.fit(matrix, starts=1, errors=False))


def test_a_cluster_without_the_package_is_said_in_one_sentence(
    tmp_path: Path, nodes: utils.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    absent = "raise ModuleNotFoundError(\"No module named 'examiner'\", name='examiner')\n"
    (tmp_path / "elsewhere" / "examiner.py").write_text(absent)
    monkeypatch.setattr(
        engine, "worker_environment", lambda: {"PYTHONPATH": str(tmp_path / "elsewhere")}
    )
    source = ex.engines.ray(MATRIX.save(tmp_path / "t.parquet"), address=nodes.address, shards=1)
    with pytest.raises(
        ex.InputError, match=r"^A node of the Ray cluster lacks the package \(.*\)\. "
    ):
        ex.irt.fit(source)

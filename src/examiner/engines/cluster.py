"""Fits on a Ray cluster: the E-step is a map over shards of agents, the M-step stays here."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from examiner.engines.decoded import DecodedFolder, Progress
from examiner.engines.shard_places import Source
from examiner.engines.shards import ParquetSource, decoded_in
from examiner.irt import BlockFunction, PassResult, Response, Totals, Unknowns
from examiner.messages import InputError
from examiner.workers import connected, reason_of, worker_environment


class _Connection:
    """A cluster that was started or joined here, left with the last source that holds it."""

    def __init__(self, ray: Any, address: str) -> None:  # Any: Ray is an extra
        weakref.finalize(self, _leave, ray, address)


def _leave(ray: Any, address: str) -> None:  # Any: likewise
    if ray.is_initialized() and _address(ray) == address:  # else somebody left it before
        ray.shutdown()


def _address(ray: Any) -> str:  # Any: likewise
    return str(ray.get_runtime_context().gcs_address)


_OURS: weakref.WeakValueDictionary[str, _Connection] = weakref.WeakValueDictionary()
"""By the addresses of clusters."""


class BlockWorker:
    """Runs functions on some blocks of agents, on another machine: it reads them from decoded files itself.

    One that is lost is begun anew by Ray, reads its agents again, and is asked once more.
    """

    def __init__(
        self, folder: str, agents: tuple[int, int], memory: float, response: Response, plain: bool
    ) -> None:
        self._source = ParquetSource(DecodedFolder(Path(folder)), response, memory, range(*agents))
        self._source.plain = plain

    def run(self, function: BlockFunction, job: Any) -> Totals:  # Any: what the function takes
        """Return the sums over its blocks, and numbers of their agents."""
        return self._source.total(function, job)


def share_of_core(shards: int, free: float) -> float:
    """Return which part of a core each shard holds, so that all find one; nothing where none is free.

    >>> share_of_core(2, 4.0), share_of_core(3, 2.0), share_of_core(2, 0.0)
    (1.0, 0.5, 0.0)
    """
    return 1.0 / math.ceil(shards / int(free)) if free >= 1 else 0.0


class RaySource(ParquetSource):
    """Blocks of agents on the workers of a Ray cluster."""

    def __init__(
        self,
        held: DecodedFolder,
        response: Response | None,
        address: str | None,
        shards: int | None,
        memory: float,
    ) -> None:
        super().__init__(held, response, memory)
        try:
            self._ray, ours = connected(address)
        except ValueError as problem:
            raise InputError(str(problem)) from None
        self.address = _address(self._ray)
        self._connection = _Connection(self._ray, self.address) if ours else _OURS.get(self.address)
        if self._connection is not None:
            _OURS[self.address] = self._connection
        agents = len(held.whole.agents)
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        # a worker with fewer agents costs more time than it saves
        count = min(shards or cores, max(1, agents // 64))
        self._edges = np.linspace(0, agents, count + 1).astype(int).tolist()
        # Cores that other sources of ours hold would be waited for without end.
        ours_held = sum(one.cores for one in _LIVE if one.address == self.address)
        self._core = share_of_core(count, cores - ours_held)
        self.cores: float = self._core * count
        self.workers: list[Any] = []  # Any: handles of Ray
        _LIVE.add(self)

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with workers that have the statistics that a model needs."""
        super().suited(unknowns)
        # A lost worker is begun again wherever there is a core, and what it was asked is asked again.
        options = {
            "num_cpus": self._core,
            "max_restarts": -1,
            "max_task_retries": -1,
            "runtime_env": {"env_vars": worker_environment()},
        }
        kind = self._ray.remote(BlockWorker).options(**options)
        arguments = str(self.decoded.folder.absolute()), self.memory, self.response, self.plain
        self.workers = []  # those of another model give their cores back first
        self.workers = [
            kind.remote(arguments[0], agents, *arguments[1:]) for agents in pairwise(self._edges)
        ]
        return self

    def results(self, function: BlockFunction, job: Any) -> Iterator[PassResult]:
        """Yield what a function returns for the blocks of each worker, which all run at once."""
        self.decoded.check()
        sent = self._ray.put(job)
        for answer in [worker.run.remote(function, sent) for worker in self.workers]:
            totals: Totals = self._answered(answer)
            yield PassResult(totals.sums, totals.agents, None)

    def _answered(self, answer: Any) -> Any:  # Any: Ray's references, and what they stand for
        errors = self._ray.exceptions
        try:
            return self._ray.get(answer)
        except errors.RayTaskError as problem:
            cause = problem.cause
            if isinstance(cause, InputError):
                raise type(cause)(str(cause)) from None
            raise self._no_worker(reason_of(cause)) from None
        except errors.RayError as problem:
            raise self._no_worker(_cause(problem)) from None

    def _no_worker(self, said: str) -> InputError:
        if "ModuleNotFoundError" in said or "No module named" in said:
            return InputError(
                f"A node of the Ray cluster lacks the package ({said[:160]}). Install the same examiner on "
                f"every node: pip install 'examiner[ray]'."
            )
        return InputError(
            f"A worker of the Ray cluster cannot go on: {said[:200]}. Check that every node sees the "
            f"folder {str(self.decoded.folder)!r} (`--cache`)."
        )


_LIVE: weakref.WeakSet[RaySource] = weakref.WeakSet()


def _cause(problem: Exception) -> str:
    """The line of what Ray says that names the cause."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    named = [line for line in lines if "Error" in line]
    return (named or lines or [type(problem).__name__])[-1]


def ray(
    source: Source,
    *,
    address: str | None = None,
    shards: int | None = None,
    memory: float = 2.0,
    cache: str | Path | None = None,
    measure: str | None = None,
    success: float | None = None,
    response: Response | None = None,
    progress: Progress | None = None,
) -> RaySource:
    """Return a source for `irt.fit` of Parquet files whose E-steps run on a Ray cluster.

    Files, also those at a URL, are decoded once, here, as `sharded` does; workers read their agents from
    the folder `cache`, which every node must see. `address` is that of a running cluster ("auto" finds the
    one on this machine); without it one is started here. There is a shard of agents for each core, or so
    many `shards`, each within `memory` GB. A worker or node that is lost costs its shard once more.

    >>> from examiner.irt import fit
    >>> fit(ray("leaderboard/", address="auto", cache="/shared/packed"))  # doctest: +SKIP
    """
    folder = decoded_in(
        cache, source, memory=memory, measure=measure, success=success, progress=progress
    )
    return RaySource(folder, response, address, shards, memory)

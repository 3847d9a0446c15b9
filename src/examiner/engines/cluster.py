"""Fits on a Ray cluster: the E-step is a map over shards of agents, the M-step stays here."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.engines.packed import Packed, Progress
from examiner.engines.shard_places import Source
from examiner.engines.shards import OnDisk, Shards, packed_in
from examiner.irt import (
    Asked,
    Expected,
    ExponentialStatistics,
    ItemParameters,
    PartedSource,
    Quadrature,
    Response,
    added,
    added_up,
    in_order,
)
from examiner.irt import item_curves as curves
from examiner.messages import InputError
from examiner.workers import connected, reason_of, worker_environment

_FEWEST_AGENTS = 64
"""Shards of fewer agents cost more to ask than to answer."""


class _Connection:
    """A cluster that was started or joined here, left with the last source that holds it."""

    def __init__(self, ray: Any, place: str) -> None:  # Any: Ray is an extra
        weakref.finalize(self, _leave, ray, place)


def _leave(ray: Any, place: str) -> None:  # Any: likewise
    if ray.is_initialized() and _place(ray) == place:  # else somebody left it before
        ray.shutdown()


def _place(ray: Any) -> str:  # Any: likewise
    return str(ray.get_runtime_context().gcs_address)


_OURS: weakref.WeakValueDictionary[str, _Connection] = weakref.WeakValueDictionary()
"""By the addresses of clusters."""


class ShardWorker:
    """Answers for some agents, on another machine: it reads them from the packed responses itself.

    One that is lost is begun anew by Ray, reads its agents again, and is asked once more.
    """

    def __init__(self, folder: str, within: tuple[int, int], memory: float) -> None:
        held = Packed.open(Path(folder))
        self._shards = Shards(held, memory, range(*within))

    def summed(
        self, response: Response, items: ItemParameters, rule: Quadrature, simple: bool
    ) -> Expected:
        """Return the statistics of its agents, without the curves that all have in common."""
        found = added(self._shards.summed(response, items, rule, simple=simple))
        if isinstance(found, ExponentialStatistics):
            return replace(found, rising=np.empty(0))
        return found

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the successes of each task, weighted by agents."""
        return self._shards.weighted(weights)

    def total(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return the sums of what its agents answer."""
        return self._shards.total(asked)

    def each(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return what is answered about each of its agents."""
        return self._shards.each(asked)


def share_of_core(shards: int, free: float) -> float:
    """Return which part of a core each shard holds, so that all find one; nothing where none is free.

    >>> share_of_core(2, 4.0), share_of_core(3, 2.0), share_of_core(2, 0.0)
    (1.0, 0.5, 0.0)
    """
    return 1.0 / math.ceil(shards / int(free)) if free >= 1 else 0.0


class RayShards(OnDisk):
    """Shards of agents on the workers of a Ray cluster."""

    def __init__(
        self, held: Packed, address: str | None, shards: int | None, memory: float
    ) -> None:
        super().__init__(held)
        try:
            self._ray, ours = connected(address)
        except ValueError as problem:
            raise InputError(str(problem)) from None
        self.place = _place(self._ray)
        self._connection = _Connection(self._ray, self.place) if ours else _OURS.get(self.place)
        if self._connection is not None:
            _OURS[self.place] = self._connection
        agents = len(held.whole.agents)
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        count = min(shards or cores, max(1, agents // _FEWEST_AGENTS))
        edges = np.linspace(0, agents, count + 1).astype(int).tolist()
        # Cores that other sources of ours hold would be waited for without end.
        ours_held = sum(one.cores for one in _LIVE if one.place == self.place)
        core = share_of_core(count, cores - ours_held)
        self.cores: float = core * count
        # A lost worker is begun again wherever there is a core, and what it was asked is asked again.
        options = {
            "num_cpus": core,
            "max_restarts": -1,
            "max_task_retries": -1,
            "runtime_env": {"env_vars": worker_environment()},
        }
        kind = self._ray.remote(ShardWorker).options(**options)
        folder = str(held.folder.absolute())
        self.workers = [
            kind.remote(folder, (start, stop), memory) for start, stop in pairwise(edges)
        ]
        _LIVE.add(self)

    def summed(
        self, response: Response, items: ItemParameters, rule: Quadrature, *, simple: bool
    ) -> Iterator[Expected]:
        """Yield the statistics of each shard, which all are asked for at once."""
        self.begin()
        sent = self._ray.put(items), self._ray.put(rule)
        asked = [worker.summed.remote(response, *sent, simple) for worker in self.workers]
        for place, answer in enumerate(asked):
            found = self._answered(answer)
            assert isinstance(found, Expected)
            yield with_curves(_writeable(found), items) if place == 0 else _writeable(found)

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the successes of each task, weighted by agents."""
        self.begin()
        sent = self._ray.put(weights)
        asked = [worker.weighted.remote(sent) for worker in self.workers]
        return np.asarray(np.sum([self._answered(answer) for answer in asked], axis=0))

    def total(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return the sums of what each shard answers."""
        self.begin()
        sent = self._ray.put(asked)
        answers = [worker.total.remote(sent) for worker in self.workers]
        return added_up(self._answered(answer) for answer in answers)

    def each(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return what is answered about each agent, in their order."""
        self.begin()
        sent = self._ray.put(asked)
        answers = [worker.each.remote(sent) for worker in self.workers]
        return in_order(self._answered(answer) for answer in answers)

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
            raise self._no_worker(_told(problem)) from None

    def _no_worker(self, said: str) -> InputError:
        if "ModuleNotFoundError" in said or "No module named" in said:
            return InputError(
                f"A node of the Ray cluster lacks the package ({said[:160]}). Install the same examiner on "
                f"every node: pip install 'examiner[ray]'."
            )
        return InputError(
            f"A worker of the Ray cluster cannot go on: {said[:200]}. Check that every node sees the "
            f"folder {str(self.packed.folder)!r} (`--cache`)."
        )


_LIVE: weakref.WeakSet[RayShards] = weakref.WeakSet()


def with_curves(found: Expected, items: ItemParameters) -> Expected:
    """Return the same with curves at all nodes, of which a worker knows those that its own agents reach."""
    if not isinstance(found, ExponentialStatistics):
        return found
    return replace(found, rising=curves(items, found.nodes).rising)


def _writeable(found: Expected) -> Expected:
    """The same with sums that may be added to: arrays from Ray lie in shared memory and may not be."""
    if isinstance(found, ExponentialStatistics):
        return replace(found, mass=found.mass.copy())
    sums = tuple(part.copy() for part in found.sums)  # type: ignore[attr-defined]
    return replace(found, mass=found.mass.copy(), sums=sums)  # type: ignore[attr-defined, call-arg]


def _told(problem: Exception) -> str:
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
) -> PartedSource:
    """Return a source for `irt.fit` of Parquet files whose E-steps run on a Ray cluster.

    Files, also those at a URL, are decoded once, here, as `sharded` does; workers read their agents from
    the folder `cache`, which every node must see. `address` is that of a running cluster ("auto" finds the
    one on this machine); without it one is started here. There is a shard of agents for each core, or so
    many `shards`, each within `memory` GB. A worker or node that is lost costs its shard once more.

    >>> from examiner.irt import fit
    >>> fit(ray("leaderboard/", address="auto", cache="/shared/packed"))  # doctest: +SKIP
    """
    held = packed_in(cache, source, measure=measure, success=success, progress=progress)
    return PartedSource(RayShards(held, address, shards, memory), response)

"""Fits out of core: Parquet shards are decoded once into Arrow files, and read in blocks at every pass."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from examiner.engines.decoded import PROGRAM, DecodedFolder, Progress, decoded
from examiner.engines.memory import check_memory
from examiner.engines.shard_places import Source
from examiner.irt import Block, Response, ResponseSource, Unknowns, Whole
from examiner.messages import InputError, shorten
from examiner.validation import scheme_of, without_secrets

_PER_CELL, _PER_COUNT, _PER_LISTED = 6, 10, 64
"""Bytes at work for each cell of a block: as read, sorted, and floats of a tile; where cells have many
trials; and for each observed cell where these alone are stored."""
_PER_NODE, _PER_NODE_ALIKE = 48, 28
"""Bytes of tables of [tasks, nodes] in a pass and the M-step after it."""
_FEWEST_ROWS = 64


class ParquetSource(ResponseSource):
    """Decoded shards, of which one block of agents is in memory at a time.

    `within` are the agents that are looked at, by default all.
    """

    def __init__(
        self,
        held: DecodedFolder,
        response: Response | None,
        memory: float,
        within: range | None = None,
    ) -> None:
        chosen: Response = response or ("beta-binomial" if held.whole.most > 1 else "binomial")
        super().__init__(held.whole, chosen)
        self.decoded, self.memory = held, memory
        self.agents_together = agents_within(held.whole, memory)
        self._within = range(len(self.agents)) if within is None else within
        self._kept: Block | None = None

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        self._kept = None
        return super().suited(unknowns)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks, read one after the other; a lone one is kept."""
        self.decoded.check()
        within, step = self._within, self.agents_together
        for start in range(within.start, within.stop, step):
            block = self._kept
            if block is None:
                matrix = self.decoded.matrix(start, min(start + step, within.stop))
                block = self.block(matrix, kept=step >= len(within))
                block.first = start
            if step >= len(within):
                self._kept = block
            yield block


def sharded(
    source: Source,
    *,
    memory: float = 2.0,
    cache: str | Path | None = None,
    measure: str | None = None,
    success: float | None = None,
    response: Response | None = None,
    progress: Progress | None = None,
) -> ParquetSource:
    """Return a source for `irt.fit` of Parquet files that need not fit in memory.

    `source` is a file, a folder (partitioned ones too), a pattern, or a list of these, here or at a URL
    that polars scans ("s3://board/day/*.parquet"); shards hold agent, task and a measure of zeros and
    ones, or successes and trials, or a column for each task. With `success`, results of at least so much
    succeed. They are decoded once, into Arrow files in the folder `cache`, where a later call finds them
    again, or in a temporary one. Each pass of the fit reads these files in blocks of agents, so that about
    `memory` GB are used in all.

    >>> from examiner.irt import ItemParameters, fit, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> table = simulate(items, 100, rng=0)
    >>> path = table.save(Path(tempfile.mkdtemp()) / "table.parquet")
    >>> source = sharded(path)
    >>> abs(fit(source).log_likelihood - fit(table, errors=False).log_likelihood) < 1e-6
    True
    """
    folder = decoded_in(
        cache, source, memory=memory, measure=measure, success=success, progress=progress
    )
    return ParquetSource(folder, response, memory)


def decoded_in(
    cache: str | Path | None,
    source: Source,
    *,
    memory: float,
    measure: str | None,
    success: float | None,
    progress: Progress | None,
) -> DecodedFolder:
    """Return decoded shards in a folder, or in a temporary one that goes with them."""
    check_memory(memory)
    if scheme_of(cache) is not None:
        raise InputError(
            f"Decoded shards are kept in a folder, on this machine or shared, and not at a URL such as "
            f"{shorten(without_secrets(cache), 200)}. Name a folder (`--cache`)."
        )
    folder = Path(tempfile.mkdtemp(prefix="examiner-")) if cache is None else Path(cache)
    options: dict[str, Any] = {"measure": measure, "success": success, "memory": memory}
    try:
        responses = decoded(source, folder, progress=progress, **options)
    except BaseException:
        if cache is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if cache is None:
        weakref.finalize(responses, shutil.rmtree, folder, ignore_errors=True)
    return responses


def agents_within(whole: Whole, memory: float) -> int:
    """Return how many agents fit in so many GB besides what a fit needs in any case."""
    check_memory(memory)
    tasks, agents = len(whole.tasks), len(whole.agents)
    trials = float(whole.tried.sum()) / agents
    nodes = 200 if whole.alike else int(12 * np.sqrt(1.0 + 0.25 * trials) / 0.8) + 1
    needed = PROGRAM + 1e-9 * (_PER_NODE_ALIKE if whole.alike else _PER_NODE) * tasks * nodes
    an_agent = 1e-9 * (_PER_CELL if whole.most < 256 else _PER_COUNT) * tasks
    if whole.listed:
        an_agent = 1e-9 * (_PER_LISTED * whole.cells / agents + 32 * nodes)
    together = int((memory - needed) / an_agent)
    if together < min(_FEWEST_ROWS, agents):
        least = needed + _FEWEST_ROWS * an_agent
        raise InputError(
            f"{memory:g} GB of memory are too little for {tasks:,} tasks. Give at least {least:.1f}."
        )
    return min(together, agents)

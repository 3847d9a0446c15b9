"""Fits out of core: Parquet shards are decoded once into bytes on disk, and passed over in blocks."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.engines.memory import check_memory
from examiner.engines.packed import Packed, Progress, packed
from examiner.engines.shard_places import Source
from examiner.irt import (
    Asked,
    Expected,
    ItemParameters,
    Part,
    PartedSource,
    Quadrature,
    Response,
    Steps,
    TooLittleMemoryError,
    Whole,
    added_up,
    counts_of,
    in_order,
)
from examiner.messages import InputError, shorten
from examiner.validation import scheme_of, without_secrets

_PROGRAM = 250_000_000
"""Bytes that Python, numpy and polars take before there is any data."""
_PER_CELL = 16
"""Bytes at work for each cell of a block: packed, successes and trials, and both as single floats."""
_PER_COUNT = 24
"""The same where cells have several trials: both as double floats."""
_PER_LISTED = 64
"""The same for each observed cell where these alone are kept: its column in lists of successes and trials,
in the order of the file and in that of success."""
_PER_NODE, _PER_NODE_ALIKE = 48, 28
"""Bytes of tables of [tasks, nodes] in an E-step and the M-step after it; the latter where all agents were
given the same trials, so that curves are theirs in common."""
_FEWEST_ROWS = 64


class OnDisk:
    """Packed responses, and how often they were passed over."""

    def __init__(self, held: Packed) -> None:
        self.packed, self.passes = held, 0

    @property
    def whole(self) -> Whole:
        """What is known of all agents."""
        return self.packed.whole

    def begin(self) -> None:
        """Begin another pass, if all is still as it was."""
        self.packed.check()
        self.passes += 1


class Shards(OnDisk):
    """Blocks of so many agents on disk, of which one is in memory at a time.

    `within` are the agents that are looked at, by default all.
    """

    def __init__(self, held: Packed, memory: float, within: range | None = None) -> None:
        super().__init__(held)
        self.rows, self._memory = rows_within(held.whole, memory), memory
        self._within = range(len(held.whole.agents)) if within is None else within
        self._steps: Steps | None = None
        self._kept: dict[int, Part] = {}

    def summed(
        self, response: Response, items: ItemParameters, rule: Quadrature, *, simple: bool
    ) -> Iterator[Expected]:
        """Yield the statistics of each block of agents."""
        self.begin()
        steps = self._steps
        if steps is None or (steps.response, steps.asked_simple) != (response, simple):
            steps = self._steps = Steps(self.whole, response, simple=simple)
            self._kept = {}
        for block in self._blocks():
            matrix = self.packed.matrix(block.start, block.stop)
            if block.start not in self._kept:
                self._kept[block.start] = steps.part(matrix)
            yield steps.summed(matrix, self._kept[block.start], items, rule)

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the successes of each task, weighted by agents: weights of all, [agents]."""
        self.begin()
        total = np.zeros(len(self.whole.tasks))
        for block in self._blocks():
            won = counts_of(self.packed.matrix(block.start, block.stop), 0, slice(None), np.float32)
            total += weights[block.start : block.stop].astype(np.float32) @ won
        return total

    def total(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return the sums of what each block of agents answers."""
        return added_up(self._answers(asked))

    def each(self, asked: Asked) -> tuple[NDArray[np.float64], ...]:
        """Return what is answered about each agent, in their order."""
        return in_order(self._answers(asked))

    def _answers(self, asked: Asked) -> Iterator[tuple[NDArray[np.float64], ...]]:
        self.begin()
        for block in self._blocks(min(self.rows, rows_for(asked, self._memory))):
            yield asked(self.packed.matrix(block.start, block.stop))

    def _blocks(self, rows: int | None = None) -> Iterator[range]:
        step = rows or self.rows
        for start in range(self._within.start, self._within.stop, step):
            yield range(start, min(start + step, self._within.stop))


def sharded(
    source: Source,
    *,
    memory: float = 2.0,
    cache: str | Path | None = None,
    measure: str | None = None,
    success: float | None = None,
    response: Response | None = None,
    progress: Progress | None = None,
) -> PartedSource:
    """Return a source for `irt.fit` of Parquet files that need not fit in memory.

    `source` is a file, a folder (partitioned ones too), a pattern, or a list of these, here or at a URL
    that polars scans ("s3://board/day/*.parquet"); shards hold agent, task and a measure of zeros and
    ones, or successes and trials, or a column for each task. With `success`, results of at least so much
    succeed. They are decoded once, into a byte for each cell, in the folder `cache`, where a later call
    finds them again, or in a temporary one. Each pass of the fit reads these bytes in blocks, so that
    about `memory` GB are used in all.

    >>> from examiner.irt import ItemParameters, fit, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> table = simulate(items, 100, rng=0)
    >>> path = table.save(Path(tempfile.mkdtemp()) / "table.parquet")
    >>> source = sharded(path)
    >>> abs(fit(source).log_likelihood - fit(table, errors=False).log_likelihood) < 1e-6
    True
    """
    held = packed_in(cache, source, measure=measure, success=success, progress=progress)
    return PartedSource(Shards(held, memory), response)


def packed_in(
    cache: str | Path | None,
    source: Source,
    *,
    measure: str | None,
    success: float | None,
    progress: Progress | None,
) -> Packed:
    """Return packed responses in a folder, or in a temporary one that goes with them."""
    if scheme_of(cache) is not None:
        raise InputError(
            f"Decoded shards are kept in a folder, on this machine or shared, and not at a URL such as "
            f"{shorten(without_secrets(cache), 200)}. Name a folder (`--cache`)."
        )
    folder = Path(tempfile.mkdtemp(prefix="examiner-")) if cache is None else Path(cache)
    try:
        held = packed(source, folder, measure=measure, success=success, progress=progress)
    except BaseException:
        if cache is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if cache is None:
        weakref.finalize(held, shutil.rmtree, folder, ignore_errors=True)
    return held


def rows_within(whole: Whole, memory: float) -> int:
    """Return how many agents fit in so many GB beside what a fit needs in any case."""
    check_memory(memory)
    tasks = len(whole.tasks)
    a_node = _PER_NODE if whole.given is None else _PER_NODE_ALIKE
    needed = _PROGRAM + a_node * tasks * nodes_for(whole)
    an_agent = (_PER_CELL if whole.most == 1 else _PER_COUNT) * tasks
    if whole.listed is not None:
        an_agent = _PER_LISTED * whole.listed // len(whole.agents) + 32 * nodes_for(whole)
    rows = int((memory * 1e9 - needed) // an_agent)
    least = (needed + _FEWEST_ROWS * an_agent) / 1e9
    if not rows >= min(_FEWEST_ROWS, len(whole.agents)):
        raise InputError(
            f"{memory:g} GB of memory are too little for {tasks:,} tasks. Give at least {least:.1f}."
        )
    return min(rows, len(whole.agents))


def rows_for(asked: Asked, memory: float) -> int:
    """Return how many agents fit in so many GB beside what a question needs in any case."""
    needed = _PROGRAM + asked.beside
    rows = int((memory * 1e9 - needed) // asked.an_agent)
    if rows < _FEWEST_ROWS:
        least = (needed + _FEWEST_ROWS * asked.an_agent) / 1e9
        raise TooLittleMemoryError(
            f"{asked.wanted} need {least:.1f} GB of memory, and {memory:g} are given."
        )
    return rows


def nodes_for(whole: Whole) -> int:
    """Return about how many nodes an E-step has: as dense as the tasks are informative."""
    if whole.given is not None:
        return 200  # Chebyshev nodes, whatever the length
    trials = float(whole.tried.sum()) / len(whole.agents)
    return int(12 * np.sqrt(1.0 + 0.25 * trials) / 0.8) + 1

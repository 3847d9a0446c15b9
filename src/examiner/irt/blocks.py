"""Agents some at a time: what the data give a likelihood, in blocks that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from examiner.irt.estimation.kernels import Kernel, kernel_for
from examiner.irt.items import Floats, ItemParameters
from examiner.results import ResponseMatrix

_CELLS = 2_000_000


class Block(NamedTuple):
    """Some agents: their rows, the kernel's statistics T_c [agents, tasks], and Σ h(x) of each."""

    rows: slice
    statistics: tuple[Floats, ...]
    constant: Floats


def blocks(
    matrix: ResponseMatrix, items: ItemParameters, *, width: int = 0, most: int | None = None
) -> Iterator[tuple[Kernel, Block]]:
    """Yield the agents in blocks of at most about two million agents × (tasks or `width`), or `most`.

    Counts of a block depend on its own rows alone. Scores are moved off 0 and 1 by a rule that looks
    at whole columns, so that their statistics are taken once and then cut.
    """
    kernel = kernel_for(items.response, matrix)
    agents, tasks = matrix.shape
    step = max(1, min(_CELLS // max(tasks, width, 1), most or agents))
    if step >= agents:
        whole = Block(slice(0, agents), kernel.statistics(matrix), kernel.constant(matrix))
        yield kernel, whole
        return
    if not matrix.is_counts:
        statistics, constant = kernel.statistics(matrix), kernel.constant(matrix)
    for start in range(0, agents, step):
        rows = slice(start, min(start + step, agents))
        if matrix.is_counts:
            some = matrix.take(range(rows.start, rows.stop))
            yield kernel, Block(rows, kernel.statistics(some), kernel.constant(some))
        else:
            yield kernel, Block(rows, tuple(data[rows] for data in statistics), constant[rows])

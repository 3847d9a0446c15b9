"""Orders of names and rows that no file decides: the natural one, and that of what was observed.

Row order changes no number where tables are put in natural order. Draws in the order of content do not
depend on names either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import count_distinct, name_column, names_of, packed_keys, sorted_rows
from examiner.results.keys import is_sortable
from examiner.results.matrix import ResponseMatrix
from examiner.results.observed_cells import ObservedCells
from examiner.results.table import Results
from examiner.validation import Floats, natural_key, smallest_unsigned

Hashes = NDArray[np.uint64]

_CHUNK = 1 << 15
"""Rows hashed together: their hashes stay in the cache."""


class ContentOrder(NamedTuple):
    """The positions of agents and of tasks in an order, such as that of their content."""

    agents: NDArray[np.intp]
    tasks: NDArray[np.intp]


def in_order(results: Results) -> Results:
    """Return the same results with names in natural order (`agent_2` before `agent_10`) and sorted rows.

    Rows are sorted by agent, item and run; within a run by what was observed, so that sums over trials
    are equal to the last bit, or as they stand in a training log, where they follow time.

    >>> table = {"agent": ["b10", "b2"], "task": ["t", "t"], "score": [1.0, 2.0]}
    >>> in_order(Results.from_dict(table)).agents
    ('b2', 'b10')
    """
    keys = ("task", *results.item, "run", "trial")
    frame = results.coded()
    frame = frame.with_columns(
        _naturally_coded(frame[name]) for name in keys if isinstance(frame[name].dtype, pl.Enum)
    )
    agents = [natural_key(name) for name in results.agents]
    items = [[natural_key(str(part)) for part in item] for item in results.items]
    order = (sorted(range(len(names)), key=names.__getitem__) for names in (agents, items))
    return _arranged(results, frame, ContentOrder(*map(np.array, order)))


def _naturally_coded(column: pl.Series) -> pl.Series:
    names = names_of(column)
    order = np.array(sorted(range(len(names)), key=lambda place: natural_key(names[place])))
    places = _places(order)[column.to_physical().to_numpy()]
    return name_column(column.name, [names[place] for place in order], places)


def _arranged(results: Results, frame: pl.DataFrame, order: ContentOrder) -> Results:
    """The results with this frame, and with agents, items and rows in order."""
    agents = [results.agents[at] for at in order.agents]
    items = tuple(results.items[at] for at in order.tasks)
    codes = _places(order.tasks)[results.task_codes]
    columns = [name_column("agent", agents, _places(order.agents)[results.agent_codes])]
    if not results.item:
        columns.append(name_column("task", [str(item[0]) for item in items], codes))
    frame = frame.with_columns(columns)
    rows = _row_order(frame.with_columns(pl.Series("item code", codes)), results)
    if rows is not None:
        frame, codes = frame[rows], codes[rows]
    return replace(
        results,
        _frame=frame,
        _task_codes=codes,
        agents=tuple(agents),
        tasks=tuple(results.tasks[at] for at in order.tasks),
        items=items,
    )


def _row_order(frame: pl.DataFrame, results: Results) -> NDArray[np.int64] | None:
    """Where the rows of the ordered table stand in this one; None where it is in order already."""
    keys = ["agent", "item code", "run"]
    packed = packed_keys(frame, keys)
    columns = [pl.Series(packed[0])] if packed else [frame[key] for key in keys]
    several = packed is None or count_distinct(*packed) < len(frame)
    if several and not results.provenance.training:
        # What was observed, and all else that is known of a row; the trial last: its number may be ours.
        known = [name for name in results.attributes if is_sortable(frame[name])]
        columns += [frame[name] for name in (*results.measures, *known, "trial")]
    return sorted_rows(columns)


def content_order(
    agent: NDArray[np.integer],
    task: NDArray[np.integer],
    values: Sequence[NDArray[np.generic]],
    agents: Sequence[str],
    tasks: Sequence[str],
) -> ContentOrder:
    """Order agents and tasks by a list of observed values alone; `agent` and `task` say whose they are.

    A task is described by the set of its values and agents, an agent by the set of its values and tasks,
    in turn, until no more of them are distinguished (colour refinement). Names decide only between those
    with equal descriptions, as identical rows or columns have. Values are compared in single precision,
    so that rounding does not decide.

    References: Weisfeiler & Leman (1968).

    >>> order = content_order(np.array([0, 1]), np.array([0, 0]), [np.array([5.0, 2.0])], "ab", "t")
    >>> turned = content_order(np.array([0, 1]), np.array([0, 0]), [np.array([2.0, 5.0])], "ab", "t")
    >>> order.agents.tolist() == turned.agents.tolist()[::-1]
    True
    """
    of_agents, distinct = np.zeros(len(agents), np.uint64), 0
    while True:
        of_tasks = _described(task, len(tasks), agent, of_agents, values)
        of_agents = _described(agent, len(agents), task, of_tasks, values)
        before, distinct = distinct, sum(np.unique(part).size for part in (of_agents, of_tasks))
        if distinct in (before, len(agents) + len(tasks)):
            return ContentOrder(_ordered(of_agents, agents), _ordered(of_tasks, tasks))


def _described(
    code: NDArray[np.integer],
    size: int,
    other_code: NDArray[np.integer],
    others: Hashes,
    values: Sequence[NDArray[np.generic]],
) -> Hashes:
    """Return for each of `size` agents (or tasks) a hash of the set of its values, and whose they are."""
    sums, others = np.zeros(size, np.uint64), mixed(others)
    for start in range(0, len(code), _CHUNK):
        rows = slice(start, start + _CHUNK)
        hashes = others[other_code[rows]]
        for part in values:
            with np.errstate(over="ignore"):
                single = np.asarray(part[rows], dtype=np.float32)
            if part.dtype.kind == "f":
                single = single + np.float32(0)  # −0 is 0
                single[np.isnan(single)] = np.nan
            hashes = mixed(hashes ^ single.view(np.uint32))
        np.add.at(sums, code[rows], hashes)
    return sums


def _ordered(hashes: Hashes, names: Sequence[str]) -> NDArray[np.intp]:
    order = np.argsort(hashes, kind="stable")
    if (hashes[order][1:] == hashes[order][:-1]).any():
        keys = [
            (value, natural_key(name)) for value, name in zip(hashes.tolist(), names, strict=True)
        ]
        order = np.array(sorted(range(len(names)), key=keys.__getitem__))
    return order


def mixed(hashes: Hashes) -> Hashes:
    """Mix the bits of whole numbers (splitmix64), so that sums of them identify sets of them.

    References: Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".

    >>> len(set(mixed(np.arange(100, dtype=np.uint64)).tolist()))
    100
    """
    bits = hashes + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    return np.asarray(bits)


def results_in_content_order(results: Results) -> Results:
    """Return the same results with agents, tasks and rows in the order of their content.

    >>> results = Results.from_numpy([[1.0, 2.0], [3.0, 4.0]], agents="ab")
    >>> renamed = Results.from_numpy([[3.0, 4.0], [1.0, 2.0]], agents="ab")
    >>> one, two = results_in_content_order(results), results_in_content_order(renamed)
    >>> one.measure().tolist() == two.measure().tolist()
    True
    """
    return _arranged(results, results.coded(), order_of_results(results))


def order_of_results(results: Results) -> ContentOrder:
    """Return the order of agents and of tasks by all measures.

    >>> order_of_results(Results.from_numpy([[1.0, 2.0], [1.0, 2.0]])).agents
    array([0, 1])
    """
    values = [results.measure(name) for name in results.measures]
    codes = results.agent_codes, results.task_codes
    return content_order(*codes, values, results.agents, results.tasks)


def matrix_in_content_order(matrix: ResponseMatrix) -> ResponseMatrix:
    """Return the same responses with agents and tasks in the order of their content.

    >>> matrix = ResponseMatrix.from_array([[1, 0], [0, 0]], agents="ab")
    >>> renamed = ResponseMatrix.from_array([[0, 0], [1, 0]], agents="ab")
    >>> one, two = matrix_in_content_order(matrix), matrix_in_content_order(renamed)
    >>> (one.to_numpy() == two.to_numpy()).all()
    np.True_
    """
    return matrix.take(*(part.tolist() for part in order_of_matrix(matrix)))


def order_of_matrix(matrix: ResponseMatrix) -> ContentOrder:
    """Return the order of agents and of tasks by their responses.

    >>> len(order_of_matrix(ResponseMatrix.from_array([[1, 0], [0, 0]])).agents)
    2
    """
    cells = matrix.observed_cells
    if cells is None:
        parts = (matrix.successes, matrix.trials) if matrix.is_counts else (matrix.to_numpy(),)
        cells = ObservedCells.within(matrix.observed, *parts)
    return content_order(cells.rows, cells.columns, cells.parts, matrix.agents, matrix.tasks)


def order_of_table(values: Floats, agents: Sequence[str], tasks: Sequence[str]) -> ContentOrder:
    """Return the order of agents and of tasks by a table [agents, tasks], NaN where nothing was observed.

    >>> order_of_table(np.array([[1.0, 1.0]]), "a", "tu").tasks
    array([0, 1])
    """
    cells = ObservedCells.within(~np.isnan(values), values)
    return content_order(cells.rows, cells.columns, cells.parts, agents, tasks)


def _places(order: NDArray[np.intp]) -> NDArray[np.unsignedinteger]:
    """Return where each position of an order stands in it."""
    places = np.empty(len(order), dtype=smallest_unsigned(len(order)))
    places[order] = np.arange(len(order))
    return places

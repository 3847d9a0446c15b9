"""One order of names and rows, whichever order a file had: so that row order changes no number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import (
    count_distinct,
    name_column,
    names_of,
    packed_keys,
)
from examiner.results.keys import is_sortable, item_labels
from examiner.results.row_order import sorted_rows
from examiner.validation import natural_key, smallest_unsigned

if TYPE_CHECKING:
    from examiner.results.table import Results


def in_order(results: Results) -> Results:
    """Return the same results with names in natural order (`agent_2` before `agent_10`) and sorted rows.

    Rows are sorted by agent, item and run; within a run by what was observed, so that sums over trials
    are equal to the last bit, or as they stand in a training log, where they follow time.

    >>> from examiner.results import Results
    >>> table = {"agent": ["b10", "b2"], "task": ["t", "t"], "score": [1.0, 2.0]}
    >>> in_order(Results.from_dict(table)).agents
    ('b2', 'b10')
    """
    frame = results.coded()
    named = ("agent", "task", *results.item, "run", "trial")
    frame = frame.with_columns(
        _naturally_coded(frame[name]) for name in named if isinstance(frame[name].dtype, pl.Enum)
    )
    codes, items = _ordered_items(frame, results)
    order = row_order(frame.with_columns(pl.Series("item code", codes)), results)
    if order is not None:
        frame, codes = frame[order], codes[order]
    return replace(
        results,
        _frame=frame,
        _task_codes=codes,
        agents=tuple(names_of(frame["agent"])),
        tasks=item_labels(items),
        items=items,
    )


def _naturally_coded(column: pl.Series) -> pl.Series:
    names = names_of(column)
    ordered = sorted(names, key=natural_key)
    if ordered == names:
        return column
    position = {name: place for place, name in enumerate(ordered)}
    places = np.array([position[name] for name in names], dtype=smallest_unsigned(len(names)))
    return name_column(column.name, ordered, places[column.to_physical().to_numpy()])


def _ordered_items(
    frame: pl.DataFrame, results: Results
) -> tuple[NDArray[np.unsignedinteger], tuple[tuple[object, ...], ...]]:
    """The item of each row and the items: by task, then by the other columns of an item."""
    if not results.item:
        return frame["task"].to_physical().to_numpy(), tuple(
            (name,) for name in names_of(frame["task"])
        )
    items = results.items
    order = sorted(
        range(len(items)), key=lambda place: [natural_key(str(part)) for part in items[place]]
    )
    places = np.empty(len(items), dtype=smallest_unsigned(len(items)))
    places[order] = np.arange(len(items))
    return places[results.task_codes], tuple(items[place] for place in order)


def row_order(frame: pl.DataFrame, results: Results) -> NDArray[np.int64] | None:
    """Return where the rows of the ordered table stand in this one; None where it is in order already.

    The frame has the column "item code" as well.
    """
    keys = ["agent", "item code", "run"]
    packed = packed_keys(frame, keys)
    columns = [pl.Series(packed[0])] if packed else [frame[key] for key in keys]
    several = packed is None or count_distinct(*packed) < len(frame)
    if several and not results.provenance.training:
        columns += [frame[name] for name in _observed(frame, results)]
    return sorted_rows(columns)


def _observed(frame: pl.DataFrame, results: Results) -> list[str]:
    """Measures, then all else that is known of a row, the trial last: its number may be ours."""
    return [
        *results.measures,
        *(name for name in results.attributes if is_sortable(frame[name])),
        "trial",
    ]

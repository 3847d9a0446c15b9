"""Small numbers for names, keys and runs: what makes ten million rows cheap to check, group and sort."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.validation import smallest_unsigned

Codes = NDArray[np.unsignedinteger]
_SortKey = NDArray[np.integer] | NDArray[np.floating]

_LARGEST_KEY = 2**62  # products of counts stay within 64 bits
# A table of all possible keys pays up to about the size of the rows themselves.
_BITMAP_BYTES_PER_ROW = 16


def compact_names(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Code columns of names by first appearance, in as few bytes as they need.

    Columns that are compact already keep the order of their names, less those that no row has.

    >>> frame = compact_names(pl.DataFrame({"agent": ["b", "a", "b"]}), ["agent"])
    >>> frame["agent"].to_physical().to_list(), names_of(frame["agent"])
    ([0, 1, 0], ['b', 'a'])
    """
    texts = [
        name for name in columns if not isinstance(frame[name].dtype, pl.Enum | pl.Categorical)
    ]
    # One call for all columns: polars then codes them side by side.
    frame = frame.with_columns(pl.col(texts).cast(pl.String).cast(pl.Categorical))
    return frame.with_columns(_compacted(frame[name]) for name in columns)


def compact_numbers(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Keep whole numbers in as few bytes as they need: most tables have one run and one trial.

    >>> compact_numbers(pl.DataFrame({"run": [0, 300]}), ["run"]).schema["run"]
    UInt16
    """
    whole = [name for name in columns if frame[name].dtype.is_integer()]
    return frame.with_columns(_shrunk(frame[name]) for name in whole)


def _shrunk(column: pl.Series) -> pl.Series:
    values = column.to_numpy()
    ends = (np.min_scalar_type(int(end)) for end in (values.min(), values.max()))
    kind = np.result_type(*ends)
    return column if kind.kind == "f" else pl.Series(column.name, values.astype(kind, copy=False))


def name_column(name: str, names: Sequence[str], codes: NDArray[np.integer]) -> pl.Series:
    """Return a compact column of names from the names and their codes.

    >>> name_column("agent", ["b", "a"], np.array([0, 1, 0])).to_list()
    ['b', 'a', 'b']
    """
    compact = codes.astype(smallest_unsigned(len(names)), copy=False)
    return pl.Series(name, compact).cat.to(pl.Enum(names))


def joined_names(columns: Sequence[pl.Series]) -> pl.Series:
    """Return compact columns of names under each other as one, coded by first appearance.

    >>> first = name_column("agent", ["b", "a"], np.array([0, 1]))
    >>> parts = [first, name_column("agent", ["a"], np.array([0]))]
    >>> joined_names(parts).to_list()
    ['b', 'a', 'a']
    """
    number = {name: row for row, name in enumerate(dict.fromkeys(chain(*map(names_of, columns))))}
    kind = smallest_unsigned(len(number))
    codes = [
        np.array([number[name] for name in names_of(column)], dtype=kind)[
            column.to_physical().to_numpy()
        ]
        for column in columns
    ]
    return name_column(columns[0].name, list(number), np.concatenate(codes))


def names_of(series: pl.Series) -> list[str]:
    """Return the names a compact column was coded from.

    >>> names_of(name_column("agent", ["b", "a"], np.array([0, 1, 0])))
    ['b', 'a']
    """
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories.to_list()


def recoded(series: pl.Series, values: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Map a coded column of names through a function of its distinct names: cheap for long columns.

    >>> level = pl.Series("level", ["2", "1", "2"], dtype=pl.Categorical())
    >>> recoded(level, lambda names: names.cast(pl.Int64)).to_list()
    [2, 1, 2]
    """
    distinct = series.unique()
    return values(distinct.cast(pl.String)).gather(_positions(series, distinct))


def unused_names(series: pl.Series) -> list[str]:
    """Return the names of a compact column that no row has.

    >>> unused_names(name_column("agent", ["b", "a"], np.array([0, 0])))
    ['a']
    """
    present = set(series.unique().cast(pl.String))
    return [name for name in names_of(series) if name not in present]


def _compacted(series: pl.Series) -> pl.Series:
    distinct = series.unique(maintain_order=True)
    if isinstance(series.dtype, pl.Enum):
        if len(distinct) == len(names_of(series)):
            return series
        distinct = distinct.sort()  # an Enum sorts by the order of its names
    return name_column(
        series.name, distinct.cast(pl.String).to_list(), _positions(series, distinct)
    )


def _positions(series: pl.Series, distinct: pl.Series) -> Codes:
    """Where each name of a coded column stands among its distinct names."""
    physical = distinct.to_physical().to_numpy()
    position = np.zeros(int(physical.max()) + 1, dtype=smallest_unsigned(len(physical)))
    position[physical] = np.arange(len(physical))
    positions: Codes = position[series.to_physical().to_numpy()]
    return positions


def packed_keys(frame: pl.DataFrame, keys: Sequence[str]) -> tuple[NDArray[np.integer], int] | None:
    """Return one integer per row, alike only for like keys, and the number above the largest.

    None where 64 bits are too few.

    >>> packed_keys(pl.DataFrame({"run": [3, 4], "trial": [0, 7]}), ["run", "trial"])
    (array([ 0, 15], dtype=int32), 16)
    """
    columns = [_codes_of(frame[key]) for key in keys]
    size = math.prod(count for _, count in columns)
    if size > _LARGEST_KEY:
        return None
    packed: NDArray[np.integer] = np.zeros(len(frame), np.int32 if size < 2**31 else np.int64)
    for codes, count in columns:
        np.multiply(packed, count, out=packed)
        np.add(packed, codes, out=packed, casting="unsafe")
    return packed, size


def _codes_of(column: pl.Series) -> tuple[NDArray[np.integer], int]:
    if isinstance(column.dtype, pl.Enum):
        return column.to_physical().to_numpy(), max(len(names_of(column)), 1)
    values = column.to_numpy()
    if not len(values):
        return values, 1
    whole = values.dtype.kind in "iu"
    low, high = (int(values.min()), int(values.max())) if whole else (0, 0)
    if whole and high - low < max(_BITMAP_BYTES_PER_ROW * len(values), 2**16):
        return (values if low == 0 else above(values, low)), high - low + 1
    # Numbers far apart, such as seeds, and fractions: few of them, so that their ranks do.
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks, len(distinct)


def above(values: NDArray[np.integer], low: int) -> NDArray[np.int64]:
    """Return how far numbers are above the lowest of them, in a type that holds it.

    >>> above(np.array([-32768, 255], dtype=np.int16), -32768).tolist()
    [0, 33023]
    >>> above(np.array([7, 2**63 + 7], dtype=np.uint64), 7).tolist()[0]
    0
    """
    if values.dtype == np.uint64:
        return (values - np.uint64(low)).astype(np.int64)
    return np.asarray(np.subtract(values, low, dtype=np.int64))


def count_distinct(packed: NDArray[np.integer], size: int) -> int:
    """Count the different keys; they lie in [0, size).

    >>> count_distinct(np.array([0, 2, 2]), 3)
    2
    """
    if (packed[1:] > packed[:-1]).all():
        return len(packed)
    if size <= _BITMAP_BYTES_PER_ROW * len(packed):
        present = np.zeros(size, dtype=bool)
        present[packed] = True
        return int(np.count_nonzero(present))
    return pl.Series(packed).n_unique()


def by_first_appearance(packed: NDArray[np.integer], size: int) -> tuple[Codes, NDArray[np.int64]]:
    """Code keys by first appearance, and tell the row where each first stood.

    >>> by_first_appearance(np.array([7, 3, 7]), 8)
    (array([0, 1, 0], dtype=uint8), array([0, 1]))
    """
    dense = size <= _BITMAP_BYTES_PER_ROW * len(packed)
    if dense:
        row = np.full(size, -1, dtype=np.int64)
        # Written from the last row to the first: what remains is where each key first stood.
        row[packed[::-1]] = np.arange(len(packed) - 1, -1, -1)
        keys = np.flatnonzero(row >= 0)
        first = row[keys]
    else:
        keys, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    code = np.empty(len(order), dtype=smallest_unsigned(len(order)))
    code[order] = np.arange(len(order))
    if not dense:
        return code[inverse], first[order]
    code_of_key = np.zeros(size, dtype=code.dtype)
    code_of_key[keys] = code
    return code_of_key[packed], first[order]


def sorted_rows(columns: Iterable[pl.Series]) -> NDArray[np.int64] | None:
    """Return where the rows stand when sorted by columns in turn, equal ones as they stand.

    None where they are sorted already. Missing values come last.

    >>> sorted_rows([pl.Series([0, 1, 0]), pl.Series([1.0, 0.0, 0.5])]).tolist()
    [2, 0, 1]
    >>> sorted_rows([pl.Series([0, 0, 1])]) is None
    True
    """
    keys = [_sorting_key(column) for column in columns]
    if _is_sorted(keys):
        return None
    order: NDArray[np.int64] | None = None
    for key in reversed(keys):  # stable sorts, the least important first
        if (key[1:] == key[:-1]).all():
            continue
        within = _stable_order(key if order is None else key[order])
        order = within if order is None else order[within]
    return order


def _sorting_key(column: pl.Series) -> _SortKey:
    """Numbers in the order of a column's values."""
    column = column.to_physical() if isinstance(column.dtype, pl.Enum) else column
    if column.dtype == pl.Boolean:
        column = column.cast(pl.UInt8)
    if not column.dtype.is_numeric():
        column = column.cast(pl.String).rank("dense")
    return (column.fill_null(np.nan) if column.null_count() else column).to_numpy()


def _is_sorted(keys: Sequence[_SortKey]) -> bool:
    equal = np.ones(max(len(keys[0]) - 1, 0), dtype=bool)  # to the row before, in all keys so far
    for key in keys:
        if (equal & ~(key[1:] >= key[:-1])).any():
            return False
        equal &= key[1:] == key[:-1]
        if not equal.any():
            return True
    return True


def _stable_order(key: _SortKey) -> NDArray[np.int64]:
    """As `np.argsort(key, kind="stable")`; whole numbers are sorted with their places in one number.

    Sorting plain numbers is several times as fast as sorting places by them.
    """
    if np.issubdtype(key.dtype, np.integer):
        low, high = int(key.min()), int(key.max())
        if (high - low + 1) * len(key) < _LARGEST_KEY:
            packed = above(cast("NDArray[np.integer]", key), low) * len(key) + np.arange(len(key))
            packed.sort()
            placed: NDArray[np.int64] = packed % len(key)
            return placed
    return np.argsort(key, kind="stable")


def number_within(keys: NDArray[np.integer], by: Iterable[pl.Series] = ()) -> NDArray[np.int64]:
    """Number the rows of each key from zero, sorted by columns, and then in the order they stand.

    >>> number_within(np.array([4, 5, 4])).tolist()
    [0, 0, 1]
    """
    order = sorted_rows([pl.Series(keys), *by])
    ordered = keys if order is None else keys[order]
    places = np.arange(len(keys))
    new = np.append(True, ordered[1:] != ordered[:-1])
    numbers: NDArray[np.int64] = places - np.maximum.accumulate(np.where(new, places, 0))
    if order is None:
        return numbers
    unordered = np.empty_like(numbers)
    unordered[order] = numbers
    return unordered


def run_numbers(
    frame: pl.DataFrame, item: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the runs of each agent on each item by first appearance, [rows]; and the first row of each.

    >>> from examiner.results.keys import complete_keys
    >>> frame = pl.DataFrame({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [7, 7, 5], "trial": [0, 1, 0]})
    >>> run_numbers(complete_keys(frame, []).frame, ["task"])
    (array([0, 0, 1]), array([0, 2]))
    """
    keys = ["agent", *item, "run"]
    packed = packed_keys(frame, keys)
    if packed is None:
        ranks = frame.select(pl.struct(keys).rank("dense")).to_series().to_numpy()
        packed = ranks, int(ranks.max()) + 1
    numbers, first = by_first_appearance(*packed)
    return numbers.astype(np.int64), first

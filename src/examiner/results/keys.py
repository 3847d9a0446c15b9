"""The key of a row: agent, task, item columns, run, trial; completed, coded and checked to be unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.checks import InputError, counted, listed, shorten

Codes = NDArray[np.unsignedinteger]

ITEM_COLUMNS = ("level", "mode", "difficulty")
"""Columns that, where present, say which item of a task was played."""

_LARGEST_KEY = 2**62


class Completed(NamedTuple):
    """A frame whose key columns are all there, and what had to be guessed to get there."""

    frame: pl.DataFrame
    notes: tuple[str, ...]


def complete_keys(frame: pl.DataFrame, item: Sequence[str]) -> Completed:
    """Give every row a run and a trial, and the names their compact types.

    `run` defaults to `seed`, else to `trial`. Without a `trial` column, repeated rows of one key are
    numbered in the order they stand. Whatever was guessed is said in the notes.

    >>> frame = pl.DataFrame({"agent": ["a", "a"], "task": ["t", "t"], "score": [1.0, 2.0]})
    >>> completed = complete_keys(frame, [])
    >>> completed.frame["trial"].to_list()
    [0, 1]
    >>> completed.notes[0]
    "There is no 'trial' column: repeated rows of one agent and task are numbered as trials, up to 2."
    """
    notes: list[str] = []
    frame = _named(frame)
    has_run = "run" in frame.columns or "seed" in frame.columns
    if "run" not in frame.columns and "seed" in frame.columns:
        notes.append("There is no 'run' column: each 'seed' is taken as one run.")
        frame = frame.with_columns(run=pl.col("seed"))
    keys = ["agent", "task", *item, *(["run"] if has_run else [])]
    frame = frame.with_columns(_whole_numbers(frame[name]) for name in keys[2:])
    if "trial" in frame.columns:
        frame = frame.with_columns(_whole_numbers(frame["trial"]))
        guessed = "There is no 'run' column: each trial is taken as one run."
    else:
        numbers = trial_numbers(frame, keys)
        frame = frame.with_columns(trial=numbers)
        most = int(numbers.max()) + 1 if len(numbers) else 0  # type: ignore[arg-type]
        if most > 1:
            of = "agent, task and run" if has_run else "agent and task"
            notes.append(
                f"There is no 'trial' column: repeated rows of one {of} are numbered as trials, "
                f"up to {most:,}."
            )
        guessed = "There is no 'run' column: each repeated row is taken as one run."
    if not has_run:
        frame = frame.with_columns(run=pl.col("trial"))
        if frame["trial"].n_unique() > 1:
            notes.append(guessed)
    return Completed(frame, tuple(notes))


def trial_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> pl.Series:
    """Number the rows of each key from zero, in the order they stand.

    >>> trial_numbers(pl.DataFrame({"run": [4, 4, 5]}), ["run"]).to_list()
    [0, 1, 0]
    """
    packed = _packed(frame, keys)
    if packed is None:
        return frame.select(pl.int_range(pl.len()).over(keys).alias("trial"))["trial"]
    if _ascending(packed) or (key := pl.Series("key", packed)).n_unique() == len(packed):
        return pl.zeros(len(packed), dtype=pl.Int64, eager=True).rename("trial")
    return key.to_frame().select(pl.int_range(pl.len()).over("key").alias("trial"))["trial"]


def item_codes(
    frame: pl.DataFrame, item: Sequence[str]
) -> tuple[Codes, tuple[tuple[object, ...], ...]]:
    """Code the (task, item columns) of each row, in order of first appearance, and list them.

    >>> frame = pl.DataFrame({"agent": ["a"] * 3, "task": ["t", "t", "u"], "level": [1, 0, 1]})
    >>> codes, items = item_codes(complete_keys(frame, ["level"]).frame, ["level"])
    >>> codes.tolist(), items
    ([0, 1, 2], (('t', 1), ('t', 0), ('u', 1)))
    """
    if not item:
        names = names_of(frame["task"])
        return frame["task"].to_physical().to_numpy(), tuple((name,) for name in names)
    packed = _packed(frame, ["task", *item])
    if packed is None:
        raise InputError(f"Too many different values of {listed(item)}. Choose fewer item columns.")
    codes, first_rows = _by_first_appearance(packed)
    return codes, tuple(frame.select("task", *item)[first_rows].rows())


def check_unique(frame: pl.DataFrame, item: Sequence[str]) -> None:
    """Refuse a key that stands twice, naming both rows.

    >>> frame = pl.DataFrame({"agent": ["a", "a"], "task": ["t", "t"], "trial": [0, 0]})
    >>> check_unique(complete_keys(frame, []).frame, [])
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Row 2 repeats the key of row 1: agent 'a', task 't', run '0', \
trial '0'. Give each attempt its own trial, or leave the trial column out to have repeats numbered.
    """
    keys = ["agent", "task", *item, "run", "trial"]
    packed = _packed(frame, keys)
    if packed is not None and (_ascending(packed) or pl.Series(packed).n_unique() == len(packed)):
        return
    repeated = frame.select(keys).is_duplicated()
    if not repeated.any():
        return
    # The first row of the pair is any repeated one whose key comes again.
    rows = frame.select(keys).with_row_index("row").filter(repeated)
    again = rows.filter(~pl.struct(keys).is_first_distinct()).row(0, named=True)
    same = rows.filter(pl.all_horizontal(pl.col(key) == again[key] for key in keys))
    described = ", ".join(f"{key} {shorten(again[key])}" for key in keys)
    raise InputError(
        f"Row {again['row'] + 1} repeats the key of row {same['row'][0] + 1}: {described}. Give each "
        f"attempt its own trial, or leave the trial column out to have repeats numbered.",
        row=again["row"],
    )


def compact_names(series: pl.Series) -> pl.Series:
    """Code a column of names by first appearance, in as few bytes as they need.

    >>> compact_names(pl.Series(["b", "a", "b"])).to_physical().to_list()
    [0, 1, 0]
    """
    if not isinstance(series.dtype, pl.Enum):
        names = series.unique(maintain_order=True)
        return series.cast(pl.Enum(names.cast(pl.String)))
    present = series.unique(maintain_order=True).cast(pl.String)
    if present.to_list() == names_of(series):
        return series
    return series.cast(pl.Enum(present))


def name_column(names: Sequence[str], codes: NDArray[np.integer]) -> pl.Series:
    """Return a compact column of names from the names and their codes.

    >>> name_column(["b", "a"], np.array([0, 1, 0])).to_list()
    ['b', 'a', 'b']
    """
    return pl.Series(names, dtype=pl.Enum(names)).gather(codes)


def names_of(series: pl.Series) -> list[str]:
    """Return the names a compact column was coded from.

    >>> names_of(compact_names(pl.Series(["b", "a", "b"])))
    ['b', 'a']
    """
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories.to_list()


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    for name in ("agent", "task"):
        column = frame[name]
        if not isinstance(column.dtype, (pl.String, pl.Enum, pl.Categorical)):
            frame = frame.with_columns(column.cast(pl.String))
        missing = column.null_count()
        if missing:
            row = int(column.is_null().arg_max() or 0)
            raise InputError(
                f"Row {row + 1} has no {name} ({counted(missing, 'row')} without one). "
                f"Every row needs an agent and a task.",
                row=row,
            )
    frame = frame.with_columns(compact_names(frame["agent"]), compact_names(frame["task"]))
    for name in ("agent", "task"):
        if "" in set(names_of(frame[name])):
            row = int((frame[name].cast(pl.String) == "").arg_max() or 0)
            raise InputError(
                f"Row {row + 1} has an empty {name} name. Give every {name} a name.", row=row
            )
    return frame


def _whole_numbers(column: pl.Series) -> pl.Series:
    """A key column as whole numbers where it holds them, else as text; never missing."""
    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise InputError(
            f"Row {row + 1} has no {column.name}. Every row needs a value there, or drop the column.",
            row=row,
        )
    if column.dtype.is_integer():
        return column.cast(pl.Int64)
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        if whole.null_count() == 0 and (whole.cast(pl.Float64) == column.cast(pl.Float64)).all():
            return whole
    return column.cast(pl.String)


def _packed(frame: pl.DataFrame, keys: Sequence[str]) -> NDArray[np.int64] | None:
    """One integer per key, alike only for like keys; None where 64 bits are too few."""
    packed = np.zeros(len(frame), dtype=np.int64)
    size = 1
    for key in keys:
        codes, count = _codes_of(frame[key])
        size *= count
        if size > _LARGEST_KEY:
            return None
        packed *= count
        packed += codes
    return packed


def _codes_of(column: pl.Series) -> tuple[NDArray[np.integer], int]:
    if isinstance(column.dtype, pl.Enum):
        return column.to_physical().to_numpy(), max(len(names_of(column)), 1)
    if column.dtype == pl.Int64 and len(column):
        values = column.to_numpy()
        low, high = int(values.min()), int(values.max())
        if high - low < _LARGEST_KEY:
            return (values if low == 0 else values - low), high - low + 1
    ranks = column.rank("dense").to_numpy().astype(np.int64) - 1
    return ranks, int(ranks.max()) + 1 if len(ranks) else 1


def _ascending(packed: NDArray[np.int64]) -> bool:
    return bool((packed[1:] > packed[:-1]).all())


def _by_first_appearance(packed: NDArray[np.int64]) -> tuple[Codes, list[int]]:
    """Codes of packed keys by first appearance, and the row where each first stood."""
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    return place[inverse], first[order].tolist()

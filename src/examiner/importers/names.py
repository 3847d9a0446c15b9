"""Names from the path as columns of the table, beside those the file has itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.results.codes import name_column
from examiner.wording import InputError, shorten

AGENT_COLUMNS = (
    "agent",
    "algorithm",
    "algo",
    "model",
    "method",
    "technique",
    "controller",
    "player",
)
TASK_COLUMNS = ("task", "game", "env", "environment", "env_id", "env_name", "benchmark", "dataset")


def with_given(frame: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Add names from the path as columns; one the table has already must not say otherwise.

    >>> with_given(pl.DataFrame({"score": [1.0]}), {"agent": "dqn", "run": "3"}).row(0)
    (1.0, 'dqn', 3)
    """
    for name, value in given.items():
        if name not in frame.columns:
            continue
        own = frame[name].drop_nulls().cast(pl.String, strict=False)
        other = own.filter(own != value)
        if len(other):
            raise InputError(
                f"The path says that the {name} is {shorten(value)}, and the column {shorten(name)} "
                f"says {shorten(other[0])}. Give the template's name another name, or drop the column."
            )
    added = [
        column_of(name, [value]).new_from_index(0, len(frame))
        for name, value in given.items()
        if name not in frame.columns
    ]
    return frame.with_columns(added)


def column_of(name: str, values: Sequence[str]) -> pl.Series:
    """Make a column of names: whole numbers where every name is one as Python writes it.

    >>> column_of("run", ["1", "2"]).to_list(), column_of("run", ["01", "2"]).to_list()
    ([1, 2], ['01', '2'])
    """
    if name not in ("agent", "task") and all(isinstance(_plain(value), int) for value in values):
        return pl.Series(name, [int(value) for value in values], dtype=pl.Int64)
    return pl.Series(name, values, dtype=pl.String)


def spread(name: str, values: Sequence[str], places: NDArray[np.integer]) -> pl.Series:
    """Make a long column of few names: for each row, the value at its place.

    >>> spread("agent", ["dqn", "ppo", "dqn"], np.array([2, 2, 1])).to_list()
    ['dqn', 'dqn', 'ppo']
    """
    column = column_of(name, values)
    if column.dtype != pl.String:
        return column.gather(places)
    codes: dict[str, int] = {}
    coded = np.array([codes.setdefault(value, len(codes)) for value in values])
    return name_column(name, list(codes), coded[places])


def _plain(value: str) -> int | str:
    """A whole number where the text is one that Int64 holds and that Python would write so."""
    if len(value) < 19 and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
        number = int(value)
        return number if str(number) == value else value
    return value

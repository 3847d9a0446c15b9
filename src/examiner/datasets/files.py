"""The files beside this code, read so that they are found in a folder, a wheel or a zip alike.

Tables of papers are CSV: anyone can read and compare them. Episodes played here are Parquet, as exported.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import polars as pl

_ROOM = "examiner.datasets"


def card_fields(name: str) -> dict[str, Any]:  # Any: TOML values, given a type by Card
    """Return the fields of a card as they stand in its file.

    >>> card_fields("atari-typology")["year"]
    2021
    """
    text = files(_ROOM).joinpath("cards", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def data_bytes(file: str) -> bytes:
    """Return a data file as it is stored.

    >>> data_bytes("atari-human-random.csv")[:17]
    b'game,random,human'
    """
    return files(_ROOM).joinpath("data", file).read_bytes()


def data_frame(file: str) -> pl.DataFrame:
    """Return a data file as a frame; an empty cell is null.

    >>> data_frame("atari-human-random.csv").shape
    (57, 3)
    """
    if file.endswith(".parquet"):
        return pl.read_parquet(data_bytes(file))
    return pl.read_csv(data_bytes(file), infer_schema_length=None)

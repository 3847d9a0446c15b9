"""A frame to a file whose ending says how: CSV, TSV, NDJSON or Parquet, packed or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import polars as pl

from examiner.results.writing import atomic_path
from examiner.wording import InputError, listed, shorten

Packing = Literal["uncompressed", "gzip", "zstd"]
_PACKINGS: MappingProxyType[str, Packing] = MappingProxyType({".gz": "gzip", ".zst": "zstd"})


def _csv(frame: pl.DataFrame, path: Path, packing: Packing) -> None:
    frame.write_csv(path, compression=packing, check_extension=False)


def _tsv(frame: pl.DataFrame, path: Path, packing: Packing) -> None:
    frame.write_csv(path, separator="\t", compression=packing, check_extension=False)


def _ndjson(frame: pl.DataFrame, path: Path, packing: Packing) -> None:
    frame.write_ndjson(path, compression=packing, check_extension=False)


def _parquet(frame: pl.DataFrame, path: Path, packing: Packing) -> None:
    if packing != "uncompressed":
        raise InputError("Parquet is packed inside already. Leave the second ending out.")
    frame.write_parquet(path)


KINDS: MappingProxyType[str, Callable[[pl.DataFrame, Path, Packing], None]] = MappingProxyType(
    {".csv": _csv, ".tsv": _tsv, ".ndjson": _ndjson, ".jsonl": _ndjson, ".parquet": _parquet}
)


def file_kind(path: str | Path) -> tuple[str, Packing]:
    """Return the ending that says what a file holds, and how it is packed.

    >>> file_kind("scores.csv.gz")
    ('.csv', 'gzip')
    """
    path = Path(path)
    packing = _PACKINGS.get(path.suffix.lower(), "uncompressed")
    ending = (path if packing == "uncompressed" else path.with_suffix("")).suffix.lower()
    if ending not in KINDS:
        raise InputError(
            f"Cannot tell how to write {shorten(path, 200)} from its ending. Known endings: "
            f"{listed(KINDS)}, and .gz or .zst behind the text ones."
        )
    return ending, packing


def write_frame(frame: pl.DataFrame, path: str | Path) -> Path:
    """Write a frame atomically, as its ending says.

    >>> import tempfile
    >>> path = write_frame(pl.DataFrame({"agent": ["a"]}), Path(tempfile.mkdtemp()) / "x.csv")
    >>> path.read_text()
    'agent\\na\\n'
    """
    ending, packing = file_kind(path)
    with atomic_path(path) as temporary:
        KINDS[ending](frame, temporary, packing)
    return Path(path)


def check_ending(path: str | Path, endings: Sequence[str], layout: str) -> None:
    """Refuse a path whose ending is not one that a layout is written with.

    >>> check_ending("scores.csv", (".npz",), "rliable")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The layout 'rliable' is written to '.npz', not to 'scores.csv'. \
Change the ending.
    """
    if Path(path).suffix.lower() not in endings:
        raise InputError(
            f"The layout {layout!r} is written to {listed(endings)}, not to {shorten(path, 200)}. "
            f"Change the ending."
        )


def write_bytes(data: bytes, path: str | Path) -> Path:
    """Write bytes atomically.

    >>> import tempfile
    >>> write_bytes(b"x", Path(tempfile.mkdtemp()) / "x.npz").read_bytes()
    b'x'
    """
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)
    return Path(path)

"""A file as it lies on disk: found, opened, unpacked, its first bytes looked at."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, cast

from examiner.results.checks import InputError, shorten

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEAD_BYTES = 65_536
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A readable file: its path, how it is packed, and the first bytes of what is inside."""

    path: Path
    compression: str | None
    head: bytes

    @property
    def suffix(self) -> str:
        """The ending that says what is inside: `.csv` of `scores.csv.gz`."""
        endings = [ending.lower() for ending in self.path.suffixes]
        if self.compression is not None and endings and endings[-1] in _PACKED_ENDINGS:
            endings.pop()
        return endings[-1] if endings else ""

    def contents(self) -> bytes:
        """Return everything inside, unpacked."""
        try:
            with _unpacked(self.path, self.compression) as stream:
                return stream.read()
        except _DAMAGE as problem:
            raise broken_archive(self.path, self.compression) from problem


def open_source(path: str | Path) -> SourceFile:
    """Find a file and look at its first bytes.

    >>> open_source("missing.csv")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Cannot read 'missing.csv': no such file. Check the path, or \
name a bundled data set (`examiner datasets`).
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(6)
        compression = _compression(start)
        with _unpacked(path, compression) as stream:
            head = stream.read(HEAD_BYTES)
    except FileNotFoundError:
        raise InputError(
            f"Cannot read {shorten(path, 200)}: no such file. Check the path, or name a bundled "
            f"data set (`examiner datasets`)."
        ) from None
    except IsADirectoryError:
        raise InputError(
            f"Cannot read {shorten(path, 200)}: it is a folder. Name a file in it."
        ) from None
    except PermissionError:
        raise InputError(
            f"Cannot read {shorten(path, 200)}: no permission. Change its permissions."
        ) from None
    except _DAMAGE as problem:
        raise broken_archive(path, None) from problem
    if not head:
        raise InputError(f"{shorten(path, 200)} is empty. Give a file with results in it.")
    if head.startswith(_PICKLES):
        raise InputError(
            f"{shorten(path, 200)} is a Python pickle, which can run code when opened, and is "
            f"refused. Save it as CSV, Parquet or npz."
        )
    return SourceFile(path, compression, head)


def broken_archive(path: Path, compression: str | None) -> InputError:
    """Build the error for a file that cannot be unpacked.

    >>> str(broken_archive(Path("scores.csv.gz"), "gzip"))
    "Cannot unpack 'scores.csv.gz' (gzip): it is cut off or damaged. Make the archive again."
    """
    kind = f" ({compression})" if compression else ""
    return InputError(
        f"Cannot unpack {shorten(path, 200)}{kind}: it is cut off or damaged. "
        f"Make the archive again."
    )


_MAGIC = MappingProxyType(
    {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
)
_PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zstd")


def _compression(start: bytes) -> str | None:
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def _unpacked(path: Path, compression: str | None) -> BinaryIO:
    openers: dict[str | None, Callable[[Path], object]] = {
        None: lambda path: path.open("rb"),
        "gzip": gzip.open,
        "bzip2": bz2.open,
        "xz": lzma.open,
        "zstd": zstd.open,
    }
    return cast("BinaryIO", openers[compression](path))

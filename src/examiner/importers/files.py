"""A file as it lies on disk: opened, unpacked, its first bytes looked at, refused where it asks too much.

A file larger than the machine's memory, or an archive that unpacks to far more than it packs, is
refused before it takes the memory down. `EXAMINER_MAX_BYTES` (a number, or 500M, 64G) replaces both.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, cast

from examiner.wording import InputError, shorten

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# What is looked at to tell what a file is: many lines of a table, and quickly read.
HEAD_BYTES = 65_536
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zstd")
# How a packed file begins, and how it is opened.
_PACKINGS: Mapping[str, tuple[bytes, Callable[[Path], object]]] = MappingProxyType(
    {
        "gzip": (b"\x1f\x8b", gzip.open),
        "bzip2": (b"BZh", bz2.open),
        "xz": (b"\xfd7zXZ\x00", lzma.open),
        "zstd": (b"\x28\xb5\x2f\xfd", zstd.open),
    }
)
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")

MOST_BYTES_VARIABLE = "EXAMINER_MAX_BYTES"
# Text packs to a twentieth at the best, so that a hundred times is no table any more; but small
# archives, which do no harm, may.
UNPACKED_FREELY_BYTES = 256 * 2**20
MOST_TIMES_PACKED = 100
_WITHOUT_SYSCONF_BYTES = 16 * 2**30
_UNITS = MappingProxyType({"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A readable file: its path, how it is packed, and the first bytes of what is inside.

    `whole` says that the first bytes are all there are; `names` were taken from the path by a
    template.
    """

    path: Path
    compression: str | None
    head: bytes
    whole: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """The ending that says what is inside: `.csv` of `scores.csv.gz`."""
        endings = [ending.lower() for ending in self.path.suffixes]
        if self.compression is not None and endings and endings[-1] in PACKED_ENDINGS:
            endings.pop()
        return endings[-1] if endings else ""

    @property
    def is_pickle(self) -> bool:
        """Whether it is a Python pickle, which could run code when opened."""
        return self.head.startswith(_PICKLES)

    def contents(self) -> bytes:
        """Return everything inside, unpacked, or refuse what would fill the memory."""
        if self.whole:
            return self.head
        try:
            size = self.path.stat().st_size
            check_size(size, self.path)
            if self.compression is None:
                return self.path.read_bytes()
            with _unpacked(self.path, self.compression) as stream:
                data = _at_most(most_unpacked_bytes(size) + 1, stream)
        except _DAMAGE as problem:
            raise _broken_archive(self.path, self.compression) from problem
        check_unpacked(len(data), size, self.path)
        return data


def open_source(path: str | Path) -> SourceFile:
    """Find a file and look at its first bytes.

    >>> open_source("missing.csv")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.csv': no such file. Check the path, or \
name a bundled data set (`examiner datasets`).
    """
    file = look_at(Path(path))
    refuse_empty(file)
    if file.is_pickle:
        raise InputError(
            f"{shorten(path, 200)} is a Python pickle, which can run code when opened, and is "
            f"refused. Save it as CSV, Parquet or npz."
        )
    return file


def look_at(path: Path) -> SourceFile:
    """Look at a file's first bytes, whatever they are.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "README"
    >>> _ = path.write_text("Hello")
    >>> look_at(path).head
    b'Hello'
    """
    compression, wanted = None, HEAD_BYTES
    try:
        with path.open("rb") as stream:
            if not stream.seekable():  # a pipe can be read only once
                wanted = most_unpacked_bytes(0)
            head = _at_most(wanted + 1, stream)
        packings = _PACKINGS.items()
        compression = next((name for name, (magic, _) in packings if head.startswith(magic)), None)
        if compression is not None and wanted == HEAD_BYTES:
            with _unpacked(path, compression) as stream:
                head = _at_most(wanted + 1, stream)
    except OSError as problem:
        raise _not_opened(path, problem) from problem
    except ValueError:
        raise InputError(f"{shorten(path, 200)} cannot be a path. Check its letters.") from None
    except _DAMAGE as problem:
        raise _broken_archive(path, compression) from problem
    if wanted != HEAD_BYTES:
        check_unpacked(len(head), 0, path)
        compression = None
    return SourceFile(path, compression, head[:wanted], whole=len(head) <= wanted)


def refuse_empty(file: SourceFile) -> None:
    """Refuse a file without a single byte inside.

    >>> refuse_empty(SourceFile(Path("scores.csv"), None, b""))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'scores.csv' is empty. Give a file with results in it.
    """
    if not file.head:
        raise InputError(f"{shorten(file.path, 200)} is empty. Give a file with results in it.")


def _broken_archive(path: Path, compression: str | None) -> InputError:
    kind = f" ({compression})" if compression else ""
    return InputError(
        f"Cannot unpack {shorten(path, 200)}{kind}: it is cut off or damaged. "
        f"Make the archive again."
    )


def _not_opened(path: Path, problem: OSError) -> InputError:
    if isinstance(problem, FileNotFoundError):
        said = "no such file. Check the path, or name a bundled data set (`examiner datasets`)"
    elif isinstance(problem, IsADirectoryError):
        said = "it is a folder. Name a file in it"
    elif isinstance(problem, PermissionError):
        said = "no permission. Change its permissions"
    elif problem.errno is None:  # raised by an unpacker, not by the system
        return _broken_archive(path, None)
    else:
        said = f"{problem.strerror or problem}. Check the path and the disk"
    return InputError(f"Cannot read {shorten(path, 200)}: {said}.")


def _at_most(limit: int, stream: BinaryIO) -> bytes:
    """Read until the end or the limit: `read(limit)` would set the limit's memory aside at once."""
    blocks, size = [], 0
    while size < limit and (block := stream.read(min(2**22, limit - size))):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def _unpacked(path: Path, compression: str) -> BinaryIO:
    return cast("BinaryIO", _PACKINGS[compression][1](path))


# -------------------------------------------------------------------- limits


def most_bytes() -> int:
    """Return the most bytes that may be read from one file: the variable's, else the memory's size.

    >>> most_bytes() > 2**20
    True
    """
    named = _named_limit()
    if named is not None:
        return named
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _WITHOUT_SYSCONF_BYTES


def most_unpacked_bytes(packed: int) -> int:
    """Return how many bytes an archive of a size may unpack to.

    >>> most_unpacked_bytes(1000) == UNPACKED_FREELY_BYTES
    True
    """
    freely = max(UNPACKED_FREELY_BYTES, MOST_TIMES_PACKED * packed)
    return _named_limit() or min(most_bytes(), freely)


def check_size(size: int, path: Path) -> None:
    """Refuse a file that is larger than may be read.

    >>> check_size(10**18, Path("huge.csv"))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'huge.csv' holds 931,322,574.6 GiB, more than the ... GiB that \
may be read at once. Split it, or raise the limit with the environment variable EXAMINER_MAX_BYTES.
    """
    limit = most_bytes()
    if size > limit:
        raise InputError(
            f"{shorten(path, 200)} holds {_gib(size)}, more than the {_gib(limit)} that may be read "
            f"at once. Split it, or raise the limit with the environment variable {MOST_BYTES_VARIABLE}."
        )


def check_unpacked(size: int, packed: int, path: Path) -> None:
    """Refuse an archive that unpacks to more than it may.

    >>> check_unpacked(1000, 10, Path("scores.csv.gz"))
    """
    limit = most_unpacked_bytes(packed)
    if size > limit:
        raise InputError(
            f"{shorten(path, 200)} unpacks to more than {_gib(limit)} from {packed:,} bytes, as a zip "
            f"bomb does, and is refused. If it is meant so, unpack it yourself or raise the limit with "
            f"the environment variable {MOST_BYTES_VARIABLE}."
        )


def _named_limit() -> int | None:
    text = os.environ.get(MOST_BYTES_VARIABLE, "").strip()
    if not text:
        return None
    match = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", text, flags=re.IGNORECASE)
    if match is None or not int(match[1]):
        raise InputError(
            f"The environment variable {MOST_BYTES_VARIABLE} is {shorten(text)}. Give a number of bytes, "
            f"such as 8000000000 or 8G."
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"

"""A file as it lies on disk: opened, unpacked, its first bytes looked at, refused where it asks too much.

A file larger than the machine's memory, or an archive that unpacks to far more than it packs, is
refused before it takes the memory down; what comes through a pipe is kept in memory, and may be less.
`EXAMINER_MAX_BYTES` (a number, or 500M, 64G) replaces all of these limits.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, cast

from examiner.importers.paths import data_set_hint
from examiner.messages import InputError, shorten
from examiner.validation import at_most, is_pipe, open_outside, refuse_url

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# What is looked at to tell what a file is: many lines of a table, and quickly read.
HEAD_BYTES = 65_536
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zstd")
# How a packed file begins, and how it is opened.
_PACKINGS: Mapping[str, tuple[bytes, Callable[[BinaryIO], object]]] = MappingProxyType(
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
UNPACKED_FREELY_BYTES = 64 * 2**20
MOST_TIMES_PACKED = 100
PIPE_BYTES = 256 * 2**20  # nobody can say beforehand how much will come
_BLOCK_BYTES = 2**20
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

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open what is inside, unpacked, to be read piece by piece."""
        if self.whole:
            yield io.BytesIO(self.head)
            return
        try:
            with open_outside(self.path) as stream:
                yield stream if self.compression is None else _opened(stream, self.compression)
        except _DAMAGE as problem:
            raise _broken_archive(self.path, self.compression) from problem

    def contents(self) -> bytes:
        """Return everything inside, unpacked, or refuse what would fill the memory."""
        if self.whole:
            return self.head
        try:
            with open_outside(self.path) as stream:
                size = os.fstat(stream.fileno()).st_size
                check_size(size, self.path)
                if self.compression is None:
                    return at_most(most_bytes(), stream)
                return _unpacked(stream, self.compression, self.path)
        except _DAMAGE as problem:
            raise _broken_archive(self.path, self.compression) from problem


def open_source(path: str | Path) -> SourceFile:
    """Find a file and look at its first bytes.

    >>> open_source("missing.csv")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.csv': no such file. Check the path, or \
name a bundled data set (`examiner datasets`).
    """
    refuse_url(path)
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
    compression = None
    try:
        with open_outside(path) as stream:
            if is_pipe(stream):
                return _from_pipe(path, stream)
            # Files that the system makes up, as those in /proc, say they are empty and may never end.
            head = at_most(HEAD_BYTES + 1, stream) if os.fstat(stream.fileno()).st_size else b""
            compression = _packing(head)
            if compression is not None:
                stream.seek(0)
                head = at_most(HEAD_BYTES + 1, _opened(stream, compression))
    except InputError:
        raise
    except OSError as problem:
        raise _not_opened(path, problem) from problem
    except ValueError:
        raise InputError(f"{shorten(path, 200)} cannot be a path. Check its letters.") from None
    except _DAMAGE as problem:
        raise _broken_archive(path, compression) from problem
    return SourceFile(path, compression, head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES)


def _from_pipe(path: Path, stream: BinaryIO) -> SourceFile:
    """What comes through a pipe, unpacked: it can be read only once, so all of it is kept."""
    limit = pipe_bytes()
    data = at_most(limit + 1, stream)
    if len(data) > limit:
        raise InputError(
            f"More than {_gib(limit)} came through the pipe {shorten(path, 200)}. Write it into a file and "
            f"name that, or raise the limit with the environment variable {MOST_BYTES_VARIABLE}."
        )
    compression = _packing(data)
    if compression is not None:
        data = _unpacked(io.BytesIO(data), compression, path)
    return SourceFile(path, None, data, whole=True)


def refuse_empty(file: SourceFile) -> None:
    """Refuse a file without a single byte inside.

    >>> refuse_empty(SourceFile(Path("scores.csv"), None, b""))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'scores.csv' is empty. Give a file with results in it.
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
        said = f"no such file. {data_set_hint(str(path))}"
    elif isinstance(problem, IsADirectoryError):
        said = "it is a folder. Name a file in it"
    elif isinstance(problem, PermissionError):
        said = "no permission. Change its permissions"
    elif problem.errno is None:  # raised by an unpacker, not by the system
        return _broken_archive(path, None)
    else:
        said = f"{problem.strerror or problem}. Check the path and the disk"
    return InputError(f"Cannot read {shorten(path, 200)}: {said.rstrip('.')}.")


def _packing(head: bytes) -> str | None:
    return next((name for name, (magic, _) in _PACKINGS.items() if head.startswith(magic)), None)


def _opened(stream: BinaryIO, compression: str) -> BinaryIO:
    return cast("BinaryIO", _PACKINGS[compression][1](stream))


def _unpacked(packed: BinaryIO, compression: str, path: Path) -> bytes:
    """All that is inside; refused as soon as it is far more than what it was made from so far."""
    stream, blocks, size = _opened(packed, compression), list[bytes](), 0
    while block := stream.read(_BLOCK_BYTES):
        size += len(block)
        check_unpacked(size, packed.tell(), path)
        blocks.append(block)
    return b"".join(blocks)


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


def pipe_bytes() -> int:
    """Return how many bytes may come through a pipe.

    >>> pipe_bytes() <= most_bytes()
    True
    """
    return _named_limit() or min(most_bytes(), PIPE_BYTES)


def check_size(size: int, path: Path) -> None:
    """Refuse a file that is larger than may be read.

    >>> check_size(10**18, Path("huge.csv"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'huge.csv' holds 931,322,574.6 GiB, more than the ... GiB that \
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

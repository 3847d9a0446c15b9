"""A file as it lies on disk: found, opened, unpacked, its first bytes looked at."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, cast

from examiner.importers.limits import check_size, check_unpacked, most_unpacked_bytes
from examiner.wording import InputError, shorten

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEAD_BYTES = 65_536
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


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
            raise broken_archive(self.path, self.compression) from problem
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
    if is_pickle(file):
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
        compression = _compression(head)
        if compression is not None and wanted == HEAD_BYTES:
            with _unpacked(path, compression) as stream:
                head = _at_most(wanted + 1, stream)
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    except ValueError:
        raise InputError(f"{shorten(path, 200)} cannot be a path. Check its letters.") from None
    except _DAMAGE as problem:
        raise broken_archive(path, compression) from problem
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


def is_pickle(file: SourceFile) -> bool:
    """Tell whether a file is a Python pickle, which could run code when opened.

    >>> is_pickle(SourceFile(Path("x"), None, bytes([0x80, 4, 0x95])))
    True
    """
    return file.head.startswith(_PICKLES)


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


def _unreadable(path: Path, problem: OSError) -> InputError:
    where = f"Cannot read {shorten(path, 200)}"
    if isinstance(problem, FileNotFoundError):
        return InputError(
            f"{where}: no such file. Check the path, or name a bundled data set "
            f"(`examiner datasets`)."
        )
    if isinstance(problem, IsADirectoryError):
        return InputError(f"{where}: it is a folder. Name a file in it.")
    if isinstance(problem, PermissionError):
        return InputError(f"{where}: no permission. Change its permissions.")
    if problem.errno is None:  # raised by an unpacker, not by the system
        return broken_archive(path, None)
    return InputError(f"{where}: {problem.strerror or problem}. Check the path and the disk.")


def _at_most(limit: int, stream: BinaryIO) -> bytes:
    """Read until the end or the limit: `read(limit)` would set the limit's memory aside at once."""
    blocks, size = [], 0
    while size < limit and (block := stream.read(min(2**22, limit - size))):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


_MAGIC = MappingProxyType(
    {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
)
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zstd")


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

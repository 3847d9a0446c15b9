"""Zip archives, unpacked within bounds; arrays of npz and npy files, read without running anything."""

from __future__ import annotations

import io
import os
import struct
import sys
import threading
import tokenize
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.importers.files import SourceFile, check_unpacked
from examiner.messages import InputError, shorten
from examiner.validation import open_outside

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZIP = b"PK\x03\x04"
# Records of the zip specification (APPNOTE 4.3.7, 4.3.12 and 4.3.14 to 4.3.16); `x` is not needed here.
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENTRY = struct.Struct("<4s4x2H4x3L3H8xL")
_LENGTHS = struct.Struct("<3H")
_LENGTHS_PLACE = 28  # in an entry
_END = struct.Struct("<12x2L2x")
_LARGE_LOCATOR_BYTES = 20
_LARGE_END = struct.Struct("<4s36x2Q")
_LONGEST_END = _END.size + 2**16  # with the longest comment
_IN_EXTRA_FIELD = 2**32 - 1  # of a size: it is in the extra field for large archives
_STORED, _DEFLATED, _ZSTD = 0, 8, 93


class DamagedArchiveError(ValueError):
    """What is no whole zip archive."""


_DAMAGE = (
    *(zlib.error, zstd.ZstdError, struct.error, EOFError, OSError, MemoryError),
    *(ValueError, TypeError, LookupError, OverflowError, RuntimeError),
    *(SyntaxError, tokenize.TokenError, UserWarning),
)
"""What unpacking and numpy raise on what is no whole archive or array; warnings may be errors."""


@contextmanager
def refusing_damage(file: SourceFile, fault: str) -> Iterator[None]:
    """Refuse what is no whole archive, with a sentence of ours.

    >>> with refusing_damage(SourceFile(Path("x.npz"), None, b""), "it is damaged."):
    ...     raise DamagedArchiveError
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'x.npz': it is damaged.
    """
    try:
        yield
    except InputError:
        raise
    except _DAMAGE as problem:
        raise InputError(f"Cannot read {shorten(file.path, 200)}: {fault}") from problem


class Member(NamedTuple):
    """A file in an archive, as the archive's directory describes it."""

    flags: int
    method: int
    checksum: int
    packed: int
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class ZipArchive:
    """An open zip archive: the names of its members, and their contents.

    A log has a member for each sample, of which none is read: `places` has where in the `directory` a
    member is described, and the description is taken apart when it is asked for. `repeated` are names of
    several members, of which `places` has the last.
    """

    path: Path
    stream: BinaryIO
    directory: bytes
    start: int
    places: Mapping[str, int]
    repeated: tuple[str, ...]

    def member(self, name: str) -> Member:
        """Return what the directory says of a member."""
        place = self.places[name]
        mark, *entry, name_bytes, extra_bytes, _, offset = _ENTRY.unpack_from(self.directory, place)
        flags, method, checksum, packed, size = entry
        if mark != b"PK\x01\x02":
            raise DamagedArchiveError
        if _IN_EXTRA_FIELD in (size, packed, offset):
            extra = place + _ENTRY.size + name_bytes
            size, packed, offset = _large(
                [size, packed, offset], self.directory[extra : extra + extra_bytes]
            )
        return Member(flags, method, checksum, packed, size, self.start + offset)

    def read(self, name: str, first_bytes: int | None = None) -> bytes:
        """Return a member, or its first bytes; refuse to unpack far more than is packed."""
        member = self.member(name)
        size = member.size if first_bytes is None else min(first_bytes, member.size)
        check_unpacked(size, member.packed, self.path)
        if member.flags & 0x1:
            raise InputError(f"{shorten(self.path, 200)} is locked by a password. Unlock it first.")
        end = self.stream.seek(0, os.SEEK_END)
        self.stream.seek(member.offset)
        mark, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(self.stream.read(_LOCAL_HEADER.size))
        begin = self.stream.seek(name_bytes + extra_bytes, os.SEEK_CUR)
        if mark != ZIP or begin + member.packed > end:
            raise DamagedArchiveError
        # Packed data is hardly ever longer than what it unpacks to, and never twice as long.
        packed = self.stream.read(min(member.packed, 2 * size + 1024))
        data = _unpacked(packed, member.method, size)
        if first_bytes is None and (
            len(data) != member.size or zlib.crc32(data) != member.checksum
        ):
            raise DamagedArchiveError
        return data


def _unpacked(packed: bytes, method: int, size: int) -> bytes:
    """At most one byte more than a size, which a damaged archive may state wrongly."""
    if method == _STORED:
        return packed[: size + 1]
    if method == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    if method == _ZSTD:
        with zstd.open(io.BytesIO(packed)) as stream:  # may be several frames
            data: bytes = stream.read(size + 1)
        return data
    raise DamagedArchiveError


def first_member(head: bytes) -> bytes:
    """Return the name of the first member of a zip archive, from its first bytes; empty if it is none.

    >>> first_member(b"agent,task")
    b''
    """
    if not head.startswith(ZIP) or len(head) < _LOCAL_HEADER.size:
        return b""
    _, length, _ = _LOCAL_HEADER.unpack_from(head)
    return head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length]


@contextmanager
def opened_zip(file: SourceFile) -> Iterator[ZipArchive]:
    """Open a zip archive.

    >>> import zipfile
    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("header.json", "{}")
    >>> with opened_zip(SourceFile(Path("x.eval"), None, buffer.getvalue(), whole=True)) as archive:
    ...     archive.read("header.json")
    b'{}'
    """
    if not file.head.startswith(ZIP):
        raise DamagedArchiveError
    plain = file.compression is None and not file.whole
    with open_outside(file.path) if plain else io.BytesIO(file.contents()) as stream:
        directory, start = _directory(stream)
        names, places = _names(directory)
        by_name = dict(zip(names, places, strict=True))
        repeated = [] if len(by_name) == len(names) else [n for n in by_name if names.count(n) > 1]
        yield ZipArchive(file.path, stream, directory, start, by_name, tuple(repeated))


def _directory(stream: BinaryIO) -> tuple[bytes, int]:
    """The directory at the end of an archive, and the number of bytes before the archive begins."""
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - _LONGEST_END))
    tail = stream.read(_LONGEST_END)
    place = tail.rfind(b"PK\x05\x06")
    if place < 0:
        raise DamagedArchiveError
    size, offset = _END.unpack_from(tail, place)
    end += place - len(tail)
    if tail[:place][-_LARGE_LOCATOR_BYTES:].startswith(b"PK\x06\x07"):
        end -= _LARGE_LOCATOR_BYTES + _LARGE_END.size
        stream.seek(end)
        mark, size, offset = _LARGE_END.unpack(stream.read(_LARGE_END.size))
        if mark != b"PK\x06\x06":
            raise DamagedArchiveError
    start = end - size - offset
    if start < 0:
        raise DamagedArchiveError
    stream.seek(end - size)
    return stream.read(size), start


def _names(directory: bytes) -> tuple[list[str], list[int]]:
    """The names of the members that a directory lists, and where in it each is described."""
    names, places, place = list[bytes](), list[int](), 0
    while place < len(directory):
        lengths = _LENGTHS.unpack_from(directory, place + _LENGTHS_PLACE)
        begin = place + _ENTRY.size
        names.append(directory[begin : begin + lengths[0]])
        places.append(place)
        place = begin + sum(lengths)
    return [name.decode(errors="replace") for name in names], places


def _large(sizes: list[int], extra: bytes) -> list[int]:
    """The same numbers, where those that need 64 bits are taken from the extra field."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1:
            values = struct.iter_unpack("<Q", extra[4 : 4 + length // 8 * 8])
            return [next(values, (n,))[0] if n == _IN_EXTRA_FIELD else n for n in sizes]
        extra = extra[4 + length :]
    return sizes


# -------------------------------------------------------------------- arrays of npz and npy files

_LONGEST_HEADER = 10_000  # as numpy has it: shape and kind of one array
_PARSING = threading.Lock()
"""numpy parses headers with `ast.literal_eval`, which fails in several threads at once in Python 3.11."""


def array_names(file: SourceFile) -> tuple[str, ...]:
    """Return the names of the arrays in an npz file; none where it is not one.

    >>> array_names(SourceFile(Path("x.csv"), None, b"agent,task"))
    ()
    """
    try:
        with opened_zip(file) as archive:
            return tuple(name.removesuffix(".npy") for name in _members(archive))
    except (InputError, *_DAMAGE):
        return ()


def array_dimensions(file: SourceFile) -> dict[str, int]:
    """Return the number of dimensions of every array, from the headers alone.

    >>> array_dimensions(SourceFile(Path("x.csv"), None, b"agent,task"))
    {}
    """
    dimensions: dict[str, int] = {}
    try:
        with opened_zip(file) as archive:
            for name in archive.places:
                header = io.BytesIO(archive.read(name, first_bytes=2 * _LONGEST_HEADER))
                dimensions[name.removesuffix(".npy")] = len(_header(header)[0])
    except (InputError, *_DAMAGE):
        return {}
    return dimensions


def read_arrays(file: SourceFile) -> dict[str, NDArray[Any]]:  # Any: numbers or text
    """Return every array of an npz file by its name; arrays of Python objects are refused.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npz"
    >>> np.savez(path, dqn=np.ones((2, 3)))
    >>> read_arrays(open_source(path))["dqn"].shape
    (2, 3)
    """
    size = file.path.stat().st_size if file.path.exists() else len(file.head)
    fault = "the npz file is cut off or damaged. Save it again with `np.savez`."
    arrays = {}
    with refusing_damage(file, fault), opened_zip(file) as archive:
        members = _members(archive)
        check_unpacked(sum(member.size for member in members.values()), size, file.path)
        if any(name in members for name in archive.repeated):
            raise InputError(
                f"{shorten(file.path, 200)} holds two arrays of one name. Save them under two."
            )
        for member in members:
            name = member.removesuffix(".npy")
            what = f"The array {shorten(name)}"
            arrays[name] = _array(io.BytesIO(archive.read(member)), what, file.path)
    return arrays


def read_array(file: SourceFile) -> NDArray[Any]:  # Any: numbers or text
    """Return the array of an npy file; one of Python objects is refused.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.ones((2, 3)))
    >>> read_array(open_source(path)).shape
    (2, 3)
    """
    fault = "the npy file is cut off or damaged. Save it again with `np.save`."
    with refusing_damage(file, fault):
        return _array(io.BytesIO(file.contents()), "The array", file.path)


def _members(archive: ZipArchive) -> dict[str, Member]:
    return {name: archive.member(name) for name in archive.places if name.endswith(".npy")}


def _array(stream: IO[bytes], what: str, path: Path) -> NDArray[Any]:
    shape, by_column, kind = _header(stream)
    where = f"{what} in {shorten(path, 200)}"
    if kind.hasobject:
        raise InputError(
            f"{where} holds Python objects, which are pickled and can run code when opened: it is "
            f"refused. Save it as plain numbers; rows of unequal length need filling up with NaN."
        )
    if kind.kind not in "biufU":
        raise InputError(f"{where} is of kind {kind}. Save it as numbers or text.")
    data = stream.read()
    return np.frombuffer(data, dtype=kind).reshape(shape, order="F" if by_column else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    length = stream.read(2 if version == (1, 0) else 4)
    size = int.from_bytes(length, "little")
    if size > _LONGEST_HEADER:  # numpy would read it whole, and then refuse it
        raise ValueError
    header = io.BytesIO(length + stream.read(size))
    with _PARSING:
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(header)
        return np.lib.format.read_array_header_2_0(header)

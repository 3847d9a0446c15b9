"""Members of zip archives, unpacked within bounds, also where they are packed with zstd."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from pathlib import Path

from examiner.importers.files import SourceFile, check_unpacked
from examiner.messages import InputError, shorten

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZIP = b"PK\x03\x04"
_ZSTD_METHOD = 93  # as the zip specification numbers it; zipfile knows it from Python 3.14 on
_LOCAL_HEADER = struct.Struct("<4s22xHH")
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, zstd.ZstdError, struct.error, EOFError, OSError, MemoryError),
    *(ValueError, TypeError, LookupError, OverflowError, RuntimeError),
)
"""What unpacking raises on what is no whole archive; NotImplementedError is a RuntimeError."""


def first_member(head: bytes) -> bytes:
    """Return the name of the first member of a zip archive, from its first bytes; empty if it is none.

    >>> first_member(b"agent,task")
    b''
    """
    if not head.startswith(ZIP) or len(head) < _LOCAL_HEADER.size:
        return b""
    _, length, _ = _LOCAL_HEADER.unpack_from(head)
    return head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length]


def opened_zip(file: SourceFile) -> zipfile.ZipFile:
    """Open a zip archive, or raise what zipfile raises on other files.

    >>> opened_zip(SourceFile(Path("x.csv"), None, b"agent,task"))
    Traceback (most recent call last):
    ...
    zipfile.BadZipFile
    """
    if not file.head.startswith(ZIP):
        raise zipfile.BadZipFile
    plain = file.compression is None and not file.whole
    return zipfile.ZipFile(file.path if plain else io.BytesIO(file.contents()))


def member_bytes(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Return a member of an archive, unpacked; refuse one that unpacks to far more than it packs.

    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("header.json", "{}")
    >>> member_bytes(zipfile.ZipFile(buffer), "header.json", Path("x.eval"))
    b'{}'
    """
    member = archive.getinfo(name)
    check_unpacked(member.file_size, member.compress_size, path)
    if member.flag_bits & 0x1:
        raise InputError(f"{shorten(path, 200)} is locked by a password. Unlock it first.")
    if member.compress_type != _ZSTD_METHOD:
        with archive.open(member) as stream:
            return stream.read()
    with zstd.open(io.BytesIO(_packed(archive, member))) as stream:  # may be several frames
        data: bytes = stream.read(member.file_size + 1)
    if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile
    return data


def _packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member as they lie in the archive, behind a header of its own."""
    stream = archive.fp
    assert stream is not None
    stream.seek(member.header_offset)
    mark, name, extra = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    if mark != ZIP:
        raise zipfile.BadZipFile
    stream.seek(name + extra, io.SEEK_CUR)
    return stream.read(member.compress_size)

"""Objects through a pipe between two processes of ours: a length, then as many bytes."""

from __future__ import annotations

import struct
from multiprocessing.reduction import ForkingPickler
from typing import IO

_LENGTH = struct.Struct("!Q")


def packed(value: object) -> bytes:
    """Turn an object into bytes for another process of this run.

    >>> unpacked(packed(("heard", 3)))
    ('heard', 3)
    """
    return bytes(ForkingPickler.dumps(value))


def unpacked(data: bytes) -> object:
    """Turn bytes from another process of this run into an object again.

    Never used on files: these bytes come through a pipe from a process that we started.

    >>> unpacked(packed([1.5]))
    [1.5]
    """
    value: object = ForkingPickler.loads(data)
    return value


def of_script(data: bytes) -> bool:
    """Tell whether packed bytes name something of the user's own script.

    >>> of_script(packed(abs))
    False
    """
    return b"__main__" in data


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a length and as many bytes, and flush.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, b"abc")
    >>> stream.getvalue()
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03abc'
    """
    stream.write(_LENGTH.pack(len(data)) + data if len(data) < 65_536 else _LENGTH.pack(len(data)))
    if len(data) >= 65_536:
        stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read what `send` wrote; None where the other side is gone, even in the middle of a word.

    >>> import io
    >>> receive(io.BytesIO(b"\\x00\\x00"))
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None

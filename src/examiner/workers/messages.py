"""What a driver and its programs say to each other: messages of bytes, each under the name of its job."""

from __future__ import annotations

import struct
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import IO, NamedTuple

_HEAD = struct.Struct("!16sQ")
"""Before the bytes of a message stand the name of the job it belongs to, and their number."""
NO_JOB = bytes(16)
"""The name under which a worker gets its orders; names of jobs are random, so that none is used twice."""
LOST_PIPES = 77
"""Exit code of a worker whose job closed its pipes: nothing else is left to say it with."""


class Message(NamedTuple):
    """The name of a job, and what was said of it."""

    job: bytes
    data: bytes


def send(stream: IO[bytes], job: bytes, data: bytes) -> None:
    """Write the name of a job, a length and as many bytes, and flush.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, NO_JOB, b"abc")
    >>> stream.getvalue()[16:]
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03abc'
    """
    head = _HEAD.pack(job, len(data))
    for part in (head + data,) if len(data) < 65_536 else (head, data):  # no copy of what is long
        written = stream.write(part)
        while written < len(part):  # a stream without a buffer may take less than it is given
            written += stream.write(memoryview(part)[written:])
    stream.flush()


def receive(
    stream: IO[bytes], is_known: Callable[[bytes], bool] = lambda job: True
) -> Message | None:
    """Read one message of a known job; None where the other side is gone, even in the middle of a word.

    What bears another name was not said by who should be at the other side: `ValueError`.

    >>> import io
    >>> receive(io.BytesIO(bytes(2)))
    >>> receive(io.BytesIO(b"junk" * 10), lambda job: job == NO_JOB)
    Traceback (most recent call last):
    ...
    ValueError: a message of an unknown job
    """
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    job, length = _HEAD.unpack(head)
    if not is_known(job):
        raise ValueError("a message of an unknown job")
    data = stream.read(length)
    return Message(job, data) if len(data) == length else None


class Orders(NamedTuple):
    """What a worker is told first: the function, the script it may be in, and the limit of memory.

    `clean` asks for a clean process for each job; `modules` are imported once, before any job.
    """

    function: bytes
    script: str | None
    memory_mib: float | None
    clean: bool = True
    modules: tuple[str, ...] = ()


def packed(value: object) -> bytes:
    """Turn an object into bytes for another process of this run.

    >>> unpacked(packed(("heard", 3)))
    ('heard', 3)
    """
    return bytes(ForkingPickler.dumps(value))


def unpacked(data: bytes) -> object:
    """Turn bytes from another process of this run into an object again.

    Never used on files: these bytes come through a pipe from a process that we started.

    >>> unpacked(packed({"a": 1}))
    {'a': 1}
    """
    value: object = ForkingPickler.loads(data)
    return value


def of_script(data: bytes) -> bool:
    """Tell whether packed bytes name something of the user's own script.

    >>> of_script(packed(abs))
    False
    """
    return b"__main__" in data

"""Files from outside: only files and pipes are opened, and read within limits of size and time.

An endless device, or a pipe that nobody writes into, must not hang a command: devices are refused before
they are opened, and waiting for a pipe has a limit.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from pathlib import Path
from typing import BinaryIO

from examiner.messages import InputError, shorten

WRITER_SECONDS = 2.0
"""How long to wait for a writer of a pipe: a shell opens both ends at once."""
SILENT_SECONDS = 30.0
"""How long the writer of a pipe may be silent."""
PIPE_SECONDS = 600.0
"""How long a pipe may take in total: a few bytes now and then are not a table."""
_BLOCK_BYTES = 2**22


def open_outside(path: str | Path) -> BinaryIO:
    """Open a file or a pipe for reading, and refuse anything else before it is opened.

    Raises the system's own OSError if a file cannot be opened, so that callers write the message.

    >>> open_outside("/dev/zero")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: '/dev/zero' is a device, not a file. Name a file.
    """
    path = Path(path)
    _check_kind(path, path.stat().st_mode)  # opening some devices does things by itself
    descriptor = os.open(path, os.O_RDONLY | _AT_ONCE)
    try:
        mode = os.fstat(descriptor).st_mode
        _check_kind(path, mode)  # it may have been replaced meanwhile
        if stat.S_ISFIFO(mode):
            return io.BufferedReader(_Pipe(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def is_pipe(stream: BinaryIO) -> bool:
    """Return whether an open stream is a pipe, which can be read only once.

    >>> with open_outside(__file__) as stream:
    ...     is_pipe(stream)
    False
    """
    return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)


def read_outside(path: str | Path, most_bytes: int, what: str) -> bytes:
    """Return the content of a file or a pipe, or refuse one that is too large for its kind.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> _ = path.write_text("games = []")
    >>> read_outside(path, 100, "plan")
    b'games = []'
    >>> read_outside(path, 4, "plan")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: '...plan.toml' has more than 4 bytes, too many for a plan. ...
    """
    with open_outside(path) as stream:
        data = at_most(most_bytes + 1, stream)
    if len(data) > most_bytes:
        raise InputError(
            f"{shorten(path, 200)} has more than {most_bytes:,} bytes, too many for a {what}. "
            f"Check the path."
        )
    return data


def at_most(limit: int, stream: BinaryIO) -> bytes:
    """Read until the end or the limit: `read(limit)` would allocate the whole limit at once.

    >>> at_most(3, io.BytesIO(b"scores"))
    b'sco'
    """
    blocks, size = [], 0
    while size < limit and (block := stream.read(min(_BLOCK_BYTES, limit - size))):
        blocks.append(block)
        size += len(block)
    return b"".join(blocks)


# Never wait for the other end of a pipe, nor take a terminal over; systems without pipes know neither.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        kind = "socket" if stat.S_ISSOCK(mode) else "device"
        raise InputError(f"{shorten(path, 200)} is a {kind}, not a file. Name a file.")


class _Pipe(io.RawIOBase):
    """The reading end of a pipe, with a limit of time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._began, self._empty = descriptor, time.monotonic(), True

    def fileno(self) -> int:
        return self._descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while time.monotonic() - self._began < PIPE_SECONDS:
            try:
                size = os.readv(self._descriptor, [buffer])
            except BlockingIOError:
                if not self._wait(SILENT_SECONDS):
                    reason = f"nothing came through the pipe for {SILENT_SECONDS:.0f} seconds"
                    raise TimeoutError(errno.ETIMEDOUT, reason) from None
                continue
            nobody, self._empty = self._empty and not size, False
            # Nobody writes, or not yet: a pipe with a name may be opened by its reader first.
            if not nobody or not self._wait(WRITER_SECONDS):
                return size
        reason = f"the pipe did not end within {PIPE_SECONDS:.0f} seconds"
        raise TimeoutError(errno.ETIMEDOUT, reason)

    def _wait(self, seconds: float) -> bool:
        ready = select.poll()  # select() knows the first 1,024 descriptors only
        ready.register(self._descriptor, select.POLLIN)
        return bool(ready.poll(1000 * seconds))

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()

"""A folder that one process writes while others wait, and that nobody writes anew while it is read."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class FolderLock:
    """Held shared by readers and alone by a writer, until it is let go or its process ends.

    Where a system has no such locks everybody is let in, as without them.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> first, second = FolderLock(folder), FolderLock(folder)
    >>> first.alone(), second.shared(), first.shared(), second.shared(), second.alone()
    (True, False, True, True, False)
    """

    def __init__(self, folder: Path) -> None:
        self.path, self._folder = folder.resolve(), -1
        if sys.platform != "win32":
            self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            weakref.finalize(self, os.close, self._folder)
        _OURS.add(self)

    def shared(self) -> bool:
        """Read along with others, unless somebody writes; say whether that was possible."""
        return sys.platform == "win32" or self._taken(fcntl.LOCK_SH)

    def alone(self) -> bool:
        """Write, unless anybody reads or writes; say whether that was possible."""
        return sys.platform == "win32" or self._taken(fcntl.LOCK_EX)

    def let_go(self) -> None:
        """Hold it no longer."""
        if sys.platform != "win32":
            with suppress(OSError):
                fcntl.flock(self._folder, fcntl.LOCK_UN)

    def _taken(self, how: int) -> bool:
        if sys.platform == "win32":
            return True
        try:
            fcntl.flock(self._folder, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True


_OURS: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def let_go_here(folder: Path) -> None:
    """Let go of a folder that other sources of this process read: who writes it anew here means to."""
    for lock in list(_OURS):
        if lock.path == folder.resolve():
            lock.let_go()

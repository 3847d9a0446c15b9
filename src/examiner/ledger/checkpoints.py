"""Files of checkpoints: names inside one folder, whatever a ledger says they are called."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path, PureWindowsPath

from examiner.messages import InputError, shorten
from examiner.results import write_bytes

_ENDING = ".checkpoint"


class CheckpointFolder:
    """The folder in which learners are kept; nothing outside it is read, written or removed.

    >>> import tempfile
    >>> folder = CheckpointFolder(Path(tempfile.mkdtemp()) / "checkpoints")
    >>> digest = folder.write("1f-3.checkpoint", b"weights")
    >>> folder.read("1f-3.checkpoint", digest)
    b'weights'
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, data: bytes) -> str:
        """Keep the bytes of a checkpoint, and return their hash.

        >>> import tempfile
        >>> len(CheckpointFolder(Path(tempfile.mkdtemp())).write("1f-3.checkpoint", b"weights"))
        64
        """
        path = self._path(name)
        self._folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():  # writing would follow it
            path.unlink()
        write_bytes(data, path)
        return hashlib.sha256(data).hexdigest()

    def read(self, name: str, sha256: str) -> bytes | None:
        """Return the bytes of a checkpoint; None where there is no such file, or another than was written.

        >>> CheckpointFolder(Path("missing")).read("1f-3.checkpoint", "")
        """
        flags = (getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        try:
            with open(os.open(self._path(name), os.O_RDONLY | sum(flags)), "rb") as file:  # noqa: PTH123
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None  # a pipe or device may never end
                data = file.read()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def remove(self, name: str) -> None:
        """Remove a checkpoint, if it is there.

        >>> CheckpointFolder(Path("missing")).remove("1f-3.checkpoint")
        """
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        check_name(name)
        return self._folder / name


def check_name(name: str) -> None:
    """Refuse what is no name of a checkpoint: a path, which may lead anywhere.

    >>> check_name("../1f-3.checkpoint")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The ledger calls a checkpoint '../1f-3.checkpoint', which is no name ...
    """
    plain = name == Path(name).name == PureWindowsPath(name).name and "\0" not in name
    if not plain or not name.endswith(_ENDING):
        raise InputError(
            f"The ledger calls a checkpoint {shorten(name, 200)}, which is no name of one: somebody "
            f"changed it. Put back a copy of the ledger, or choose another folder with `--output`."
        )

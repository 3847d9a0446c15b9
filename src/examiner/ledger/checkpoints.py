"""What learners saved, one file each beside the ledger, with a checksum."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from examiner.results.storage import write_bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After how many episodes and frames a learner saved itself, and in which file.

    >>> Checkpoint(episodes=10, frames=12_000, evaluated=0).file
    ''
    """

    episodes: int
    frames: int
    evaluated: int
    file: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The folder of checkpoints."""

    folder: Path

    def write(self, key: str, checkpoint: Checkpoint, data: bytes) -> Checkpoint:
        """Write a file, whole or not at all, and return the checkpoint with its name and checksum."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{key}-{checkpoint.episodes}.checkpoint"
        write_bytes(data, self.folder / name)
        return replace(checkpoint, file=name, sha256=hashlib.sha256(data).hexdigest())

    def read(self, checkpoint: Checkpoint) -> bytes | None:
        """Return what was saved; None where the file is gone or damaged: the run begins anew then."""
        try:
            data = (self.folder / checkpoint.file).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == checkpoint.sha256 else None

    def remove(self, checkpoint: Checkpoint) -> None:
        """Remove the file of a checkpoint that another one replaced."""
        with suppress(OSError):
            (self.folder / checkpoint.file).unlink()

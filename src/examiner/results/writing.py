"""Atomic writes: a file is either the old one or the whole new one, whatever happens in between."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from examiner.wording import InputError, shorten


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside the target, moved onto it only when the block ends well.

    The content is flushed to disk before the move, so that a crash leaves the old file or the new
    one, never half of either. A killed process can leave a hidden `.examiner-….part` behind.
    Devices and pipes (`/dev/stdout`) cannot be replaced and are written directly.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("agent,task,score")
    ...     target.exists()
    False
    >>> target.read_text()
    'agent,task,score'
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        target = target.resolve()  # a link keeps pointing where it points
        _check_writable(target)
        # Not the target's own name, which may be as long as the file system allows, or no text.
        temporary = target.with_name(f".examiner-{secrets.token_hex(6)}.part")
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        _flush_to_disk(temporary)
        temporary.replace(target)
        _flush_to_disk(target.parent)
    except (OSError, RuntimeError) as problem:
        if isinstance(problem, RuntimeError) and "loop" not in str(problem).lower():
            raise  # Python before 3.13 calls a loop of links a RuntimeError
        raise InputError(
            f"Cannot write {shorten(path, 200)}: {getattr(problem, 'strerror', None) or problem}. "
            f"Check the name, the free space and the permissions, or choose another path."
        ) from problem
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def write_text(path: str | Path, text: str) -> Path:
    """Write text atomically, as UTF-8, and return the path.

    >>> import tempfile
    >>> write_text(Path(tempfile.mkdtemp()) / "note.txt", "π").read_text(encoding="utf-8")
    'π'
    """
    with atomic_path(path) as temporary:
        # surrogates can come from undecodable file names; they have no UTF-8 of their own
        temporary.write_bytes(text.encode("utf-8", errors="replace"))
    return Path(path)


def _check_writable(target: Path) -> None:
    if target.is_dir():
        raise InputError(f"Cannot write {shorten(target, 200)}: it is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise InputError(
            f"Cannot write {shorten(target, 200)}: the folder {shorten(target.parent, 200)} does "
            f"not exist. Create it first."
        )


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

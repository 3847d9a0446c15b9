"""The files a path means: itself, those in a folder, those a pattern is like; in natural order."""

from __future__ import annotations

import fnmatch
import functools
import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path, PurePath
from typing import NamedTuple

from examiner.messages import InputError, shorten
from examiner.validation import NaturalKey, natural_key


class Found(NamedTuple):
    """Files in natural order, the folder that path templates start from, and how they were named.

    `meant` says that every file was named by its ending, so that none is passed over; `irregular` are
    pipes, devices and sockets among them, which are never opened.
    """

    paths: tuple[Path, ...]
    root: Path
    meant: bool
    irregular: tuple[Path, ...] = ()


def is_many(source: str | Path) -> bool:
    """Tell whether a path means several files: a folder, or a pattern that is no file's own name.

    >>> is_many("logs/*.csv"), is_many("scores.csv")
    (True, False)
    """
    path = Path(source)
    try:
        return path.is_dir() or (glob.has_magic(str(source)) and not path.exists())
    except (OSError, ValueError):
        return False


def found_files(source: str | Path) -> Found:
    """List the files of a folder or pattern; hidden ones are ignored, links are followed once.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("run_10.csv", "run_9.csv", ".hidden.csv"):
    ...     _ = (folder / name).write_text("agent,task,score")
    >>> [path.name for path in found_files(folder).paths]
    ['run_9.csv', 'run_10.csv']
    """
    root, meant = Path(source), False
    if root.is_dir():
        if _is_of_the_system(root):
            raise InputError(
                f"{shorten(source, 200)} belongs to the system: what lies there are no files on a disk. "
                f"Name a folder of results."
            )
        files = list(_walk(root))
    else:
        files, root, meant = _globbed(str(source))
    everything = sorted(set(files), key=natural_order)
    # What is neither there nor a file is a broken link, which is told where it is opened.
    irregular = tuple(path for path in everything if not path.is_file() and path.exists())
    paths = tuple(path for path in everything if path not in irregular)
    if not paths:
        raise InputError(
            f"There are no files in {shorten(source, 200)}. Check the path; hidden files, pipes and "
            f"devices are ignored."
        )
    return Found(paths, root, meant, irregular)


def would_include(source: str | Path, path: str | Path) -> bool:
    """Tell whether a folder or pattern means a file, which need not exist yet; links are resolved.

    >>> would_include("logs/*.csv", "logs/all.csv"), would_include("logs/*.csv", "all.csv")
    (True, False)
    """
    parts = Path(source).parts
    fixed = tuple(takewhile(lambda part: not glob.has_magic(part), parts))
    if Path(source).is_dir():
        fixed = parts
    root, target = Path(os.path.realpath(Path(*fixed))), Path(os.path.realpath(path))
    if not target.is_relative_to(root):
        return False
    below = target.relative_to(root).parts
    if any(part.startswith(".") for part in below):
        return False
    patterns = [
        None if part == "**" else re.compile(fnmatch.translate(part))
        for part in parts[len(fixed) :]
    ]
    return _is_like(below, patterns or [None])


def natural_order(path: PurePath) -> list[NaturalKey]:
    """Order paths as people do: `run_9` before `run_10`.

    >>> sorted([Path("b/10"), Path("b/9"), Path("a")], key=natural_order)[1].name
    '9'
    """
    return [natural_key(part) for part in path.parts]


def _globbed(pattern: str) -> tuple[list[Path], Path, bool]:
    root = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))
    try:
        matches = _matches(pattern, root)
    except (OSError, ValueError, re.error):
        raise InputError(
            f"{shorten(pattern, 200)} cannot be understood as a pattern. Check it."
        ) from None
    if not matches:
        raise InputError(
            f"No file is like {shorten(pattern, 200)}. Check the path; `*` stays within one folder, "
            f"`**` goes through folders."
        )
    files: list[Path] = []
    visited: set[tuple[int, int]] = set()
    for match in matches:
        files.extend(_walk(match, visited) if match.is_dir() else [match])
    ending = PurePath(pattern).suffix
    return files, root, bool(ending) and not glob.has_magic(ending)


def _matches(pattern: str, root: Path) -> list[Path]:
    parts = Path(pattern).parts[len(root.parts) :]
    if "**" not in parts:
        # Path.glob would need the pattern split from its root, and hides no hidden files.
        return [Path(match) for match in glob.glob(pattern)]  # noqa: PTH207
    # glob.glob follows every link on every way, which two links to their own folder make endless.
    hidden = any(part.startswith(".") for part in parts)
    patterns = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts]
    return [
        path
        for path in _walk(root, hidden=hidden)
        if _is_like(path.parts[len(root.parts) :], patterns)
    ]


def _is_like(parts: Sequence[str], patterns: Sequence[re.Pattern[str] | None]) -> bool:
    """Whether a path, or a folder it lies in, is like a pattern whose None stands for any folders."""
    reached = {0}  # how many of the patterns may be used up, after each part
    for part in (*parts, None):
        for place in sorted(reached):  # any folders may be none
            while place < len(patterns) and patterns[place] is None:
                place += 1
                reached.add(place)
        if len(patterns) in reached:
            return True
        if part is None:
            return False
        reached = {
            place + (pattern is not None)
            for place in reached
            if (pattern := patterns[place]) is None or pattern.match(part)
        }
    return False


def _walk(
    folder: Path, visited: set[tuple[int, int]] | None = None, *, hidden: bool = False
) -> Iterator[Path]:
    """Every file below a folder, each folder once: links may lead in circles."""
    visited = set() if visited is None else visited
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        try:
            about = folder.stat()
            if (about.st_dev, about.st_ino) in visited or _is_of_the_system(folder):
                continue
            visited.add((about.st_dev, about.st_ino))
            with os.scandir(folder) as entries:
                listed = sorted(
                    (entry.name, entry.is_dir())
                    for entry in entries
                    if hidden or not entry.name.startswith(".")
                )
        except OSError as problem:
            raise InputError(
                f"Cannot look into {shorten(folder, 200)}: {problem.strerror}. Change its permissions, or "
                f"name what is to be read by a pattern."
            ) from None
        yield from (folder / name for name, is_folder in listed if not is_folder)
        waiting += [folder / name for name, is_folder in reversed(listed) if is_folder]


@functools.cache
def _system_devices() -> frozenset[int]:
    """The file systems that hold no files but what the system says of itself, where there are any."""
    found = set()
    for name in ("/proc", "/sys", "/dev"):
        with suppress(OSError):
            found.add(Path(name).stat().st_dev)
    return frozenset(found) - {Path("/").stat().st_dev}


def _is_of_the_system(folder: Path) -> bool:
    return folder.stat().st_dev in _system_devices()

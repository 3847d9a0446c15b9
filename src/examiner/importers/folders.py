"""The files a path means: the file itself, those in a folder, or those a pattern is like."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from examiner.wording import InputError, shorten

_DIGITS = re.compile(r"(\d+)")


class Found(NamedTuple):
    """Files in natural order, the folder that path templates start from, and how they were named.

    `meant` says that every file was named by its ending, so that none is passed over.
    """

    paths: tuple[Path, ...]
    root: Path
    meant: bool


def is_many(source: str | Path) -> bool:
    """Tell whether a path means several files: a folder, or a pattern that is no file's own name.

    >>> is_many("logs/*.csv"), is_many("scores.csv")
    (True, False)
    """
    path = Path(source)
    try:
        if path.is_dir():
            return True
        return glob.has_magic(str(source)) and not path.exists()
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
        files = list(_walk(root, set()))
    else:
        files, root, meant = _globbed(str(source))
    if not files:
        raise InputError(
            f"There are no files in {shorten(source, 200)}. Check the path; hidden files are ignored."
        )
    return Found(tuple(sorted(set(files), key=natural_order)), root, meant)


def natural_order(path: PurePath) -> list[list[tuple[bool, int, str]]]:
    """Order paths as people do: `run_9` before `run_10`.

    >>> sorted([Path("b/10"), Path("b/9"), Path("a")], key=natural_order)[1].name
    '9'
    """
    return [[_rank(piece) for piece in _DIGITS.split(part) if piece] for part in path.parts]


def _rank(piece: str) -> tuple[bool, int, str]:
    if piece.isdecimal() and len(piece) < 100:
        return False, int(piece), piece
    return True, 0, piece


def _globbed(pattern: str) -> tuple[list[Path], Path, bool]:
    fixed = []
    for part in Path(pattern).parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    root = Path(*fixed)
    try:
        # Path.glob would need the pattern split from its root, and hides no hidden files.
        matches = [Path(match) for match in glob.glob(pattern, recursive=True)]  # noqa: PTH207
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


def _walk(folder: Path, visited: set[tuple[int, int]]) -> Iterator[Path]:
    try:
        about = folder.stat()
        if (about.st_dev, about.st_ino) in visited:
            return
        visited.add((about.st_dev, about.st_ino))
        with os.scandir(folder) as entries:
            listed = sorted(
                (entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith(".")
            )
    except OSError as problem:
        raise InputError(
            f"Cannot look into {shorten(folder, 200)}: {problem.strerror}. Change its permissions, or "
            f"name what is to be read by a pattern."
        ) from None
    for name, is_folder in listed:
        if is_folder:
            yield from _walk(folder / name, visited)
        else:
            yield folder / name

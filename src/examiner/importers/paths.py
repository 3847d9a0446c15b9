"""The files a path means: itself, those in a folder, those a pattern is like; and the names they give.

The grammar of a path template: literal text and names in braces, in segments parted by `/`. A name
matches one or more letters within one segment, the first names as many as they can, so that
`{task}_{run}` parts at the last `_`, and becomes a column of the results; `{agent}`, `{task}` and
`{run}` are keys, any other is kept as it is called. A template that ends in `/` describes the folders
from the one that was read downwards, whatever lies below them; one that does not describes the whole
path, its last segment the file's name: with its ending where the template has a dot there, else
without.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePath
from typing import NamedTuple

from examiner.importers.files import PACKED_ENDINGS
from examiner.wording import InputError, counted, shorten

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
    root = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))
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


_NAME = re.compile(r"\{([^{}]*)\}")
_MEASURED = ("frames", "length", "score", "win")


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A template that was understood: one pattern a segment, and whether the last is a file's name."""

    text: str
    segments: tuple[re.Pattern[str], ...]
    names: tuple[str, ...]
    of_folders: bool

    @classmethod
    def of(cls, text: str) -> PathTemplate:
        """Understand a template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").names
        ('agent', 'task', 'run')
        >>> PathTemplate.of("{agent}/{agent}")
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The path template '{agent}/{agent}' names 'agent' twice. \
Name each once.
        """
        parts = [part for part in text.split("/") if part not in ("", ".")]
        names = tuple(_NAME.findall(text))
        _check(text, names)
        segments = tuple(_segment(part) for part in parts)
        return cls(text, segments, names, text.rstrip().endswith("/"))

    def match(self, path: PurePath) -> dict[str, str] | None:
        """Return the names a path gives, or None where it is not like the template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").match(PurePath("dqn/space_invaders_3/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'space_invaders', 'run': '3'}
        >>> PathTemplate.of("{agent}-{run}").match(PurePath("dqn-1.csv"))
        {'agent': 'dqn', 'run': '1'}
        """
        *folders, file = path.parts
        if self.of_folders:
            parts = folders[: len(self.segments)]
        else:
            has_ending = "." in _NAME.sub("", self.text.rpartition("/")[2])
            parts = [*folders, file if has_ending else _without_ending(file)]
        if len(parts) != len(self.segments):
            return None
        found = [
            pattern.fullmatch(part) for pattern, part in zip(self.segments, parts, strict=True)
        ]
        values = [value for match in found if match for value in match.groups()]
        return dict(zip(self.names, values, strict=True)) if all(found) else None

    def match_end(self, path: PurePath) -> dict[str, str] | None:
        """Return the names that the end of a path gives: for a file that was named by itself.

        >>> PathTemplate.of("{agent}/{task}/").match_end(PurePath("/logs/dqn/pong/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'pong'}
        """
        length = len(self.segments) + self.of_folders
        return self.match(PurePath(*path.parts[-length:]))

    def no_match(self, paths: Sequence[PurePath], root: PurePath) -> InputError:
        """Build the error for a template that is like no path.

        >>> str(PathTemplate.of("{agent}/").no_match([PurePath("a.csv")], PurePath("logs")))
        "The path template '{agent}/' is like none of the 1 file in 'logs'; the first is 'a.csv'. Write \
it like that path, with names such as {agent}, {task} and {run} in place of what differs."
        """
        return InputError(
            f"The path template {shorten(self.text, 200)} is like none of the "
            f"{counted(len(paths), 'file')} in {shorten(root, 200)}; the first is "
            f"{shorten(paths[0].as_posix(), 200)}. Write it like that path, with names such as "
            f"{{agent}}, {{task}} and {{run}} in place of what differs."
        )


def _without_ending(name: str) -> str:
    for ending in PACKED_ENDINGS:
        name = name.removesuffix(ending)
    return PurePath(name).stem.removesuffix(".monitor")


def _check(text: str, names: Sequence[str]) -> None:
    where = f"The path template {shorten(text, 200)}"
    if not names or "{" in _NAME.sub("", text):
        raise InputError(
            f"{where} has no names in whole braces. Write it like {{agent}}/{{task}}_{{run}}/."
        )
    for name in names:
        if not re.fullmatch(r"[^\W\d]\w*", name):
            raise InputError(
                f"{where} has the name {shorten(name)}. A name is a word, such as {{agent}}."
            )
        if names.count(name) > 1:
            raise InputError(f"{where} names {shorten(name)} twice. Name each once.")
        if name in _MEASURED:
            raise InputError(f"{where} names {shorten(name)}, which is measured. Use another name.")
    if "}{" in text:
        raise InputError(
            f"{where} has two names with nothing between them. Put the text that parts them there."
        )


def _segment(part: str) -> re.Pattern[str]:
    """One segment as a pattern: the first names as long as they can be.

    So `{task}_{run}` parts `space_invaders_3` at its last `_`.
    """
    pieces = [re.escape(piece) for piece in _NAME.split(part)]
    return re.compile("(.+)".join(pieces[::2]), flags=re.DOTALL)

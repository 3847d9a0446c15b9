"""The files a path means: itself, those in a folder or like a pattern; what their names tell."""

from __future__ import annotations

import fnmatch
import functools
import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from itertools import takewhile
from pathlib import Path, PurePath
from typing import NamedTuple

from examiner.messages import InputError, nearest, shorten
from examiner.validation import NaturalKey, natural_key

TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".ndjson", ".jsonl", ".parquet")
"""Endings of files that are meant as tables: none is passed over without a note."""
_DATA_ENDINGS = (*TABLE_ENDINGS, ".json", ".npy", ".npz", ".txt", ".pkl", ".pickle", ".h5", ".hdf5")
_SETTINGS = re.compile(
    r"(?:.*[_.-])?(?:configs?|configuration|args|arguments|params|parameters|hyperparams|hyperparameters"
    r"|hparams|flags|settings|metadata|requirements|environment|package|package-lock|schema)",
    flags=re.IGNORECASE,
)


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
        matches = list(_walk(root))
    else:
        matches, root, meant = _globbed(str(source))
    everything = sorted(set(matches), key=natural_order)
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


def relative(path: Path, root: Path) -> Path:
    """Return a path as it stands below a folder, or as it is.

    >>> relative(Path("logs/a.csv"), Path("logs"))
    PosixPath('a.csv')
    """
    return path.relative_to(root) if path.is_relative_to(root) else path


def is_settings(path: Path) -> bool:
    """Tell whether a file holds the settings of a run by its name, whatever its format.

    >>> [is_settings(Path(name)) for name in ("config.json", "wandb-metadata.json", "a.csv")]
    [True, True, False]
    """
    return _SETTINGS.fullmatch(path.name.partition(".")[0]) is not None


def may_hold_results(path: Path) -> bool:
    """Tell whether results could be in a file that no format reads: data, and no settings.

    >>> may_hold_results(Path("dqn/scores.pkl")), may_hold_results(Path("README.md"))
    (True, False)
    """
    return any(ending in _DATA_ENDINGS for ending in path.suffixes[-2:]) and not is_settings(path)


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
    paths: list[Path] = []
    visited: set[tuple[int, int]] = set()
    for match in matches:
        paths.extend(_walk(match, visited) if match.is_dir() else [match])
    ending = PurePath(pattern).suffix
    return paths, root, bool(ending) and not glob.has_magic(ending)


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


# -------------------------------------------------------------------- bundled data sets


@functools.cache
def bundled_data_sets() -> tuple[str, ...]:
    """Return the names of the bundled data sets, each of which has a card.

    >>> "atari-arena" in bundled_data_sets()
    True
    """
    cards = files("examiner").joinpath("datasets", "cards").iterdir()
    return tuple(sorted(c.name.removesuffix(".toml") for c in cards if c.name.endswith(".toml")))


def data_set_hint(path: str) -> str:
    """Say what to do about a path that does not exist.

    >>> data_set_hint("atari-aren")
    "Did you mean 'atari-arena'? Check the path, or name a bundled data set (`examiner datasets`)."
    >>> data_set_hint("atari-arena")
    "A bundled data set has this name: load it with `ex.load('atari-arena')`."
    """
    if path in bundled_data_sets():
        return f"A bundled data set has this name: load it with `ex.load({path!r})`."
    hint = nearest(path, bundled_data_sets())
    return f"{hint}Check the path, or name a bundled data set (`examiner datasets`)."


def note_on_namesake(path: str) -> tuple[str, ...]:
    """Say that what is read here is not the bundled data set of the same name.

    >>> note_on_namesake("scores.csv")
    ()
    """
    if path not in bundled_data_sets():
        return ()
    kind = "folder" if Path(path).is_dir() else "file"
    return (
        f"{path!r} is read as the {kind} of this name. A bundled data set has the same name: load it "
        f"with `ex.load({path!r})`.",
    )

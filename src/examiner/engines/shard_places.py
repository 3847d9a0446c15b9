"""Where shards lie: files on this machine and objects at a URL, found, scanned, and known again."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from examiner.engines.remote_objects import (
    check_scheme,
    listed_objects,
    marks_of_object,
    scanned_object,
    unreadable_object,
)
from examiner.messages import InputError, counted, shorten
from examiner.results import damaged
from examiner.validation import scheme_of, without_secrets

T = TypeVar("T")
Source = str | Path | Sequence[str | Path]
_NUMBERED = re.compile(r"(\d+)-of-(\d+)")
"""How writers of many files number them: part-00003-of-00010.parquet."""
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")


class Stamp(NamedTuple):
    """By what a shard is known again: its place, and size and time of change, or rows and columns."""

    place: str
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LocalShard:
    """A file on this machine, or in a folder that it shares."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def stamp(self) -> Stamp:
        """Return its size and time of change, or say that it is not there."""
        try:
            state = self.path.stat()
        except OSError:
            raise InputError(
                f"The shard {shorten(self, 200)} is missing. Put it back, or leave it out of what is read."
            ) from None
        return Stamp(str(self), (state.st_size, state.st_mtime_ns))

    def scanned(self) -> pl.LazyFrame:
        """Return a lazy table of it; names in its folders (agent=dqn/) are columns."""
        self.stamp()
        return pl.scan_parquet(self.path, hive_partitioning=True, glob=False)

    def unreadable(self, problem: BaseException) -> InputError:
        """Build the error for one that polars cannot read."""
        return damaged(self.path, problem)


@dataclass(frozen=True, slots=True)
class RemoteShard:
    """An object at a URL that polars scans. Its text is the URL without what is secret."""

    url: str

    def __str__(self) -> str:
        return without_secrets(self.url)

    def stamp(self) -> Stamp:
        """Return its number of rows and a digest of its columns, or say why they are not had."""
        return Stamp(str(self), marks_of_object(self.url))

    def scanned(self) -> pl.LazyFrame:
        """Return a lazy table of it; names in its folders (agent=dqn/) are columns."""
        return scanned_object(self.url)

    def unreadable(self, problem: BaseException) -> InputError:
        """Build the error for one that polars cannot read."""
        return unreadable_object(self.url, problem)


Shard = LocalShard | RemoteShard


def shards_at(source: Source) -> list[Shard]:
    """Return the shards that a path, URL, folder (partitioned ones too), pattern or list names.

    >>> shards_at("nowhere/*.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: There is no Parquet file at 'nowhere/*.parquet'. Check the path.
    """
    if not isinstance(source, (str, Path)):
        shards = [shard for part in source for shard in shards_at(part)]
        if not shards:
            raise InputError("No shard is named. Give a path, a URL, or a list of these.")
        return shards
    escaped = scheme_of(source) == "file" and "%00" in str(source)
    if "\0" in str(source) or escaped or not str(source):
        raise InputError(f"No file is called {shorten(source)}. Check the path.")
    place = place_of(source)
    if isinstance(place, RemoteShard):
        shards = [RemoteShard(url) for url in listed_objects(place.url)]
    else:
        shards = [LocalShard(path.absolute()) for path in _files_at(place.path)]
    if not shards:
        raise InputError(f"There is no Parquet file at {shorten(source, 200)}. Check the path.")
    _check_numbering(shards)
    return shards


def place_of(source: str | Path) -> Shard:
    """Return what a path or URL names as one place, be it a shard, a folder or a pattern."""
    path = path_of(source)
    return RemoteShard(str(source)) if path is None else LocalShard(path)


def path_of(source: str | Path) -> Path | None:
    """Return where a path or a URL of a file lies on this machine; None where it lies elsewhere.

    >>> str(path_of("file:///day%201/x.parquet")), path_of("s3://day/1.parquet")
    ('/day 1/x.parquet', None)
    """
    scheme = scheme_of(source)
    if scheme is None:
        return Path(source)
    check_scheme(source)
    if scheme != "file":
        return None
    host, slash, path = str(source)[len("file://") :].partition("/")
    if host not in ("", "localhost") or not slash:
        raise InputError(
            f"{shorten(source, 200)} names a file on another machine. Write file:///path for one on this."
        )
    encoded = f"/{path}".encode()
    return Path(os.fsdecode(_ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), encoded)))


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(
            inside
            for inside in path.rglob("*.parquet")
            if not any(part.startswith((".", "_")) for part in inside.relative_to(path).parts)
        )
    if glob.has_magic(str(path)) and not path.exists():
        return sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207
    return [path]


def _check_numbering(shards: Sequence[Shard]) -> None:
    """Refuse shards that say how many they are where some of them are not there."""
    sets: dict[tuple[str, int], set[int]] = {}
    for place in map(str, shards):
        numbered = _NUMBERED.search(place, max(place.rfind("/"), place.rfind("\\")) + 1)
        if numbered:
            stem = place[: numbered.start()]
            sets.setdefault((stem, int(numbered[2])), set()).add(int(numbered[1]))
    for (stem, count), there in sets.items():
        first = 0 if 0 in there else 1
        missing = sorted(set(range(first, first + count)) - there)
        if missing:
            raise InputError(
                f"Of {counted(count, 'shard')} {shorten(stem, 200)}…-of-{count}, {len(there)} are there: "
                f"number {missing[0]} is missing. Put it back, or rename what is there."
            )


def answers(question: Callable[[Shard], T], shards: Sequence[Shard]) -> list[T]:
    """Return what is asked of each shard, of those that lie elsewhere several at once."""
    if all(isinstance(shard, LocalShard) for shard in shards):
        return list(map(question, shards))
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(question, shards))


def stamps_of(shards: Sequence[Shard]) -> tuple[Stamp, ...]:
    """Return the stamps of shards."""
    return tuple(answers(lambda shard: shard.stamp(), shards))


def on_this_machine(stamps: Iterable[Stamp]) -> tuple[Stamp, ...]:
    """Return the stamps of files, which are looked at for nothing; objects are not asked again."""
    return tuple(stamp for stamp in stamps if scheme_of(stamp.place) is None)


def check_unchanged(now: Iterable[Stamp], before: Iterable[Stamp]) -> None:
    """Refuse to go on with shards that are no longer what they were."""
    for stamp, expected in zip(now, before, strict=True):
        if stamp != expected:
            raise InputError(
                f"The shard {shorten(expected.place, 200)} was changed while it was used. Begin again when "
                f"nothing writes to it."
            )

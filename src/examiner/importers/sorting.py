"""Files by their format: which are read, which belong to others, which are passed over and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from examiner.importers.files import SourceFile, refuse_empty
from examiner.importers.formats import FORMATS, recognised, unknown_format
from examiner.importers.other_files import (
    TABLE_ENDINGS,
    is_json_object,
    may_hold_results,
    reason_to_skip,
)
from examiner.messages import counted, listed

_OF_A_RUN = ("-shm", "-wal", "-journal", ".lock")
_CHECKPOINTS = "checkpoints"  # the folder in which a run keeps its learners
_LEDGERS = ("ledger", "ledger-training")
_BESIDE_RESULTS = ("yaml", "markdown")
"""Formats in which settings and descriptions are kept beside all kinds of results."""
NO_RESULTS, EMPTY = "are not results", "are empty"
OBJECTS = "are single JSON objects, not lists of records"
"""Why files are passed over."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """Files by their format, in order, and those that are passed over, by the reason."""

    by_format: dict[str, list[SourceFile]]
    skipped: dict[str, list[Path]]

    def sifted(self, judge: Callable[[str, SourceFile], SourceFile | str]) -> Sorted:
        """Keep what `judge` returns for the format and a file of it, or pass over it for a reason.

        >>> known = Sorted({"csv": [SourceFile(Path("a.csv"), None, b"")]}, {})
        >>> known.sifted(lambda name, file: "are old")
        Sorted(by_format={}, skipped={'are old': [PosixPath('a.csv')]})
        """
        by_format: dict[str, list[SourceFile]] = {}
        skipped = {reason: list(paths) for reason, paths in self.skipped.items()}
        for name, files in self.by_format.items():
            for file in files:
                judged = judge(name, file)
                if isinstance(judged, str):
                    skipped.setdefault(judged, []).append(file.path)
                else:
                    by_format.setdefault(name, []).append(judged)
        return Sorted(by_format, skipped)

    def with_unusual_endings(self, files: Sequence[SourceFile]) -> Sorted:
        """Read files whatever their endings, where there is nothing else: text, single JSON objects.

        Where all files are JSON, objects are read beside lists.

        >>> file = SourceFile(Path("a.json"), None, b"{}")
        >>> Sorted({}, {OBJECTS: [file.path]}).with_unusual_endings([file]).by_format["json"] == [file]
        True
        """
        if not self.by_format.keys() <= {"json"}:
            return self
        objects = {
            *self.skipped.get(OBJECTS, ()),
            *(file.path for file in self.by_format.get("json", ())),
        }
        by_format: dict[str, list[SourceFile]] = {}
        for file in files:
            name = "json" if file.path in objects else None
            if not objects and file.head and may_hold_results(file.path):
                name = recognised(file)
            if name is not None:
                by_format.setdefault(name, []).append(file)
        read = {file.path for group in by_format.values() for file in group}
        skipped = {
            reason: [path for path in paths if path not in read]
            for reason, paths in self.skipped.items()
        }
        return Sorted(by_format, skipped)

    def notes(self, root: Path) -> tuple[str, ...]:
        """One sentence for each reason why files were passed over.

        >>> Sorted({}, {"are not results": [Path("logs/README.md")]}).notes(Path("logs"))
        ("1 file was skipped that is not results: 'README.md'.",)
        """
        return tuple(
            f"{counted(len(paths), 'file')} "
            f"{f'was skipped that {of_one(reason)}' if len(paths) == 1 else f'were skipped that {reason}'}"
            f": {listed([relative(path, root).as_posix() for path in paths], limit=3)}."
            for reason, paths in self.skipped.items()
            if paths
        )


class Seen(NamedTuple):
    """A file that was looked at, and its format where one recognises it."""

    file: SourceFile
    format: str | None


def sorted_files(
    files: Sequence[Seen], named: str | None, *, everything: bool, strict: bool
) -> Sorted:
    """Put files with their format; a file without any is passed over, or refused if `strict`.

    >>> sorted_files([], None, everything=False, strict=False).by_format
    {}
    """
    by_format: dict[str, list[SourceFile]] = {name: [] for name in FORMATS}
    reason = NO_RESULTS if named is None else f"are not in the format {named!r}"
    skipped: dict[str, list[Path]] = {reason: [], EMPTY: []}
    for file, name in files:
        meant = everything or file.suffix in TABLE_ENDINGS
        other = reason_to_skip(file) if named is None else None
        if meant and not file.head:
            if strict:
                refuse_empty(file)
            skipped[EMPTY].append(file.path)
        elif other is not None:
            skipped.setdefault(other, []).append(file.path)
        elif name is not None:
            by_format[name].append(file)
        elif strict and named is None and file.head and meant:
            raise unknown_format(file)
        elif named is None and is_json_object(file):
            skipped.setdefault(OBJECTS, []).append(file.path)
        else:
            skipped[reason].append(file.path)
    beside = () if everything else _BESIDE_RESULTS
    others = {name: files for name, files in by_format.items() if files and name not in beside}
    if others and named is None:
        skipped[NO_RESULTS] += [file.path for name in beside for file in by_format[name]]
        return Sorted(others, skipped)
    return Sorted({name: files for name, files in by_format.items() if files}, skipped)


def without_companions(known: Sorted) -> Sorted:
    """Of one folder, read the training log or ledger and leave its companions: summaries, copies.

    The same run is written there in several formats, and would count several times.

    >>> without_companions(Sorted({}, {}))
    Sorted(by_format={}, skipped={})
    """
    first: dict[Path, str] = {}
    for name, files in known.by_format.items():
        if FORMATS[name].training or FORMATS[name].leads:
            for file in files:
                first.setdefault(file.path.parent, name)

    def judge(name: str, file: SourceFile) -> SourceFile | str:
        chosen = first.get(file.path.parent, name)
        if chosen == name:
            return file
        if FORMATS[chosen].training:
            what = f"a training log in the format {chosen!r}"
        else:
            what = "a ledger" if chosen in _LEDGERS else f"logs in the format {chosen!r}"
        return f"lie beside {what} (to read them, `--format {name}`)"

    known = known.sifted(judge)
    ledgers = [file.path for name in _LEDGERS for file in known.by_format.get(name, ())]
    belonging: dict[Path, set[str]] = {}
    for name, files in known.by_format.items():
        for file in files if FORMATS[name].companions else ():
            belonging.setdefault(file.path.parent, set()).update(FORMATS[name].companions)
    told = {
        reason: [
            path
            for path in paths
            if not any(fnmatchcase(path.name, like) for like in belonging.get(path.parent, ()))
            and not any(_of_run(path, ledger) for ledger in ledgers)
        ]
        for reason, paths in known.skipped.items()
    }
    return replace(known, skipped=told)


def _of_run(path: Path, ledger: Path) -> bool:
    """Whether `examiner arena run` wrote a file beside its ledger: it needs no word."""
    names = ("output.log", "episodes.parquet", *(ledger.name + end for end in _OF_A_RUN))
    kept = ledger.with_name(_CHECKPOINTS)
    return path.parent == kept or (path.parent == ledger.parent and path.name in names)


def of_one(reason: str) -> str:
    """Return a reason said of one file.

    >>> of_one("are not results")
    'is not results'
    """
    if reason == OBJECTS:
        return "is a single JSON object, not a list of records"
    verb, _, rest = reason.partition(" ")
    one = {"are": "is", "were": "was"}.get(verb, verb + "s")
    return f"{one} {rest.replace('read them', 'read it')}"


def relative(path: Path, root: Path) -> Path:
    """Return a path as it stands below a folder, or as it is.

    >>> relative(Path("logs/a.csv"), Path("logs"))
    PosixPath('a.csv')
    """
    return path.relative_to(root) if path.is_relative_to(root) else path

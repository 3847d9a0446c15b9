"""Files by their format: which are read, which belong to others, which are passed over and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from examiner.importers.files import SourceFile, refuse_empty
from examiner.importers.formats import FORMATS, recognised, unknown_format
from examiner.importers.paths import TABLE_ENDINGS, is_settings, may_hold_results, relative
from examiner.importers.text import beginning
from examiner.messages import InputError, counted, listed, shorten

_LEDGERS = ("ledger", "ledger-training")
_BESIDE_RESULTS = ("yaml", "markdown")
"""Formats in which settings and descriptions are kept beside all kinds of results."""
NO_RESULTS, EMPTY = "are not results", "are empty"
OBJECTS = "are single JSON objects, not lists of records"
"""Why files are passed over."""
_OF_EXAMINER = re.compile(rb'\s*\{\s*"schema":\s*"(examiner\.[^"]+)"')
_WITH_SCHEMA = re.compile(rb'\s*\{[^{]{0,200}"\$schema"')


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
        objects = {*self.skipped.get(OBJECTS, ())}
        objects |= {file.path for file in self.by_format.get("json", ())}
        by_format: dict[str, list[SourceFile]] = {}
        for file in files:
            name = "json" if file.path in objects else None
            if not objects and file.head and may_hold_results(file.path):
                name = recognised(file)
            if name is not None:
                by_format.setdefault(name, []).append(file)
        read = {file.path for group in by_format.values() for file in group}
        return Sorted(by_format, self._skipped_unless(lambda path: path in read))

    def _skipped_unless(self, is_of_another: Callable[[Path], bool]) -> dict[str, list[Path]]:
        return {
            reason: [path for path in paths if not is_of_another(path)]
            for reason, paths in self.skipped.items()
        }

    def without_companions(self) -> Sorted:
        """Of one folder, read the training log or ledger and leave its companions: summaries, copies.

        The same run is written there in several formats, and would count several times.

        >>> Sorted({}, {}).without_companions()
        Sorted(by_format={}, skipped={})
        """
        first: dict[Path, str] = {}
        for name, files in self.by_format.items():
            if FORMATS[name].training or FORMATS[name].leads:
                for file in files:
                    first.setdefault(file.path.parent, name)

        def judge(name: str, file: SourceFile) -> SourceFile | str:
            chosen = first.get(file.path.parent, name)
            if chosen == name:
                return file
            what = f"logs in the format {chosen!r}"
            if FORMATS[chosen].training:
                what = f"a training log in the format {chosen!r}"
            elif chosen in _LEDGERS:
                what = "a ledger"
            return f"lie beside {what} (to read them, `--format {name}`)"

        known = self.sifted(judge)
        ledgers = [file.path for name in _LEDGERS for file in known.by_format.get(name, ())]
        companions: dict[Path, set[str]] = {}
        for name, files in known.by_format.items():
            for file in files if FORMATS[name].companions else ():
                companions.setdefault(file.path.parent, set()).update(FORMATS[name].companions)
        skipped = known._skipped_unless(
            lambda path: (
                any(fnmatchcase(path.name, like) for like in companions.get(path.parent, ()))
                or any(_is_of_ledger(path, ledger) for ledger in ledgers)
            )
        )
        return replace(known, skipped=skipped)

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


def sorted_files(
    files: Sequence[tuple[SourceFile, str | None]],
    named: str | None,
    *,
    everything: bool,
    strict: bool,
) -> Sorted:
    """Put files with the format that recognises them; one without is passed over, or refused if `strict`.

    >>> sorted_files([], None, everything=False, strict=False).by_format
    {}
    """
    by_format: dict[str, list[SourceFile]] = {name: [] for name in FORMATS}
    reason = NO_RESULTS if named is None else f"are not in the format {named!r}"
    skipped: dict[str, list[Path]] = {reason: [], EMPTY: []}
    for file, name in files:
        meant = everything or file.suffix in TABLE_ENDINGS
        other = _reason_to_skip(file) if named is None else None
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
        elif named is None and file.suffix == ".json" and beginning(file).lstrip()[:1] == b"{":
            skipped.setdefault(OBJECTS, []).append(file.path)
        else:
            skipped[reason].append(file.path)
    beside = () if everything or named is not None else _BESIDE_RESULTS
    known = {name: files for name, files in by_format.items() if files}
    if known.keys() - set(beside):
        skipped[reason] += [file.path for name in beside for file in known.pop(name, ())]
    return Sorted(known, skipped)


def _reason_to_skip(file: SourceFile) -> str | None:
    """Why a file in a folder is none of its results, though it could be read as a table."""
    if _OF_EXAMINER.match(beginning(file)):
        return "were written by examiner from results"
    if _WITH_SCHEMA.match(beginning(file)):
        return "are charts or schemas in JSON"
    return NO_RESULTS if is_settings(file.path) else None


def refuse_other_kinds(file: SourceFile) -> None:
    """Refuse a single file of a kind that is known and is no table, saying what to give instead.

    >>> refuse_other_kinds(SourceFile(Path("scores.zip"), None, b"PK", whole=True))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'scores.zip' is a zip archive. Unpack it ...
    """
    name = shorten(file.path, 200)
    ours = _OF_EXAMINER.match(beginning(file))
    if ours is not None:
        raise InputError(
            f"{name} was written by examiner ({ours[1].decode()}) and holds no results. Give the results "
            f"that it was computed from."
        )
    if file.suffix == ".zip":
        raise InputError(
            f"{name} is a zip archive. Unpack it (`unzip {file.path.name}`) and give the folder."
        )


def _is_of_ledger(path: Path, ledger: Path) -> bool:
    """Whether `examiner arena run` wrote a file beside its ledger: it needs no note."""
    ends = ("-shm", "-wal", "-journal", ".lock")
    names = ("output.log", "episodes.parquet", *(ledger.name + end for end in ends))
    learners = ledger.with_name("checkpoints")
    return path.parent == learners or (path.parent == ledger.parent and path.name in names)


def of_one(reason: str) -> str:
    """Return a reason said of one file.

    >>> of_one("are not results"), of_one("lie beside a ledger"), of_one("cannot be added")
    ('is not results', 'lies beside a ledger', 'cannot be added')
    """
    if reason == OBJECTS:
        return "is a single JSON object, not a list of records"
    verb, _, after = reason.partition(" ")
    singular = {"are": "is", "were": "was", "cannot": "cannot"}.get(verb, verb + "s")
    return f"{singular} {after.replace('read them', 'read it')}"

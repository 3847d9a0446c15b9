"""Files of a folder that could not be read: grouped by their reason, and when so many are too many."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from examiner.importers.files import SourceFile
from examiner.importers.formats import FORMATS, recognised
from examiner.importers.options import ReadOptions
from examiner.importers.paths import is_settings, may_hold_results, relative
from examiner.importers.sorting import of_one, refuse_other_kinds
from examiner.importers.tables import OtherMeasureError
from examiner.importers.templates import PathTemplate
from examiner.messages import InputError, counted, listed, shorten

Problems = Sequence[tuple[Path, InputError]]
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*")


def by_reason(problems: Problems) -> list[list[tuple[Path, InputError]]]:
    """Group files by why they cannot be read, whatever the values and lines that are named in it.

    >>> wrong = [(Path(name), InputError(f"{name!r}, line 3, is broken.")) for name in ("a.csv", "b.csv")]
    >>> [len(group) for group in by_reason([*wrong, (Path("c.csv"), InputError("It is empty."))])]
    [2, 1]
    """
    groups: dict[str, list[tuple[Path, InputError]]] = {}
    for path, problem in problems:
        groups.setdefault(_VALUES.sub("…", str(problem)), []).append((path, problem))
    return list(groups.values())


def unread_notes(problems: Problems, root: Path) -> tuple[str, ...]:
    """One sentence for each reason why files could not be read, with their number and the first of them.

    >>> unread_notes([(Path("a/x.csv"), InputError("It is empty."))], Path("a"))
    ("1 file could not be read and was skipped (`--strict` ends there): 'x.csv'. The reason: It is empty.",)
    """
    notes = []
    for group in by_reason(problems):
        were, which = ("was", "The reason") if len(group) == 1 else ("were", "The first")
        notes.append(
            f"{counted(len(group), 'file')} could not be read and {were} skipped (`--strict` ends there): "
            f"{_names([path for path, _ in group], root)}. {which}: {group[0][1]}"
        )
    return tuple(notes)


def other_measure_notes(
    problems: Sequence[OtherMeasureError], measures: Sequence[str]
) -> list[str]:
    """Say which tasks have only another measure than the `measures` that were asked for.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"agent": ["a"], "task": ["t"]})
    >>> other_measure_notes([OtherMeasureError("", frame, ["win"])], ["score"])
    ["1 file has no 'score', only 'win', and is excluded, with the task: 't'. To use it: `--measure win`."]
    """
    groups: dict[str, list[OtherMeasureError]] = {}
    for problem in problems:
        groups.setdefault(problem.measures[0], []).append(problem)
    notes = []
    for name, group in groups.items():
        tasks = list(dict.fromkeys(task for problem in group for task in problem.tasks))
        has, are, them = ("has", "is", "it") if len(group) == 1 else ("have", "are", "them")
        notes.append(
            f"{counted(len(group), 'file')} {has} no {listed(measures)}, only {name!r}, and {are} "
            f"excluded, with the {'task' if len(tasks) == 1 else 'tasks'}: {listed(tasks)}. To use {them}: "
            f"`--measure {name}`."
        )
    return notes


def nothing_read(
    source: str | Path,
    format: str | None,
    files: Sequence[SourceFile],
    options: ReadOptions,
    root: Path,
) -> InputError:
    """Return the error for a folder in which no file has a format: why the first that may has none.

    >>> file = SourceFile(Path("a/x.txt"), None, b"agent,pong", whole=True)
    >>> str(nothing_read("a", None, [file], ReadOptions(), Path("a")))[:58]
    "None of the 1 file in 'a' holds results of a known format."
    """
    expected = f"in the format {format!r}" if format else "of a known format"
    none = f"None of the {counted(len(files), 'file')} in {shorten(source, 200)} holds results {expected}"
    candidates = [file for file in files if file.head and may_hold_results(file.path)]
    candidates += [
        file
        for file in files
        if file.head and file.path.suffix == ".zip" and not is_settings(file.path)
    ]
    for file in candidates[:1] if format is None else []:
        try:
            refuse_other_kinds(file)
            name = recognised(file)
            if name is not None:
                FORMATS[name].read_one(file, options)
        except InputError as problem:
            return InputError(f"{none}. {problem}")
        if name is not None:
            return InputError(
                f"{none} by its ending, but {shorten(file.path, 200)} can be read by itself. Name such "
                f"files by a pattern: {_pattern(root, file.path)}."
            )
    first = shorten(relative(files[0].path, root).as_posix(), 200)
    return InputError(
        f"{none}; the first is {first}. Known formats: {listed(FORMATS, limit=len(FORMATS))}."
    )


def refuse_if_most(
    read: Sequence[Path],
    problems: Problems,
    skipped: Mapping[str, Sequence[Path]],
    root: Path,
    logs: Sequence[Path] = (),
) -> None:
    """Refuse a folder of which more files that may hold results are skipped than read.

    Files of an evaluation that was read from one of the `logs` are parts of it.

    >>> refuse_if_most([Path("a.csv")], [(Path("b.csv"), InputError("It is empty."))], {}, Path())
    """
    holding = {log.parent for log in logs}
    around = {folder for of_log in holding for folder in (of_log, *of_log.parents)}
    around -= {root, *root.parents}

    def is_lost(path: Path) -> bool:
        return around.isdisjoint(path.parents) and holding.isdisjoint(path.parents[1:])

    problems = [pair for pair in problems if is_lost(pair[0])]
    endings = {path.suffixes[-1] for path in read if path.suffixes}
    missing = {
        reason: [
            path
            for path in paths
            if is_lost(path) and path.suffix in endings and may_hold_results(path)
        ]
        for reason, paths in skipped.items()
    }
    unread = len(problems) + sum(map(len, missing.values()))
    if unread <= len(read):
        return
    reasons = [
        f"{counted(len(group), 'file')} ({_names([path for path, _ in group], root)}): {group[0][1]}"
        for group in by_reason(problems)
    ] + [
        f"{counted(len(paths), 'file')} ({_names(paths, root)}) {reason}."
        for reason, paths in missing.items()
        if paths
    ]
    raise InputError(
        f"Of {counted(len(read) + unread, 'file')} that may hold results in {shorten(root, 200)}, only "
        f"{len(read)} could be read. {' '.join(reasons)} Correct or remove them, or name the files that "
        f"are to be read by a pattern, such as {_pattern(root, read[0])}."
    )


def refuse_lost_agents(
    read: Sequence[Path],
    problems: Problems,
    skipped: Mapping[str, Sequence[Path]],
    template: PathTemplate,
    root: Path,
) -> None:
    """Refuse a folder where a path template names an agent of which no file could be read.

    >>> template, wrong = PathTemplate.of("{agent}/"), [(Path("sac/x.csv"), InputError("It is empty."))]
    >>> refuse_lost_agents([Path("dqn/x.csv")], wrong, {}, template, Path())
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: No file of 'sac' could be read, which the path template '{agent}/' \
names as an agent: 1 file ('sac/x.csv'): It is empty. Correct it, or name the files that are to be \
read by a pattern.
    """

    def agent_of(path: Path) -> str | None:
        return (template.match(relative(path, root)) or {}).get("agent")

    present = {None, *map(agent_of, read)}
    reasons = [(path, str(problem)) for path, problem in problems]
    reasons += [
        (path, f"it {of_one(reason)}.")
        for reason, paths in skipped.items()
        for path in paths
        if may_hold_results(path)
    ]
    lost: dict[str | None, list[tuple[Path, str]]] = {}
    for path, reason in reasons:
        if agent_of(path) not in present:
            lost.setdefault(agent_of(path), []).append((path, reason))
    if not lost:
        return
    first = next(iter(lost.values()))
    raise InputError(
        f"No file of {listed(lost)} could be read, which the path template {shorten(template.text, 200)} "
        f"names as {'an agent' if len(lost) == 1 else 'agents'}: {counted(len(first), 'file')} "
        f"({_names([path for path, _ in first], root)}): {first[0][1]} Correct "
        f"{'it' if len(first) == 1 else 'them'}, or name the files that are to be read by a pattern."
    )


def _names(paths: Sequence[Path], root: Path) -> str:
    return listed([relative(path, root).as_posix() for path in paths], limit=3)


def _pattern(root: Path, path: Path) -> str:
    """The pattern of all files that end like one, below a folder."""
    return shorten((root / "**" / f"*{path.suffix}").as_posix(), 200)

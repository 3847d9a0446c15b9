"""Faults of a whole folder, found in a few of its files before all of them are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examiner.importers.files import SourceFile
from examiner.importers.formats import FORMATS, Format, recognised
from examiner.importers.other_files import is_other_kind, may_hold_results, refuse_other_kinds
from examiner.importers.readings import Reading, SharedKeyError, joined
from examiner.importers.sorting import Sorted, relative
from examiner.importers.suggestions import MissingNamesError, suggested_template
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import OtherMeasureError
from examiner.importers.unread import by_reason
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Provenance

_MANY_FILES = 20  # to read two of them twice costs little then


def no_results(
    source: str | Path,
    format: str | None,
    files: Sequence[SourceFile],
    options: TableOptions,
    root: Path,
) -> InputError:
    """Return the error for a folder in which no file has a format: why the first that may has none.

    >>> file = SourceFile(Path("a/x.txt"), None, b"agent,pong", whole=True)
    >>> str(no_results("a", None, [file], TableOptions(), Path("a")))[:58]
    "None of the 1 file in 'a' holds results of a known format."
    """
    expected = f"in the format {format!r}" if format else "of a known format"
    said = f"None of the {counted(len(files), 'file')} in {shorten(source, 200)} holds results {expected}"
    candidates = [file for file in files if file.head and may_hold_results(file.path)]
    candidates += [file for file in files if file.head and is_other_kind(file.path)]
    for file in candidates[:1] if format is None else []:
        try:
            refuse_other_kinds(file)
            name = recognised(file)
            if name is not None:
                FORMATS[name].read_one(file, options)
        except InputError as problem:
            return InputError(f"{said}. {problem}")
        if name is not None:
            pattern = (root / "**" / f"*{file.path.suffix}").as_posix()
            return InputError(
                f"{said} by its ending, but {shorten(file.path, 200)} can be read by itself. Name such "
                f"files by a pattern: {shorten(pattern, 200)}."
            )
    first = shorten(relative(files[0].path, root).as_posix(), 200)
    return InputError(
        f"{said}; the first is {first}. Known formats: {listed(FORMATS, limit=len(FORMATS))}."
    )


def refuse_early(known: Sorted, options: TableOptions) -> None:
    """Refuse what is wrong with all of many files, or between two of them, before all are read.

    The first two files are read; where both fail for one reason, so are one in the middle and the last,
    for it may be that only the first ones are broken.

    >>> refuse_early(Sorted({}, {}), TableOptions())
    """
    for name, files in known.by_format.items():
        if len(files) < _MANY_FILES:
            continue
        kind = FORMATS[name]
        tried = [_attempt(kind, file, options) for file in files[:2]]
        # Logs are named when all are read, and files of one folder may be of one run.
        together = kind.training and files[0].path.parent == files[1].path.parent
        if kind.logs is None and not together:
            _refuse_shared_key(tried, options)
        if not _alike(tried):
            continue
        tried += [_attempt(kind, file, options) for file in (files[len(files) // 2], files[-1])]
        if not _alike(tried):
            continue
        assert isinstance(tried[0], InputError)
        tried[0].args = (f"{tried[0]} So it is in four files; {len(files) - 4:,} were not read.",)
        raise tried[0]


def with_template(
    problem: MissingNamesError,
    files: Sequence[SourceFile],
    root: Path,
    *,
    from_paths: bool = True,
) -> MissingNamesError:
    """Return an error about missing names with the path template that fits the files of a folder.

    `from_paths` says that files themselves name no agents and tasks.

    >>> files = [SourceFile(Path(f"logs/{name}.csv"), None, b"") for name in ("hop", "run")]
    >>> problem = MissingNamesError("Take it from `--path '{agent}/'`.", ["agent"], "{agent}/")
    >>> str(with_template(problem, files, Path("logs")))
    "Take it from `--path '{agent}'`."
    """
    if any(file.names for file in files):
        return problem
    paths = [relative(file.path, root) for file in files]
    if isinstance(problem, SharedKeyError) and not from_paths:
        return problem.between_sets(suggested_template(paths, ["set"]))
    template = suggested_template(paths, problem.missing)
    if template is not None or not root.resolve().name:
        return problem.with_template(template)
    above = [Path(root.resolve().name) / path for path in paths]
    folder = shorten(root.parent if root.name else root / "..", 200)
    where = f" Read the folder above, {folder}, in place of this one."
    return problem.with_template(suggested_template(above, problem.missing), where)


def _attempt(kind: Format, file: SourceFile, options: TableOptions) -> Reading | InputError:
    try:
        return kind.read_one(file, options)
    except InputError as problem:
        return problem


def _alike(tried: Sequence[Reading | InputError]) -> bool:
    """Whether all failed, for one reason, which is a fault of the files themselves."""
    problems = [(Path(), problem) for problem in tried if isinstance(problem, InputError)]
    if len(problems) < len(tried) or any(isinstance(each, OtherMeasureError) for each in tried):
        return False
    return len(by_reason(problems)) == 1


def _refuse_shared_key(tried: Sequence[Reading | InputError], options: TableOptions) -> None:
    readings = [reading for reading in tried if isinstance(reading, Reading)]
    if len(readings) < 2:
        return
    try:
        joined(readings, Provenance(), options.measures, options.item)
    except SharedKeyError:
        raise
    except InputError:
        return  # what two files lack, others may have

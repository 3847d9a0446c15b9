"""Many files read as one table: each file's format found, names taken from paths, the rest counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from examiner.importers.files import SourceFile, is_pickle, look_at, refuse_empty
from examiner.importers.folders import Found
from examiner.importers.formats import FORMATS
from examiner.importers.readings import Part, joined
from examiner.importers.recognition import unknown_format
from examiner.importers.tables import TableOptions
from examiner.importers.templates import PathTemplate
from examiner.results import Provenance, Results
from examiner.wording import InputError, counted, listed, shorten
from examiner.workers import Progress
from examiner.workers import map as map_jobs

_FILES_PER_JOB = 64
_RESULT_ENDINGS = (".csv", ".tsv", ".tab", ".ndjson", ".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class Sorted:
    """Files by their format, in order, and those that are passed over, by the reason."""

    by_format: dict[str, list[SourceFile]]
    skipped: dict[str, list[Path]]

    def notes(self, root: Path) -> tuple[str, ...]:
        """One sentence for each reason why files were passed over.

        >>> Sorted({}, {"are not results": [Path("logs/README.md")]}).notes(Path("logs"))
        ("1 file was skipped that is not results: 'README.md'.",)
        """
        return tuple(
            f"{counted(len(paths), 'file')} "
            f"{f'was skipped that {_of_one(reason)}' if len(paths) == 1 else f'were skipped that {reason}'}"
            f": {listed([_relative(path, root).as_posix() for path in paths], limit=3)}."
            for reason, paths in self.skipped.items()
            if paths
        )


def read_files(
    found: Found,
    source: str | Path,
    options: TableOptions,
    *,
    format: str | None,
    template: PathTemplate | None,
    progress: Progress | None,
) -> Results:
    """Read the files of a folder or a pattern as one table.

    >>> import tempfile
    >>> from examiner.importers.folders import found_files
    >>> folder = Path(tempfile.mkdtemp())
    >>> for agent in ("dqn", "random"):
    ...     _ = (folder / f"{agent}.csv").write_text("task,score\\npong,1\\nventure,2\\n")
    >>> template = PathTemplate.of("{agent}.csv")
    >>> read_files(found_files(folder), folder, TableOptions(), format=None, template=template,
    ...            progress=None)
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score
    """
    files = _opened(found.paths, progress)
    known = _sorted(files, format, everything=found.meant)
    known = _without_companions(known)
    if not known.by_format:
        expected = f"in the format {format!r}" if format else "of a known format"
        raise InputError(
            f"None of the {counted(len(files), 'file')} in {shorten(source, 200)} holds results "
            f"{expected}; the first is {shorten(_relative(files[0].path, found.root).as_posix(), 200)}. "
            f"Known formats: {listed(FORMATS, limit=20)}."
        )
    if template is not None:
        known = _named(known, template, found.root)
    _refuse_mixture(known, source)
    parts: list[Part] = []
    for name, group in known.by_format.items():
        parts.extend(_read_group(name, group, options, progress))
    position = {path: number for number, path in enumerate(found.paths)}
    parts.sort(key=lambda part: position[part.paths[0]])
    origin = Provenance(str(source)).with_notes(*known.notes(found.root))
    return joined(parts, origin)


def _opened(paths: Sequence[Path], progress: Progress | None) -> list[SourceFile]:
    jobs = [paths[start : start + _FILES_PER_JOB] for start in range(0, len(paths), _FILES_PER_JOB)]
    chunks = map_jobs(
        lambda job: [look_at(path) for path in job], jobs, progress=progress, stage="opening files"
    )
    return [file for chunk in chunks for file in chunk]


def _sorted(files: Sequence[SourceFile], named: str | None, *, everything: bool) -> Sorted:
    candidates = FORMATS if named is None else {named: FORMATS[named]}
    by_format: dict[str, list[SourceFile]] = {}
    skipped: list[Path] = []
    for file in files:
        suffix = file.suffix
        if not file.head and (everything or suffix in _RESULT_ENDINGS):
            refuse_empty(file)
        name = None
        if file.head and not is_pickle(file):
            for candidate, kind in candidates.items():
                fitting = everything or not kind.endings or suffix in kind.endings
                if fitting and kind.recognises(file):
                    name = candidate
                    break
        if name is not None:
            by_format.setdefault(name, []).append(file)
        elif named is None and file.head and (everything or suffix in _RESULT_ENDINGS):
            raise unknown_format(file)
        else:
            skipped.append(file.path)
    reason = "are not results" if named is None else f"are not in the format {named!r}"
    ordered = {name: by_format[name] for name in FORMATS if name in by_format}
    return Sorted(ordered, {reason: skipped})


def _without_companions(known: Sorted) -> Sorted:
    """Of one folder, read the training log or ledger and leave its companions: summaries, copies.

    The same run is written there in several formats, and would count several times.
    """
    first: dict[Path, str] = {}
    for name, files in known.by_format.items():
        if FORMATS[name].training or FORMATS[name].leads:
            for file in files:
                first.setdefault(file.path.parent, name)
    by_format: dict[str, list[SourceFile]] = {}
    skipped = dict(known.skipped)
    for name, files in known.by_format.items():
        for file in files:
            chosen = first.get(file.path.parent, name)
            if chosen == name:
                by_format.setdefault(name, []).append(file)
                continue
            what = "ledger" if FORMATS[chosen].leads else f"training log in the format {chosen!r}"
            reason = f"lie beside a {what} (to read them, `--format {name}`)"
            skipped.setdefault(reason, []).append(file.path)
    leading = (name for name in by_format if FORMATS[name].leads)
    ledgers = {file.path for name in leading for file in by_format[name]}
    told = {
        reason: [path for path in paths if not _of_run(path, ledgers)]
        for reason, paths in skipped.items()
    }
    return Sorted(by_format, told)


_OF_A_RUN = ("-shm", "-wal", "-journal", ".lock")


def _of_run(path: Path, ledgers: set[Path]) -> bool:
    """Whether `examiner run` wrote the file beside its ledger, so that it needs no word."""
    if path.name in ("output.log", "episodes.parquet"):
        return any(ledger.parent == path.parent for ledger in ledgers)
    return any(
        path == ledger.with_name(ledger.name + end) for ledger in ledgers for end in _OF_A_RUN
    )


def _of_one(reason: str) -> str:
    """The reason said of one file: `are not results` is `is not results`."""
    verb, _, rest = reason.partition(" ")
    return f"{'is' if verb == 'are' else verb + 's'} {rest.replace('read them', 'read it')}"


def _named(known: Sorted, template: PathTemplate, root: Path) -> Sorted:
    by_format: dict[str, list[SourceFile]] = {}
    unlike: list[Path] = []
    for name, files in known.by_format.items():
        for file in files:
            names = template.match(_relative(file.path, root))
            if names is None:
                unlike.append(file.path)
            else:
                by_format.setdefault(name, []).append(replace(file, names=names))
    if not by_format:
        raise template.no_match([_relative(path, root) for path in unlike], root)
    reason = f"are not like the path template {template.text!r}"
    return Sorted(by_format, known.skipped | {reason: unlike})


def _refuse_mixture(known: Sorted, source: str | Path) -> None:
    training = [name for name in known.by_format if FORMATS[name].training]
    finished = [name for name in known.by_format if not FORMATS[name].training]
    if training and finished:
        file = known.by_format[finished[0]][0]
        raise InputError(
            f"{shorten(source, 200)} holds training logs ({listed(training)}) and finished results "
            f"({listed(finished)}, such as {shorten(file.path, 200)}), which cannot be one table. Choose "
            f"with `--format`, or name the files by a pattern."
        )


def _read_group(
    name: str, files: Sequence[SourceFile], options: TableOptions, progress: Progress | None
) -> list[Part]:
    kind = FORMATS[name]
    if kind.read_many is not None:
        if progress is not None:
            progress(f"reading {name}", 0, len(files))
        parts = kind.read_many(files, options)
        if progress is not None:
            progress(f"reading {name}", len(files), len(files))
        return parts
    read = kind.read

    def part(file: SourceFile) -> Part:
        results = read(file, options)
        return Part(results, [file.path], [len(results)])

    return map_jobs(part, files, progress=progress, stage=f"reading {name}")


def _relative(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path

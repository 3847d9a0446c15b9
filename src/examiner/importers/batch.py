"""Many files read as one table: each file's format found, names taken from paths, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from examiner.importers.files import SourceFile, look_at, refuse_empty
from examiner.importers.formats import FORMATS, recognised, unknown_format
from examiner.importers.paths import found_files
from examiner.importers.readings import Reading, joined
from examiner.importers.tables import TableOptions
from examiner.importers.templates import PathTemplate
from examiner.results import Provenance
from examiner.wording import InputError, counted, listed, shorten
from examiner.workers import Progress
from examiner.workers import map as map_jobs

Given = TypeVar("Given")
Made = TypeVar("Made")
_FILES_PER_JOB = 64  # a look at a file is short beside handing it to a thread
_OF_A_RUN = ("-shm", "-wal", "-journal", ".lock")
_CHECKPOINTS = "checkpoints"  # the folder in which a run keeps its learners
_RESULT_ENDINGS = (".csv", ".tsv", ".tab", ".ndjson", ".jsonl", ".parquet")


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
    source: str | Path,
    options: TableOptions,
    format: str | None = None,
    template: PathTemplate | None = None,
    progress: Progress | None = None,
    *,
    strict: bool = False,
) -> Reading:
    """Read the files of a folder or a pattern as one table.

    A file that cannot be read is passed over, and said with the reason; with `strict` it ends the reading.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for agent in ("dqn", "random"):
    ...     _ = (folder / f"{agent}.csv").write_text("task,score\\npong,1\\nventure,2\\n")
    >>> read_files(folder, TableOptions(), template=PathTemplate.of("{agent}.csv")).results
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score
    """
    found = found_files(source)
    files, problems = _opened(found.paths, progress, strict=strict)
    known = _without_companions(_sorted(files, format, everything=found.meant, strict=strict))
    irregular = {"are not regular (pipes or devices)": list(found.irregular)}
    known = replace(known, skipped=known.skipped | irregular)
    if not known.by_format and problems:
        raise problems[0][1]
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
    readings: list[Reading] = []
    for name, group in known.by_format.items():
        read, odd = _read_group(name, group, options, progress, strict=strict)
        readings += read
        problems += odd
    if not readings:
        raise problems[0][1]
    position = {path: number for number, path in enumerate(found.paths)}
    readings.sort(key=lambda reading: position[reading.where.paths[0]])
    origin = Provenance(str(source)).with_notes(*_odd_notes(problems, found.root))
    reading = joined(readings, origin, options.measures, options.item)
    # What matters least comes last: files that nobody would have read.
    return replace(reading, results=reading.results.with_notes(*known.notes(found.root)))


def _opened(
    paths: Sequence[Path], progress: Progress | None, *, strict: bool
) -> tuple[list[SourceFile], list[tuple[Path, InputError]]]:
    """The files, and those that cannot even be opened, with the reason."""
    attempt = _attempt(look_at, strict=strict)
    jobs = [paths[start : start + _FILES_PER_JOB] for start in range(0, len(paths), _FILES_PER_JOB)]
    chunks = map_jobs(
        lambda job: [attempt(path) for path in job], jobs, progress=progress, stage="opening files"
    )
    return _parted(paths, [file for chunk in chunks for file in chunk])


def _attempt(
    work: Callable[[Given], Made], *, strict: bool
) -> Callable[[Given], Made | InputError]:
    """The same work, which gives back what it would refuse with; if `strict`, it refuses."""

    def attempt(given: Given) -> Made | InputError:
        try:
            return work(given)
        except InputError as problem:
            if strict:
                raise
            return problem

    return attempt


def _sorted(
    files: Sequence[SourceFile], named: str | None, *, everything: bool, strict: bool
) -> Sorted:
    candidates = tuple(FORMATS) if named is None else (named,)
    by_format: dict[str, list[SourceFile]] = {name: [] for name in candidates}
    skipped: list[Path] = []
    empty: list[Path] = []
    for file in files:
        meant = everything or file.suffix in _RESULT_ENDINGS
        if meant and not file.head:
            if strict:
                refuse_empty(file)
            empty.append(file.path)
            continue
        usable = file.head and not file.is_pickle
        name = recognised(file, candidates, by_ending=not everything) if usable else None
        if name is not None:
            by_format[name].append(file)
        elif strict and named is None and file.head and meant:
            raise unknown_format(file)
        else:
            skipped.append(file.path)
    reason = "are not results" if named is None else f"are not in the format {named!r}"
    known = {name: files for name, files in by_format.items() if files}
    return Sorted(known, {reason: skipped, "are empty": empty})


def _without_companions(known: Sorted) -> Sorted:
    """Of one folder, read the training log or ledger and leave its companions: summaries, copies.

    The same run is written there in several formats, and would count several times.
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
        what = "ledger" if FORMATS[chosen].leads else f"training log in the format {chosen!r}"
        return f"lie beside a {what} (to read them, `--format {name}`)"

    known = known.sifted(judge)
    leading = (files for name, files in known.by_format.items() if FORMATS[name].leads)
    ledgers = [file.path for files in leading for file in files]
    told = {
        reason: [path for path in paths if not any(_of_run(path, ledger) for ledger in ledgers)]
        for reason, paths in known.skipped.items()
    }
    return replace(known, skipped=told)


def _of_run(path: Path, ledger: Path) -> bool:
    """Whether `examiner run` wrote a file beside its ledger: it needs no word."""
    names = ("output.log", "episodes.parquet", *(ledger.name + end for end in _OF_A_RUN))
    kept = ledger.with_name(_CHECKPOINTS)
    return path.parent == kept or (path.parent == ledger.parent and path.name in names)


def _of_one(reason: str) -> str:
    """The reason said of one file: `are not results` is `is not results`."""
    verb, _, rest = reason.partition(" ")
    return f"{'is' if verb == 'are' else verb + 's'} {rest.replace('read them', 'read it')}"


def _named(known: Sorted, template: PathTemplate, root: Path) -> Sorted:
    reason = f"are not like the path template {template.text!r}"

    def judge(name: str, file: SourceFile) -> SourceFile | str:
        names = template.match(_relative(file.path, root))
        return reason if names is None else replace(file, names=names)

    sifted = known.sifted(judge)
    if not sifted.by_format:
        raise template.no_match([_relative(path, root) for path in sifted.skipped[reason]], root)
    return sifted


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
    name: str,
    files: Sequence[SourceFile],
    options: TableOptions,
    progress: Progress | None,
    *,
    strict: bool,
) -> tuple[list[Reading], list[tuple[Path, InputError]]]:
    """The readings of a format's files, and those that could not be read, with the reason."""
    kind = FORMATS[name]
    stage, paths = f"reading {name}", [file.path for file in files]

    def read_one(file: SourceFile) -> Reading:
        return kind.read_one(file, options)

    attempt = _attempt(read_one, strict=strict)
    if kind.read_many is None:
        return _parted(paths, map_jobs(attempt, files, progress=progress, stage=stage))
    if progress is not None:
        progress(stage, 0, len(files))
    odd: list[tuple[Path, InputError]] = []
    try:
        readings = kind.read_many(files, options)
    except InputError:
        # Each by itself, to find those that are at fault; if none is, what they have in common is.
        tried = [] if strict or len(files) < 2 else [attempt(file) for file in files]
        odd = _parted(paths, tried)[1] if tried else []
        if not odd:
            raise
        faulty = {path for path, _ in odd}
        sound = [file for file in files if file.path not in faulty]
        readings = kind.read_many(sound, options) if sound else []
    if progress is not None:
        progress(stage, len(files), len(files))
    return readings, odd


def _parted(
    paths: Sequence[Path], tried: Sequence[Made | InputError]
) -> tuple[list[Made], list[tuple[Path, InputError]]]:
    """What was made, and where and why nothing was."""
    pairs = list(zip(paths, tried, strict=True))
    odd = [(path, problem) for path, problem in pairs if isinstance(problem, InputError)]
    return [made for made in tried if not isinstance(made, InputError)], odd


def _odd_notes(problems: Sequence[tuple[Path, InputError]], root: Path) -> tuple[str, ...]:
    """One sentence on files that could not be read: how many, which, and why the first."""
    if not problems:
        return ()
    names = listed([_relative(path, root).as_posix() for path, _ in problems], limit=3)
    were = "was" if len(problems) == 1 else "were"
    return (
        f"{counted(len(problems), 'file')} could not be read and {were} skipped (`--strict` ends there): "
        f"{names}. {'The reason' if len(problems) == 1 else 'The first'}: {problems[0][1]}",
    )


def _relative(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path

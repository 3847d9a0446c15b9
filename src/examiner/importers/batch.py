"""Many files read as one table: each file's format found, names taken from paths, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from examiner.importers.evaluations.adding import Before
from examiner.importers.evaluations.assembly import ReadLog
from examiner.importers.evaluations.log import EvaluationLog
from examiner.importers.faults import no_results, refuse_early, with_template
from examiner.importers.files import SourceFile, look_at
from examiner.importers.formats import FORMATS, recognised
from examiner.importers.paths import Found, found_files
from examiner.importers.readings import Reading, joined
from examiner.importers.run_times import TooFewTimesError, UnclearTimeError
from examiner.importers.samples import NotDrawnError, with_sample
from examiner.importers.short_runs import with_short_runs
from examiner.importers.sorting import (
    EMPTY,
    NO_RESULTS,
    OBJECTS,
    Seen,
    Sorted,
    relative,
    sorted_files,
    without_companions,
)
from examiner.importers.suggestions import MissingNamesError
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import OtherMeasureError
from examiner.importers.templates import PathTemplate
from examiner.importers.unread import (
    other_measure_notes,
    refuse_if_most,
    refuse_lost_agents,
    unread_notes,
)
from examiner.messages import InputError, listed, shorten
from examiner.results import Provenance
from examiner.workers import Progress, map_processes
from examiner.workers import map as map_jobs

Given = TypeVar("Given")
Made = TypeVar("Made")
_HEAD_KEPT_BYTES = 64  # enough to know an archive again
_PROCESSES_FROM_BYTES = 32 * 2**20  # less is read before processes have started
_FILES_PER_JOB = 64  # a look at a file is short beside handing it to a thread


def read_files(
    source: str | Path,
    options: TableOptions,
    format: str | None = None,
    template: PathTemplate | None = None,
    progress: Progress | None = None,
    *,
    strict: bool = False,
    before: Before | None = None,
    memory: float | None = None,
) -> Reading | None:
    """Read the files of a folder or a pattern as one table.

    A file that cannot be read is passed over, and said with the reason; with `strict` it ends the reading.
    Files that are known from `before` are not opened; None where there are no others with results.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for agent in ("dqn", "random"):
    ...     _ = (folder / f"{agent}.csv").write_text("task,score\\npong,1\\nventure,2\\n")
    >>> reading = read_files(folder, TableOptions(), template=PathTemplate.of("{agent}.csv"))
    >>> reading.results
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score
    """
    found = found_files(source)
    read_before: set[Path] = set()
    if before is not None:
        read_before = before.known(found.paths)
        paths = tuple(path for path in found.paths if path not in read_before)
        found = found._replace(paths=paths)
    candidates = tuple(FORMATS) if format is None else (format,)
    files, problems = _opened(
        found.paths, candidates, progress, by_ending=not found.meant, strict=strict
    )
    known = without_companions(sorted_files(files, format, everything=found.meant, strict=strict))
    if format is None:
        known = known.with_unusual_endings([file for file, _ in files])
    irregular = {"are not regular (pipes or devices)": list(found.irregular)}
    known = replace(known, skipped=known.skipped | irregular)
    if before is not None:
        known = _logs_only(known, read_before)
    if not known.by_format and before is not None:
        return None
    if not known.by_format and problems:
        raise problems[0][1]
    if not known.by_format:
        raise no_results(source, format, [file for file, _ in files], options, found.root)
    if template is not None:
        known = _named(known, template, found.root)
    if options.constants:
        known = known.sifted(
            lambda _, file: replace(file, names={**file.names, **options.constants})
        )
    _refuse_mixture(known, source)
    if "parquet" in known.by_format:
        options = with_sample(known.by_format["parquet"], options, memory)
    try:
        reading = _read_known(known, problems, options, found, template, progress, strict=strict)
    except MissingNamesError as problem:
        everything = [file for group in known.by_format.values() for file in group]
        named = any(FORMATS[name].endings for name in known.by_format)
        raise with_template(problem, everything, found.root, from_paths=not named) from None
    origin = replace(reading.results.provenance, source=str(source))
    # What matters least comes last: files that nobody would have read.
    notes = known.notes(found.root)
    if options.sample is not None:
        notes = (options.sample.note, *notes)
    results = replace(reading.results, provenance=origin).with_notes(*notes)
    return replace(reading, results=results)


def _read_known(
    known: Sorted,
    problems: list[tuple[Path, InputError]],
    options: TableOptions,
    found: Found,
    template: PathTemplate | None,
    progress: Progress | None,
    *,
    strict: bool,
) -> Reading:
    """Read files whose formats are known, and put them together."""
    refuse_early(known, options)
    readings: list[Reading] = []
    for name, group in known.by_format.items():
        read_group = _read_logs if FORMATS[name].logs else _read_group
        read, odd = read_group(name, group, options, progress, strict=strict)
        readings += read
        problems += odd
    if not readings:
        raise problems[0][1]
    position = {path: number for number, path in enumerate(found.paths)}
    readings.sort(key=lambda reading: position[reading.where.paths[0]])
    other = [problem for _, problem in problems if isinstance(problem, OtherMeasureError)]
    passed_over = (OtherMeasureError, NotDrawnError)
    problems = [pair for pair in problems if not isinstance(pair[1], passed_over)]
    read_paths = [path for reading in readings for path in reading.where.paths]
    if template is not None and "agent" in template.names:
        refuse_lost_agents(read_paths, problems, known.skipped, template, found.root)
    unread = {reason: known.skipped.get(reason, []) for reason in (NO_RESULTS, OBJECTS, EMPTY)}
    nameless = [problem for _, problem in problems if isinstance(problem, MissingNamesError)]
    if len(nameless) > len(read_paths):
        raise nameless[0]
    logs = {
        file.path for name, group in known.by_format.items() if FORMATS[name].logs for file in group
    }
    refuse_if_most(read_paths, problems, unread, found.root, [*logs.intersection(read_paths)])
    notes = (*unread_notes(problems, found.root), *other_measure_notes(other, options.measures))
    origin = Provenance(str(found.root)).with_notes(*notes)
    return joined(readings, origin, options.measures, options.item)


def _logs_only(known: Sorted, read_before: set[Path]) -> Sorted:
    """Only logs of evaluations can be added to others, and no aggregates beside logs that are known."""
    folders = {path.parent for path in read_before}
    new = {
        name: [
            file
            for file in files
            if FORMATS[name].sums_up is None or file.path.parent not in folders
        ]
        for name, files in known.by_format.items()
    }
    known = replace(known, by_format={name: files for name, files in new.items() if files})
    return known.sifted(
        lambda name, file: file if FORMATS[name].logs else "cannot be added to logs of evaluations"
    )


def _opened(
    paths: Sequence[Path],
    candidates: Sequence[str],
    progress: Progress | None,
    *,
    by_ending: bool,
    strict: bool,
) -> tuple[list[Seen], list[tuple[Path, InputError]]]:
    """The files and their formats, and those that cannot even be opened, with the reason."""

    def seen(path: Path) -> Seen:
        file = look_at(path)
        usable = file.head and not file.is_pickle
        name = recognised(file, candidates, by_ending=by_ending) if usable else None
        if name is not None and FORMATS[name].logs is not None:
            # Thousands of logs are read one by one: their first bytes are not all kept till then.
            file = replace(file, head=file.head[:_HEAD_KEPT_BYTES], whole=False)
        return Seen(file, name)

    attempt = _attempt(seen, strict=strict)
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
            short = isinstance(problem, (TooFewTimesError, NotDrawnError))
            if (strict or isinstance(problem, UnclearTimeError)) and not short:
                raise
            return problem

    return attempt


def _named(known: Sorted, template: PathTemplate, root: Path) -> Sorted:
    reason = f"are not like the path template {template.text!r}"

    def judge(name: str, file: SourceFile) -> SourceFile | str:
        names = template.match(relative(file.path, root))
        return reason if names is None else replace(file, names=names)

    sifted = known.sifted(judge)
    if not sifted.by_format:
        raise template.no_match([relative(path, root) for path in sifted.skipped[reason]], root)
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

    def read_each() -> tuple[list[Reading], list[tuple[Path, InputError]]]:
        tried = map_jobs(attempt, files, progress=progress, stage=stage)
        return _parted(paths, with_short_runs(files, tried, options, kind.read_one))

    if kind.read_many is None or len(files) == 1:
        return read_each()
    if progress is not None:
        progress(stage, 0, len(files))
    odd: list[tuple[Path, InputError]] = []
    try:
        readings = kind.read_many(files, options)
    except TooFewTimesError:
        return read_each()
    except UnclearTimeError:
        raise
    except InputError:
        # Each by itself, to find those that are at fault; if none is, what they have in common is.
        odd = _parted(paths, [attempt(file) for file in files])[1]
        if not odd:
            raise
        faulty = {path for path, _ in odd}
        sound = [file for file in files if file.path not in faulty]
        readings = kind.read_many(sound, options) if sound else []
    if progress is not None:
        progress(stage, len(files), len(files))
    return readings, odd


def _read_logs(
    name: str,
    files: Sequence[SourceFile],
    options: TableOptions,
    progress: Progress | None,
    *,
    strict: bool,
) -> tuple[list[Reading], list[tuple[Path, InputError]]]:
    """One reading of many logs of evaluations, and those that could not be read, with the reason."""
    jobs = [(name, file, options) for file in files]
    size = sum(file.path.stat().st_size for file in files)
    spread = map_processes if size > _PROCESSES_FROM_BYTES else map_jobs
    found = spread(_logs_of, jobs, progress=progress, stage=f"reading {name}")
    read, odd = _parted([file.path for file in files], found)
    if odd and strict:
        raise odd[0][1]
    faulty = {path for path, _ in odd}
    sound = [file for file in files if file.path not in faulty]
    logs = [ReadLog(log, file) for file, found in zip(sound, read, strict=True) for log in found]
    return ([FORMATS[name].reading_of(logs, options)] if logs else []), odd


def _logs_of(job: tuple[str, SourceFile, TableOptions]) -> list[EvaluationLog] | InputError:
    """The logs in a file; what it would be refused with is given back, for other files may do."""
    name, file, options = job
    read = FORMATS[name].logs
    assert read is not None
    try:
        return read(file, options)
    except InputError as problem:
        return problem


def _parted(
    paths: Sequence[Path], tried: Sequence[Made | InputError]
) -> tuple[list[Made], list[tuple[Path, InputError]]]:
    """What was made, and where and why nothing was."""
    pairs = list(zip(paths, tried, strict=True))
    odd = [(path, problem) for path, problem in pairs if isinstance(problem, InputError)]
    return [made for made in tried if not isinstance(made, InputError)], odd

"""Many files read as one table: each file's format found, names taken from paths, the rest counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from examiner.importers.files import SourceFile, look_at
from examiner.importers.formats import FORMATS, Format, recognised
from examiner.importers.formats.parquet import NotDrawnError, with_sample
from examiner.importers.log_additions import Before
from examiner.importers.logs import EvaluationLog
from examiner.importers.options import ReadOptions, TimeColumn
from examiner.importers.paths import Found, found_files, relative
from examiner.importers.readings import Reading, SharedKeyError, joined
from examiner.importers.run_times.rows import TooFewTimesError, UnclearTimeError
from examiner.importers.sorting import EMPTY, NO_RESULTS, OBJECTS, Sorted, sorted_files
from examiner.importers.suggestions import MissingNamesError, suggested_template
from examiner.importers.tables import OtherMeasureError
from examiner.importers.templates import PathTemplate
from examiner.importers.unread import (
    by_reason,
    nothing_read,
    other_measure_notes,
    refuse_if_most,
    refuse_lost_agents,
    unread_notes,
)
from examiner.importers.vocabulary import time_columns
from examiner.messages import InputError, listed, shorten
from examiner.results import Provenance, Results, assemble
from examiner.workers import Progress, map_processes
from examiner.workers import map as map_jobs

Given = TypeVar("Given")
Made = TypeVar("Made")
Problems = list[tuple[Path, InputError]]
_PROCESSES_FROM_BYTES = 32 * 2**20  # less is read before processes have started


class _Work(NamedTuple):
    """How files are read; `strict` ends the reading where a file cannot be read."""

    options: ReadOptions
    progress: Progress | None
    strict: bool

    def attempt(self, read: Callable[[Given], Made]) -> Callable[[Given], Made | InputError]:
        """The same reading, which returns what it would refuse with."""

        def attempt(given: Given) -> Made | InputError:
            try:
                return read(given)
            except InputError as problem:
                short = isinstance(problem, (TooFewTimesError, NotDrawnError))
                if (self.strict or isinstance(problem, UnclearTimeError)) and not short:
                    raise
                return problem

        return attempt


def read_files(
    source: str | Path,
    options: ReadOptions,
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
    >>> reading = read_files(folder, ReadOptions(), template=PathTemplate.of("{agent}.csv"))
    >>> reading.results
    Results: 2 agents × 2 tasks, 1 run, 1 trial; measures: score
    """
    work = _Work(options, progress, strict)
    found = found_files(source)
    read_before = set() if before is None else before.known(found.paths)
    found = found._replace(paths=tuple(path for path in found.paths if path not in read_before))
    recognised_files, problems = _opened(found, format, work)
    files = [file for file, _ in recognised_files]
    known = sorted_files(recognised_files, format, everything=found.meant, strict=strict)
    known = known.without_companions()
    if format is None:
        known = known.with_unusual_endings(files)
    known.skipped["are not regular (pipes or devices)"] = list(found.irregular)
    if before is not None:
        known = _logs_only(known, read_before)
        if not known.by_format:
            return None
    if not known.by_format and problems:
        raise problems[0][1]
    if not known.by_format:
        raise nothing_read(source, format, files, options, found.root)
    if template is not None:
        known = _named(known, template, found.root)
    if options.constants:
        known = known.sifted(
            lambda _, file: replace(file, names={**file.names, **options.constants})
        )
    _refuse_mixture(known, source)
    if "parquet" in known.by_format:
        work = work._replace(options=with_sample(known.by_format["parquet"], options, memory))
    try:
        reading = _read_known(known, problems, found, template, work)
    except MissingNamesError as problem:
        raise _with_template(problem, known, found.root) from None
    origin = replace(reading.results.provenance, source=str(source))
    # What matters least comes last: files that nobody would have read.
    notes = known.notes(found.root)
    if work.options.sample is not None:
        notes = (work.options.sample.note, *notes)
    return replace(reading, results=replace(reading.results, provenance=origin).with_notes(*notes))


def _opened(
    found: Found, format: str | None, work: _Work
) -> tuple[list[tuple[SourceFile, str | None]], Problems]:
    """The files and their formats, and those that cannot even be opened, with the reason."""
    candidates = tuple(FORMATS) if format is None else (format,)

    def recognise(path: Path) -> tuple[SourceFile, str | None]:
        file = look_at(path)
        usable = file.head and not file.is_pickle
        name = recognised(file, candidates, by_ending=not found.meant) if usable else None
        if name is not None and FORMATS[name].logs is not None:
            # Thousands of logs are read one by one: of the first bytes, what tells an archive is kept.
            file = replace(file, head=file.head[:64], whole=False)
        return file, name

    attempt = work.attempt(recognise)
    # A look at a file is short compared with handing it to a thread.
    jobs = [found.paths[start : start + 64] for start in range(0, len(found.paths), 64)]
    chunks = map_jobs(
        lambda job: list(map(attempt, job)), jobs, progress=work.progress, stage="opening files"
    )
    return _parted(found.paths, [outcome for chunk in chunks for outcome in chunk])


def _parted(
    paths: Sequence[Path], outcomes: Sequence[Made | InputError]
) -> tuple[list[Made], Problems]:
    """What was read, and which files were not, with the reason."""
    pairs = zip(paths, outcomes, strict=True)
    problems = [(path, problem) for path, problem in pairs if isinstance(problem, InputError)]
    return [made for made in outcomes if not isinstance(made, InputError)], problems


def _logs_only(known: Sorted, read_before: set[Path]) -> Sorted:
    """Only logs of evaluations can be added to others, and no aggregates beside logs that are known."""
    folders = {path.parent for path in read_before}
    by_format = {
        name: [
            file
            for file in files
            if FORMATS[name].sums_up is None or file.path.parent not in folders
        ]
        for name, files in known.by_format.items()
    }
    return replace(known, by_format=by_format).sifted(
        lambda name, file: file if FORMATS[name].logs else "cannot be added to logs of evaluations"
    )


def _named(known: Sorted, template: PathTemplate, root: Path) -> Sorted:
    reason = f"are not like the path template {template.text!r}"

    def judge(name: str, file: SourceFile) -> SourceFile | str:
        names = template.match(relative(file.path, root))
        return reason if names is None else replace(file, names=names)

    sifted = known.sifted(judge)
    if not sifted.by_format:
        raise template.no_match([relative(path, root) for path in sifted.skipped[reason]], root)
    return sifted


def _with_template(problem: MissingNamesError, known: Sorted, root: Path) -> MissingNamesError:
    """An error about missing names, with the path template that fits the files of the folder."""
    files = [file for group in known.by_format.values() for file in group]
    if any(file.names for file in files):
        return problem
    paths = [relative(file.path, root) for file in files]
    if isinstance(problem, SharedKeyError) and any(
        FORMATS[name].endings for name in known.by_format
    ):
        # The files themselves name agents and tasks.
        return problem.between_sets(suggested_template(paths, ["set"]))
    template = suggested_template(paths, problem.missing)
    if template is not None or not root.resolve().name:
        return problem.with_template(template)
    above = [Path(root.resolve().name) / path for path in paths]
    folder = shorten(root.parent if root.name else root / "..", 200)
    where = f" Read the folder above, {folder}, in place of this one."
    return problem.with_template(suggested_template(above, problem.missing), where)


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


# -------------------------------------------------------------------- reading


def _read_known(
    known: Sorted, problems: Problems, found: Found, template: PathTemplate | None, work: _Work
) -> Reading:
    """Read files whose formats are known, and put them together."""
    for name, group in known.by_format.items():
        _refuse_early(FORMATS[name], group, work)
    readings: list[Reading] = []
    logs: set[Path] = set()
    for name, group in known.by_format.items():
        read, unread = (_read_logs if FORMATS[name].logs else _read_group)(name, group, work)
        readings += read
        problems += unread
        logs.update(file.path for file in group if FORMATS[name].logs)
    if not readings:
        raise problems[0][1]
    position = {path: number for number, path in enumerate(found.paths)}
    readings.sort(key=lambda reading: position[reading.where.paths[0]])
    others = [problem for _, problem in problems if isinstance(problem, OtherMeasureError)]
    passed_over = (OtherMeasureError, NotDrawnError)
    problems = [pair for pair in problems if not isinstance(pair[1], passed_over)]
    paths = [path for reading in readings for path in reading.where.paths]
    if template is not None and "agent" in template.names:
        refuse_lost_agents(paths, problems, known.skipped, template, found.root)
    nameless = [problem for _, problem in problems if isinstance(problem, MissingNamesError)]
    if len(nameless) > len(paths):
        raise nameless[0]
    unread_kinds = {
        reason: known.skipped.get(reason, []) for reason in (NO_RESULTS, OBJECTS, EMPTY)
    }
    refuse_if_most(paths, problems, unread_kinds, found.root, [*logs.intersection(paths)])
    measures, item = work.options.measures, work.options.item
    notes = (*unread_notes(problems, found.root), *other_measure_notes(others, measures))
    return joined(readings, Provenance(str(found.root)).with_notes(*notes), measures, item)


def _refuse_early(kind: Format, files: Sequence[SourceFile], work: _Work) -> None:
    """Refuse what is wrong with all of many files, or between two of them, before all are read.

    The first two files are read; where both fail for one reason, so are one in the middle and the last,
    for it may be that only the first ones are broken.
    """
    if len(files) < 20:  # to read two of more costs little
        return

    def outcome(file: SourceFile) -> Reading | InputError:
        try:
            return kind.read_one(file, work.options)
        except InputError as problem:
            return problem

    outcomes = [outcome(file) for file in files[:2]]
    problems = [problem for problem in outcomes if isinstance(problem, InputError)]
    # Logs are named when all are read, and files of one folder may be of one run.
    together = kind.training and files[0].path.parent == files[1].path.parent
    if not problems and kind.logs is None and not together:
        readings = [reading for reading in outcomes if isinstance(reading, Reading)]
        try:
            joined(readings, Provenance(), work.options.measures, work.options.item)
        except SharedKeyError:
            raise
        except InputError:
            return  # what two files lack, others may have
    for others in ((), (files[len(files) // 2], files[-1])):
        outcomes += [outcome(file) for file in others]
        problems = [problem for problem in outcomes if isinstance(problem, InputError)]
        other_measure = any(isinstance(problem, OtherMeasureError) for problem in problems)
        alike = len(by_reason([(Path(), problem) for problem in problems])) == 1
        if len(problems) < len(outcomes) or other_measure or not alike:
            return
    problems[0].args = (f"{problems[0]} So it is in four files; {len(files) - 4:,} were not read.",)
    raise problems[0]


def _read_group(
    name: str, files: Sequence[SourceFile], work: _Work
) -> tuple[list[Reading], Problems]:
    """The readings of a format's files, and those that could not be read, with the reason."""
    kind, progress = FORMATS[name], work.progress
    stage, paths = f"reading {name}", [file.path for file in files]

    def read_one(file: SourceFile) -> Reading:
        return kind.read_one(file, work.options)

    attempt = work.attempt(read_one)

    def read_separately() -> tuple[list[Reading], Problems]:
        outcomes = map_jobs(attempt, files, progress=progress, stage=stage)
        return _parted(paths, _with_short_runs(kind, files, outcomes, work.options))

    if kind.read_many is None or len(files) == 1:
        return read_separately()
    if progress is not None:
        progress(stage, 0, len(files))
    problems: Problems = []
    try:
        readings = kind.read_many(files, work.options)
    except TooFewTimesError:
        return read_separately()
    except UnclearTimeError:
        raise
    except InputError:
        # Each by itself, to find those that are at fault; if none is, what they have in common is.
        _, problems = _parted(paths, [attempt(file) for file in files])
        if not problems:
            raise
        faulty = {path for path, _ in problems}
        sound = [file for file in files if file.path not in faulty]
        readings = kind.read_many(sound, work.options) if sound else []
    if progress is not None:
        progress(stage, len(files), len(files))
    return readings, problems


def _with_short_runs(
    kind: Format,
    files: Sequence[SourceFile],
    outcomes: Sequence[Reading | InputError],
    options: ReadOptions,
) -> list[Reading | InputError]:
    """Read again runs that ended after one or two rows, with the time that others of their kind have.

    Raises the first `TooFewTimesError` where no file is a training log.
    """
    readings = [outcome for outcome in outcomes if isinstance(outcome, Reading)]
    origins = [reading.results.provenance for reading in readings]
    logs = [origin for origin in origins if origin.training]
    short = next((problem for problem in outcomes if isinstance(problem, TooFewTimesError)), None)
    if short is not None and not logs:
        raise short
    if not logs or options.time is not None:
        return list(outcomes)
    evaluations = all(origin.rows == "inferred" for origin in logs)
    again: list[Reading | InputError] = []
    for file, outcome in zip(files, outcomes, strict=True):
        column = _time_of_short(outcome)
        if column is not None:
            outcome = kind.read_one(file, replace(options, time=TimeColumn(column)))
            if evaluations:
                outcome = replace(outcome, results=_as_evaluations(outcome.results))
        again.append(outcome)
    return again


def _time_of_short(outcome: Reading | InputError) -> str | None:
    """The column that is time where a file alone is too short to show it; None where it is not."""
    if isinstance(outcome, TooFewTimesError):
        return outcome.column
    if isinstance(outcome, InputError) or outcome.results.provenance.training:
        return None
    if outcome.results.counts()["trials"] > 1:
        return None
    return next(iter(time_columns(outcome.results.attributes)), None)


def _as_evaluations(results: Results) -> Results:
    frame = results.to_polars().with_columns(checkpoint=pl.col("trial"))
    origin = replace(results.provenance, rows="inferred")
    return assemble(frame, results.measures, results.item, origin, results.scales)


def _read_logs(
    name: str, files: Sequence[SourceFile], work: _Work
) -> tuple[list[Reading], Problems]:
    """One reading of many logs of evaluations, and those that could not be read, with the reason."""
    size = sum(file.path.stat().st_size for file in files)
    share = -(-len(files) // 256)  # enough jobs to share out and to show progress
    jobs = [(name, files[at : at + share], work.options) for at in range(0, len(files), share)]
    spread = map_processes if size > _PROCESSES_FROM_BYTES else map_jobs
    parts = spread(_logs_of, jobs, progress=work.progress, stage=f"reading {name}")
    outcomes = [outcome for part in parts for outcome in part]
    read, problems = _parted([file.path for file in files], outcomes)
    if problems and work.strict:
        raise problems[0][1]
    logs = [log for logs_of_file in read for log in logs_of_file]
    return ([FORMATS[name].reading_of(logs, work.options)] if logs else []), problems


def _logs_of(
    job: tuple[str, Sequence[SourceFile], ReadOptions],
) -> list[list[EvaluationLog] | InputError]:
    """The logs in each file; what one is refused with is returned, for the others may be sound."""
    name, files, options = job
    read = FORMATS[name].logs
    assert read is not None

    def read_one(file: SourceFile) -> list[EvaluationLog]:
        return read(file, options)

    return list(map(_Work(options, None, strict=False).attempt(read_one), files))

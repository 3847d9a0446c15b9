"""Readings: results as a format found them, where their rows stand in files, and many made one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from examiner.importers.cells import with_given
from examiner.importers.files import SourceFile
from examiner.importers.suggestions import MissingNamesError
from examiner.importers.vocabulary import TASK_COLUMNS
from examiner.messages import InputError, RepeatedKeyError, counted, listed, shorten
from examiner.results import Provenance, Results, RowKind, Scales, assemble, joined_names

_DOUBTS: tuple[RowKind, ...] = ("unclear", "inferred")
_MOST_NOTES = 12  # as many as anybody reads; a folder may have thousands


_SHARED = "{agent}/{task}_{run}/"


class SharedKeyError(MissingNamesError):
    """Two files hold results of one key, which their paths may tell apart."""

    def between_sets(self, template: str | None) -> SharedKeyError:
        """Return the error for tables that name agents and tasks: what differs is another set of tasks."""
        template = template or "{set}"
        runs = template.replace("{run}", "{group}").replace("{set}", "{run}")
        either = f"--path '{template}' --item task,set` if their tasks differ, `--path '{runs}'"
        self.args = (
            str(self)
            .replace(f"--path '{self.template}'", either, 1)
            .replace("'`). If", "'` if their runs do). If"),
        )
        return self


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where the rows of a table stand: so many in each file, one file after the other.

    `line_of` gives the line of a row, where the table is one text. A table in memory has no paths.
    """

    paths: Sequence[Path] = ()
    rows: Sequence[int] = ()
    line_of: Callable[[int], int | None] | None = None

    @classmethod
    def of(
        cls, file: SourceFile, line_of: Callable[[int], int | None] | None = None
    ) -> Whereabouts:
        """All rows stand in one file.

        >>> Whereabouts.of(SourceFile(Path("x.csv"), None, b"")).paths
        [PosixPath('x.csv')]
        """
        return cls([file.path], [], line_of)

    def located(self, problem: InputError) -> InputError:
        """Return the error with the file, or the two files, that its rows came from.

        >>> where = Whereabouts([Path("a.csv"), Path("b.csv")], [2, 2])
        >>> str(where.located(InputError("Row 3 has no agent.", row=2)))
        "Cannot use 'b.csv', row 1: Row 3 has no agent."
        >>> str(Whereabouts([Path("a.csv")], line_of=lambda row: row + 2).located(InputError("No.", row=0)))
        "Cannot use 'a.csv', line 2: No."
        """
        if not self.paths or (problem.row is None and len(self.paths) > 1):
            return problem
        file, row = self._file_and_row(problem.row or 0)
        where = shorten(self.paths[file], 200)
        if isinstance(problem, RepeatedKeyError):
            other, _ = self._file_and_row(problem.other_row)
            if other != file:
                return SharedKeyError(
                    f"{shorten(self.paths[other], 200)} and {where} hold results of the same key: "
                    f"{problem.key}. If they are different, take what differs from their paths "
                    f"(`--path '{_SHARED}'`). If they are copies, leave one out.",
                    ("agent", "task"),
                    _SHARED,
                )
        if problem.row is not None and self.line_of is not None:
            where += f", line {self.line_of(problem.row)}"
        elif len(self.paths) > 1:
            where += f", row {row + 1}"
        problem.args = (f"Cannot use {where}: {problem}",)
        return problem

    def _file_and_row(self, row: int) -> tuple[int, int]:
        if len(self.paths) == 1:
            return 0, row
        ends = np.cumsum(self.rows)
        file = min(int(np.searchsorted(ends, row, side="right")), len(ends) - 1)
        return file, row - (int(ends[file - 1]) if file else 0)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let errors about the table say where it, or the row that is wrong, stands.

        >>> with Whereabouts([Path("a.csv")]).named():
        ...     raise InputError("There are no rows.")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: Cannot use 'a.csv': There are no rows.
        """
        try:
            yield
        except InputError as problem:
            raise self.located(problem) from None


@dataclass(frozen=True, slots=True)
class Reading:
    """Results as a format read them, before the choices of the user, and where their rows stand."""

    results: Results
    where: Whereabouts = Whereabouts()

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        file: SourceFile,
        origin: Provenance,
        measures: Sequence[str],
        item: Sequence[str] | None = None,
        line_of: Callable[[int], int | None] | None = None,
    ) -> Reading:
        """Build the results of one file from a tidy frame, and the names that its path gives.

        >>> frame = pl.DataFrame({"task": ["pong"], "score": [1.0]})
        >>> file = SourceFile(Path("x.csv"), None, b"", names={"agent": "dqn"})
        >>> Reading.of(frame, file, Provenance(), ["score"]).results.agents
        ('dqn',)
        """
        where = Whereabouts.of(file, line_of)
        with where.named():
            frame = with_given(frame, file.names)
            return cls(assemble(frame, measures, item, origin), where)

    def chosen(self, measures: Sequence[str], item: Sequence[str] | None) -> Reading:
        """Give the results the measures and the item columns that were asked for, where any were.

        >>> table = {"agent": ["a"] * 2, "task": ["t"] * 2, "level": [0, 1], "score": [1, 2]}
        >>> Reading(Results.from_dict(table)).chosen((), ()).results.tasks
        ('t',)
        """
        results = self.results
        with self.where.named():
            if measures:
                results = results.with_measures(*measures)
            if item is not None:
                columns = {*results.item, *results.measures, *results.attributes}
                # Its column may have been called otherwise before it became that of the task.
                task = set(TASK_COLUMNS) - columns
                results = results.with_items(*(name for name in item if name not in task))
        return replace(self, results=results)


def joined(
    readings: Sequence[Reading],
    origin: Provenance,
    measures: Sequence[str] = (),
    item: Sequence[str] | None = None,
) -> Reading:
    """Put readings together under one provenance; a measure that one lacks was not observed there.

    Measures and items that were asked for are chosen in each. Item columns that are to be folded
    into trials stay, where all have them, until the files are one table: only then are trials numbered.

    >>> one, two = (Results.from_numpy([[score]], ["dqn"], [task]) for task, score in (("a", 1), ("b", 2)))
    >>> joined([Reading(one), Reading(two)], Provenance()).results.tasks
    ('a', 'b')
    """
    if item is not None:
        own = [reading.results.item for reading in readings]
        shared = [name for name in own[0] if all(name in names for names in own)]
        item = tuple(dict.fromkeys((*item, *shared)))
    readings = [reading.chosen(_present(measures, reading.results), item) for reading in readings]
    tables = [reading.results for reading in readings]
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    if len(notes) > _MOST_NOTES:
        more = f"There are {len(notes) - _MOST_NOTES:,} more notes of this kind on single files."
        notes = [*notes[:_MOST_NOTES], more]
    kinds = {table.provenance.rows for table in tables}
    origin = replace(
        origin.with_notes(*notes),
        format=", ".join(sorted({table.provenance.format for table in tables})),
        training=any(table.provenance.training for table in tables),
        rows=next((kind for kind in _DOUBTS if kind in kinds), "stated"),
        columns=tuple(dict(pair for table in tables for pair in table.provenance.columns).items()),
    )
    if len(readings) == 1:
        return replace(readings[0], results=replace(tables[0], provenance=origin))
    where = Whereabouts(
        [path for reading in readings for path in reading.where.paths],
        [rows for reading in readings for rows in reading.where.rows or [len(reading.results)]],
    )
    with where.named():
        results = assemble(
            _stacked([table.coded() for table in tables]),
            tuple(dict.fromkeys(name for table in tables for name in table.measures)),
            tuple(dict.fromkeys(name for table in tables for name in table.item)),
            origin,
            Scales(dict.fromkeys(scale for table in tables for scale in table.scales)),
            functools.reduce(operator.add, (table.task_attributes for table in tables)),
            functools.reduce(operator.add, (table.agent_attributes for table in tables)),
        )
    return Reading(results, where)


def _present(measures: Sequence[str], results: Results) -> Sequence[str]:
    """Of the measures asked for, those of some results: others may have the rest."""
    present = [name for name in measures if name in (*results.measures, *results.attributes)]
    return present or measures


def unmeasured_notes(results: Results) -> tuple[str, ...]:
    """Say which tasks have only another measure than the main one.

    >>> table = {"agent": ["a", "a"], "task": ["t", "u"], "score": [1, None], "win": [None, 1]}
    >>> unmeasured_notes(Results.from_dict(table))
    ("1 of 2 tasks has no 'score', only 'win': 'u'. To use it: `--measure win`.",)
    """
    main, *others = results.measures
    seen = np.bincount(results.task_codes, ~np.isnan(results.measure()), len(results.tasks)) > 0
    if seen.all() or not others:
        return ()
    notes = []
    for name in others:
        other = np.bincount(results.task_codes, ~np.isnan(results.measure(name)), len(seen)) > 0
        tasks = [results.tasks[code] for code in np.flatnonzero(other & ~seen)]
        if tasks:
            has, them = ("has", "it") if len(tasks) == 1 else ("have", "them")
            notes.append(
                f"{len(tasks)} of {counted(len(seen), 'task')} {has} no {main!r}, only {name!r}: "
                f"{listed(tasks)}. To use {them}: `--measure {name}`."
            )
    return tuple(notes)


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames under each other; a column of names in one and numbers in another becomes text."""
    names = [joined_names([frame[key] for frame in frames]) for key in ("agent", "task")]
    frames = [frame.drop("agent", "task") for frame in frames]
    kinds: dict[str, set[pl.DataType]] = {}
    for frame in frames:
        for name, kind in frame.schema.items():
            kinds.setdefault(name, set()).add(kind)
    texts = [name for name, seen in kinds.items() if not _alike(seen - {pl.Null()})]
    as_text = pl.selectors.by_name(texts, require_all=False).cast(pl.String)
    rest = pl.concat([frame.with_columns(as_text) for frame in frames], how="diagonal_relaxed")
    return pl.DataFrame(names).hstack(rest)


def _alike(kinds: set[pl.DataType]) -> bool:
    """Whether columns of these kinds can be one as they are; names are coded anew."""
    coded = any(isinstance(kind, pl.Enum | pl.Categorical) for kind in kinds)
    return not coded and (len(kinds) < 2 or all(kind.is_numeric() for kind in kinds))

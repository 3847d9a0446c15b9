"""Results of several files put together: errors name the files, and no key comes from two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from examiner.results import Provenance, Results, Scales
from examiner.results.table import assemble
from examiner.wording import InputError, RepeatedKeyError, shorten

_MOST_NOTES = 12


@dataclass(frozen=True, slots=True)
class Part:
    """Results read from one or more files: rows in the order of the files, and how many of each."""

    results: Results
    paths: Sequence[Path]
    rows: Sequence[int]


def joined(parts: Sequence[Part], origin: Provenance) -> Results:
    """Put parts together under one provenance; a measure that a part lacks was not observed there.

    >>> one, two = (Results.from_numpy([[score]], ["dqn"], [task]) for task, score in (("a", 1), ("b", 2)))
    >>> joined([Part(one, [Path("1.csv")], [1]), Part(two, [Path("2.csv")], [1])], Provenance()).tasks
    ('a', 'b')
    """
    notes = list(dict.fromkeys(note for part in parts for note in part.results.notes))
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        notes = [
            *notes[:_MOST_NOTES],
            f"There are {more:,} more notes of this kind on single files.",
        ]
    origin = replace(
        origin.with_notes(*notes),
        format=", ".join(sorted({part.results.provenance.format for part in parts})),
        training=any(part.results.provenance.training for part in parts),
    )
    if len(parts) == 1:
        return replace(parts[0].results, provenance=origin)
    measures = tuple(dict.fromkeys(name for part in parts for name in part.results.measures))
    item = tuple(dict.fromkeys(name for part in parts for name in part.results.item))
    scales = Scales(dict.fromkeys(scale for part in parts for scale in part.results.scales))
    frame = _stacked([part.results.to_polars() for part in parts])
    paths = [path for part in parts for path in part.paths]
    rows = [count for part in parts for count in part.rows]
    try:
        return assemble(frame, measures, item, scales, origin)
    except InputError as problem:
        raise located(problem, paths, rows) from None


def located(problem: InputError, paths: Sequence[Path], rows: Sequence[int]) -> InputError:
    """Return the error with the file, or the two files, that its rows came from.

    >>> str(located(InputError("Row 3 has no agent.", row=2), [Path("a.csv"), Path("b.csv")], [2, 2]))
    "Cannot use 'b.csv', row 1: Row 3 has no agent."
    """
    if problem.row is None:
        return problem
    ends = np.cumsum(rows)
    file, place = _place(problem.row, ends)
    where = shorten(paths[file], 200)
    if isinstance(problem, RepeatedKeyError):
        other, _ = _place(problem.other_row, ends)
        if other != file:
            return InputError(
                f"{shorten(paths[other], 200)} and {where} hold results of the same key: {problem.key}. "
                f"If they are different runs, tell them apart by a path template "
                f"(`--path '{{agent}}/{{task}}_{{run}}/'`); if they are copies, leave one out."
            )
    return InputError(f"Cannot use {where}, row {place + 1}: {problem}")


def _place(row: int, ends: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int]:
    file = min(int(np.searchsorted(ends, row, side="right")), len(ends) - 1)
    return file, row - (int(ends[file - 1]) if file else 0)


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames under each other; a column of names in one and numbers in another becomes text."""
    frames = [
        frame.with_columns(
            pl.col(name).cast(pl.String)
            for name, kind in frame.schema.items()
            if isinstance(kind, pl.Enum | pl.Categorical)
        )
        for frame in frames
    ]
    kinds: dict[str, set[pl.DataType]] = {}
    for frame in frames:
        for name, kind in frame.schema.items():
            kinds.setdefault(name, set()).add(kind)
    mixed = {
        name for name, seen in kinds.items() if len(seen - {pl.Null()}) > 1 and not _numeric(seen)
    }
    frames = [
        frame.with_columns(pl.col(name).cast(pl.String) for name in frame.columns if name in mixed)
        for frame in frames
    ]
    return pl.concat(frames, how="diagonal_relaxed")


def _numeric(kinds: set[pl.DataType]) -> bool:
    return all(kind.is_numeric() or kind == pl.Null for kind in kinds)

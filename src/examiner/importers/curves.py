"""Lists in the rows of a table: the points of a curve become rows, any other list is no part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from examiner.importers.time import TIME_COLUMNS, TimeColumn
from examiner.messages import InputError, counted, shorten
from examiner.results import MEASURES

if TYPE_CHECKING:
    from examiner.importers.table_columns import TableOptions

_TIME = "xs"
_SCORES = ("ys", "scores", "returns", "rewards")
"""What lists of scores are called, beside the names of measures."""
_LENGTHS = ("length", "lengths", "episode_length", "episode_lengths", "ep_len")
"""Lists by which the points of a curve are known to be episodes, and not checkpoints."""


class Unfolded(NamedTuple):
    """A table with one row per point of its curves, how it is to be read now, and what was guessed."""

    frame: pl.DataFrame
    options: TableOptions
    notes: tuple[str, ...] = ()


def unfold_curves(frame: pl.DataFrame, options: TableOptions) -> Unfolded:
    """Give each point of a curve its own row, where the measure or the time of a table is a list.

    Other lists of the same lengths go along with the points. Any other list stays as it is: an interval
    next to a score, for example, makes no second run.

    >>> from examiner.importers.table_columns import TableOptions
    >>> frame = pl.DataFrame({"agent": ["a"], "xs": [[0, 5]], "ys": [[1, 2]], "interval": [[1, 2, 3]]})
    >>> unfold_curves(frame, TableOptions()).frame.rows()
    [('a', 0, 1, [1, 2, 3], 0), ('a', 5, 2, [1, 2, 3], 1)]
    >>> unfold_curves(pl.DataFrame({"score": [1], "interval": [[0, 2]]}), TableOptions()).frame.height
    1
    """
    lists = [
        name
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.List) and frame[name].null_count() < len(frame)
    ]
    measures = {*options.measures, *_SCORES, *MEASURES}
    times = {_TIME, *TIME_COLUMNS, *([options.time.column] if options.time else [])}
    points = [name for name in lists if name in measures]
    known_measure = any(name in (*options.measures, *MEASURES) for name in frame.columns)
    if points or not known_measure:
        points += [name for name in lists if name in times and name not in points]
    if not points:
        return Unfolded(frame, options)
    lengths = frame[points[0]].list.len()
    for name in points:
        _refuse_other_lengths(frame[name], points[0], lengths)
    along = [name for name in lists if frame[name].list.len().equals(lengths)]
    notes: tuple[str, ...] = ()
    empty = int((lengths == 0).sum())
    if empty:
        notes = (f"{counted(empty, 'record')} without any point in {points[0]!r} excluded.",)
    frame = frame.filter(lengths > 0)
    episodes = any(name in _LENGTHS for name in along)
    if _TIME in points and not episodes:
        numbers = pl.int_ranges(frame[points[0]].list.len(), eager=True).alias("checkpoint")
        frame, along = frame.with_columns(numbers), [*along, "checkpoint"]
    if _TIME in points and options.time is None:
        options = replace(options, time=TimeColumn(_TIME))
        notes = (*notes, _time_note(points[0], episodes=episodes))
    frame = frame.explode(along)
    scores = [name for name in _SCORES if name in points][:1]
    if not known_measure:
        frame = frame.rename(dict.fromkeys(scores, "score"))
    return Unfolded(frame, options, notes)


def _time_note(measure: str, *, episodes: bool) -> str:
    return (
        f"The lists {_TIME!r} are read as time, in steps, and {measure!r} as "
        f"{'episodes' if episodes else 'checkpoints'} of a training log. If time is in frames, say so: "
        f"`--time '{_TIME} frames'`."
    )


def _refuse_other_lengths(column: pl.Series, first: str, lengths: pl.Series) -> None:
    """Refuse a record whose curve has more points in one list than in another, or none at all."""
    wrong = column.list.len().ne_missing(lengths) | column.is_null()
    if not wrong.any():
        return
    row = int(wrong.arg_max() or 0)
    count = column.list.len()[row]
    if count is None or lengths[row] is None:
        missing = column.name if count is None else first
        said = f"has no list in {shorten(missing)}, as other records have"
    else:
        said = (
            f"has {lengths[row]} points in {shorten(first)} and {count} in {shorten(column.name)}"
        )
    raise InputError(f"Record {row + 1} {said}. Correct or remove it.", row=row)

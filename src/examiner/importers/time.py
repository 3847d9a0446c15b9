"""Time in a plain table: a column that rises within every run, in frames or steps, tells a training log."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from examiner.results import Results
from examiner.results.keys import ITEM_COLUMNS, TIMES
from examiner.results.table import assemble
from examiner.wording import InputError, listed, shorten

TIME_COLUMNS = (
    *("frames", "frame", "env_frames", "global_step", "env_step", "env_steps", "total_steps"),
    *("total_timesteps", "timesteps", "timestep", "steps", "step", "_step"),
)
"""Columns that are time where their values rise within runs; of several, the first."""
UNTIMED = "none"
FRAMES_PER_STEP = 4
"""Emulator frames an Atari agent's action lasts in the usual wrappers."""
_EPISODES = {"trial", "episode", "length", "episode_length", "ep_len"}
"""Columns that tell that rows are episodes."""
_ROUNDING = 1e-6
_FEWEST_POINTS = 3  # two values rise by chance in half of all runs


class TimeColumn(NamedTuple):
    """A column that is time, how many frames or steps one unit of it is, and which, where that was said."""

    column: str
    factor: float | None = None
    said: str = ""

    @classmethod
    def of(cls, text: str) -> TimeColumn:
        """Understand `COLUMN`, `COLUMN*FACTOR`, and the word `frames` or `steps` after it.

        >>> TimeColumn.of("global_step*4").unit, TimeColumn.of("epoch*1e6 frames").unit
        ('frames', 'frames')
        >>> TimeColumn.of("checkpoint*5000").unit, TimeColumn.of("env_frame").unit
        ('steps', 'frames')
        """
        plain, blank, word = text.strip().rpartition(" ")
        said = word if blank and word in TIMES else ""
        text = plain if said else text
        column, star, number = text.rpartition("*")
        if not star:
            return cls(text.strip(), said=said)
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not (column.strip() and math.isfinite(factor) and factor > 0):
            raise InputError(
                f"Cannot tell which time {shorten(text)} means. Give a column, or a column times a number "
                f"above 0: `--time global_step`, `--time global_step*4` or `--time 'epoch*1e6 frames'`."
            )
        return cls(column.strip(), factor, said)

    @property
    def unit(self) -> str:
        """Frames where it was said, the name says so, or a step is as many frames as Atari agents skip."""
        if self.said:
            return self.said
        named = re.search(r"frame", self.column, flags=re.IGNORECASE)
        return "frames" if named or self.factor == FRAMES_PER_STEP else "steps"


class Timed(NamedTuple):
    """A frame with its time under its unit's name, and what was guessed; whether there is a time at all.

    `evenly_spaced` tells that times are an equal step apart in every run, and nothing names episodes.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    found: bool = False
    evenly_spaced: bool = False


def with_time(frame: pl.DataFrame, wanted: TimeColumn | None, *, numbered: bool = False) -> Timed:
    """Find the time of a tidy table, and give rows without a run the one that it tells of.

    A column by one of the known names is time where its values never fall within a run and rise in some
    run of three rows or more. Without a run, a seed or a trial, equal times are different runs, and so
    is what begins again. `numbered` says that the trials of the frame were numbered while it was read.

    >>> table = pl.DataFrame({"agent": ["a"] * 3, "task": ["t"] * 3, "global_step": [10, 20, 30]})
    >>> with_time(table, None).frame["steps"].to_list()
    [10, 20, 30]
    """
    if wanted is not None and wanted.column == UNTIMED:
        return Timed(frame)
    if wanted is not None:
        return _named(frame, wanted, numbered)
    for name in TIME_COLUMNS:
        if name in frame.columns:
            found = _timed(frame, TimeColumn(name), numbered)
            if found is not None:
                return found._replace(notes=(_guess(TimeColumn(name)),))
    return Timed(frame)


def retimed(results: Results, time: TimeColumn) -> Results:
    """Give results that came with a time another one, as the user names it.

    >>> log = {"agent": ["a"] * 2, "task": ["t"] * 2, "run": [0, 0], "steps": [1, 2], "score": [1, 2]}
    >>> retimed(Results.from_dict(log), TimeColumn.of("steps*4")).column("frames")
    [4.0, 8.0]
    """
    if time.column == UNTIMED:
        return replace(results, provenance=replace(results.provenance, training=False))
    timed = _named(results.to_polars(), time, numbered=False)
    step = f"time in {time.unit} from the column {time.column!r}"
    origin = replace(results.provenance.with_step(step), training=True)
    return assemble(timed.frame, results.measures, results.item, origin, results.scales)


def _guess(time: TimeColumn) -> str:
    skip = (
        "" if time.unit == "frames" else f", `--time {time.column}*4` where a step is four frames"
    )
    return (
        f"The column {time.column!r} rises within runs: it is read as time, in {time.unit}, and the table "
        f"as a training log. To read it otherwise: `--time COLUMN`{skip}, `--time {UNTIMED}`."
    )


def _named(frame: pl.DataFrame, wanted: TimeColumn, numbered: bool) -> Timed:
    if wanted.column not in frame.columns:
        raise InputError(
            f"There is no column {shorten(wanted.column)} for the time; found "
            f"{listed(frame.columns, limit=20)}. Name one of them."
        )
    found = _timed(frame, wanted, numbered, fewest=1)
    if found is None:
        raise InputError(
            f"The column {shorten(wanted.column)} is no time: it holds something else than numbers, or "
            f"falls within a run. Name another, or name each run in a column 'run'."
        )
    return found


def _timed(
    frame: pl.DataFrame, time: TimeColumn, numbered: bool, fewest: int = _FEWEST_POINTS
) -> Timed | None:
    """The frame with this time, or None where it is none."""
    values = frame[time.column].cast(pl.Float64, strict=False)
    if values.null_count() or not values.is_finite().all() or not len(frame):
        return None
    whole = time.factor is None and frame[time.column].dtype.is_integer()
    values = frame[time.column] if whole else values * (time.factor or 1.0)
    if time.column != "checkpoint":  # which also tells that rows are no episodes
        frame = frame.drop(time.column)
    if time.unit in frame.columns:  # the length of an episode, under a name of time
        frame = frame.rename({time.unit: f"{time.unit}_logged"})
    frame = frame.with_columns(values.alias(time.unit))
    keys = _keys(frame)
    if not {"run", "seed"} & set(keys):
        runs = _runs(frame, keys, time.unit)
        if runs is None:
            return None
        frame, keys = frame.with_columns(run=runs), [*keys, "run"]
    steps = pl.col(time.unit).diff()
    of_run = frame.group_by(keys).agg(falls=(steps < 0).any(), rises=(steps > 0).sum())
    most = of_run["rises"].max()
    if of_run["falls"].any() or not isinstance(most, int) or most < fewest - 1:
        return None
    episodes = _EPISODES & set(frame.columns) - ({"trial"} if numbered else set())
    spaced = not episodes and _evenly_spaced(frame, keys, time.unit)
    if "trial" not in frame.columns:
        frame = frame.with_columns(trial=pl.int_range(pl.len()).over(keys))
    return Timed(frame, found=True, evenly_spaced=spaced)


def _evenly_spaced(frame: pl.DataFrame, keys: Sequence[str], unit: str) -> bool:
    """Whether the times of every run are equal steps apart: episodes of a learning agent rarely are."""
    steps = pl.col(unit).unique().sort().diff().drop_nulls()
    of_run = frame.group_by(keys).agg(least=steps.min(), most=steps.max(), points=steps.len() + 1)
    known = of_run.filter(pl.col("points") >= _FEWEST_POINTS)
    return bool(len(known)) and bool((known["most"] <= known["least"] * (1 + _ROUNDING)).all())


def _keys(frame: pl.DataFrame) -> list[str]:
    """What tells runs apart: the agent, the task, what makes an item, and the run's own name."""
    names = [name for name in ("agent", "task", *ITEM_COLUMNS) if name in frame.columns]
    return names + [name for name in ("run", "seed") if name in frame.columns][:1]


def _runs(frame: pl.DataFrame, keys: Sequence[str], unit: str) -> pl.Series | None:
    """Number the runs that nobody named: one for each row of a time, or for each new beginning.

    None where times fall back to another one than that they began with: they are no clock.
    """
    if "trial" in frame.columns:
        return pl.repeat(0, len(frame), dtype=pl.Int64, eager=True)
    time = pl.col(unit)
    told = frame.select(
        time,
        falls=(time.diff() < 0).fill_null(False).over(keys),
        begins=(time == time.first()).over(keys),
        same=pl.int_range(pl.len()).over(*keys, unit),
        again=(time.diff() < 0).fill_null(False).cast(pl.Int64).cum_sum().over(keys),
    )
    if not told["falls"].any():
        return told["same"]
    return told["again"] if (told["begins"] | ~told["falls"]).all() else None

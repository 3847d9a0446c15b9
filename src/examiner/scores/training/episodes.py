"""Runs that were cut off: they ended long before the others of their agent, and have no final score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import NO_VALUE_AT, InputError, counted, listed, shorten
from examiner.results import CHECKPOINT, TIMES, Results
from examiner.scores.cells import group_means
from examiner.validation import Floats

Places = NDArray[np.int64]
Unit = Literal["frames", "steps", "frames or steps", "checkpoints", "episodes"]

PAPER_POINTS = (10e6, 50e6, 100e6, 200e6)
"""Frames at which papers/001 reports (section 3, last paragraph)."""
REACHED = 0.99
"""A run reached a point when it came this near: its last episode rarely ends on the very frame."""


class Episodes(NamedTuple):
    """Rows sorted by run and, within a run, by time.

    `rows`, `run` and `time` have shape [rows], the others [runs]. `time` is in `unit`: frames where every
    row has them (skipped frames included, as the log counts them), else steps; where some tasks were
    logged in frames and others in steps, each in its own; else checkpoints or episodes, from 1.
    """

    rows: NDArray[np.intp]
    run: Places
    time: Floats
    unit: Unit
    agent: Places
    task: Places
    label: tuple[object, ...]
    lengths: Places
    notes: tuple[str, ...]

    @property
    def is_timed(self) -> bool:
        """Whether the log says when its rows were observed; else they are only counted."""
        return self.unit != "episodes"

    @property
    def last(self) -> NDArray[np.intp]:
        """The place (in sorted order) of the last episode of each run."""
        return np.cumsum(self.lengths) - 1

    def observed(self, values: Floats) -> Curve:
        """The episodes in which a measure was observed; `values` in the order of the table."""
        sorted_values = values[self.rows]
        observed = ~np.isnan(sorted_values)
        if observed.all():
            return Curve(self.run, self.time, sorted_values, self.lengths)
        run = self.run[observed]
        lengths = np.bincount(run, minlength=len(self.lengths))
        return Curve(run, self.time[observed], sorted_values[observed], lengths)


class Curve(NamedTuple):
    """Observed values over time, run after run: `run`, `time`, `values` [episodes], `lengths` [runs]."""

    run: Places
    time: Floats
    values: Floats
    lengths: Places

    @property
    def start(self) -> Places:
        """The place of each run's first episode."""
        return np.cumsum(self.lengths) - self.lengths

    def ended_by(self, points: Floats) -> Places:
        """How many episodes of each run had ended by each point; shape [runs, points]."""
        runs = len(self.lengths)
        counts = [np.bincount(self.run[self.time <= point], minlength=runs) for point in points]
        return np.column_stack(counts)


def episodes_of(results: Results) -> Episodes:
    """Sort the rows of each run by frames or steps, else by trial number.

    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [0] * 3,
    ...                              "trial": [0, 1, 2], "frames": [30, 10, 20], "score": [3, 1, 2]})
    >>> episodes = episodes_of(results)
    >>> episodes.rows, episodes.time
    (array([1, 2, 0]), array([10., 20., 30.]))
    """
    times, unit, notes = _times(results)
    time = results.trial_codes if times is None else times
    run = results.run_numbers
    rows = _sorted_rows(run, time)
    run = run[rows]
    lengths = np.bincount(run)
    first = rows[np.cumsum(lengths) - lengths]
    if times is None:
        time = np.arange(len(run)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    else:
        time = times[rows]
    return Episodes(
        rows=rows,
        run=run,
        time=time.astype(np.float64, copy=False),
        unit=unit,
        agent=results.agent_codes[first].astype(np.int64),
        task=results.task_codes[first].astype(np.int64),
        label=tuple(results.column("run", first)),
        lengths=lengths,
        notes=notes,
    )


def mean_of_last(curve: Curve, episodes: int) -> Floats:
    r"""Mean of the last k episodes of each run, of all where there are fewer; NaN without any.

    .. math:: \frac{1}{\min(k, n)} \sum_{i = n - \min(k, n) + 1}^{n} x_i

    >>> curve = Curve(np.array([0, 0, 0]), np.arange(3.0), np.array([9.0, 1.0, 3.0]), np.array([3, 0]))
    >>> mean_of_last(curve, 2)
    array([ 2., nan])
    """
    stop = np.cumsum(curve.lengths)
    return window_means(curve.values, np.maximum(stop - episodes, curve.start), stop)


def mean_of_window(curve: Curve, since: Floats) -> Floats:
    """Mean of the episodes of each run that ended after a time, which is one for each run.

    >>> curve = Curve(np.array([0, 0, 0]), np.array([10.0, 20, 30]), np.array([9.0, 1, 3]), np.array([3]))
    >>> mean_of_window(curve, np.array([10.0]))
    array([2.])
    """
    inside = curve.time > since[curve.run]
    return group_means(curve.values[inside], curve.run[inside], len(curve.lengths))


def mean_over_time(curve: Curve) -> Floats:
    r"""Area under each run's curve, by trapezoids, divided by the time it covers.

    .. math:: \frac{1}{t_n - t_1} \sum_{i=1}^{n-1} \frac{x_i + x_{i+1}}{2} (t_{i+1} - t_i)

    The plain mean where the curve covers no time, as with a single episode.

    >>> curve = Curve(np.array([0, 0, 0]), np.array([0.0, 10, 40]), np.array([0.0, 2, 2]), np.array([3]))
    >>> mean_over_time(curve)
    array([1.75])
    """
    runs = len(curve.lengths)
    width = np.diff(curve.time) * (np.diff(curve.run) == 0)
    middle = (curve.values[:-1] + curve.values[1:]) / 2
    area = np.bincount(curve.run[1:], weights=middle * width, minlength=runs)
    covered = np.bincount(curve.run[1:], weights=width, minlength=runs)
    sums = np.bincount(curve.run, weights=curve.values, minlength=runs)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(covered > 0, area / covered, sums / curve.lengths)


def window_means(values: Floats, start: Places, stop: Places) -> Floats:
    """Mean of values[start:stop] for each pair; NaN where it is empty. Windows may overlap.

    >>> window_means(np.array([1.0, 2, 3, 4]), np.array([0, 2, 3]), np.array([4, 4, 3]))
    array([2.5, 3.5, nan])
    """
    size = stop - start
    means = np.full(size.shape, np.nan)
    full = size > 0
    if full.any():
        # Sums between the bounds of each pair stand at even places; those between pairs are not used.
        bounds = np.column_stack([start[full], stop[full]]).ravel()
        padded = np.append(values, 0.0)
        means[full] = np.add.reduceat(padded, bounds)[::2] / size[full]
    return means


class AtPoints(NamedTuple):
    """Means over at most `last` episodes by each point; `mean` and `episodes` are [runs, points]."""

    points: Floats
    last: int
    mean: Floats
    episodes: Places


def at_points(curve: Curve, points: Floats, last: int) -> AtPoints:
    r"""Mean of the last k episodes that ended by each point; NaN where the run ended before it.

    .. math:: \frac{1}{m} \sum_{i = n - m + 1}^{n} x_i, \quad n = |\{i : t_i \le P\}|,\ m = \min(k, n)

    References: papers/001, section 3: "the agent's average score of the last 100 episodes before
    the agent reaches 10, 50, 100, and 200 million frames".

    >>> curve = Curve(np.zeros(3, int), np.array([10.0, 20, 30]), np.array([1.0, 3, 8]), np.array([3]))
    >>> at_points(curve, np.array([25.0, 30.0, 90.0]), last=2).mean
    array([[2. , 5.5, nan]])
    """
    stop, start = curve.ended_by(points), curve.start[:, None]
    first = start + np.maximum(stop - last, 0)
    means = window_means(curve.values, first.ravel(), (start + stop).ravel())
    reached = end_times(curve)[:, None] >= REACHED * points
    return AtPoints(
        points, last, np.where(reached, means.reshape(stop.shape), np.nan), np.minimum(stop, last)
    )


def begin_times(curve: Curve) -> Floats:
    """Time of each run's first episode; NaN where it has none.

    >>> begin_times(Curve(np.zeros(2, int), np.array([10.0, 20]), np.zeros(2), np.array([2, 0])))
    array([10., nan])
    """
    nonempty = curve.lengths > 0
    if not nonempty.any():
        raise InputError("No episode was observed. Choose another measure.")
    begins = np.full(len(nonempty), np.nan)
    begins[nonempty] = curve.time[curve.start[nonempty]]
    return begins


def end_times(curve: Curve) -> Floats:
    """Time of each run's last episode; NaN where it has none.

    >>> end_times(Curve(np.zeros(2, int), np.array([10.0, 20]), np.zeros(2), np.array([2, 0])))
    array([20., nan])
    """
    return last_of_runs(curve.time, curve.lengths)


def last_of_runs(values: Floats, lengths: Places) -> Floats:
    """Last value of each run, of values run after run; NaN where a run has none.

    >>> last_of_runs(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]))
    array([ 2., nan,  3.])
    """
    last = np.full(len(lengths), np.nan)
    last[lengths > 0] = values[np.cumsum(lengths)[lengths > 0] - 1]
    return last


def report_points(points: Sequence[float] | None, ends: Floats) -> Floats:
    """Return the points given, in order; else the paper's, scaled down to what half of the runs reach.

    >>> report_points(None, np.array([4.0e7, 4.0e7, 1.0e6])).tolist()
    [2000000.0, 10000000.0, 20000000.0, 40000000.0]
    """
    if points is not None:
        chosen = np.array(sorted(set(points)), dtype=np.float64)
        if not len(chosen) or not np.isfinite(chosen).all() or chosen[0] <= 0:
            raise InputError(f"The report points are {list(points)}. Give frames above 0.")
        return chosen
    if np.isnan(ends).all():
        raise InputError("No training episode was observed. Choose another measure.")
    budget = _rounded(float(np.nanmedian(ends)))
    scaled = np.array(PAPER_POINTS) * min(budget / PAPER_POINTS[-1], 1.0)
    return np.unique(np.maximum(np.round(scaled), 1.0))


def _times(results: Results) -> tuple[Floats | None, Unit, tuple[str, ...]]:
    """When each row was observed, in which unit, and what a reader should know of it; None: nobody says."""
    known = {name: results.numbers(name) for name in TIMES if name in results.attributes}
    if not known:
        return _numbered(results)
    frames, steps = (known.get(name, np.full(len(results), np.nan)) for name in TIMES)
    counted_in_steps = np.isnan(frames)
    if not counted_in_steps.any():
        return frames, "frames", ()
    times = np.where(counted_in_steps, steps, frames)
    missing = int(np.isnan(times).sum())
    if missing:
        rows = f"{missing:,} of {counted(len(times), 'row')}"
        what = " or ".join(known)
        return None, "episodes", (f"{rows} have no {what}: time is counted in episodes instead.",)
    if counted_in_steps.all():
        return times, "steps", ()
    return times, "frames or steps", _mixture(results, counted_in_steps)


def _numbered(results: Results) -> tuple[Floats | None, Unit, tuple[str, ...]]:
    """Checkpoints of which nobody said when they were made: counted from 1."""
    if CHECKPOINT not in results.attributes:
        return None, "episodes", ()
    numbers = results.numbers(CHECKPOINT)
    return (None, "episodes", ()) if np.isnan(numbers).any() else (numbers + 1, "checkpoints", ())


def _mixture(results: Results, in_steps: NDArray[np.bool_]) -> tuple[str, ...]:
    tasks = len(results.tasks)
    both = np.bincount(results.task_codes[in_steps], minlength=tasks) > 0
    both &= np.bincount(results.task_codes[~in_steps], minlength=tasks) > 0
    if not both.any():
        return (
            "Some tasks were logged in frames, others in steps: times are in each task's own unit.",
        )
    names = [results.tasks[task] for task in np.flatnonzero(both)]
    return (
        f"{counted(len(names), 'task')} have runs in frames and runs in steps, whose times do not compare: "
        f'{listed(names)}. Say what time is (`time="steps*4"`).',
    )


def _sorted_rows(run: Places, time: Floats | Places) -> NDArray[np.intp]:
    """Rows sorted by run, then time; most logs are in order already, and need only a look."""
    same = run[1:] == run[:-1]
    if ((run[1:] > run[:-1]) | (same & (time[1:] >= time[:-1]))).all():
        return np.arange(len(run))
    return np.lexsort((time, run))


def _rounded(frames: float) -> float:
    """Two digits: to the nearest where it is reached within one per cent, else down."""
    size = 10.0 ** (np.floor(np.log10(max(frames, 1.0))) - 1)
    nearest = round(frames / size) * size
    return float(nearest if frames >= REACHED * nearest else np.floor(frames / size) * size)


def at_budget(results: Results, budget: float) -> tuple[Results, list[str]]:
    """Return the rows of a training log up to a time, without runs that ended before it, and notes.

    A run reaches the time if its next row, one mean gap after its last, would come no earlier.

    >>> log = {"agent": ["a"] * 3 + ["b"] * 2, "task": ["t"] * 5, "run": [0] * 5, "trial": [0, 1, 2, 0, 1],
    ...     "frames": [10, 20, 30, 5, 10], "score": [1.0, 2.0, 3.0, 4.0, 5.0]}
    >>> rows, notes = at_budget(Results.from_dict(log), 25)
    >>> rows.agents, rows.measure(), notes
    (('a',), array([1., 2.]), ["No value at 25 frames for 'b' (to 10): 1 of 2 runs ended before, or were
    logged only later."])
    """
    episodes = episodes_of(results)
    if not episodes.is_timed:
        raise InputError(
            "Runs cannot be compared at one time without a column 'frames' or 'steps' that is filled in "
            'every row. Name it (`time="COLUMN"`), or choose `final`.'
        )
    ends, firsts = episodes.time[episodes.last], episodes.time[episodes.last - episodes.lengths + 1]
    gaps = (ends - firsts) / np.maximum(episodes.lengths - 1, 1)
    reached = (ends + gaps >= budget) & (firsts <= budget)
    size = f"{budget:,.15g} {episodes.unit}"
    if not reached.any():
        raise InputError(
            f"No run has a value at {size}: the longest ends at {ends.max():,.15g}, and the first rows are "
            f"at {firsts.min():,.15g}. Choose a time between them."
        )
    kept = np.zeros(len(results), dtype=bool)
    kept[episodes.rows] = reached[episodes.run] & (episodes.time <= budget)
    notes = [] if reached.all() else [_without_value(results, episodes, ends, ~reached, size)]
    return results.where(kept), notes


def _without_value(
    results: Results, episodes: Episodes, ends: Floats, short: NDArray[np.bool_], size: str
) -> str:
    """Name the agents of runs that do not reach the time, each with its latest end."""
    latest = {
        agent: ends[short & (episodes.agent == agent)].max()
        for agent in np.unique(episodes.agent[short]).tolist()
    }
    names = [f"{shorten(results.agents[agent])} (to {end:,.15g})" for agent, end in latest.items()]
    short_runs = int(short.sum())
    return (
        f"{NO_VALUE_AT} {size} for {', '.join(names[:20])}{', …' if len(names) > 20 else ''}: "
        f"{short_runs:,} of {counted(len(short), 'run')} ended before, or were logged only later."
    )


CUT_SHORT = 0.5
"""Runs that end before this share of the time of others of their task are named or excluded."""


def cut_off_runs(curve: Curve, episodes: Episodes, points: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs of checkpoints ended before half of the usual time of their task; shape [runs].

    What such a run had reached by then is not its final score. An agent whose runs all end early has a
    budget of its own: they count. So do runs of episodes (not in `points`), whose time depends on how well
    the agent played: excluding short ones would exclude low scores.

    >>> curve = Curve(np.repeat([0, 1, 2], 2), np.array([0.0, 9, 0, 9, 0, 3]), np.zeros(6), np.full(3, 2))
    >>> one = np.zeros(3, dtype=int)
    >>> log = Episodes(np.arange(6), curve.run, curve.time, "steps", one, one, (0, 1, 2), curve.lengths, ())
    >>> cut_off_runs(curve, log, np.full(3, True))
    array([False, False,  True])
    """
    if not episodes.is_timed or not points.any():
        return np.zeros(len(points), dtype=bool)
    ends = end_times(curve)
    observed = ~np.isnan(ends)
    usual = np.full(int(episodes.task.max()) + 1, np.nan)
    for task in np.unique(episodes.task[observed]).tolist():
        usual[task] = np.median(ends[observed & (episodes.task == task)])
    early = points & (ends < CUT_SHORT * usual[episodes.task])
    cell = episodes.agent * len(usual) + episodes.task
    reached = np.bincount(cell, weights=observed & ~early) > 0
    return np.asarray(early & reached[cell])


def cut_off_note(results: Results, episodes: Episodes, ends: Floats, cut: NDArray[np.bool_]) -> str:
    """Return a sentence with the number of runs that are excluded, and the first of them."""
    first = int(np.flatnonzero(cut)[0])
    usual = np.nanmedian(ends[episodes.task == episodes.task[first]])
    agent, task = results.agents[episodes.agent[first]], results.tasks[episodes.task[first]]
    return (
        f"{int(cut.sum()):,} of {counted(len(cut), 'run')} ended before half of the usual time of their "
        f"task and are excluded, such as run {shorten(episodes.label[first])} of {shorten(agent)} on "
        f"{shorten(task)}: it ended at {ends[first]:,.0f} of {usual:,.0f} {episodes.unit}."
    )

"""Training logs reduced to one value a run, before anything is compared."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, shorten
from examiner.results import CHECKPOINT, EVALUATION, Results, announce, reads_results
from examiner.scores.training.checkpoints import (
    at_times,
    checkpoint_runs,
    evaluation_rows,
)
from examiner.scores.training.episodes import (
    CUT_SHORT,
    Curve,
    Episodes,
    at_budget,
    cut_off_note,
    cut_off_runs,
    end_times,
    episodes_of,
    mean_of_last,
    mean_of_window,
    mean_over_time,
)
from examiner.validation import Floats

LAST_EPISODES = 100
"""papers/001, section 3: the average of the last k = 100 episodes."""
DEFAULT_FOR_TRAINING = f"last:{LAST_EPISODES}"
DEFAULT_FOR_CHECKPOINTS = "final"
_CHECKPOINTS = re.compile(r"[\s_-]*(?:checkpoints?|evaluations?|iterations?)$")
_GUESS = (
    "The rows of {} are evenly spaced, or at the times of other runs, as evaluations are: a run counts "
    'with its last one (`ex.reduce(results, "final")`). If rows are episodes, say so: '
    '`ex.reduce(results, "last:100")`.'
)
_UNCLEAR = (
    "Nothing says whether the rows of {} are episodes or evaluations: their times are not evenly spaced, "
    "and there is no column 'length'. Reduce runs with "
    '`ex.reduce(results, "last:1 checkpoints")` if each row is an evaluation, or '
    '`ex.reduce(results, "last:100")` if each is an episode.'
)
_KNOWN = "`last:K` (episodes), `last:N checkpoints`, `final`, `final:FRAMES`, `at:FRAMES`, `auc` or `all`"


class Reduction(NamedTuple):
    """What is made of a run; `size` is in episodes or checkpoints for `last`, in frames for `final`.

    `final` without a size is what a run ends with: its last checkpoint, or its last 100 episodes.
    """

    kind: Literal["last", "final", "at", "auc", "all"]
    size: float = math.nan
    of_checkpoints: bool = False

    @property
    def text(self) -> str:
        """How it is written: `last:100`."""
        size = "" if math.isnan(self.size) else f":{self.size:.15g}"
        return f"{self.kind}{size}{' checkpoints' if self.of_checkpoints else ''}"


@reads_results
def reduce(results: Results, how: str | None = None, measure: str | None = None) -> Results:
    r"""Return results with one value per run, or all trials as they are.

    `how` is one of

    - `last:K`: the mean of the last K episodes, the paper's proposal; of all where there are fewer.
      Refused where rows are known to be checkpoints, of which 100 may be half of training.
    - `last:N checkpoints`: the mean of the last N checkpoints; rows of one time are one checkpoint.
    - `final`: what a run ends with: its last checkpoint, or where episodes were logged the last 100.
    - `final:FRAMES`: the mean of the episodes that ended within the last FRAMES frames of the run,
      :math:`t_i > t_n - \mathrm{FRAMES}`. It needs the column `frames` (or `steps`), cumulative in the
      run and with skipped frames counted.
    - `at:FRAMES`: what a run had reached after so many frames (or steps), as `final` has it at its end.
      Runs that were not trained so long have no value, and their agents are named in a note.
    - `auc`: the area under the learning curve (trapezoids over frames) divided by the frames
      covered: the mean performance during training. Without frames, by episode.
    - `all`: every trial is kept.

    Without `how`, `default_reduction` decides. All measures are reduced, each over the episodes in
    which it was observed; with `measure`, that one only, and the others are left out. Episodes of
    evaluation (column `evaluation`) are left out of runs that hold training episodes too. The
    choice stands in `provenance`, and what was short in the notes.

    References: Machado et al. (papers/001), section 3: "report the average performance of the last
    k episodes"; the area after Stadie et al. (2015), as cited there.

    >>> results = Results.from_dict({"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0] * 4,
    ...     "trial": [0, 1, 2, 3], "frames": [100, 200, 300, 600], "score": [0, 2, 4, 8]})
    >>> [float(reduce(results, how).measure()[0]) for how in ("last:2", "final:300", "auc")]
    [6.0, 8.0, 4.4]
    >>> reduce(results, "last:2").provenance.steps
    ('runs reduced by last:2: mean of the last 2 episodes',)
    """
    chosen = default_reduction(results) if how is None else how
    reduction = parse_reduction(chosen)
    if measure is not None:
        results = results.with_measures(results.measure_name(measure))
    if reduction.kind == "all":
        history = results.provenance.with_step("runs not reduced (all): every trial is kept")
        return replace(results, provenance=replace(history, training=False, reduction="all"))
    results, notes = _without_evaluations(results)
    if reduction.kind == "at":
        results, budget_notes = at_budget(results, reduction.size)
        notes += budget_notes
    episodes = episodes_of(results)
    points = checkpoint_runs(results, episodes)
    if reduction.kind == "last" and not reduction.of_checkpoints:
        _refuse_checkpoints(results, reduction)
    inferred = results.provenance.rows
    if how is None and inferred == "unclear":
        first = int((~points).argmax())
        agent, task = results.agents[episodes.agent[first]], results.tasks[episodes.task[first]]
        run = f"run {shorten(episodes.label[first])} of {shorten(agent)} on {shorten(task)}"
        raise InputError(_UNCLEAR.format(run))
    if how is None and inferred == "inferred":
        whose = "all runs" if points.all() else f"{points.sum():,} of {counted(len(points), 'run')}"
        notes.append(_GUESS.format(whose))
    notes += episodes.notes
    values: dict[str, Floats] = {}
    for name in results.measures:
        curve = episodes.observed(results.measure(name))
        values[name] = _reduced(curve, episodes, reduction, points)
        if (cut := cut_off_runs(curve, episodes, points)).any():
            values[name] = np.where(cut, np.nan, values[name])
            notes.append(cut_off_note(results, episodes, end_times(curve), cut))
        of = "" if len(results.measures) == 1 else f" of {name!r}"
        notes += _shortfalls(curve, episodes, reduction, of, cut)
    notes = list(dict.fromkeys(notes))
    announce(tuple(notes), already=results.notes)
    kept = episodes.rows[episodes.last]
    return results.with_runs_reduced(
        kept, values, reduction.text, _step(reduction, episodes, points), notes
    )


@reads_results
def default_reduction(results: Results) -> str:
    """Return how results are reduced where nobody says: training logs by `last:100`, others not.

    Logs that hold checkpoints, such as evaluations or means of an iteration, are reduced by `final`.

    >>> default_reduction(Results.from_numpy([[1.0]]))
    'all'
    """
    if not results.provenance.training:
        return "all"
    points = checkpoint_runs(results, episodes_of(results))
    return DEFAULT_FOR_CHECKPOINTS if points.any() else DEFAULT_FOR_TRAINING


def parse_reduction(text: str) -> Reduction:
    """Understand `last:K`, `last:N checkpoints`, `final`, `final:FRAMES`, `at:FRAMES`, `auc` or `all`.

    >>> parse_reduction("final:1e6"), parse_reduction("last:5 checkpoints").of_checkpoints
    (Reduction(kind='final', size=1000000.0, of_checkpoints=False), True)
    >>> parse_reduction("last")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot reduce runs by 'last'. Give `last:K` (episodes), \
`last:N checkpoints`, `final`, `final:FRAMES`, `at:FRAMES`, `auc` or `all`.
    """
    kind, colon, number = text.strip().lower().partition(":")
    if kind in ("auc", "all", "final") and not colon:
        return Reduction(kind)  # type: ignore[arg-type]  # mypy does not narrow by `in`
    number, of_checkpoints = _CHECKPOINTS.subn("", number)
    try:
        size = float(number.replace("_", ""))
    except ValueError:
        size = math.nan
    whole = kind in ("final", "at") or size == math.floor(size) if math.isfinite(size) else False
    if (
        kind not in ("last", "final", "at")
        or not whole
        or size <= 0
        or (kind != "last" and of_checkpoints)
    ):
        raise InputError(f"Cannot reduce runs by {shorten(text)}. Give {_KNOWN}.")
    return Reduction(kind, size, bool(of_checkpoints))  # type: ignore[arg-type]


def _without_evaluations(results: Results) -> tuple[Results, list[str]]:
    """Leave out evaluations from logs that hold training episodes too, run by run."""
    if EVALUATION not in results.attributes:
        return results, []
    judged = evaluation_rows(results, episodes_of(results))
    if judged is None or judged.all() or not judged.any():
        return results, []
    run = results.run_numbers
    learnt = np.bincount(run, weights=~judged) > 0
    left_out = judged & learnt[run]
    note = f"{counted(int(left_out.sum()), 'episode')} of evaluation are left out of the reduction."
    return results.where(~left_out), [note]


def _refuse_checkpoints(results: Results, reduction: Reduction) -> None:
    """Refuse to count rows as episodes where the log itself says that they are checkpoints."""
    stated = results.provenance.rows == "stated" and CHECKPOINT in results.attributes
    if not stated or np.isnan(results.numbers(CHECKPOINT)).all():
        return
    size = f"{reduction.size:,.0f}"
    raise InputError(
        f"The log holds checkpoints, means of iterations or evaluations, and {reduction.text!r} "
        f"counts episodes: the last {size} rows may be most of training. Say "
        f'`ex.reduce(results, "final")` or `ex.reduce(results, "last:N checkpoints")`.'
    )


def _reduced(
    curve: Curve, episodes: Episodes, reduction: Reduction, points: NDArray[np.bool_]
) -> Floats:
    if reduction.kind == "auc":
        return mean_over_time(curve)
    if reduction.kind == "last" and not reduction.of_checkpoints:
        return mean_of_last(curve, int(reduction.size))
    if reduction.kind == "last":
        return mean_of_last(at_times(curve), int(reduction.size))
    if reduction.kind == "at" or math.isnan(reduction.size):
        ends = mean_of_last(at_times(curve), 1)
        return np.where(points, ends, mean_of_last(curve, LAST_EPISODES))
    if not episodes.is_timed:
        raise InputError(
            f"Runs cannot be reduced by {reduction.text!r} without a column 'frames' or 'steps' that is "
            f'filled in every row. Name it (`time="COLUMN"`), or choose `last:K` or `auc`.'
        )
    return mean_of_window(curve, episodes.time[episodes.last] - reduction.size)


def _step(reduction: Reduction, episodes: Episodes, points: NDArray[np.bool_]) -> str:
    unit = episodes.unit
    size = f"{reduction.size:,.0f}"
    if reduction.kind == "auc":
        meaning = f"area under the curve over {unit}, divided by the {unit} covered"
    elif reduction.kind == "last":
        meaning = (
            f"mean of the last {size} {'checkpoints' if reduction.of_checkpoints else 'episodes'}"
        )
    elif reduction.kind == "at":
        mean = f"the mean of the last {LAST_EPISODES} episodes"
        meaning = f"the last checkpoint, or {mean}, up to {size} {unit}"
    elif not math.isnan(reduction.size):
        meaning = f"mean of the episodes that ended in the last {size} {unit}"
    elif points.all():
        meaning = "the last checkpoint"
    else:
        meaning = f"the last checkpoint, or the mean of the last {LAST_EPISODES} episodes"
    return f"runs reduced by {reduction.text}: {meaning}"


def _shortfalls(
    curve: Curve, episodes: Episodes, reduction: Reduction, of: str, cut: NDArray[np.bool_]
) -> list[str]:
    """Sentences about runs that have less than was asked for."""
    runs = counted(len(curve.lengths), "run")
    nonempty = curve.lengths > 0
    notes = []
    if not nonempty.all():
        missing = int((~nonempty).sum())
        notes.append(f"{missing:,} of {runs} have no observed episode{of}: no value.")
    if reduction.kind == "last":
        counts = at_times(curve).lengths if reduction.of_checkpoints else curve.lengths
        what = "checkpoints" if reduction.of_checkpoints else "episodes"
        short = nonempty & (counts < reduction.size)
        if short.any():
            fewest = int(counts[short].min())
            notes.append(
                f"{int(short.sum()):,} of {runs} have fewer than {reduction.size:,.0f} {what}{of} "
                f"and are averaged over all they have (the fewest: {fewest:,})."
            )
    if reduction.kind == "final" and not math.isnan(reduction.size):
        covered = episodes.time[episodes.last]
        short = covered < reduction.size
        if short.any():
            notes.append(
                f"{int(short.sum()):,} of {runs} are shorter than {reduction.size:,.0f} {episodes.unit} "
                f"and are averaged whole (the shortest: {np.min(covered):,.0f} {episodes.unit})."
            )
    if episodes.is_timed and nonempty.any():
        notes += _cut_short(curve, episodes, runs, cut)
    if reduction.kind == "auc" and not episodes.is_timed:
        notes.append(
            "There is no column 'frames' or 'steps': the area under the curve is over episodes."
        )
    return notes


def _cut_short(
    curve: Curve, episodes: Episodes, runs: str, excluded: NDArray[np.bool_]
) -> list[str]:
    """Say that some runs end long before others of their task: what they reached by then is taken."""
    ends = np.nan_to_num(end_times(curve))
    longest = np.zeros(int(episodes.task.max()) + 1)
    np.maximum.at(longest, episodes.task, ends)
    share = np.divide(ends, longest[episodes.task], out=np.ones_like(ends), where=ends > 0)
    early = (share < CUT_SHORT) & ~excluded
    if not early.any():
        return []
    first = int(np.where(early, share, 1.0).argmin())
    return [
        f"{int(early.sum()):,} of {runs} end before half of the time that the longest run of their task "
        f"has, and are taken as they were then (the earliest at {ends[first]:,.0f} of "
        f"{longest[episodes.task[first]]:,.0f} {episodes.unit})."
    ]

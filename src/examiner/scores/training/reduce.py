"""Training logs reduced to one value a run, before anything is compared."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from examiner.checking import Floats
from examiner.results import Results
from examiner.results.attributes import announce
from examiner.scores.training.checkpoints import EVALUATION, evaluation_rows
from examiner.scores.training.episodes import (
    Curve,
    Episodes,
    episodes_of,
    mean_of_last,
    mean_of_window,
    mean_over_time,
)
from examiner.wording import InputError, counted, shorten

DEFAULT_FOR_TRAINING = "last:100"
"""papers/001, section 3: the average of the last k = 100 episodes."""


class Reduction(NamedTuple):
    """What is made of a run; `size` is in episodes for `last`, in frames for `final`."""

    kind: Literal["last", "final", "auc", "all"]
    size: float = math.nan

    @property
    def text(self) -> str:
        """How it is written: `last:100`."""
        return self.kind if math.isnan(self.size) else f"{self.kind}:{self.size:.15g}"


def reduce(results: Results, how: str | None = None, measure: str | None = None) -> Results:
    r"""Return results with one value per run, or all trials as they are.

    `how` is one of

    - `last:K`: the mean of the last K episodes, the paper's proposal; of all where there are fewer.
    - `final:FRAMES`: the mean of the episodes that ended within the last FRAMES frames of the run,
      :math:`t_i > t_n - \mathrm{FRAMES}`. It needs the column `frames`, cumulative in the run and
      with skipped frames counted.
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
    reduction = parse_reduction(default_reduction(results) if how is None else how)
    if measure is not None:
        results = results.with_measures(results.measure_name(measure))
    if reduction.kind == "all":
        history = results.provenance.with_step("runs not reduced (all): every trial is kept")
        return replace(results, provenance=replace(history, training=False, reduction="all"))
    results, notes = _without_evaluations(results)
    episodes = episodes_of(results)
    notes += episodes.notes
    values: dict[str, Floats] = {}
    for name in results.measures:
        curve = episodes.observed(results.measure(name))
        values[name] = _reduced(curve, episodes, reduction)
        of = "" if len(results.measures) == 1 else f" of {name!r}"
        notes += _shortfalls(curve, episodes, reduction, of)
    notes = list(dict.fromkeys(notes))
    announce(tuple(notes), already=results.notes)
    kept = episodes.rows[episodes.last]
    return results.with_runs_reduced(
        kept, values, reduction.text, _step(reduction, episodes), notes
    )


def default_reduction(results: Results) -> str:
    """Return how results are reduced where nobody says: training logs by `last:100`, others not.

    >>> default_reduction(Results.from_numpy([[1.0]]))
    'all'
    """
    return DEFAULT_FOR_TRAINING if results.provenance.training else "all"


def parse_reduction(text: str) -> Reduction:
    """Understand `last:K`, `final:FRAMES`, `auc` or `all`.

    >>> parse_reduction("final:1e6")
    Reduction(kind='final', size=1000000.0)
    >>> parse_reduction("last")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot reduce runs by 'last'. Give `last:K` (episodes), \
`final:FRAMES`, `auc` or `all`.
    """
    kind, colon, number = text.strip().lower().partition(":")
    if kind in ("auc", "all") and not colon:
        return Reduction(kind)  # type: ignore[arg-type]  # mypy does not narrow by `in`
    try:
        size = float(number.replace("_", ""))
    except ValueError:
        size = math.nan
    whole = kind == "final" or size == math.floor(size) if math.isfinite(size) else False
    if kind not in ("last", "final") or not whole or size <= 0:
        raise InputError(
            f"Cannot reduce runs by {shorten(text)}. Give `last:K` (episodes), `final:FRAMES`, "
            f"`auc` or `all`."
        )
    return Reduction(kind, size)  # type: ignore[arg-type]


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


def _reduced(curve: Curve, episodes: Episodes, reduction: Reduction) -> Floats:
    if reduction.kind == "last":
        return mean_of_last(curve, int(reduction.size))
    if reduction.kind == "auc":
        return mean_over_time(curve)
    if not episodes.in_frames:
        raise InputError(
            f"Runs cannot be reduced by {reduction.text!r} without a column 'frames' that is filled "
            f"in every row. Add it (cumulative in the run), or choose `last:K` or `auc`."
        )
    return mean_of_window(curve, episodes.time[episodes.last] - reduction.size)


def _step(reduction: Reduction, episodes: Episodes) -> str:
    unit = "frames" if episodes.in_frames else "episodes"
    said = {
        "last": f"mean of the last {reduction.size:,.0f} episodes",
        "final": f"mean of the episodes that ended in the last {reduction.size:,.0f} frames",
        "auc": f"area under the curve over {unit}, divided by the {unit} covered",
    }
    return f"runs reduced by {reduction.text}: {said[reduction.kind]}"


def _shortfalls(curve: Curve, episodes: Episodes, reduction: Reduction, of: str) -> list[str]:
    """Sentences about runs that have less than was asked for."""
    runs = counted(len(curve.lengths), "run")
    some = curve.lengths > 0
    notes = []
    if not some.all():
        missing = int((~some).sum())
        notes.append(f"{missing:,} of {runs} have no observed episode{of}: no value.")
    if reduction.kind == "last":
        short = some & (curve.lengths < reduction.size)
        if short.any():
            fewest = int(curve.lengths[short].min())
            notes.append(
                f"{int(short.sum()):,} of {runs} have fewer than {reduction.size:,.0f} episodes{of} "
                f"and are averaged over all they have (the fewest: {fewest:,})."
            )
    if reduction.kind == "final":
        covered = episodes.time[episodes.last]
        short = covered < reduction.size
        if short.any():
            notes.append(
                f"{int(short.sum()):,} of {runs} are shorter than {reduction.size:,.0f} frames and "
                f"are averaged whole (the shortest: {np.min(covered):,.0f} frames)."
            )
    if reduction.kind == "auc" and not episodes.in_frames:
        notes.append("There is no column 'frames': the area under the curve is over episodes.")
    return notes

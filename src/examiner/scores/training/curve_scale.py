"""One scale for the curves of several tasks: raw scores, or each task between its lowest and highest."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.messages import counted, listed
from examiner.results import Results, Scales
from examiner.validation import Floats

ALIKE = 10
"""Ranges of tasks within one order of magnitude of each other are alike."""


class CurveScale(NamedTuple):
    """A log whose scores are one increasing function of the raw score per task; what it is, in words."""

    log: Results
    unit: str
    notes: tuple[str, ...] = ()


def on_curve_scale(results: Results, measure: str | None = None) -> CurveScale:
    r"""Return a log whose tasks can be averaged: as it is where ranges are alike, else by min and max.

    .. math:: x' = \frac{x - \min_t}{\max_t - \min_t}

    The minimum and maximum of task t are those of the whole log, all agents and times: the same raw score
    has the same value for every agent. Where lower is better, 1 is the minimum. Ranges are alike where
    they overlap and none is ten times as wide as another, or where all scores lie in [0, 1].

    >>> table = {"agent": ["a"] * 4, "task": ["t", "t", "u", "u"], "run": [0, 1] * 2}
    >>> on_curve_scale(Results.from_dict(table | {"score": [0, 2, 0, 500]})).log.measure()
    array([0., 1., 0., 1.])
    """
    measure = results.measure_name(measure)
    values, task = results.measure(measure), results.task_codes
    low, high = np.full((2, len(results.tasks)), np.nan)
    np.fmin.at(low, task, values)
    np.fmax.at(high, task, values)
    sign = results.scales.aligned(results.task_names, measure).sign
    if (sign > 0).all() and _alike(low, high):
        return CurveScale(results, f"{measure} as it was read")
    span = np.where(high > low, high - low, np.nan)[task]
    scaled = np.where(sign[task] > 0, values - low[task], high[task] - values) / span
    flat = [name for name, wide in zip(results.tasks, high > low, strict=True) if not wide]
    notes = (f"{counted(len(flat), 'task')} with one score throughout excluded: {listed(flat)}.",)
    unit = f"{measure} between the lowest (0) and the highest (1) of the whole log on each task"
    if (sign < 0).any():
        unit += ", turned round where lower is better"
    step = f"{measure} scaled to the range of each task in the whole log"
    log = results.with_measure(measure, scaled, step, notes if flat else ())
    kept = Scales(entry for entry in results.scales if entry.measure != measure)
    return CurveScale(replace(log, scales=kept), unit, notes if flat else ())


def _alike(low: Floats, high: Floats) -> bool:
    """Whether the ranges of tasks overlap and are of one order of magnitude, or all lie in [0, 1]."""
    if np.nanmin(low) >= 0 and np.nanmax(high) <= 1:
        return True
    span = (high - low)[high > low]
    if not len(span):
        return True
    return bool(np.nanmax(low) < np.nanmin(high) and span.max() < ALIKE * span.min())

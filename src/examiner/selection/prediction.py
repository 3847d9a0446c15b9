"""Prediction from selected tasks: the full aggregate with its interval, and each task that was not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, NamedTuple

import numpy as np

from examiner.messages import InputError
from examiner.selection.curves import ByCurves, ScoreCurves, check_small
from examiner.selection.evidence import Fold
from examiner.selection.intervals import Predicted, Reach, calibrated
from examiner.selection.ridge import Design, fits_of_targets, ridge_fits
from examiner.validation import Axes, Bounds, Floats, read_only

UNEXPECTED = 2.0
"""A result further from its prediction than this many deviations is called unexpected."""
_MAY_BE_UNKNOWN = ("truth", "held_out")


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """Predicts all tasks from a few, as learnt from the agents these were selected on.

    With z an agent's comparable values on the chosen tasks about their `centre`, in `unit`: the aggregate
    is `mean` + `beta` · z, each task `task_mean` + `task_beta` · z. `other_beta` predicts every chosen task
    from the others, `other_error` is how far off. `truth` are the agents' own aggregates, `held_out` their
    predictions while they were held out, NaN where the aggregate is unknown; `reach_low` and `reach_high`
    say how much intervals grow towards the ends: all that intervals are made of. Where values are shares of
    successes, predictions of `curves` of all tasks are averaged with these lines.
    """

    tasks: Annotated[tuple[str, ...], Axes("predicting tasks")]
    all_tasks: Annotated[tuple[str, ...], Axes("all tasks")]
    agents: Annotated[tuple[str, ...], Axes("agents")]
    truth: Annotated[Floats, Axes("agents")]
    centre: Annotated[Floats, Axes("predicting tasks")]
    unit: Annotated[float, Bounds(1e-300, 1e300, "a number above 0")]
    mean: float
    beta: Annotated[Floats, Axes("predicting tasks")]
    held_out: Annotated[Floats, Axes("agents")]
    reach_low: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]
    reach_high: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]
    task_mean: Annotated[Floats, Axes("all tasks")]
    task_beta: Annotated[Floats, Axes("all tasks", "predicting tasks")]
    task_error: Annotated[Floats, Axes("all tasks")]
    other_beta: Annotated[Floats, Axes("predicting tasks", "other tasks")]
    other_error: Annotated[Floats, Axes("predicting tasks")]
    curves: ScoreCurves | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name not in _MAY_BE_UNKNOWN and isinstance(value, (np.ndarray, float)):
                check_small(value, f"predictor's {part.name}")
            if isinstance(value, np.ndarray):
                read_only(value)

    def design(self, values: Floats) -> tuple[Floats, Floats]:
        r"""Standardise comparable values [agents, chosen tasks] as the training values, and fill gaps.

        A chosen task given the others is B z with the deviation s, so that the inverse covariance of all is
        near :math:`\Omega = \operatorname{diag}(s^{-2}) (I - B)`. Tasks m that were not run are expected
        where those run, o, have them, and leave the aggregate uncertain by a deviation, which is returned
        as well:

        .. math:: z_m = -\Omega_{mm}^{-1} \Omega_{mo} z_o, \qquad
                  \sqrt{\beta_m^\top \Omega_{mm}^{-1} \beta_m}
        """
        is_observed = np.isfinite(values)
        if not is_observed.any(axis=1).all():
            raise InputError(
                "An agent has no result on any of the chosen tasks. Run at least one of them."
            )
        z = np.where(is_observed, values - self.centre, 0.0) / self.unit
        open_by = np.zeros(len(z))
        if is_observed.all():
            return z, open_by
        precise = np.maximum(self.other_error, 1e-3)[:, None] ** -2.0
        inverse = precise * (np.eye(len(self.tasks)) - self.other_beta)
        inverse = (inverse + inverse.T) / 2
        for row in np.flatnonzero(~is_observed.all(axis=1)):
            gaps = ~is_observed[row]
            eigenvalues, turned = np.linalg.eigh(inverse[np.ix_(gaps, gaps)])
            # What tasks that were not run may vary by, each, in units of the tasks' mean variance
            eigenvalues = np.maximum(eigenvalues, 1 / (4.0 * gaps.sum()))
            covariance = (turned / eigenvalues) @ turned.T
            z[row, gaps] = -covariance @ (
                inverse[np.ix_(gaps, is_observed[row])] @ z[row, is_observed[row]]
            )
            open_by[row] = np.sqrt(self.beta[gaps] @ covariance @ self.beta[gaps])
        return z, open_by

    def aggregate(self, values: Floats, level: float = 0.9) -> Predicted:
        """Predict the full benchmark's aggregate from comparable values [agents, chosen tasks].

        The interval is that of `Calibration.interval`, infinite where so few agents cannot bound it, and
        wider where chosen tasks were not run.
        """
        from scipy.special import ndtri

        z, open_by = self.design(values)
        reach = Reach(self.reach_low, self.reach_high)
        wider = float(ndtri((1 + level) / 2)) * open_by
        calibration = calibrated(self.truth, self.held_out, level)
        line: Floats = self.mean + z @ self.beta
        if self.curves is not None:
            curve = self._by_curves(self.curves, values).score
            line = line + self.curves.part(line, curve) * (curve - line)
        return calibration.interval(line, reach, wider)

    def each_task(self, values: Floats) -> Floats:
        """Predict every task in comparable units, shape [agents, all tasks]."""
        z, _ = self.design(values)
        lines: Floats = self.task_mean + z @ self.task_beta.T
        if self.curves is None:
            return lines
        by_curves = self._by_curves(self.curves, values)
        part = self.curves.part(self.mean + z @ self.beta, by_curves.score)
        return lines + part[:, None] * (by_curves.posterior @ self.curves.shares() - lines)

    def _by_curves(self, curves: ScoreCurves, values: Floats) -> ByCurves:
        column = {task: index for index, task in enumerate(self.all_tasks)}
        tasks = np.array([column[task] for task in self.tasks], dtype=np.intp)
        return curves.predicted(values, tasks, curves.shares())

    def surprise(self, values: Floats) -> Floats:
        """Differences of results from the prediction by the other tasks, in deviations; NaN if not run."""
        z, _ = self.design(values)
        expected = z @ self.other_beta.T
        error = np.where(self.other_error > 0, self.other_error, np.inf)
        return np.where(np.isfinite(values), (z - expected) / error, np.nan)

    def rank(self, agent: str, low: float, high: float) -> tuple[int, int, int]:
        """Return the best and the worst rank an agent may have among all others, and of how many."""
        others = self.truth[np.array([name != agent for name in self.agents])]
        return 1 + int((others > high).sum()), 1 + int((others > low).sum()), 1 + len(others)


class HeldOut(NamedTuple):
    """Predictions of each agent while it was held out, [agents], and how intervals widen to the ends."""

    predicted: Floats
    reach: Reach


def fit_predictor(fold: Fold, columns: Sequence[int], held_out: HeldOut) -> Predictor:
    """Learn to predict from the tasks at these positions.

    `held_out` are predictions of each agent while it was held out of the selection too.
    """
    chosen = np.array(columns, dtype=np.intp)
    evidence = fold.evidence
    assert evidence.target is not None
    design = Design.of(evidence.values)
    z = design.values[:, chosen]
    fits = ridge_fits(design.values, evidence.target, chosen[None])
    every = fits_of_targets(z, evidence.values)
    other_beta, other_error = _from_others(z)
    return Predictor(
        tasks=tuple(evidence.tasks[column] for column in chosen),
        all_tasks=evidence.tasks,
        agents=evidence.agents,
        truth=evidence.target.copy(),
        centre=design.centre[chosen],
        unit=design.unit,
        mean=float(fits.mean[0]),
        beta=fits.beta[0],
        held_out=held_out.predicted,
        reach_low=held_out.reach.low,
        reach_high=held_out.reach.high,
        task_mean=every.mean,
        task_beta=every.beta,
        task_error=every.error,
        other_beta=other_beta,
        other_error=other_error,
        curves=fold.curves,
    )


def _from_others(z: Floats) -> tuple[Floats, Floats]:
    size = z.shape[1]
    beta, error = np.zeros((size, size)), np.zeros(size)
    if size == 1:
        return beta, np.array([np.sqrt((z**2).mean())])
    for task in range(size):
        others = np.delete(np.arange(size), task)
        fits = ridge_fits(z, z[:, task], others[None])
        beta[task, others] = fits.beta[0]
        error[task] = np.sqrt((fits.left_out[0] ** 2).mean())
    return beta, error

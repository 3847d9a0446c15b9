"""Calibration of new tasks on an existing scale, given the abilities of the agents that took them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.irt.diagnostics.flags import ENOUGH_AGENTS
from examiner.irt.errors.intervals import fieller
from examiner.irt.estimates import interval
from examiner.irt.estimation.em import Optimum, climb
from examiner.irt.estimation.heights import heights
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.sources import MemorySource
from examiner.irt.estimation.starts import first_start
from examiner.irt.estimation.usable_responses import constant_tasks
from examiner.irt.fitted import Dropped, IRTFit, TaskErrors
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import Parameter, Unknowns
from examiner.irt.models import MODELS
from examiner.irt.posterior import Quadrature, agent_blocks
from examiner.irt.priors import NormalPrior, Priors
from examiner.results import ResponseMatrix


class Calibrated(NamedTuple):
    """New tasks on the scale of the fit, their errors, and the tasks that could not be calibrated."""

    items: ItemParameters | None
    errors: TaskErrors | None
    dropped: tuple[Dropped, ...]


def calibrated(
    fit: IRTFit,
    inner: ItemParameters,
    matrix: ResponseMatrix,
    rule: Quadrature,
    anchor: Floats,
    centre: float = 0.0,
) -> Calibrated:
    """Calibrate new tasks with the parameters of the old ones fixed.

    The prior of their difficulties is centred at `centre`, the mean ability of the agents that took them.
    `inner` are the old tasks on the scale on which the population is N(0, 1), and `anchor` [agents, nodes]
    are the log densities of abilities without the new tasks, to which their log-likelihoods are added.
    """
    kept, dropped = _usable(matrix)
    if not kept:
        return Calibrated(None, None, dropped)
    part = matrix.take(tasks=kept)
    unknowns = _unknowns(fit, inner, part, centre)
    source = MemorySource(part, inner.response, anchor=anchor)
    slope, intercept, _ = first_start(source)
    best = climb(source, unknowns, unknowns.start(slope, intercept), fixed=rule)
    kernel = kernel_for(best.items.response, part)
    terms = kernel.terms(curves(best.items, rule.nodes), best.items.precision)
    for block in agent_blocks(part, kernel, width=len(rule)):
        anchor[block.rows] += block.log_likelihoods(terms)
    items = best.items.rescaled(0.0, 1.0 / fit.population_sd)
    return Calibrated(items, _errors(best, unknowns, items, fit.population_sd), dropped)


def _usable(matrix: ResponseMatrix) -> tuple[list[int], tuple[Dropped, ...]]:
    """Columns of new tasks on which at least ten agents differ, and the others with the reason."""
    takers = matrix.observed.sum(axis=0)
    reasons = [
        reason or (f"only {count} agents took it" if count < 10 else None)
        for reason, count in zip(constant_tasks(matrix), takers.tolist(), strict=True)
    ]
    kept = [column for column, reason in enumerate(reasons) if reason is None]
    return kept, tuple(
        Dropped(task, reason)
        for task, reason in zip(matrix.tasks, reasons, strict=True)
        if reason is not None
    )


def _unknowns(
    fit: IRTFit, inner: ItemParameters, matrix: ResponseMatrix, centre: float
) -> Unknowns:
    """The free parameters of new tasks: parameters that all tasks share keep their values."""
    model = MODELS[fit.model]
    shared_slope = "slope" in model.shared
    priors = fit.priors if shared_slope else fit.task_priors
    if shared_slope and priors is not None:
        priors = replace(priors, slope=NormalPrior(1.0, 1.0))  # without effect: slopes are fixed
    if priors is not None:
        before = priors.intercept
        moved = before.mean - float(np.median(inner.slope)) * centre
        priors = replace(priors, intercept=NormalPrior(moved, before.sd))
    if priors is not None and len(matrix.agents) < ENOUGH_AGENTS:
        model = model.holding(("guessing", "slip"))
    fixed: list[tuple[Parameter, float]] = [
        (name, (priors or Priors()).pull(name)[0]) for name in model.held
    ]
    if shared_slope:
        fixed.append(("slope", float(inner.slope[0])))
    if inner.response == "beta-binomial" and inner.precision is not None:
        fixed.append(("precision", float(np.log(inner.precision[0]))))
    return Unknowns(matrix.tasks, inner.response, model.free, (), priors, held=tuple(fixed))


def _errors(
    best: Optimum, unknowns: Unknowns, items: ItemParameters, population_sd: float
) -> TaskErrors:
    """Errors of new tasks by their information, abilities and old tasks taken as known."""
    expected, inner = best.expected, best.items
    assert isinstance(expected, KernelStatistics)
    slopes = expected.kernel.slopes(expected.sums, expected.shape, inner.precision)
    names: tuple[Parameter, ...] = ("slope", "intercept")
    slopes = slopes._replace(beyond=None)
    information = heights(names, slopes, inner, expected.shape, expected.nodes).curvature
    for column, name in enumerate(names):
        if name in unknowns.own:
            information[:, column, column] += unknowns.pull(name)[1]
        else:  # fixed, and so without an error
            information[:, column, :] = information[:, :, column] = 0.0
            information[:, column, column] = 1e12
    covariance = np.asarray(np.linalg.inv(information + 1e-9 * np.eye(2)), dtype=np.float64)
    v_aa, v_ad, v_dd = (covariance[:, row, column] for row, column in ((0, 0), (0, 1), (1, 1)))
    v_aa, v_ad = v_aa / population_sd**2, v_ad / population_sd
    a, d, b = items.slope, items.intercept, items.difficulty
    slope_low, slope_high = interval(a, np.sqrt(v_aa))
    low, high = fieller(a, d, v_aa, v_ad, v_dd)
    unknown = np.full(len(items), np.nan)
    return TaskErrors(
        slope=np.sqrt(v_aa),
        intercept=np.sqrt(v_dd),
        covariance=v_ad,
        difficulty=np.sqrt(np.maximum(v_dd + 2 * b * v_ad + b**2 * v_aa, 0.0)) / np.abs(a),
        guessing=unknown,
        ceiling=unknown,
        precision=unknown,
        slope_low=slope_low,
        slope_high=slope_high,
        difficulty_low=low,
        difficulty_high=high,
        method="information, abilities taken as known",
    )

"""New tasks on an old scale: their parameters given what is known of the agents that took them."""

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
from examiner.irt.estimation.usable_responses import constant_tasks
from examiner.irt.fitted import Dropped, IRTFit, TaskErrors
from examiner.irt.items import Floats, ItemParameters, curves
from examiner.irt.model import Parameter, Unknowns
from examiner.irt.models import MODELS
from examiner.irt.posterior import Quadrature, agent_blocks
from examiner.irt.priors import NormalPrior, Priors
from examiner.results import ResponseMatrix

_FEWEST_TAKERS = 10
"""Agents below which a new task is not calibrated: its prior would be all that is told."""


class Calibrated(NamedTuple):
    """New tasks on the scale users read, their errors, and the tasks that could not be calibrated."""

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
    """Calibrate new tasks with the old ones held where they are.

    The prior expects their difficulties around `centre`, the mean ability of the agents that took them.
    `inner` are the old tasks where the population is N(0, 1), and `anchor` [agents, nodes] are the log
    densities of abilities without the new tasks; what these say is added to it.
    """
    kept, dropped = _usable(matrix)
    if not kept:
        return Calibrated(None, None, dropped)
    part = matrix.take(tasks=kept)
    unknowns = _unknowns(fit, inner, part, centre)
    source = MemorySource(part, inner.response, anchor=anchor)
    slope, intercept = source.first_start(shared_slope=False)
    best = climb(source, unknowns, unknowns.start(slope, intercept), fixed=rule)
    kernel = kernel_for(best.items.response, part)
    terms = kernel.terms(curves(best.items, rule.nodes), best.items.precision)
    for block in agent_blocks(part, kernel, width=len(rule)):
        anchor[block.rows] += block.log_likelihoods(terms)
    items = best.items.rescaled(0.0, 1.0 / fit.population_sd)
    return Calibrated(items, _errors(best, unknowns, items, fit.population_sd), dropped)


def _usable(matrix: ResponseMatrix) -> tuple[list[int], tuple[Dropped, ...]]:
    """Columns of new tasks on which enough agents differ, and the others with why."""
    takers = matrix.observed.sum(axis=0)
    reasons = [
        reason or (f"only {count} agents took it" if count < _FEWEST_TAKERS else None)
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
    """What is estimated of new tasks: what all tasks share is held where the fit has it."""
    model = MODELS[fit.model]
    alike = "slope" in model.shared
    priors = fit.priors if alike else fit.task_priors
    if alike and priors is not None:
        priors = replace(priors, slope=NormalPrior(1.0, 1.0))  # of nothing that is estimated here
    if priors is not None:
        before = priors.intercept
        moved = before.mean - float(np.median(inner.slope)) * centre
        priors = replace(priors, intercept=NormalPrior(moved, before.sd))
    if priors is not None and len(matrix.agents) < ENOUGH_AGENTS:
        model = model.holding(("guessing", "slip"))
    held: list[tuple[Parameter, float]] = [
        (name, (priors or Priors()).pull(name)[0]) for name in model.held
    ]
    if alike:
        held.append(("slope", float(inner.slope[0])))
    if inner.response == "beta-binomial" and inner.precision is not None:
        held.append(("precision", float(np.log(inner.precision[0]))))
    return Unknowns(matrix.tasks, inner.response, model.free, (), priors, held=tuple(held))


def _errors(
    best: Optimum, unknowns: Unknowns, items: ItemParameters, population_sd: float
) -> TaskErrors:
    """Errors of new tasks by their information, abilities and old tasks taken as known."""
    found, inner = best.expected, best.items
    assert isinstance(found, KernelStatistics)
    slopes = found.kernel.slopes(found.sums, found.shape, inner.precision)
    own: tuple[Parameter, ...] = ("slope", "intercept")
    bent = heights(own, slopes, inner, found.shape, found.nodes).information
    for column, name in enumerate(own):
        if name in unknowns.own:
            bent[:, column, column] += unknowns.pull(name)[1]
        else:  # held, and so without an error
            bent[:, column, :] = bent[:, :, column] = 0.0
            bent[:, column, column] = 1e12
    spread = np.asarray(np.linalg.inv(bent + 1e-9 * np.eye(2)), dtype=np.float64)
    v_aa, v_ad, v_dd = (spread[:, row, column] for row, column in ((0, 0), (0, 1), (1, 1)))
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

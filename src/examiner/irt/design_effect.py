r"""Groups of tasks: how much more abilities vary than independent tasks say.

Tasks of one repository, game or passage share more than ability: an agent has its own strength on each. The
score of an ability is a sum over tasks of :math:`s_{ji} = (x_{ji} - E_{ji}) E'_{ji} / V_{ji}`, and has the
variance :math:`I_j = \sum_i E'^2_{ji} / V_{ji}` where tasks are independent. With group sums S the design
effect is

.. math:: D = \frac{\sum_j \sum_g (S_{jg} - w_{jg} S_j)^2 / (1 - w_{jg})}{(1 - 2/n) \sum_j I_j}, \quad
          w_{jg} = I_{jg} / I_j

which is 1 where tasks are independent (CR2 of Bell & McCaffrey 2002, pooled over n agents). With v the
posterior variance relative to the population's, an ability has the variance :math:`v (v + (1 - v) D)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import widened
from examiner.irt.diagnostics.residuals import residuals
from examiner.irt.fitted import IRTFit
from examiner.irt.items import SCORES, Floats
from examiner.irt.outcomes import expected_result
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results

_STEP = 1e-4
_PERMUTATIONS = 19
"""The largest of 20 is so by chance in one table of twenty."""
_MOST_CELLS = 500_000
"""Cells up to which dependence is sought in residuals."""


def design_effect(fit: IRTFit, codes: NDArray[np.int64]) -> float:
    """Return the design effect of groups of tasks: `codes` [tasks] are those of the fit's tasks."""
    score, information = _scores(fit)
    members = (codes[:, None] == np.unique(codes)).astype(np.float64)
    sums, parts = score @ members, information @ members
    whole = np.maximum(parts.sum(axis=1, keepdims=True), 1e-12)
    share = parts / whole
    centred = sums - share * sums.sum(axis=1, keepdims=True)
    squares = centred**2 / np.maximum(1.0 - share, 1e-3)
    agents = len(score)
    return float(squares.sum() / (max(1.0 - 2.0 / agents, 0.1) * whole.sum()))


def _scores(fit: IRTFit) -> tuple[Floats, Floats]:
    """Scores of abilities and their information, cell by cell [agents, tasks]."""
    assert fit.matrix is not None
    ability, matrix = fit.abilities.ability, fit.matrix
    left = residuals(matrix, fit.items, ability)
    ahead, behind = (expected_result(fit.items, ability + step).T for step in (_STEP, -_STEP))
    rise = (ahead - behind) / (2 * _STEP)
    if fit.items.response not in SCORES:
        rise = rise * matrix.trials
    weight = np.where(left.observed, rise / np.where(left.observed, left.variance, 1.0), 0.0)
    return left.difference * weight, rise * weight


class TaskGroups(NamedTuple):
    """What groups of tasks are named by, and the group of each task, [tasks]."""

    column: str
    code: NDArray[np.int64]


def task_groups(
    results: Results | None, group: str | Mapping[str, object] | None, tasks: tuple[str, ...]
) -> TaskGroups | None:
    """Return the groups of tasks: of a column, or of each task by name; None without groups."""
    if group is None or group == "none":
        return None
    if isinstance(group, str):
        labels = [_label(results, group, task) for task in tasks]
    else:
        labels = [group.get(task) for task in tasks]
    column = group if isinstance(group, str) else "group"
    # a task without a label is a group of its own
    keys = [
        f"task {task}" if label is None else f"group {label}"
        for task, label in zip(tasks, labels, strict=True)
    ]
    code = np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)
    if code.max(initial=0) == 0:
        raise InputError(
            f"All tasks are in one group by {shorten(column)}. Name a column with several groups, or none."
        )
    return TaskGroups(column, code)


def _label(results: Results | None, column: str, task: str) -> object:
    """The group of a task in a column of the table of tasks; levels of a task are in its group."""
    if results is None:
        raise InputError(
            f"Responses have no column {shorten(column)} of tasks. Give results, or the group of each task "
            f"as a mapping."
        )
    about, name = results.task_attributes, results.task_names[results.tasks.index(task)]
    if column == "task":
        return name
    if column not in about.columns:
        have = f"They have {listed(about.columns)}." if about.columns else "They have none."
        raise InputError(f"Tasks have no column {shorten(column)}. {have} Name one of these.")
    return about.aligned([name], column)[0]


def with_groups(fit: IRTFit, groups: TaskGroups | None) -> IRTFit:
    """Return the fit with errors of abilities that count the dependence of tasks in groups.

    Without groups, a note says how large the dependence between residuals may be, if it is significant.
    """
    if fit.errors is None or fit.errors.parameters is None or fit.matrix is None:
        return fit
    if groups is None:
        sentence = dependence_note(fit)
        return replace(fit, notes=(*fit.notes, sentence)) if sentence else fit
    effect = max(1.0, design_effect(fit, groups.code))
    note = (
        f"{counted(len(groups.code), 'task')} in {counted(int(groups.code.max()) + 1, 'group')} by "
        f"{shorten(groups.column)} are worth about {len(groups.code) / effect:,.0f} independent ones: "
        f"errors of abilities count that (design effect {effect:.2f})."
    )
    abilities = fit.abilities
    deviation = abilities.error if abilities.posterior is None else abilities.posterior
    wider = widened(deviation, effect, fit.population_sd)
    error = np.sqrt(np.maximum(abilities.error**2 - deviation**2, 0.0) + wider**2)
    parameters = replace(fit.errors.parameters, design_effect=effect)
    return replace(
        fit,
        errors=replace(fit.errors, parameters=parameters),
        abilities=replace(abilities, error=error, posterior=wider),
        notes=(*fit.notes, note),
    )


def dependence_note(fit: IRTFit) -> str:
    """Say how much residuals of tasks depend on each other, if that is significant; else nothing.

    The largest eigenvalue of standardised residuals is compared with that of residuals permuted between the
    agents of each task. Their ratio bounds the design effect of groups that nobody has named.
    """
    assert fit.matrix is not None
    if fit.matrix.shape[0] * fit.matrix.shape[1] > _MOST_CELLS or min(fit.matrix.shape) < 5:
        return ""
    left = residuals(fit.matrix, fit.items, fit.abilities.ability)
    values = left.standardised()
    rng = np.random.default_rng(0)  # one table has one answer
    first = _largest_eigenvalue(values)
    by_chance = [
        _largest_eigenvalue(_permuted(values, left.observed, rng)) for _ in range(_PERMUTATIONS)
    ]
    if first <= max(by_chance):
        return ""
    return (
        f"Residuals of tasks correlate beyond ability (largest eigenvalue {first / np.mean(by_chance):.1f} "
        f"times that by chance): errors of abilities may be too small by up to a factor of "
        f"{np.sqrt(first / np.mean(by_chance)):.1f}. Name what tasks share with `group`."
    )


def _permuted(values: Floats, observed: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Residuals exchanged between the agents of each task."""
    if observed.all():
        return rng.permuted(values, axis=0)
    drawn = values.copy()
    for task in range(values.shape[1]):
        rows = np.flatnonzero(observed[:, task])
        drawn[rows, task] = rng.permutation(values[rows, task])
    return drawn


def _largest_eigenvalue(values: Floats) -> float:
    centred = values - values.mean(axis=0)
    product = centred @ centred.T if len(values) < values.shape[1] else centred.T @ centred
    return float(np.linalg.eigvalsh(product)[-1])

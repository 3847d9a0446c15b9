r"""Groups of tasks: how much more abilities vary than independent tasks say.

Tasks of one repository, game or passage share more than ability: an agent has its own strength on each. The
score of an ability is a sum over tasks of :math:`s_{ji} = (x_{ji} - E_{ji}) E'_{ji} / V_{ji}`, and has the
variance :math:`I_j = \sum_i E'^2_{ji} / V_{ji}` where tasks are independent. With group sums S the design
effect is

.. math:: D = \frac{\sum_j \sum_g (S_{jg} - w_{jg} S_j)^2 / (1 - w_{jg})}{(1 - 2/n) \sum_j I_j}, \quad
          w_{jg} = I_{jg} / I_j

which is 1 where tasks are independent (CR2 of Bell & McCaffrey 2002, pooled over n agents). Where groups
are unequal its excess over 1 is too small, since the largest group is a part of the sum S that is
subtracted. It is divided by the share that is expected where strengths have one variance on all groups.
With v the posterior variance relative to the population's, an ability has the variance
:math:`v (v + (1 - v) D)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.agent_posterior import widened
from examiner.irt.diagnostics.evidence_tests import with_groups_of_tasks
from examiner.irt.diagnostics.residuals import permuted_within_tasks, residuals
from examiner.irt.fitted import IRTFit
from examiner.irt.items import SCORES, Floats, positions
from examiner.irt.outcomes import expected_result
from examiner.messages import InputError, counted, shorten
from examiner.results import Results
from examiner.scores import codes_of, task_groups

_STEP = 1e-4
_NOTABLE = 1.25
"""A design effect beyond which dependence that nobody asked for is worth a note: errors 12 % larger."""


def design_effect(fit: IRTFit, codes: NDArray[np.int64]) -> float:
    """Return the design effect of groups of tasks: `codes` [tasks] are those of the fit's tasks."""
    score, information = _scores(fit)
    members = (codes[:, None] == np.unique(codes)).astype(np.float64)
    sums, parts = score @ members, information @ members
    whole = np.maximum(parts.sum(axis=1, keepdims=True), 1e-12)
    share = parts / whole
    centred = sums - share * sums.sum(axis=1, keepdims=True)
    left = np.maximum(1.0 - share, 1e-3)
    agents = len(score)
    pooled = (centred**2 / left).sum() / (max(1.0 - 2.0 / agents, 0.1) * whole.sum())
    square = (parts**2).sum(axis=1, keepdims=True)
    expected = ((left**2 * parts**2 + share**2 * (square - parts**2)) / left).sum()
    return float(1.0 + (pooled - 1.0) * square.sum() / max(float(expected), 1e-12))


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


def task_codes(
    results: Results | None, group: str | Mapping[str, object] | None, tasks: tuple[str, ...]
) -> tuple[str, NDArray[np.int64]] | None:
    """Return what groups of tasks are named by, and the group of each task; None without groups.

    `group` is a column, or the group of each task by name. Without one, groups are found as `scores` does.
    """
    if isinstance(group, Mapping):
        # a task without a label is a group of its own
        column, labels = "group", [group.get(task, ("alone", task)) for task in tasks]
        if len(set(labels)) == 1:
            raise InputError("All tasks are in one group. Give several groups, or none.")
        return column, codes_of(labels)
    if results is None:
        if group is None or group == "none":
            return None
        raise InputError(
            f"Responses have no column {shorten(group)} of tasks. Give results, or the group of each task "
            f"as a mapping."
        )
    groups = task_groups(results, group, None)
    if groups is None:
        return None
    return groups.column, codes_of(groups.code[positions(results.tasks, tasks)].tolist())


def with_groups(
    fit: IRTFit, groups: tuple[str, NDArray[np.int64]] | None, *, asked: bool
) -> IRTFit:
    """Return the fit with errors of abilities that count the dependence of tasks in groups.

    Groups that nobody asked for, and dependence between residuals, are a note with their size.
    """
    if fit.errors is None or fit.errors.parameters is None or fit.matrix is None:
        return fit
    if groups is None:
        sentence = dependence_note(fit)
        return replace(fit, notes=(*fit.notes, sentence)) if sentence else fit
    column, code = groups
    effect = max(1.0, design_effect(fit, code))
    worth = (
        f"{counted(len(code), 'task')} in {counted(int(code.max()) + 1, 'group')} by {shorten(column)} are "
        f"worth about {len(code) / effect:,.0f} independent ones"
    )
    if not asked:
        note = f"{worth}, and errors of abilities do not count that. `group={column!r}` counts it."
        return replace(fit, notes=(*fit.notes, note)) if effect > _NOTABLE else fit
    abilities = fit.abilities
    deviation = abilities.error if abilities.posterior is None else abilities.posterior
    wider = widened(deviation, effect, fit.population_sd)
    error = np.sqrt(np.maximum(abilities.error**2 - deviation**2, 0.0) + wider**2)
    parameters = replace(fit.errors.parameters, design_effect=effect)
    evidence = fit.evidence
    if evidence is not None and evidence.abilities_differ:
        stream = np.random.default_rng(0)  # one table has one answer
        tested = with_groups_of_tasks(evidence.abilities, fit.matrix, code, stream)
        evidence = replace(evidence, abilities=tested)
    note = f"{worth}: errors of abilities count that (design effect {effect:.2f})."
    return replace(
        fit,
        errors=replace(fit.errors, parameters=parameters),
        abilities=replace(abilities, error=error, posterior=wider),
        evidence=evidence,
        notes=(*fit.notes, note),
    )


def dependence_note(fit: IRTFit) -> str:
    """Say how much residuals of tasks depend on each other, if that is significant; else nothing.

    The largest eigenvalue of standardised residuals is compared with that of residuals permuted between the
    agents of each task. Their ratio bounds the design effect of groups that nobody has named. Eigenvalues
    of independent residuals reach (√agents + √tasks)² times their variance (Marchenko & Pastur 1967): where
    that is about as much, nothing is permuted.
    """
    assert fit.matrix is not None
    agents, tasks = fit.matrix.shape
    if agents * tasks > 500_000 or min(agents, tasks) < 5:
        return ""
    left = residuals(fit.matrix, fit.items, fit.abilities.ability)
    values = left.standardised()
    first = _largest_eigenvalue(values)
    if first <= _NOTABLE * (np.sqrt(agents) + np.sqrt(tasks)) ** 2 * values.var(axis=0).mean():
        return ""
    rng = np.random.default_rng(0)  # one table has one answer
    by_chance: list[float] = []
    # the largest of 20 is so by chance in one table of twenty
    for _ in range(19):
        permuted = permuted_within_tasks(values, left.observed, 1, rng)[0]
        by_chance.append(_largest_eigenvalue(permuted))
        if first <= _NOTABLE * by_chance[-1]:
            return ""
    return (
        f"Residuals of tasks correlate beyond ability (largest eigenvalue {first / np.mean(by_chance):.1f} "
        f"times that by chance): errors of abilities may be too small by up to a factor of "
        f"{np.sqrt(first / np.mean(by_chance)):.1f}. Name what tasks share with `group`."
    )


def _largest_eigenvalue(values: Floats) -> float:
    """The largest eigenvalue of residuals' products, by Lanczos: the others are not asked for."""
    from scipy.sparse.linalg import eigsh

    centred = (values - values.mean(axis=0)).astype(np.float32)
    product = centred @ centred.T if len(values) < values.shape[1] else centred.T @ centred
    start = np.random.default_rng(0).normal(size=len(product))
    return float(eigsh(product, 1, v0=start, tol=1e-4, return_eigenvectors=False)[0])

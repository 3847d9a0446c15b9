"""Whether tasks follow their curves: S-X², by the recursion of Lord and Wingersky for sum scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from examiner.answers import Answer, Table, name, number, text
from examiner.irt.items import SCORES, Floats, ItemParameters, curves
from examiner.irt.posterior import Quadrature, quadrature_for
from examiner.messages import counted
from examiner.results import ResponseMatrix


class SumScoreTable(Table):
    """S-X² of tasks."""

    task: tuple[str, ...] = name("Task")
    statistic: Floats = number("S-X²", title="S-X²")
    degrees: Floats = number("Degrees of freedom")
    p_value: Floats = number("p-value", title="p")
    rmsea: Floats = number("Size of the misfit, whatever the number of agents")
    reason: tuple[str, ...] = text("Why the statistic is not available")


@dataclass(frozen=True, slots=True, repr=False)
class SumScoreFit(Answer):
    """S-X² of each task, in the order of tasks: statistic, degrees of freedom, p-value, size of the misfit.

    NaN where there is none, with the `reason` ('' elsewhere). `rmsea` is √((S-X² − df) / (df (N − 1))), or
    0 where that is negative: how far off the curve is, whatever the number of agents.
    """

    kind: ClassVar[str] = "sum-score-fit"

    tasks: SumScoreTable

    @property
    def headline(self) -> str:
        """How many tasks have a small p-value."""
        low = int((self.tasks.p_value < 0.01).sum())
        return f"{low} of {counted(len(self.tasks), 'task')} have p < 0.01 by S-X²."

    @property
    def tables(self) -> Mapping[str, Table]:
        """S-X² of tasks, the smallest p-value first."""
        return {"tasks": self.tasks.sorted_by("p_value")}


def sum_score_fit(
    matrix: ResponseMatrix,
    items: ItemParameters,
    *,
    parameters: int = 2,
    population_sd: float = 1.0,
    nodes: int | Quadrature | None = None,
) -> SumScoreFit:
    r"""Return S-X² of each task: whether agents that solve k tasks solve it as often as the model predicts.

    .. math:: S\text{-}X^2_i = \sum_k N_k \frac{(O_{ik} - E_{ik})^2}{E_{ik} (1 - E_{ik})}, \quad
              E_{ik} = \frac{\int P_i f^{-i}(k - 1 | \theta) \phi}{\int f(k | \theta) \phi}

    over scores k from 1 to one less than the number of tasks. Groups are merged from both ends until
    successes and failures are both expected at least once. Degrees of freedom are the groups less
    `parameters`, the estimated numbers behind a task's curve (2 for the 2PL, and for the 1PL, whose
    slope is shared but estimated; 3 for the 3PL). It needs every cell, one trial each.

    References: Orlando & Thissen (2000), eq. 7 and 8.

    >>> from examiner.irt.simulate import simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(10)], np.ones(10), np.zeros(10))
    >>> fit = sum_score_fit(simulate(items, 500, rng=1), items)
    >>> bool(fit.tasks.p_value.min() > 0.001), int(fit.tasks.degrees[0])
    (True, 7)
    """
    matched = items.named(matrix.tasks)
    tasks = len(matched)
    statistic, degrees, p_value, rmsea = np.full((4, tasks), np.nan)
    reasons = [_unavailable(matrix, matched)] * tasks
    if not reasons[0]:
        from scipy.special import chdtrc

        rule = quadrature_for(nodes, matched, matrix, population_sd)
        expected = _expected_shares(matched, rule, population_sd)
        solved = matrix.successes.astype(np.int64)
        scores = solved.sum(axis=1)
        agents = np.bincount(scores, minlength=tasks + 1)[1:-1].astype(np.float64)
        for task in range(tasks):
            won = np.bincount(scores, solved[:, task].astype(np.float64), tasks + 1)
            means, counts = merged_groups(agents, np.asarray(won[1:-1]), expected[task])
            degrees[task] = len(means) - parameters
            if degrees[task] <= 0:
                reasons[task] = "too few score groups for the parameters of the task"
                continue
            statistic[task] = ((counts - means) ** 2 / means).sum()
            p_value[task] = chdtrc(degrees[task], statistic[task])
            excess = max(statistic[task] / degrees[task] - 1, 0.0)
            rmsea[task] = np.sqrt(excess / (matrix.shape[0] - 1)) if excess else 0.0
    return SumScoreFit(
        SumScoreTable(
            task=matched.tasks,
            statistic=statistic,
            degrees=degrees,
            p_value=p_value,
            rmsea=rmsea,
            reason=reasons,
        )
    )


def _unavailable(matrix: ResponseMatrix, items: ItemParameters) -> str:
    if items.response in SCORES:
        return "scores are continuous"
    if not matrix.observed.all():
        return "some cells were not observed"
    if int(matrix.trials.max()) > 1:
        return "cells have more than one trial"
    if len(items) < 3:
        return "fewer than three tasks"
    return ""


def _expected_shares(items: ItemParameters, rule: Quadrature, population_sd: float) -> Floats:
    """E_ik for k = 1 … tasks − 1, shape [tasks, tasks − 1]."""
    tasks = len(items)
    above, below = np.zeros((tasks, tasks - 1)), np.zeros(tasks - 1)
    step = max(1, 50_000_000 // (3 * tasks**2))  # bounds memory
    weights = np.exp(rule.log_weights)
    for start in range(0, len(rule), step):
        part = slice(start, start + step)
        shape = curves(items, population_sd * rule.nodes[part])
        chances = sum_score_chances(shape.success, shape.failure)
        others = without_each_task(chances, shape.success, shape.failure)
        above += np.einsum("ikq,iq->ik", others[:, :-1], shape.success * weights[part])
        below += chances[1:-1] @ weights[part]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(above / below), 0.0, 1.0)


def merged_groups(agents: Floats, won: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return expected and observed successes and failures of score groups, [groups, 2] each.

    Groups that are not empty are merged from both ends until both counts are expected at least once.
    """
    present = agents > 0
    expected = np.stack([agents * shares, agents * (1.0 - shares)], axis=1)[present]
    observed = np.stack([won, agents - won], axis=1)[present]
    for _ in range(2):  # the low end, then (reversed) the high end
        expected, observed = _from_below(expected, observed)
        expected, observed = expected[::-1], observed[::-1]
    inner = 1
    while 0 < inner < len(expected) - 1:
        if (expected[inner] >= 1.0).all():
            inner += 1
            continue
        onto = inner - 1 if observed[inner - 1].sum() <= observed[inner + 1].sum() else inner + 1
        expected[onto] += expected[inner]
        observed[onto] += observed[inner]
        expected = np.delete(expected, inner, axis=0)
        observed = np.delete(observed, inner, axis=0)
    return expected, observed


def _from_below(expected: Floats, observed: Floats) -> tuple[Floats, Floats]:
    enough = np.flatnonzero((np.cumsum(expected, axis=0) >= 1.0).all(axis=1))
    last = int(enough[0]) if enough.size else len(expected) - 1
    if last <= 0:
        return expected.copy(), observed.copy()
    low, high = (
        np.concatenate([part[: last + 1].sum(axis=0, keepdims=True), part[last + 1 :]])
        for part in (expected, observed)
    )
    return low, high


def sum_score_chances(success: Floats, failure: Floats) -> Floats:
    """Return P(k tasks solved | θ) from chances [tasks, nodes]: shape [tasks + 1, nodes].

    f ← f · (1 − P) + shifted f · P, one task after the other.

    References: Lord & Wingersky (1984), eq. 2 to 4.

    >>> sum_score_chances(np.array([[0.5], [0.5]]), np.array([[0.5], [0.5]])).ravel()
    array([0.25, 0.5 , 0.25])
    """
    tasks, nodes = success.shape
    chances = np.zeros((tasks + 1, nodes))
    chances[0] = 1.0
    for task in range(tasks):
        upper = chances[: task + 1] * success[task]
        chances[: task + 1] *= failure[task]
        chances[1 : task + 2] += upper
    return chances


def without_each_task(chances: Floats, success: Floats, failure: Floats) -> Floats:
    """Return P(k of the other tasks solved | θ) for each task left out: [tasks, tasks, nodes].

    The last step of the recursion is undone, g_k = (f_k − P g_{k−1}) / (1 − P), upwards where
    P ≤ 1/2 and downwards where P > 1/2, so that rounding errors shrink on the way. This costs one
    power of the number of tasks less than the recursion again for every task.
    """
    tasks, nodes = success.shape
    up, down = np.empty((2, tasks, tasks, nodes))
    rising = success <= 0.5
    odds = np.where(rising, success / np.where(rising, failure, 1.0), 0.0)
    inverse = np.where(rising, 1.0 / np.where(rising, failure, 1.0), 0.0)
    up[:, 0] = chances[0] * inverse
    for score in range(1, tasks):
        up[:, score] = chances[score] * inverse - odds * up[:, score - 1]
    odds = np.where(rising, 0.0, failure / np.where(rising, 1.0, success))
    inverse = np.where(rising, 0.0, 1.0 / np.where(rising, 1.0, success))
    down[:, -1] = chances[-1] * inverse
    for score in range(tasks - 2, -1, -1):
        down[:, score] = chances[score + 1] * inverse - odds * down[:, score + 1]
    return np.maximum(np.where(rising[:, None, :], up, down), 0.0)

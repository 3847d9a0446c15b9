"""The evidence from which a method selects tasks, all of it from the same agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information import MOST_TASKS, Channels
from examiner.irt import ItemParameters
from examiner.irt import fit as fit_irt
from examiner.messages import InputError
from examiner.results import ContentOrder, ResponseMatrix, order_of_table
from examiner.scores import (
    LearntScale,
    column_blocks,
    correlate_columns,
    correlation_distances,
    unit_columns,
)
from examiner.selection.benchmark import Benchmark
from examiner.selection.constraints import Terms
from examiner.selection.curves import ScoreCurves, curves_of
from examiner.selection.shrinkage import CovarianceData, Shrinkage, settled
from examiner.validation import Floats

MISSING = {
    "target": "a target: the aggregate of the full benchmark for each agent. Give one "
    '(`target="mean"`).',
    "shrinkage": "to know how far covariances are shrunk, from folds over agents. Gather it with the "
    "other evidence: `fold_of(benchmark, rows, ('shrinkage',))`.",
    "channels": "repeated trials, or a stated deviation (`deviations=0.2`): how much agents vary.",
    "items": "a fit: the difficulty and discrimination of each task. Give successes (`success=...`), so "
    "that one can be fitted, or choose another method.",
    "ability": "a fit: the abilities of the agents. Give successes (`success=...`), so that one can be "
    "fitted, or choose another method.",
    "groups": "groups of tasks. Give a classification or a table of tasks with the column 'group'.",
}
"""What a method needs, in the message where that piece of evidence is missing."""
NODES = 21


@dataclass(frozen=True, eq=False)
class SelectionEvidence:
    """Results of agents on tasks, and what was estimated from them; what was not requested is None.

    `values` [agents, tasks] are comparable scores without gaps; `target` [agents] is the aggregate of
    the full benchmark, and `weights` [tasks] are those of the tasks in it, where it is a weighted mean.
    `observed` are the values with their gaps, and `shrinkage` says how covariances between tasks are
    shrunk. `channels` hold means and deviations, for bits. `items` and `ability` [agents] come from a
    fit, `groups` [tasks] from a typology. `terms` are the demands on the set.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> evidence = SelectionEvidence(("a", "b"), ("t", "u"), np.eye(2), terms_of(Constraints(), ["t", "u"]))
    >>> evidence.needed("fisher", "items")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: fisher needs a fit: the difficulty and discrimination of each \
task. Give successes (`success=...`), so that one can be fitted, or choose another method.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Floats
    terms: Terms
    target: Floats | None = None
    channels: Channels | None = None
    items: ItemParameters | None = None
    ability: Floats | None = None
    groups: tuple[str, ...] | None = None
    weights: Floats | None = None
    observed: Floats | None = None
    shrinkage: Shrinkage | None = None
    given_rank: NDArray[np.intp] | None = None

    @cached_property
    def order(self) -> ContentOrder:
        """The order of agents and tasks by content, in which draws are made and ties decided.

        It is that of these agents alone, so that nothing is learnt from others.
        """
        values = self.values if self.observed is None else self.observed
        return order_of_table(values, self.agents, self.tasks)

    @cached_property
    def task_rank(self) -> NDArray[np.intp]:
        """The place of each task in this order, or in that of more agents where it was given, [tasks]."""
        return np.argsort(self.order.tasks) if self.given_rank is None else self.given_rank

    @property
    def table(self) -> CovarianceData:
        """What covariances between tasks are learnt from."""
        assert self.target is not None
        values = self.values if self.observed is None else self.observed
        return CovarianceData(values, self.target, self.weights)

    def needed(self, method: str, what: str) -> Any:  # Any: of the piece's own type
        """Return a piece of evidence, or raise an error that says how to get it."""
        piece = getattr(self, what)
        if piece is None:
            raise InputError(f"{method} needs {MISSING[what]}")
        return piece


class Fold(NamedTuple):
    """One fold: the evidence of its agents, and the scale on which others are compared with them.

    `scale` was learnt from its agents, `centre` [tasks] are their means, and `observed` [agents, tasks]
    their comparable values with gaps. `curves` say how tasks rise with the score, where values are shares.
    """

    rows: NDArray[np.intp]
    evidence: SelectionEvidence
    scale: LearntScale | None
    centre: Floats
    observed: Floats
    curves: ScoreCurves | None


def fold_of(
    whole: Benchmark,
    rows: NDArray[np.intp],
    needs: tuple[str, ...],
    *,
    lenient: bool = False,
    shrinkage: Shrinkage | None = None,
    task_rank: NDArray[np.intp] | None = None,
    curves: bool = True,
) -> Fold:
    """Gather evidence from some agents alone: scale, gaps, target, bits, curves.

    Where too few agents allow no fit, evidence has none; `lenient` then takes flat curves, so that a
    small fold does not end a comparison. `shrinkage` was settled before, on a fold that holds this one, and
    `task_rank` decides between equal tasks as it did there.
    Where nothing is predicted, `curves` of scores need not be learnt.
    """
    scale = whole.learn(rows)
    values = whole.comparable(rows, scale)
    filled, centre = fill(values)
    truth = whole.truth(rows, values)
    evidence = SelectionEvidence(
        tuple(whole.agents[row] for row in rows),
        whole.tasks,
        filled,
        whole.terms,
        target=np.where(np.isnan(truth), whole.aggregates(rows, filled), truth),
        channels=whole.channels(rows) if "channels" in needs else None,
        groups=whole.groups,
        weights=whole.weights,
        observed=values,
        shrinkage=shrinkage,
        given_rank=task_rank,
    )
    if "shrinkage" in needs and shrinkage is None:
        shrinkage_settled = _settled(whole, evidence, rows)
        evidence = replace(evidence, shrinkage=shrinkage_settled)
    if "items" in needs or "ability" in needs:
        evidence = _with_curves(evidence, whole.successes(rows), lenient)
    learnt = None
    if curves and whole.of_shares:
        assert evidence.target is not None and whole.weights is not None
        newer = whole.examined == "newer"
        learnt = curves_of(values, evidence.target, whole.weights, newer=newer)
    return Fold(rows, evidence, scale, centre, values, learnt)


def _settled(whole: Benchmark, evidence: SelectionEvidence, rows: NDArray[np.intp]) -> Shrinkage:
    """How far covariances are shrunk, from the agents that represent all in folds."""
    used = whole.in_folds(rows)
    table = evidence.table
    return settled(table if len(used) == len(rows) else table.of(np.isin(rows, used)))


def fill(values: Floats) -> tuple[Floats, Floats]:
    r"""Fill gaps with the task's mean plus the agent's mean deviation from the tasks it has.

    .. math:: \hat x_{at} = \bar x_t + \frac{1}{|T_a|} \sum_{s \in T_a} (x_{as} - \bar x_s)

    A task without any value gets the mean of all. Returns the filled values, and the tasks' means.
    """
    is_observed = np.isfinite(values)
    if is_observed.all():
        return values, values.mean(axis=0)
    count = is_observed.sum(axis=0)
    overall = values[is_observed].mean() if is_observed.any() else 0.0
    total = np.where(is_observed, values, 0.0).sum(axis=0)
    centre = np.where(count > 0, total / np.maximum(count, 1), overall)
    # A task without results must not borrow from the results of the agent on others.
    return np.where(count > 0, fill_from(values, centre), overall), centre


def fill_from(values: Floats, centre: Floats) -> Floats:
    """Fill the gaps of other agents, given the tasks' means; the last axis is of tasks."""
    is_observed = np.isfinite(values)
    away = np.where(is_observed, values - centre, 0.0).sum(axis=-1, keepdims=True)
    away = away / np.maximum(is_observed.sum(axis=-1, keepdims=True), 1)
    return np.where(is_observed, values, centre + away)


def check_distances(tasks: int) -> None:
    """Refuse more tasks than distances between them fit into memory."""
    if tasks > MOST_TASKS:
        raise InputError(
            f"The distances between {tasks:,} tasks would not fit into memory. Choose by regression, "
            f"spread or fisher, or leave out tasks (at most {MOST_TASKS:,})."
        )


def likeness(values: Floats) -> Floats:
    """Distance 1 − r between columns, shape [tasks, tasks]; 1 where a column is constant."""
    check_distances(values.shape[1])
    return correlation_distances(correlate_columns(values)[0])


def correlations_of(values: Floats, columns: Sequence[int]) -> Floats:
    """Correlation of some columns with all, [some, tasks]; 0 where a column is constant.

    >>> correlations_of(np.array([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [3.0, 6.0, 5.0]]), [0]).round(6)
    array([[1., 1., 0.]])
    """
    chosen = np.nan_to_num(unit_columns(values[:, list(columns)]))
    correlations = np.empty((len(columns), values.shape[1]))
    for block in column_blocks(values.shape):
        correlations[:, block] = chosen.T @ np.nan_to_num(unit_columns(values[:, block]))
    return correlations


def _with_curves(evidence: SelectionEvidence, success: Floats, lenient: bool) -> SelectionEvidence:
    """Curves of tasks and abilities of agents, from shares of successes; half or more is a success.

    Tasks on which every agent had the same result are flat, agents without any result are average.
    """
    tasks, agents = evidence.tasks, evidence.agents
    won = np.where(np.isnan(success), np.nan, (success >= 0.5).astype(np.float64))
    slope, intercept = np.zeros(len(tasks)), np.zeros(len(tasks))
    ability: Sequence[float] = [0.0] * len(agents)
    try:
        # Inside a fold only the order of tasks matters, and the priors keep estimates from running
        # away
        fit = fit_irt(
            ResponseMatrix.from_array(won, agents, tasks),
            "2pl",
            response="binomial",
            starts=1,
            nodes=NODES,
            errors=False,
            most_iterations=200,
        )
    except InputError:
        if not lenient:
            return evidence
    else:
        column = {task: index for index, task in enumerate(tasks)}
        kept = [column[task] for task in fit.items.tasks]
        slope[kept], intercept[kept] = fit.items.slope, fit.items.intercept
        ability_of = dict(zip(fit.abilities.agents, fit.abilities.ability.tolist(), strict=True))
        ability = [ability_of.get(agent, 0.0) for agent in agents]
    items = ItemParameters.of(tasks, slope, intercept)
    return replace(evidence, items=items, ability=np.array(ability))

"""Characteristic curves: of tasks over ability and of agents over difficulty, expected and as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from examiner.answers import Answer, Table, bound, name, number
from examiner.irt.estimates import Z, interval
from examiner.irt.fitted import Abilities, IRTFit
from examiner.irt.indicators.bins import DifficultyBins
from examiner.irt.items import (
    Floats,
    ItemParameters,
    inverse_link,
    probability,
)
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import check_level

GROUPS = 8
HALF = 0.5
_POINTS = 81
"""Points of a drawn curve: as smooth as a screen shows."""


class TaskCurvePoints(Table):
    """Expected results over ability."""

    task: tuple[str, ...] = name("Task")
    ability: Floats = number("Ability", unit="logits")
    expected: Floats = number("Expected result")
    expected_low: Floats = bound("expected", "low")
    expected_high: Floats = bound("expected", "high")


class EmpiricalTaskPoints(Table):
    """Mean results of groups of agents of similar ability."""

    task: tuple[str, ...] = name("Task")
    ability: Floats = number("Mean ability of the group", unit="logits")
    mean: Floats = number("Mean result")
    mean_low: Floats = bound("mean", "low")
    mean_high: Floats = bound("mean", "high")
    observed: Floats = number("Results observed")


class EmpiricalAgentPoints(Table):
    """Mean results in bins of difficulty."""

    agent: tuple[str, ...] = name("Agent")
    difficulty: Floats = number("Median difficulty of the bin", unit="logits")
    mean: Floats = number("Mean result")
    mean_low: Floats = bound("mean", "low")
    mean_high: Floats = bound("mean", "high")
    variance: Floats = number("Variance of the results (papers/002, eq. 3)")
    observed: Floats = number("Results observed")


class AgentCurvePoints(Table):
    """Expected success over difficulty."""

    agent: tuple[str, ...] = name("Agent")
    difficulty: Floats = number("Difficulty", unit="logits")
    expected: Floats = number("Expected success on a typical task")
    expected_low: Floats = bound("expected", "low")
    expected_high: Floats = bound("expected", "high")


def _points(
    kind: type[Table],
    names: tuple[str, ...],
    named: str,
    along: Floats,
    axis: str,
    **curves: Floats,
) -> Table:
    """Return curves [names, points] as one row per point."""
    columns: dict[str, Any] = {
        part: values.ravel() for part, values in curves.items()
    }  # Any: arrays
    columns[named] = [each for each in names for _ in range(len(along))]
    columns[axis] = np.tile(along, len(names))
    return kind(**columns)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskCurves(Answer):
    """Expected result of each task over ability, [tasks, abilities]; the band is NaN without errors."""

    kind: ClassVar[str] = "task-curves"

    tasks: tuple[str, ...]
    ability: Floats
    success: Floats
    low: Floats
    high: Floats

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Expected results of {counted(len(self.tasks), 'task')} over ability."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        return {
            "curves": _points(
                TaskCurvePoints,
                self.tasks,
                "task",
                self.ability,
                "ability",
                expected=self.success,
                expected_low=self.low,
                expected_high=self.high,
            )
        }


def curves(fit: IRTFit, abilities: Floats | None = None, *, level: float = 0.95) -> TaskCurves:
    r"""Return the curve of every task, with the band that the errors of its parameters leave.

    .. math:: \operatorname{sd}(a\theta + d)^2
              = \theta^2 \operatorname{Var} a + 2\theta \operatorname{Cov}(a, d) + \operatorname{Var} d

    The band holds at each ability, not for the whole curve at once; errors of guessing and ceiling
    are left out of it. Of scores in [0, 1] the curve is the expected score inside, of normal scores the
    chance of reaching the landmark.

    >>> from examiner.irt.items import ItemParameters
    >>> from examiner.irt.ability import known as known_fit
    >>> fit = known_fit(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> curves(fit, np.array([0.0])).success
    array([[0.5]])
    """
    from scipy.special import ndtri

    check_level(level)
    at = np.linspace(*ability_span(fit), _POINTS) if abilities is None else abilities
    success = probability(fit.items, at).T
    if fit.errors is None:
        none = np.full_like(success, np.nan)
        return TaskCurves(fit.items.tasks, at, success, none, none)
    errors = fit.errors
    variance = (
        errors.slope[:, None] ** 2 * at**2
        + 2 * errors.covariance[:, None] * at
        + errors.intercept[:, None] ** 2
    )
    reach = float(ndtri(0.5 + level / 2)) * np.sqrt(np.maximum(variance, 0.0))
    low, high = (probability(fit.items, at, side * reach).T for side in (-1.0, 1.0))
    return TaskCurves(fit.items.tasks, at, success, low, high)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EmpiricalTaskCurves(Answer):
    """Mean result on each task in groups of agents of like ability, [tasks, groups], with intervals."""

    kind: ClassVar[str] = "empirical-task-curves"

    tasks: tuple[str, ...]
    ability: Floats
    mean: Floats
    observed: Floats
    low: Floats
    high: Floats

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Mean results on {counted(len(self.tasks), 'task')} of agents grouped by ability."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        return {
            "curves": _points(
                EmpiricalTaskPoints,
                self.tasks,
                "task",
                self.ability,
                "ability",
                mean=self.mean,
                mean_low=self.low,
                mean_high=self.high,
                observed=self.observed,
            )
        }


def empirical_curves(
    matrix: ResponseMatrix, ability: Floats, groups: int = GROUPS
) -> EmpiricalTaskCurves:
    """Average what groups of agents, from the least to the most able, did on each task.

    Groups have equally many agents; `ability` [agents] is that of the matrix's agents, and comes from
    the same responses: with few tasks the curves look steeper than they are.

    >>> matrix = ResponseMatrix.from_array([[0], [0], [1], [1]], tasks=["t"])
    >>> empirical_curves(matrix, np.array([-2.0, -1.0, 1.0, 2.0]), groups=2).mean
    array([[0., 1.]])
    """
    known = np.flatnonzero(np.isfinite(ability))
    if not len(known):
        raise InputError("No agent has an ability, so that tasks have no empirical curve.")
    order = known[np.argsort(ability[known], kind="stable")]
    parts = np.array_split(order, max(1, min(groups, len(order))))
    members = np.zeros((len(matrix.agents), len(parts)))
    for group, rows in enumerate(parts):
        members[rows, group] = 1.0
    weights = np.where(matrix.observed, matrix.trials if matrix.is_counts else 1.0, 0.0)
    mean, observed = _grouped(matrix.to_numpy().T, weights.T, members)
    centre = np.array([ability[rows].mean() for rows in parts])
    low, high = wilson_ends(mean, observed)
    return EmpiricalTaskCurves(matrix.tasks, centre, mean, observed, low, high)


def ability_span(fit: IRTFit) -> tuple[float, float]:
    """Return abilities a little beyond those of the agents, at least ±3 population deviations."""
    known = fit.abilities.ability[np.isfinite(fit.abilities.ability)]
    reach = 3.0 * fit.population_sd
    low = float(known.min()) if len(known) else 0.0
    high = float(known.max()) if len(known) else 0.0
    return min(low - 0.5, -reach), max(high + 0.5, reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EmpiricalAgentCurves(Answer):
    """Results of each agent over bins of difficulty, each array [agents, bins].

    `variance` is that of the results in a bin, over the tasks observed (papers/002, eq. 3), `observed`
    their number; NaN where there is none. `low` and `high` are 95 % intervals of the mean by Wilson's
    formula, which holds for results in [0, 1] (the variance of such a result is at most that of a
    success), NaN for others.
    """

    kind: ClassVar[str] = "empirical-agent-curves"

    agents: tuple[str, ...]
    difficulty: Floats
    mean: Floats
    variance: Floats
    observed: Floats
    low: Floats
    high: Floats

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Mean results of {counted(len(self.agents), 'agent')} in bins of difficulty."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        return {
            "curves": _points(
                EmpiricalAgentPoints,
                self.agents,
                "agent",
                self.difficulty,
                "difficulty",
                mean=self.mean,
                mean_low=self.low,
                mean_high=self.high,
                variance=self.variance,
                observed=self.observed,
            )
        }

    @property
    def slope(self) -> Floats:
        """Steepness [agents] where a curve first falls through one half; NaN where it never does.

        Between the two bins around the fall, −Δ mean / Δ median difficulty: the "slope of the
        empirical curves at mean score 0.5" by which papers/002, section V, stands for generality.
        """
        return falling_slopes(self.difficulty, self.mean)


def empirical_agent_curves(
    agents: tuple[str, ...], results: Floats, bins: DifficultyBins
) -> EmpiricalAgentCurves:
    """Average the results [agents, tasks] of each agent in bins of difficulty; NaN is not observed.

    >>> from examiner.irt.indicators.bins import bins as difficulty_bins
    >>> items = ItemParameters.of(["easy", "hard"], slope=[1, 1], difficulty=[-1.0, 1.0])
    >>> made = empirical_agent_curves(("a",), np.array([[1.0, 0.0]]), difficulty_bins(items, 2))
    >>> made.mean, made.slope
    (array([[1., 0.]]), array([0.5]))
    """
    seen = ~np.isnan(results)
    mean, observed = _grouped(results, seen.astype(np.float64), bins.members.T.astype(np.float64))
    variance = np.empty_like(mean)
    for column, members in enumerate(bins.members):
        apart = np.where(seen[:, members], results[:, members] - mean[:, [column]], 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance[:, column] = (apart**2).sum(axis=1) / observed[:, column]
    low, high = wilson_ends(mean, observed)
    return EmpiricalAgentCurves(agents, bins.centre, mean, variance, observed, low, high)


def falling_slopes(difficulty: Floats, mean: Floats) -> Floats:
    """Return how steeply each curve [agents, bins] first falls from at least one half below it.

    >>> falling_slopes(np.array([-1.0, 0.0, 2.0]), np.array([[0.9, 0.8, 0.2], [0.4, 0.3, 0.1]]))
    array([0.3, nan])
    """
    found = np.full(len(mean), np.nan)
    for agent, row in enumerate(mean):
        known = np.flatnonzero(~np.isnan(row))
        for left, right in pairwise(known):
            if row[left] >= HALF > row[right]:
                found[agent] = (row[left] - row[right]) / (difficulty[right] - difficulty[left])
                break
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpectedAgentCurves(Answer):
    """Chance of success of each agent over difficulty, [agents, difficulties], with its 95 % band."""

    kind: ClassVar[str] = "agent-curves"

    agents: tuple[str, ...]
    difficulty: Floats
    success: Floats
    low: Floats
    high: Floats
    discrimination: float

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Expected success of {counted(len(self.agents), 'agent')} over difficulty."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        return {
            "curves": _points(
                AgentCurvePoints,
                self.agents,
                "agent",
                self.difficulty,
                "difficulty",
                expected=self.success,
                expected_low=self.low,
                expected_high=self.high,
            )
        }


def agent_curves(
    abilities: Abilities, items: ItemParameters, difficulty: Floats | None = None
) -> ExpectedAgentCurves:
    r"""Return what the model expects of agents on a typical task of every difficulty.

    .. math:: P_j(h) = \sigma(\bar a (\theta_j - h)), \quad \bar a = \operatorname{median}_{a_i > 0} a_i

    (of normal scores Φ in place of σ: the chance of reaching the landmark).

    The band is that of the ability, θ ± 1.96 standard errors. Curves of agents differ only in place
    (papers/002, section V): how general an agent is shows in `empirical_agent_curves`.

    >>> from examiner.irt.fitted import Abilities
    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 3.0], difficulty=[-1.0, 1.0])
    >>> known = Abilities(("a",), np.array([0.0]), np.array([0.5]), "")
    >>> agent_curves(known, items, np.array([0.0])).success
    array([[0.5]])
    """
    rising = items.slope[items.slope > 0]
    steepness = float(np.median(rising)) if len(rising) else 1.0
    if difficulty is None:
        difficulty = _span(abilities, items)
    success, low, high = (
        inverse_link(items.response, steepness * (ability[:, None] - difficulty))
        for ability in (abilities.ability, *interval(abilities.ability, abilities.error))
    )
    return ExpectedAgentCurves(abilities.agents, difficulty, success, low, high, steepness)


def _grouped(results: Floats, weights: Floats, members: Floats) -> tuple[Floats, Floats]:
    """Weighted means of rows over groups of columns, NaN where none was observed, and their weights.

    `results` and `weights` are [rows, columns], `members` [columns, groups] is 1 where one belongs.
    """
    observed = weights @ members
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * np.nan_to_num(results)) @ members / observed
    return mean, observed


def wilson_ends(mean: Floats, observed: Floats) -> tuple[Floats, Floats]:
    """Return 95 % intervals of shares by Wilson's formula; NaN where nothing or no share is.

    >>> low, high = wilson_ends(np.array([1.0]), np.array([5.0]))
    >>> low.round(4), high
    (array([0.5655]), array([1.]))
    """
    z2 = Z**2
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = mean + z2 / (2 * observed)
        half = np.sqrt(z2 * (mean * (1 - mean) + z2 / (4 * observed)) / observed)
        scale = 1 + z2 / observed
        low, high = (middle - half) / scale, (middle + half) / scale
    share = (mean >= 0) & (mean <= 1) & (observed > 0)
    return np.where(share, np.clip(low, 0, 1), np.nan), np.where(share, np.clip(high, 0, 1), np.nan)


def _span(abilities: Abilities, items: ItemParameters) -> Floats:
    """Difficulties from below the least able agent to above the ablest, and the middle of the tasks."""
    known = items.difficulty[np.isfinite(items.difficulty) & (items.slope > 0)]
    inner = np.percentile(known, (5, 95)) if len(known) else np.array([0.0])
    known = abilities.ability[np.isfinite(abilities.ability)]
    ends = np.concatenate([inner, known, [0.0]])
    return np.linspace(float(ends.min()) - 1.0, float(ends.max()) + 1.0, _POINTS)

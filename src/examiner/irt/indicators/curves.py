"""Characteristic curves of tasks over ability and of agents over difficulty, expected and empirical."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from examiner.answers import Answer, Column, Table
from examiner.irt.estimates import Z, interval
from examiner.irt.fitted import Abilities, IRTFit
from examiner.irt.indicators.bins import DifficultyBins
from examiner.irt.items import (
    Floats,
    ItemParameters,
    inverse_link,
    probability,
)
from examiner.messages import InputError
from examiner.results import ResponseMatrix
from examiner.scores import check_level, score_ends

Side = Literal["task", "agent"]
"""Curves are of tasks over ability, or of agents over difficulty."""
_AXES = {
    "task": Column("ability", "number", "Ability", unit="logits"),
    "agent": Column("difficulty", "number", "Difficulty", unit="logits"),
}
_TITLES = {"task": "tasks over ability", "agent": "agents over difficulty"}


def _points(of: Side, names: tuple[str, ...], at: Floats, **curves: tuple[str, Floats]) -> Table:
    """Return curves [names, points], each with what it means, as one row per point."""
    axis = _AXES[of]
    columns = [Column(of, "name", of.capitalize()), axis]
    columns += [
        Column(part, "number", meaning, title=title, of=first if title else "")
        for part, (meaning, _) in curves.items()
        for first, _, title in [part.rpartition("_")]
    ]
    values: dict[str, Any] = {
        part: values.ravel() for part, (_, values) in curves.items()
    }  # Any: arrays
    values[of] = [name for name in names for _ in range(len(at))]
    values[axis.name] = np.tile(at, len(names))
    return Table.of(columns, values)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpectedCurves(Answer):
    """Expected result of each task over ability, or of each agent over difficulty, [names, points].

    `low` and `high` are its band, NaN without errors.
    """

    kind: ClassVar[str] = "expected-curves"

    of: Side
    names: tuple[str, ...]
    at: Floats
    success: Floats
    low: Floats
    high: Floats

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Expected results of {len(self.names):,} {_TITLES[self.of]}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        parts = {
            "expected": ("Expected result", self.success),
            "expected_low": ("", self.low),
            "expected_high": ("", self.high),
        }
        return {"curves": _points(self.of, self.names, self.at, **parts)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EmpiricalCurves(Answer):
    """Mean results on tasks of agents grouped by ability, or of agents in bins of difficulty.

    Arrays are [names, points]. `variance` is that of the results in a bin, over the tasks observed
    (papers/002, eq. 3), `observed` their number; NaN where there is none. `low` and `high` are 95 %
    intervals of the mean by Wilson's formula, which holds for results in [0, 1] (the variance of such a
    result is at most that of a success), NaN for others.
    """

    kind: ClassVar[str] = "empirical-curves"

    of: Side
    names: tuple[str, ...]
    at: Floats
    mean: Floats
    low: Floats
    high: Floats
    observed: Floats
    variance: Floats

    @property
    def headline(self) -> str:
        """What the curves are of."""
        return f"Mean results of {len(self.names):,} {_TITLES[self.of]}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The points of all curves."""
        parts = {
            "mean": ("Mean result", self.mean),
            "mean_low": ("", self.low),
            "mean_high": ("", self.high),
            "variance": ("Variance of the results (papers/002, eq. 3)", self.variance),
            "observed": ("Results observed", self.observed),
        }
        return {"curves": _points(self.of, self.names, self.at, **parts)}

    @property
    def slope(self) -> Floats:
        """Steepness of each curve where it first falls through one half; NaN if it never does.

        Between the two bins around the fall, −Δ mean / Δ median difficulty: the "slope of the
        empirical curves at mean score 0.5" with which papers/002, section V, measures generality.
        """
        slopes = np.full(len(self.mean), np.nan)
        for curve, row in enumerate(self.mean):
            for left, right in pairwise(np.flatnonzero(~np.isnan(row))):
                if row[left] >= 0.5 > row[right]:
                    slopes[curve] = (row[left] - row[right]) / (self.at[right] - self.at[left])
                    break
        return slopes


def curves(fit: IRTFit, abilities: Floats | None = None, *, level: float = 0.95) -> ExpectedCurves:
    r"""Return the curve of every task, with a band from the errors of its parameters.

    .. math:: \operatorname{sd}(a\theta + d)^2
              = \theta^2 \operatorname{Var} a + 2\theta \operatorname{Cov}(a, d) + \operatorname{Var} d

    The band holds at each ability, not for the whole curve at once; errors of guessing and ceiling
    are not in it. For scores in [0, 1] the curve is the expected score inside, for normal scores the chance
    of reaching the landmark.

    >>> from examiner.irt.items import ItemParameters
    >>> from examiner.irt.ability import known as known_fit
    >>> fit = known_fit(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> curves(fit, np.array([0.0])).success
    array([[0.5]])
    """
    from scipy.special import ndtri

    check_level(level)
    at = np.linspace(*ability_span(fit), 81) if abilities is None else abilities
    success = probability(fit.items, at).T
    if fit.errors is None:
        none = np.full_like(success, np.nan)
        return ExpectedCurves("task", fit.items.tasks, at, success, none, none)
    errors = fit.errors
    variance = (
        errors.slope[:, None] ** 2 * at**2
        + 2 * errors.covariance[:, None] * at
        + errors.intercept[:, None] ** 2
    )
    reach = float(ndtri(0.5 + level / 2)) * np.sqrt(np.maximum(variance, 0.0))
    low, high = (probability(fit.items, at, side * reach).T for side in (-1.0, 1.0))
    return ExpectedCurves("task", fit.items.tasks, at, success, low, high)


def empirical_curves(matrix: ResponseMatrix, ability: Floats, groups: int = 8) -> EmpiricalCurves:
    """Average the results of groups of agents, from the least to the most able, on each task.

    Groups have equally many agents; `ability` [agents] is that of the matrix's agents, and comes from
    the same responses: with few tasks the curves look steeper than they are.

    >>> matrix = ResponseMatrix.from_array([[0], [0], [1], [1]], tasks=["t"])
    >>> empirical_curves(matrix, np.array([-2.0, -1.0, 1.0, 2.0]), groups=2).mean
    array([[0., 1.]])
    """
    placed = np.flatnonzero(np.isfinite(ability))
    if not len(placed):
        raise InputError("No agent has an ability, so that tasks have no empirical curve.")
    order = placed[np.argsort(ability[placed], kind="stable")]
    parts = np.array_split(order, max(1, min(groups, len(order))))
    members = np.zeros((len(matrix.agents), len(parts)))
    for group, rows in enumerate(parts):
        members[rows, group] = 1.0
    weights = np.where(matrix.observed, matrix.trials if matrix.is_counts else 1.0, 0.0)
    centre = np.array([ability[rows].mean() for rows in parts])
    return _empirical("task", matrix.tasks, centre, matrix.to_numpy().T, weights.T, members)


def ability_span(fit: IRTFit) -> tuple[float, float]:
    """Return abilities a little beyond those of the agents, at least ±3 population deviations."""
    finite = fit.abilities.ability[np.isfinite(fit.abilities.ability)]
    reach = 3.0 * fit.population_sd
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
    return min(low - 0.5, -reach), max(high + 0.5, reach)


def empirical_agent_curves(
    agents: tuple[str, ...], results: Floats, bins: DifficultyBins
) -> EmpiricalCurves:
    """Average the results [agents, tasks] of each agent in bins of difficulty; NaN is not observed.

    >>> from examiner.irt.indicators.bins import bins as difficulty_bins
    >>> items = ItemParameters.of(["easy", "hard"], slope=[1, 1], difficulty=[-1.0, 1.0])
    >>> curve = empirical_agent_curves(("a",), np.array([[1.0, 0.0]]), difficulty_bins(items, 2))
    >>> curve.mean, curve.slope
    (array([[1., 0.]]), array([0.5]))
    """
    weights, members = (~np.isnan(results)).astype(np.float64), bins.members.T.astype(np.float64)
    return _empirical("agent", agents, bins.centre, results, weights, members)


def agent_curves(
    abilities: Abilities, items: ItemParameters, difficulty: Floats | None = None
) -> ExpectedCurves:
    r"""Return what the model expects of agents on a typical task of every difficulty.

    .. math:: P_j(h) = \sigma(\bar a (\theta_j - h)), \quad \bar a = \operatorname{median}_{a_i > 0} a_i

    (of normal scores Φ in place of σ: the chance of reaching the landmark).

    The band is that of the ability, θ ± 1.96 standard errors. Curves of agents differ only in location
    (papers/002, section V): `empirical_agent_curves` show how general agents are.

    >>> from examiner.irt.fitted import Abilities
    >>> items = ItemParameters.of(["t", "u"], slope=[1.0, 3.0], difficulty=[-1.0, 1.0])
    >>> abilities = Abilities(("a",), np.array([0.0]), np.array([0.5]), "")
    >>> agent_curves(abilities, items, np.array([0.0])).success
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
    return ExpectedCurves("agent", abilities.agents, difficulty, success, low, high)


def _empirical(
    of: Side, names: tuple[str, ...], at: Floats, results: Floats, weights: Floats, members: Floats
) -> EmpiricalCurves:
    """Weighted means of rows over groups of columns, NaN where none was observed.

    `results` and `weights` are [rows, columns], `members` [columns, groups] is 1 where one belongs.
    """
    observed, values = weights @ members, np.nan_to_num(results)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * values) @ members / observed
        centre = np.nan_to_num(mean) @ members.T  # of its group, in each column
        variance = (weights * (values - centre) ** 2) @ members / observed
        share = (mean >= 0) & (mean <= 1) & (observed > 0)
        low, high = (np.where(share, end, np.nan) for end in score_ends(mean, observed, Z))
    return EmpiricalCurves(of, names, at, mean, low, high, observed, variance)


def _span(abilities: Abilities, items: ItemParameters) -> Floats:
    """Difficulties from below the lowest ability to above the highest, and the middle of the tasks."""
    difficulty = items.difficulty[np.isfinite(items.difficulty) & (items.slope > 0)]
    inner = np.percentile(difficulty, (5, 95)) if len(difficulty) else np.array([0.0])
    ends = np.concatenate([inner, abilities.ability[np.isfinite(abilities.ability)], [0.0]])
    return np.linspace(float(ends.min()) - 1.0, float(ends.max()) + 1.0, 81)

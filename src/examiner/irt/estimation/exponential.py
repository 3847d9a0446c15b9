"""The 1PL and 2PL of successes, which are exponential families: few passes over the data an iteration.

With k successes of n trials the log-likelihood of agent j is, up to Σ log C(n, k),
log L_j(θ) = s_j θ + t_j − A_j(θ), where s = K a, t = K d and A_j(θ) = Σᵢ n_jᵢ log(1 + exp(aᵢθ + dᵢ)).
The M-step needs only Kᵀ E[θ], the column sums of K, and how much posterior mass, in trials, each task
has at each node. Where all agents were given the same trials, A and that mass are common to all: an
iteration is two products of the data with a vector, whatever the number of nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.exponential_statistics import ExponentialStatistics
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernels import log_choices
from examiner.irt.estimation.tables import (
    add_mass,
    added_in_double,
    added_over_agents,
    agents_together,
    counts_of,
    times_curves,
)
from examiner.irt.estimation.task_curves import CommonCurves, OwnCurves, OwnTerms
from examiner.irt.estimation.usable_responses import (
    agent_totals,
    biserial_start,
    suitable_kind,
    task_totals,
)
from examiner.irt.estimation.windows import Windows
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Unknowns
from examiner.irt.posterior import Quadrature, moments, posterior_weights
from examiner.results import ResponseMatrix

_SPACING = 0.8
"""Sums over a Gaussian then err by 8e-14 (see `Quadrature.for_items`)."""
_SHORT = 100
"""Tests of so many tasks can afford nodes closer by far."""
_SMALL = 200_000
"""Up to this many cells are kept as float64, more as float32."""
_REACH_IN_SDS = 8.0
"""How far around an agent's mode its posterior is looked at, in posterior standard deviations."""
_SMALL_AND_COMPLETE = 2_000_000
"""The same where all agents were given the same trials: the products are fewer."""
_BLOCK = 64


class Totals(NamedTuple):
    """Sums over agents: successes and trials of each task, and Σ log C(n, k)."""

    won: Floats
    tried: Floats
    constant: float

    @classmethod
    def of(cls, matrix: ResponseMatrix) -> Totals:
        """Return those of a matrix."""
        won, tried = task_totals(matrix)
        return cls(won, tried, float(log_choices(matrix).sum()))


def kind_for(cells: ResponseMatrix | int, most: int, *, complete: bool) -> type[np.floating]:
    """Return double precision for few cells, and for several trials of a cell; single for many of one.

    Only of zeros and ones sums of halves are exact.
    """
    if most > 1:
        return np.float64
    return suitable_kind(cells, _SMALL_AND_COMPLETE if complete else _SMALL)


def pace_for(tasks: int) -> Pace:
    """Return how finely to integrate and when to stop."""
    return Pace(
        _SPACING if tasks > _SHORT else 0.4 * _SPACING,
        reach=9.0,  # what lies beyond weighs 1e-19
        relaid=(3, 10, 30, 100, 300),
        fresh=8,
        tolerance=1e-6,
        noise=1e-12,
    )


class CountSource:
    """Names, counts and a start: what sources of successes share, with `won` in an order of their own.

    Some agents of many are a source too, whose statistics add up with those of the others: they are told
    their `totals` where these are known.
    """

    response: Response = "binomial"

    def __init__(
        self,
        matrix: ResponseMatrix,
        kind: type[np.floating],
        order: NDArray[np.intp] | None = None,
        totals: Totals | None = None,
    ) -> None:
        self.agents, self.tasks = matrix.agents, matrix.tasks
        self._order = slice(None) if order is None else order
        # Products with a vector cost little in lists of cells, whose sums in a row are rounded alike.
        listed = matrix.observed_cells is not None
        self.won = counts_of(matrix, 0, self._order, np.float64 if listed else kind)
        self.totals = Totals.of(matrix) if totals is None else totals
        self.trials = self.totals.tried / len(self.agents)
        self.pace = pace_for(len(self.tasks))

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether curves run from 0 to 1 and trials of a cell are independent."""
        return unknowns.is_plain

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from shares and from correlations with the total score."""
        return biserial_start(
            self.won, self.totals.won, self.totals.tried, shared_slope=shared_slope
        )

    def statistics(
        self,
        found: Expected,
        items: ItemParameters,
        nodes: Floats,
        mass: Floats,
        rising: NDArray[np.floating],
        trials: Floats,
    ) -> ExponentialStatistics:
        """Return what the M-step is told, from the posteriors of s_j θ − A_j(θ) alone."""
        totals = self.totals
        return ExponentialStatistics(
            float(found.log_likelihood + items.intercept @ totals.won) + totals.constant,
            found.ability,
            found.variance,
            nodes,
            mass,
            trials,
            rising,
            totals.won,
            added_over_agents(self.won, found.ability[self._order]),
        )


def windows_of(matrix: ResponseMatrix) -> Windows:
    """Return agents in blocks of like success."""
    won, tried = agent_totals(matrix)
    return Windows((won + 1.0) / (tried + 2.0), agents_together(matrix, _BLOCK), tried)


class PatternedSource(CountSource):
    """Agents were given different trials: some cells are missing, or trials vary.

    Agents are sorted by success and taken in blocks, and each block looks only at the nodes where
    its posteriors live: A and the mass cost two matrix products over those few nodes.
    """

    def __init__(
        self,
        matrix: ResponseMatrix,
        curves: OwnCurves | None = None,
        windows: Windows | None = None,
        totals: Totals | None = None,
    ) -> None:
        if curves is None:
            # Products of lists of cells are not split.
            listed = matrix.observed_cells is not None
            most = 2 if listed else int(matrix.trials.max(initial=0))
            curves = OwnCurves(kind_for(matrix, most, complete=False))
        self._curves = curves
        self._windows = windows_of(matrix) if windows is None else windows
        super().__init__(matrix, curves.kind, self._windows.order, totals)
        self._given = counts_of(matrix, 1, self._windows.order, curves.kind)

    def expected(self, items: ItemParameters, rule: Quadrature) -> ExponentialStatistics:
        """Return the statistics of one E-step from two products over each block's few nodes."""
        nodes, terms = rule.nodes, self._curves.of(items, rule)
        score = added_in_double(self.won, items.slope)
        mass = np.zeros((nodes.size, len(items)))
        if not self._windows.begun:
            self._windows.begin(rule, *self._foreseen(terms))

        def joint(rows: slice, window: slice) -> Floats:
            density = np.multiply.outer(score[rows], nodes[window])
            density -= times_curves(self._given[rows], terms.plus(window))
            density += rule.log_weights[window]
            return density

        def use(rows: slice, window: slice, weights: Floats) -> None:
            add_mass(mass[window], self._given[rows], weights)

        found = self._windows.sweep(rule, joint, use)
        return self.statistics(found, items, nodes, mass.T, terms.rising.T, np.ones(len(items)))

    def _foreseen(self, terms: OwnTerms) -> tuple[Floats, Floats]:
        """The share of successes that is expected at each node, and the information of one trial there."""
        terms.plus(slice(None))
        share = self.totals.tried / self.totals.tried.sum()
        bend = share * terms.items.slope**2
        return terms.rising @ share, terms.rising @ bend - np.square(terms.rising) @ bend


class CompleteSource(CountSource):
    """Successes of agents that were all given the same trials of each task.

    A and the posterior mass in trials are then the same function of ability for every agent, and an
    E-step is two products of the data with a vector.
    """

    def __init__(
        self,
        matrix: ResponseMatrix,
        curves: CommonCurves | None = None,
        totals: Totals | None = None,
        kind: type[np.floating] | None = None,
    ) -> None:
        if curves is None:
            curves = CommonCurves(matrix.trials[0].astype(np.float64))
        if kind is None:
            kind = kind_for(matrix.successes.size, int(curves.trials.max()), complete=True)
        self._curves = curves
        super().__init__(matrix, kind, None, totals)

    def expected(self, items: ItemParameters, rule: Quadrature) -> ExponentialStatistics:
        """Return the statistics of one E-step from two products of the data with a vector."""
        places, total, rate, rising = self._curves.of(items, rule)
        score = added_in_double(self.won, items.slope)
        found, mass = _posteriors(score, total, rate, rule)
        mass = mass if places.spread is None else mass @ places.spread
        return self.statistics(found, items, places.at, mass, rising, self._curves.trials)


def _posteriors(
    score: Floats, total: Floats, rate: Floats, rule: Quadrature
) -> tuple[Expected, Floats]:
    """What is known of every agent, and the mass at every node."""
    nodes, base = rule.nodes, rule.log_weights - total
    half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else nodes.size
    width = 2 * half + 1
    if nodes.size <= 2 * width:
        joint = np.multiply.outer(score, nodes)
        joint += base
        log_marginal, weights = posterior_weights(joint)
        known = Expected(float(log_marginal.sum()), *moments(weights, nodes))
        return known, weights.sum(axis=0)
    # The mode of s θ − A(θ) − θ²/2 is where A'(θ) + θ, which only rises, reaches s.
    centre = np.searchsorted(rate + nodes, score)
    first = np.clip(centre - half, 0, nodes.size - width)
    window = first[:, None] + np.arange(width)
    around = nodes[window]
    joint = score[:, None] * around
    joint += base[window]
    log_marginal, weights = posterior_weights(joint)
    mean = (weights * around).sum(axis=1)
    around -= mean[:, None]
    around *= around
    variance = (weights * around).sum(axis=1)
    mass = np.bincount(window.ravel(), weights.ravel(), minlength=nodes.size).astype(np.float64)
    return Expected(float(log_marginal.sum()), mean, variance), mass

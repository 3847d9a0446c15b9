"""The EM driver: from one start to one optimum, whatever the responses are and wherever they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from examiner.irt.estimation.fixed_point import Arrival, Pace, Stepped, fixed_point
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Point, Unknowns
from examiner.irt.posterior import REACH, Quadrature

if TYPE_CHECKING:
    from examiner.irt.estimation.sources import ResponseSource

_ROUGHLY, _ROUGH = (0.05, 0.02), 10
"""How far two rough climbs settle, and within how many iterations: enough to tell how slopes spread."""
_MOST_STRETCH = 0.5


class Ahead(NamedTuple):
    """A point beyond that of an EM iteration, and how much higher that iteration is expected to lead."""

    point: Point
    gain: float


class AbilityMoments(NamedTuple):
    """Posterior means and variances of agents, each [agents]."""

    ability: Floats
    variance: Floats

    @property
    def spread(self) -> tuple[float, float]:
        """The mean and the standard deviation of ability over agents and their posteriors."""
        mean = float(self.ability.mean())
        variance = float(self.variance.mean() + ((self.ability - mean) ** 2).mean())
        return mean, float(np.sqrt(variance))


@dataclass(frozen=True, slots=True)
class Expected:
    """What one E-step found: the log-likelihood, posterior means and variances of agents, and more.

    What more there is only the M-step knows, and so it belongs to it.
    """

    log_likelihood: float
    ability: Floats
    variance: Floats

    def raised(self, unknowns: Unknowns, at: Point) -> Point:
        """Return the parameters after one step up the expected log-likelihood and the log-priors."""
        raise NotImplementedError

    def ahead(self, unknowns: Unknowns, at: Point, raised: Point, moved: Point) -> Ahead | None:
        """Return a point beyond what the step `raised`, and the scale `moved`, where it can be told."""
        return None

    def slope_information(self, unknowns: Unknowns, at: Point) -> Floats:
        """Return the information that responses and abilities together hold on each slope, [tasks]."""
        raise NotImplementedError

    @property
    def moments(self) -> AbilityMoments:
        """The posterior means and variances of agents."""
        return AbilityMoments(self.ability, self.variance)


class Optimum(NamedTuple):
    """Where a climb ended: the parameters, what is expected under them, and how it was reached."""

    items: ItemParameters
    expected: Expected
    objective: float
    iterations: int
    settled: bool
    rule: Quadrature
    populations: Floats
    """Those of editions but the first."""


def with_spread(
    source: ResponseSource,
    unknowns: Unknowns,
    start: Point,
    *,
    fixed: Quadrature | None = None,
) -> tuple[Unknowns, Point, Quadrature | None]:
    """Find how far slopes spread around their common scale, a start close to the optimum, and its nodes.

    Where each task has its own slope and the prior leaves their scale free, and where tasks of later
    editions are expected to be as difficult as their takers are able; nothing is done otherwise. These are
    numbers about all tasks, so that a few rough climbs are enough to find them.
    """
    prior = None if "slope" in unknowns.shared else unknowns.relative
    if prior is None and (unknowns.editions is None or unknowns.priors is None):
        return unknowns, start, None
    at, climbing = start, _Climb(source, unknowns, fixed)
    for tolerance in _ROUGHLY:
        pace = source.pace._replace(tolerance=max(tolerance, source.pace.tolerance))
        climbing.unknowns = unknowns
        reached = climbing.settled(at, pace, most=_ROUGH)
        at = unknowns.split(reached.point)
        unknowns = unknowns.expecting(at)
        if prior is None:
            continue
        scaled = unknowns.scaled(at)
        assert scaled.scale is not None
        expected = climbing.expected(at)
        slope_information = expected.slope_information(scaled, at)
        unknowns = replace(
            unknowns, spread=prior.spread(unknowns.slopes(at), slope_information, scaled.scale)
        )
    return unknowns, at, climbing.rule


def climb(
    source: ResponseSource,
    unknowns: Unknowns,
    start: Point,
    *,
    fixed: Quadrature | None = None,
    near: Quadrature | None = None,
    most: int = 2000,
) -> Optimum:
    """Run EM from one start until parameters or objective settle.

    `fixed` nodes are kept as they are, and nodes `near` the optimum are begun with.
    """
    climbing = _Climb(source, unknowns, fixed, near)
    pace = source.pace
    if unknowns.relative is not None:  # tasks move together, so that a short move says less
        pace = pace._replace(tolerance=0.2 * pace.tolerance)
    arrival = climbing.settled(start, pace, most=most)
    if fixed is None and arrival.iterations > climbing.grid_iteration + source.pace.fresh:
        climbing.rule = None
    at = unknowns.split(arrival.point)
    expected = climbing.expected(at)
    objective = expected.log_likelihood + unknowns.log_prior(at)
    assert climbing.rule is not None
    return Optimum(
        unknowns.items(at),
        expected,
        objective,
        arrival.iterations,
        arrival.settled,
        climbing.rule,
        at.populations,
    )


@dataclass(slots=True)
class _Climb:
    """One EM iteration as a function of a point; keeps the quadrature it uses."""

    source: ResponseSource
    unknowns: Unknowns
    fixed: Quadrature | None
    rule: Quadrature | None = None
    count: int = 0
    grid_iteration: int = 0
    last: Expected | None = None

    def settled(self, start: Point, pace: Pace, *, most: int) -> Arrival:
        """Iterate from a start until parameters or objective settle."""
        unknowns = self.unknowns
        return fixed_point(
            self,
            unknowns.joined(start),
            pace,
            most=most,
            bounds=unknowns.bounds(),
            weigh=unknowns.weights,
        )

    def __call__(self, vector: Floats) -> Stepped:
        self.count += 1
        if self.fixed is None and self.count in self.source.pace.relaid:
            self.rule = None
        at = self.unknowns.split(vector)
        scaled = self.unknowns.scaled(at)
        expected = self.expected(at)
        objective = expected.log_likelihood + scaled.log_prior(at)
        raised, members = expected.raised(scaled, at), expected.moments
        editions = self.unknowns.editions
        if editions is not None:
            after = editions.raised(at.populations, *members)
            raised = raised._replace(populations=after)
            members = AbilityMoments(*(part[editions.reference] for part in members))
        if self.fixed is not None or (self.unknowns.priors is not None and scaled.scale is None):
            # Fixed priors are not invariant, and given nodes cannot be moved along.
            return Stepped(objective, self.unknowns.joined(raised))
        # The population's mean and sd are freed, and the scale moved back to N(0, 1): PX-EM (Liu, Rubin &
        # Wu 1998).
        free = members.spread
        if self.unknowns.priors is not None:
            free = _shift_and_stretch(members, scaled, at)
        moved = self.unknowns.rescaled(raised, *free)
        following, further = self.unknowns.joined(moved), expected.ahead(scaled, at, raised, moved)
        if further is None:
            return Stepped(objective, following)
        return Stepped(objective, following, self.unknowns.joined(further.point), further.gain)

    def expected(self, at: Point) -> Expected:
        items, editions = self.unknowns.items(at), self.unknowns.editions
        if self.rule is None:
            self.rule = self.fixed or self._grid(items, at.populations)
            self.grid_iteration = self.count
        rule = self.rule if editions is None else editions.rule(self.rule, at.populations)
        self.last = self.source.expected(items, rule)
        return self.last

    def _grid(self, items: ItemParameters, populations: Floats) -> Quadrature:
        trials = self.source.trials
        if items.response == "beta-binomial" and items.precision is not None:
            # n trials that correlate by 1 / (ν + 1) tell as much as fewer independent ones
            trials = trials / (1.0 + np.maximum(trials - 1.0, 0.0) / (items.precision + 1.0))
        ends = (-REACH, REACH)
        if self.unknowns.editions is not None:
            ends = self.unknowns.editions.reach(populations, REACH)
        rule = Quadrature.for_items(items, trials, spacing=self.source.pace.spacing, ends=ends)
        if self.last is None:
            return rule
        reach = self.source.pace.reach * np.sqrt(np.maximum(self.last.variance, 1e-300))
        low, high = self.last.ability - reach, self.last.ability + reach
        return rule.between(float(low.min()), float(high.max()))


def _shift_and_stretch(found: AbilityMoments, unknowns: Unknowns, at: Point) -> tuple[float, float]:
    r"""How far to shift and to stretch abilities, where slopes have a free common scale.

    EM crawls along these two directions, in which every task moves alike. Along them the marginal
    likelihood rises by Σⱼ E[θⱼ] and Σⱼ (E[θⱼ²] − 1) for each unit of the zero and of log c (integrate
    θ times the derivative of the posterior by parts), and bends by about n and 2 Σⱼ E[θⱼ]². A Newton
    step with the priors of intercepts and of log c is what the population's mean and sd are without.
    Of several editions the agents `found` are those of the reference: the populations of others move along.
    """
    prior, scale = unknowns.relative, unknowns.scale
    assert prior is not None and scale is not None
    agents, ability = found.ability.size, found.ability
    slope, intercept = unknowns.slopes(at), at.own[unknowns.own.index("intercept")]
    mean, tightness = unknowns.pull("intercept")
    rise = float(ability.sum()) - float((tightness * (intercept - mean) * slope).sum())
    bend = agents + float((tightness * np.broadcast_to(slope, intercept.shape) ** 2).sum())
    if unknowns.editions is not None:
        pull = unknowns.editions.pull(at.populations)
        rise, bend = rise + pull.shift, bend + pull.shift_bend
    squares = float((found.variance + ability**2).sum())
    higher = squares - agents + prior.log_scale.slope_at(float(np.log(scale.common)))
    curvature = 2 * float(ability @ ability) + prior.log_scale.sd**-2
    if unknowns.editions is not None:
        higher, curvature = higher + pull.stretch, curvature + pull.stretch_bend
    stretch = np.clip(higher / curvature, -_MOST_STRETCH, _MOST_STRETCH)
    return float(np.clip(rise / bend, -1.0, 1.0)), float(np.exp(stretch))

"""What a model is: which parameters are free or shared, the scale they are estimated on, their priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from examiner.irt.editions import Editions
from examiner.irt.items import NEVER, Floats, ItemParameters, Response, positions
from examiner.irt.priors import Priors, RelativeSlopes, SlopeScale

Parameter = Literal["slope", "intercept", "guessing", "slip", "precision", "zero_cut", "cut_gap"]
"""What may be free. `guessing` is γ and `slip` ζ with c = e^γ / (1 + e^γ + e^ζ) and
1 − u = e^ζ / (1 + e^γ + e^ζ), so that c < u whatever they are; `precision` is log ν, log φ or −log σ²;
`zero_cut` is k₀ of scores of exactly 0, and `cut_gap` log(k₁ − k₀), so that k₀ < k₁ whatever they are."""
CUTS: tuple[Parameter, ...] = ("zero_cut", "cut_gap")

LARGEST = 80.0
"""Slopes and intercepts are kept within ±80: a curve that steep is a step, and is flagged."""
_LOWEST_LOGIT = -10.0
"""A chance of guessing or slipping below 5e-5 is none, and is flagged."""
BOUNDS: Mapping[Parameter, tuple[float, float]] = MappingProxyType(
    {
        "slope": (-LARGEST, LARGEST),
        "intercept": (-LARGEST, LARGEST),
        "guessing": (_LOWEST_LOGIT, 5.0),
        "slip": (_LOWEST_LOGIT, 5.0),
        "precision": (-5.0, 12.0),
        "zero_cut": (-NEVER, NEVER),
        "cut_gap": (float(np.log(0.05)), float(np.log(2 * NEVER))),
    }
)
"""The lowest and the highest value of a parameter on the estimated scale."""

_ANY_UNIT = (-80.0, 80.0)
"""The ends of the log precision of scores that have units: standard deviations from 4e-18 to 2e17."""
_BEGUN: Mapping[Parameter, float] = MappingProxyType(
    {
        "guessing": np.log(0.1 / 0.85),
        "slip": np.log(0.05 / 0.85),
        "precision": np.log(10.0),
        "zero_cut": -4.0,
        "cut_gap": np.log(8.0),
    }
)
"""Where fits start: a chance of 0.1 to guess and of 0.05 to slip, trials that correlate by 0.09, and one
score in fifty at each end."""
_INTEGRATED_OUT = 1.0
"""A precision that is highest together with its task's slope and intercept is too high, as a variance
without its degrees of freedom is too low. Their information grows with φ, so that integrating the two out
(Laplace) takes half of log φ off the log-posterior for each."""
_EXTRA: Mapping[Response, tuple[Parameter, ...]] = MappingProxyType(
    {"beta-binomial": ("precision",), "beta": CUTS}
)
"""What all tasks share because of how their responses scatter, whatever the model."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of responses, as data over one mathematics."""

    name: str
    title: str
    free: tuple[Parameter, ...]
    shared: tuple[Parameter, ...] = ()
    responses: tuple[Response, ...] = ("binomial", "beta-binomial")
    unit_slopes: bool = False
    """Report slopes of 1 and the population's standard deviation instead of one common slope."""
    held: tuple[Parameter, ...] = ()
    """What is not estimated but kept where the prior expects it."""

    def holding(self, parameters: tuple[Parameter, ...]) -> Model:
        """Return the same model with these parameters of tasks held where the prior expects them.

        >>> Model("3pl", "", free=("slope", "intercept", "guessing")).holding(("guessing",)).free
        ('slope', 'intercept')
        """
        free = tuple(name for name in self.free if name not in parameters)
        constant = tuple(name for name in self.free if name in parameters)
        return replace(self, free=free, held=self.held + constant)

    def with_one_slope(self) -> Model:
        """Return the same model with one slope for all tasks.

        >>> Model("2pl", "", free=("slope", "intercept")).with_one_slope().shared
        ('slope',)
        """
        if "slope" not in self.free:
            return replace(self, unit_slopes=False)
        free = tuple(name for name in self.free if name != "slope")
        return replace(self, free=free, shared=("slope", *self.shared))


class Point(NamedTuple):
    """Parameters on the estimated scale: `own` [own parameters, tasks], and the `shared` numbers."""

    own: Floats
    shared: Floats
    populations: Floats = np.zeros(0)
    """Those of editions but the first (see `Editions`)."""


@dataclass(frozen=True, slots=True)
class Unknowns:
    """What is estimated from responses: parameters of each task, those all tasks share, and priors.

    `scale` is that of slopes where it is known. Where the prior leaves it free it is found along with
    the slopes (`scaled`), but for the spread of slopes, which `spread` holds.
    """

    tasks: tuple[str, ...]
    response: Response
    own: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    priors: Priors | None
    spread: float | None = None
    scale: SlopeScale | None = None
    near: Floats | None = None
    """Slopes at which the prior of slopes is told as a normal for each task."""
    held: tuple[tuple[Parameter, float], ...] = ()
    """Parameters that are not estimated, and where they are kept on the estimated scale."""
    landmark: float = 0.0
    """The score at which difficulty is told, of scores that have no ends."""
    centre: Floats | None = field(default=None, compare=False)
    """What intercepts of such scores count from, [tasks]."""
    editions: Editions | None = field(default=None, compare=False)
    """Which edition agents are of, where each has a population of its own."""
    away: Floats | None = field(default=None, compare=False)
    """How far from the prior's mean intercepts are expected, for the takers of each task [tasks]."""

    @classmethod
    def of(
        cls, model: Model, response: Response, tasks: tuple[str, ...], priors: Priors | None
    ) -> Unknowns:
        """Return what a model leaves free; some responses add numbers for all tasks."""
        extra = _EXTRA.get(response, ())
        constant = tuple((name, (priors or Priors()).pull(name)[0]) for name in model.held)
        unknowns = cls(tasks, response, model.free, model.shared + extra, priors, held=constant)
        relative = unknowns.relative
        return unknowns if relative is None else replace(unknowns, spread=relative.expected_spread)

    @property
    def relative(self) -> RelativeSlopes | None:
        """The prior of slopes, where it leaves their common scale free."""
        prior = None if self.priors is None else self.priors.slope
        return prior if isinstance(prior, RelativeSlopes) else None

    @property
    def names(self) -> tuple[Parameter, ...]:
        """Every estimated parameter: those of a task, then the shared."""
        return self.own + self.shared

    @property
    def is_plain(self) -> bool:
        """Whether curves run from 0 to 1 and trials of a cell are independent, as in the 1PL and 2PL."""
        return set(self.names) == {"slope", "intercept"} and not self.held

    @property
    def count(self) -> int:
        """How many numbers are estimated."""
        return len(self.own) * len(self.tasks) + len(self.shared) + self.populations

    @property
    def populations(self) -> int:
        """How many numbers are estimated of the populations of editions."""
        return 0 if self.editions is None else self.editions.count

    def joined(self, at: Point) -> Floats:
        """Return one vector: shared numbers, those of tasks, parameter by parameter, and of populations."""
        return np.concatenate([at.shared, at.own.ravel(), at.populations])

    def split(self, vector: Floats) -> Point:
        """Return the parts of what `joined` gave."""
        cut, end = len(self.shared), len(vector) - self.populations
        return Point(vector[cut:end].reshape(len(self.own), -1), vector[:cut], vector[end:])

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest vector allowed."""
        ends = np.array([self.bounds_of(name) for name in self.shared + self.own])
        counts = [1] * len(self.shared) + [len(self.tasks)] * len(self.own)
        every = np.repeat(ends, counts, axis=0)
        if self.editions is not None:
            every = np.concatenate([every, self.editions.bounds()])
        low, high = every.T
        return low, high

    def weights(self, vector: Floats) -> Floats:
        """Return how much of a move of each coordinate counts: of the logit of a small chance, little."""
        at = self.split(vector)
        return self.joined(
            Point(self.own_weights(at.own), np.ones_like(at.shared), np.ones_like(at.populations))
        )

    def own_weights(self, own: Floats) -> Floats:
        """Return the same of parameters of tasks, [own, tasks]."""
        weights = np.ones_like(own)
        for row, name in enumerate(self.own):
            if name in ("guessing", "slip"):
                # chances below this matter less the smaller they are
                weights[row] = np.minimum(np.exp(own[row]) / 0.05, 1.0)
        return weights

    def items(self, at: Point, tasks: tuple[str, ...] | None = None) -> ItemParameters:
        """Return what the user reads: c and 1 − u are e^γ and e^ζ over 1 + e^γ + e^ζ.

        Not checked, since it is made many times in a fit. `tasks` are those of the point where it has
        some tasks only.
        """
        names = self.tasks if tasks is None else tasks
        read: dict[str, Floats] = dict(zip(self.own, at.own, strict=True))
        for name, value in (*zip(self.shared, at.shared, strict=True), *self.held):
            read[name] = np.full(len(names), value)
        none = np.zeros(len(names))
        up, down = (
            np.exp(np.clip(read[name], -30, 30)) if name in read else none
            for name in ("guessing", "slip")
        )
        whole = 1.0 + up + down
        cuts = None
        if "zero_cut" in read:
            cuts = np.stack([read["zero_cut"], read["zero_cut"] + np.exp(read["cut_gap"])], axis=1)
        return ItemParameters(
            names,
            read["slope"],
            read["intercept"],
            up / whole,
            1.0 - down / whole,
            np.exp(read["precision"]) if "precision" in read else None,
            self.response,
            cuts,
            *self._marks(names),
        )

    def start(self, slope: Floats, intercept: Floats, precision: Floats | None = None) -> Point:
        """Return a point around a 2PL, with some guessing, slipping and scatter."""
        values: dict[str, Floats] = {name: np.full(len(slope), at) for name, at in _BEGUN.items()}
        values |= {"slope": slope, "intercept": intercept}
        if precision is not None:
            values["precision"] = np.log(precision)
        return Point(
            np.stack([values[name] for name in self.own]),
            np.array([values[name][0] for name in self.shared]),
            np.zeros(self.populations),
        )

    def slopes(self, at: Point) -> Floats:
        """Return the slopes of a point: [tasks], or one where it is shared or held."""
        if "slope" in self.own:
            return np.asarray(at.own[self.own.index("slope")])
        if "slope" not in self.shared:
            return np.array([dict(self.held)["slope"]])
        return np.asarray(at.shared[[self.shared.index("slope")]])

    def scaled(self, at: Point) -> Unknowns:
        """Return the same with the scale of slopes that is likeliest at a point, where it is free."""
        return self.scaled_by(self.slopes(at))

    def expecting(self, at: Point) -> Unknowns:
        """Return the same with tasks expected to be as difficult as their takers are able on average."""
        if self.editions is None or self.priors is None:
            return self
        return replace(self, away=-self.slopes(at) * self.editions.centres(at.populations))

    def scaled_by(self, slope: Floats) -> Unknowns:
        """Return the same with the scale that is likeliest for slopes, and priors that touch there."""
        return replace(self, scale=self._scale_of(slope), near=slope)

    def scale_of(self, items: ItemParameters) -> SlopeScale | None:
        """Return the scale of slopes that is likeliest for these, where the prior leaves it free."""
        return self._scale_of(items.slope if "slope" in self.own else items.slope[:1])

    def _scale_of(self, slope: Floats) -> SlopeScale | None:
        if self.relative is None or self.spread is None:
            return None
        if "slope" in self.shared:
            return SlopeScale(float(slope[0]), 0.0)
        return SlopeScale(self.relative.common(slope, self.spread), self.spread)

    def pull(self, parameter: Parameter) -> tuple[float, float] | tuple[Floats, Floats]:
        """Return the mean and the curvature of a parameter's prior, of all tasks or of each; 0 without."""
        if self.priors is None or self._has_units(parameter):
            return 0.0, 0.0
        if parameter == "slope" and self.relative is not None:
            assert self.scale is not None
            if "slope" in self.shared:
                return self.relative.shared_pull(self.scale.common)
            assert self.near is not None
            return self.relative.pull(self.near, self.scale)
        mean, tightness = self.priors.pull(parameter)
        if parameter == "intercept" and self.away is not None:
            return mean + self.away, np.full(len(self.tasks), tightness)
        if parameter == "precision" and self.response == "beta":
            mean -= _INTEGRATED_OUT / tightness
        return mean, tightness

    def pulls(self) -> tuple[Floats, Floats]:
        """Return the means and the curvatures of the priors of tasks, each [tasks, own]."""
        means, tightness = np.empty((2, len(self.tasks), len(self.own)))
        for column, name in enumerate(self.own):
            means[:, column], tightness[:, column] = self.pull(name)
        return means, tightness

    def log_prior(self, at: Point) -> float:
        """Return the log-priors without their constants, at the scale that is known or likeliest."""
        total = 0.0
        free = self.relative
        for name, values in zip(self.names, (*at.own, *at.shared), strict=True):
            if name == "slope" and free is not None:
                scale = self.scaled(at).scale if self.scale is None else self.scale
                assert scale is not None
                alike = SlopeScale(scale.common, scale.spread or 1.0)
                total += free.log_prior(np.atleast_1d(values), alike)
                continue
            mean, tightness = self.pull(name)
            away = values - mean
            total -= 0.5 * float(np.sum(tightness * away**2))
        if self.editions is not None:
            total += self.editions.log_prior(at.populations)
        return total

    def bounds_of(self, parameter: Parameter) -> tuple[float, float]:
        """Return the lowest and highest value; one slope for all, whose logarithm is free, is positive."""
        unit = self._has_units(parameter) and parameter == "precision"
        low, high = _ANY_UNIT if unit else BOUNDS[parameter]
        alone = parameter == "slope" and "slope" in self.shared and self.relative is not None
        # one slope for all tasks that is flatter does not discriminate between agents
        return (1e-4, high) if alone else (low, high)

    def _marks(self, tasks: tuple[str, ...]) -> tuple[Floats | None, Floats | None]:
        """The landmark and the centres of scores that have no ends."""
        if self.response != "normal":
            return None, None
        landmark = np.full(len(tasks), self.landmark)
        if self.centre is None:
            return landmark, landmark
        if len(tasks) == len(self.tasks):
            return landmark, self.centre
        return landmark, self.centre[positions(self.tasks, tasks)]

    def _has_units(self, parameter: Parameter) -> bool:
        """Whether a parameter depends on the units of scores, so that nothing is known of it beforehand."""
        return parameter in ("precision", "intercept") and self.response == "normal"

    def rescaled(self, at: Point, mean: float, sd: float) -> Point:
        """Return the same curves for abilities that have been shifted and stretched to N(0, 1)."""
        of_tasks, shared = at.own.copy(), at.shared.copy()
        table, names = (of_tasks, self.own) if "slope" in self.own else (shared, self.shared)
        row = names.index("slope")
        of_tasks[self.own.index("intercept")] += table[row] * mean
        table[row] *= sd
        populations = at.populations
        if self.editions is not None:
            populations = self.editions.rescaled(populations, mean, sd)
        return Point(of_tasks, shared, populations)


def moved(items: ItemParameters, parameter: Parameter, step: float | Floats) -> ItemParameters:
    """Return the tasks with one parameter moved on the scale on which it is estimated, all or each."""
    if parameter == "slope":
        return replace(items, slope=items.slope + step)
    if parameter == "intercept":
        return replace(items, intercept=items.intercept + step)
    if parameter == "precision":
        assert items.precision is not None
        return replace(items, precision=items.precision * np.exp(step))
    if parameter in CUTS:
        assert items.cuts is not None
        low, high = items.cuts.T
        if parameter == "zero_cut":
            return replace(items, cuts=items.cuts + np.reshape(step, (-1, 1)))
        return replace(items, cuts=np.stack([low, low + (high - low) * np.exp(step)], axis=1))
    low, middle, high = items.guessing, items.ceiling - items.guessing, 1.0 - items.ceiling
    if parameter == "guessing":
        low = low * np.exp(step)
    else:
        high = high * np.exp(step)
    total = low + middle + high
    return replace(items, guessing=low / total, ceiling=(low + middle) / total)

"""ItemParameters: what a model says of each task; its curve and its Fisher information follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.irt.estimation.arrays import trigamma
from examiner.messages import InputError, counted, listed, shorten
from examiner.validation import Axes, Bounds, check_names, read_only

Floats = NDArray[np.float64]
Response = Literal["binomial", "beta-binomial", "beta", "normal"]
"""How responses scatter around the curve: successes of trials, the same with trials of one agent on one
task alike, a score in [0, 1], or a score without ends."""
SCORES: tuple[Response, ...] = ("beta", "normal")
"""Responses that are scores, one a cell, and not successes of trials."""
LARGEST = 1e75
"""Larger estimates and errors are damage: their squares would overflow."""
Estimates = Annotated[Floats, Bounds(-LARGEST, LARGEST, f"a number up to {LARGEST:g}")]
StandardErrors = Annotated[Floats, Bounds(0.0, LARGEST, f"errors from 0 to {LARGEST:g}")]
PerTask = Annotated[Estimates, Axes("tasks")]
NEVER = 30.0
"""Cuts so far out that no score is exactly 0 or 1: the chance is 1e-13."""
_MOST = 500.0
"""Logits beyond ±500 are the same as ±500: exp(−500) is still a normal number, 7e-218."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemParameters:
    """The curves of tasks: P(θ) = c + (u − c) σ(aθ + d), in slope and intercept.

    `difficulty` is b = −d / a, so that aθ + d = a (θ − b), and `discrimination` is a. `precision`
    is ν of the beta-binomial (infinite: binomial), φ of the beta model or 1 / σ² of the normal one, in
    units of the scores, and None for the binomial. A beta score is exactly 0 with the chance
    σ(k₀ − aθ − d) and exactly 1 with σ(aθ + d − k₁): `cuts` are k₀ and k₁ of each task. A normal score
    is `centre` + σ (aθ + d + noise), and difficulty is the ability at which it is expected to reach the
    `landmark`: b = −(d + (centre − landmark) / σ) / a.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, -1], intercept=[1, 1])
    >>> items.difficulty
    array([-0.5,  1. ])
    """

    tasks: Annotated[tuple[str, ...], Axes("tasks")]
    slope: PerTask
    intercept: PerTask
    guessing: PerTask
    ceiling: PerTask
    precision: PerTask | None = None
    response: Response = "binomial"
    cuts: Annotated[Floats, Axes("tasks", "ends")] | None = None
    landmark: PerTask | None = None
    centre: PerTask | None = None

    @classmethod
    def of(
        cls,
        tasks: Iterable[str],
        slope: ArrayLike,
        intercept: ArrayLike | None = None,
        *,
        difficulty: ArrayLike | None = None,
        guessing: ArrayLike = 0.0,
        ceiling: ArrayLike = 1.0,
        precision: ArrayLike | None = None,
        response: Response = "binomial",
        cuts: ArrayLike | None = None,
        landmark: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> ItemParameters:
        """Build parameters from slopes and either intercepts or difficulties; single numbers spread.

        Scores of the beta model are never exactly 0 or 1 unless `cuts` (k₀, k₁) are given; the landmark of
        the normal one is 0 unless given, and its centre, from which intercepts count, is the landmark.

        >>> ItemParameters.of(["t"], slope=2, difficulty=0.5).intercept
        array([-1.])
        """
        names = check_names(tuple(tasks), "tasks")
        if (intercept is None) == (difficulty is None):
            raise InputError(
                "Give the intercepts or the difficulties of the tasks: one of the two."
            )
        if response not in get_args(Response):
            raise InputError(
                f"The response is {response!r}. Choose one of: {', '.join(get_args(Response))}."
            )
        if (precision is None) != (response == "binomial"):
            raise InputError(
                f"The response {response} {'has no' if response == 'binomial' else 'needs a'} "
                f"precision. Leave it out for the binomial, give it for the others."
            )
        a = _spread(slope, len(names), "slope")
        d = (
            _spread(intercept, len(names), "intercept")
            if intercept is not None
            else -a * _spread(difficulty, len(names), "difficulty")
        )
        c = _spread(guessing, len(names), "guessing")
        u = _spread(ceiling, len(names), "ceiling")
        wrong = ~((c >= 0) & (c < u) & (u <= 1))
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"The task {shorten(names[first])} has guessing {c[first]:g} and ceiling {u[first]:g}. "
                f"They must satisfy 0 ≤ guessing < ceiling ≤ 1."
            )
        if response in SCORES and not (c == 0).all() & (u == 1).all():
            raise InputError(
                f"Scores are not guessed: the response {response} has guessing 0 and ceiling 1."
            )
        phi = None
        if precision is not None:  # an infinite one makes the beta-binomial a binomial
            phi = _spread(precision, len(names), "precision", finite=response in SCORES)
        # errors divided by less would overflow
        if phi is not None and phi.min(initial=np.inf) < 1e-50:
            raise InputError(f"A precision of {phi.min():g} is given. It must be above 0.")
        ends = _cuts(cuts, len(names)) if response == "beta" else None
        mark = middle = None
        if response == "normal":
            mark = _spread(0.0 if landmark is None else landmark, len(names), "landmark")
            middle = mark if centre is None else _spread(centre, len(names), "centre")
        elif landmark is not None or centre is not None:
            raise InputError(f"The response {response} has no landmark. Leave it out.")
        if cuts is not None and response != "beta":
            raise InputError(f"The response {response} has no cuts. Leave them out.")
        return cls(names, a, d, c, u, phi, response, ends, mark, middle)

    @property
    def difficulty(self) -> Floats:
        """Ability at which the curve turns, b = −d / a: NaN where the slope is 0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(
                self.slope == 0, np.nan, -(self.intercept + self.above_landmark) / self.slope
            )

    @property
    def above_landmark(self) -> Floats:
        """How far the centre of normal scores lies above their landmark, in σ; 0 of other responses."""
        if self.centre is None or self.landmark is None or self.precision is None:
            return np.zeros(len(self.tasks))
        return np.asarray((self.centre - self.landmark) * np.sqrt(self.precision))

    @property
    def discrimination(self) -> Floats:
        """Slope a of the curve at its difficulty; negative where the able do worse."""
        return self.slope

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    def take(self, columns: Sequence[int] | NDArray[np.intp]) -> ItemParameters:
        """Return the parameters of some tasks, by position, in the order given.

        >>> ItemParameters.of(["t", "u"], [1, 2], [0, 0]).take([1]).tasks
        ('u',)
        """
        chosen = np.asarray(columns, dtype=np.intp)
        names = tuple(self.tasks[column] for column in chosen.tolist())
        parts = {name: part[chosen] for name, part in self._arrays().items()}
        return _frozen(replace(self, tasks=names, **parts))  # type: ignore[arg-type]

    def named(self, tasks: Sequence[str]) -> ItemParameters:
        """Return the parameters of these tasks, in their order.

        >>> ItemParameters.of(["t", "u"], [1, 2], [0, 0]).named(["u"]).slope
        array([2.])
        """
        if self.tasks == tuple(tasks):
            return self
        columns = positions(self.tasks, tasks)
        unknown = [tasks[number] for number in np.flatnonzero(columns < 0).tolist()]
        if unknown:
            raise InputError(
                f"No parameters are known of {listed(unknown)}. Leave these tasks out of the matrix."
            )
        return self.take(columns)

    def rescaled(self, shift: float, scale: float) -> ItemParameters:
        """Return the same curves for abilities θ' where θ = shift + scale · θ'.

        >>> ItemParameters.of(["t"], [1.0], [0.0]).rescaled(0.5, 2.0).slope
        array([2.])
        """
        intercept = self.intercept + self.slope * shift
        return _frozen(replace(self, slope=self.slope * scale, intercept=intercept))

    def _arrays(self) -> dict[str, Floats]:
        names = (
            "slope",
            "intercept",
            "guessing",
            "ceiling",
            "precision",
            "cuts",
            "landmark",
            "centre",
        )
        return {name: part for name in names if (part := getattr(self, name)) is not None}

    def __eq__(self, other: object) -> bool:
        """Same tasks in the same order, same numbers."""
        if not isinstance(other, ItemParameters):
            return NotImplemented
        if (self.tasks, self.response) != (other.tasks, other.response):
            return False
        mine, theirs = self._arrays(), other._arrays()
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # parameters compare by content

    def __repr__(self) -> str:
        return f"ItemParameters: {counted(len(self.tasks), 'task')}, {self.response}"


class Curves(NamedTuple):
    """Curves of tasks at abilities, each of shape [tasks, abilities].

    `rising` is σ(aθ + d) and `falling` its complement, both accurate near 0; `success` is P and
    `failure` 1 − P. Of normal scores, which have no ends, `success` is the line aθ + d itself, `failure`
    its negative, and the other two are 1. `cuts` and `centre` are those of the tasks.
    """

    rising: Floats
    falling: Floats
    success: Floats
    failure: Floats
    cuts: Floats | None = None
    centre: Floats | None = None

    def at(self, columns: slice) -> Curves:
        """Return the same at some of the abilities."""
        return self._replace(
            rising=self.rising[:, columns],
            falling=self.falling[:, columns],
            success=self.success[:, columns],
            failure=self.failure[:, columns],
        )


def logits(items: ItemParameters, abilities: Floats | float) -> Floats:
    """Return aθ + d, shape [tasks, abilities]."""
    at = np.atleast_1d(np.asarray(abilities, dtype=np.float64))
    return np.clip(items.slope[:, None] * at + items.intercept[:, None], -_MOST, _MOST)


def sigmoid_pair(eta: Floats) -> tuple[Floats, Floats]:
    """Return σ(η) and σ(−η), each accurate where it is small."""
    odds = np.exp(np.minimum(eta, 700.0))
    falling = 1.0 / (1.0 + odds)
    odds *= falling
    return odds, falling


def curves(items: ItemParameters, abilities: Floats | float) -> Curves:
    """Return the curves of every task at every ability.

    1 − P = (1 − u) + (u − c) σ(−η) keeps its digits where P is near 1.
    """
    if items.response == "normal":
        line = logits(items, abilities)
        even = np.ones_like(line)
        return Curves(even, even, line, -line, centre=items.centre)
    rising, falling = sigmoid_pair(logits(items, abilities))
    c, u = items.guessing[:, None], items.ceiling[:, None]
    success, failure = c + (u - c) * rising, (1.0 - u) + (u - c) * falling
    return Curves(rising, falling, success, failure, items.cuts)


item_curves = curves
"""Its name outside the package, where `curves` are those a user draws."""


def inverse_link(response: Response, eta: Floats) -> Floats:
    """Return σ(η), or Φ(η) where responses are normal scores: element by element, in any shape.

    >>> inverse_link("binomial", np.zeros(1)), inverse_link("normal", np.array([1.96])).round(3)
    (array([0.5]), array([0.975]))
    """
    if response != "normal":
        return sigmoid_pair(eta)[0]
    from scipy.special import ndtr

    return np.asarray(ndtr(eta))


def probability(
    items: ItemParameters, abilities: Floats | float, logit_shift: Floats | None = None
) -> Floats:
    """Return P(success) at every ability (rows) of every task (columns).

    c + (u − c) σ(η) of successes; P(1) + P(inside) σ(η) of scores in [0, 1], their expected value; of
    normal scores the chance of reaching the landmark, Φ(a (θ − b)). A `logit_shift` [tasks, abilities] is
    added to η = aθ + d.

    References: papers/002, eq. 1 (3PL); c = 0 gives the 2PL, u < 1 the 4PL.

    >>> probability(ItemParameters.of(["t"], [1.0], [0.0]), 0.0)
    array([[0.5]])
    """
    eta = logits(items, abilities)
    if logit_shift is not None:
        assert logit_shift.shape == eta.shape, "a shift is [tasks, abilities]"
        eta = eta + logit_shift
    if items.response == "normal":
        return inverse_link("normal", eta + items.above_landmark[:, None]).T
    c = items.guessing[:, None]
    inside = c + (items.ceiling[:, None] - c) * inverse_link(items.response, eta)
    if items.cuts is None:
        return np.asarray(inside).T
    zero, one = (sigmoid_pair(items.cuts[:, :1] - eta)[0], sigmoid_pair(eta - items.cuts[:, 1:])[0])
    return np.asarray(one + (1 - zero - one) * inside).T


def rise(items: ItemParameters, shape: Curves) -> Floats:
    """Return P'(θ) = a (u − c) σ (1 − σ) from curves that are there already."""
    span = (items.ceiling - items.guessing)[:, None]
    return items.slope[:, None] * span * shape.rising * shape.falling


def steepness(items: ItemParameters, abilities: Floats | float) -> Floats:
    """Return the slope P'(θ) = a (u − c) σ (1 − σ) at every ability (rows) of every curve (columns).

    >>> steepness(ItemParameters.of(["t"], [2.0], [0.0]), 0.0)
    array([[0.5]])
    """
    if items.response == "normal":
        eta = logits(items, abilities) + items.above_landmark[:, None]
        slopes: Floats = items.slope[:, None] * np.exp(-0.5 * eta**2) / np.sqrt(2 * np.pi)
        return slopes.T
    return rise(items, curves(items, abilities)).T


def fisher_information(items: ItemParameters, abilities: Floats | float) -> Floats:
    r"""Return the Fisher information at every ability (rows) of one trial of every task (columns).

    .. math:: I(\theta) = P'(\theta)^2 / [P (1 - P)]

    which is a² P (1 − P) for the 2PL, and a² at every ability for normal scores. For the beta model it is
    P'² φ² (ψ'(Pφ) + ψ'((1 − P)φ)) times the chance of a score inside, and what 0, inside or 1 tells.

    References: Lord (1980), eq. 5-9.

    >>> fisher_information(ItemParameters.of(["t"], [2.0], [0.0]), 0.0)
    array([[1.]])
    """
    if items.response not in SCORES and not items.guessing.any() and (items.ceiling == 1).all():
        small = np.exp(-np.abs(logits(items, abilities)))
        return np.asarray(items.slope[:, None] ** 2 * (small / (1.0 + small) ** 2)).T
    shape = curves(items, abilities)
    slope = rise(items, shape)
    if items.response == "normal":
        return np.asarray(slope**2).T
    if items.response == "beta" and items.precision is not None:
        up, down = (np.maximum(share, 1e-12) for share in (shape.success, shape.failure))
        inside = information_of_scores(slope, up, down, items.precision[:, None])
        zero, one = chances_of_ends(shape)
        by_zero, by_one = zero * (1 - zero), one * (1 - one)
        within = np.maximum(1 - zero - one, 1e-12)
        ends = zero * (1 - zero) ** 2 + one * (1 - one) ** 2 + (by_zero - by_one) ** 2 / within
        return np.asarray(within * inside + items.slope[:, None] ** 2 * ends).T
    with np.errstate(divide="ignore", invalid="ignore"):
        information = slope**2 / (shape.success * shape.failure)
    return np.nan_to_num(information, nan=0.0, posinf=0.0).T


def chances_of_ends(shape: Curves) -> tuple[Floats, Floats]:
    """Return the chances of exactly 0 and exactly 1, σ(k₀ − η) and σ(η − k₁): [tasks, abilities].

    References: Kubinec (2023): cuts of an ordered logit, around one η.
    """
    if shape.cuts is None:
        return np.zeros_like(shape.rising), np.zeros_like(shape.rising)
    eta = np.log(shape.rising) - np.log(shape.falling)
    return sigmoid_pair(shape.cuts[:, :1] - eta)[0], sigmoid_pair(eta - shape.cuts[:, 1:])[0]


def information_of_scores(
    slope: Floats, success: Floats, failure: Floats, precision: Floats
) -> Floats:
    """Return P'² φ² (ψ'(Pφ) + ψ'((1 − P)φ)), what a score tells that is beta around P with precision φ."""
    trigammas = trigamma(success * precision) + trigamma(failure * precision)
    return np.asarray(slope**2 * precision**2 * trigammas)


def positions(names: Sequence[str], wanted: Sequence[str]) -> NDArray[np.intp]:
    """Return where each wanted name stands among names, −1 where it does not.

    >>> positions(("a", "b"), ("b", "c"))
    array([ 1, -1])
    """
    numbers = {name: number for number, name in enumerate(names)}
    return np.array([numbers.get(name, -1) for name in wanted], dtype=np.intp)


def _frozen(items: ItemParameters) -> ItemParameters:
    for array in items._arrays().values():
        read_only(array)
    return items


def _cuts(cuts: ArrayLike | None, count: int) -> Floats:
    """The cuts of the beta model, one row a task."""
    ends = np.asarray((-NEVER, NEVER) if cuts is None else cuts, dtype=np.float64)
    if ends.shape not in ((2,), (count, 2)) or not (np.abs(ends) <= _MOST).all():
        raise InputError(
            f"The cuts are not two numbers up to ±{_MOST:g} for all tasks or for each. Give so."
        )
    pairs = np.array(np.broadcast_to(ends, (count, 2)))
    if not (pairs[:, 0] < pairs[:, 1]).all():
        raise InputError(
            "A cut of zeros is not below that of ones. Give the lower one first: (-3, 3)."
        )
    read_only(pairs)
    return pairs


def _spread(values: ArrayLike | None, count: int, what: str, *, finite: bool = True) -> Floats:
    try:
        given = np.asarray(values, dtype=np.float64)
        array = np.array(np.broadcast_to(given, (count,)))
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"The {what} does not fit {counted(count, 'task')}. Give one number each."
        ) from None
    if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
        raise InputError(f"The {what} holds a number that is not finite. Give one number a task.")
    if finite and np.abs(array).max(initial=0.0) > LARGEST:
        raise InputError(f"The {what} holds a number beyond {LARGEST:g}. Give numbers of a logit.")
    read_only(array)
    return array

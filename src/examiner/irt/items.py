"""ItemParameters: what a model says of each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.checking import check_names, read_only
from examiner.wording import InputError, counted, shorten

Floats = NDArray[np.float64]
Response = Literal["binomial", "beta-binomial", "beta"]
"""How responses scatter around the probability: successes of trials, the same with trials of one
agent on one task alike, or a continuous value in [0, 1]."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemParameters:
    """The curves of tasks: P(θ) = c + (u − c) σ(aθ + d), in slope and intercept.

    `difficulty` is b = −d / a, so that aθ + d = a (θ − b), and `discrimination` is a. `precision`
    is ν of the beta-binomial (infinite: binomial) or φ of the beta model, and None for the binomial.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, -1], intercept=[1, 1])
    >>> items.difficulty
    array([-0.5,  1. ])
    """

    tasks: tuple[str, ...]
    slope: Floats
    intercept: Floats
    guessing: Floats
    ceiling: Floats
    precision: Floats | None
    response: Response

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
    ) -> ItemParameters:
        """Build parameters from slopes and either intercepts or difficulties; single numbers spread.

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
        phi = (
            None if precision is None else _spread(precision, len(names), "precision", finite=False)
        )
        if phi is not None and not (phi > 0).all():
            raise InputError(f"A precision of {phi[~(phi > 0)][0]:g} is given. It must be above 0.")
        return cls(names, a, d, c, u, phi, response)

    @property
    def difficulty(self) -> Floats:
        """Ability at which the curve turns, b = −d / a: NaN where the slope is 0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(self.slope == 0, np.nan, -self.intercept / self.slope)

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
        return self._with(
            tuple(self.tasks[column] for column in chosen.tolist()),
            self.slope[chosen],
            self.intercept[chosen],
            self.guessing[chosen],
            self.ceiling[chosen],
            None if self.precision is None else self.precision[chosen],
        )

    def rescaled(self, shift: float, scale: float) -> ItemParameters:
        """Return the same curves for abilities θ' where θ = shift + scale · θ'.

        >>> ItemParameters.of(["t"], [1.0], [0.0]).rescaled(0.5, 2.0).slope
        array([2.])
        """
        return self._with(
            self.tasks,
            self.slope * scale,
            self.intercept + self.slope * shift,
            self.guessing,
            self.ceiling,
            self.precision,
        )

    def _with(
        self,
        tasks: tuple[str, ...],
        slope: Floats,
        intercept: Floats,
        guessing: Floats,
        ceiling: Floats,
        precision: Floats | None,
    ) -> ItemParameters:
        """Parameters made of checked ones."""
        for array in (slope, intercept, guessing, ceiling, precision):
            if array is not None:
                read_only(array)
        return ItemParameters(tasks, slope, intercept, guessing, ceiling, precision, self.response)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists that `from_dict` reads back exactly.

        >>> items = ItemParameters.of(["t"], [1.0], [0.25])
        >>> ItemParameters.from_dict(items.to_dict()) == items
        True
        """
        content: dict[str, Any] = {
            "response": self.response,
            "tasks": list(self.tasks),
            "slope": self.slope.tolist(),
            "intercept": self.intercept.tolist(),
            "guessing": self.guessing.tolist(),
            "ceiling": self.ceiling.tolist(),
        }
        if self.precision is not None:
            content["precision"] = [
                value if np.isfinite(value) else None for value in self.precision.tolist()
            ]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ItemParameters:
        """Read what `to_dict` wrote.

        >>> items = ItemParameters.of(["t"], [1.0], [0.25], precision=[4.0], response="beta")
        >>> ItemParameters.from_dict(items.to_dict()).precision
        array([4.])
        """
        try:
            precision = content.get("precision")
            return cls.of(
                content["tasks"],
                content["slope"],
                content["intercept"],
                guessing=content["guessing"],
                ceiling=content["ceiling"],
                precision=None
                if precision is None
                else [np.inf if value is None else value for value in precision],
                response=content["response"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"These are not task parameters: {error} is missing or wrong."
            ) from None

    def __eq__(self, other: object) -> bool:
        """Same tasks in the same order, same numbers."""
        if not isinstance(other, ItemParameters):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # parameters compare by content

    def __repr__(self) -> str:
        return f"ItemParameters: {counted(len(self.tasks), 'task')}, {self.response}"


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
    read_only(array)
    return array

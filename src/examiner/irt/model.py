"""What a model is: which parameters are free, which are shared by all tasks, and their priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from examiner.irt.items import Response
from examiner.wording import InputError, unknown_name

Parameter = Literal["slope", "intercept", "guessing", "slip", "precision"]
"""What may be free. `guessing` is γ and `slip` ζ with c = e^γ / (1 + e^γ + e^ζ) and
1 − u = e^ζ / (1 + e^γ + e^ζ), so that c < u whatever they are; `precision` is log ν or log φ."""


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


@dataclass(frozen=True, slots=True)
class Normal:
    """A normal prior: its mean and standard deviation."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.sd) and self.sd > 0):
            raise InputError(
                f"A prior with mean {self.mean} and standard deviation {self.sd} is given. "
                f"Both must be finite, and the deviation above 0."
            )


@dataclass(frozen=True, slots=True)
class Priors:
    """Weak priors on the scale on which parameters are estimated.

    Slopes are N(1, 1): 0 and negative slopes stay possible, slopes above 4 need evidence. Intercepts
    d = −ab are N(0, 3²). Guessing and slip on their logits (see `Parameter`): a chance of about 0.12
    and 0.05, both uncertain. Log precision N(2.3, 1.5²): between about 0.5 and 200.

    >>> Priors.of({"slope": (1.0, 2.0)}).slope
    Normal(mean=1.0, sd=2.0)
    """

    slope: Normal = Normal(1.0, 1.0)
    intercept: Normal = Normal(0.0, 3.0)
    guessing: Normal = Normal(-2.0, 1.0)
    slip: Normal = Normal(-3.0, 1.0)
    precision: Normal = Normal(2.3, 1.5)

    @classmethod
    def of(cls, given: Priors | Mapping[str, Any] | None) -> Priors:
        """Return priors from a mapping of parameter to (mean, sd); the others keep their default.

        >>> Priors.of({"slope": (1.0, 2.0)}).intercept
        Normal(mean=0.0, sd=3.0)
        """
        if given is None:
            return cls()
        if isinstance(given, Priors):
            return given
        known = [field.name for field in fields(cls)]
        chosen: dict[str, Normal] = {}
        for name, prior in given.items():
            if name not in known:
                raise unknown_name("parameter", name, known)
            if isinstance(prior, Normal):
                chosen[name] = prior
                continue
            try:
                mean, sd = (float(number) for number in prior)
            except (TypeError, ValueError):
                raise InputError(
                    f"The prior of {name} is {prior!r}. Give its mean and standard deviation: (1, 1)."
                ) from None
            chosen[name] = Normal(mean, sd)
        return cls(**chosen)

    def to_dict(self) -> dict[str, list[float]]:
        """Return `{parameter: [mean, sd]}`, which `of` takes back.

        >>> Priors.of(Priors().to_dict()) == Priors()
        True
        """
        return {
            field.name: [getattr(self, field.name).mean, getattr(self, field.name).sd]
            for field in fields(self)
        }

"""The models: what each leaves free, as data over the one mathematics of the package."""

from collections.abc import Mapping
from types import MappingProxyType

from examiner.irt.model import Model

_TABLE = (
    Model("1pl", "one slope for all tasks", free=("intercept",), shared=("slope",)),
    # the 1PL with slopes reported as 1
    Model(
        "rasch",
        "slopes of 1, abilities with a free standard deviation",
        free=("intercept",),
        shared=("slope",),
        unit_slopes=True,
    ),
    # papers/002, eq. 1 with c = 0
    Model("2pl", "difficulty and discrimination", free=("slope", "intercept")),
    # papers/002, eq. 1
    Model(
        "3pl", "difficulty, discrimination and guessing", free=("slope", "intercept", "guessing")
    ),
    # the curve ends below 1, since strong agents slip too
    Model(
        "4pl",
        "difficulty, discrimination, guessing and slipping",
        free=("slope", "intercept", "guessing", "slip"),
    ),
    # a 2PL curve, with a precision for each task, and cuts for scores of exactly 0 and 1
    Model(
        "beta",
        "scores in [0, 1]: difficulty, discrimination and precision",
        free=("slope", "intercept", "precision"),
        responses=("beta",),
    ),
    # a line in ability, with a residual deviation for each task
    Model(
        "normal",
        "scores without ends (Samejima): difficulty, discrimination and residual deviation",
        free=("slope", "intercept", "precision"),
        responses=("normal",),
    ),
)

MODELS: Mapping[str, Model] = MappingProxyType({model.name: model for model in _TABLE})
"""Every model by name."""

"""Rasch: the 1PL told with slopes of 1 and a free standard deviation of ability."""

from examiner.irt.model import Model

RASCH = Model(
    "rasch",
    "slopes of 1, abilities with a free standard deviation",
    free=("intercept",),
    shared=("slope",),
    unit_slopes=True,
)

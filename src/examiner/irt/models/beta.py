"""Beta: scores in [0, 1] around a 2PL curve, with a precision for each task and cuts for exact 0 and 1."""

from examiner.irt.model import Model

BETA = Model(
    "beta",
    "scores in [0, 1]: difficulty, discrimination and precision",
    free=("slope", "intercept", "precision"),
    responses=("beta",),
)

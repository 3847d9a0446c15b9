"""Normal: scores without ends on a line in ability, with a residual deviation for each task."""

from examiner.irt.model import Model

NORMAL = Model(
    "normal",
    "scores without ends (Samejima): difficulty, discrimination and residual deviation",
    free=("slope", "intercept", "precision"),
    responses=("normal",),
)

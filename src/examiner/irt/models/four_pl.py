"""4PL: a 3PL whose curve ends below 1, since even the able slip."""

from examiner.irt.model import Model

FOUR_PL = Model(
    "4pl",
    "difficulty, discrimination, guessing and slipping",
    free=("slope", "intercept", "guessing", "slip"),
)

"""3PL: a 2PL whose curve starts at the chance of guessing (papers/002, eq. 1)."""

from examiner.irt.model import Model

THREE_PL = Model(
    "3pl", "difficulty, discrimination and guessing", free=("slope", "intercept", "guessing")
)

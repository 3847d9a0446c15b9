"""2PL: every task has its own difficulty and discrimination (papers/002, eq. 1 with c = 0)."""

from examiner.irt.model import Model

TWO_PL = Model("2pl", "difficulty and discrimination", free=("slope", "intercept"))

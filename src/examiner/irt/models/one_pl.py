"""1PL: one slope for all tasks, abilities standard normal."""

from examiner.irt.model import Model

ONE_PL = Model("1pl", "one slope for all tasks", free=("intercept",), shared=("slope",))

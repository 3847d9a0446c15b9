"""Evidence: what a method may look at when it chooses tasks, all of it from the same agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.selection.constraints import Terms
from examiner.wording import InputError

Array = NDArray[np.float64]


class Curves(Protocol):
    """The curves of tasks, P(θ) = c + (u − c) σ(aθ + d): arrays of shape [tasks], as a fit's items."""

    @property
    def slope(self) -> Array:
        """Slope a."""
        ...

    @property
    def intercept(self) -> Array:
        """Intercept d."""
        ...

    @property
    def guessing(self) -> Array:
        """Lower asymptote c."""
        ...

    @property
    def ceiling(self) -> Array:
        """Upper asymptote u."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of agents on tasks; what was not gathered is None.

    `values` [agents, tasks] are comparable scores without gaps; `target` [agents] is the aggregate of
    the full benchmark. `channels` hold means and deviations, for bits. `items` and `ability` [agents]
    come from a fit, `groups` [tasks] from a typology. `terms` are the demands on the set.

    >>> from examiner.selection.constraints import Constraints, terms_of
    >>> evidence = Evidence(("a", "b"), ("t", "u"), np.eye(2), terms_of(Constraints(), ["t", "u"]))
    >>> evidence.needed("fisher", "items")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: fisher needs a fit: the difficulty and discrimination of each \
task. Give successes (`--success`), so that one can be fitted, or choose another method.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Array
    terms: Terms
    target: Array | None = None
    channels: Channels | None = None
    items: Curves | None = None
    ability: Array | None = None
    groups: tuple[str, ...] | None = None

    def needed(self, method: str, what: str) -> None:
        """Refuse to go on without a piece of evidence, and say how to get it."""
        if getattr(self, what) is None:
            raise InputError(f"{method} needs {MISSING[what]}")


MISSING = {
    "target": "a target: the aggregate of the full benchmark for each agent. Give one (`--target mean`).",
    "channels": "repeated trials, or a stated deviation (`--deviations 0.2`): how much agents vary.",
    "items": "a fit: the difficulty and discrimination of each task. Give successes (`--success`), so that "
    "one can be fitted, or choose another method.",
    "ability": "a fit: the abilities of the agents. Give successes (`--success`), so that one can be "
    "fitted, or choose another method.",
    "groups": "groups of tasks. Give a classification (`--typology NAME|FILE`) or a table of tasks "
    "with the column 'group' (`--tasks FILE`).",
}
"""What a method says it needs where that piece of evidence is missing."""

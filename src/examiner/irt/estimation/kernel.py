"""What a kernel is: a likelihood of responses as the fit sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from examiner.irt.items import Curves, Floats
from examiner.results import ResponseMatrix


class ByCut(NamedTuple):
    """The derivative by one parameter of the cuts, and the curvature it bends with, [tasks, nodes]."""

    gradient: Floats
    bend: Floats


class Slopes(NamedTuple):
    """Expected log-likelihood of each task at each node, and its derivatives by P and by log ν.

    `information` is the information on P, expected or as the data have it, `bend` minus the second
    derivative by log ν, and `cross` that by P and log ν, where each task has its own ν. `by_cuts` is the
    same by parameters of the cuts. `beyond` is what minus the second derivative by P has beyond the
    information; None where that has all of it, the bow of the curve included.
    """

    value: Floats
    by_success: Floats
    by_log_precision: Floats | None
    information: Floats
    bend: Floats | None = None
    by_cuts: Mapping[str, ByCut] = MappingProxyType({})
    cross: Floats | None = None
    beyond: Floats | None = None


class Kernel(Protocol):
    """What the fit needs to know of a likelihood."""

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return T_c, each [agents, tasks]; 0 where nothing was observed."""
        ...

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return Σᵢ h(xᵢ) of every agent."""
        ...

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return F_c, each [tasks, nodes]."""
        ...

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        """Return Σ_c S_c F_c and its derivatives, each [tasks, nodes]."""
        ...

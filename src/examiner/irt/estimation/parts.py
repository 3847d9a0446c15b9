"""Responses of agents in parts: each part answers for its own agents, and the sums add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from examiner.irt.estimation.em import Expected, ResponseSource
from examiner.irt.estimation.exponential import (
    CompleteSource,
    PatternedSource,
    Totals,
    kind_for,
    pace_for,
    windows_of,
)
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernel_source import (
    KernelPart,
    KernelSource,
    kernel_kind,
    kernel_pace,
    standing_windows,
)
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import BetaBinomial, Binomial
from examiner.irt.estimation.task_curves import CommonCurves, OwnCurves
from examiner.irt.estimation.usable_responses import standard, start_along
from examiner.irt.estimation.windows import Windows
from examiner.irt.fitted import Dropped
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Unknowns
from examiner.irt.posterior import Quadrature
from examiner.messages import InputError
from examiner.results import Connections, ResponseMatrix
from examiner.scores import Recipe


class Whole(NamedTuple):
    """What is known of all agents before the first E-step, once every response was seen.

    `won` and `tried` are sums over agents, [tasks]; `scores` and `means` of agents are their successes and
    shares of successes, [agents]. `given` are the trials that all agents were given of each task, or None
    where they differ, and `most` the most trials of a cell.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    won: Floats
    tried: Floats
    scores: Floats
    means: Floats
    given: Floats | None
    most: int
    dropped: tuple[Dropped, ...] = ()
    left_out: tuple[Dropped, ...] = ()
    joined: Connections | None = None
    """How agents hang together; None where all met the same tasks."""
    recipe: Recipe | None = None
    """How results became these responses, so that those of newcomers become the same."""
    notes: tuple[str, ...] = ()
    """What was guessed on the way."""
    listed: int | None = None
    """How many cells were observed, where these alone are kept and looked at."""

    @property
    def cells(self) -> int:
        """How many cells are looked at: all, or the observed ones where these alone are kept."""
        return len(self.agents) * len(self.tasks) if self.listed is None else self.listed


class Part(NamedTuple):
    """What is kept of some agents from one pass to the next, while their responses are elsewhere."""

    totals: Totals
    windows: Windows | None


class Steps:
    """E-steps for parts of the agents, one part after the other: what they share is computed once.

    Curves without guessing and slipping, and trials of a cell that are independent (`simple`), make
    exponential families; all others go by their kernel.
    """

    def __init__(self, whole: Whole, response: Response, *, simple: bool) -> None:
        self.response, self.asked_simple = response, simple
        self.simple = simple and response == "binomial"
        self._complete = whole.given is not None
        self._kind = kernel_kind(whole.cells)
        self._kernel = BetaBinomial(whole.most) if response == "beta-binomial" else Binomial()
        if self.simple:
            self._kind = kind_for(whole.cells, whole.most, complete=self._complete)
            self._own = OwnCurves(self._kind if whole.listed is None else np.float64)
        self._common = None if whole.given is None else CommonCurves(whole.given)
        self.pace: Pace = pace_for(len(whole.tasks)) if self.simple else kernel_pace(self._kind)

    def part(self, matrix: ResponseMatrix) -> Part:
        """Return what is worth keeping of some agents, once their responses were seen."""
        windows = None
        if not self.simple:
            windows = standing_windows(matrix)
        elif not self._complete:
            windows = windows_of(matrix)
        return Part(Totals.of(matrix), windows)

    def summed(
        self, matrix: ResponseMatrix, part: Part, items: ItemParameters, rule: Quadrature
    ) -> Expected:
        """Return the statistics of some agents, which add up with those of others."""
        if not self.simple:
            assert part.windows is not None
            known = KernelPart(self._kernel, self._kind, part.windows)
            return KernelSource(matrix, self.response, known).summed(items, rule)
        if self._common is not None:
            source = CompleteSource(matrix, self._common, part.totals, self._kind)
            return source.expected(items, rule)
        return PatternedSource(matrix, self._own, part.windows, part.totals).expected(items, rule)


def joined(parts: Iterable[Expected]) -> Expected:
    """Return the statistics of all agents, from those of parts in the order of agents."""
    whole = added(parts)
    return whole.where_agents_are() if isinstance(whole, KernelStatistics) else whole


def added(parts: Iterable[Expected]) -> Expected:
    """Return the statistics of some agents, which still add up with those of others.

    One part is held at a time beside the sums.
    """
    ability, variance = [], []
    running: Expected | None = None
    for part in parts:
        ability.append(part.ability)
        variance.append(part.variance)
        running = part if running is None else running.plus(part)
    assert running is not None
    return replace(running, ability=np.concatenate(ability), variance=np.concatenate(variance))


def added_up(answers: Iterable[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """Return the sums of answers, of which one is held at a time.

    >>> added_up([(np.ones(2),), (np.ones(2),)])
    (array([2., 2.]),)
    """
    running: tuple[Floats, ...] = ()
    for answer in answers:
        if not running:
            running = tuple(np.array(part) for part in answer)
            continue
        for mine, theirs in zip(running, answer, strict=True):
            mine += theirs
    return running


def in_order(answers: Iterable[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """Return answers about each agent one after the other.

    >>> in_order([(np.ones(2),), (np.zeros(1),)])
    (array([1., 1., 0.]),)
    """
    return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))


class TooLittleMemoryError(InputError):
    """A question needs more memory than there is, while a fit does not."""


class Asked(Protocol):
    """A question about some agents, whose answers add up over agents or are told of each."""

    @property
    def wanted(self) -> str:
        """What it is asked for, in words."""
        ...

    @property
    def beside(self) -> int:
        """Bytes that an answer takes whatever the agents."""
        ...

    @property
    def an_agent(self) -> int:
        """Bytes that an answer takes for each agent."""
        ...

    def __call__(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return sums over the agents of a matrix, or arrays of its agents."""
        ...


class Parts(Protocol):
    """Where parts lie: all that a source of them asks."""

    passes: int
    """How often all parts were passed over."""

    @property
    def whole(self) -> Whole:
        """What is known of all agents."""
        ...

    def summed(
        self, response: Response, items: ItemParameters, rule: Quadrature, *, simple: bool
    ) -> Iterator[Expected]:
        """Yield the statistics of each part of the agents, in their order."""
        ...

    def weighted(self, weights: Floats) -> Floats:
        """Return the successes of each task, weighted by agents: [tasks]."""
        ...

    def total(self, asked: Asked) -> tuple[Floats, ...]:
        """Return the sums of what every part answers, from one pass over them."""
        ...

    def each(self, asked: Asked) -> tuple[Floats, ...]:
        """Return what is answered about each agent, in their order, from one pass over the parts."""
        ...


@runtime_checkable
class AskedSource(ResponseSource, Protocol):
    """A source of responses elsewhere that also answers questions about its agents."""

    @property
    def alike(self) -> bool:
        """Whether all agents were given the same trials."""
        ...

    def total(self, asked: Asked) -> tuple[Floats, ...]:
        """Return the sums of what is answered about all agents."""
        ...

    def each(self, asked: Asked) -> tuple[Floats, ...]:
        """Return what is answered about each agent, in their order."""
        ...


class PartedSource:
    """A source of responses that lie in parts.

    Curves without guessing and slipping (`simple`) are fitted by other statistics than the rest; `suited`
    returns the one that a model asks for.
    """

    def __init__(
        self, parts: Parts, response: Response | None = None, *, simple: bool = True
    ) -> None:
        whole = parts.whole
        self.response: Response = response or ("beta-binomial" if whole.most > 1 else "binomial")
        self.agents, self.tasks, self.parts = whole.agents, whole.tasks, parts
        self.dropped, self.left_out, self.means = whole.dropped, whole.left_out, whole.means
        self.joined, self.recipe, self.notes = whole.joined, whole.recipe, whole.notes
        self.trials = whole.tried / len(whole.agents)
        self._simple = simple
        self.alike = whole.given is not None
        self.pace = Steps(whole, self.response, simple=simple).pace

    def suited(self, unknowns: Unknowns) -> PartedSource:
        """Return the source of the statistics that a model asks for."""
        return PartedSource(self.parts, self.response, simple=unknowns.is_plain)

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether the response is the one it was made for."""
        return unknowns.response == self.response

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from shares and from correlations with the total score."""
        whole = self.parts.whole
        along = self.parts.weighted(standard(whole.scores))
        return start_along(along, whole.won, whole.tried, shared_slope=shared_slope)

    def expected(self, items: ItemParameters, rule: Quadrature) -> Expected:
        """Return the statistics of one E-step from one pass over the parts."""
        return joined(self.parts.summed(self.response, items, rule, simple=self._simple))

    def total(self, asked: Asked) -> tuple[Floats, ...]:
        """Return the sums of what every part answers."""
        return self.parts.total(asked)

    def each(self, asked: Asked) -> tuple[Floats, ...]:
        """Return what is answered about each agent, in their order."""
        return self.parts.each(asked)

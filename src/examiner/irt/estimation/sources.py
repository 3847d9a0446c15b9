"""Sources of responses: blocks of agents, in this process or elsewhere, and sums of passes over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import HERE, Array, Kind, Place
from examiner.irt.estimation.blocks import Block
from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernel import Kernel
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import BetaBinomial, Binomial, kernel_for
from examiner.irt.estimation.passes import Pass, PassResult, Reaches, e_step, weighted_successes
from examiner.irt.estimation.plain_statistics import PlainStatistics
from examiner.irt.estimation.score_kernels import Normal
from examiner.irt.estimation.usable_responses import (
    centres,
    continuous_start,
    same_trials,
    start_along,
    task_totals,
    unbounded_start,
)
from examiner.irt.fitted import Dropped
from examiner.irt.items import SCORES, Floats, ItemParameters, Response
from examiner.irt.model import Unknowns
from examiner.irt.posterior import Quadrature
from examiner.results import Connections, ResponseMatrix
from examiner.scores import Recipe

_SMALL, _SMALL_AND_ALIKE = 200_000, 2_000_000
"""Up to this many cells products are in double precision, beyond in single; the second where all agents
were given the same trials, so that products are with vectors."""
_SPACING, _KERNEL_SPACING, _WIDER = 0.8, 0.6, 1.2
"""Posterior standard deviations between nodes. Sums over a Gaussian then err by 8e-14 (see
`Quadrature.for_items`). Closer for kernels: posteriors under guessing are less like Gaussians. Of many
cells, where their sums have seven digits, nodes may lie further apart: at 1000 × 500, 10,000 × 21 and
3000 × 100 log-likelihoods stay the same within 0.01, and slopes within 0.0007; 1.3 is three times as far
off."""
_SHORT = 100
"""Tests of so many tasks can afford nodes closer by far."""

BlockFunction = Callable[[Block, Reaches, Any], PassResult]
"""A function of a block, its state, and what a pass is about (Any: each function has its own)."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What is known of all agents before the first pass, once every response was read.

    `won` and `tried` are sums over agents, [tasks], and `means` [agents] shares of successes. `alike` says
    that all agents were given the same trials of each task, `most` is the most trials of a cell, and
    `cells` how many are stored.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    won: Floats
    tried: Floats
    means: Floats | None
    alike: bool
    most: int
    cells: int
    scores: tuple[float, float] = (0.0, 1.0)
    """Mean and standard deviation of the successes of agents."""
    listed: bool = False
    """Whether observed cells alone are stored."""
    dropped: tuple[Dropped, ...] = ()
    left_out: tuple[Dropped, ...] = ()
    joined: Connections | None = None
    """How agents are connected; None where all met the same tasks."""
    recipe: Recipe | None = None
    """How results became these responses, so that those of new agents become the same."""
    notes: tuple[str, ...] = ()


class Totals(NamedTuple):
    """Sums over all blocks, and numbers of all agents in their order."""

    sums: tuple[Array, ...]
    agents: tuple[Floats, ...]


def add_up(results: Iterable[PassResult]) -> Totals:
    """Return sums over blocks, of which one is held at a time.

    >>> add_up([PassResult((1.0,), (np.ones(1),), None), PassResult((2.0,), (np.zeros(1),), None)])
    Totals(sums=(3.0,), agents=(array([1., 0.]),))
    """
    sums: tuple[Array, ...] | None = None
    agents: list[tuple[Floats, ...]] = []
    for result in results:
        mine = result.sums
        sums = mine if sums is None else tuple(a + b for a, b in zip(sums, mine, strict=True))
        agents.append(result.agents)
    assert sums is not None
    if len(agents) == 1:
        return Totals(sums, agents[0])
    return Totals(sums, tuple(np.concatenate(parts) for parts in zip(*agents, strict=True)))


class ResponseSource:
    """Responses of agents in blocks: all that a fit needs of them are sums over blocks.

    Memory, Parquet, a GPU and a Ray cluster differ in `results`, which runs a function on every block and
    keeps each block's state from one pass to the next. Where responses are scores, a source is made of the
    `matrix` that has them.
    """

    place: Place = HERE
    memory: float | None = None
    """GB that passes may use; None where nothing was said."""

    def __init__(
        self, whole: Whole, response: Response, matrix: ResponseMatrix | None = None
    ) -> None:
        self.whole, self.response, self.matrix = whole, response, matrix
        self.agents, self.tasks = whole.agents, whole.tasks
        self.trials = whole.tried / len(whole.agents)
        self.centre: Floats | None = None
        self.plain, self.passes = False, 0
        self._before: Pass | None = None
        if response == "normal":
            assert matrix is not None
            self.centre = centres(matrix)

    @property
    def kernel(self) -> Kernel:
        """The likelihood of the responses."""
        if self.response == "binomial":
            return Binomial()
        if self.response == "beta-binomial":
            return BetaBinomial(self.whole.most)
        assert self.matrix is not None
        return (
            kernel_for(self.response, self.matrix) if self.centre is None else Normal(self.centre)
        )

    @property
    def kind(self) -> Kind:
        """The precision of products. Of successes sums of halves are exact where trials are single."""
        whole = self.whole
        if self.plain and whole.most > 1:
            return np.float64
        few = _SMALL_AND_ALIKE if self.plain and whole.alike else _SMALL
        return np.float64 if whole.cells <= few else np.float32

    @property
    def pace(self) -> Pace:
        """How finely to integrate and when to stop."""
        if self.plain:
            return Pace(
                _SPACING if len(self.tasks) > _SHORT else 0.4 * _SPACING,
                reach=9.0,  # what is beyond weighs 1e-19
                relaid=(3, 10, 30, 100, 300),
                fresh=8,
                tolerance=1e-6,
                noise=1e-12,
            )
        exact = self.kind is np.float64
        return Pace(
            _KERNEL_SPACING if exact else _WIDER,
            reach=np.inf,  # tiles look only at the nodes they need
            relaid=(3, 8, 20, 50, 120),
            fresh=0,
            tolerance=1e-5 if exact else 1e-4,
            noise=1e-11 if exact else 1e-8,
        )

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        self.plain = unknowns.is_plain and self.response == "binomial"
        return self

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether the response is the one it was made for."""
        return unknowns.response == self.response

    def results(self, function: BlockFunction, job: Any) -> Iterator[PassResult]:
        """Yield what a function returns for each block, in the order of agents."""
        raise NotImplementedError

    def total(self, function: BlockFunction, job: Any) -> Totals:
        """Return sums over all blocks and numbers of all agents, from one pass."""
        self.passes += 1
        with self.place.exactly():
            return add_up(self.results(function, job))

    def block(
        self,
        matrix: ResponseMatrix,
        *,
        kept: bool = True,
        anchor: Floats | None = None,
        codes: NDArray[np.intp] | None = None,
        first: int = 0,
    ) -> Block:
        """Return a block of some agents, of which the first has a number among all."""
        block = Block.of(
            matrix,
            self.kernel,
            self.kind,
            plain=self.plain,
            alike=self.whole.alike,
            place=self.place,
            anchor=anchor,
            codes=codes,
            kept=kept,
        )
        block.first = first
        return block

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from correlations of results with the total or mean result."""
        if self.response in SCORES:
            assert self.matrix is not None
            start = continuous_start if self.response == "beta" else unbounded_start
            slope, intercept, *_ = start(self.matrix)
            return slope, intercept
        (along,), _ = self.total(weighted_successes, self._scores())
        return start_along(along, self.whole.won, self.whole.tried, shared_slope=shared_slope)

    def _scores(self) -> tuple[float, float]:
        """Mean and standard deviation of the successes of agents."""
        return self.whole.scores

    def first_precision(self) -> Floats | None:
        """Return precisions to begin with where scores have units, [tasks]."""
        if self.response != "normal":
            return None
        assert self.matrix is not None
        return unbounded_start(self.matrix)[2]

    def pass_at(
        self, items: ItemParameters, rule: Quadrature, *, plain: bool | None = None
    ) -> Pass:
        """Return what a pass is about at these parameters."""
        plain = self.plain if plain is None else plain
        at = Pass(items, rule, self.kernel, plain=plain, before=self._before)
        self._before = at
        return at

    def expected(self, items: ItemParameters, rule: Quadrature) -> Expected:
        """Return what an E-step finds under these parameters."""
        return self.summed(items, rule).where_agents_are()

    def summed(self, items: ItemParameters, rule: Quadrature) -> Expected:
        """Return the same at all nodes."""
        at = self.pass_at(items, rule)
        (log_likelihood, mass, *sums), (ability, variance) = self.total(e_step, at)
        if not self.plain:
            every = tuple(np.ascontiguousarray(self.place.numpy(part).T) for part in sums)
            return KernelStatistics(
                log_likelihood,
                ability,
                variance,
                at.kernel,
                rule.nodes,
                every,
                at.shape,
                self.place.numpy(mass),
            )
        whole, place = self.whole, self.place
        if whole.alike:
            curves: Any = at.common_curves(place.array(whole.tried / len(whole.agents)), place)
        else:
            curves = at.own_curves(np.float64 if whole.listed else self.kind, place)
        return PlainStatistics(
            log_likelihood + float(items.intercept @ whole.won),
            ability,
            variance,
            mass,
            curves,
            place,
            whole.won,
            place.numpy(sums[0]),
        )


class MemorySource(ResponseSource):
    """Responses in this process, in one block.

    Where more is known of agents than the population they are from, `anchor` [agents, nodes] has their log
    densities at the nodes of the one quadrature that is then used. `codes` [agents] are their editions.

    >>> from examiner.irt import ItemParameters, Quadrature
    >>> source = MemorySource(ResponseMatrix.from_array([[1, 0], [0, 0]], tasks=["t", "u"]), "binomial")
    >>> items = ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0])
    >>> source.expected(items, Quadrature.grid()).ability.round(3)
    array([ 0.   , -0.704])
    """

    def __init__(
        self,
        matrix: ResponseMatrix,
        response: Response,
        anchor: Floats | None = None,
        codes: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(whole_of(matrix), response, matrix)
        self._anchor, self._codes = anchor, codes
        self._block: Block | None = None
        self._reaches: Reaches = None

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        self._block, self._reaches = None, None
        return super().suited(unknowns)

    def results(self, function: BlockFunction, job: Any) -> Iterator[PassResult]:
        """Yield what a function returns for the block."""
        result = function(self._whole_block(), self._reaches, job)
        self._reaches = result.reaches
        yield result

    def _scores(self) -> tuple[float, float]:
        scores = self._whole_block().score
        assert scores is not None
        return float(scores.mean()), max(float(scores.std()), 1e-12)

    def _whole_block(self) -> Block:
        assert self.matrix is not None
        if self._block is None:
            self._block = self.block(self.matrix, anchor=self._anchor, codes=self._codes)
        return self._block


def whole_of(matrix: ResponseMatrix) -> Whole:
    """Return what is known of all agents of a matrix."""
    cells = matrix.observed_cells
    size = len(matrix.agents) * len(matrix.tasks) if cells is None else len(cells)
    if not matrix.is_counts:
        observed = matrix.observed.sum(axis=0, dtype=np.float64)
        return Whole(matrix.agents, matrix.tasks, observed, observed, None, False, 1, size)
    won, tried = task_totals(matrix)
    return Whole(
        matrix.agents,
        matrix.tasks,
        won,
        tried,
        None,
        same_trials(matrix),
        matrix.most_trials,
        size,
        listed=cells is not None,
    )

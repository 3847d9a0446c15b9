"""Sources of responses: blocks of agents, in this process or elsewhere, and sums of passes over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import HERE, Array, Kind, Place
from examiner.irt.estimation.blocks import Block, agent_totals, same_trials, task_totals
from examiner.irt.estimation.em import Expected
from examiner.irt.estimation.fixed_point import Pace
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import BetaBinomial, Binomial, Kernel
from examiner.irt.estimation.passes import Pass, PassResult, Reaches, e_step
from examiner.irt.estimation.plain import PlainStatistics
from examiner.irt.estimation.score_kernels import Beta, Normal
from examiner.irt.fitted import Dropped
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Unknowns
from examiner.irt.posterior import Quadrature
from examiner.results import Connections, ResponseMatrix
from examiner.scores import Recipe

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

    Memory, Parquet, a GPU and a Ray cluster differ in the `blocks` they yield, or in where these are. Where
    responses are scores, a source is made of the `matrix` that has them.
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
        self.plain, self.passes = False, 0
        self.centre: Floats | None = None
        self.kernel: Kernel
        """The likelihood of the responses."""
        if response == "normal":
            assert matrix is not None
            self.centre = centres(matrix)
            self.kernel = Normal(self.centre)
        elif response == "beta":
            self.kernel = Beta()
        else:
            self.kernel = Binomial() if response == "binomial" else BetaBinomial(whole.most)
        self._before: Pass | None = None
        self._reaches: dict[int, Reaches] = {}

    @property
    def kind(self) -> Kind:
        """The precision of products. Of successes sums of halves are exact where trials are single."""
        whole = self.whole
        if self.plain and whole.most > 1:
            return np.float64
        # products with vectors, where all agents were given the same trials, are few
        few = 2_000_000 if self.plain and whole.alike else 200_000
        return np.float64 if whole.cells <= few else np.float32

    @property
    def pace(self) -> Pace:
        """How finely to integrate and when to stop.

        Sums over a Gaussian err by 8e-14 where nodes are 0.8 posterior standard deviations apart (see
        `Quadrature.for_items`). They are closer for kernels: posteriors under guessing are less like
        Gaussians. Of many cells, where their sums have seven digits, nodes may be further apart: at 1000 ×
        500, 10,000 × 21 and 3000 × 100 log-likelihoods stay the same within 0.01, and slopes within 0.0007;
        1.3 is three times as far off.
        """
        if self.plain:
            # tests of few tasks can afford nodes that are much closer
            return Pace(
                0.8 if len(self.tasks) > 100 else 0.32,
                reach=9.0,  # what is beyond weighs 1e-19
                relaid=(3, 10, 30, 100, 300),
                fresh=8,
                tolerance=1e-6,
                noise=1e-12,
            )
        exact = self.kind is np.float64
        return Pace(
            0.6 if exact else 1.2,
            reach=np.inf,  # tiles look only at the nodes they need
            relaid=(3, 8, 20, 50, 120),
            fresh=0,
            tolerance=1e-5 if exact else 1e-4,
            noise=1e-11 if exact else 1e-8,
        )

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        self.plain, self._reaches = unknowns.is_plain and self.response == "binomial", {}
        return self

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of agents, in their order."""
        raise NotImplementedError

    def results(self, function: BlockFunction, job: Any) -> Iterator[PassResult]:
        """Yield what a function returns for each block, whose state stays for the next pass."""
        for number, block in enumerate(self.blocks()):
            result = function(block, self._reaches.get(number), job)
            self._reaches[number] = result.reaches
            yield result

    def total(self, function: BlockFunction, job: Any) -> Totals:
        """Return sums over all blocks and numbers of all agents, from one pass."""
        self.passes += 1
        with self.place.exactly():
            return add_up(self.results(function, job))

    def block(self, matrix: ResponseMatrix, *, kept: bool = True) -> Block:
        """Return a block of some agents."""
        whole, kind = self.whole, self.kind
        return Block.of(
            matrix,
            self.kernel,
            kind,
            self.place,
            plain=self.plain,
            alike=whole.alike,
            kept=kept,
        )

    def pass_at(self, items: ItemParameters, rule: Quadrature) -> Pass:
        """Return what a pass is about at these parameters."""
        whole = self.whole
        self._before = Pass(
            items,
            rule,
            self.kernel,
            plain=self.plain,
            trials=whole.tried / len(whole.agents) if whole.alike else None,
            kind=np.float64 if whole.listed else self.kind,
            place=self.place,
            before=self._before,
        )
        return self._before

    def expected(self, items: ItemParameters, rule: Quadrature) -> Expected:
        """Return what an E-step finds under these parameters."""
        at, place = self.pass_at(items, rule), self.place
        (log_likelihood, mass, *sums), (ability, variance) = self.total(e_step, at)
        if self.plain:
            won = self.whole.won
            return PlainStatistics(
                log_likelihood + float(items.intercept @ won),
                ability,
                variance,
                mass,
                at.plain_curves,
                place,
                won,
                place.numpy(sums[0]),
            )
        mass = place.numpy(mass)
        alive = np.flatnonzero(mass > 1e-13)  # grids reach farther than agents do
        near = slice(int(alive[0]), int(alive[-1]) + 1)
        return KernelStatistics(
            log_likelihood,
            ability,
            variance,
            self.kernel,
            rule.nodes[near],
            tuple(np.ascontiguousarray(place.numpy(part[near]).T) for part in sums),
            at.shape.at(near),
            mass[near],
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
        whole: Whole | None = None,
        anchor: Floats | None = None,
        codes: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(whole_of(matrix) if whole is None else whole, response, matrix)
        self.anchor, self.codes = anchor, codes
        self._block: Block | None = None

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        self._block = None
        return super().suited(unknowns)

    def blocks(self) -> Iterator[Block]:
        """Yield the one block."""
        if self._block is None:
            assert self.matrix is not None
            block = self.block(self.matrix)
            if self.anchor is not None:
                block.anchor = self.anchor[block.order]
            if self.codes is not None:
                block.codes = self.codes[block.order]
            self._block = block
        yield self._block


def whole_of(matrix: ResponseMatrix) -> Whole:
    """Return what is known of all agents of a matrix."""
    cells = matrix.observed_cells
    size = len(matrix.agents) * len(matrix.tasks) if cells is None else len(cells)
    if not matrix.is_counts:
        observed = matrix.observed.sum(axis=0, dtype=np.float64)
        return Whole(matrix.agents, matrix.tasks, observed, observed, None, False, 1, size)
    score, _ = agent_totals(matrix)
    return Whole(
        matrix.agents,
        matrix.tasks,
        *task_totals(matrix),
        None,
        same_trials(matrix),
        matrix.most_trials,
        size,
        (float(score.mean()), max(float(score.std()), 1e-12)),
        listed=cells is not None,
    )


def centres(matrix: ResponseMatrix) -> Floats:
    """Return the mean score of each task, [tasks]."""
    return np.asarray(np.nanmean(matrix.to_numpy(), axis=0))

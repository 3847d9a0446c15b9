"""What errors need of agents whose responses lie on a device: products there, all that is small here.

Agents are taken in order of ability, in blocks as large as the device has memory for, at the nodes that
their posteriors reach. The levels of missing information are those of `errors/observed_information.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.engines.device import Device, Tensor
from examiner.irt import (
    ENOUGH,
    FEW_LEVELS,
    MOST_LEVELS,
    ROUGHLY_ENOUGH,
    SMALL,
    AbilityErrors,
    Asked,
    CompleteInformation,
    Expected,
    Floats,
    Freedom,
    PartScores,
    Quadrature,
    TooLittleMemoryError,
    orthonormal,
    posterior_weights,
    suitable_kind,
    whole_information,
)

_REACH_IN_SDS = 9.0
_NEGLIGIBLE = 1e-16
_MOST_ROWS, _FEWEST_ROWS = 1024, 16
_LEVELS_AT_WORK = 10
"""Arrays of the size of a level that are held at once while it is made and multiplied."""


class NodeTerms(NamedTuple):
    """F_c at all nodes [tasks, nodes], and ∂F_c/∂parameter [parameters, tasks, nodes], on the device."""

    values: list[Tensor]
    slopes: list[Tensor]


class _Block(NamedTuple):
    """Some agents of like ability: who, what they did, their posteriors, and slopes at the same nodes."""

    rows: NDArray[np.intp]
    statistics: list[Tensor]
    nodes: Floats
    weights: Floats
    slopes: list[Tensor]


class DeviceScores:
    """Scores of agents on a device under their posteriors, without priors."""

    def __init__(
        self,
        device: Device,
        statistics: Callable[[Tensor], list[Tensor]],
        terms: NodeTerms,
        rule: Quadrature,
        freedom: Freedom,
        complete: CompleteInformation,
        found: Expected,
    ) -> None:
        self.freedom, self.complete = freedom, complete
        self._device, self._statistics, self._rule = device, statistics, rule
        cells = len(found.ability) * len(freedom.tasks)
        self._kind = suitable_kind(cells, SMALL)
        self._terms = NodeTerms(
            *([part.to(device.kind(self._kind)) for part in each] for each in terms)
        )
        self._mean, self._spread = found.ability, np.sqrt(np.maximum(found.variance, 0.0))

    def information(self) -> Floats:
        """Return the whole observed information, [size, size]."""
        torch, size = self._device.torch, self.freedom.count
        enough = ENOUGH if self._kind is np.float64 else ROUGHLY_ENOUGH
        with self._device.exactly():
            missing = torch.zeros(
                (size, size), dtype=torch.float64, device=self._terms.values[0].device
            )
            for block in self._blocks():
                levels = self._converged(block, enough, MOST_LEVELS)
                for level in self._by_nodes(block) if levels is None else levels:
                    missing += (level.T @ level).double()
            return whole_information(self.complete, self._device.numpy(missing), self.freedom)

    def times(self, columns: Floats) -> Floats:
        """Return the missing information times columns [size, n]."""
        with self._device.exactly():
            there = self._sent(columns)
            total = there.double() * 0.0
            for block in self._blocks():
                for level in self._few(block):
                    total += (level.T @ (level @ there)).double()
            return self._device.numpy(total)

    def missing_blocks(self) -> Floats:
        """Return the missing information of each task by itself, [tasks, own, own]."""
        tasks, own = self.freedom.fixed.shape
        total = np.zeros((tasks, own, own))
        with self._device.exactly():
            for block in self._blocks():
                for level in self._few(block):
                    mine = level[:, : tasks * own].reshape(-1, tasks, own)
                    for row in range(own):
                        products = (mine[:, :, row, None] * mine).sum(dim=0)
                        total[:, row] += self._device.numpy(products)
        return total

    def moves(self) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, Floats]]:
        """Yield rows of agents, their posterior means and deviations, and how far means move with tasks."""
        with self._device.exactly():
            for block in self._blocks():
                mean, deviation, moves = self._moved(block)
                yield block.rows, mean, deviation, self._device.numpy(moves)

    def abilities(self, asked: PartScores) -> AbilityErrors:
        """Return the errors of abilities with those of tasks in them, agents in their order."""
        assert asked.covariance is not None
        agents, directions = len(self._mean), asked.covariance.directions.shape[1]
        found = AbilityErrors(np.empty(agents), np.empty(agents), np.empty((agents, directions)))
        with self._device.exactly():
            along = self._sent(asked.covariance.directions)
            blocks = self._sent(asked.covariance.task_blocks)
            cut = blocks.shape[0] * blocks.shape[1]
            for block in self._blocks():
                mean, deviation, moves = self._moved(block)
                if asked.model.unit_slopes:
                    place = self.freedom.columns("slope")[0]
                    moves[:, place] += self._sent(mean / asked.population_sd)
                found.own[block.rows] = deviation**2
                shared = moves @ along
                mine = moves[:, :cut].reshape(len(moves), -1, blocks.shape[1])
                alone = self._device.torch.einsum("ati,tij->atj", mine, blocks) * mine
                added = (shared**2).sum(dim=1) + alone.sum(dim=(1, 2))
                found.added[block.rows] = np.maximum(self._device.numpy(added), 0.0)
                found.shared[block.rows] = self._device.numpy(shared)
        return found

    def _sent(self, values: Floats) -> Tensor:
        return self._device.doubles(values).to(self._terms.values[0].dtype)

    # ---------------------------------------------------------------- blocks of agents

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self._mean, kind="stable")

    def _blocks(self) -> Iterator[_Block]:
        step, nodes = self._rows(), self._rule.nodes
        for start in range(0, len(self._order), step):
            rows = self._order[start : start + step]
            low = float((self._mean[rows] - _REACH_IN_SDS * self._spread[rows]).min())
            high = float((self._mean[rows] + _REACH_IN_SDS * self._spread[rows]).max())
            near = np.flatnonzero((nodes >= low) & (nodes <= high))
            if near.size < 3:  # posteriors narrower than the nodes are apart
                middle = int(np.argmin(np.abs(nodes - 0.5 * (low + high))))
                near = np.arange(max(middle - 2, 0), min(middle + 3, nodes.size))
            window = slice(int(near[0]), int(near[-1]) + 1)
            yield self._block(rows, window)

    def _block(self, rows: NDArray[np.intp], window: slice) -> _Block:
        there = self._device.torch.from_numpy(rows).to(self._device.device)
        statistics = [part.to(self._terms.values[0].dtype) for part in self._statistics(there)]
        joint = 0.0
        middle = (window.start + window.stop) // 2
        for data, term in zip(statistics, self._terms.values, strict=True):
            # what an agent has in common at all nodes says nothing, and costs digits
            joint = joint + self._device.along_tasks(data, term[:, window] - term[:, middle, None])
        density = self._device.numpy(joint) + self._rule.log_weights[window]
        _, weights = posterior_weights(density)
        alive = np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)
        first, last = int(alive[0]), int(alive[-1]) + 1
        near = slice(window.start + first, window.start + last)
        slopes = [by[:, :, near] for by in self._terms.slopes]
        return _Block(rows, statistics, self._rule.nodes[near], weights[:, first:last], slopes)

    def _rows(self) -> int:
        """How many agents are looked at together: what a quarter of the free memory holds."""
        an_agent = _LEVELS_AT_WORK * self.freedom.count * np.dtype(self._kind).itemsize
        rows = int(0.25 * self._device.free_bytes() // an_agent)
        if rows < _FEWEST_ROWS:
            least = 4 * _FEWEST_ROWS * an_agent / 1e9
            raise TooLittleMemoryError(
                f"Standard errors of tasks need {least:.1f} GB of free memory on the device, which has "
                f"{self._device.free_bytes() / 1e9:.1f}."
            )
        return min(rows, _MOST_ROWS)

    # ---------------------------------------------------------------- levels

    def _few(self, block: _Block) -> Iterator[Tensor]:
        """Levels until their share of the information is small, and at most a few."""
        for count, polynomial in enumerate(orthonormal(block.nodes, block.weights), start=1):
            level = self._moments(block, block.weights * polynomial)
            yield level
            if count >= FEW_LEVELS or self._share(level) < ROUGHLY_ENOUGH:
                return

    def _converged(self, block: _Block, enough: float, most: int) -> list[Tensor] | None:
        """Levels until their share is small; None where many are not enough."""
        kept: list[Tensor] = []
        for polynomial in orthonormal(block.nodes, block.weights):
            if len(kept) >= most:
                return None
            kept.append(self._moments(block, block.weights * polynomial))
            if self._share(kept[-1]) < enough:
                break
        return kept

    @cached_property
    def _scale(self) -> Tensor:
        own, _, shared = self.complete
        diagonal = np.diagonal(own, axis1=1, axis2=2).reshape(-1)
        return self._sent(np.maximum(np.concatenate([diagonal, np.diagonal(shared)]), 1e-12))

    def _share(self, level: Tensor) -> float:
        """The largest share of a parameter's information that a level has."""
        return float(((level * level).sum(dim=0) / self._scale).max())

    def _by_nodes(self, block: _Block) -> Iterator[Tensor]:
        """√w_jq (s_jq − E_j s), node by node: exact, whatever the shape of s."""
        mean = self._moments(block, block.weights)
        for node, weight in enumerate(block.weights.T):
            here = self._laid_out(block, [by[:, None, :, node] for by in block.slopes])
            yield self._sent(np.sqrt(weight))[:, None] * (here - mean)

    def _moved(self, block: _Block) -> tuple[Floats, Floats, Tensor]:
        """Posterior means and deviations of agents, and how far the means move with tasks."""
        mean = block.weights @ block.nodes
        beside = block.weights * (block.nodes - mean[:, None])
        variance = (beside * (block.nodes - mean[:, None])).sum(axis=1)
        return mean, np.sqrt(variance), self._moments(block, beside)

    def _moments(self, block: _Block, weights: Floats) -> Tensor:
        """Σ_q v_jq s_j(θ_q) for weights v: [agents, size], own parameters first."""
        some = self._sent(weights)
        return self._laid_out(block, [some @ by.transpose(1, 2) for by in block.slopes])

    def _laid_out(self, block: _Block, slopes: list[Tensor]) -> Tensor:
        own = len(self.freedom.own)
        scores = sum(data * by for data, by in zip(block.statistics, slopes, strict=True))
        mine = scores[:own].permute(1, 2, 0).reshape(scores.shape[1], -1)
        if not self.freedom.shared:
            return mine
        return self._device.torch.cat([mine, scores[own:].sum(dim=2).T], dim=1)


class AskedOnDevice(ABC):
    """Answers questions about agents whose responses lie on a device.

    The scores that were asked for last are kept: several questions about the same tasks follow each other.
    """

    _last: tuple[PartScores, DeviceScores] | None = None

    @abstractmethod
    def scores_for(self, asked: PartScores) -> DeviceScores:
        """Return the scores that a question is about."""

    def total(self, asked: Asked) -> tuple[Floats, ...]:
        """Return the sums of what is answered about all agents."""
        assert isinstance(asked, PartScores)
        return asked.answered_by(self._scores(asked))

    def each(self, asked: Asked) -> tuple[Floats, ...]:
        """Return what is answered about each agent."""
        assert isinstance(asked, PartScores)
        return self._scores(asked).abilities(asked)

    def _scores(self, asked: PartScores) -> DeviceScores:
        last = self._last
        if last is None or last[0].items is not asked.items or last[0].rule is not asked.rule:
            last = self._last = asked, self.scores_for(asked)
        return last[1]

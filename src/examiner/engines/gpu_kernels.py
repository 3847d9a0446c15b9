"""Any likelihood on a device: guessing and slipping, trials that share an interaction, scores in [0, 1]."""

from __future__ import annotations

from functools import partial

import numpy as np

from examiner.engines.device import Device, Tensor
from examiner.engines.gpu_errors import AskedOnDevice, DeviceScores, NodeTerms
from examiner.irt import (
    Floats,
    Freedom,
    ItemParameters,
    KernelSource,
    KernelStatistics,
    PartScores,
    Quadrature,
    Response,
    Unknowns,
    UsableResponses,
    agent_blocks,
    complete_information,
    free_slopes,
    kernel_for,
    kernel_kind,
)
from examiner.irt import item_curves as curves
from examiner.results import ResponseMatrix, connections_in_blocks

_ROWS = 8192


class DeviceKernelSource(AskedOnDevice):
    """The statistics T_c of a kernel on a device: an E-step is two products for each of them.

    All nodes are looked at for every agent: what windows save is less than what blocks of few agents cost
    a GPU.
    """

    def __init__(
        self,
        device: Device,
        matrix: ResponseMatrix,
        response: Response,
        usable: UsableResponses | None = None,
    ) -> None:
        here = KernelSource(matrix, response)
        self._device, self._here, self.response = device, here, response
        self.agents, self.tasks, self.trials = matrix.agents, matrix.tasks, here.trials
        self.pace = here.pace
        if usable is not None:
            self.dropped, self.left_out, self.means = usable.dropped, usable.left_out, usable.means
            self.joined = connections_in_blocks(matrix)
        self._kernel = kernel_for(response, matrix)
        kind = device.kind(kernel_kind(matrix))
        parts: list[list[Tensor]] = []
        self._constant = 0.0
        for block in agent_blocks(matrix, self._kernel):
            self._constant += float(block.constant.sum())
            parts.append([device.doubles(part).to(kind) for part in block.statistics])
        self._data = [device.torch.cat(each) for each in zip(*parts, strict=True)]

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether the response is the one it was made for: any curve will do."""
        return unknowns.response == self.response

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from correlations of results with the total or mean result."""
        return self._here.first_start(shared_slope=shared_slope)

    @property
    def alike(self) -> bool:
        """Whether all agents were given the same trials, so that fewer tables are needed."""
        return False

    def scores_for(self, asked: PartScores) -> DeviceScores:
        """Return scores by the derivatives of the kernel's terms."""
        items, rule, kernel = asked.items, asked.rule, self._kernel
        free = Freedom.at(items, asked.model, None)
        found = self.expected(items, rule)
        complete = complete_information(kernel, found.sums, items, found.nodes, free)
        values = kernel.terms(curves(items, rule.nodes), items.precision)
        slopes = free_slopes(kernel, items, rule, free)
        terms = NodeTerms(
            *([self._device.doubles(part) for part in each] for each in (values, slopes))
        )
        rows_of = partial(_rows_of, self._data)
        return DeviceScores(self._device, rows_of, terms, rule, free, complete, found)

    def expected(self, items: ItemParameters, rule: Quadrature) -> KernelStatistics:
        """Return S_c = T_cᵀ W and the abilities."""
        device, torch = self._device, self._device.torch
        shape = curves(items, rule.nodes)
        with device.exactly():
            terms = [device.doubles(term) for term in self._kernel.terms(shape, items.precision)]
            nodes, weight = device.doubles(rule.nodes), device.doubles(rule.log_weights)
            sums = [torch.zeros_like(term) for term in terms]
            mass, total = torch.zeros_like(nodes), 0.0
            mean = torch.empty(len(self.agents), dtype=torch.float64, device=nodes.device)
            variance = torch.empty_like(mean)
            for start in range(0, len(self.agents), _ROWS):
                rows = slice(start, start + _ROWS)
                joint = weight + sum(
                    device.along_tasks(data[rows], term)
                    for data, term in zip(self._data, terms, strict=True)
                )
                log_marginal = torch.logsumexp(joint, dim=1)
                weights = torch.exp(joint - log_marginal[:, None])
                total += float(log_marginal.sum())
                mean[rows] = weights @ nodes
                variance[rows] = (weights * (nodes - mean[rows, None]) ** 2).sum(dim=1)
                mass += weights.sum(dim=0)
                for each, data in zip(sums, self._data, strict=True):
                    each += device.along_agents(data[rows], weights)
            found = [device.numpy(part) for part in (mean, variance, mass, *sums)]
        ability, spread, at_nodes, *every = found
        return KernelStatistics(
            total + self._constant,
            ability,
            spread,
            self._kernel,
            rule.nodes,
            tuple(every),
            shape,
            np.asarray(at_nodes),
        ).where_agents_are()


def _rows_of(data: list[Tensor], rows: Tensor) -> list[Tensor]:
    """Some agents' data. No method: scores that kept their source would keep its memory."""
    return [each[rows] for each in data]

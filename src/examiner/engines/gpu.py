"""Fits on a GPU: responses are sent once as bytes, and few numbers a task and agent come back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from examiner.engines.device import Device, Tensor
from examiner.engines.gpu_errors import AskedOnDevice, DeviceScores, NodeTerms
from examiner.engines.gpu_kernels import DeviceKernelSource
from examiner.engines.sending import DeviceCounts, first_start, sent
from examiner.irt import (
    MODELS,
    CompleteInformation,
    Derivatives,
    ExponentialStatistics,
    Floats,
    Freedom,
    ItemParameters,
    PartScores,
    Places,
    Quadrature,
    Response,
    Totals,
    Unknowns,
    log_choices,
    pace_for,
    places_for,
    usable_responses,
)
from examiner.results import ResponseMatrix

_ROWS = 8192
"""Agents whose posteriors are looked at together."""
_REACH_IN_SDS = 8.0
_TOLERANCE, _NOISE = 5e-6, 1e-10
"""Products in single precision are added in double here: parameters settle further than in numpy."""


@dataclass(frozen=True, slots=True)
class DeviceStatistics(ExponentialStatistics):
    """The same statistics, with curves and mass on the device: only sums over nodes come back."""

    device: Device
    there: _There

    def derivatives(self) -> Derivatives:
        """Return gradients and curvatures of every task."""
        torch = self.device.torch
        nodes, mass, trials, rising = self.there
        powers = torch.stack([torch.ones_like(nodes), nodes, nodes**2], dim=1)
        bend = rising - rising * rising
        if mass.ndim == 1:
            weighted = mass[:, None] * powers
            first, second = rising @ weighted[:, :2], bend @ weighted
        else:
            first, second = (rising * mass) @ powers[:, :2], (bend * mass) @ powers
        first, second = (self.device.numpy(part * trials[:, None]) for part in (first, second))
        return Derivatives(
            self.won_ability - first[:, 1],
            self.won - first[:, 0],
            second[:, 2].copy(),
            second[:, 1],
            second[:, 0].copy(),
        )


class _There(NamedTuple):
    """What stays on the device: places, mass there, trials [tasks], and σ at the places [tasks, places]."""

    nodes: Tensor
    mass: Tensor
    trials: Tensor
    rising: Tensor


class DeviceSource(AskedOnDevice):
    """Successes on a device, for the 1PL and 2PL; `suited` sends other models to their kernels there."""

    def __init__(
        self, device: Device, matrix: ResponseMatrix, response: Response, data: DeviceCounts
    ) -> None:
        self._device, self._matrix, self.response = device, matrix, response
        self._data, whole = data, data.whole
        self.agents, self.tasks = whole.agents, whole.tasks
        self.dropped, self.left_out, self.means = whole.dropped, whole.left_out, whole.means
        self.joined = whole.joined
        self.trials = whole.tried / len(whole.agents)
        constant = float(log_choices(matrix).sum()) if whole.most > 1 else 0.0
        self._totals = Totals(whole.won, whole.tried, constant)
        self.pace = pace_for(len(self.tasks))
        if data.kind is not np.float64:
            self.pace = self.pace._replace(tolerance=_TOLERANCE, noise=_NOISE)
        self._places: tuple[Places, Tensor, Tensor | None] | None = None

    def suited(self, unknowns: Unknowns) -> DeviceSource | DeviceKernelSource:
        """Return the source of the statistics that a model asks for."""
        if unknowns.is_plain and unknowns.response == "binomial":
            return self
        return DeviceKernelSource(self._device, self._data.kept(self._matrix), self.response)

    def serves(self, unknowns: Unknowns) -> bool:
        """Whether curves run from 0 to 1 and trials of a cell are independent."""
        return unknowns.is_plain

    def first_start(self, *, shared_slope: bool) -> tuple[Floats, Floats]:
        """Return slopes and intercepts from shares and from correlations with the total score."""
        return first_start(self._device, self._data, shared_slope=shared_slope)

    def expected(self, items: ItemParameters, rule: Quadrature) -> DeviceStatistics:
        """Return the statistics of one E-step."""
        device = self._device
        with device.exactly():
            places, at, spread = self._prepared(rule, float(np.abs(items.slope).max()))
            slope = device.doubles(items.slope)
            eta = slope[:, None] * at + device.doubles(items.intercept)[:, None]
            plus, rising = device.torch.nn.functional.softplus(eta), device.torch.sigmoid(eta)
            score = device.along_tasks(self._data.won, slope)
            shared = self._data.given.ndim == 1
            step = self._common if shared else self._own
            found = step(_Curves(rule, spread, slope, plus, rising), score)
            won_ability = device.along_agents(self._data.won, found.ability)
            trials = self._data.given if shared else device.torch.ones_like(slope)
            there = _There(at, found.mass, trials, rising)
            numbers = (device.numpy(part) for part in (found.ability, found.variance, won_ability))
            ability, variance, won_ability = numbers
            total = float(found.log_likelihood) + float(items.intercept @ self._totals.won)
        nothing = np.empty(0)
        return DeviceStatistics(
            total + self._totals.constant,
            ability,
            variance,
            nodes=places.at,
            mass=nothing,
            trials=nothing,
            rising=nothing,
            won=self._totals.won,
            won_ability=won_ability,
            device=device,
            there=there,
        )

    @property
    def alike(self) -> bool:
        """Whether all agents were given the same trials."""
        return self._data.whole.given is not None

    def scores_for(self, asked: PartScores) -> DeviceScores:
        """Scores of the 1PL and 2PL, whose derivatives are known in closed form."""
        items, rule, device = asked.items, asked.rule, self._device
        free = Freedom.at(items, asked.model, None)
        found = self.expected(items, rule)
        with device.exactly():
            nodes = device.doubles(rule.nodes)
            eta = device.doubles(items.slope)[:, None] * nodes
            eta += device.doubles(items.intercept)[:, None]
            rising = device.torch.sigmoid(eta)
            ones = device.torch.ones_like(eta)
            by = {"slope": (ones * nodes, -rising * nodes), "intercept": (ones, -rising)}
            slopes = [device.torch.stack([by[name][c] for name in free.names]) for c in range(2)]
            terms = NodeTerms([eta, -device.torch.nn.functional.softplus(eta)], slopes)
        complete = _complete(found.derivatives(), free)
        counts = partial(_counts, self._data)
        return DeviceScores(device, counts, terms, rule, free, complete, found)

    def _prepared(self, rule: Quadrature, steepest: float) -> tuple[Places, Tensor, Tensor | None]:
        kept = self._places
        if kept is None or not kept[0].serve(rule, steepest):
            places, device = places_for(rule, steepest), self._device
            spread = None if places.spread is None else device.doubles(places.spread)
            kept = self._places = places, device.doubles(places.at), spread
        return kept

    def _common(self, curves: _Curves, score: Tensor) -> _Posteriors:
        """All agents have A(θ) in common: each looks at the nodes around its mode."""
        torch, rule = self._device.torch, curves.rule
        trials = self._data.given
        total, rate = trials @ curves.plus, (trials * curves.slope) @ curves.rising
        if curves.spread is not None:
            total, rate = curves.spread @ total, curves.spread @ rate
        nodes = self._device.doubles(rule.nodes)
        base = self._device.doubles(rule.log_weights) - total
        half = int(np.ceil(_REACH_IN_SDS / rule.spacing)) if rule.spacing else len(rule)
        width = min(2 * half + 1, len(rule))
        # The mode of s θ − A(θ) − θ²/2 is where A'(θ) + θ, which only rises, reaches s.
        centre = torch.searchsorted(rate + nodes, score)
        first = torch.clamp(centre - half, 0, len(rule) - width)
        window = first[:, None] + torch.arange(width, device=nodes.device)
        around = nodes[window]
        log_marginal, weights = _weights(torch, score[:, None] * around + base[window])
        mean = (weights * around).sum(dim=1)
        variance = (weights * (around - mean[:, None]) ** 2).sum(dim=1)
        mass = torch.bincount(window.ravel(), weights.ravel(), minlength=len(rule))
        mass = mass if curves.spread is None else mass @ curves.spread
        return _Posteriors(log_marginal.sum(), mean, variance, mass)

    def _own(self, curves: _Curves, score: Tensor) -> _Posteriors:
        """Each agent has an A(θ) of its own: two products of the trials with tables over places."""
        device, torch = self._device, self._device.torch
        nodes, weight = (
            device.doubles(part) for part in (curves.rule.nodes, curves.rule.log_weights)
        )
        given, spread = self._data.given, curves.spread
        mean, variance = torch.empty_like(score), torch.empty_like(score)
        mass, total = torch.zeros_like(curves.plus), 0.0
        for start in range(0, len(score), _ROWS):
            rows = slice(start, start + _ROWS)
            own = device.along_tasks(given[rows], curves.plus)
            joint = score[rows, None] * nodes + weight - (own if spread is None else own @ spread.T)
            log_marginal, weights = _weights(torch, joint)
            total += log_marginal.sum()
            mean[rows] = weights @ nodes
            variance[rows] = (weights * (nodes - mean[rows, None]) ** 2).sum(dim=1)
            at_places = weights if spread is None else weights @ spread
            mass += device.along_agents(given[rows], at_places)
        return _Posteriors(total, mean, variance, mass)


class _Curves(NamedTuple):
    """Curves at places, and how they spread to the nodes of a quadrature."""

    rule: Quadrature
    spread: Tensor | None
    slope: Tensor
    plus: Tensor
    rising: Tensor


class _Posteriors(NamedTuple):
    """Posteriors of agents, on the device."""

    log_likelihood: Tensor
    ability: Tensor
    variance: Tensor
    mass: Tensor


def _counts(data: DeviceCounts, rows: Tensor) -> list[Tensor]:
    """Successes and trials of agents. No method: scores that kept their source would keep its memory."""
    won, given = data.won[rows], data.given
    return [won, given.expand(won.shape) if given.ndim == 1 else given[rows]]


def _weights(torch: Tensor, joint: Tensor) -> tuple[Tensor, Tensor]:
    """Log sums of densities over nodes, and their weights."""
    log_marginal = torch.logsumexp(joint, dim=1)
    return log_marginal, torch.exp(joint - log_marginal[:, None])


def _complete(found: Derivatives, free: Freedom) -> CompleteInformation:
    """Σ_j E_j[−H] of the parameters that are free, without priors."""
    bends = {"slopeslope": found.slopes, "interceptintercept": found.intercepts}
    every = np.stack(
        [
            np.stack([bends.get(first + second, found.both) for second in free.names], axis=1)
            for first in free.names
        ],
        axis=1,
    )
    own = len(free.own)
    shared = every[:, own:, own:].sum(axis=0)
    return CompleteInformation(every[:, :own, :own], every[:, :own, own:], shared)


def gpu(
    matrix: ResponseMatrix, *, response: Response | None = None, device: str | None = None
) -> DeviceSource | DeviceKernelSource:
    """Return a source for `irt.fit` of responses on a GPU.

    They are sent once, a byte a cell; they take four bytes a cell there, eight where cells are missing.
    `device` is torch's name of it, by default "cuda"; "cpu" computes the same without one.

    >>> from examiner.irt import simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> gpu(simulate(items, 100, rng=0), device="nowhere")  # doctest: +SKIP
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: torch cannot compute on 'nowhere': … Give 'cuda', 'cuda:0' or 'cpu'.
    """
    place = Device(device)
    if not matrix.is_counts:
        usable = usable_responses(matrix, MODELS["beta"], response)
        assert usable.matrix is not None
        return DeviceKernelSource(place, usable.matrix, usable.response, usable)
    data = sent(place, matrix)
    chosen: Response = response or ("beta-binomial" if data.whole.most > 1 else "binomial")
    return DeviceSource(place, matrix, chosen, data)

"""What tasks tell about ability under a fitted model: mutual information, and Fisher information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from examiner.answers import Answer, Scalar, Table, bound, name, number
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters, fisher_information, probability
from examiner.irt.posterior import Quadrature
from examiner.messages import InputError, counted
from examiner.validation import Randomness, generator

NODES = 121
"""Evenly spaced abilities from −6 to 6: an error of 0.1 still spans a node to either side."""
SAMPLES = 1000
"""Agents simulated to tell what several tasks say together: errors of about 0.01 bits."""
BLOCK_CELLS = 1 << 22
GATHERED = 201
"""Abilities at which Fisher information is taken for intervals, where there are more agents."""
DRAWS = 100
"""Draws of the tasks' parameters and the agents' abilities behind an interval."""


class TaskAbilityBits(Table):
    """Information of single tasks about ability, the most informative first."""

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information about ability", unit="bits")
    bits_low: Floats = bound("bits", "low")
    bits_high: Floats = bound("bits", "high")
    fisher_information: Floats = number("Mean Fisher information at the abilities of agents")
    fisher_information_low: Floats = bound("fisher_information", "low")
    fisher_information_high: Floats = bound("fisher_information", "high")


class ChosenBits(Table):
    """Tasks that carry most information together, one after the other."""

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information of the tasks so far about ability", unit="bits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AbilityInformation(Answer):
    """Bits of single tasks about ability, and what a few tell together.

    Arrays are [tasks]; low and high ends hold 95 % of draws from the errors of the fit, NaN without
    errors. `fisher` is the mean over agents of the Fisher information at their abilities. `chosen` are the
    tasks that tell most together, one after another, `chosen_bits` [size] what they tell so far, and
    `whole_bits` what all tasks tell.
    """

    kind: ClassVar[str] = "ability-information"

    tasks: tuple[str, ...]
    bits: Floats
    bits_low: Floats
    bits_high: Floats
    fisher: Floats
    fisher_low: Floats
    fisher_high: Floats
    chosen: tuple[str, ...]
    chosen_bits: Floats
    whole_bits: float
    agents: int

    @property
    def headline(self) -> str:
        """What the chosen tasks tell about ability, and what all do."""
        few = counted(len(self.chosen), "task")
        return (
            f"{few} of {len(self.tasks):,} carry {self.chosen_bits[-1]:.3g} bits of information about "
            f"ability; all tasks carry {self.whole_bits:.3g}."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Information of tasks, the most informative first, and of the chosen set."""
        tasks = TaskAbilityBits(
            task=self.tasks,
            bits=self.bits,
            bits_low=self.bits_low,
            bits_high=self.bits_high,
            fisher_information=self.fisher,
            fisher_information_low=self.fisher_low,
            fisher_information_high=self.fisher_high,
        )
        chosen = ChosenBits(task=self.chosen, bits=self.chosen_bits)
        return {"tasks": tasks.sorted_by("bits", descending=True), "chosen": chosen}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """What all tasks tell."""
        return {
            "whole_bits": Scalar(self.whole_bits, "Information of all tasks about ability", "bits"),
            "agents": Scalar(self.agents, "Agents"),
        }


def ability_information(
    fit: IRTFit, *, rng: Randomness, size: int = 10, draws: int = DRAWS
) -> AbilityInformation:
    r"""Tell how many bits one trial of each task gives about the ability of an agent like those fitted.

    .. math:: I(X_j; \theta) = H\Big(\int P_j\,g\Big) - \int H(P_j)\,g, \qquad
              H(p) = -p \log_2 p - (1 - p) \log_2 (1 - p)

    with g the fitted population of abilities. Tasks together tell the sum of what each adds to those before
    it, I(X_j; θ | X_1 … X_{j−1}), taken over simulated agents; that of all tasks is
    :math:`E \log_2 p(x \mid \theta) / p(x)`. Where every cell is a single trial, this is what a table can
    say: how agents vary from trial to trial, and with it which agent is playing, it does not.

    References: Cover & Thomas (2006), sections 2.3 and 2.5; Lord (1980), eq. 5-9; Lindley (1956).

    >>> from examiner.irt.ability import known
    >>> fit = known(ItemParameters.of(["flat", "steep"], [0.0, 9.0], [0.0, 0.0]))
    >>> found = ability_information(fit, rng=0, size=1)
    >>> found.bits.round(2), found.chosen
    (array([0. , 0.8]), ('steep',))
    """
    if fit.items.response not in ("binomial", "beta-binomial"):
        raise InputError(
            f"Bits about ability are computed from successes, and this fit is of "
            f"{fit.items.response} scores. Say what a success is (`success=1.0`)."
        )
    if not 1 <= size <= len(fit.items):
        raise InputError(f"Cannot choose {size} of {counted(len(fit.items), 'task')}.")
    rng = generator(rng)
    grid = _population(fit)
    curves = probability(fit.items, grid.nodes)
    low, high, fisher_low, fisher_high = _ends(fit, grid, draws, rng)
    columns, bits = _together(curves, grid, size, rng)
    whole = float(bits[-1])
    if size < len(fit.items):  # both are simulated, and a set never gives more than all tasks
        whole = max(_whole(curves, grid, rng), whole)
    return AbilityInformation(
        fit.items.tasks,
        task_bits(curves, grid.weights),
        low,
        high,
        _fisher(fit.items, fit.abilities.ability),
        fisher_low,
        fisher_high,
        tuple(fit.items.tasks[column] for column in columns),
        bits,
        whole,
        len(fit.abilities.agents),
    )


def task_bits(curves: Floats, weights: Floats) -> Floats:
    """Return the mutual information of each task with ability from P [nodes, tasks] and weights [nodes].

    >>> task_bits(np.array([[0.0, 0.5], [1.0, 0.5]]), np.array([0.5, 0.5]))
    array([1., 0.])
    """
    return np.asarray(_entropy(weights @ curves) - weights @ _entropy(curves))


class _Grid(NamedTuple):
    nodes: Floats
    weights: Floats


def _population(fit: IRTFit) -> _Grid:
    grid = Quadrature.grid(count=NODES)
    weights = np.exp(grid.log_weights)
    return _Grid(grid.nodes * fit.population_sd, weights / weights.sum())


def _entropy(share: Floats) -> Floats:
    from scipy.special import entr  # slow to import

    return np.asarray((entr(share) + entr(1.0 - share)) / np.log(2.0))


def _fisher(items: ItemParameters, ability: Floats) -> Floats:
    known = ability[np.isfinite(ability)]
    if not len(known):
        return np.full(len(items), np.nan)
    step = max(1, BLOCK_CELLS // len(items))
    starts = range(0, len(known), step)
    total = sum(fisher_information(items, known[at : at + step]).sum(axis=0) for at in starts)
    return np.asarray(total / len(known))


def gathered(ability: Floats, most: int = GATHERED) -> tuple[Floats, Floats]:
    """Return abilities and what each counts: those given, or of many an even grid that shares out each.

    An ability between two of the grid counts for both, by how near it is: means of smooth curves are off by
    an eighth of the square of a step times their curvature.

    >>> nodes, weights = gathered(np.array([0.0, 0.25, 1.0]), most=2)
    >>> nodes, weights * 3
    (array([0., 1.]), array([1.75, 1.25]))
    """
    known = ability[np.isfinite(ability)]
    if len(known) <= most:
        return known, np.full(len(known), 1.0 / max(len(known), 1))
    nodes = np.linspace(known.min(), known.max(), most)
    place = (known - nodes[0]) / max(nodes[1] - nodes[0], 1e-300)
    below = np.minimum(place.astype(np.intp), most - 2)
    share = place - below
    weights = np.bincount(below, weights=1 - share, minlength=most)
    weights = weights + np.bincount(below + 1, weights=share, minlength=most)
    return nodes, weights / len(known)


def _ends(fit: IRTFit, grid: _Grid, draws: int, rng: np.random.Generator) -> Floats:
    """Ends of the intervals of bits and of Fisher information, [4, tasks]; NaN without errors."""
    errors, items = fit.errors, fit.items
    if errors is None or draws < 2:
        return np.full((4, len(items)), np.nan)
    share = np.clip(
        np.nan_to_num(errors.covariance / np.maximum(errors.slope, 1e-12) ** 2), -1e6, 1e6
    )
    left = np.sqrt(np.maximum(errors.intercept**2 - share**2 * errors.slope**2, 0.0))
    spread = np.nan_to_num(fit.abilities.error)
    bits, fisher = np.empty((2, draws, len(items)))
    for draw in range(draws):
        first, second = rng.normal(size=(2, len(items)))
        up = errors.slope * first
        drawn = replace(
            items,
            slope=items.slope + np.nan_to_num(up),
            intercept=items.intercept + np.nan_to_num(share * up + left * second),
        )
        bits[draw] = task_bits(probability(drawn, grid.nodes), grid.weights)
        ability = fit.abilities.ability + spread * rng.normal(size=len(spread))
        near, weights = gathered(ability)
        fisher[draw] = weights @ fisher_information(drawn, near) if len(near) else np.nan
    known = np.isfinite(errors.slope) & np.isfinite(errors.intercept)
    ends = [*np.percentile(bits, (2.5, 97.5), axis=0), *np.percentile(fisher, (2.5, 97.5), axis=0)]
    return np.where(known, np.array(ends), np.nan)


def _together(
    curves: Floats, grid: _Grid, size: int, rng: np.random.Generator
) -> tuple[list[int], Floats]:
    """The tasks that add most to those before them, by position, and the bits so far."""
    true = rng.choice(len(grid.nodes), SAMPLES, p=grid.weights)
    belief = np.tile(grid.weights, (SAMPLES, 1))
    each = _entropy(curves)
    chosen: list[int] = []
    bits: list[float] = []
    for _ in range(size):
        adds = (_entropy(belief @ curves) - belief @ each).mean(axis=0)
        adds[chosen] = -np.inf
        best = int(adds.argmax())
        chosen.append(best)
        bits.append(float(adds[best]))
        right = rng.random(SAMPLES) < curves[true, best]
        belief *= np.where(right[:, None], curves[:, best], 1.0 - curves[:, best])
        belief /= belief.sum(axis=1, keepdims=True)
    return chosen, np.cumsum(bits)


def _whole(curves: Floats, grid: _Grid, rng: np.random.Generator) -> float:
    """What all tasks tell together, by simulated agents."""
    true = rng.choice(len(grid.nodes), SAMPLES, p=grid.weights)
    right = (rng.random((SAMPLES, curves.shape[1])) < curves[true]).astype(np.float64)
    tiny = 1e-300
    up, down = (np.log(np.maximum(share, tiny)) for share in (curves, 1.0 - curves))
    log_likelihood = right @ (up - down).T + down.sum(axis=1)
    from scipy.special import logsumexp  # slow to import

    own = log_likelihood[np.arange(SAMPLES), true]
    every = logsumexp(log_likelihood + np.log(grid.weights), axis=1)
    return float((own - every).mean() / np.log(2.0))

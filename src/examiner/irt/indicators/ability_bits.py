"""Information of tasks about ability under a fitted model: bits, and Fisher information."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, name, number, scalar
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters, fisher_information, probability
from examiner.irt.posterior import Quadrature
from examiner.messages import InputError, counted, joined
from examiner.validation import Randomness, generator, seed_of


class TaskAbilityBits(Table):
    """Information of single tasks about ability, the most informative first.

    Intervals hold 95 % of draws from the errors of the fit, and are NaN without errors.
    """

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information about ability", unit="bits")
    bits_low: Floats = bound("bits", "low")
    bits_high: Floats = bound("bits", "high")
    fisher_information: Floats = number("Mean Fisher information at the abilities of agents")
    fisher_information_low: Floats = bound("fisher_information", "low")
    fisher_information_high: Floats = bound("fisher_information", "high")


class ChosenBits(Table):
    """Tasks that carry most information together, in the order in which they are added."""

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information of the tasks so far about ability", unit="bits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AbilityInformation(Answer):
    """Bits of single tasks about ability, and of the tasks that carry most information together."""

    kind: ClassVar[str] = "ability-information"

    tasks: TaskAbilityBits
    chosen: ChosenBits
    whole_bits: float = field(metadata=scalar("Information of all tasks about ability", "bits"))
    agents: int = field(metadata=scalar("Agents"))
    seed: int | None = None

    @property
    def headline(self) -> str:
        """The information of the chosen tasks about ability, and of all tasks."""
        few, whole = self.chosen.bits[-1], self.whole_bits
        if len(self.chosen) == len(self.tasks):
            together = counted(len(self.tasks), "task")
            return f"All {together} together carry {whole:.3g} bits of information about ability."
        return (
            f"{len(self.chosen):,} of {counted(len(self.tasks), 'task')} carry {100 * few / whole:.0f} % "
            f"of the information of all tasks about ability ({few:.3g} of {whole:.3g} bits): "
            f"{joined(self.chosen.task)}."
        )


def ability_information(
    fit: IRTFit, *, size: int = 10, draws: int = 100, rng: Randomness = 0
) -> AbilityInformation:
    r"""Return how many bits one trial of each task gives about the ability of an agent like those fitted.

    .. math:: I(X_j; \theta) = H\Big(\int P_j\,g\Big) - \int H(P_j)\,g, \qquad
              H(p) = -p \log_2 p - (1 - p) \log_2 (1 - p)

    with g the fitted population of abilities. The information of several tasks is the sum of what each adds
    to those before it, I(X_j; θ | X_1 … X_{j−1}), over simulated agents; that of all tasks is
    :math:`E \log_2 p(x \mid \theta) / p(x)`. A table with a single trial per cell shows no more than this:
    not how agents vary from trial to trial, and therefore not which agent is playing. Intervals come from
    `draws` of the tasks' parameters and the agents' abilities.

    References: Cover & Thomas (2006), sections 2.3 and 2.5; Lord (1980), eq. 5-9; Lindley (1956).

    >>> from examiner.irt.ability import known
    >>> fit = known(ItemParameters.of(["flat", "steep"], [0.0, 9.0], [0.0, 0.0]))
    >>> information = ability_information(fit, rng=0, size=1)
    >>> information.tasks.bits.round(2), information.chosen.task
    (array([0.8, 0. ]), ('steep',))
    """
    if fit.items.response not in ("binomial", "beta-binomial"):
        raise InputError(
            f"Bits about ability are computed from successes, and this fit is of "
            f"{fit.items.response} scores. Say what a success is (`success=1.0`)."
        )
    if not 1 <= size <= len(fit.items):
        raise InputError(f"Cannot choose {size} of {counted(len(fit.items), 'task')}.")
    seed = seed_of(rng)
    drawing = generator(seed)
    # evenly spaced abilities from −6 to 6 deviations: an error of 0.1 spans a node to either side
    grid = Quadrature.grid(count=121)
    nodes, weights = grid.nodes * fit.population_sd, np.exp(grid.log_weights)
    weights /= weights.sum()
    curves = probability(fit.items, nodes)
    low, high, fisher_low, fisher_high = _interval_ends(fit, nodes, weights, draws, drawing)
    columns, bits = _chosen_tasks(curves, weights, size, drawing)
    whole = float(bits[-1])
    if size < len(fit.items):  # both are simulated, and a set never gives more than all tasks
        whole = max(_information_of_all(curves, weights, drawing), whole)
    tasks = TaskAbilityBits(
        task=fit.items.tasks,
        bits=task_bits(curves, weights),
        bits_low=low,
        bits_high=high,
        fisher_information=_mean_fisher_information(fit.items, fit.abilities.ability),
        fisher_information_low=fisher_low,
        fisher_information_high=fisher_high,
    )
    chosen = ChosenBits(task=tuple(fit.items.tasks[column] for column in columns), bits=bits)
    agents = len(fit.abilities.agents)
    ordered = tasks.sorted_by("bits", descending=True)
    return AbilityInformation(ordered, chosen, whole, agents, seed)


def task_bits(curves: Floats, weights: Floats) -> Floats:
    """Return the mutual information of each task with ability from P [nodes, tasks] and weights [nodes].

    >>> task_bits(np.array([[0.0, 0.5], [1.0, 0.5]]), np.array([0.5, 0.5]))
    array([1., 0.])
    """
    return np.asarray(_entropy(weights @ curves) - weights @ _entropy(curves))


def _entropy(share: Floats) -> Floats:
    from scipy.special import entr  # slow to import

    return np.asarray((entr(share) + entr(1.0 - share)) / np.log(2.0))


def _mean_fisher_information(items: ItemParameters, ability: Floats) -> Floats:
    finite = ability[np.isfinite(ability)]
    if not len(finite):
        return np.full(len(items), np.nan)
    step = max(1, (1 << 22) // len(items))  # bounds memory
    starts = range(0, len(finite), step)
    total = sum(fisher_information(items, finite[at : at + step]).sum(axis=0) for at in starts)
    return np.asarray(total / len(finite))


def gathered(ability: Floats, most: int = 201) -> tuple[Floats, Floats]:
    """Return abilities and their weights: those given, or an even grid that stands for more of them.

    An ability between two of the grid adds to both, in proportion to its distance: the error of means of
    smooth curves is an eighth of the square of a step times their curvature.

    >>> nodes, weights = gathered(np.array([0.0, 0.25, 1.0]), most=2)
    >>> nodes, weights * 3
    (array([0., 1.]), array([1.75, 1.25]))
    """
    finite = ability[np.isfinite(ability)]
    if len(finite) <= most:
        return finite, np.full(len(finite), 1.0 / max(len(finite), 1))
    nodes = np.linspace(finite.min(), finite.max(), most)
    place = (finite - nodes[0]) / max(nodes[1] - nodes[0], 1e-300)
    below = np.minimum(place.astype(np.intp), most - 2)
    share = place - below
    weights = np.bincount(below, weights=1 - share, minlength=most)
    weights = weights + np.bincount(below + 1, weights=share, minlength=most)
    return nodes, weights / len(finite)


def _interval_ends(
    fit: IRTFit, nodes: Floats, weights: Floats, draws: int, rng: np.random.Generator
) -> Floats:
    """Ends of the intervals of bits and of Fisher information, [4, tasks]; NaN without errors."""
    errors, items = fit.errors, fit.items
    if errors is None or draws < 2:
        return np.full((4, len(items)), np.nan)
    ratio = errors.covariance / np.maximum(errors.slope, 1e-12) ** 2
    ratio = np.clip(np.nan_to_num(ratio), -1e6, 1e6)
    of_intercept = np.sqrt(np.maximum(errors.intercept**2 - ratio**2 * errors.slope**2, 0.0))
    ability_error = np.nan_to_num(fit.abilities.error)
    bits, fisher = np.empty((2, draws, len(items)))
    for draw in range(draws):
        first, second = rng.normal(size=(2, len(items)))
        up = errors.slope * first
        drawn = replace(
            items,
            slope=items.slope + np.nan_to_num(up),
            intercept=items.intercept + np.nan_to_num(ratio * up + of_intercept * second),
        )
        bits[draw] = task_bits(probability(drawn, nodes), weights)
        ability = fit.abilities.ability + ability_error * rng.normal(size=len(ability_error))
        places, shares = gathered(ability)
        fisher[draw] = shares @ fisher_information(drawn, places) if len(places) else np.nan
    usable = np.isfinite(errors.slope) & np.isfinite(errors.intercept)
    ends = [end for part in (bits, fisher) for end in np.percentile(part, (2.5, 97.5), axis=0)]
    return np.where(usable, np.array(ends), np.nan)


def _simulated_agents(weights: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Abilities of a thousand agents, by their node: errors of about 0.01 bits."""
    return rng.choice(len(weights), 1000, p=weights)


def _chosen_tasks(
    curves: Floats, weights: Floats, size: int, rng: np.random.Generator
) -> tuple[list[int], Floats]:
    """The tasks that add most information to those before them, by position, and the bits so far."""
    nodes = _simulated_agents(weights, rng)
    belief = np.tile(weights, (len(nodes), 1))
    conditional = _entropy(curves)
    chosen: list[int] = []
    bits: list[float] = []
    for _ in range(size):
        gain = (_entropy(belief @ curves) - belief @ conditional).mean(axis=0)
        gain[chosen] = -np.inf
        best = int(gain.argmax())
        chosen.append(best)
        bits.append(float(gain[best]))
        success = rng.random(len(nodes)) < curves[nodes, best]
        belief *= np.where(success[:, None], curves[:, best], 1.0 - curves[:, best])
        belief /= belief.sum(axis=1, keepdims=True)
    return chosen, np.cumsum(bits)


def _information_of_all(curves: Floats, weights: Floats, rng: np.random.Generator) -> float:
    """The information of all tasks together, by simulated agents."""
    nodes = _simulated_agents(weights, rng)
    success = (rng.random((len(nodes), curves.shape[1])) < curves[nodes]).astype(np.float64)
    up, down = (np.log(np.maximum(share, 1e-300)) for share in (curves, 1.0 - curves))
    log_likelihood = success @ (up - down).T + down.sum(axis=1)
    from scipy.special import logsumexp  # slow to import

    at_truth = log_likelihood[np.arange(len(nodes)), nodes]
    marginal = logsumexp(log_likelihood + np.log(weights), axis=1)
    return float((at_truth - marginal).mean() / np.log(2.0))

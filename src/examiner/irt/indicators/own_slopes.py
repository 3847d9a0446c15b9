r"""Generality with an interval: each agent's own slope, and how uneven it is around its own curve.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j a_i (\theta_j - b_i)), \quad
          \theta_j \sim N(0, 1), \quad \log \gamma_j \sim N(0, \tau^2)

A general agent (γ above 1) succeeds up to its ability and fails beyond; one with a flat curve (γ below 1)
fails easy tasks and solves hard ones. Unevenness is something else: the misfit of an agent around its own
curve, which is large for a specialist that is strong on some tasks and weak on others of equal difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, error, flag, name, number, words
from examiner.irt.evidence import LEVEL
from examiner.irt.indicators.slope_fit import (
    SlopeAgents,
    agent_unevenness,
    fit_slopes,
    with_task_errors,
)
from examiner.irt.items import Floats
from examiner.irt.share_cells import share_cells, share_responses
from examiner.messages import InputError, counted, listed
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator

_FEWEST_AGENTS, _FEWEST_TASKS = 4, 8


class AgentGenerality(Table):
    """Generality and unevenness of agents, the most general first."""

    agent: tuple[str, ...] = name("Agent")
    log_generality: Floats = number(
        "Logarithm of the slope of the agent's curve, compared with the average agent"
    )
    log_generality_error: Floats = error("log_generality")
    log_generality_low: Floats = bound("log_generality", "low")
    log_generality_high: Floats = bound("log_generality", "high")
    unevenness: Floats = number("Misfit around the agent's own curve; 1 for the middle agent")
    unevenness_p: Floats = number("p-value of the unevenness, adjusted for all agents (Holm)")
    uneven: NDArray[np.bool_] = flag("Whether the agent is significantly uneven: a specialist")
    significance: tuple[tuple[str, ...], ...] = words(
        "Whether the generality is significantly above or below the average (5 %, Holm)"
    )
    ability: Floats = number("Ability where each agent has its own slope", unit="logits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneralityEstimates(Answer):
    """Generality of agents with intervals, who is significantly more or less general, and who is uneven.

    `mean` and `covariance` are of (ability, log generality), [agents, 2] and [agents, 2, 2], in the order
    of `names`; `difficulty` [tasks] is on the scale of these abilities. `deviation` is τ, by how much log
    generality varies between agents.
    """

    kind: ClassVar[str] = "generality"

    agents: AgentGenerality
    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    difficulty: Floats
    deviation: float
    overdispersion: float
    notes: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def headline(self) -> str:
        """Whether agents differ in generality, and who is uneven."""
        general = [row.agent for row in self.agents if "above average" in row.significance]
        narrow = [row.agent for row in self.agents if "below average" in row.significance]
        uneven = [row.agent for row in self.agents if row.uneven]
        parts = [
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} significantly {word}"
            for names, word in (
                (general, "more general than the average agent"),
                (narrow, "less general than the average agent"),
                (uneven, "uneven"),
            )
            if names
        ]
        if not parts:
            return (
                f"No agent of {len(self.names):,} is significantly more or less general than the "
                f"average, and none is uneven."
            )
        return f"{'; '.join(parts)}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """How much agents differ in generality, and how much cells vary beyond chance."""
        meaning = "Standard deviation of log generality between agents"
        return {
            "deviation": Scalar(self.deviation, meaning),
            "overdispersion": Scalar(self.overdispersion, "Variance of cells relative to chance"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of the draws of task parameters."""
        return {"seed": self.seed}

    def probability_more_general(self, first: str, second: str) -> float:
        """Return the probability that one agent is more general than another.

        One minus this is the one-sided p-value of "more general than".

        >>> from examiner.irt import ItemParameters, generality, simulate
        >>> items = ItemParameters.of([f"t{n}" for n in range(30)], np.ones(30), np.linspace(-2, 2, 30))
        >>> estimates = generality(simulate(items, np.linspace(-2, 2, 8), trials=9, rng=0))
        >>> first, last = estimates.names[0], estimates.names[-1]
        >>> 0 < estimates.probability_more_general(first, last) < 1
        True
        """
        from scipy.special import ndtr

        one, other = self._place(first), self._place(second)
        variance = self.covariance[one, 1, 1] + self.covariance[other, 1, 1]
        return float(ndtr((self.mean[one, 1] - self.mean[other, 1]) / np.sqrt(variance)))

    def probability_dominates(
        self, first: str, second: str, *, draws: int = 4000, rng: Randomness = 0
    ) -> float:
        """Return the probability that one agent has the higher chance of success on every task.

        Logits are linear in difficulty: it is higher on all tasks where it is on the easiest and hardest.

        >>> from examiner.irt import ItemParameters, generality, simulate
        >>> items = ItemParameters.of([f"t{n}" for n in range(30)], np.ones(30), np.linspace(-2, 2, 30))
        >>> estimates = generality(simulate(items, np.linspace(-2, 2, 8), trials=9, rng=0))
        >>> estimates.probability_dominates(estimates.names[-1], estimates.names[0]) > 0.9
        True
        """
        drawing = generator(rng)
        ends = np.array([self.difficulty.min(), self.difficulty.max()])
        heights = []
        for agent in (self._place(first), self._place(second)):
            drawn = drawing.multivariate_normal(self.mean[agent], self.covariance[agent], draws)
            heights.append(np.exp(drawn[:, 1:]) * (drawn[:, :1] - ends))
        return float((heights[0] > heights[1]).all(axis=1).mean())

    def _place(self, agent: str) -> int:
        if agent not in self.names:
            raise InputError(f"There is no agent {agent!r}. Agents are {listed(self.names)}.")
        return self.names.index(agent)


def generality(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    *,
    recipe: Recipe | None = None,
    rng: Randomness = 0,
) -> GeneralityEstimates:
    r"""Estimate each agent's own slope γ with an interval, and its unevenness around its own curve.

    Results are successes of trials, or scores between 0 and 1, which count as one trial with the variance
    they have. Log γ is relative to the average agent, and does not depend on ability by construction, where
    papers/002's equation 3 grows with the distance of ability from the tasks. Unevenness is

    .. math:: \frac1{n_j} \sum_i \frac{(k_{ji} - n_{ji} P_{ji})^2}{n_{ji} P_{ji} (1 - P_{ji})}

    relative to the middle agent's; its p-value is by a χ² with the variance that this sum has by chance.
    Chances of guessing are not modelled: they flatten the curves of weak agents.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"t{n}" for n in range(40)], np.full(40, 1.5), np.linspace(-2, 2, 40))
    >>> estimates = generality(simulate(items, 12, trials=5, rng=1))
    >>> bool(estimates.agents.uneven.any()), estimates.agents.log_generality.shape
    (False, (12,))
    """
    matrix = share_responses(results, recipe, "Generality")
    cells = share_cells(matrix)
    total = cells.won.sum(axis=0)
    varies = (total > 0) & (total < cells.trials.sum(axis=0))
    present = (cells.trials[:, varies] > 0).any(axis=1)
    if present.sum() < _FEWEST_AGENTS or varies.sum() < _FEWEST_TASKS:
        raise InputError(
            f"{counted(int(present.sum()), 'agent')} on {counted(int(varies.sum()), 'task')} with "
            f"different results are too few for generality. Have at least {_FEWEST_AGENTS} agents and "
            f"{_FEWEST_TASKS} tasks."
        )
    cells = cells.of_tasks(np.flatnonzero(varies)).of_agents(np.flatnonzero(present))
    tasks, agents, excess = fit_slopes(cells)
    cells = cells.scaled(excess)
    agents = with_task_errors(cells, tasks, agents, generator(rng))
    names = tuple(np.array(matrix.agents, dtype=object)[present].tolist())
    unevenness, p_value = agent_unevenness(cells, tasks, agents.mean)
    return GeneralityEstimates(
        _table(names, agents, unevenness, holm(p_value)),
        names,
        agents.mean,
        agents.covariance,
        -tasks.intercept / tasks.slope,
        agents.deviation,
        excess,
        (),
        rng if isinstance(rng, int) else None,
    )


def _table(
    names: tuple[str, ...], agents: SlopeAgents, unevenness: Floats, unevenness_p: Floats
) -> AgentGenerality:
    from scipy.special import ndtr

    log_slope, spread = agents.mean[:, 1], np.sqrt(agents.covariance[:, 1, 1])
    beyond = holm(np.asarray(2 * ndtr(-np.abs(log_slope) / spread))) < LEVEL
    table = AgentGenerality(
        agent=names,
        log_generality=log_slope,
        log_generality_error=spread,
        log_generality_low=log_slope - 1.96 * spread,
        log_generality_high=log_slope + 1.96 * spread,
        unevenness=unevenness,
        unevenness_p=unevenness_p,
        uneven=unevenness_p < LEVEL,
        significance=[
            (("above" if value > 0 else "below") + " average",) if shown else ()
            for value, shown in zip(log_slope, beyond, strict=True)
        ],
        ability=agents.mean[:, 0],
    )
    return table.sorted_by("log_generality", descending=True)

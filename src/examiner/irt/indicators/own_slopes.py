r"""Generality with an interval: each agent's own slope, and how uneven it is around its own curve.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j a_i (\theta_j - b_i)), \quad
          \theta_j \sim N(0, 1), \quad \log \gamma_j \sim N(0, \tau^2)

A general agent (γ above 1) succeeds up to its ability and fails beyond; one with a flat curve (γ below 1)
fails easy tasks and solves hard ones. Unevenness is something else: the misfit of an agent around its own
curve, which is large for a specialist that is strong on some tasks and weak on others of equal difficulty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, error, flag, name, number, scalar, words
from examiner.irt.evidence import LEVEL
from examiner.irt.indicators.slopes import agent_unevenness, fit_slopes, with_task_errors
from examiner.irt.items import Floats
from examiner.irt.share_cells import share_cells, share_responses
from examiner.messages import InputError, counted, listed
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator, seed_of


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
    """Generality of agents with intervals, and which agents are significantly general, narrow or uneven.

    `mean` and `covariance` are of (ability, log generality), [agents, 2] and [agents, 2, 2], in the order
    of `names`; `difficulty` [tasks] is on the scale of these abilities. `deviation` is τ, the standard
    deviation of log generality between agents.
    """

    kind: ClassVar[str] = "generality"

    agents: AgentGenerality
    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    difficulty: Floats
    deviation: float = field(metadata=scalar("Standard deviation of log generality between agents"))
    overdispersion: float = field(metadata=scalar("Variance of cells relative to chance"))
    seed: int | None = None

    @property
    def headline(self) -> str:
        """Which agents are significantly more or less general than the average, and which are uneven."""
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

    Results are successes of trials, or scores between 0 and 1, which count as one trial with their observed
    variance. Log γ is relative to the average agent and by construction does not depend on ability, whereas
    papers/002's equation 3 grows with the distance of ability from the difficulties. Unevenness is

    .. math:: \frac1{n_j} \sum_i \frac{(k_{ji} - n_{ji} P_{ji})^2}{n_{ji} P_{ji} (1 - P_{ji})}

    relative to the median agent's; its p-value comes from a χ² with the variance of this sum by chance.
    Guessing is not modelled: it flattens the curves of weak agents.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"t{n}" for n in range(40)], np.full(40, 1.5), np.linspace(-2, 2, 40))
    >>> estimates = generality(simulate(items, 12, trials=5, rng=1))
    >>> bool(estimates.agents.uneven.any()), estimates.agents.log_generality.shape
    (False, (12,))
    """
    from scipy.special import ndtr

    matrix = share_responses(results, recipe, "Generality")
    cells = share_cells(matrix)
    total = cells.won.sum(axis=0)
    varies = (total > 0) & (total < cells.trials.sum(axis=0))
    present = (cells.trials[:, varies] > 0).any(axis=1)
    if present.sum() < 4 or varies.sum() < 8:
        raise InputError(
            f"{counted(int(present.sum()), 'agent')} on {counted(int(varies.sum()), 'task')} with "
            f"different results are too few for generality. Have at least 4 agents and 8 tasks."
        )
    cells = cells.of_tasks(np.flatnonzero(varies)).of_agents(np.flatnonzero(present))
    tasks, agents, excess = fit_slopes(cells)
    cells = cells.scaled(excess)
    agents = with_task_errors(cells, tasks, agents, generator(rng))
    names = tuple(matrix.agents[row] for row in np.flatnonzero(present))
    log_slope, spread = agents.mean[:, 1], np.sqrt(agents.covariance[:, 1, 1])
    beyond = holm(np.asarray(2 * ndtr(-np.abs(log_slope) / spread))) < LEVEL
    unevenness, uneven_p = agent_unevenness(cells, tasks, agents.mean)
    uneven_p = holm(uneven_p)
    table = AgentGenerality(
        agent=names,
        log_generality=log_slope,
        log_generality_error=spread,
        log_generality_low=log_slope - 1.96 * spread,
        log_generality_high=log_slope + 1.96 * spread,
        unevenness=unevenness,
        unevenness_p=uneven_p,
        uneven=uneven_p < LEVEL,
        significance=[
            (("above" if value > 0 else "below") + " average",) if shown else ()
            for value, shown in zip(log_slope, beyond, strict=True)
        ],
        ability=agents.mean[:, 0],
    )
    return GeneralityEstimates(
        table.sorted_by("log_generality", descending=True),
        names,
        agents.mean,
        agents.covariance,
        -tasks.intercept / tasks.slope,
        agents.deviation,
        excess,
        seed_of(rng),
    )

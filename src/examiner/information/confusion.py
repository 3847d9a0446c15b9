"""Confusion of agents: p(a₂ | a₁), how probable agent a₂ is given the mean of a₁."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, name, number
from examiner.information.channels import Channels
from examiner.information.levels import CellLevels, levels_of
from examiner.results import Results
from examiner.validation import Floats

CACHE_BYTES = 1 << 28
"""Up to this size the log-likelihoods of all pairs on all tasks are kept; beyond it they are recomputed."""
CHECKED_CELLS = 1 << 21
FEWEST_BY_LEVELS = 20
"""Of fewer agents, comparing all pairs is faster than finding levels."""


class PairLikelihood:
    r"""Log-likelihood of each pair of agents on each task, in rows: never all pairs of all tasks.

    .. math:: \ell_g(a_1, a_2) = -\sum_m \Big[\tfrac12 z_m^2 + \log\frac{s_m}{s_0}\Big], \qquad
              z_m = \frac{\mu_1 - \mu_2}{s_m}, \quad s_m = \sigma_1 + \sigma_2

    (papers/004, eq. 1, in logarithms; the spread "quadrature" has :math:`s_m^2 = \sigma_1^2 +
    \sigma_2^2`). It is symmetric. The constant :math:`s_0`, twice the geometric mean of a task's
    deviations, cancels in every row of the confusion matrix. A pair of which one was not observed has
    0, the typical value of an agent with itself, so that a missing cell separates no agents.
    """

    def __init__(self, channels: Channels) -> None:
        deviation = channels.deviation.transpose(0, 2, 1)
        seen = np.isfinite(deviation)
        count = np.maximum(seen.sum(axis=2, keepdims=True), 1)
        logs = np.where(seen, deviation, 1.0)
        np.log(logs, out=logs)
        typical = logs.sum(axis=2, keepdims=True) / count
        logs -= typical
        self._mean = np.where(seen, channels.mean.transpose(0, 2, 1), 0.0)
        self._mean /= np.exp(typical)
        self._seen = None
        if not seen.all():
            self._seen = seen
            logs[~seen] = 0.0
        self._deviation = np.exp(logs)
        self._spread = channels.model.spread
        self.exact, self.usable = channels.model.exact, channels.usable
        self._whitening = channels.whitening
        self._cache: list[Floats] | None = None
        self._levels: list[CellLevels | None] | None = None  # not searched for yet
        self._given = channels.mean
        logs = logs[0] if len(logs) == 1 else logs.sum(axis=0)
        self.diagonal: Floats = np.negative(logs, out=logs)  # [tasks, agents]: an agent by itself

    @property
    def shape(self) -> tuple[int, int]:
        """Number of agents and of tasks."""
        return self.diagonal.shape[1], self.diagonal.shape[0]

    def row(self, agent: int, tasks: slice, start: int = 0) -> Floats:
        """Log-likelihoods of one agent with those from `start` on; shape [tasks, agents − start]."""
        squares: Floats | None = None
        product: Floats | None = None
        parts: list[Floats] = []
        for channel in range(len(self._mean)):
            distance, spread = self._standardised(channel, agent, tasks, start)
            product = spread if product is None else product * spread
            if self._whitening is not None:
                parts.append(distance)
                continue
            square = distance * distance
            squares = square if squares is None else squares + square
        if self._whitening is not None:
            turned = np.einsum("tmk,kta->mta", self._whitening[tasks], np.stack(parts))
            squares = (turned**2).sum(axis=0)
        assert squares is not None and product is not None
        squares *= -0.5
        squares -= np.log(product)
        return squares

    def _standardised(
        self, channel: int, agent: int, tasks: slice, start: int
    ) -> tuple[Floats, Floats]:
        mean, deviation = self._mean[channel, tasks], self._deviation[channel, tasks]
        here = slice(agent, agent + 1)
        distance = mean[:, start:] - mean[:, here]
        if self._spread == "sum":
            spread = deviation[:, start:] + deviation[:, here]
            alone = 2.0
        else:
            spread = np.hypot(deviation[:, start:], deviation[:, here])
            alone = np.sqrt(2.0)
        distance /= spread
        spread /= alone
        if self._seen is not None:
            seen = self._seen[channel, tasks]
            lacking = ~(seen[:, start:] & seen[:, here])
            distance[lacking] = 0.0
            spread[lacking] = 1.0
        return distance, spread

    def levels(self) -> CellLevels | None:
        """The levels of cells where they are few, so that pairs of agents are pairs of levels."""
        if self._levels is None:
            self._levels = [levels_of(self, self._given)]
        return self._levels[0]

    def choose_agents(self, agents: NDArray[np.intp]) -> None:
        """Keep only some agents of each task; `agents` has shape [tasks, kept]."""
        self._mean, self._deviation = (
            np.take_along_axis(part, agents[None], axis=2) for part in (self._mean, self._deviation)
        )
        if self._seen is not None:
            self._seen = np.take_along_axis(self._seen, agents[None], axis=2)
        self.diagonal = np.take_along_axis(self.diagonal, agents, axis=1)

    def stands_for(self, others: PairLikelihood, code: NDArray[np.uint8], tolerance: float) -> bool:
        """Whether each agent of `others` equals the agent of its code [tasks, agents] here."""
        step = max(1, CHECKED_CELLS // code.shape[1])
        for start in range(0, len(code), step):
            block = slice(start, start + step)
            at = code[block].astype(np.intp)[None]
            for mine, theirs in ((self._mean, others._mean), (self._deviation, others._deviation)):
                difference = np.take_along_axis(mine[:, block], at, axis=2) - theirs[:, block]
                if (np.abs(difference) > tolerance * (1 + np.abs(theirs[:, block]))).any():
                    return False
        return True

    def later_rows(self) -> list[Floats] | None:
        """Every agent's log-likelihoods with the agents after it, where all fit into memory."""
        agents, tasks = self.shape
        if self._cache is None and 4 * tasks * agents * (agents - 1) <= CACHE_BYTES:
            self._cache = [self.row(agent, slice(None), agent + 1) for agent in range(agents - 1)]
        return self._cache

    def table(self, tasks: Sequence[int]) -> Floats:
        """Log-likelihood of each pair on all these tasks together (papers/004, eq. 4), [agents, agents].

        >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 1.0]], [[0.0, 1.0]]])))
        >>> bool((abs(pairs.table([0])) < 1e-15).all())
        True
        """
        agents = self.shape[0]
        levels = self.levels() if agents >= FEWEST_BY_LEVELS else None
        if levels is not None:
            return levels.table(np.asarray(tasks, dtype=np.intp))
        total = np.zeros((agents, agents))
        chosen = self.of(np.asarray(tasks, dtype=np.intp))
        for agent in range(agents):
            total[agent, agent:] = chosen.row(agent, slice(None), agent).sum(axis=0)
            total[agent:, agent] = total[agent, agent:]
        return total

    def of(self, tasks: NDArray[np.intp]) -> PairLikelihood:
        """Return the same for some tasks, so that an agent's row is one call."""
        part = copy(self)
        part._mean, part._deviation = self._mean[:, tasks], self._deviation[:, tasks]
        part._seen = None if self._seen is None else self._seen[:, tasks]
        part._whitening = None if self._whitening is None else self._whitening[tasks]
        part.diagonal, part._cache = self.diagonal[tasks], None
        part.usable, part._given = self.usable[tasks], self._given[:, :, tasks]
        levels = self._levels and self._levels[0]
        part._levels = [levels.of(tasks)] if levels else self._levels
        return part


class AgentConfusions(Table):
    """Pairs of different agents, those that are confused most first."""

    agent: tuple[str, ...] = name("Agent whose mean was observed")
    other: tuple[str, ...] = name("Agent it may be mistaken for")
    probability: Floats = number("Probability of the other agent, given this mean")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion(Answer):
    """How probable each agent (column) is given the mean of another (row), [agents, agents]."""

    kind = "confusion"

    agents: tuple[str, ...]
    probability: Floats

    @property
    def pairs(self) -> AgentConfusions:
        """The table of pairs of different agents."""
        first, second = np.nonzero(~np.eye(len(self.agents), dtype=bool))
        names = np.array(self.agents, dtype=object)
        table = AgentConfusions(
            agent=names[first], other=names[second], probability=self.probability[first, second]
        )
        return table.sorted_by("probability", descending=True)

    @property
    def headline(self) -> str:
        """Which two agents are confused most."""
        first = self.pairs[0]
        return (
            f"{first.agent} is mistaken for {first.other} with probability {first.probability:.2g}, more "
            f"often than any other pair."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Pairs of agents."""
        return {"pairs": self.pairs}


def confusion(source: Results | Channels, tasks: Sequence[str] | None = None) -> Confusion:
    r"""Return p(a₂ | a₁): how probable agent a₂ (column) is, given the mean of a₁ (row).

    .. math:: p(a_2 | a_1) = \frac{e^{\ell(a_1, a_2)}}{\sum_a e^{\ell(a_1, a)}}, \qquad
              \ell = \sum_{g \in G} \ell_g

    (papers/004, eq. 1, 2 and 4). `tasks` names the set G; all tasks by default. Rows sum to 1.

    >>> confusion(Results.from_numpy([[[0.0, 2.0]], [[4.0, 6.0]]])).probability.round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    channels = Channels.of(source)
    table = PairLikelihood(channels).table(channels.columns(tasks))
    return Confusion(channels.agents, normalised_rows(table))


def normalised_rows(log_likelihood: Floats) -> Floats:
    """Convert rows of log-likelihoods to probabilities.

    >>> normalised_rows(np.array([[-2000.0, -2000.0]]))
    array([[0.5, 0.5]])
    """
    raised = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))

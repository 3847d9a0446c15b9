"""Whether agents answer as agents of their ability do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats

_ODD = -2.326
"""About one agent in a hundred lies below when nothing is wrong."""


@dataclass(frozen=True, slots=True)
class AgentFit:
    """How likely each agent's responses are at its own ability, beside draws from the model.

    `log_likelihood` is l₀ = log f(x | ability); `lz` is (l₀ − mean) / sd with mean and sd of the
    same statistic in responses drawn from the model for the same agent, abilities estimated anew
    (so that its mean is 0 and its sd 1, which those of the formula of Drasgow, Levine & Williams
    (1985) are not once ability is estimated). `p_value` is the share of draws at most as likely.
    `odd` marks lz below −2.33, where about one agent in a hundred lies by chance: hard tasks solved
    and easy ones failed. infit and outfit are the mean squared residuals of the agent.
    """

    agents: tuple[str, ...]
    log_likelihood: Floats
    lz: Floats
    p_value: Floats
    infit: Floats
    outfit: Floats
    odd: NDArray[np.bool_]


def agent_fit(
    agents: tuple[str, ...],
    log_likelihood: Floats,
    drawn: Floats,
    mean_squares: tuple[Floats, Floats],
) -> AgentFit:
    """Compare each agent's log-likelihood with draws [draws, agents]."""
    spread = drawn.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lz = np.where(spread > 0, (log_likelihood - drawn.mean(axis=0)) / spread, np.nan)
    slack = 1e-9 * (1 + np.abs(log_likelihood))
    p_value = (1 + (drawn <= log_likelihood + slack).sum(axis=0)) / (1 + drawn.shape[0])
    return AgentFit(
        agents, log_likelihood, lz, p_value, mean_squares[0], mean_squares[1], lz < _ODD
    )

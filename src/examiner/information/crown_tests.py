"""Whether an agent that a choice of tasks makes win does so beyond chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.noise import pooled_deviation
from examiner.information.observations import Moments, shares
from examiner.scores.significance import LEVEL
from examiner.validation import Floats

LEAST_LEAD = 1e-12


class CrownTest(NamedTuple):
    """The p-value of each agent [agents], adjusted for their number; NaN for those not looked at."""

    p_values: Floats
    method: str

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Which agents win beyond chance, in 5 % of tables at most for any agent."""
        return np.asarray(np.nan_to_num(self.p_values, nan=1.0) <= LEVEL)


def by_permutations(lead: Floats, chance: Floats) -> CrownTest:
    """Compare leads [agents] with the largest lead of any agent in permuted tables [tables].

    >>> by_permutations(np.array([0.5, 0.1]), np.array([0.2, 0.3, 0.4])).p_values
    array([0.25, 1.  ])
    """
    most = np.array([np.fmax.reduce(lead), *chance])
    p = np.array([(most >= each - LEAST_LEAD).mean() for each in lead])
    return CrownTest(np.where(np.isnan(lead), np.nan, p), f"{len(chance)} permuted tables")


def by_held_out_runs(
    halves: tuple[Floats, Moments], whole: Moments, sign: Floats, sets: list[list[int]]
) -> CrownTest:
    r"""Test each agent against its rivals on its tasks S, on runs that had no part in choosing them.

    .. math:: t_b = \frac{\bar d_b}{s_b}, \qquad
              s_b^2 = \frac{1}{k^2} \sum_{g \in S} v_g \Big(\frac{1}{n_{ag}} + \frac{1}{n_{bg}}\Big)

    with :math:`\bar d_b` the mean difference to rival b over S and v the variance of runs within cells,
    pooled over agents. An agent wins where it beats every rival (the largest p-value; Berger, 1982), after
    Bonferroni over agents. `halves` are the means that tasks were chosen on and the moments held out.
    """
    from scipy.special import stdtr  # slow to import

    chosen_on, held_out = halves
    means = held_out.mean[0] * sign
    table = np.nan_to_num(shares(means, like=chosen_on))
    unit = np.nan_to_num(shares(means + 1.0, like=chosen_on)) - table  # of a share, on each task
    freedom = np.maximum(whole.units[0] - 1, 0)
    deviation = pooled_deviation(whole.unit_square[0], freedom)
    variance = (unit * np.nan_to_num(deviation)) ** 2 / np.maximum(held_out.units[0], 1)
    p = np.full(len(table), np.nan)
    searched = sum(bool(chosen) for chosen in sets)
    for agent, chosen in enumerate(sets):
        rivals = np.flatnonzero(np.arange(len(table)) != agent)
        if not chosen or not len(rivals):
            continue
        apart = (table[agent, chosen] - table[rivals][:, chosen]).mean(axis=1)
        error = np.sqrt((variance[agent, chosen] + variance[rivals][:, chosen]).sum(axis=1))
        ahead = apart > LEAST_LEAD
        t = np.where(ahead, apart * len(chosen) / np.maximum(error, 1e-300), 0.0)
        each = stdtr(freedom[:, chosen].sum(), -t)
        p[agent] = min(1.0, searched * float(np.where(ahead, each, 1.0).max()))
    return CrownTest(p, "t tests on held-out runs against every rival, Bonferroni over agents")

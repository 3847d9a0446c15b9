"""Tests of whether an agent wins significantly on the tasks that were chosen for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.noise import pooled_deviation
from examiner.information.observations import Moments, shares
from examiner.scores import LEVEL
from examiner.validation import Floats

LEAST_LEAD = 1e-12


class FavourableTest(NamedTuple):
    """The p-value of each agent [agents], adjusted for their number; NaN for those not searched."""

    p_values: Floats
    method: str

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which agents win significantly, at 5 % over all agents."""
        return np.asarray(np.nan_to_num(self.p_values, nan=1.0) <= LEVEL)


def by_permutations(lead: Floats, chance: Floats) -> FavourableTest:
    """Compare leads [agents] with the largest lead of any agent in permuted tables [tables].

    >>> by_permutations(np.array([0.5, 0.1]), np.array([0.2, 0.3, 0.4])).p_values
    array([0.25, 1.  ])
    """
    most = np.array([np.fmax.reduce(lead), *chance])
    p = np.array([(most >= agent_lead - LEAST_LEAD).mean() for agent_lead in lead])
    return FavourableTest(
        np.where(np.isnan(lead), np.nan, p), f"permutation test, {len(chance)} tables"
    )


def by_held_out_runs(
    halves: tuple[Floats, Moments], whole: Moments, sign: Floats, sets: list[list[int]]
) -> FavourableTest:
    r"""Test each agent against its rivals on its tasks S, on held-out runs.

    .. math:: t_b = \frac{\bar d_b}{s_b}, \qquad
              s_b^2 = \frac{1}{k^2} \sum_{g \in S} v_g \Big(\frac{1}{n_{ag}} + \frac{1}{n_{bg}}\Big)

    with :math:`\bar d_b` the mean difference to rival b over S and v the variance of runs within cells,
    pooled over agents. An agent wins where it beats every rival (the largest p-value; Berger, 1982), after
    Bonferroni over agents. `halves` are the means used for choosing tasks and the held-out moments.
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
        differences = (table[agent, chosen] - table[rivals][:, chosen]).mean(axis=1)
        error = np.sqrt((variance[agent, chosen] + variance[rivals][:, chosen]).sum(axis=1))
        ahead = differences > LEAST_LEAD
        t = np.where(ahead, differences * len(chosen) / np.maximum(error, 1e-300), 0.0)
        p_values = np.where(ahead, stdtr(freedom[:, chosen].sum(), -t), 1.0)
        p[agent] = min(1.0, searched * float(p_values.max()))
    return FavourableTest(p, "t tests on held-out runs against every other agent, Bonferroni")

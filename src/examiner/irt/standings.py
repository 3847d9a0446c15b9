"""Where one more agent ranks among those whose abilities are known with error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.fitted import Abilities
from examiner.irt.items import Floats


class RankInterval(NamedTuple):
    """The rank by ability among known agents (1 is the ablest), and its interval."""

    rank: int
    low: int
    high: int
    among: int


def rank_among(
    known: Abilities, nodes: Floats, weights: Floats, *, level: float = 0.95
) -> RankInterval:
    r"""Rank a newcomer with posterior `weights` over abilities `nodes` among known agents.

    Given θ, each known agent is ahead with chance :math:`\Phi((\theta_j - \theta) / s_j)`, and their
    number is nearly normal; its distribution is averaged over the posterior of θ.

    >>> known = Abilities(("a", "b"), np.array([-3.0, 3.0]), np.array([0.1, 0.1]), "")
    >>> rank_among(known, np.array([0.0]), np.array([1.0]))
    RankInterval(rank=2, low=2, high=2, among=3)
    """
    from scipy.special import ndtr

    finite = np.isfinite(known.ability)
    ability = known.ability[finite]
    error = np.maximum(np.nan_to_num(known.error[finite], nan=0.0), 1e-9)
    count = len(ability)
    if count == 0:
        return RankInterval(1, 1, 1, 1)
    kept = weights > 1e-12
    ahead = ndtr((ability[:, None] - nodes[kept]) / error[:, None])
    mean, spread = ahead.sum(axis=0), np.sqrt((ahead * (1 - ahead)).sum(axis=0))
    numbers = np.arange(count + 1)
    upto = ndtr((numbers[:, None] + 0.5 - mean) / np.maximum(spread, 1e-6)) @ weights[kept]
    upto /= upto[-1] if upto[-1] > 0 else 1.0
    tail = (1 - level) / 2
    centre = float(weights @ nodes)
    return RankInterval(
        rank=int((ability > centre).sum()) + 1,
        low=int(np.searchsorted(upto, tail)) + 1,
        high=min(int(np.searchsorted(upto, 1 - tail)) + 1, count + 1),
        among=count + 1,
    )

"""The slope and the Fisher information of tasks' curves at given abilities."""

from __future__ import annotations

import numpy as np

from examiner.irt import ItemParameters
from examiner.selection.constraints import Array

LEAST = 1e-12


def curve_slope(items: ItemParameters, ability: Array) -> Array:
    r"""Slope of each task's curve at each ability, shape [agents, tasks].

    .. math:: P'(\theta) = a (u - c) \sigma (1 - \sigma), \quad \sigma = \sigma(a\theta + d)
    """
    rising = _logistic(items, ability)
    slope: Array = items.slope * (items.ceiling - items.guessing) * rising * (1.0 - rising)
    return slope


def fisher_information(items: ItemParameters, ability: Array) -> Array:
    r"""Information each task gives at each ability, shape [agents, tasks] (Lord, 1980, eq. 5-9).

    .. math:: I(\theta) = P'(\theta)^2 / [P (1 - P)]
    """
    rising = _logistic(items, ability)
    chance = items.guessing + (items.ceiling - items.guessing) * rising
    spread = np.maximum(chance * (1.0 - chance), LEAST)
    information: Array = curve_slope(items, ability) ** 2 / spread
    return information


def _logistic(items: ItemParameters, ability: Array) -> Array:
    from scipy.special import expit  # half a second to import: only where it is needed

    rising: Array = expit(np.outer(ability, items.slope) + items.intercept)
    return rising

"""Means over very many abilities, from a grid of some."""

import numpy as np

from examiner.irt import ItemParameters, fisher_information
from examiner.irt.indicators.ability_bits import gathered


def test_mean_information_over_a_grid_is_that_over_all_agents() -> None:
    ability = np.random.default_rng(0).normal(size=4000)
    items = ItemParameters.of(["flat", "steep", "hard"], [0.5, 2.5, 1.5], [0.0, 0.5, -3.0])
    nodes, weights = gathered(ability)
    assert len(nodes) == 201
    assert np.isclose(weights.sum(), 1.0)
    every = fisher_information(items, ability).mean(axis=0)
    np.testing.assert_allclose(weights @ fisher_information(items, nodes), every, rtol=1e-3)


def test_few_abilities_stay_as_they_are_and_unknown_ones_are_left_out() -> None:
    nodes, weights = gathered(np.array([1.0, np.nan, -1.0]))
    assert nodes.tolist() == [1.0, -1.0]
    assert weights.tolist() == [0.5, 0.5]

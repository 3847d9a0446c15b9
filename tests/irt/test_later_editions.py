"""Agents of later editions: their population is estimated before tasks are calibrated on them."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, simulate
from examiner.results import ResponseMatrix

RNG = np.random.default_rng(4)
ITEMS = ItemParameters.of(
    [f"t{n:02d}" for n in range(60)], np.exp(RNG.normal(0.2, 0.3, 60)), RNG.normal(size=60)
)


def edition(mean: float, agents: int, tasks: range, seed: int) -> tuple[ResponseMatrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    ability = rng.normal(mean, 1.0, agents)
    names = tuple(f"edition {seed} agent {n}" for n in range(agents))
    return simulate(ITEMS.take(tasks), ability, rng=rng, agents=names), ability


def test_growing_with_stronger_agents_leaves_no_bias() -> None:
    bias, inside = [], []
    for seed in range(6):
        first, _ = edition(0.0, 80, range(40), 10 * seed)
        later, ability = edition(1.5, 30, range(10, 60), 10 * seed + 1)
        grown = ex.irt.grow(ex.irt.fit(first, starts=1), later)
        placed = grown.fit.abilities
        bias.append((placed.ability[80:] - ability).mean())
        inside.append(np.mean(np.abs(placed.ability[80:] - ability) < 1.96 * placed.error[80:]))
        assert grown.population.mean == pytest.approx(1.5, abs=0.7)
    assert abs(np.mean(bias)) < 0.15 and np.mean(inside) > 0.88


def test_stronger_newcomers_are_announced_and_placed_by_their_own_population_on_request() -> None:
    first, _ = edition(0.0, 80, range(40), 100)
    later, ability = edition(2.0, 25, range(15), 101)
    fit = ex.irt.fit(first, starts=1)
    plain = ex.irt.place(later, fit)
    assert any("significantly more able than those of the fit" in note for note in plain.notes)
    own = ex.irt.place(later, fit, population="newcomers")
    assert any("The population of the new agents was estimated" in note for note in own.notes)
    assert abs((own.agents.ability - ability).mean()) < abs((plain.agents.ability - ability).mean())
    with pytest.raises(ex.InputError, match="population"):
        ex.irt.place(later, fit, population="theirs")  # type: ignore[arg-type]


def test_few_newcomers_have_the_population_of_the_fit() -> None:
    first, _ = edition(0.0, 60, range(40), 200)
    later, _ = edition(2.0, 3, range(15), 201)
    fit = ex.irt.fit(first, starts=1)
    np.testing.assert_array_equal(
        ex.irt.place(later, fit).agents.ability,
        ex.irt.place(later, fit, population="newcomers").agents.ability,
    )


def test_an_agent_that_was_added_is_placed_where_the_grown_fit_has_it() -> None:
    first, _ = edition(0.0, 60, range(40), 300)
    later, _ = edition(1.5, 20, range(40), 301)
    grown = ex.irt.grow(ex.irt.fit(first, starts=1), later).fit
    placed = ex.irt.place(later, grown)
    np.testing.assert_allclose(placed.agents.ability, grown.abilities.ability[60:], atol=0.01)

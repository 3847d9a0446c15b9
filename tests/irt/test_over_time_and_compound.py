"""Progress over years and the compound of ability and generality: properties, and scipy's intervals."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import examiner as ex

TASKS = [f"t{number}" for number in range(24)]


@pytest.fixture(scope="module")
def told() -> ex.irt.Indicators:
    """Thirty agents of rising ability, on tasks of all difficulties."""
    rng = np.random.default_rng(2)
    difficulty = np.linspace(-2, 2, len(TASKS))
    items = ex.irt.ItemParameters.of(TASKS, np.full(len(TASKS), 2.0), difficulty=difficulty)
    ability = np.linspace(-1.5, 1.5, 30)
    chance = ex.irt.probability(items, ability)
    answers = (rng.random(chance.shape) < chance).astype(float)
    matrix = ex.ResponseMatrix.from_array(answers, [f"a{n}" for n in range(30)], TASKS)
    return ex.irt.indicators(ex.irt.known(items, matrix), bins=4)


def years_of(told: ex.irt.Indicators) -> dict[str, float]:
    return {agent: 2010.0 + place // 10 for place, agent in enumerate(told.agents)}


def test_agents_that_get_abler_over_the_years_are_found_to(told: ex.irt.Indicators) -> None:
    made = ex.irt.over_time(told, years_of(told))
    assert made.years.year == ("2010", "2011", "2012") and (made.years.agents == 10).all()
    assert (np.diff(made.years.ability) > 0).all()
    assert made.with_ability.pearson_low > 0.5


def test_means_of_years_have_students_intervals(told: ex.irt.Indicators) -> None:
    made = ex.irt.over_time(told, years_of(told))
    first = told.ability[:10]
    ends = stats.t.interval(0.95, 9, first.mean(), stats.sem(first))
    assert (made.years[0].ability_low, made.years[0].ability_high) == pytest.approx(ends)


def test_one_agent_in_a_year_has_its_own_interval_and_unknown_years_are_named(
    told: ex.irt.Indicators,
) -> None:
    made = ex.irt.over_time(told, {"a0": 2010, "a1": 2011, "a2": 2011})
    reach = 1.959964 * told.ability_error[0]
    assert made.years[0].ability_high - made.years[0].ability == pytest.approx(reach)
    assert np.isnan(made.years[0].generality_low) and made.notes[0].startswith(
        "27 agents without a year"
    )
    with pytest.raises(ex.InputError, match="1 year of agents show no change over time"):
        ex.irt.over_time(told, {"a0": 2010})


def test_the_general_factor_of_a_group_is_that_of_its_agents_alone() -> None:
    results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(12, 8)))
    groups = {agent: 2015 if place < 7 else 2016 for place, agent in enumerate(results.agents)}
    made = ex.information.general_factor_by(results, groups, rng=0)
    alone = ex.information.general_factor(results.where(results.agent_codes < 7), rng=0)
    assert list(made.factors) == [2015, 2016]
    assert made["2015", "first_factor_share"].value == alone.first_factor_share.value
    assert made.factors[2015].mean_task_correlation == alone.mean_task_correlation
    assert made.factors[2015].first_factor_share == alone.first_factor_share


@pytest.mark.parametrize(("weight", "of"), [(1.0, "ability"), (0.0, "generality")])
def test_all_weight_on_one_side_is_its_order(
    told: ex.irt.Indicators, weight: float, of: str
) -> None:
    made = ex.irt.compound(told, weight)
    value = np.array([made[agent].value for agent in told.agents])
    both = np.isfinite(value)
    order = getattr(told, of)[both].round(9)
    assert stats.spearmanr(value[both], order)[0] == pytest.approx(1)


def test_differences_by_rounding_are_no_order(told: ex.irt.Indicators) -> None:
    rising = np.arange(len(told.agents)) * 0.1
    noise = 1e-13 * np.random.default_rng(0).normal(size=len(rising))
    for generality in (rising + noise, rising // 1 + noise):
        same_order = replace(told, ability=rising, generality=generality)
        assert ex.irt.compound(same_order).undecided == 0


def test_what_a_compound_hides_is_what_counting_pairs_gives(told: ex.irt.Indicators) -> None:
    made = ex.irt.compound(told)
    ability, generality = told.ability.round(9), told.generality.round(9)
    both = np.flatnonzero(np.isfinite(ability) & np.isfinite(generality))
    swapped = [
        (ability[a] > ability[b] and generality[a] < generality[b])
        or (ability[a] < ability[b] and generality[a] > generality[b])
        for a, b in combinations(both, 2)
    ]
    assert made.undecided == pytest.approx(np.mean(swapped))
    rows = [made[told.agents[agent]] for agent in both]
    ranks = stats.rankdata([-row.value for row in rows])
    assert all(
        row.best_rank <= rank <= row.worst_rank for row, rank in zip(rows, ranks, strict=True)
    )


def test_a_weight_outside_and_too_few_agents_are_refused(told: ex.irt.Indicators) -> None:
    with pytest.raises(ex.InputError, match="The weight of ability is 2"):
        ex.irt.compound(told, 2)

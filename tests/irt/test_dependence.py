"""Tasks that share more than ability: pairs, and second abilities."""

import numpy as np
import pytest
from numpy.typing import NDArray

import examiner as ex
from examiner.irt import ItemParameters, pair_tables, simulate
from examiner.irt.diagnostics.residuals import (
    adjusted,
    dimension_check,
    first_eigenvalue,
    largest_excess,
    residual_correlations,
    residuals,
)
from examiner.messages import InputError
from examiner.results import ResponseMatrix

TASKS = [f"t{n}" for n in range(12)]
ITEMS = ItemParameters.of(TASKS, 1.2, np.linspace(-1.5, 1.5, 12))


def with_a_twin(agents: int = 300) -> ResponseMatrix:
    """Task 3 repeats what the agent did on task 2, four times of five."""
    rng = np.random.default_rng(0)
    won = simulate(ITEMS, agents, rng=rng).successes.copy()
    same = rng.random(agents) < 0.8
    won[same, 3] = won[same, 2]
    return ResponseMatrix.from_array(won, tasks=TASKS)


def two_abilities(agents: int = 300) -> ResponseMatrix:
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((2, agents))
    halves = [simulate(ITEMS.take(range(6)), theta[0], rng=rng)]
    halves.append(simulate(ITEMS.take(range(6, 12)), 0.5 * theta[0] + theta[1], rng=rng))
    return ResponseMatrix.from_array(
        np.concatenate([half.successes for half in halves], axis=1), tasks=TASKS
    )


def diagnosed(matrix: ResponseMatrix, **options: object) -> ex.irt.Diagnosis:
    fit = ex.irt.fit(matrix, errors=False, starts=1)
    return ex.irt.diagnose(fit, replicates=40, rng=0, **options)  # type: ignore[arg-type]


def test_correlations_of_residuals_are_numpys_with_and_without_gaps() -> None:
    matrix = with_a_twin()
    values = matrix.to_numpy().copy()
    whole = residuals(matrix, ITEMS, np.zeros(300))
    np.testing.assert_allclose(
        residual_correlations(whole), np.corrcoef(whole.difference.T), atol=1e-12
    )
    values[np.random.default_rng(0).random(values.shape) < 0.3] = np.nan
    gappy = ResponseMatrix.from_array(values, tasks=TASKS)
    found = residuals(gappy, ITEMS, np.zeros(300))
    both = gappy.observed[:, 2] & gappy.observed[:, 5]
    expected = np.corrcoef(found.difference[both, 2], found.difference[both, 5])[0, 1]
    assert residual_correlations(found)[2, 5] == pytest.approx(expected)


def test_pairs_that_nobody_met_are_unknown_and_harmless() -> None:
    values = np.full((8, 3), np.nan)
    values[:4, 0] = [0, 1, 0, 1]
    values[4:, 1] = [1, 1, 0, 0]
    values[:, 2] = [0, 1, 1, 0] * 2
    items = ItemParameters.of(["t", "u", "v"], 1.0, 0.0)
    matrix = ResponseMatrix.from_array(values, tasks=items.tasks)
    together = residual_correlations(residuals(matrix, items, np.linspace(-1, 1, 8)))
    assert np.isnan(together[0, 1])
    assert np.isfinite(first_eigenvalue(together))
    assert np.isfinite(largest_excess(together))


def test_a_twin_is_found_and_named() -> None:
    found = diagnosed(with_a_twin())
    first = found.pairs[0]
    assert {first.first, first.second} == {"t2", "t3"}
    assert first.excess > found.pair_cutoff
    assert any(
        "correlate beyond ability, most 't2' and 't3'" in words for words in found.findings()
    )


def test_a_second_ability_is_found() -> None:
    found = diagnosed(two_abilities())
    assert not found.dimensions.one_dimension
    assert found.dimensions.p_value < 0.05
    assert "one ability is not enough" in found.headline
    sides = np.sign(found.dimensions.weights[:3])
    halves = [1.0 if int(task[1:]) < 6 else -1.0 for task in found.dimensions.tasks[:3]]
    assert abs(sides @ halves) == 3  # the heaviest tasks of one half go against those of the other


def test_one_ability_is_seen_as_one() -> None:
    found = diagnosed(simulate(ITEMS, 300, rng=5))
    assert found.dimensions.one_dimension
    assert not len(found.pairs)
    assert "one ability is enough" in found.headline
    assert any("No two tasks correlate beyond ability" in words for words in found.findings())


def counted_by_hand(matrix: ResponseMatrix, first: int, second: int) -> float:
    """LD-X² of one pair, cell by cell, with an even grid of abilities."""
    grid = np.linspace(-8, 8, 4001)
    weights = np.exp(-(grid**2) / 2)
    weights /= weights.sum()
    chances = 1 / (1 + np.exp(-(ITEMS.slope[:, None] * grid + ITEMS.intercept[:, None])))
    values = matrix.to_numpy()
    seen = ~np.isnan(values[:, first]) & ~np.isnan(values[:, second])
    total = 0.0
    for one in (0, 1):
        for other in (0, 1):
            chance: NDArray[np.float64] = np.where(one, chances[first], 1 - chances[first])
            chance = chance * np.where(other, chances[second], 1 - chances[second])
            expected = seen.sum() * float(weights @ chance)
            observed = ((values[:, first] == one) & (values[:, second] == other)).sum()
            total += (observed - expected) ** 2 / expected
    return total


def test_tables_of_pairs_are_those_counted_by_hand() -> None:
    matrix = with_a_twin()
    values = matrix.to_numpy().copy()
    values[::7, 2] = np.nan
    gappy = ResponseMatrix.from_array(values, tasks=TASKS)
    found = pair_tables(gappy, ITEMS)
    assert found[2, 3] == pytest.approx(counted_by_hand(gappy, 2, 3), rel=1e-4)
    assert abs(found[0, 5]) == pytest.approx(counted_by_hand(gappy, 0, 5), rel=1e-4)
    assert np.nanargmax(found) in (2 * 12 + 3, 3 * 12 + 2)
    np.testing.assert_allclose(found, found.T)
    with pytest.raises(InputError, match="one trial of success or failure"):
        pair_tables(simulate(ITEMS, 5, trials=2, rng=0), ITEMS)


def test_tasks_that_exclude_each_other_have_a_negative_table() -> None:
    won = simulate(ITEMS, 300, rng=0).successes.copy()
    won[:, 3] = 1 - won[:, 2]
    assert pair_tables(ResponseMatrix.from_array(won, tasks=TASKS), ITEMS)[2, 3] < -50


def test_the_mean_of_adjusted_correlations_is_zero() -> None:
    together = np.corrcoef(np.random.default_rng(0).normal(size=(6, 50)))
    excess, mean = adjusted(together)
    assert np.nanmean(excess) == pytest.approx(0.0, abs=1e-12)
    assert mean == pytest.approx((together.sum() - 6) / 30)


def test_a_dimension_is_judged_by_the_share_of_draws_above_it() -> None:
    together = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
    check = dimension_check(tuple("abcd"), together, np.linspace(1.0, 2.0, 99))
    assert check.first == pytest.approx(2.5)
    assert check.p_value == pytest.approx(0.01)
    assert not check.one_dimension
    np.testing.assert_allclose(check.weights, 0.5)

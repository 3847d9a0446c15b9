"""An agent's own slope with its interval, and unevenness around its own curve."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, simulate
from examiner.results import ResponseMatrix


def table(
    seed: int, deviation: float = 0.0, agents: int = 20, trials: int = 5
) -> tuple[ResponseMatrix, np.ndarray]:
    """Agents with log slopes N(0, deviation²), and these."""
    rng = np.random.default_rng(seed)
    log_slope = deviation * rng.normal(size=(agents, 1))
    slope, difficulty = 1.5 * np.exp(0.3 * rng.normal(size=60)), rng.normal(size=60)
    eta = np.exp(log_slope) * slope * (rng.normal(size=(agents, 1)) - difficulty)
    won = rng.binomial(trials, 1 / (1 + np.exp(-eta)))
    matrix = ResponseMatrix.from_counts(won, np.full(won.shape, trials))
    return matrix, (log_slope - log_slope.mean()).ravel()


def test_slopes_of_agents_are_estimated_with_intervals_that_hold_them() -> None:
    inside, correlations = [], []
    for seed in range(6):
        matrix, truth = table(seed, 0.5)
        estimates = ex.irt.generality(matrix)
        rows = [estimates.agents[agent] for agent in estimates.names]
        found = np.array([row.log_generality for row in rows])
        correlations.append(np.corrcoef(found, truth)[0, 1])
        inside += [
            row.log_generality_low <= value <= row.log_generality_high
            for row, value in zip(rows, truth, strict=True)
        ]
    assert 0.87 <= np.mean(inside) <= 1.0  # 120 intervals: 95 % ± 4
    assert min(correlations) > 0.8


def test_nobody_is_called_general_or_uneven_where_all_are_alike() -> None:
    named = []
    for seed in range(8):
        agents = ex.irt.generality(table(seed)[0]).agents
        named.append(bool(agents.uneven.any()) or any(map(len, agents.significance)))
    assert sum(named) <= 1


def test_a_specialist_is_uneven_and_named_in_the_headline() -> None:
    matrix, _ = table(3)
    won = matrix.successes.copy()
    rng = np.random.default_rng(0)
    good = rng.permutation(60) < 30
    won[0] = rng.binomial(5, np.where(good, 0.9, 0.1))
    estimates = ex.irt.generality(ResponseMatrix.from_counts(won, matrix.trials))
    row = estimates.agents[estimates.names[0]]
    assert row.uneven and row.unevenness > 2
    assert "uneven" in estimates.headline and row.agent in estimates.headline


def test_a_flat_and_a_steep_agent_are_told_apart_and_their_probabilities_agree() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(80)], 1.5, np.linspace(-2.5, 2.5, 80))
    rng = np.random.default_rng(2)
    ability = np.zeros(14)
    ability[2:] = rng.normal(size=12)
    steep = np.ones(14)
    steep[0], steep[1] = 2.5, 0.4
    eta = steep[:, None] * items.slope * (ability[:, None] - items.difficulty)
    won = rng.binomial(5, 1 / (1 + np.exp(-eta)))
    names = ["general", "narrow", *(f"other {n}" for n in range(12))]
    estimates = ex.irt.generality(ResponseMatrix.from_counts(won, np.full(won.shape, 5), names))
    assert estimates.agents["general"].significance == ("above average",)
    assert estimates.agents["narrow"].significance == ("below average",)
    more = estimates.probability_more_general("general", "narrow")
    assert more > 0.999
    assert estimates.probability_more_general("narrow", "general") == pytest.approx(1 - more)
    # curves that cross: neither is ahead on all tasks
    assert estimates.probability_dominates("general", "narrow") < 0.01
    with pytest.raises(ex.InputError, match="There is no agent 'nobody'"):
        estimates.probability_more_general("nobody", "narrow")


def test_a_much_more_able_agent_dominates() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(40)], 1.5, np.linspace(-1, 1, 40))
    ability = np.concatenate([[2.0, -2.0], np.random.default_rng(0).normal(size=10)])
    estimates = ex.irt.generality(simulate(items, ability, trials=10, rng=1))
    first, second = estimates.names[:2]
    assert estimates.probability_dominates(first, second) > 0.9
    assert estimates.probability_dominates(second, first) < 0.01


def test_the_order_of_agents_and_tasks_changes_nothing() -> None:
    matrix, _ = table(5, 0.4)
    rng = np.random.default_rng(1)
    turned = matrix.take(rng.permutation(20).tolist(), rng.permutation(60).tolist())
    one, other = ex.irt.generality(matrix).agents, ex.irt.generality(turned).agents
    for row in one:
        assert other[row.agent].log_generality == pytest.approx(row.log_generality, abs=0.01)
        assert other[row.agent].unevenness == pytest.approx(row.unevenness, rel=0.01)


def test_scores_between_zero_and_one_are_taken_and_others_refused() -> None:
    rng = np.random.default_rng(0)
    eta = rng.normal(size=(12, 1)) - rng.normal(size=30)
    scores = rng.beta(8 / (1 + np.exp(-eta)), 8 / (1 + np.exp(eta)))
    estimates = ex.irt.generality(ResponseMatrix.from_array(scores))
    assert np.isfinite(estimates.agents.log_generality).all() and not estimates.agents.uneven.any()
    with pytest.raises(
        ex.InputError, match="Generality needs successes, or scores between 0 and 1"
    ):
        ex.irt.generality(ResponseMatrix.from_array(30 * scores))
    with pytest.raises(ex.InputError, match="too few for generality"):
        ex.irt.generality(ResponseMatrix.from_array(scores[:3]))

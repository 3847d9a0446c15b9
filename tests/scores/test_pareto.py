"""The front of score and cost: by hand, by brute force, and against simulated truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.scores.pareto import on_front
from examiner.validation import Floats


def table(score: Floats, cost: Floats, agents: list[str] | None = None) -> ex.Results:
    """One row a cell; arrays of shape [agents, tasks], NaN costs are not known."""
    names = agents or [f"a{row}" for row in range(len(score))]
    rows, tasks = score.shape
    return ex.Results.from_dict(
        {
            "agent": [name for name in names for _ in range(tasks)],
            "task": [f"t{column}" for _ in range(rows) for column in range(tasks)],
            "score": score.ravel(),
            "cost": [None if np.isnan(each) else each for each in cost.ravel().tolist()],
        }
    )


def test_an_example_by_hand() -> None:
    score = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], dtype=float)
    cost = np.array([[1, 1, 1, 1], [2, 2, 2, 6], [5, 5, 5, 5], [4, 4, 4, 8]], dtype=float)
    found = ex.scores.pareto(table(score, cost, ["small", "good", "dear", "best"]), "cost", rng=0)
    assert found.agents.agent == ("best", "dear", "good", "small"), "best first, equals by name"
    assert found.agents.score.tolist() == [0.75, 0.5, 0.5, 0.25]
    assert found.agents.cost.tolist() == [5.0, 5.0, 3.0, 1.0], "failures cost as successes do"
    assert found.front == ("best", "good", "small")
    assert set(found.agents.dominated_by[1]) == {"good", "best"}
    assert {*found.dominated.agent} == {"dear"}
    assert found.agents.front_share[3] == 1.0, "the cheapest on every item is on every front"


def test_the_share_is_that_of_resampled_items() -> None:
    # b costs the same and is better on item 1, worse on item 2; draws of one of two items
    # (one fewer than there are) take either half of the time, and then one of them dominates.
    score, cost = np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((2, 2))
    found = ex.scores.pareto(table(score, cost), "cost", rng=0, reps=4000)
    assert found.agents.on_front.all()
    assert found.agents.front_share == pytest.approx([0.5, 0.5], abs=0.03)
    assert found.agents.front_share.sum() == pytest.approx(1.0), (
        "exactly one is on the front of each draw"
    )


def test_a_share_by_hand() -> None:
    # Three draws of four items: with none that the cheap one fails, (2/4)³, it dominates.
    score, cost = np.array([[1.0, 0, 0, 1], [1, 1, 1, 1]]), np.array([[1.0] * 4, [2.0] * 4])
    found = ex.scores.pareto(table(score, cost), "cost", rng=0, reps=20_000)
    assert found.agents.agent == ("a1", "a0")
    assert found.agents.front_share == pytest.approx([1 - 0.5**3, 1.0], abs=0.01)


def test_scores_and_costs_are_paired_over_items() -> None:
    # Both agents pay far more for item 1 than for others, but b always pays a little less.
    rng = np.random.default_rng(0)
    cost = np.exp(rng.normal(0, 2, 40))
    score = (rng.random(40) < 0.5).astype(float)
    found = ex.scores.pareto(
        table(np.array([score, score]), np.array([cost, 0.9 * cost])), "cost", rng=0
    )
    assert found.agents.cost_low[0] < found.agents.cost[1], "intervals overlap"
    assert found.agents.front_share.tolist() == [0.0, 1.0]
    assert found.dominated["a0", "a1"].share == 1.0


def test_who_has_no_cost_is_left_out_and_not_free() -> None:
    rng = np.random.default_rng(0)
    score, cost = rng.random((4, 20)), rng.random((4, 20)) + 1
    cost[1], cost[2, :5], cost[3, 0] = np.nan, np.nan, np.nan
    found = ex.scores.pareto(table(score, cost), "cost", rng=0, reps=50)
    assert set(found.agents.agent) == {"a0", "a3"}
    assert found.left_out == ("a1", "a2")
    assert found["a3"].cost == pytest.approx(cost[3, 1:].mean())
    told = " ".join(found.notes)
    assert "whose cost is not known: 'a1'" in told
    assert "not known on 90% of the tasks: 'a2'" in told
    assert "lacks some of the 20 tasks" in told
    with pytest.raises(ex.InputError, match="No agent can be told by 'cost'"):
        ex.scores.pareto(table(score, np.full((4, 20), np.nan)), "cost", rng=0)
    with pytest.raises(ex.InputError, match="The coverage is 2"):
        ex.scores.pareto(table(score, cost), "cost", rng=0, coverage=2.0)


def test_attempts_without_a_score_have_cost_too() -> None:
    keys = {"agent": ["a"] * 4, "task": ["t", "t", "u", "u"], "trial": [0, 1, 0, 1]}
    results = ex.Results.from_dict(
        keys | {"score": [1.0, None, 0.0, 0.0], "cost": [1.0, 9.0, 2.0, 2.0]}
    )
    assert ex.scores.pareto(results, "cost", rng=0).agents.cost.tolist() == [3.5]


POINTS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12
)  # few values, so that there are ties


@given(POINTS)
def test_the_front_is_all_that_nobody_dominates(points: list[tuple[int, int]]) -> None:
    score, cost = (np.array(column, dtype=float) / 7 for column in zip(*points, strict=True))
    front = on_front(score, cost)
    for row, (up, price) in enumerate(points):
        dominated = any(s >= up and c <= price and (s, c) != (up, price) for s, c in points)
        assert front[row] == (not dominated)
    assert front.any()


@given(POINTS, st.randoms())
def test_neither_order_nor_units_change_the_front(
    points: list[tuple[int, int]], rng: np.random.Generator
) -> None:
    score, cost = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    order = list(range(len(points)))
    rng.shuffle(order)  # hypothesis' own
    front = on_front(score, cost)
    assert on_front(score[order], cost[order]).tolist() == front[order].tolist()
    assert on_front(score * 3 - 1, cost * 1e-6).tolist() == front.tolist()
    both = on_front(np.stack([score, score[::-1]], 1), np.stack([cost, cost[::-1]], 1))
    assert both.T.tolist() == [front.tolist(), front[::-1].tolist()]


def shares_and_truth(seed: int, tables: int, items: int = 60) -> tuple[Floats, Floats]:
    """Shares of simulated agents on the front, and whether they truly are, over all items there could be.

    Costs are log-normal with an effect of the item; successes follow a Rasch model, and hard items
    are dear. The truth is taken over 40,000 other items.
    """
    shares, truths = [], []
    rng = np.random.default_rng(seed)
    for _ in range(tables):
        ability, dear = rng.normal(0, 1, 8), rng.normal(0, 0.5, 8)
        dear = dear + 0.4 * ability

        def draw(
            count: int, ability: Floats = ability, dear: Floats = dear
        ) -> tuple[Floats, Floats]:
            hard = rng.normal(0, 1, count)
            chance = 1 / (1 + np.exp(hard - ability[:, None]))
            cost = np.exp(dear[:, None] + 0.5 * hard + rng.normal(0, 0.7, (8, count)))
            return chance, cost

        truth = on_front(*(each.mean(axis=1) for each in draw(40_000)))
        chance, cost = draw(items)
        results = table((rng.random(chance.shape) < chance).astype(float), cost)
        found = ex.scores.pareto(results, "cost", rng=0, reps=400)
        shares.append(found.agents.front_share)
        truths.append(truth[[int(agent[1:]) for agent in found.agents.agent]])
    return np.concatenate(shares), np.concatenate(truths).astype(float)


def test_who_is_surely_on_the_front_is_there_or_not_as_said() -> None:
    share, truth = shares_and_truth(1, 25)
    # 200 agents; at 95 % and 5 % at most one in ten is allowed to be wrong, far beyond chance of 1 in 20
    assert truth[share >= 0.95].mean() > 0.9
    assert truth[share <= 0.05].mean() < 0.1


@pytest.mark.slow
def test_shares_are_calibrated_over_many_tables() -> None:
    share, truth = shares_and_truth(2, 500)
    assert truth[share >= 0.95].mean() > 0.95
    assert truth[share <= 0.05].mean() < 0.05
    for low, high in ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95)):
        some = (share > low) & (share < high)
        error = truth[some].std() / np.sqrt(some.sum())
        assert abs(truth[some].mean() - share[some].mean()) < 0.1 + 2 * error

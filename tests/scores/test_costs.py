"""What attempts and tasks cost: by hand, and what is not known is never zero."""

import numpy as np
import pytest

import examiner as ex
from examiner.scores import task_cost_notes, usual_cost


def table(**columns: list[object]) -> ex.Results:
    """Two agents, two tasks; a has two attempts on t."""
    keys = {
        "agent": ["a", "a", "a", "b", "b"],
        "task": ["t", "t", "u", "t", "u"],
        "run": [0] * 5,
        "trial": [0, 1, 0, 0, 0],
        "score": [1, 0, 0, 1, 0],
    }
    return ex.Results.from_dict(keys | columns)


def test_a_task_costs_what_runs_of_it_take_on_average_over_agents() -> None:
    results = table(cost=[1.0, 2.0, 4.0, 5.0, 6.0])
    # t: a paid 1 + 2, b paid 5; u: 4 and 6, whether or not anybody succeeded
    assert ex.scores.task_costs(results, "cost").tolist() == [4.0, 5.0]
    assert ex.scores.task_costs(results, "cost", "b").tolist() == [5.0, 6.0]
    (note,) = task_cost_notes(results, "cost", "b")
    assert note.endswith("by the agent 'b'.")


def test_an_agent_with_more_runs_counts_once() -> None:
    keys = {"agent": ["a", "a", "b"], "task": ["t"] * 3, "run": [0, 1, 0], "score": [1, 0, 1]}
    results = ex.Results.from_dict(keys | {"cost": [1.0, 3.0, 8.0]})
    assert ex.scores.task_costs(results, "cost").tolist() == [5.0]  # of 2 and 8


def test_unknown_costs_are_not_zero() -> None:
    results = table(cost=[1.0, None, None, 5.0, 6.0])
    # a's second attempt on t is taken to cost what the first did; a has no cost on u at all
    assert ex.scores.task_costs(results, "cost").tolist() == [3.5, 6.0]
    assert np.isnan(ex.scores.task_costs(results, "cost", "a")[1])
    assert "1 task of 2 lack the costs" in task_cost_notes(results, "cost")[1]
    only = table(cost=[None, None, None, 5.0, 6.0])
    assert ex.scores.task_costs(only, "cost").tolist() == [5.0, 6.0]
    assert "no part in it: 'a'" in task_cost_notes(only, "cost")[1]


def test_tokens_become_money_at_a_price_or_at_each_agents_own() -> None:
    results = table(tokens_in=[10, 20, 30, 40, 50], tokens_out=[1, 2, 3, 4, None])
    money = ex.scores.attempt_costs(results, "tokens_in*0.1 + tokens_out*2")
    np.testing.assert_allclose(money, [3, 6, 9, 12, np.nan])
    prices = [{"agent": "a", "price": 1.0}, {"agent": "b", "price": 0.5}]
    priced = results.with_attributes(ex.results.Attributes.from_dicts("agent", prices))
    assert ex.scores.attempt_costs(priced, "tokens_in*price").tolist() == [10, 20, 30, 20, 25]


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ("gold", "No column 'gold' says what a task costs. Columns of the results: 'seconds'"),
        ("seconds*dear", "The price 'dear' is no number and no column of the agents' table"),
        ("seconds*-1", "has the cost -1"),
    ],
)
def test_a_cost_that_cannot_be_told_is_refused_in_one_sentence(cost: str, said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        ex.scores.task_costs(table(seconds=[1, 2, 3, 4, 5]), cost)


def test_the_usual_cost_is_money_then_tokens_then_seconds() -> None:
    ones, none = [1.0] * 5, [None] * 5
    assert usual_cost(table(seconds=ones, cost=ones)) == "cost"
    assert usual_cost(table(seconds=ones, cost=none)) == "seconds"
    tokens = {"tokens_in": ones, "tokens_out": ones, "seconds": ones}
    assert usual_cost(table(**tokens)) == "tokens_in+tokens_out"
    assert usual_cost(table()) is None


def test_a_budget_of_money_is_kept_with_costs_from_the_results() -> None:
    rng = np.random.default_rng(0)
    agents, tasks = 12, 10
    keys = {
        "agent": [f"a{row}" for row in range(agents) for _ in range(tasks)],
        "task": [f"t{column}" for _ in range(agents) for column in range(tasks)],
        "score": rng.random(agents * tasks),
    }
    money = rng.uniform(1, 3, (agents, tasks))
    results = ex.Results.from_dict(keys | {"cost": money.ravel()})
    own = ex.selection.Constraints(budget=8.0, cost="cost", cost_of="a3")
    for demands, price in (
        (ex.selection.Constraints(budget=8.0, cost="cost"), money.mean(axis=0)),
        (own, money[3]),
    ):
        material = ex.selection.benchmark(results, constraints=demands)
        chosen = ex.selection.choose(material, None, "spread", rng=0)
        paid = sum(price[int(task[1:])] for task in (material.tasks[j] for j in chosen.columns))
        assert paid <= 8.0
        assert chosen.cost == pytest.approx(paid)
        assert any("A task costs what a run of it takes in 'cost'" in n for n in material.notes)

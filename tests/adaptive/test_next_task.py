"""The next task and what its answer tells, against brute force and by what must hold for every rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examiner.adaptive import (
    RULES,
    Choosing,
    Stop,
    TaskBank,
    TaskResponse,
    balance_of,
    examine,
    next_task,
    replay,
    simulate,
)
from examiner.irt import ItemParameters, fisher_information, probability
from examiner.messages import InputError

GRID = np.linspace(-8, 8, 8_001)
PRIOR = stats.norm.pdf(GRID)


def some_items(count: int, seed: int = 0, **more: object) -> ItemParameters:
    rng = np.random.default_rng(seed)
    slope = np.exp(rng.normal(0.2, 0.4, count)) * rng.choice([1, 1, 1, -1], count)
    names = [f"task {n}" for n in range(count)]
    return ItemParameters.of(names, slope, difficulty=rng.normal(size=count), **more)  # type: ignore[arg-type]


def brute_density(items: ItemParameters, place: int, value: float, trials: int):
    """The likelihood of an answer over the fine grid, by scipy's own distributions."""
    p = probability(items.take([place]), GRID)[:, 0]
    if items.response == "binomial":
        return stats.binom.pmf(value, trials, p)
    assert items.precision is not None
    nu = items.precision[place]
    if items.response == "beta-binomial":
        return stats.betabinom.pmf(int(value), trials, p * nu, (1 - p) * nu)
    assert items.cuts is not None
    low, high = items.cuts[place]
    around = stats.logistic(items.slope[place] * GRID + items.intercept[place])
    if value in (0.0, 1.0):
        return around.cdf(low) if value == 0 else around.sf(high)
    inside = around.cdf(high) - around.cdf(low)
    p = stats.logistic.cdf(items.slope[place] * GRID + items.intercept[place])
    return inside * stats.beta.pdf(value, p * nu, (1 - p) * nu)


def brute_moments(density: np.ndarray) -> tuple[float, float]:
    weights = PRIOR * density
    weights = weights / weights.sum()
    mean = weights @ GRID
    return float(mean), float(np.sqrt(weights @ (GRID - mean) ** 2))


CASES = {
    "binomial": (some_items(6, guessing=0.1, ceiling=0.95), [(1, 1), (0, 1), (3, 5), (0, 2)]),
    "beta-binomial": (
        some_items(6, precision=[0.5, 2.0, 8.0, 30.0, 4.0, 1.0], response="beta-binomial"),
        [(1, 1), (0, 4), (3, 5), (7, 9)],
    ),
    "beta": (
        some_items(6, precision=[3.0, 5.0, 20.0, 1.0, 8.0, 2.0], response="beta", cuts=(-3.0, 2.0)),
        [(0.0, 1), (1.0, 1), (0.37, 1), (0.9, 1)],
    ),
}


@pytest.mark.parametrize("response", CASES)
def test_ability_and_error_are_those_of_a_fine_grid(response: str) -> None:
    items, answers = CASES[response]
    bank, density = TaskBank.of(items), np.ones_like(GRID)
    for place, (value, trials) in enumerate(answers):
        so_far = dict(zip(items.tasks, answers[: place + 1], strict=False))
        last = examine(bank, so_far.get)
        density = density * brute_density(items, place, value, trials)
        mean, deviation = brute_moments(density)
        assert last.ability == pytest.approx(mean, abs=2e-6)
        assert last.posterior_sd == pytest.approx(deviation, abs=2e-6)
        assert last.error == last.posterior_sd  # parameters given by hand have no error


ANSWERS = {"task 3": 1, "task 7": 0, "task 1": 1}


def brute_values(rule: str, items: ItemParameters, place: int) -> float:
    """What a rule promises after `ANSWERS`, from the fine grid and its definition alone."""
    density = np.ones_like(GRID)
    for task, value in ANSWERS.items():
        density *= brute_density(items, items.tasks.index(task), value, 1)
    weights = PRIOR * density
    weights /= weights.sum()
    mean, deviation = brute_moments(density)
    outcomes = [brute_density(items, place, k, 1) for k in (0, 1)]
    if rule == "information":
        return float(fisher_information(items.take([place]), mean)[0, 0])
    if rule == "posterior-information":
        return float(weights @ fisher_information(items.take([place]), GRID)[:, 0])
    chances = [float(weights @ outcome) for outcome in outcomes]
    if rule == "posterior-variance":
        after = [brute_moments(density * outcome)[1] ** 2 for outcome in outcomes]
        return float(deviation**2 - np.dot(chances, after))
    if rule == "mutual-information":
        joint = [weights @ (outcome * np.log(np.maximum(outcome, 1e-300))) for outcome in outcomes]
        return float(sum(joint) - sum(c * np.log(c) for c in chances))
    here = [np.interp(mean, GRID, outcome) for outcome in outcomes]
    logs = [weights @ np.log(np.maximum(outcome, 1e-300)) for outcome in outcomes]
    return float(sum(p * (np.log(p) - log) for p, log in zip(here, logs, strict=True)))


@pytest.mark.parametrize("rule", [name for name in RULES if name != "random"])
def test_a_rule_is_worth_what_its_definition_says_on_a_fine_grid(rule: str) -> None:
    items = some_items(12, seed=3)
    wanted = {
        task: brute_values(rule, items, place)
        for place, task in enumerate(items.tasks)
        if task not in ANSWERS
    }
    choice = next_task(items, ANSWERS, rule)
    assert choice is not None
    assert choice.task == max(wanted, key=lambda task: wanted[task])
    assert choice.value == pytest.approx(wanted[choice.task], rel=5e-3)


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 1000))
def test_no_rule_gives_a_task_twice_and_all_end_when_none_is_left(rule: str, seed: int) -> None:
    bank = TaskBank.of(some_items(7, seed))
    rng = np.random.default_rng(seed)
    answers: dict[str, int] = {}
    for _ in range(6):
        choice = next_task(bank, answers, rule, skipped=["task 2"], rng=rng)
        assert choice is not None and choice.task not in (*answers, "task 2")
        answers[choice.task] = int(rng.random() < 0.5)
    assert next_task(bank, answers, rule, skipped=["task 2"], rng=rng) is None


@pytest.mark.parametrize("rule", [name for name in RULES if name != "random"])
@given(seed=st.integers(0, 1000))
def test_the_order_of_tasks_in_the_bank_changes_nothing(rule: str, seed: int) -> None:
    items = some_items(9, seed)
    order = np.random.default_rng(seed).permutation(9)
    chosen = [next_task(source, ANSWERS, rule) for source in (items, items.take(order))]
    assert chosen[0] is not None and chosen[1] is not None
    assert chosen[0].task == chosen[1].task


@pytest.mark.parametrize("rule", [name for name in RULES if name != "random"])
def test_what_a_task_costs_divides_what_it_is_worth(rule: str) -> None:
    items = some_items(12, seed=3)
    free = next_task(items, {}, rule)
    assert free is not None
    dear = TaskBank.of(
        items, costs={task: 1e6 if task == free.task else 1.0 for task in items.tasks}
    )
    other = next_task(dear, {}, rule)
    assert other is not None and other.task != free.task
    half = TaskBank.of(items, costs=2.0)
    same = next_task(half, {}, rule)
    assert same is not None
    assert (same.task, same.value) == (free.task, pytest.approx(free.value / 2))


@pytest.mark.parametrize("rule", [name for name in RULES if name != "random"])
def test_a_task_on_which_the_able_do_worse_comes_last(rule: str) -> None:
    items = ItemParameters.of(["reversed", "flat", "good"], [-3.0, 0.2, 1.0], [0.0, 0.0, 0.0])
    bank = TaskBank.of(items)
    last = examine(
        bank, {"reversed": 1, "flat": 1, "good": 0}.get, choosing=rule, rng=np.random.default_rng(0)
    )
    assert last.tasks == ("good", "flat", "reversed")


def test_a_function_of_ones_own_is_a_rule() -> None:
    bank = TaskBank.of(some_items(5))

    def last(bank: TaskBank, weights: np.ndarray, abilities: np.ndarray) -> np.ndarray:
        return np.tile(np.arange(len(bank), dtype=float), (len(weights), 1))

    choice = next_task(bank, {}, last)
    assert choice is not None and choice.task == "task 4"
    with pytest.raises(InputError, match=r"returned shape \(5,\). It must return \(1, 5\)"):
        next_task(bank, {}, lambda *_: np.zeros(5))


def test_randomesque_stays_among_the_best_and_uses_all_of_them() -> None:
    items = some_items(20, seed=5)
    bank = TaskBank.of(items)
    best = np.argsort(-fisher_information(items, 0.0)[0])[:4]
    seen = {
        next_task(bank, {}, Choosing(among=4), rng=n).task  # type: ignore[union-attr]
        for n in range(60)
    }
    assert seen == {items.tasks[place] for place in best}


def test_balance_keeps_groups_near_their_shares() -> None:
    items = some_items(60, seed=2)
    groups = ["maze"] * 40 + ["ball"] * 20
    bank = TaskBank.of(items, groups=groups)
    shares = balance_of(bank)
    assert shares == {"ball": pytest.approx(1 / 3), "maze": pytest.approx(2 / 3)}
    for aims in (shares, {"ball": 0.8, "maze": 0.2}):
        run = simulate(
            bank,
            np.linspace(-1, 1, 20),
            choosing=Choosing(balance=aims),
            stop=Stop(most=15),
            rng=np.random.default_rng(0),
        )
        balls = (run.given >= 40).sum(axis=1)
        assert np.abs(balls - 15 * aims["ball"]).max() <= 1


def test_a_single_agent_and_many_are_examined_alike() -> None:
    from examiner.adaptive import examine

    items = some_items(40, seed=9)
    bank = TaskBank.of(items, costs=np.linspace(1, 2, 40), trials=3)
    run = simulate(
        bank,
        [-1.5, 0.2, 1.0],
        choosing="posterior-variance",
        stop=Stop(error=0.4, budget=20.0),
        rng=np.random.default_rng(4),
    )
    for agent in range(3):
        answers = {
            items.tasks[place]: (value, 3)
            for place, value in zip(run.given[agent], run.answers[agent], strict=True)
            if place >= 0
        }
        last = examine(
            bank,
            answers.get,
            choosing="posterior-variance",
            stop=Stop(error=0.4, budget=20.0),
            rng=np.random.default_rng(0),
        )
        assert last.tasks == tuple(answers)
        assert last.ability == pytest.approx(run.ability[agent], abs=1e-9)
        assert last.error == pytest.approx(run.error[agent], abs=1e-9)
        assert last.ending is run.ending[agent]


ENDS = {
    "at the standard error, or when it is futile": Stop(error=0.3),
    "when all tasks are given, which are the most": Stop(most=24),
    "at the most tasks": Stop(most=9, error=0.05),
    "within a budget": Stop(budget=16.0),
    "within a budget, futile or not": Stop(error=0.15, budget=30.0),
    "at a decision": Stop(better_than=0.2, least=3),
    "at either of two": Stop(better_than=0.2, error=0.45, most=20),
    "when nothing is left": Stop(),
}


@pytest.mark.parametrize("ends", ENDS)
@given(seed=st.integers(0, 1000))
def test_one_examination_and_many_end_with_the_same_word(ends: str, seed: int) -> None:
    bank = TaskBank.of(some_items(24, seed), costs=np.linspace(1.0, 3.0, 24))
    abilities = np.random.default_rng(seed).normal(size=4)
    run = simulate(bank, abilities, stop=ENDS[ends], rng=np.random.default_rng(seed))
    for agent in range(4):
        given = run.given[agent][run.given[agent] >= 0]
        answers = {
            bank.tasks[column]: run.answers[agent, step] for step, column in enumerate(given)
        }
        last = examine(bank, answers.get, stop=ENDS[ends], rng=np.random.default_rng(0))
        assert last.ending is run.ending[agent]
        assert last.tasks == tuple(answers)
        assert last.cost == pytest.approx(run.cost[agent])
        assert last.ability == pytest.approx(run.ability[agent], abs=1e-9)
        assert last.error == pytest.approx(run.error[agent], abs=1e-9)


def test_scores_are_worth_more_where_they_are_precise() -> None:
    precision = np.array([2.0, 200.0])
    items = ItemParameters.of(["vague", "sharp"], 1.0, 0.0, precision=precision, response="beta")
    bank = TaskBank.of(items)
    assert np.allclose(bank.information, fisher_information(items, bank.nodes), rtol=2e-3)
    for rule in RULES:
        if rule != "random":
            choice = next_task(bank, {}, rule)
            assert choice is not None and choice.task == "sharp", rule


def test_information_of_counts_is_that_of_so_many_trials() -> None:
    items = some_items(5)
    wanted = 4 * fisher_information(items, TaskBank.of(items, trials=4).nodes)
    assert np.allclose(TaskBank.of(items, trials=4).information, wanted, atol=1e-6)


SENTENCES = {
    "No task is of the group 'sea'": lambda bank: next_task(
        TaskBank.of(bank.items, groups=["a"] * 5), {}, Choosing(balance={"sea": 1.0})
    ),
    "The bank has no groups to balance": lambda bank: balance_of(bank),
    "Unknown rule 'informaton'. Did you mean 'information'": lambda bank: Choosing("informaton"),
    "chosen among 0. Give a whole number": lambda bank: Choosing(among=0),
    "open share of 'pong' is not between 0 and 1": lambda bank: Choosing(open_shares={"pong": 2.0}),
    "Unknown task 'pong'": lambda bank: next_task(bank, {"pong": 1}),
    "was answered before": lambda bank: replay(
        {**(record := examine(bank, {"task 1": 1}.get).to_record()), "steps": 2 * record["steps"]},
        bank,
    ),
    "The answer to 'task 1' is 2. Give 0 or 1": lambda bank: TaskResponse.of(
        "task 1", 2, "binomial"
    ),
    "is (6, 5). Give 0 or 1, or successes": lambda bank: TaskResponse.of("t", (6, 5), "binomial"),
    "is (1, 2, 3). Give 0 or 1": lambda bank: TaskResponse.of("t", (1, 2, 3), "binomial"),
    "is 'won'. Give 0 or 1": lambda bank: TaskResponse.of("t", "won", "binomial"),
    "is nan. Give 0 or 1": lambda bank: TaskResponse.of("t", float("nan"), "binomial"),
    "is 1.5. Give a score from 0 to 1": lambda bank: TaskResponse.of("t", 1.5, "beta"),
    "No cost is given for 'task 1'": lambda bank: TaskBank.of(bank.items, costs={"task 0": 1.0}),
    "The cost of 'task 0' is 0. Costs must be above 0": lambda bank: TaskBank.of(
        bank.items, costs=0
    ),
    "The costs do not fit 5 tasks": lambda bank: TaskBank.of(bank.items, costs=[1, 2]),
    "2 groups are given for 5 tasks": lambda bank: TaskBank.of(bank.items, groups=["a", "b"]),
    "No group is given for 'task 0'": lambda bank: TaskBank.of(bank.items, groups={"x": "y"}),
    "Trials must be whole numbers": lambda bank: TaskBank.of(bank.items, trials=0.5),
    "The trials do not fit": lambda bank: TaskBank.of(bank.items, trials=[1, 2]),
    "Unknown uncertainty 'some'": lambda bank: TaskBank.of(bank.items, uncertainty="some"),
    "not of a str": lambda bank: TaskBank.of("fit.json"),
    "The prior has mean 0.0 and deviation 0.0": lambda bank: TaskBank.of(
        bank.items, prior=(0.0, 0.0)
    ),
    "no trials. Leave the trials out": lambda bank: TaskBank.of(CASES["beta"][0], trials=3),
    "Abilities must be a list": lambda bank: simulate(bank, [np.nan], rng=np.random.default_rng(0)),
    "of other tasks or another response": lambda bank: simulate(
        bank, [0.0], truth=some_items(3), rng=np.random.default_rng(0)
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_bad_input_ends_in_a_sentence(sentence: str) -> None:
    with pytest.raises(InputError) as said:
        SENTENCES[sentence](TaskBank.of(some_items(5)))
    assert sentence in str(said.value)


def test_an_empty_bank_ends_in_a_sentence() -> None:
    with pytest.raises(InputError, match="no tasks"):
        TaskBank.of(ItemParameters.of([], [], []))

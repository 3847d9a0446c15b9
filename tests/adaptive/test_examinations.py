"""Whole examinations: when they end, and that they can be stored, resumed, replayed and limited."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examiner.adaptive import (
    Choosing,
    Ending,
    Examination,
    Stop,
    TaskBank,
    answers_from,
    examine,
    exposure,
    replay,
    simulate,
)
from examiner.adaptive import (
    study as examination_study,
)
from examiner.answers import StoredAnswer
from examiner.irt import Abilities, AbilityEstimates, ItemParameters, probability
from examiner.irt import fit as irt_fit
from examiner.irt import known as known_fit
from examiner.messages import InputError
from examiner.results import Results
from examiner.scores import Recipe
from examiner.storage import load_saved, save


def bank_of(count: int = 40, seed: int = 0, **more: object) -> TaskBank:
    rng = np.random.default_rng(seed)
    names = [f"task {n}" for n in range(count)]
    slope = np.exp(rng.normal(0.2, 0.3, count))
    return TaskBank.of(ItemParameters.of(names, slope, difficulty=rng.normal(size=count)), **more)  # type: ignore[arg-type]


def simulated_agent(bank: TaskBank, ability: float, seed: int = 0):
    chance = probability(bank.items, ability)[0]
    drawn = np.random.default_rng(seed).random(len(bank)) < chance
    return dict(zip(bank.tasks, drawn.astype(int).tolist(), strict=True)).get


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_it_ends_at_the_standard_error_and_not_before() -> None:
    bank = bank_of(200)
    last = examine(bank, simulated_agent(bank, 0.5), stop=Stop(error=0.35), rng=rng())
    assert last.ending is Ending.PRECISE
    assert last.error <= 0.35 < min(step.ability_error for step in last.steps[:-1])
    assert last.interval == (last.steps[-1].ability_low, last.steps[-1].ability_high)


def test_it_ends_after_the_most_tasks_and_asks_at_least_the_fewest() -> None:
    bank = bank_of()
    last = examine(bank, simulated_agent(bank, 0.5), stop=Stop(most=7), rng=rng())
    assert last.ending is Ending.MOST_TASKS and len(last.steps) == 7
    stop = Stop(error=5.0, least=6)
    last = examine(bank, simulated_agent(bank, 0.5), stop=stop, rng=rng())
    assert last.ending is Ending.PRECISE and len(last.steps) == 6


def test_it_ends_where_the_tasks_left_tell_too_little() -> None:
    near, far = np.linspace(-1, 1, 40), np.full(160, 12.0)
    items = ItemParameters.of(
        [f"task {n}" for n in range(200)], 1.2, difficulty=np.concatenate([near, far])
    )
    bank = TaskBank.of(items)
    agent = simulated_agent(bank, 0.0)
    last = examine(bank, agent, stop=Stop(error=0.1), rng=rng())
    assert last.ending is Ending.FUTILE and 30 <= len(last.steps) <= 45
    whole = examine(bank, agent, rng=rng())
    assert whole.error > 0.95 * last.error  # nothing was lost
    other = examine(bank, agent, stop=Stop(better_than=last.ability), rng=rng())
    assert other.ending is Ending.FUTILE and len(other.steps) <= 45
    run = simulate(bank, [0.0, 0.5], stop=Stop(error=0.1), rng=rng())
    assert set(run.ending) == {Ending.FUTILE}


def test_a_precise_error_is_not_given_up_while_tasks_tell_enough() -> None:
    bank = bank_of(1000)
    last = examine(bank, simulated_agent(bank, 0.0), stop=Stop(error=0.12), rng=rng())
    assert last.ending is Ending.PRECISE


def test_giving_up_a_decision_loses_few_of_them() -> None:
    bank = bank_of(120)
    theta = np.random.default_rng(5).normal(0.2, 0.15, 300)
    stop = Stop(better_than=0.2)
    run = simulate(bank, theta, stop=stop, rng=rng(1))
    given_up = np.array([end is Ending.FUTILE for end in run.ending])
    assert given_up.mean() > 0.1
    whole = simulate(bank, theta, rng=rng(1))
    found = AbilityEstimates(whole.ability, whole.error, whole.error)
    better = stop.probability_better(bank, found)
    assert better is not None
    clear = np.maximum(better, 1 - better) >= stop.certainty
    assert clear[given_up].mean() < 0.2
    assert run.count[given_up].mean() < 110


@given(seed=st.integers(0, 500), budget=st.floats(1.0, 30.0))
def test_the_budget_is_never_exceeded_and_used_while_a_task_fits(seed: int, budget: float) -> None:
    costs = np.random.default_rng(seed).uniform(0.5, 6.0, 12)
    costs[0] = 1.0
    bank = bank_of(12, seed, costs=costs)
    last = examine(bank, simulated_agent(bank, 0.0, seed), stop=Stop(budget=budget), rng=rng(seed))
    left = [cost for task, cost in zip(bank.tasks, costs, strict=True) if task not in last.tasks]
    assert last.cost <= budget + 1e-6
    assert last.cost == pytest.approx(sum(step.cost for step in last.steps))
    assert all(last.cost + cost > budget for cost in left)
    assert last.ending is (Ending.BUDGET if left else Ending.USED_UP)


def test_a_decision_ends_it_on_either_side_and_says_how_sure() -> None:
    items = bank_of(150).items
    marks = Abilities(("weak", "strong"), np.array([-1.0, 1.0]), np.array([0.1, 0.1]), "given")
    bank = TaskBank.of(known_fit(items, abilities=marks))
    for mark, better in (("weak", True), ("strong", False), (-0.8, True)):
        stop = Stop(better_than=mark)
        last = examine(bank, simulated_agent(bank, 0.0), stop=stop, rng=rng())
        assert last.ending is Ending.DECIDED
        assert last.probability_better is not None
        assert (last.probability_better >= 0.95) if better else (last.probability_better <= 0.05)
        earlier = [step.probability_better for step in last.steps[:-1]]
        assert all(0.05 < chance < 0.95 for chance in earlier if chance is not None)


def test_decisions_are_wrong_no_more_often_than_their_certainty_allows() -> None:
    bank = bank_of(200)
    theta = rng(1).normal(size=1500)
    run = simulate(
        bank, theta, stop=Stop(better_than=0.5, certainty=0.9), choosing="information", rng=rng(2)
    )
    decided = np.array([end is Ending.DECIDED for end in run.ending])
    wrong = (run.ability > 0.5) != (theta > 0.5)
    assert decided.mean() > 0.9
    assert wrong[decided].mean() <= 0.10


def test_tasks_without_an_answer_are_put_aside_and_it_goes_on() -> None:
    bank = bank_of(10)
    known = {"task 1": 1, "task 4": 0}
    last = examine(bank, known.get, rng=rng())
    assert set(last.tasks) == set(known) and last.ending is Ending.USED_UP
    assert set(last.skipped) == set(bank.tasks) - set(known)
    only = examine(bank, lambda task: None, rng=rng())
    assert only.steps == () and only.ending is Ending.USED_UP


@pytest.mark.parametrize("choosing", ["information", "random", Choosing(among=5)])
def test_interrupted_at_any_step_it_goes_on_as_if_never_interrupted(
    choosing, tmp_path: Path
) -> None:
    bank = bank_of(30)
    answer, stop = simulated_agent(bank, 0.3), Stop(most=12)
    whole: list[Examination] = []
    examine(bank, answer, choosing=choosing, stop=stop, rng=rng(3), after_each=whole.append)
    for at in (0, 4, 10, 11):
        path = save(whole[at], tmp_path / "examination.json")
        read = load_saved(path, bank)
        assert read.steps == whole[at].steps
        assert (read.ability, read.error) == (whole[at].ability, whole[at].error)
        resumed = examine(bank, answer, resume=read, rng=rng(99))
        assert resumed.steps == whole[-1].steps and resumed.ending is whole[-1].ending


def test_it_can_be_prolonged_with_another_stop() -> None:
    bank = bank_of(30)
    answer = simulated_agent(bank, 0.3)
    short = examine(bank, answer, stop=Stop(most=5), rng=rng())
    longer = examine(bank, answer, resume=short, stop=Stop(most=9), rng=rng())
    straight = examine(bank, answer, stop=Stop(most=9), rng=rng())
    assert longer.steps == straight.steps
    done = examine(bank, answer, resume=longer, rng=rng())
    assert done.steps == longer.steps


def test_an_examination_answers_for_itself_and_replays_on_another_fit() -> None:
    bank = bank_of(30)
    last = examine(bank, simulated_agent(bank, 0.3), stop=Stop(most=10), rng=rng())
    again = examine(bank, last.answer, stop=Stop(most=10), rng=rng())
    assert again.steps == last.steps
    assert replay(last, bank).ability == last.ability
    easier = bank.items.rescaled(1.0, 1.0)  # the same tasks for abilities counted from 1
    wide = TaskBank.of(easier, prior=(-1.0, 1.0))
    moved = replay(json.loads(json.dumps(last.to_record())), wide)
    assert moved.ability == pytest.approx(last.ability - 1.0, abs=1e-6)
    assert moved.error == pytest.approx(last.error, abs=1e-6)
    with pytest.raises(InputError, match=r"made with another fit\. Give that fit, or replay"):
        Examination.from_dict(last.to_record(), wide)
    with pytest.raises(InputError, match="made with another fit"):
        examine(wide, last.answer, resume=last, rng=rng())


def stored() -> tuple[TaskBank, dict]:
    bank = bank_of(8, costs=np.linspace(1, 2, 8), groups=["maze", "ball"] * 4)
    plan = Choosing(
        among=2, open_shares=dict.fromkeys(bank.tasks, 0.7), balance={"maze": 0.5, "ball": 0.5}
    )
    answers = dict.fromkeys(bank.tasks[:5], (2, 3))
    stop = Stop(budget=9.0, better_than=0.3, certainty=0.99)
    stages: list[Examination] = []
    examine(
        bank,
        answers.get,
        choosing=plan,
        stop=stop,
        agent="dqn",
        rng=rng(),
        after_each=stages.append,
    )
    going = stages[-2]
    return bank, json.loads(json.dumps(going.to_record()))


def parts(content: object, path: tuple = ()) -> list[tuple]:
    """The path of every part of a record, however deep."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    found = []
    for key, value in inner:
        found.append((*path, key))
        if isinstance(value, (dict, list)):
            found += parts(value, (*path, key))
    return found


BANK, CONTENT = stored()
JSON_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.lists(st.integers(-2, 2) | st.text(max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=3), st.floats() | st.text(max_size=2), max_size=2),
)


@settings(max_examples=300)
@given(path=st.sampled_from(parts(CONTENT)), value=JSON_VALUES, dropped=st.booleans())
def test_any_part_of_a_stored_examination_may_be_wrong_and_a_sentence_says_so(
    path, value, dropped
) -> None:
    content = json.loads(json.dumps(CONTENT))
    inside = content
    for key in path[:-1]:
        inside = inside[key]
    if dropped:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    for read in (
        lambda: examine(BANK, {}.get, resume=Examination.from_dict(content, BANK), rng=rng()),
        lambda: replay(content, BANK.items),
    ):
        try:
            made = read()
        except InputError as problem:
            assert str(problem).endswith(".") and "\n" not in str(problem)
        else:
            assert made


def test_a_part_that_is_wrong_is_named_by_its_path() -> None:
    for change, said in (
        ({"seed": -1}, "'seed' is '-1'. Give a whole number of at least 0."),
        ({"ending": "TIRED"}, "'ending' is 'TIRED'. Give one of 'PRECISE', 'DECIDED'"),
        ({"steps": [CONTENT["steps"][0] | {"worth": None}]}, "'steps[0].worth' is missing"),
        ({"stop": {"error": "low"}}, "'stop.error' is 'low'. Give a number."),
        ({"closed": "task 1"}, "'closed' is 'task 1'. Give a list."),
    ):
        with pytest.raises(InputError) as refused:
            Examination.from_dict(CONTENT | change, BANK)
        assert f"This is no examination: {said}" in str(refused.value)


def test_results_answer_through_the_recipe_of_the_fit() -> None:
    old = Results.from_numpy(rng(1).normal(50.0, 20.0, size=(40, 12)))
    recipe = Recipe(success=50.0).learn(old)
    fit = irt_fit(recipe.responses(old)).with_recipe(recipe)
    new = Results.from_numpy(rng(2).normal(60.0, 20.0, size=(2, 12)), agents=["a", "b"])
    last = examine(fit, new, agent="b", rng=0, stop=Stop(most=6))
    won = dict(zip(new.tasks, new.measure()[12:] >= 50.0, strict=True))
    assert [step.value for step in last.steps] == [float(won[task]) for task in last.tasks]
    assert last.agent == "b" and last.recipe == recipe == TaskBank.of(fit).recipe
    again = examine(fit, answers_from(new, fit, "b"), rng=0, stop=Stop(most=6))
    assert again.steps == last.steps
    matrix = examine(fit, recipe.responses(new), agent="b", rng=0, stop=Stop(most=6))
    assert matrix.steps == last.steps
    with pytest.raises(InputError, match=r"The results hold 'a', 'b'\. Say which of them"):
        examine(fit, new, rng=0)
    with pytest.raises(InputError, match="Unknown agent 'c'"):
        examine(fit, new, agent="c", rng=0)
    with pytest.raises(InputError, match="A dict cannot answer"):
        examine(fit, {"task 1": 1}, rng=0)  # type: ignore[arg-type]


def test_what_comes_back_shows_itself_in_a_line_and_as_a_table() -> None:
    bank = bank_of(20)
    last = examine(bank, simulated_agent(bank, 0.3), agent="<b>", stop=Stop(most=5), rng=0)
    run = simulate(bank, rng().normal(size=15), stop=Stop(most=5), rng=0)
    made = examination_study(bank, rng=0, stop=Stop(error=0.5), agents=30)
    assert last.headline.startswith("<b> has ability ") and last[4].ability == last.ability
    assert run.headline.startswith("15 simulated agents had 5.0 tasks on average")
    assert made.headline.startswith("Mean number of tasks needed by 30 simulated agents: ")
    assert made["random"].against_random == 1.0 and made.settings["seed"] == 0
    for shown in (last, run, made):
        page = shown._repr_html_()
        assert page.count("<tr>") > 2 and "<b>" not in page
        assert StoredAnswer.from_json(shown.to_json()).headline == shown.headline


def test_a_stored_rule_of_ones_own_is_asked_for_again() -> None:
    bank = bank_of(6)

    def fancy(bank, weights, abilities):
        return np.ones((len(weights), len(bank)))

    last = examine(bank, simulated_agent(bank, 0.0), choosing=fancy, rng=rng())
    with pytest.raises(InputError, match=r"chose by a function named fancy\. Give it again"):
        Examination.from_dict(last.to_record(), bank)
    assert Examination.from_dict(last.to_record(), bank, rule=fancy).steps == last.steps


def test_exposure_shares_keep_tasks_below_the_share_asked_for() -> None:
    bank = bank_of(80)
    theta, stop = rng(5).normal(size=600), Stop(most=10)
    free = simulate(bank, theta, stop=stop, rng=rng(6))
    shares = exposure(bank, 0.3, stop=stop, rng=rng(7), agents=600).open_shares
    kept = simulate(bank, theta, stop=stop, choosing=Choosing(open_shares=shares), rng=rng(6))
    assert free.exposure.max() > 0.6
    assert kept.exposure.max() < 0.38  # chance of 600 agents above 0.3
    assert kept.rmse < 1.25 * free.rmse
    one = examine(
        bank,
        simulated_agent(bank, 0.0),
        stop=stop,
        choosing=Choosing(open_shares=shares),
        rng=rng(8),
    )
    assert one.closed and not set(one.closed) & set(one.tasks)


def test_closed_tasks_are_given_before_an_examination_ends_without_any() -> None:
    bank = bank_of(6)
    nothing_open = Choosing(open_shares=dict.fromkeys(bank.tasks, 0.0))
    last = examine(bank, simulated_agent(bank, 0.0), choosing=nothing_open, rng=rng())
    assert len(last.steps) == 6
    run = simulate(bank, [0.0], choosing=nothing_open, rng=rng())
    assert run.count.tolist() == [6]


def test_a_study_tells_tasks_needed_and_accuracy_for_each_rule() -> None:
    study = examination_study(
        bank_of(80), rng=rng(), stop=Stop(error=0.4), rules=["posterior-variance"], agents=150
    )
    ours, alone = study.needs
    assert (ours.rule, alone.rule) == ("posterior-variance", "random")
    assert ours.mean_tasks < alone.mean_tasks and ours.against_random < 0.6
    assert alone.against_random == 1.0 and ours.reached > 0.95
    sizes = [row.tasks for row in study.accuracy if row.rule == "random"]
    errors = [row.rmse for row in study.accuracy if row.rule == "random"]
    assert sizes == [5, 10, 20, 50, 80]
    assert errors == sorted(errors, reverse=True)
    assert all(abs(row.rmse - row.error) < 0.2 * row.error for row in study.accuracy)


def test_the_same_generator_gives_the_same_simulation_whatever_the_other_agents_do() -> None:
    bank = bank_of(30)
    runs = [simulate(bank, rng(1).normal(size=50), rng=rng(2)) for _ in range(2)]
    assert np.array_equal(runs[0].ability, runs[1].ability)
    assert np.array_equal(runs[0].given, runs[1].given)


SENTENCES = {
    "The standard error is -1": lambda bank: Stop(error=-1.0),
    "The budget is 0": lambda bank: Stop(budget=0.0),
    "The most tasks are 0": lambda bank: Stop(most=0),
    "At least 5 tasks are more than the most, 3": lambda bank: Stop(most=3, least=5),
    "The certainty is 1.0": lambda bank: Stop(certainty=1.0),
    "the cheapest task costs 1. Allow more": lambda bank: examine(
        bank, dict.get, stop=Stop(budget=0.5), rng=rng()
    ),
    "The fit knows no agents, so that 'dqn'": lambda bank: Stop(better_than="dqn").checked(bank),
    "The answer to 'task": lambda bank: examine(bank, lambda task: 7, rng=rng()),
    "given to a share of 0 of agents": lambda bank: exposure(bank, 0, rng=rng()),
    "No rules are given": lambda bank: examination_study(bank, rules=[], rng=rng()),
    "1 simulated agents are asked for": lambda bank: examination_study(bank, agents=1, rng=rng()),
    "This is no examination: 'bank' is missing": lambda bank: Examination.from_dict({}, bank),
    "This is no examination: 'bank'": lambda bank: replay({}, bank),
    "Cannot read 'none.json'": lambda bank: load_saved("none.json", bank),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_bad_input_ends_in_a_sentence(sentence: str) -> None:
    with pytest.raises(InputError) as said:
        SENTENCES[sentence](bank_of(5))
    assert sentence in str(said.value)


def test_a_stored_file_that_is_none_says_so(tmp_path: Path) -> None:
    for text, words in (("{", "is not JSON"), ('{"schema": "x"}', "says its schema is 'x'")):
        (tmp_path / "e.json").write_text(text)
        with pytest.raises(InputError, match=words):
            load_saved(tmp_path / "e.json", bank_of(5))


def test_an_agent_that_the_fit_does_not_know_is_named() -> None:
    marks = Abilities(("weak",), np.array([-1.0]), np.array([0.1]), "given")
    bank = TaskBank.of(known_fit(bank_of(5).items, abilities=marks))
    with pytest.raises(InputError, match=r"Unknown agent 'week'\. Did you mean 'weak'"):
        replace(Stop(), better_than="week").checked(bank)


@pytest.mark.parametrize("nonsense", [{"stop": 3}, {"resume": 3}])
def test_nonsense_for_an_examination_is_refused_in_a_sentence(nonsense: dict[str, Any]) -> None:
    items = ItemParameters.of(["s", "t"], slope=[1, 1], difficulty=[0, 1])
    with pytest.raises(InputError):
        examine(items, {"s": 1, "t": 0}.get, **nonsense)
    with pytest.raises(InputError, match="The answer to"):
        examine(items, lambda task: 10**400)

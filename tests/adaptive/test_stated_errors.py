"""The stated error is true: with exact parameters, and with those of small calibrations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from examiner.adaptive import Stop, TaskBank, examine, simulate
from examiner.irt import IRTFit, ItemParameters, probability
from examiner.irt import fit as fit_irt
from examiner.messages import InputError
from examiner.results import ResponseMatrix


def benchmark(tasks: int, seed: int) -> ItemParameters:
    rng = np.random.default_rng(seed)
    slope = np.exp(rng.normal(0.3, 0.3, tasks))
    return ItemParameters.of(
        [f"task {n}" for n in range(tasks)], slope, difficulty=rng.normal(size=tasks)
    )


def calibrated(items: ItemParameters, agents: int, seed: int, **more: object) -> IRTFit:
    rng = np.random.default_rng(seed)
    chance = probability(items, rng.normal(size=agents))
    responses = (rng.random(chance.shape) < chance).astype(np.uint8)
    matrix = ResponseMatrix.from_array(responses, tasks=items.tasks)
    return fit_irt(matrix, starts=1, rng=rng, **more)  # type: ignore[arg-type]


def truth_for(fit: IRTFit, items: ItemParameters) -> ItemParameters:
    """The true parameters of the tasks that the fit kept."""
    return items.take([items.tasks.index(task) for task in fit.items.tasks])


def test_few_tasks_are_enough_and_the_intervals_cover_with_exact_parameters() -> None:
    bank = TaskBank.of(benchmark(500, 1))
    theta = np.random.default_rng(2).normal(size=1000)
    runs = {
        rule: simulate(
            bank, theta, choosing=rule, stop=Stop(error=0.3), rng=np.random.default_rng(3)
        )
        for rule in ("information", "random")
    }
    assert runs["information"].count.mean() <= 0.6 * runs["random"].count.mean()
    for run in runs.values():
        assert (run.error <= 0.3).all()
        assert 0.93 <= run.coverage <= 0.97
        assert run.rmse == pytest.approx(np.sqrt((run.error**2).mean()), rel=0.08)


def test_a_small_calibration_makes_the_stated_error_larger() -> None:
    items = benchmark(80, 4)
    fit = calibrated(items, 60, 5)
    banks = {which: TaskBank.of(fit, uncertainty=which) for which in ("all", "none")}
    runs = {
        which: simulate(
            bank,
            [-1.0, 0.0, 1.0],
            truth=truth_for(fit, items),
            stop=Stop(most=25),
            rng=np.random.default_rng(6),
        )
        for which, bank in banks.items()
    }
    np.testing.assert_allclose(runs["all"].ability, runs["none"].ability)
    assert (runs["all"].error > 1.05 * runs["none"].error).all()
    assert banks["all"].least_error == pytest.approx(fit.population_sd / np.sqrt(60))
    with pytest.raises(
        InputError, match=r"60 agents leave the zero of the scale uncertain by 0\.129"
    ):
        Stop(error=0.12).checked(banks["all"])
    assert Stop(error=0.12).checked(banks["none"]).error == 0.12


def test_an_answer_to_a_task_that_is_known_badly_leaves_a_larger_error() -> None:
    items = benchmark(60, 7)
    fit = calibrated(items, 150, 8)
    assert fit.errors is not None and fit.errors.parameters is not None
    blocks = fit.errors.parameters.blocks.copy()
    blocks[10] *= 36
    worse = replace(
        fit, errors=replace(fit.errors, parameters=replace(fit.errors.parameters, blocks=blocks))
    )
    answers = {fit.items.tasks[10]: 1}
    after = [examine(bank, answers.get) for bank in (fit, worse)]
    assert after[0].ability == after[1].ability
    assert after[1].error > 1.01 * after[0].error > after[0].posterior_sd


def test_a_task_whose_errors_are_not_known_comes_last() -> None:
    fit = calibrated(benchmark(12, 7), 150, 8)
    assert fit.errors is not None
    steepest = int(np.argmax(fit.items.slope))
    unknown = fit.errors.slope.copy()
    unknown[steepest] = np.nan  # an error that could not be computed
    bank = TaskBank.of(replace(fit, errors=replace(fit.errors, slope=unknown)))
    run = simulate(bank, [0.0], truth=fit.items, rng=0)
    assert run.given[0, -1] == steepest


def test_a_fit_of_very_many_agents_is_almost_taken_at_its_word() -> None:
    items = benchmark(40, 9)
    fit = calibrated(items, 4_000, 10, estimator="ml")
    bank, exact = TaskBank.of(fit), TaskBank.of(fit, uncertainty="none")
    theta = np.random.default_rng(11).normal(size=200)
    runs = [
        simulate(one, theta, truth=fit.items, rng=np.random.default_rng(12))
        for one in (bank, exact)
    ]
    assert runs[0].error.mean() == pytest.approx(runs[1].error.mean(), rel=0.03)


def test_a_fit_without_errors_says_what_is_left_out() -> None:
    fit = calibrated(benchmark(30, 13), 60, 14, errors=False)
    assert any("no standard errors" in note for note in TaskBank.of(fit).notes)


@pytest.mark.slow
def test_abilities_on_the_fit_s_scale_are_nearly_unbiased() -> None:
    """Truth on the fit's scale is the line of its agents' abilities on their true ones."""
    spread = []
    for seed in range(8):
        items = benchmark(200, 5000 + seed)
        rng = np.random.default_rng(6000 + seed)
        true = rng.normal(size=60)
        chance = probability(items, true)
        answers = (rng.random(chance.shape) < chance).astype(np.uint8)
        matrix = ResponseMatrix.from_array(answers, tasks=items.tasks)
        fit = fit_irt(matrix, starts=1, rng=rng)
        unit, zero = np.polyfit(true, fit.abilities.ability, 1)
        new = rng.normal(size=250)
        run = simulate(fit, new, truth=truth_for(fit, items), rng=np.random.default_rng(seed))
        spread.append(float(np.polyfit(zero + unit * new, run.ability, 1)[0]))
    assert np.mean(spread) == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "agents", "tasks", "calibrations"),
    [
        ("information", 45, 500, 24),
        ("information", 200, 500, 10),
        ("information", 45, 60, 24),
        ("posterior-variance", 45, 60, 16),
    ],
)
def test_intervals_cover_with_banks_of_small_calibrations(
    rule: str, agents: int, tasks: int, calibrations: int
) -> None:
    examined = 250
    covered, at_word = [], []
    for number in range(calibrations):
        items = benchmark(tasks, 1000 + number)
        fit = calibrated(items, agents, 2000 + number)
        truth = truth_for(fit, items)
        theta = np.random.default_rng(3000 + number).normal(size=examined)
        for uncertainty, into in (("all", covered), ("none", at_word)):
            bank = TaskBank.of(fit, uncertainty=uncertainty)  # type: ignore[arg-type]
            run = simulate(
                bank,
                theta,
                truth=truth,
                choosing=rule,
                stop=Stop(error=0.3),
                rng=np.random.default_rng(number),
            )
            into.append(run.coverage)
    assert 0.93 <= np.mean(covered) <= 0.98
    assert np.mean(covered) > np.mean(at_word)  # taken at its word, the fit promises too much


@pytest.mark.slow
def test_intervals_cover_for_counts_with_an_interaction_of_agent_and_task() -> None:
    rng = np.random.default_rng(20)
    covered = []
    for number in range(8):
        plain = benchmark(60, 4000 + number)
        items = ItemParameters.of(
            plain.tasks, plain.slope, plain.intercept, precision=6.0, response="beta-binomial"
        )
        chance = probability(items, rng.normal(size=80))
        wins = rng.binomial(5, rng.beta(chance * 6, (1 - chance) * 6))
        fit = fit_irt(ResponseMatrix.from_counts(wins, 5, tasks=items.tasks), starts=1, rng=rng)
        bank = TaskBank.of(fit, trials=5)
        run = simulate(
            bank,
            rng.normal(size=200),
            truth=truth_for(fit, items),
            stop=Stop(error=0.35),
            rng=np.random.default_rng(number),
        )
        covered.append(run.coverage)
    assert np.mean(covered) >= 0.92

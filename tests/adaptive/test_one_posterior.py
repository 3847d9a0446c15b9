"""One posterior: fit, place and examine agree about the same agent with the same responses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.adaptive import Stop, TaskBank, examine, replay, simulate
from examiner.irt import IRTFit, ItemParameters, place
from examiner.results import ResponseMatrix

CASES = {
    "2pl": {},
    "1pl": {},
    "rasch": {},
    "3pl": {},
    "4pl": {},
    "beta-binomial": {"precision": 6.0, "response": "beta-binomial"},
    "beta": {"precision": 8.0, "cuts": (-2.0, 2.0), "response": "beta"},
    "normal": {"precision": 8.0, "response": "normal"},
    "2pl by maximum likelihood": {},
}


def fitted(case: str) -> IRTFit:
    rng = np.random.default_rng(4)
    items = ItemParameters.of(
        [f"t{n}" for n in range(20)],
        np.exp(rng.normal(0.2, 0.35, 20)),
        difficulty=rng.normal(size=20),
        **CASES[case],  # type: ignore[arg-type]
    )
    trials = {"beta-binomial": 5}.get(case, 1)
    agents = 220 if case in ("3pl", "4pl") else 60
    matrix = ex.irt.simulate(items, agents, trials=trials, rng=5)
    model = "2pl" if case.startswith("2pl") or case == "beta-binomial" else case
    if case.startswith("2pl by"):
        return ex.irt.fit(matrix, model, starts=1, estimator="ml")
    response = "beta-binomial" if case == "beta-binomial" else None
    return ex.irt.fit(matrix, model, starts=1, response=response)


@pytest.mark.parametrize("case", CASES)
def test_fit_place_and_examine_agree_in_memory_and_from_a_file(case: str, tmp_path: Path) -> None:
    fit = fitted(case)
    read = ex.load_saved(ex.save(fit, tmp_path / "fit.json"))
    assert isinstance(read, IRTFit) and fit.matrix is not None
    known = fit.abilities
    assert (known.error > 1.005 * known.posterior).all()  # the errors of the tasks are counted
    for source in (fit, read):
        placed = place(fit.matrix, source)
        np.testing.assert_allclose([one.ability for one in placed], known.ability, atol=2e-6)
        np.testing.assert_allclose([one.ability_error for one in placed], known.error, rtol=1e-5)
        if case == "normal":
            continue  # examinations ask for successes or scores from 0 to 1
        for row in (0, 7):
            agent = fit.matrix.agents[row]
            last = examine(source, fit.matrix, agent=agent, rng=0)
            assert len(last.steps) == 20
            assert last.ability == pytest.approx(known.ability[row], abs=2e-6)
            assert last.error == pytest.approx(known.error[row], rel=1e-5)
            ends = placed[row].ability_low, placed[row].ability_high
            assert last.interval == pytest.approx(ends, abs=1e-5)
            again = replay(last, source)
            assert (again.ability, again.error) == (last.ability, last.error)


@pytest.mark.parametrize("case", ["2pl", "rasch", "beta", "beta-binomial"])
def test_placing_by_some_tasks_is_an_examination_that_gives_these(case: str) -> None:
    fit = fitted(case)
    assert fit.matrix is not None
    part = fit.matrix.take(agents=[3], tasks=range(0, 20, 3))
    (placed,) = place(part, fit)
    last = examine(fit, part, rng=0)
    assert len(last.steps) == 7
    assert last.ability == pytest.approx(placed.ability, abs=2e-6)
    assert last.error == pytest.approx(placed.ability_error, rel=1e-5)
    assert last.posterior_sd == pytest.approx(placed.posterior_sd, rel=1e-5)


def test_the_error_of_an_examination_is_that_of_the_delta_method_by_differences() -> None:
    """The derivatives of the posterior mean by moving each parameter of the fit."""
    fit = fitted("2pl")
    assert fit.matrix is not None and fit.errors is not None and fit.errors.joint is not None
    part = fit.matrix.take(agents=[1], tasks=range(8))
    (placed,) = place(part, fit)
    items, step, moves = fit.items, 1e-4, np.zeros(40)
    for column in range(16):
        ends = []
        for sign in (1, -1):
            values = np.stack([items.slope, items.intercept], axis=1)
            values[column // 2, column % 2] += sign * step
            moved = ItemParameters.of(items.tasks, *values.T)
            ends.append(place(part, ex.irt.known(moved))[0].ability)
        moves[column] = (ends[0] - ends[1]) / (2 * step)
    assert fit.errors.parameters is not None
    added = float(fit.errors.parameters.variances(moves[None])[0])
    assert placed.ability_error == pytest.approx(np.sqrt(placed.posterior_sd**2 + added), rel=1e-6)


def test_simulated_answers_come_from_what_the_fit_leaves_possible() -> None:
    """By its own lights a bank's intervals cover as they say, with few tasks and with all."""
    bank = TaskBank.of(fitted("2pl"))
    theta = np.random.default_rng(6).normal(size=1000)
    for stop in (Stop(most=6), Stop()):
        assert 0.93 <= simulate(bank, theta, stop=stop, rng=1).coverage <= 0.98


def test_a_prior_of_ones_own_is_not_the_population_of_a_rasch_fit() -> None:
    fit = fitted("rasch")
    assert isinstance(fit.matrix, ResponseMatrix)
    part = fit.matrix.take(agents=[3])
    wide = TaskBank.of(fit, prior=(0.0, 3.0 * fit.population_sd))
    narrow_last = examine(fit, part, rng=0)
    wide_last = examine(wide, part, rng=0)
    assert abs(wide_last.ability) > abs(narrow_last.ability)
    assert wide_last.error > wide_last.posterior_sd

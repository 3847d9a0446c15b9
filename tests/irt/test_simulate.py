"""Made-up responses: their means, their spread, their gaps, and sentences for wrong arguments."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, probability, simulate
from examiner.messages import InputError

TASKS = ["t", "u", "v"]


def test_shares_of_successes_are_the_chances_of_the_curve() -> None:
    items = ItemParameters.of(
        TASKS, [1, -2, 0.5], [0, 1, -1], guessing=[0, 0.2, 0.1], ceiling=[1, 1, 0.9]
    )
    theta = np.repeat([-1.0, 1.0], 20_000)
    made = simulate(items, theta, rng=0)
    for place, at in ((slice(0, 20_000), -1.0), (slice(20_000, None), 1.0)):
        np.testing.assert_allclose(
            made.to_numpy()[place].mean(axis=0), probability(items, at)[0], atol=0.015
        )


def test_trials_of_the_beta_binomial_correlate_as_they_should() -> None:
    items = ItemParameters.of(TASKS, 1.0, 0.0, precision=3.0, response="beta-binomial")
    made = simulate(items, np.zeros(20_000), trials=2, rng=0)
    variance = made.successes.astype(float).var()
    assert variance == pytest.approx(2 * 0.25 * (1 + 1 / (1 + 3)), rel=0.02)
    endless = ItemParameters.of(TASKS, 1.0, 0.0, precision=np.inf, response="beta-binomial")
    plain = simulate(endless, np.zeros(20_000), trials=2, rng=0)
    assert plain.successes.astype(float).var() == pytest.approx(0.5, rel=0.02)


def test_an_interaction_makes_trials_of_one_cell_alike() -> None:
    items = ItemParameters.of(TASKS, 1.0, 0.0)
    plain = simulate(items, np.zeros(5_000), trials=4, rng=0).successes.astype(float)
    alike = simulate(items, np.zeros(5_000), trials=4, interaction=2.0, rng=0).successes.astype(
        float
    )
    assert alike.var() > 1.5 * plain.var()
    assert abs(np.corrcoef(alike.T)[0, 1]) < 0.05  # cells, not agents


def test_continuous_scores_have_the_mean_and_spread_of_their_beta() -> None:
    items = ItemParameters.of(TASKS, 1.0, [0, 1, -1], precision=[1.0, 5.0, 50.0], response="beta")
    made = simulate(items, np.zeros(20_000), rng=0)
    assert not made.is_counts
    mean = probability(items, 0.0)[0]
    np.testing.assert_allclose(made.to_numpy().mean(axis=0), mean, atol=0.01)
    expected = mean * (1 - mean) / (1 + np.array([1.0, 5.0, 50.0]))
    np.testing.assert_allclose(made.to_numpy().var(axis=0), expected, rtol=0.05)


def test_cells_without_trials_are_not_observed() -> None:
    trials = np.array([[1, 0, 2], [0, 3, 1]])
    items = ItemParameters.of(TASKS, 1.0, 0.0)
    made = simulate(items, 2, trials=trials, rng=0)
    np.testing.assert_array_equal(made.trials, trials)
    scores = ItemParameters.of(TASKS, 1.0, 0.0, precision=2.0, response="beta")
    np.testing.assert_array_equal(simulate(scores, 2, trials=trials, rng=0).observed, trials > 0)


def test_numbers_of_agents_draw_abilities_of_the_population() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(200)], 1.0, 0.0)
    made = simulate(items, 400, population_sd=2.0, rng=1)
    found = ex.irt.abilities(made, items, population_sd=2.0).ability
    assert found.std() == pytest.approx(2.0, rel=0.1)


def test_the_same_seed_gives_the_same_responses() -> None:
    items = ItemParameters.of(TASKS, 1.0, 0.0)
    assert simulate(items, 50, rng=3) == simulate(items, 50, rng=np.random.default_rng(3))
    assert simulate(items, 50, rng=3) != simulate(items, 50, rng=4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"abilities": 0}, "0 agents are asked for"),
        ({"abilities": [np.inf]}, "one finite number for each agent"),
        ({"abilities": [[0.0]]}, "have shape"),
        ({"trials": 0.5}, "not whole numbers"),
        ({"trials": -1}, "not whole numbers from 0 on"),
        ({"trials": [1, 2]}, "does not fit 4 agents × 3 tasks"),
        ({"interaction": -1.0}, "interaction is -1.0"),
    ],
)
def test_wrong_arguments_are_met_with_sentences(changes: dict[str, object], sentence: str) -> None:
    given = {"abilities": 4, "trials": 1, "interaction": 0.0} | changes
    items = ItemParameters.of(TASKS, 1.0, 0.0)
    with pytest.raises(InputError, match=sentence):
        simulate(items, given.pop("abilities"), rng=0, **given)  # type: ignore[arg-type]

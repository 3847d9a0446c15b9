"""Words about tasks: each is said where it is true, and not where it is not."""

import numpy as np
import pytest

import examiner as ex
from examiner.irt import MODELS, ItemParameters, Quadrature, abilities, simulate
from examiner.irt.diagnostics.flags import (
    BOUNDARY,
    NEGATIVE,
    NO_ERROR,
    NO_GUESSING,
    NO_OVERDISPERSION,
    NO_SLIPPING,
    SEPARATED,
    SIGN_WITHIN_NOISE,
    UNBOUNDED_DIFFICULTY,
    separated,
    task_flags,
)
from examiner.results import ResponseMatrix
from irt.joint_errors import task_errors


def flags_of(
    items: ItemParameters, matrix: ResponseMatrix, model: str = "2pl"
) -> tuple[tuple[str, ...], ...]:
    errors = task_errors(matrix, items, MODELS[model], None, Quadrature.grid())
    return task_flags(matrix, items, MODELS[model], abilities(matrix, items), errors)


def test_good_tasks_have_no_flags() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(10)], 1.5, np.linspace(-1, 1, 10))
    assert flags_of(items, simulate(items, 400, rng=0)) == ((),) * 10


def test_signs_are_findings_beyond_noise_and_doubts_within() -> None:
    items = ItemParameters.of(
        ["down", "flat", *(f"t{n}" for n in range(8))], [-1.5, 0.01] + [1.5] * 8, 0.0
    )
    words = flags_of(items, simulate(items, 400, rng=0))
    assert words[0] == (NEGATIVE,)
    assert words[1] == (SIGN_WITHIN_NOISE, UNBOUNDED_DIFFICULTY)


def test_steep_slopes_are_at_a_boundary() -> None:
    items = ItemParameters.of(["t", "u", "v"], [30.0, 1.0, 1.0], [0.0, 0.0, 50.0])
    matrix = simulate(ItemParameters.of(items.tasks, 1.0, 0.0), 50, rng=0)
    words = task_flags(matrix, items, MODELS["2pl"], abilities(matrix, items))
    assert [BOUNDARY in one for one in words] == [True, False, True]


@pytest.mark.parametrize("turned", [False, True])
def test_separation_is_seen_in_either_direction(turned: bool) -> None:
    ability = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    won = np.array([[0, 0, 1, np.nan], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, np.nan], [1, 1, 1, 1]])
    matrix = ResponseMatrix.from_array(1 - won if turned else won)
    assert separated(matrix, ability).tolist() == [True, False, False, True]


def test_trials_of_both_kinds_in_one_cell_prevent_separation() -> None:
    ability = np.array([-1.0, 0.0, 1.0])
    mixed = ResponseMatrix.from_counts([[0, 0], [1, 2], [2, 2]], 2)
    assert separated(mixed, ability).tolist() == [False, True]
    scores = ResponseMatrix.from_array([[0.1], [0.5], [0.9]])
    assert separated(scores, ability).tolist() == [False]


def test_a_fit_flags_a_task_that_ability_separates() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(12)], 1.5, np.linspace(-2, 2, 12))
    matrix = simulate(items, 60, rng=3)
    place = abilities(matrix, items).ability
    won = np.column_stack([matrix.successes, place > np.median(place)])
    fit = ex.irt.fit(ResponseMatrix.from_array(won))
    assert SEPARATED in fit.flags[-1]
    assert sum(SEPARATED in words for words in fit.flags) <= 3


def test_ends_of_ranges_are_named() -> None:
    tasks = ["t", "u", "v"]
    items = ItemParameters.of(
        tasks, 1.0, [0.0, 0.5, -0.5], guessing=[0, 0.2, 0.1], ceiling=[0.9, 1, 1]
    )
    matrix = simulate(items, 300, rng=1)
    words = task_flags(matrix, items, MODELS["4pl"], abilities(matrix, items))
    assert [NO_GUESSING in one for one in words] == [True, False, False]
    assert [NO_SLIPPING in one for one in words] == [False, True, True]
    plain = ItemParameters.of(tasks, 1.0, 0.0, precision=1e6, response="beta-binomial")
    several = simulate(plain, 100, trials=3, rng=1)
    words = task_flags(several, plain, MODELS["2pl"], abilities(several, plain))
    assert all(NO_OVERDISPERSION in one for one in words)


def test_a_flat_likelihood_is_said() -> None:
    items = ItemParameters.of(["t", "u", "v", "w", "x"], 1.0, [40.0, 0.0, 0.5, 1.0, -1.0])
    matrix = simulate(items, 400, rng=2)
    words = flags_of(items, matrix)
    assert NO_ERROR in words[0]
    assert NO_ERROR not in words[1]


def test_shared_slopes_are_not_judged_task_by_task() -> None:
    items = ItemParameters.of(["t", "u", "v"], 0.001, [0.0, 0.5, -0.5])
    assert flags_of(items, simulate(items, 100, rng=0), "1pl") == ((), (), ())

"""Errors of task parameters: against mirt, against second differences of the likelihood, Fieller."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import examiner.irt.errors.information as information_file
import examiner.irt.errors.scores as scores_file
from examiner.irt import (
    MODELS,
    ItemParameters,
    Priors,
    Quadrature,
    Response,
    TaskErrors,
    Unknowns,
    Z,
    log_likelihood,
    moved,
    simulate,
)
from examiner.irt.errors.intervals import fieller
from examiner.results import ResponseMatrix
from irt.joint_errors import observed_information, task_errors
from irt.r_reference import numbers, responses
from irt.test_ability import mirts_items

GRID = Quadrature.grid(-6, 6, 121)


@pytest.mark.parametrize(
    ("tag", "data", "model"),
    [
        ("two_pl", "two_pl", "2pl"),
        ("rasch", "two_pl", "rasch"),
        ("signed_missing", "signed_missing", "2pl"),
    ],
)
def test_errors_are_those_of_mirt(tag: str, data: str, model: str) -> None:
    sd = np.sqrt(1.33255654858247) if model == "rasch" else 1.0
    matrix, items = responses(f"{data}_responses"), mirts_items(tag)
    errors = task_errors(matrix, items, MODELS[model], None, GRID, sd)
    expected = numbers(f"{tag}_mirt_items", "d_se")
    np.testing.assert_allclose(errors.intercept, expected, rtol=1e-5)
    if model == "rasch":
        assert (errors.slope == 0).all()
        np.testing.assert_allclose(errors.difficulty, errors.intercept)
    else:
        np.testing.assert_allclose(errors.slope, numbers(f"{tag}_mirt_items", "a1_se"), rtol=1e-5)


def test_errors_of_guessing_are_those_of_mirt_where_it_is_not_at_its_end() -> None:
    """Task 1 has next to no guessing, and its error there is a matter of where one stops."""
    matrix, items = responses("three_pl_responses"), mirts_items("three_pl")
    errors = task_errors(matrix, items, MODELS["3pl"], None, GRID)
    chance = items.guessing
    expected = chance * (1 - chance) * numbers("three_pl_mirt_items", "logit(g)_se")
    np.testing.assert_allclose(errors.guessing[1:], expected[1:], rtol=1e-3)
    np.testing.assert_allclose(
        errors.slope[1:], numbers("three_pl_mirt_items", "a1_se")[1:], rtol=1e-3
    )


def case(model: str, response: Response) -> tuple[ResponseMatrix, ItemParameters]:
    rng = np.random.default_rng(3)
    tasks = 4
    free = MODELS[model].free
    one_slope = "slope" not in free
    items = ItemParameters.of(
        [f"task {n}" for n in range(tasks)],
        0.8 if one_slope else [1.2, -0.7, 0.4, 2.0],
        [0.3, -0.5, 1.0, 0.0],
        guessing=[0.1, 0.2, 0.15, 0.25] if "guessing" in free else 0.0,
        ceiling=[0.95, 0.9, 0.97, 0.85] if "slip" in free else 1.0,
        precision={"binomial": None, "beta-binomial": 6.0, "beta": [3.0, 5.0, 9.0, 15.0]}[response],
        response=response,
    )
    trials = rng.integers(0, 4, (60, tasks))
    return simulate(items, 60, trials=trials, rng=rng), items


def second_differences(
    matrix: ResponseMatrix, items: ItemParameters, model: str, priors: Priors | None
) -> NDArray[np.float64]:
    """−∂² of the log-likelihood and the log-priors by four evaluations for each pair of parameters."""
    free = Unknowns.of(MODELS[model], items.response, items.tasks, None)
    step = 1e-3
    moves = [(task, name) for task in range(len(items)) for name in free.own]
    never = ("zero_cut", "cut_gap")  # no score is exactly 0 or 1
    moves += [(None, name) for name in free.shared if name not in never]

    def shifted(at: ItemParameters, move: tuple[int | None, str], size: float) -> ItemParameters:
        everywhere = moved(at, move[1], size)  # type: ignore[arg-type]
        if move[0] is None:
            return everywhere

        def pick(new: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.where(np.arange(len(items)) == move[0], new, old)

        return ItemParameters.of(
            items.tasks,
            pick(everywhere.slope, at.slope),
            pick(everywhere.intercept, at.intercept),
            guessing=pick(everywhere.guessing, at.guessing),
            ceiling=pick(everywhere.ceiling, at.ceiling),
            precision=None
            if at.precision is None or everywhere.precision is None
            else pick(everywhere.precision, at.precision),
            response=items.response,
        )

    found = np.empty((len(moves), len(moves)))
    for row, first in enumerate(moves):
        for column, second in enumerate(moves):
            total = 0.0
            for one in (-1, 1):
                for other in (-1, 1):
                    there = shifted(shifted(items, first, one * step), second, other * step)
                    total -= one * other * log_likelihood(matrix, there, GRID)
            found[row, column] = total / (4 * step**2)
        if priors is not None:
            found[row, row] += getattr(priors, first[1]).sd ** -2
    return found


CASES: list[tuple[str, Response]] = [
    ("1pl", "binomial"),
    ("2pl", "binomial"),
    ("3pl", "binomial"),
    ("4pl", "binomial"),
    ("2pl", "beta-binomial"),
    ("3pl", "beta-binomial"),
    ("beta", "beta"),
]


@pytest.mark.parametrize(("model", "response"), CASES)
def test_the_information_is_minus_the_second_derivatives_of_the_likelihood(
    model: str, response: Response
) -> None:
    matrix, items = case(model, response)
    priors = Priors.fixed() if model == "3pl" else None
    found = observed_information(matrix, items, MODELS[model], priors, GRID)
    expected = second_differences(matrix, items, model, priors)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("model", "response"), CASES)
def test_polynomials_and_single_nodes_give_the_same_information(
    model: str, response: Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, items = case(model, response)
    by_nodes = observed_information(matrix, items, MODELS[model], None, GRID)
    monkeypatch.setattr(scores_file, "_FEW_PARAMETERS", 0)
    by_levels = observed_information(matrix, items, MODELS[model], None, GRID)
    np.testing.assert_allclose(by_levels, by_nodes, atol=1e-6 * by_nodes.max())


def long_exam() -> tuple[ResponseMatrix, ItemParameters]:
    rng = np.random.default_rng(5)
    tasks = 120
    items = ItemParameters.of(
        [f"task {n}" for n in range(tasks)], rng.lognormal(0.2, 0.4, tasks), rng.normal(size=tasks)
    )
    trials = (rng.random((400, tasks)) < 0.85).astype(int)
    return simulate(items, 400, trials=trials, rng=rng), items


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_leading_directions_are_enough_for_long_exams(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, items = long_exam()
    if model == "1pl":
        items = ItemParameters.of(items.tasks, 1.1, items.intercept)
    rule = Quadrature.for_items(items)
    whole = task_errors(matrix, items, MODELS[model], None, rule)
    monkeypatch.setattr(information_file, "MOST_TOGETHER", 10)
    quick = task_errors(matrix, items, MODELS[model], None, rule)
    assert "directions shared by all tasks" in quick.method
    assert "all parameters together" in whole.method
    for name in ("slope", "intercept", "difficulty"):
        np.testing.assert_allclose(getattr(quick, name), getattr(whole, name), rtol=0.03)


def test_the_common_scale_is_part_of_the_errors() -> None:
    """Blocks of tasks alone would miss it: intercepts of steep tasks move together with the scale."""
    matrix, items = long_exam()
    steep = int(items.slope.argmax())
    rule = Quadrature.for_items(items)
    together = task_errors(matrix, items, MODELS["2pl"], None, rule).intercept[steep]
    whole = observed_information(matrix, items, MODELS["2pl"], None, rule)
    whole = whole[2 * steep : 2 * steep + 2, 2 * steep : 2 * steep + 2]
    alone = np.sqrt(np.linalg.inv(whole)[1, 1])
    assert together > 1.1 * alone


def test_errors_shrink_with_the_root_of_the_number_of_agents() -> None:
    matrix, items = case("2pl", "binomial")
    many = ResponseMatrix.from_counts(
        np.tile(matrix.successes, (4, 1)), np.tile(matrix.trials, (4, 1)), tasks=matrix.tasks
    )
    once = task_errors(matrix, items, MODELS["2pl"], None, GRID)
    again = task_errors(many, items, MODELS["2pl"], None, GRID)
    np.testing.assert_allclose(once.slope, 2 * again.slope, rtol=1e-6)


def test_the_population_of_the_rasch_model_has_the_error_of_the_common_slope() -> None:
    matrix, items = case("1pl", "binomial")
    one = task_errors(matrix, items, MODELS["1pl"], None, GRID)
    rasch = task_errors(matrix, items.rescaled(0.0, 1 / 0.8), MODELS["rasch"], None, GRID, 0.8)
    assert rasch.population_sd == pytest.approx(one.slope[0])
    np.testing.assert_allclose(rasch.intercept, one.intercept)
    assert np.isnan(one.population_sd)


def test_priors_make_errors_smaller() -> None:
    matrix, items = case("3pl", "binomial")
    free = task_errors(matrix, items, MODELS["3pl"], Priors.fixed(), GRID)
    held = task_errors(
        matrix,
        items,
        MODELS["3pl"],
        Priors.of({"slope": (1.0, 1.0), "guessing": (-2.0, 0.01)}),
        GRID,
    )
    assert (held.guessing < 0.05 * free.guessing).all()
    assert (held.intercept < free.intercept).all()


def test_estimates_at_the_end_of_their_range_have_no_error_and_disturb_no_other() -> None:
    matrix, items = case("2pl", "binomial")
    no_guessing = task_errors(matrix, items, MODELS["3pl"], None, GRID)
    plain = task_errors(matrix, items, MODELS["2pl"], None, GRID)
    assert np.isnan(no_guessing.guessing).all()
    np.testing.assert_allclose(no_guessing.slope, plain.slope, rtol=1e-6)
    as_binomial = ItemParameters.of(
        items.tasks, items.slope, items.intercept, precision=np.inf, response="beta-binomial"
    )
    precise = task_errors(matrix, as_binomial, MODELS["2pl"], None, GRID)
    assert np.isnan(precise.precision).all()
    np.testing.assert_allclose(precise.slope, plain.slope, rtol=1e-6)


def test_a_task_without_a_peak_is_held_fixed_and_the_others_keep_their_errors() -> None:
    matrix, items = case("2pl", "binomial")
    won = matrix.successes.copy()
    won[:, 0] = matrix.trials[:, 0]  # always solved, so that no intercept is too high
    matrix = ResponseMatrix.from_counts(won, matrix.trials, tasks=matrix.tasks)
    intercept = items.intercept.copy()
    intercept[0] = 40.0
    easy = ItemParameters.of(items.tasks, items.slope, intercept)
    errors = task_errors(matrix, easy, MODELS["2pl"], None, GRID)
    assert np.isnan(errors.intercept[0])
    assert np.isnan(errors.difficulty_low[0])
    assert np.isfinite(errors.intercept[1:]).all()
    assert "held fixed" in errors.method
    others = task_errors(
        matrix.take(tasks=[1, 2, 3]), easy.take([1, 2, 3]), MODELS["2pl"], None, GRID
    )
    np.testing.assert_allclose(errors.intercept[1:], others.intercept, rtol=1e-6)


finite = st.floats(-4, 4)
positive = st.floats(0.01, 2)


@given(a=finite, d=finite, sd_a=positive, sd_d=positive, rho=st.floats(-0.95, 0.95))
def test_fieller_holds_every_difficulty_that_the_data_allow(
    a: float, d: float, sd_a: float, sd_d: float, rho: float
) -> None:
    v_aa, v_dd, v_ad = sd_a**2, sd_d**2, rho * sd_a * sd_d
    low, high = (
        float(end[0]) for end in fieller(*(np.array([x]) for x in (a, d, v_aa, v_ad, v_dd)))
    )
    if abs(a) <= Z * sd_a:
        assert (low, high) == (-np.inf, np.inf)
        return
    for b, inside in ((low, None), (high, None), ((low + high) / 2, True), (high + 1, False)):
        excess = (d + a * b) ** 2 - Z**2 * (v_dd + 2 * b * v_ad + b**2 * v_aa)
        size = 1 + (d + a * b) ** 2 + a**2 * b**2
        if inside is None:
            assert abs(excess) <= 1e-7 * size
        else:
            assert (excess < 1e-9 * size) == inside
    assert low <= -d / a <= high


def test_intervals_of_slopes_are_symmetric_and_of_the_stated_width() -> None:
    matrix, items = case("2pl", "binomial")
    errors: TaskErrors = task_errors(matrix, items, MODELS["2pl"], None, GRID)
    np.testing.assert_allclose(errors.slope_high - errors.slope_low, 2 * Z * errors.slope)
    np.testing.assert_allclose((errors.slope_high + errors.slope_low) / 2, items.slope)
    unsure = (errors.slope_low <= 0) & (errors.slope_high >= 0)
    assert unsure.any()
    assert not unsure.all()
    assert np.isinf(errors.difficulty_high[unsure]).all()
    assert np.isfinite(errors.difficulty_high[~unsure]).all()

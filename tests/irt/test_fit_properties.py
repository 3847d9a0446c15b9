"""What must hold of every fit: anchoring, recovery, missing cells, degenerate tables, equivariance."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import examiner as ex
from examiner.irt import ItemParameters, Response, fit, log_likelihood, simulate
from examiner.irt.fitted import Estimator
from examiner.messages import InputError
from examiner.results import ResponseMatrix


def tasks(count: int) -> list[str]:
    return [f"task {number}" for number in range(count)]


def bank(count: int, seed: int, **more: object) -> ex.irt.ItemParameters:
    rng = np.random.default_rng(seed)
    slope, intercept = rng.lognormal(0.2, 0.3, count), rng.normal(0, 1, count)
    return ex.irt.ItemParameters.of(tasks(count), slope, intercept, **more)  # type: ignore[arg-type]


# ---------------------------------------------------------------- sign


@pytest.mark.slow
def test_the_scale_never_turns_over() -> None:
    """200 tables with a third of the tasks negative, and Σ a > 0."""
    rng = np.random.default_rng(20)
    for seed in range(200):
        slope = rng.lognormal(0.2, 0.3, 24)
        slope[:8] *= -1
        items = ex.irt.ItemParameters.of(tasks(24), slope, rng.normal(0, 1, 24))
        ability = rng.normal(size=60)
        matrix = ex.irt.simulate(items, ability, rng=seed)
        fit = ex.irt.fit(matrix, starts=1, errors=False)
        assert np.corrcoef(fit.abilities.ability, ability)[0, 1] > 0.5


def test_the_signs_of_slopes_are_found_from_any_start() -> None:
    slope = np.where(np.arange(24) % 3 == 0, -1.2, 1.2)
    items = ex.irt.ItemParameters.of(tasks(24), slope, np.linspace(-1, 1, 24))
    fit = ex.irt.fit(ex.irt.simulate(items, 300, rng=0), starts=8, rng=3, errors=False)
    assert (np.sign(fit.items.slope) == np.sign(slope)).all()
    assert fit.starts.agreeing == 8


# ---------------------------------------------------------------- recovery


@pytest.mark.parametrize(
    ("model", "response", "more", "trials"),
    [
        ("1pl", "binomial", {}, 1),
        ("rasch", "binomial", {}, 1),
        ("2pl", "binomial", {}, 1),
        ("2pl", "binomial", {}, 4),
        ("2pl", "beta-binomial", {"precision": 4.0}, 5),
        ("3pl", "binomial", {"guessing": 0.2}, 1),
        ("4pl", "binomial", {"guessing": 0.15, "ceiling": 0.9}, 1),
        ("beta", "beta", {"precision": 6.0}, 1),
    ],
)
def test_every_model_recovers_what_made_its_data(
    model: str, response: Response, more: dict[str, float], trials: int
) -> None:
    rng = np.random.default_rng(5)
    slope = np.full(25, 1.3) if model in ("1pl", "rasch") else rng.lognormal(0.3, 0.3, 25)
    items = ex.irt.ItemParameters.of(
        tasks(25), slope, rng.normal(0, 1, 25), response=response, **more
    )  # type: ignore[arg-type]
    ability = rng.normal(size=2500)
    matrix = ex.irt.simulate(items, ability, trials=trials, rng=6)
    fit = ex.irt.fit(matrix, model, response=response, starts=1, errors=False)
    assert fit.converged
    slopes = fit.items.slope * fit.population_sd
    tolerance = 0.5 if model in ("3pl", "4pl") else 0.25  # guessing and intercept trade
    assert np.sqrt(np.mean((slopes - slope) ** 2)) < tolerance
    assert np.sqrt(np.mean((fit.items.intercept - items.intercept) ** 2)) < tolerance
    assert np.corrcoef(fit.abilities.ability, ability)[0, 1] > 0.85
    if items.precision is not None:
        assert fit.items.precision is not None
        assert np.median(fit.items.precision) == pytest.approx(items.precision[0], rel=0.15)
    if model in ("3pl", "4pl"):
        assert fit.items.guessing.mean() == pytest.approx(items.guessing[0], abs=0.05)
    if model == "4pl":
        assert fit.items.ceiling.mean() == pytest.approx(0.9, abs=0.05)
    # No other parameters may be more likely than the maximum, the true ones included.
    free = ex.irt.fit(matrix, model, response=response, starts=1, errors=False, estimator="ml")
    assert free.log_likelihood >= ex.irt.log_likelihood(matrix, items) - 1e-6
    again = ex.irt.log_likelihood(matrix, free.items, population_sd=free.population_sd)
    assert again == pytest.approx(free.log_likelihood, abs=0.01)


def test_more_trials_are_not_thrown_away() -> None:
    """Ten trials a cell place agents better than the majority of the ten."""
    items = bank(15, 1)
    ability = np.random.default_rng(2).normal(size=400)
    counts = ex.irt.simulate(items, ability, trials=10, rng=3)
    majority = ResponseMatrix.from_array((counts.to_numpy() > 0.5).astype(int), tasks=items.tasks)
    errors = [
        np.abs(
            ex.irt.fit(one, response="binomial", starts=1, errors=False).abilities.ability - ability
        )
        for one in (counts, majority)
    ]
    assert errors[0].mean() < 0.7 * errors[1].mean()


def test_trials_of_a_cell_are_taken_for_alike_unless_told_otherwise() -> None:
    matrix = ex.irt.simulate(bank(12, 1), 100, trials=6, interaction=1.0, rng=1)
    shared = ex.irt.fit(matrix, starts=1)
    single = ex.irt.fit(matrix, response="binomial", starts=1)
    assert shared.items.response == "beta-binomial"
    assert single.items.response == "binomial"
    assert shared.log_likelihood > single.log_likelihood + 20
    assert (shared.abilities.error > single.abilities.error).mean() > 0.95


# ---------------------------------------------------------------- missing cells, order, scale


def test_missing_cells_are_left_out_not_filled() -> None:
    """An agent's likelihood is that of its observed cells: dropping a column equals not seeing it."""
    matrix = ex.irt.simulate(bank(10, 3), 200, rng=4)
    values = matrix.to_numpy().copy()
    values[:, 9] = np.nan
    hidden = ex.irt.fit(ResponseMatrix.from_array(values, tasks=matrix.tasks), errors=False)
    shorter = ex.irt.fit(matrix.take(tasks=range(9)), errors=False)
    assert [(each.name, each.reason) for each in hidden.dropped] == [("task 9", "never observed")]
    assert hidden.log_likelihood == pytest.approx(shorter.log_likelihood, abs=1e-6)


@settings(max_examples=8)
@given(seed=st.integers(0, 500), share=st.sampled_from([0.0, 0.3]))
def test_the_order_of_agents_and_tasks_changes_nothing(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    values = ex.irt.simulate(bank(9, seed), 40, rng=seed).to_numpy().copy()
    values[rng.random(values.shape) < share] = np.nan
    rows, columns = rng.permutation(40), rng.permutation(9)
    names = [f"agent {number}" for number in range(40)]
    first = ResponseMatrix.from_array(values, names, tasks(9))
    second = first.take(rows.tolist(), columns.tolist())
    one, two = (ex.irt.fit(matrix, starts=1, errors=False) for matrix in (first, second))
    assert two.objective == pytest.approx(one.objective, abs=1e-5)
    place = {task: number for number, task in enumerate(one.items.tasks)}
    for number, task in enumerate(two.items.tasks):
        assert two.items.slope[number] == pytest.approx(one.items.slope[place[task]], abs=1e-3)


def test_fast_and_general_engines_agree() -> None:
    """The 2PL by its two fast E-steps, and by the one that knows nothing of exponential families."""
    from examiner.irt import MODELS, MemorySource, Priors, Unknowns
    from examiner.irt.estimation.em import climb

    values = ex.irt.simulate(bank(15, 8), 120, rng=9).to_numpy().copy()
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    for table in (values, np.nan_to_num(values)):
        matrix = ResponseMatrix.from_array(table, tasks=tasks(15))
        fast = ex.irt.fit(matrix, starts=1, errors=False, priors="fixed")
        unknowns = Unknowns.of(MODELS["2pl"], "binomial", matrix.tasks, Priors.fixed())
        begin = unknowns.start(bank(15, 3).slope, bank(15, 3).intercept)
        general = climb(MemorySource(matrix, "binomial"), unknowns, begin, most=500)
        assert general.objective == pytest.approx(fast.objective, abs=1e-4)
        np.testing.assert_allclose(general.items.slope, fast.items.slope, atol=2e-3)


@pytest.mark.parametrize("estimator", ["ml", "map"])
def test_tasks_that_guess_reach_the_top_of_plain_em_sooner(
    estimator: Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from examiner.irt import KernelStatistics
    from examiner.irt.estimation import fixed_point

    matrix = ex.irt.simulate(bank(40, 8, guessing=0.2), 400, rng=9)
    ahead = ex.irt.fit(matrix, "3pl", starts=1, errors=False, estimator=estimator)
    monkeypatch.setattr(KernelStatistics, "ahead", lambda *_: None)
    monkeypatch.setattr(fixed_point, "_PLAIN", 10**9)  # and nothing is mixed
    plain = ex.irt.fit(matrix, "3pl", starts=1, errors=False, estimator=estimator)
    assert ahead.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-5)
    assert ahead.iterations < plain.iterations


def test_no_step_away_from_the_maximum_is_uphill() -> None:
    matrix = ex.irt.simulate(bank(8, 5), 80, rng=5)
    fit = ex.irt.fit(matrix, estimator="ml", errors=False, nodes=ex.irt.Quadrature.grid(-6, 6, 121))
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = ex.irt.ItemParameters.of(
            fit.items.tasks,
            fit.items.slope + rng.normal(0, 0.02, 8),
            fit.items.intercept + rng.normal(0, 0.02, 8),
        )
        assert ex.irt.log_likelihood(matrix, moved, fit.quadrature) < fit.log_likelihood + 1e-9


def test_single_and_double_precision_agree() -> None:
    """Past 200,000 cells with gaps and 2,000,000 without, data are kept in single precision."""
    matrix = ex.irt.simulate(bank(450, 2), 500, rng=2)
    values = matrix.to_numpy().copy()
    values[0, 0] = np.nan  # one gap sends it down the other road
    complete = ex.irt.fit(matrix, starts=1, errors=False, estimator="ml")
    gap = ex.irt.fit(
        ResponseMatrix.from_array(values, tasks=matrix.tasks),
        starts=1,
        errors=False,
        estimator="ml",
    )
    np.testing.assert_allclose(gap.items.slope, complete.items.slope, atol=0.03)
    assert gap.log_likelihood == pytest.approx(complete.log_likelihood, abs=3.0)


# ---------------------------------------------------------------- degenerate tables


def array(values: object) -> Callable[[], ResponseMatrix]:
    return lambda: ResponseMatrix.from_array(np.array(values, dtype=float))


DEGENERATE: list[tuple[Callable[[], ResponseMatrix], str]] = [
    (array([[1, 0, 1], [0, 1, 1]]), "Only 2 agents"),
    (array([[1], [0], [1]]), "Only 1 task"),
    (array([[1, 1], [1, 1], [1, 1]]), "every agent always succeeded"),
    (array([[0, 0], [0, 0], [0, 0]]), "no agent ever succeeded"),
    (array([[0.5, 7.0], [0.1, 2.0], [0.3, 1.0]]), "Say what success is"),
    (lambda: ResponseMatrix.from_counts([[3]], [[2]]), "3 successes of 2 trials"),
    (lambda: "table", "Results are needed here"),  # type: ignore[return-value, dict-item]
]


@pytest.mark.parametrize(("matrix", "words"), DEGENERATE)
def test_degenerate_tables_end_with_a_sentence(
    matrix: Callable[[], ResponseMatrix], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        ex.irt.fit(matrix())


def test_agents_and_tasks_without_results_are_set_aside_with_a_reason() -> None:
    values = ex.irt.simulate(bank(6, 1), 30, rng=1).to_numpy().copy()
    values[:, 4] = 1
    values[:, 2] = np.nan
    values[3] = np.nan
    names = [f"a{number}" for number in range(30)]
    fit = ex.irt.fit(ResponseMatrix.from_array(values, names, tasks(6)))
    assert [(each.name, each.reason) for each in fit.left_out] == [("a3", "no observed result")]
    assert {each.name: each.reason for each in fit.dropped} == {
        "task 2": "never observed",
        "task 4": "every agent always succeeded",
    }
    assert len(fit.abilities.agents) == 29
    assert len(fit.items) == 4


def test_perfectly_separated_data_are_fitted_and_flagged() -> None:
    steps = np.array([[float(agent > task) for task in range(6)] for agent in range(7)])
    fit = ex.irt.fit(ResponseMatrix.from_array(steps))
    assert fit.converged
    assert np.isfinite(fit.items.slope).all()
    assert all("separated by ability" in " ".join(words) for words in fit.flags)
    wild = ex.irt.fit(ResponseMatrix.from_array(steps), estimator="ml")
    assert wild.outcome in (ex.irt.FitOutcome.BOUNDARY, ex.irt.FitOutcome.NOT_CONVERGED)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "5pl"}, "5pl"),
        ({"estimator": "bayes"}, "Choose 'map' or 'ml'"),
        ({"starts": 0}, "at least 1"),
        ({"priors": {"slop": (1, 1)}}, "slop"),
        ({"priors": {"slope": 1}}, "mean and standard deviation"),
        ({"priors": {"slope": (1, -1)}}, "above 0"),
        ({"priors": {"slope": (1, 1)}, "estimator": "ml"}, "which has none"),
        ({"response": "beta"}, "does not take the response"),
        ({"nodes": -3}, "-3 nodes"),
    ],
)
def test_wrong_options_end_with_a_sentence(options: dict[str, object], words: str) -> None:
    matrix = ex.irt.simulate(bank(5, 1), 20, rng=1)
    with pytest.raises(InputError, match=words):
        ex.irt.fit(matrix, **options)  # type: ignore[arg-type]


def test_scores_outside_0_and_1_are_refused_by_the_beta_model() -> None:
    values: NDArray[np.float64] = np.random.default_rng(0).random((10, 3)) * 3
    with pytest.raises(InputError, match="takes scores from 0 to 1"):
        ex.irt.fit(ResponseMatrix.from_array(values), "beta")


@settings(max_examples=25)
@given(
    agents=st.integers(3, 12),
    columns=st.integers(2, 8),
    seed=st.integers(0, 10_000),
    share=st.floats(0, 0.7),
    model=st.sampled_from(["1pl", "rasch", "2pl", "3pl", "4pl"]),
    estimator=st.sampled_from(["map", "ml"]),
    most=st.sampled_from([1, 3]),
)
@example(agents=6, columns=4, seed=3187, share=0.0, model="4pl", estimator="ml", most=3)  # Σ a = 0
def test_any_small_table_ends_in_numbers_or_in_a_sentence(
    agents: int,
    columns: int,
    seed: int,
    share: float,
    model: str,
    estimator: str,
    most: int,
) -> None:
    rng = np.random.default_rng(seed)
    tried = np.where(rng.random((agents, columns)) < share, 0, rng.integers(1, most + 1))
    matrix = ResponseMatrix.from_counts(rng.binomial(tried, rng.random(columns)), tried)
    try:
        fit = ex.irt.fit(matrix, model, estimator=estimator, starts=2)  # type: ignore[arg-type]
    except InputError:
        return
    for values in (
        fit.items.slope,
        fit.items.intercept,
        fit.abilities.ability,
        fit.abilities.error,
    ):
        assert np.isfinite(values).all()
    assert np.isfinite(fit.log_likelihood)
    assert fit.items.slope.sum() >= 0


def test_guessing_at_its_bound_leaves_no_slope_in_the_likelihood_of_intercepts() -> None:
    """Without guessing in the data, many tasks end at the bound: there the others must still settle."""
    rng = np.random.default_rng(2)
    names = [f"t{n}" for n in range(30)]
    true = ItemParameters.of(names, rng.lognormal(0.2, 0.35, 30), rng.normal(size=30))
    matrix = simulate(true, 400, rng=rng)
    made = fit(matrix, "3pl", estimator="ml", starts=1, errors=False)
    assert (made.items.guessing < 1e-4).any()

    def height(shift: np.ndarray) -> float:
        moved = replace(made.items, intercept=made.items.intercept + shift)
        return float(np.sum(log_likelihood(matrix, moved, made.quadrature)))

    here = height(np.zeros(30))
    for row in 1e-3 * np.eye(30):
        ahead, behind = height(row), height(-row)
        slope, bend = (ahead - behind) / 2e-3, (2 * here - ahead - behind) / 1e-6
        assert abs(slope) < 1e-3 * np.sqrt(bend)  # a thousandth of the intercept's error


def test_a_climb_ends_where_what_it_foretells_never_comes() -> None:
    from examiner.irt import Pace
    from examiner.irt.estimation.fixed_point import Stepped, fixed_point

    pace = Pace(0.6, 5.0, (), 0, tolerance=1e-5, noise=1e-11)
    ends = np.zeros(1), np.ones(1)
    to_and_fro = lambda x: Stepped(-1.0, 1.0 - x, ahead=1.0 - x, gain=1e-3)  # noqa: E731
    found = fixed_point(to_and_fro, np.zeros(1), pace, most=100, bounds=ends)
    assert found.settled and found.iterations < 10


def test_a_three_pl_settles_though_a_slope_runs_to_its_bound() -> None:
    rng = np.random.default_rng([300, 30, 5])
    slope, intercept = rng.lognormal(0, 0.3, 30), rng.normal(size=30)
    items = ItemParameters.of([f"t{n}" for n in range(30)], slope, intercept, guessing=0.2)
    made = fit(simulate(items, 300, rng=rng), "3pl", estimator="ml", starts=1, errors=False)
    assert np.abs(made.items.slope).max() > 30  # otherwise this asks nothing
    assert made.converged and made.iterations < 500


def test_agents_with_the_same_successes_are_fitted() -> None:
    counts = np.array([[3, 1, 2]] * 5)
    fit = ex.irt.fit(ex.ResponseMatrix.from_counts(counts, np.full((5, 3), 4)), starts=1)
    assert np.ptp(fit.abilities.ability) < 1e-6

"""Words about tasks: each is said where it is true, and not where it is not."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.irt import (
    BOUNDARY,
    MODELS,
    NEGATIVE,
    NEGATIVE_ALONE,
    NO_ERROR,
    NO_GUESSING,
    NO_OVERDISPERSION,
    NO_SLIPPING,
    SEPARATED,
    SLOPE_NOT_SIGNIFICANT,
    UNBOUNDED_DIFFICULTY,
    ChanceTest,
    Evidence,
    ItemParameters,
    Quadrature,
    abilities,
    simulate,
    with_evidence,
)
from examiner.irt.diagnostics.flags import separated, task_flags
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
    assert words[1] == (SLOPE_NOT_SIGNIFICANT, UNBOUNDED_DIFFICULTY)


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


def table(kind: str, seed: int, model: str = "2pl") -> ResponseMatrix:
    """Tables in which nothing, little or much is to be seen, with as many agents as tasks or not."""
    rng = np.random.default_rng(seed)
    agents, tasks = 18 + seed % 7, 18
    ability = rng.normal(size=agents) * (kind != "noise")
    slope = {
        "noise": np.ones(tasks),
        "weak": np.full(tasks, 0.4),
        "both signs": rng.normal(0.8, 0.9, tasks),
    }[kind]
    line = ability[:, None] * slope - rng.normal(size=tasks)
    if model == "normal":
        return ResponseMatrix.from_array(line + rng.normal(size=line.shape))
    if model == "beta":
        return ResponseMatrix.from_array(1 / (1 + np.exp(-line - rng.normal(size=line.shape))))
    return ResponseMatrix.from_array((rng.random(line.shape) < 1 / (1 + np.exp(-line))) * 1.0)


@pytest.mark.parametrize("kind", ["noise", "weak", "both signs"])
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=() if name == "2pl" else pytest.mark.slow)
        for name, model in MODELS.items()
        if "slope" in model.free
    ],
)
def test_a_sign_is_said_to_be_unknown_exactly_where_the_stated_interval_contains_zero(
    kind: str, model: str
) -> None:
    for seed in range(3):
        fit = ex.irt.fit(table(kind, seed, model), model, starts=1, rng=0)
        errors, slope = fit.errors, fit.items.slope
        assert errors is not None and fit.evidence is not None
        contains = (errors.slope_low <= 0) & (errors.slope_high >= 0)
        known = np.isfinite(errors.slope)
        assert (errors.slope_low[known] <= slope[known]).all()
        assert (slope[known] <= errors.slope_high[known]).all()
        for task, words in enumerate(fit.flags):
            shown = NEGATIVE in words
            assert (SLOPE_NOT_SIGNIFICANT in words) == (contains[task] and not shown)
            assert (NEGATIVE_ALONE in words) == (
                slope[task] < 0 and not contains[task] and not shown and bool(known[task])
            )
            if SLOPE_NOT_SIGNIFICANT in words:
                assert UNBOUNDED_DIFFICULTY in words
                assert np.isinf(errors.difficulty_low[task])
        if not fit.evidence.abilities_differ:
            assert contains[known].all()


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_json_of_noise_has_no_interval_of_discrimination_that_excludes_zero(
    tmp_path, model: str
) -> None:
    values = table("noise", 4).to_numpy()
    lines = ["agent," + ",".join(f"t{n}" for n in range(values.shape[1]))]
    lines += [f"a{n}," + ",".join(f"{v:g}" for v in row) for n, row in enumerate(values)]
    (tmp_path / "noise.csv").write_text("\n".join(lines))
    asked = ["fit", str(tmp_path / "noise.csv"), "--starts", "1", "--model", model, "--json"]
    done = CliRunner().invoke(app, asked)
    content = json.loads(done.stdout)
    assert not content["abilities_differ"]
    for row in content["tasks"]:
        assert row["discrimination_low"] <= 0 < row["discrimination_high"]
        assert row["difficulty_low"] is None and row["difficulty_high"] is None


def test_intervals_follow_what_another_test_shows() -> None:
    fit = ex.irt.fit(table("weak", 2), starts=1, rng=0)
    none = Evidence(ChanceTest(1.0, 1.0, 0.6, "by hand"))
    doubted = with_evidence(fit, none)
    assert doubted.errors is not None
    assert (doubted.errors.slope_low <= 0).all() and (doubted.errors.slope_high >= 0).all()
    assert all(SLOPE_NOT_SIGNIFICANT in words for words in doubted.flags)

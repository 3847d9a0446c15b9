"""Properties of aggregates, profiles, ranks and comparisons that hold for any scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.scores import difference_of, holm, run_scores, usual_unit
from examiner.scores.normalise import is_raw
from examiner.scores.ranks import rank_shares

FAST = settings(max_examples=25, deadline=None)


def difference(results: ex.Results, a: str, b: str, unit=None, **options):
    """Compare two agents, in the unit that suits the table."""
    scores = run_scores(results, **options)
    return difference_of(scores.of(a), scores.of(b), unit=unit or usual_unit(scores))


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Scores [agents, tasks, runs], some coarse enough to tie, some missing."""
    agents, tasks, runs = draw(st.integers(2, 4)), draw(st.integers(2, 5)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.normal(size=(agents, tasks, runs))
    if draw(st.booleans()):
        # Zeros and ones alone would be wins and losses, whose intervals end at 0 and 1.
        scores = 2 * scores.round(0)
    if draw(st.booleans()):
        gaps = rng.random(scores.shape) < 0.2
        gaps[:, 0, :2] = False  # everybody keeps two runs of the first task
        scores[gaps] = np.nan
    return scores


def named(scores: np.ndarray, order: list[int] | None = None) -> ex.Results:
    order = list(range(len(scores))) if order is None else order
    tasks = [f"t{task}" for task in range(scores.shape[1])]
    return ex.Results.from_numpy(scores[order], [f"a{agent}" for agent in order], tasks)


def assert_same(one: tuple, two: tuple) -> None:
    """Compare agents with values, whatever the order of agents."""
    (agents, values), (others, moved) = one, two
    rows = [others.index(agent) for agent in agents]
    np.testing.assert_allclose(values, moved[rows], rtol=1e-9, atol=1e-12)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@FAST
@given(tables(), st.sampled_from(["runs", "tasks", "both"]), st.randoms())
def test_permuting_agents_permutes_the_answer(scores: np.ndarray, unit: str, random) -> None:
    order = list(range(len(scores)))
    random.shuffle(order)
    plain = ex.scores.intervals(
        named(scores), ["mean", "iqm"], rng=rng(), reps=50, unit=unit, normalise=None
    )
    moved = ex.scores.intervals(
        named(scores, order), ["mean", "iqm"], rng=rng(), reps=50, unit=unit, normalise=None
    )
    assert_same((plain.agent_names, plain.value), (moved.agent_names, moved.value))
    assert_same((plain.agent_names, plain.low), (moved.agent_names, moved.low))
    one, two = (
        ex.scores.ranks(named(scores, way), rng=rng(), reps=50, unit=unit, normalise=None)
        for way in (None, order)
    )
    assert_same((one.agent_names, one.probability), (two.agent_names, two.probability))


@FAST
@given(st.integers(0, 2**32 - 1), st.sampled_from(["runs", "tasks", "both"]), st.booleans())
def test_names_and_the_order_of_agents_tasks_and_runs_change_no_number(
    seed: int, unit: str, binary: bool
) -> None:
    draws = np.random.default_rng(seed)
    scores = draws.normal(size=(3, 5, 3)) + draws.normal(size=(3, 1, 1))
    # Of zeros and ones some agents or tasks may be equal throughout, and then nothing orders them.
    scores = (scores > 0).astype(float) + np.arange(3)[:, None, None] * binary if binary else scores
    agents, tasks = draws.permutation(3), draws.permutation(5)
    moved = scores[np.ix_(agents, tasks)][:, :, draws.permutation(3)]
    old = [f"a{agent}" for agent in agents]  # what the agents were called
    one, two = named(scores), ex.Results.from_numpy(moved, list("xyz"), list("vwpqr"))
    rename = dict(zip("xyz", old, strict=True))
    how = {"rng": 0, "reps": 50, "unit": unit}
    for verb in (ex.scores.intervals, ex.scores.ranks, ex.scores.profiles):
        first, second = verb(one, **how), verb(two, **how)
        names = tuple(rename[agent] for agent in second.agent_names)
        for field in ("low", "high", "probability"):
            if hasattr(first, field):
                pair = getattr(first, field), getattr(second, field)
                assert_same((first.agent_names, pair[0]), (names, pair[1]))
    first = ex.scores.improvement(one, old[0], old[1], **how, normalise=None)
    second = ex.scores.improvement(two, "x", "y", **how, normalise=None)
    assert (first.low, first.high) == pytest.approx((second.low, second.high), nan_ok=True)


def test_agents_come_best_first_and_equals_by_name() -> None:
    scores = np.array([[1.0, 2.0], [3.0, 5.0], [2.0, 1.0], [9.0, 9.0]])[:, :, None] + [0.0, 0.5]
    results = ex.Results.from_numpy(scores, ["b10", "c", "b9", "a"])
    expected = ("a", "c", "b9", "b10")
    for verb in (
        ex.scores.intervals,
        ex.scores.ranks,
        ex.scores.improvement_matrix,
        ex.scores.profiles,
        ex.scores.significance,
    ):
        assert verb(results).agent_names == expected, verb
    assert ex.scores.aggregate(results, normalise=None).agents.agent == expected
    made = ex.scores.rank(results, normalise=None)
    assert (made.pairs.a[0], made.pairs.b[0]) == ("a", "c") and made.agents.agent == expected
    assert made.ranks.agent_names == expected
    shares = ex.Results.from_numpy(scores / 10, results.agents)
    gap = ex.scores.intervals(shares, "optimality_gap", normalise=None)
    assert gap.agent_names == expected, "where lower is better too"


@FAST
@given(tables(), st.sampled_from(["runs", "tasks", "both"]))
def test_scaling_and_shifting_scores_moves_aggregates_with_them(
    scores: np.ndarray, unit: str
) -> None:
    names = ["mean", "median", "iqm"]
    plain = ex.scores.intervals(named(scores), names, rng=rng(), reps=50, unit=unit, normalise=None)
    moved = ex.scores.intervals(
        named(4 * scores - 3), names, rng=rng(), reps=50, unit=unit, normalise=None
    )
    for what in ("value", "low", "high"):
        before, after = getattr(plain, what), getattr(moved, what)
        # An interval without width is dropped, and rounding may lend it one.
        both = np.isfinite(before) & np.isfinite(after)
        np.testing.assert_allclose(4 * before[both] - 3, after[both], atol=1e-9)


@FAST
@given(tables(), st.sampled_from(["runs", "tasks", "both"]))
def test_default_intervals_hold_their_estimate(scores: np.ndarray, unit: str) -> None:
    names = ["mean", "median", "iqm"]
    if not is_raw(named(scores)):
        names.append("optimality_gap")
    made = ex.scores.intervals(named(scores), names, rng=rng(), reps=50, unit=unit, normalise=None)
    some = np.isfinite(made.low)
    assert ((made.low <= made.value) & (made.value <= made.high))[some].all()


@FAST
@given(tables())
def test_an_agent_more_changes_nothing_for_the_others(scores: np.ndarray) -> None:
    scores = scores + 0.01 * rng().normal(
        size=scores.shape
    )  # agents with equal scores would be numbered
    fewer = ex.scores.intervals(named(scores[:-1]), rng=rng(), reps=50, unit="runs", normalise=None)
    every = ex.scores.intervals(named(scores), rng=rng(), reps=50, unit="runs", normalise=None)
    np.testing.assert_allclose(fewer.low, every.of(fewer.agent_names).low, rtol=1e-9, atol=1e-12)


@FAST
@given(tables(), st.sampled_from(["runs", "averages"]), st.sampled_from(["runs", "tasks", "both"]))
def test_profiles_never_rise_and_bands_hold_them(scores: np.ndarray, kind: str, unit: str) -> None:
    marks = np.linspace(-3, 3, 13)
    made = ex.scores.profiles(
        named(scores), marks, kind, rng=rng(), reps=50, unit=unit, normalise=None
    )
    for line in (made.share, made.low, made.high):
        assert (np.diff(line, axis=1) <= 1e-12).all()
        assert (line >= -1e-12).all()
        assert (line <= 1 + 1e-12).all()
    assert (made.low <= made.high + 1e-12).all()


@FAST
@given(tables(), st.sampled_from(["runs", "tasks", "both"]))
def test_rank_probabilities_sum_to_one_both_ways(scores: np.ndarray, unit: str) -> None:
    made = ex.scores.ranks(named(scores), rng=rng(), reps=50, unit=unit, normalise=None)
    np.testing.assert_allclose(made.probability.sum(axis=0), 1.0)
    np.testing.assert_allclose(made.probability.sum(axis=1), 1.0)
    assert made.agents.expected_rank.sum() == pytest.approx(len(scores) * (len(scores) + 1) / 2)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6))
def test_ties_share_ranks(values: list[int]) -> None:
    column = np.array(values, dtype=float)[:, None]
    shares = rank_shares(column)
    for agent, value in enumerate(values):
        better, alike = sum(v > value for v in values), values.count(value)
        expected = [1 / alike if better <= r < better + alike else 0 for r in range(len(values))]
        np.testing.assert_allclose(shares[agent], expected)


@FAST
@given(tables(), st.sampled_from(["runs", "tasks", "both"]))
def test_improvement_of_a_over_b_and_of_b_over_a_sum_to_one(scores: np.ndarray, unit: str) -> None:
    results = named(scores)
    one = ex.scores.improvement(results, "a0", "a1", rng=rng(), reps=200, unit=unit, normalise=None)
    other = ex.scores.improvement(
        results, "a1", "a0", rng=rng(), reps=200, unit=unit, normalise=None
    )
    assert one.probability + other.probability == pytest.approx(1)
    assert one.low + other.high == pytest.approx(1)
    np.testing.assert_allclose(one.tasks.probability + other.tasks.probability, 1)
    assert 0 <= one.low < one.high <= 1 or np.isnan(one.low)


@FAST
@given(tables())
def test_the_matrix_agrees_with_single_pairs(scores: np.ndarray) -> None:
    results = named(scores)
    matrix = ex.scores.improvement_matrix(results, rng=rng(), reps=200, normalise=None)
    single = ex.scores.improvement(results, "a0", "a1", rng=rng(), reps=200, normalise=None)
    pair = matrix.agent_names.index("a0"), matrix.agent_names.index("a1")
    assert matrix.probability[pair] == pytest.approx(single.probability)
    np.testing.assert_allclose(matrix.low[pair], single.low)
    sums = matrix.probability + matrix.probability.T
    np.testing.assert_allclose(sums[~np.eye(len(scores), dtype=bool)], 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_raises_p_values_and_keeps_their_order(values: list[float]) -> None:
    raw = np.array(values)
    adjusted = holm(raw)
    assert (adjusted >= raw).all()
    assert (adjusted <= 1).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted <= np.minimum(1, raw * len(raw)) + 1e-15).all()  # never worse than Bonferroni


@FAST
@given(tables())
def test_swapping_agents_turns_their_difference_round(scores: np.ndarray) -> None:
    results = named(scores)
    one, other = (difference(results, *pair) for pair in (("a0", "a1"), ("a1", "a0")))
    assert one.difference == pytest.approx(-other.difference)
    np.testing.assert_allclose(one.error_grouped, other.error_grouped)

"""Totals through levels: averages by hand, coverage of truth, chance levels, and refusals."""

import json
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import examiner as ex
from examiner.scores import (
    Total,
    chance_scales,
    difference_of,
    intervals,
    rank,
    run_scores,
    total,
    usual_unit,
)
from examiner.scores.nest import Nest, product
from examiner.scores.total import AVERAGES
from examiner.validation import from_record, to_record

SIZES = {"anatomy": 5, "law": 2, "algebra": 9}


def difference(results: ex.Results, a: str, b: str, unit=None, **options):
    """Compare two agents, in the unit that suits the table."""
    scores = run_scores(results, **options)
    return difference_of(scores.of(a), scores.of(b), unit=unit or usual_unit(scores))


def table(values: np.ndarray, sizes: dict[str, int] = SIZES) -> ex.Results:
    """Results [agents, tasks] with the columns `benchmark` and `subtask`."""
    subtask = [name for name, size in sizes.items() for _ in range(size)]
    outer = ["maths" if name == "algebra" else "mmlu" for name in subtask]
    agent, task = np.indices(values.shape)
    return ex.Results.from_dict(
        {
            "agent": [f"a{row}" for row in agent.ravel()],
            "task": [f"t{column}" for column in task.ravel()],
            "score": values.ravel(),
            "benchmark": [outer[column] for column in task.ravel()],
            "subtask": [subtask[column] for column in task.ravel()],
        }
    )


@pytest.fixture
def values() -> np.ndarray:
    return (np.random.default_rng(3).random((4, 16)) < 0.6).astype(float)


def parts(values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(list(SIZES.values()))[:-1], axis=1)


def test_a_macro_average_is_the_mean_of_the_groups_means(values) -> None:
    made = total(table(values), by="subtask")
    by_hand = np.mean([part.mean(axis=1) for part in parts(values)], axis=0)
    assert_allclose(made.mean(values), by_hand)
    assert_allclose(made.shares @ values.T, by_hand)
    found = ex.scores.aggregate(table(values), total=made).agents.mean
    assert_allclose(found, np.sort(by_hand)[::-1])


def test_levels_are_averaged_from_the_innermost_outwards(values) -> None:
    made = total(table(values), by=("benchmark", "subtask"))
    anatomy, law, algebra = (part.mean(axis=1) for part in parts(values))
    assert_allclose(made.mean(values), ((anatomy + law) / 2 + algebra) / 2)
    assert set(made.groups[1]) == {"mmlu/anatomy", "mmlu/law", "maths/algebra"}


def test_weights_of_tasks_and_groups_count_in_both_averages(values) -> None:
    weights = {"t0": 3.0, "law": 2.0, "maths": 0.5}
    made = total(table(values), ("benchmark", "subtask"), "micro", weights)
    each = np.array([3.0] + [1] * 4 + [2.0] * 2 + [0.5] * 9)
    assert_allclose(made.mean(values), np.average(values, axis=1, weights=each))
    macro = total(table(values), ("benchmark", "subtask"), "macro", weights)
    anatomy, law, algebra = parts(values)
    first = np.average(anatomy, axis=1, weights=[3, 1, 1, 1, 1])
    mmlu = (first + 2 * law.mean(axis=1)) / 3
    assert_allclose(macro.mean(values), (mmlu + 0.5 * algebra.mean(axis=1)) / 1.5)


def test_what_was_not_observed_is_left_out_and_so_is_a_group_without_any(values) -> None:
    values[1, 0] = np.nan
    values[2, 5:7] = np.nan  # all of law
    made = total(table(values), by="subtask")
    by_hand = [np.nanmean([np.nanmean(p) for p in row]) for row in _rows_of_parts(values)]
    assert_allclose(made.mean(values), by_hand)
    found = intervals(table(values), "mean", rng=0, unit="tasks", total=made)
    assert_allclose(found.value[:, 0], np.sort(by_hand)[::-1])
    assert any("no result in up to 1 of the 3 subtasks" in note for note in found.notes)


def _rows_of_parts(values: np.ndarray) -> list[list[np.ndarray]]:
    split = parts(values)
    return [
        [part[row] for part in split if np.isfinite(part[row]).any()] for row in range(len(values))
    ]


def test_micro_without_weights_is_the_plain_mean_to_the_last_digit(values) -> None:
    made = total(table(values), by="subtask", average="micro")
    assert made.plain
    assert_allclose(made.mean(values), values.mean(axis=1), rtol=1e-15)


@pytest.mark.parametrize("average", AVERAGES)
def test_the_error_of_a_total_over_tasks_is_that_of_stratified_sampling(average) -> None:
    sizes = {"anatomy": 40, "law": 25, "algebra": 150}
    rng = np.random.default_rng(0)
    values = (rng.random((2, 215)) < np.repeat([0.9, 0.5, 0.2], [40, 25, 150])).astype(float)
    results = table(values, sizes)
    made = total(results, "subtask", average)
    found = intervals(
        results, "mean", rng=0, unit="tasks", interval="rescaled", reps=20_000, total=made
    )
    groups = np.split(values, np.cumsum([40, 25, 150])[:-1], axis=1)
    weight = np.array([1 / 3] * 3) if average == "macro" else np.array([40, 25, 150]) / 215
    variance = sum(
        w**2 * part.var(axis=1, ddof=1) / part.shape[1]
        for w, part in zip(weight, groups, strict=True)
    )
    wide = (found.high - found.low)[:, 0] / (2 * stats.norm.ppf(0.975))
    assert_allclose(wide, np.sqrt(variance), rtol=0.03)


def test_intervals_of_a_macro_average_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    sizes, shares = {"anatomy": 12, "law": 30, "algebra": 60}, [0.8, 0.55, 0.3]
    p = np.repeat(shares, list(sizes.values()))
    values = (rng.random((300, 102)) < p).astype(float)  # an agent is a repetition
    results = table(values, sizes)
    found = intervals(
        results, "mean", rng=0, unit="tasks", reps=300, total=total(results, "subtask")
    )
    truth = np.mean(shares)
    held = ((found.low <= truth) & (truth <= found.high)).mean()
    assert 0.91 < held < 0.985  # 95 % ± three errors of 300 draws, and of few replicates


def test_a_difference_of_totals_has_the_error_of_paired_strata(values) -> None:
    results = table(values)
    found = difference(results, "a0", "a1", total=total(results, "subtask"))
    gaps = parts(values[:1] - values[1:2])
    assert found.difference == pytest.approx(np.mean([gap.mean() for gap in gaps]))
    variance = sum(gap.var(ddof=1) / gap.size / 9 for gap in gaps)
    assert found.error_paired == pytest.approx(np.sqrt(variance))
    parts_of = [gap.var(ddof=1) / gap.size / 9 for gap in gaps]
    satterthwaite = variance**2 / sum(
        v**2 / (gap.size - 1) for v, gap in zip(parts_of, gaps, strict=True)
    )
    assert found.degrees == pytest.approx(satterthwaite)


def test_improvement_and_ranks_go_by_the_total_too(values) -> None:
    results = table(values)
    made = rank(results, rng=0, unit="tasks", reps=200, total=total(results, "subtask"))
    anatomy, law, algebra = ((1 + (part[0] - part[1])).mean() / 2 for part in parts(values[:2]))
    assert made.pairs["a0", "a1"].probability == pytest.approx((anatomy + law + algebra) / 3)
    assert made.aggregates.aggregates == ("mean",)
    told = made.to_dict()
    assert told["settings"]["total"] == "mean over 3 subtasks of their tasks' means"
    assert [row["mean"] for row in told["groups"][:3]] == pytest.approx(
        [part[0].mean() for part in parts(values)]
    )
    assert made.groups["m0" if "m0" in results.agents else results.agents[0], "law"].group == "law"


def test_pairs_of_zeros_and_ones_are_compared_as_pairs_of_any_scores_are(values) -> None:
    plain = rank(table(values), rng=0, unit="tasks", reps=100).pairs
    other = rank(table(values * 7 + 2), ["mean"], rng=0, unit="tasks", reps=100).pairs
    assert_allclose(plain.probability_low, other.probability_low, atol=1e-12)
    assert_allclose(plain.probability_high, other.probability_high, atol=1e-12)


def test_tasks_are_drawn_within_their_groups(values) -> None:
    constant = np.concatenate([np.ones((4, 50)), np.zeros((4, 40)), values, values], axis=1)
    results = table(constant, {"anatomy": 50, "law": 40, "algebra": 32})
    made = total(results, "subtask", "micro")
    found = intervals(results, "mean", rng=0, unit="tasks", total=made)
    free = intervals(results, "mean", rng=0, unit="tasks")
    assert (found.high - found.low < free.high - free.low).all()  # groups of one value add nothing


def test_chance_is_rescaled_task_by_task_and_in_the_mean(values) -> None:
    results = table(values)
    chance = {"anatomy": 0.25, "law": 0.5, "algebra": 0.0}
    scaled = results.with_scales(chance_scales(results, chance, "subtask"))
    made = ex.normalise(scaled, "chance")
    found = total(made, "subtask").mean(ex.scores.cell_means(made))
    by_hand = np.mean(
        [
            (part.mean(axis=1) - c) / (1 - c)
            for part, c in zip(parts(values), chance.values(), strict=True)
        ],
        axis=0,
    )
    assert_allclose(found, by_hand)


def test_who_guesses_is_at_zero_on_average() -> None:
    rng = np.random.default_rng(2)
    sizes = {"anatomy": 4000, "law": 3000, "algebra": 2000}
    p = np.repeat([0.25, 0.5, 0.1], list(sizes.values()))
    results = table((rng.random((1, 9000)) < p).astype(float), sizes)
    chance = {"anatomy": 0.25, "law": 0.5, "algebra": 0.1}
    made = ex.normalise(results.with_scales(chance_scales(results, chance, "subtask")), "chance")
    assert abs(total(made, "subtask").mean(ex.scores.cell_means(made))[0]) < 0.03


def test_a_recipe_keeps_its_total(values) -> None:
    made = total(table(values), ("benchmark", "subtask"), weights={"law": 2.0, "t3": 0.5})
    recipe = ex.Recipe(total=made).learn(table(values))
    again = from_record(ex.Recipe, json.loads(json.dumps(to_record(recipe))))
    assert again.total == made
    assert_allclose(again.total.on(["t9", "t5"]).mean(values[:, [9, 5]]), made_mean(values))


def made_mean(values: np.ndarray) -> np.ndarray:
    """Both benchmarks have one task left: law's t5, and algebra's t9."""
    return (values[:, 9] + values[:, 5]) / 2


def test_a_permutation_of_tasks_changes_nothing(values) -> None:
    order = np.random.default_rng(0).permutation(16)
    made = total(table(values), ("benchmark", "subtask"), weights={"law": 3.0})
    mixed = made.on([f"t{column}" for column in order])
    assert_allclose(mixed.mean(values[:, order]), made.mean(values))


def test_sums_of_whole_numbers_and_of_others_are_the_products() -> None:
    rng = np.random.default_rng(0)
    times = rng.poisson(1, (30, 7)).astype(float)
    for rows in (rng.integers(0, 2, (3, 30)).astype(float), rng.random((3, 30))):
        assert_allclose(product(rows, times), rows @ times)
    assert_allclose(Nest.flat(30).shares, 1 / 30)


def test_a_task_that_does_not_move_its_group_moves_nothing() -> None:
    made = Total(("t", "u", "v"), ("subtask",), (("art", "art", "law"),), "macro")
    means = [made.mean(np.array([[0.5, 0.5, one]]))[0] for one in (0.0, 0.4, 0.8)]
    assert all(b - a == pytest.approx(0.2) for a, b in pairwise(means))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda r: total(r, "topic"),
            r"No column 'topic' says which group.*'benchmark', 'subtask'",
        ),
        (lambda r: total(r, average="macro"), r"averages groups of tasks, and no level is named"),
        (
            lambda r: total(r, "subtask", weights={"art": 2.0}),
            r"The weight of 'art' is given, and no",
        ),
        (
            lambda r: total(r, "subtask", weights={"law": -1.0}),
            r"weight of 'law' is -1\. Give a number",
        ),
        (lambda r: total(r, "subtask", weights=dict.fromkeys(SIZES, 0.0)), r"All weights are 0"),
        (
            lambda r: total(r, weights="size"),
            r"No column 'size' of the table of tasks holds weights",
        ),
        (
            lambda r: chance_scales(r, {"law": 0.5}, "subtask"),
            r"chance level of 14 tasks is not given",
        ),
        (
            lambda r: chance_scales(r, {"law": 1.0}, "subtask"),
            r"chance of 'law' is 1\. Give a share",
        ),
        (lambda r: total(r, "subtask").on(["t0", "new"]), r"does not say how 'new' counts"),
        (
            lambda r: intervals(r, "median", rng=0, total=total(r, "subtask")),
            r"The aggregate 'median' knows no levels or weights",
        ),
    ],
)
def test_refusals_say_what_to_do(values, call, told) -> None:
    with pytest.raises(ex.InputError, match=told):
        call(table(values))


def test_a_column_that_says_two_things_of_a_task_is_refused() -> None:
    rows = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1, 0], "subtask": ["art", "law"]}
    with pytest.raises(ex.InputError, match="says 'art' and 'law' of 't'"):
        total(ex.Results.from_dict(rows), "subtask")


def test_chance_levels_of_points_are_refused() -> None:
    results = ex.Results.from_numpy([[50.0]], tasks=["t"])
    with pytest.raises(ex.InputError, match=r"leaves \[0, 1\], and chance levels are of shares"):
        chance_scales(results, {"t": 0.25})


def test_a_name_that_ends_several_groups_is_refused_with_their_whole_names() -> None:
    rows = {
        "agent": ["a", "a"],
        "task": ["t", "u"],
        "score": [1, 0],
        "benchmark": ["mmlu", "bbh"],
        "subtask": ["law", "law"],
    }
    results = ex.Results.from_dict(rows)
    with pytest.raises(ex.InputError, match=r"several groups end so: 'mmlu/law', 'bbh/law'"):
        total(results, ("benchmark", "subtask"), weights={"law": 2.0})


def test_one_task_a_group_gives_no_interval_and_says_why() -> None:
    results = table(np.array([[1.0, 0.0, 1.0]]), dict.fromkeys(SIZES, 1))
    found = intervals(results, "mean", rng=0, unit="tasks", total=total(results, "subtask"))
    assert np.isnan(found.low).all()
    assert any("Every subtask has one task" in note for note in found.notes)

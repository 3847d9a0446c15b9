"""Nested comparison: nothing leaks, figures are what brute force gives, workers change nothing."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.selection import METHODS, Benchmark, Holdout, fold_of
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.methods import able_methods
from examiner.selection.proof.folds import FoldJob, judge_fold
from examiner.selection.proof.holdout import k_fold, leave_one_out
from examiner.selection.proof.sets import Contest

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT.parent / "shared" / "data" / "ale_published_scores_2018.csv"


def one_factor(agents: int, tasks: int, seed: int = 0, noise: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(agents, 1)) * rng.uniform(0.4, 1.6, tasks) + noise * rng.normal(
        size=(agents, tasks)
    )


def material_of(values: np.ndarray, **options: object) -> Benchmark:
    groups = {f"task {place + 1}": f"kind {place % 4}" for place in range(values.shape[1])}
    demands = replace(options.pop("constraints", ex.selection.Constraints()), groups=groups)
    recipe = options.pop("recipe", ex.Recipe())
    return ex.selection.benchmark(
        ex.Results.from_numpy(values), recipe, constraints=demands, **options
    )


def nested_r2(material: Benchmark, sizes: tuple[int, ...], folds: int, seed: int) -> np.ndarray:
    """R² of every method and best-of, [methods + 1, sizes], from `folds` held-out parts."""
    able, _ = able_methods(material)
    assert set(able) == set(METHODS) - {"random"}
    contest = Contest(tuple(able.items()), sizes, (), 5, 0.9)
    rng = np.random.default_rng(seed)
    said, true = [], []
    for split in k_fold(material.family_codes, folds, rng):
        found = judge_fold(material, contest, FoldJob(split, rng))
        said.append(found.guess.value)
        true.append(found.truth)
    truth, predicted = np.concatenate(true), np.concatenate(said, axis=2)
    return 1 - ((predicted - truth) ** 2).sum(axis=2) / ((truth - truth.mean()) ** 2).sum()


@pytest.mark.slow
def test_nothing_leaks_when_the_target_is_permuted_over_agents() -> None:
    material = material_of(one_factor(40, 12))
    truth = material.values.mean(axis=1)
    rng = np.random.default_rng(5)
    nested, optimistic = [], []
    for draw in range(12):
        shuffled = replace(material, given_target=rng.permutation(truth))
        nested.append(nested_r2(shuffled, (3,), 5, seed=draw)[:, 0])
        found = ex.selection.judge(
            shuffled,
            [3],
            ["regression"],
            rng=rng,
            holdout=Holdout(folds=5, draws=0, reps=2),
        )
        optimistic.append(found.row("regression", 3).optimistic_r2)
    means, errors = np.mean(nested, axis=0), np.std(nested, axis=0, ddof=1) / np.sqrt(12)
    assert (means <= 2 * errors).all(), dict(
        zip([*able_methods(material)[0], "best_of"], means, strict=True)
    )
    assert np.mean(optimistic) > 0.03
    honest = nested_r2(material, (3,), 5, seed=0)
    assert (honest > 0.5).all(), "the same judge does see what is there"


def test_nothing_of_a_held_out_agent_reaches_the_choice_or_the_fit() -> None:
    """Whatever a held-out agent scored, sets, winners, and predictions of others stay the same."""
    values = one_factor(14, 9)
    wild = values.copy()
    wild[3] = 1e3 * np.random.default_rng(1).normal(size=9)
    split = leave_one_out(np.arange(14))[3]
    answers = []
    for table in (values, wild):
        for options in ({}, {"target": "rank-points"}, {"recipe": ex.Recipe(normaliser="z-score")}):
            material = material_of(table, **options)
            able, _ = able_methods(material)
            contest = Contest(
                tuple(able.items()), (2, 4), (((0, 1),) * 2, ((0, 1, 2, 3),) * 2), 4, 0.9
            )
            found = judge_fold(material, contest, FoldJob(split, np.random.default_rng(0)))
            fold = fold_of(material, split.train, ("channels", "items", "ability"))
            answers.append((found.sets, found.winner, fold.evidence.target, fold.evidence.ability))
    for before, after in zip(answers[:3], answers[3:], strict=True):
        assert before[:2] == after[:2]
        np.testing.assert_array_equal(before[2], after[2])
        np.testing.assert_array_equal(before[3], after[3])


def test_predictions_of_a_comparison_are_those_of_a_refit_without_the_agent() -> None:
    """Brute force: scikit-like ridge by normal equations, the penalty by explicit leave-one-out."""
    from examiner.selection import SHRINKAGE

    values = one_factor(10, 6)
    fixed = (1, 4)

    def these(
        evidence: SelectionEvidence, size: int, rng: np.random.Generator
    ) -> ex.selection.TaskSet:
        names = tuple(evidence.tasks[place] for place in fixed)
        return ex.selection.TaskSet("these", names, fixed, np.zeros(2), "", 2.0)

    found = ex.selection.judge(material_of(values), [2], [these], rng=0, holdout=Holdout(draws=0))

    def fitted(rows: list[int], penalty: float) -> tuple[np.ndarray, np.ndarray, float]:
        x, y = values[np.ix_(rows, fixed)], values[rows].mean(axis=1)
        centre = x.mean(axis=0)
        gram = (x - centre).T @ (x - centre) + penalty * np.eye(2)
        return np.linalg.solve(gram, (x - centre).T @ (y - y.mean())), centre, float(y.mean())

    for agent in range(10):
        rows = [row for row in range(10) if row != agent]
        unit = values[rows].var(axis=0).mean()
        errors = []
        for share in SHRINKAGE:
            off = []
            for left in rows:
                kept = [row for row in rows if row != left]
                # The penalty is one number for the fold, not one for each part of it.
                beta, centre, mean = fitted(kept, 9 * share * unit)
                off.append(values[left].mean() - mean - (values[left, fixed] - centre) @ beta)
            errors.append(np.mean(np.square(off)))
        beta, centre, mean = fitted(rows, 9 * SHRINKAGE[int(np.argmin(errors))] * unit)
        expected = mean + (values[agent, fixed] - centre) @ beta
        assert found.predicted[0, 0, agent] == pytest.approx(expected)
    truth = values.mean(axis=1)
    r2 = 1 - ((found.predicted[0, 0] - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert found.methods.r2[0] == pytest.approx(r2)
    assert found.methods.mae[0] == pytest.approx(np.abs(found.predicted[0, 0] - truth).mean())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_table_on_any_number_of_processes() -> None:
    from examiner.workers import map_processes

    material = material_of(one_factor(9, 6))
    run = partial(
        ex.selection.judge,
        material,
        [2, 3],
        ["regression", "spread", "best_of"],
        holdout=Holdout(folds=3, draws=4),
    )
    one = run(rng=np.random.default_rng(4))
    two = run(rng=np.random.default_rng(4), map=partial(map_processes, processes=2))
    assert str(one.to_dict()) == str(two.to_dict())
    np.testing.assert_array_equal(one.predicted, two.predicted)


def test_families_are_never_split_and_runs_of_an_agent_neither() -> None:
    families = {f"agent {place + 1}": f"f{place // 3}" for place in range(12)}
    material = material_of(one_factor(12, 5), families=families)
    for splits in (
        leave_one_out(material.family_codes),
        k_fold(material.family_codes, 3, np.random.default_rng(0)),
    ):
        for split in splits:
            inside = {material.families[row] for row in split.test}
            assert not inside & {material.families[row] for row in split.train}
        together = np.concatenate([split.test for split in splits])
        assert sorted(together) == list(range(12))
    with pytest.raises(ex.InputError, match="Cannot make 5 folds of 4"):
        k_fold(material.family_codes, 5, np.random.default_rng(0))


def test_choosing_on_last_year_judges_only_this_year() -> None:
    material = material_of(one_factor(14, 6))
    last = [f"agent {place + 1}" for place in range(9)]
    found = ex.selection.judge(
        material, [2], ["regression"], rng=0, holdout=Holdout(choose_on=tuple(last), draws=5)
    )
    assert np.isnan(found.predicted[0, 0, :9]).all()
    assert np.isfinite(found.predicted[0, 0, 9:]).all()
    assert set(found.predictions("regression", 2).agent) == {
        f"agent {place + 1}" for place in range(9, 14)
    }
    with pytest.raises(ex.InputError, match="No agent is called 'nobody'"):
        ex.selection.judge(
            material, [2], ["regression"], rng=0, holdout=Holdout(choose_on=("nobody",))
        )
    with pytest.raises(ex.InputError, match="none be judged"):
        ex.selection.judge(
            material, [2], ["spread"], rng=0, holdout=Holdout(choose_on=material.agents)
        )


def test_agents_seen_too_little_choose_but_are_not_judged_and_gaps_are_filled_and_said() -> None:
    values = one_factor(12, 10)
    values[2, :3] = np.nan
    values[5, 4] = np.nan
    values[8, 1:] = np.nan
    material = material_of(values)
    assert material.left_out == ("agent 9",)
    assert (
        "1 agent observed on less than 20% of the tasks was left out: 'agent 9'." in material.notes
    )
    assert (
        "1 agent observed on less than 90% of the tasks helps to choose and is not judged: 'agent 3'."
        in material.notes
    )
    found = ex.selection.judge(material, [9], ["spread"], rng=0, holdout=Holdout(draws=5))
    assert any(
        "missing scores of held-out agents on selected tasks were filled" in n for n in found.notes
    )
    assert np.isfinite(found.predicted).all(axis=(0, 1)).tolist() == material.judged.tolist()
    assert material.judged.sum() == 10
    with pytest.raises(ex.InputError, match="Lower the coverage"):
        material_of(np.where(np.eye(6) > 0, np.nan, 1.0) * np.arange(6.0), coverage=0.95)


def test_a_comparison_says_who_changes_the_set_and_how_ranks_change() -> None:
    material = material_of(one_factor(9, 7))
    found = ex.selection.judge(
        material, [2], ["regression", "spread"], rng=0, holdout=Holdout(draws=5)
    )
    for one in found.stability:
        assert one.same == pytest.approx(1 - len(one.changed_by) / 9)
    predictions = found.predictions("regression", 2)
    truth = dict(zip(found.agents, material.values.mean(axis=1), strict=True))
    best = [row.agent for row in predictions if row.true_rank == 1]
    assert best == [max(truth, key=truth.get)]
    assert [row.truth for row in predictions] == pytest.approx(
        [truth[a] for a in predictions.agent]
    )
    with pytest.raises(ex.InputError, match="'anchors' with 2 tasks was not judged"):
        found.row("anchors", 2)
    with pytest.raises(ex.InputError, match="sizes must lie between 1 and 7"):
        ex.selection.judge(material, [8], ["spread"], rng=np.random.default_rng(0))


def test_the_answer_names_a_size_within_the_tolerance_or_says_that_there_is_none() -> None:
    material = material_of(one_factor(16, 8, noise=0.2) + 5)
    run = partial(
        *(ex.selection.judge, material, [1, 3], ["regression"]),
        holdout=Holdout(draws=5, folds=4),
    )
    loose = run(rng=np.random.default_rng(0), tolerance=0.5)
    assert loose.headline.startswith("1 task selected by regression predicts the mean of held-out")
    assert "within the tolerance of 50.0% (R² " in loose.headline
    assert "too few to distinguish good methods" in loose.limits
    strict = run(rng=np.random.default_rng(0), tolerance=1e-6)
    assert strict.headline.startswith(
        "Selected by regression, no judged number of tasks predicts the"
    )


def test_the_answer_on_one_size_speaks_of_that_size_and_on_a_budget_of_the_budget() -> None:
    values = one_factor(16, 8, noise=0.2) + 5
    run = partial(
        ex.selection.judge,
        methods=["regression"],
        holdout=Holdout(draws=5, folds=4),
        tolerance=1e-6,
    )
    one = run(material_of(values), [3], rng=np.random.default_rng(0)).headline
    assert one.startswith("3 tasks selected by regression predict the mean of held-out agents")
    assert "above the tolerance of 0.0%" in one
    single = run(material_of(values), [1], rng=np.random.default_rng(0)).headline
    assert single.startswith("1 task selected by regression predicts the mean")
    bought = material_of(values, constraints=ex.selection.Constraints(budget=3.0, cost=np.ones(8)))
    answer = run(bought, rng=np.random.default_rng(0)).headline
    assert answer.startswith("The tasks that a budget of 3 buys, selected by regression, predict")
    assert "above the tolerance" in answer
    enough = run(bought, rng=np.random.default_rng(0), tolerance=0.5).headline
    assert enough.startswith("The tasks that a budget of 3 buys, selected by regression, predict")
    assert "within the tolerance" in enough


def test_intervals_cover_as_often_as_they_say_on_simulated_agents() -> None:
    """Gaussian agents, tasks chosen by regression on each sample: nine of ten new agents lie inside."""
    inside = []
    for seed in range(12):
        values = one_factor(90, 8, seed)
        material = material_of(values[:40])
        kept = ex.selection.select(material, 3, "regression", rng=0)
        said = kept.predictor.aggregate(values[40:, list(kept.chosen.columns)], 0.9)
        low, high = said.low, said.high
        truth = values[40:].mean(axis=1)
        inside.append(((low <= truth) & (truth <= high)).mean())
    assert 0.85 <= np.mean(inside) <= 0.95


def published() -> tuple[ex.Results, dict[str, str]]:
    if not PUBLISHED.exists():
        pytest.skip(f"{PUBLISHED.name} lies beside the checkout only, and is not there")
    with PUBLISHED.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    scores = np.array([[float(value) for value in row[1:]] for row in rows])
    results = ex.Results.from_numpy(scores, [row[0] for row in rows], header[1:])
    return results, {row[0]: row[0].split("_")[0] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("by_paper", [False, True])
def test_best_of_leaves_under_half_the_error_of_random_sets_on_published_scores(
    by_paper: bool,
) -> None:
    results, papers = published()
    material = ex.selection.benchmark(
        results, ex.Recipe(transform="log", floor=1.0), families=papers if by_paper else None
    )
    found = ex.selection.judge(material, [5], rng=0, holdout=Holdout(draws=200, reps=2))
    best, random = found.row("best_of", 5), found.row("random", 5)
    assert 1 - best.r2.value <= 0.45 * (1 - random.r2.value)
    assert 0.85 <= best.coverage <= 0.95
    assert best.optimistic_r2 > best.r2.value


def test_a_benchmark_says_where_agents_may_be_alike_or_cannot_be_compared() -> None:
    rng = np.random.default_rng(0)
    alike = ex.selection.benchmark(ex.Results.from_numpy(rng.random((8, 9))))
    assert any("not shown to differ" in note for note in alike.notes)
    able = rng.random((8, 9)) + np.arange(8)[:, None]
    assert not any(
        "not shown to differ" in note
        for note in ex.selection.benchmark(ex.Results.from_numpy(able)).notes
    )
    able[:4, :5], able[4:, 5:] = np.nan, np.nan
    apart = ex.selection.benchmark(ex.Results.from_numpy(able), coverage=0.3)
    assert any("2 groups that share no task" in note for note in apart.notes)

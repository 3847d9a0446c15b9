"""Selection from very large tables: some agents settle what a part can, and one fit serves all tasks."""

import numpy as np
import pytest

import examiner as ex
from examiner.selection import Holdout, benchmark, judge, place, select
from examiner.selection.factors import Centred
from examiner.selection.proof.holdout import usual_folds
from examiner.selection.resampling import sampled_agents
from examiner.selection.ridge import Design, fits_of_targets, ridge_fits


def table(agents: int, tasks: int, seed: int = 0) -> np.ndarray:
    """Scores with one factor."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(agents, 1)) + rng.normal(size=(agents, tasks))


def test_all_tasks_are_regressed_as_each_alone() -> None:
    values = table(40, 9)
    design = Design.of(values)
    chosen = np.array([1, 4, 7])
    found = fits_of_targets(design.values[:, chosen], values)
    each = ridge_fits(design.values, values.T, np.tile(chosen, (9, 1)))
    np.testing.assert_allclose(found.mean, each.mean)
    np.testing.assert_allclose(found.beta, each.beta, atol=1e-12)
    np.testing.assert_allclose(found.error, np.sqrt((each.left_out**2).mean(axis=1)), atol=1e-12)


def test_the_first_components_are_those_of_all(monkeypatch) -> None:
    for shape in ((30, 50), (50, 30)):
        known = Centred.of(table(*shape))
        size, right = known.components(3)
        monkeypatch.setattr("examiner.selection.factors.SMALL_TABLE", 5)
        few_size, few_right = known.components(3)
        monkeypatch.undo()
        np.testing.assert_allclose(few_size, size, rtol=1e-10)
        np.testing.assert_allclose(np.abs((few_right * right).sum(axis=1)), 1.0, rtol=1e-8)


def test_the_sample_holds_whole_families(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.resampling.MOST_CELLS", 100)
    monkeypatch.setattr("examiner.selection.resampling.FEWEST_AGENTS", 10)
    families = np.arange(60) // 3
    sample = sampled_agents(families, 10)
    assert 10 <= sample.sum() <= 12
    drawn = families[sample]
    assert (np.bincount(drawn)[drawn] == 3).all()


def test_the_sample_does_not_depend_on_the_order_of_rows(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.resampling.MOST_CELLS", 100)
    monkeypatch.setattr("examiner.selection.resampling.FEWEST_AGENTS", 10)
    values, order = table(60, 10), np.random.default_rng(0).permutation(60)
    first, second = (benchmark(ex.Results.from_numpy(rows)) for rows in (values, values[order]))
    assert 0 < first.sample.sum() < 60
    np.testing.assert_array_equal(first.sample[order], second.sample)


@pytest.fixture
def very_large(monkeypatch) -> None:
    """Tables of more than 1,800 cells count as very large."""
    monkeypatch.setattr("examiner.selection.resampling.MOST_CELLS", 1800)
    monkeypatch.setattr("examiner.selection.resampling.FEWEST_AGENTS", 30)


def test_a_very_large_table_is_settled_by_its_sample(very_large) -> None:
    results = ex.Results.from_numpy(table(120, 20))
    found = select(results, 3)
    assert any("90 of its 120 agents, taken evenly" in note for note in found.notes)
    assert np.isfinite(found.predictor.held_out).sum() == 90
    few = results.where(np.isin(np.array(results.tasks)[results.task_codes], found.chosen.tasks))
    placed = place(few, found)
    inside = [
        placed[agent].predicted_low <= truth <= placed[agent].predicted_high
        for agent, truth in zip(found.predictor.agents, found.predictor.truth, strict=True)
    ]
    assert np.mean(inside) > 0.8


def test_very_large_tables_are_judged_in_five_folds() -> None:
    assert usual_folds(120, 60, 120) == 10
    assert usual_folds(1000, 60, 1000) == 5


def test_the_validation_of_a_very_large_table_uses_its_sample_and_errs_to_the_safe_side(
    monkeypatch,
) -> None:
    results, recipe = ex.Results.from_numpy(table(240, 60)), ex.Recipe(normaliser=None)
    exact = judge(benchmark(results, recipe), [6], ["covariance"], holdout=Holdout(5, draws=5))
    monkeypatch.setattr("examiner.selection.resampling.MOST_CELLS", 3600)
    monkeypatch.setattr("examiner.selection.resampling.FEWEST_AGENTS", 30)
    found = judge(benchmark(results, recipe), [6], ["covariance"], holdout=Holdout(5, draws=5))
    assert sum("60 of its 240 agents" in note for note in found.notes) == 1
    assert not any("of its 240 agents" in note for note in exact.notes)
    assert np.isfinite(found.predicted).all()  # everybody was held out once
    errors = [one.row("covariance", 6).mae for one in (exact, found)]
    assert 0.95 < errors[1] / errors[0] < 1.5


def test_reasons_are_told_of_more_tasks_than_distances_fit_for(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.evidence.MOST_TASKS", 10)
    whole = benchmark(ex.Results.from_numpy(1 / (1 + np.exp(-table(30, 20)))))
    chosen = select(whole, 2, rng=0)
    assert chosen.reasons is not None
    similar = chosen.reasons.similar
    for task, column in zip(chosen.tasks.task, chosen.chosen.columns, strict=True):
        own = np.corrcoef(whole.values.T)[column]
        best = np.sort(np.delete(own, list(chosen.chosen.columns)))[::-1][:3]
        np.testing.assert_allclose([row.correlation for row in similar if row.task == task], best)

"""Selection from very large tables: some agents settle what a part can, and one fit serves all tasks."""

import numpy as np

import examiner as ex
from examiner.selection import Holdout, benchmark, compare, folds_of_proof, place, select
from examiner.selection.factors import Centred
from examiner.selection.ridge import Design, fits_of_targets, ridge_fits
from examiner.selection.sampled import agents_within, some_families


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


def test_families_are_drawn_whole(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.sampled.MOST_CELLS", 100)
    monkeypatch.setattr("examiner.selection.sampled.FEWEST_AGENTS", 10)
    families = [f"family {number // 3}" for number in range(60)]
    some = some_families(families, 10, np.random.default_rng(0))
    assert agents_within(60, 10) == 10
    assert 10 <= len(some) <= 12
    drawn = [families[row] for row in some]
    assert all(families.count(name) == drawn.count(name) for name in drawn)


def test_a_very_large_table_is_settled_by_some_agents(monkeypatch) -> None:
    results = ex.Results.from_numpy(table(60, 20))
    usual = select(results, 3, rng=0)
    monkeypatch.setattr("examiner.selection.sampled.MOST_CELLS", 600)
    monkeypatch.setattr("examiner.selection.sampled.FEWEST_AGENTS", 30)
    found = select(results, 3, rng=0)
    assert any("30 of its 60 agents settled" in note for note in found.notes)
    assert np.isfinite(found.predictor.held_out).sum() == 30
    assert not any("settled" in note for note in usual.notes)
    few = results.where(np.isin(np.array(results.tasks)[results.task_codes], found.tasks))
    truth = found.predictor.truth
    inside = [
        told.low <= own <= told.high for told, own in zip(place(few, found), truth, strict=True)
    ]
    assert np.mean(inside) > 0.8


def test_very_large_tables_are_judged_in_five_folds(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.proof.holdout.VERY_MANY_CELLS", 1000)
    found = folds_of_proof(benchmark(ex.Results.from_numpy(table(120, 60))))
    assert (found.folds, found.repeats) == (5, 0)
    assert "Judged in 5 folds" in found.note


def test_the_proof_of_a_very_large_table_chooses_on_some_agents_and_errs_to_the_safe_side(
    monkeypatch,
) -> None:
    results = ex.Results.from_numpy(table(240, 60))
    how = {"rng": 0, "holdout": Holdout(5, repeats=0, draws=5)}
    exact = compare(results, [6], ["covariance"], **how)
    monkeypatch.setattr("examiner.selection.sampled.MOST_CELLS", 6000)
    monkeypatch.setattr("examiner.selection.sampled.PROOF_CELLS", 3600)
    monkeypatch.setattr("examiner.selection.sampled.FEWEST_AGENTS", 30)
    found = compare(results, [6], ["covariance"], **how)
    assert any("60 agents chose" in note for note in found.notes)
    assert not any("agents chose" in note for note in exact.notes)
    assert np.isfinite(found.predicted).all()  # everybody was held out once
    errors = [one.row("covariance", 6).mae.value for one in (exact, found)]
    assert 0.95 < errors[1] / errors[0] < 1.5


def test_reasons_are_told_of_more_tasks_than_distances_fit_for(monkeypatch) -> None:
    monkeypatch.setattr("examiner.selection.evidence.MOST_TASKS", 10)
    whole = benchmark(ex.Results.from_numpy(1 / (1 + np.exp(-table(30, 20)))))
    chosen = select(whole, 2, rng=0)
    for why, column in zip(ex.selection.reasons(whole, chosen), chosen.chosen.columns, strict=True):
        own = np.corrcoef(whole.values.T)[column]
        best = np.sort(np.delete(own, list(chosen.chosen.columns)))[::-1][:3]
        np.testing.assert_allclose([value for _, value in why.alike], best)

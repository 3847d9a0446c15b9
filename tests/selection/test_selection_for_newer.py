"""Tasks for agents that are newer and better than those they are selected on."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.messages import InputError
from examiner.selection import METHODS, Holdout, benchmark, fold_of, place, select, select_and_judge


def won(agents: int = 60, tasks: int = 80, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    """Successes of agents of rising ability, on tasks of all difficulties."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(-1.5, 1.5, agents) + shift
    difficulty = np.random.default_rng(99).normal(0.5, 1.3, size=tasks)
    slope = np.random.default_rng(98).lognormal(0.0, 0.4, size=tasks)
    chance = 1 / (1 + np.exp(-slope * (ability[:, None] - difficulty)))
    return (rng.random(chance.shape) < chance).astype(float)


def dated(values: np.ndarray) -> ex.Results:
    """Results whose agents have dates, the best the latest."""
    results = ex.Results.from_numpy(values)
    dates = {agent: f"{2000 + number}" for number, agent in enumerate(results.agents)}
    frame = results.to_polars().with_columns(date=pl.col("agent").replace_strict(dates))
    return ex.Results.from_frame(frame, measures=["score"])


def test_a_stratum_of_each_difficulty_has_a_task() -> None:
    whole = benchmark(ex.Results.from_numpy(won()), examined="newer")
    evidence = fold_of(whole, whole.everyone, ()).evidence
    chosen = METHODS["strata"].select(evidence, 8, np.random.default_rng(0)).columns
    place_of = np.argsort(np.argsort(-evidence.values.mean(axis=0), kind="stable"))
    assert sorted(place_of[list(chosen)] // 10) == pytest.approx(list(range(8)), abs=1)


def test_the_method_and_the_prediction_follow_from_who_will_be_examined() -> None:
    results = ex.Results.from_numpy(won())
    same, newer = (select(benchmark(results, examined=who), 5) for who in ("same", "newer"))  # type: ignore[arg-type]
    assert (same.method, newer.method) == ("covariance", "strata")
    assert same.predictor.curves is not None and not same.predictor.curves.alone
    assert newer.predictor.curves is not None and newer.predictor.curves.alone
    with pytest.raises(InputError, match="older"):
        benchmark(results, examined="older")  # type: ignore[arg-type]


def test_intervals_cover_agents_that_are_better_than_all_seen() -> None:
    inside = []
    for seed in range(3):
        newer = select(benchmark(ex.Results.from_numpy(won(seed=seed)), examined="newer"), 20)
        later = ex.Results.from_numpy(won(30, seed=50 + seed, shift=1.5))
        few = later.where(np.isin(np.array(later.tasks)[later.task_codes], newer.chosen.tasks))
        placed, truth = place(few, newer).agents, won(30, seed=50 + seed, shift=1.5).mean(axis=1)
        by_name = dict(zip(later.agents, truth, strict=True))
        true = np.array([by_name[agent] for agent in placed.agent])
        inside.append((placed.predicted_low <= true) & (true <= placed.predicted_high))
    assert np.mean(inside) > 0.85  # 90 % intervals


def test_the_full_set_is_predicted_exactly() -> None:
    values = won(30, 12)
    results = ex.Results.from_numpy(values)
    chosen = select(benchmark(results, examined="newer"), 12)
    predicted = chosen.predictor.aggregate(
        values[:, [results.tasks.index(task) for task in chosen.chosen.tasks]]
    )
    np.testing.assert_allclose(predicted.value, values.mean(axis=1), atol=1e-9)


def test_the_best_and_the_newest_third_are_held_out_next_to_simple_ways() -> None:
    selected = select_and_judge(dated(won()), 10, holdout=Holdout(4, draws=5))
    assert selected.beyond is not None
    rows = [(row.held_out, row.prediction) for row in selected.beyond]
    ways = ["selection", "random + mean", "random + ridge", "random + Rasch"]
    assert rows == [(held, way) for held in ("best third", "newest third") for way in ways]
    assert np.isfinite(selected.beyond.mae).all()
    assert "best third" in selected.beyond.sentence()
    assert any("newer agents" in note for note in selected.notes)


def test_without_dates_only_the_best_third_is_held_out() -> None:
    selected = select_and_judge(ex.Results.from_numpy(won(40)), 5, holdout=Holdout(4, draws=5))
    assert selected.beyond is not None
    assert set(selected.beyond.held_out) == {"best third"}


def test_agents_beyond_those_selected_on_are_said_to_have_unknown_intervals() -> None:
    same = select(benchmark(ex.Results.from_numpy(won()), examined="same"), 10)
    later = ex.Results.from_numpy(won(10, seed=3, shift=3.0))
    few = later.where(np.isin(np.array(later.tasks)[later.task_codes], same.chosen.tasks))
    assert any("coverage of intervals is not known" in note for note in place(few, same).notes)

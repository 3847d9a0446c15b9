"""Tiny versions: their record is true of simulated agents, and an evaluation stops when enough is known."""

from __future__ import annotations

import asyncio
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import examiner as ex
from examiner.selection import Alarm, stop_when_sure
from examiner.selection.early_stopping import EarlyStopping
from examiner.selection.record import alarm_at

QUICK = ex.selection.Holdout(5, draws=10)


def solved(agents: int, tasks: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = 2 * (rng.normal(size=(agents, 1)) - np.linspace(-2, 2, tasks))
    return (rng.random((agents, tasks)) < 1 / (1 + np.exp(-level))).astype(float)


def test_alarms_are_counted_over_all_pairs():
    off = np.random.default_rng(0).normal(size=9)
    pairs = [off[j] - off[i] for i in range(9) for j in range(9) if i != j]
    found = alarm_at(off, 0.8)
    assert found.false == pytest.approx(np.mean([change <= -0.4 for change in pairs]))
    assert found.missed == pytest.approx(np.mean([change > 0.4 for change in pairs]))


def test_rates_and_their_errors_are_those_of_normal_errors():
    """Errors N(0, s²): rates are Φ(−d / (2 √2 s)), and the error stated is their spread over tables."""
    from scipy.special import ndtr

    rng = np.random.default_rng(1)
    made = [alarm_at(0.03 * rng.normal(size=40), 0.05) for _ in range(400)]
    rates = np.array([one.false for one in made])
    assert rates.mean() == pytest.approx(ndtr(-0.05 / (2 * np.sqrt(2) * 0.03)), abs=0.005)
    assert np.mean([one.error for one in made]) == pytest.approx(rates.std(), rel=0.15)


def test_the_record_holds_for_agents_that_were_never_seen():
    """Six tables, made of 40 agents and judged on 300 others: on average as the records state."""
    error, inside, apart, apart_best = [], [], [], []
    for seed in range(20, 26):
        values = solved(340, 40, seed)
        results = ex.Results.from_numpy(values[:40])
        tiny = ex.selection.distil(results, 12, rng=0, holdout=QUICK)
        assert tiny.record is not None
        columns = [int(task.removeprefix("task ")) - 1 for task in tiny.chosen.tasks]
        truth = values[40:].mean(axis=1)
        said = tiny.predictor.aggregate(values[40:, columns])
        error.append(np.abs(said.value - truth).mean() / tiny.record.error)
        inside.append(((said.low <= truth) & (truth <= said.high)).mean())
        seen, stated = alarm_at(said.value - truth, 0.05), tiny.record.alarms[-1]
        assert isinstance(stated, Alarm)
        apart.append((seen.missed - stated.missed) / np.hypot(seen.error, stated.error))
        best = truth >= np.sort(truth)[-100]
        seen, stated = alarm_at((said.value - truth)[best], 0.05), tiny.record.alarms_of_best[-1]
        apart_best.append((seen.missed - stated.missed) / np.hypot(seen.error, stated.error))
    assert 0.8 < np.mean(error) < 1.2
    # 40 agents bound nine of ten of others to within 0.046, one table by itself
    assert 0.9 - 3 * 0.046 / np.sqrt(6) < np.mean(inside) < 0.97
    assert abs(np.mean(apart)) < 3 / np.sqrt(6)
    assert abs(np.mean(apart_best)) < 3 / np.sqrt(6)


def test_points_are_of_the_range_where_scores_are_not_shares():
    values = 50 * np.random.default_rng(3).normal(size=(20, 8))
    whole = ex.selection.benchmark(ex.Results.from_numpy(values), ex.Recipe())
    tiny = ex.selection.distil(whole, 3, rng=0, holdout=QUICK)
    assert tiny.record is not None
    drops = [one.drop for one in tiny.record.alarms]
    assert drops != pytest.approx([0.01, 0.02, 0.05])
    assert drops == pytest.approx([drops[0], 2 * drops[0], 5 * drops[0]])


class EarlyStop(NamedTuple):
    id: str | int
    epoch: int
    reason: str


class Scored(NamedTuple):
    value: object


class SampleScore(NamedTuple):
    score: Scored


@pytest.fixture
def inspect_ai(monkeypatch):
    """The two names of inspect_ai that are needed; a letter C is right."""
    for name, members in {
        "inspect_ai": {},
        "inspect_ai.util": {"EarlyStop": EarlyStop},
        "inspect_ai.scorer": {"value_to_float": lambda: lambda value: float(value == "C")},
    }.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)


def evaluate(early: EarlyStopping, answers: dict[int, str], scorers: tuple[str, ...] = ("match",)):
    async def run() -> tuple[list[EarlyStop], dict[str, object]]:
        assert await early.start_task(object(), [], 1) == "examiner"
        stops = []
        for sample, letter in answers.items():
            stop = await early.schedule_sample(sample, 1)
            if stop is None:
                scores = {name: SampleScore(Scored(letter)) for name in scorers}
                await early.complete_sample(sample, 1, scores)
            else:
                stops.append(stop)
        return stops, await early.complete_task()

    return asyncio.run(run())


def test_an_evaluation_runs_chosen_samples_until_it_is_sure(inspect_ai):
    values = solved(60, 40, 4)
    names = [f"quiz/{number}" for number in range(40)]
    tiny = ex.selection.distil(ex.Results.from_numpy(values, tasks=names), 15, rng=0, holdout=QUICK)
    answers = {number: "C" if value else "I" for number, value in enumerate(values[7])}
    stops, known = evaluate(stop_when_sure(tiny, within=1e-6), answers)
    assert known["samples"] == 15
    assert {stop.reason for stop in stops} == {"not among the chosen samples"}
    whole = ex.selection.place(ex.Results.from_numpy(values[7:8], tasks=names), tiny)[0]
    chosen = ex.Results.from_numpy(values[7:8], tasks=names).where(
        np.isin(np.arange(40), [names.index(task) for task in tiny.chosen.tasks])
    )
    placed = ex.selection.place(chosen, tiny)[0]
    assert whole.observed and not placed.observed
    assert (known["predicted"], known["low"], known["high"]) == pytest.approx(
        (placed.predicted, placed.predicted_low, placed.predicted_high)
    )
    stops, sooner = evaluate(stop_when_sure(tiny, within=0.25), answers)
    assert 0 < sooner["samples"] < 15
    assert "the score is known within 0.25" in {stop.reason for stop in stops}


def test_what_cannot_be_told_apart_is_refused(inspect_ai):
    values = solved(30, 12, 5)
    tasks = [f"{part}/{number}" for part in "ab" for number in range(6)]
    tiny = ex.selection.distil(ex.Results.from_numpy(values, tasks=tasks), 11, rng=0, holdout=QUICK)
    with pytest.raises(ex.InputError, match="several of the chosen tasks"):
        stop_when_sure(tiny, within=0.1)
    with pytest.raises(ex.InputError, match="number above 0"):
        stop_when_sure(tiny, within=0.0)
    one = ex.selection.distil(ex.Results.from_numpy(values), 4, rng=0, holdout=QUICK)
    early = stop_when_sure(one, within=0.01)
    with pytest.raises(ex.InputError, match="several scorers"):
        evaluate(early, dict.fromkeys(one.chosen.tasks, "C"), ("match", "judge"))  # type: ignore[misc]

"""Intervals of predictions: as often right as they say, for agents like those seen and unlike them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.selection.intervals import PredictionCalibration, Reach, at_the_ends, calibrated

RNG = np.random.default_rng


@given(agents=st.integers(2, 60), tenths=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_the_half_width_is_the_order_statistic_of_split_conformal_prediction(
    agents: int, tenths: int, seed: int
) -> None:
    """The ⌈(1 − α)(n + 1)⌉-th smallest |y − u| (Vovk, Gammerman & Shafer, 2005), in whole numbers."""
    truth, said = RNG(seed).normal(size=(2, agents))
    found = calibrated(truth, said, 1 - tenths / 10)
    off = sorted(np.abs(truth - found.unshrunk(said)).tolist())
    rank = -(-(10 - tenths) * (agents + 1) // 10)
    assert found.half == (pytest.approx(off[rank - 1]) if rank <= agents else np.inf)


def test_the_pull_towards_the_mean_is_undone_for_agents_of_another_population() -> None:
    """Predictions that follow the truth by half cover agents two deviations up only without their pull."""
    rng = RNG(1)

    def said_of(truth: np.ndarray) -> np.ndarray:
        return 0.6 * truth + 0.2 * rng.normal(size=truth.shape)

    seen = rng.normal(size=300)
    calibration = calibrated(seen, said_of(seen), 0.9)
    better = 1.5 + 0.3 * rng.normal(size=2000)
    found = calibration.interval(said_of(better), Reach())
    # At least the level: the interval also contains that of agents like those seen.
    assert 0.88 < np.mean((found.low <= better) & (better <= found.high)) < 0.96
    pulled = calibrated(seen, said_of(seen), 0.9)._replace(slope=1.0)
    narrow = pulled.interval(said_of(better), Reach())
    assert np.mean((narrow.low <= better) & (better <= narrow.high)) < 0.8


def test_intervals_grow_towards_the_ends_and_beyond_them() -> None:
    known = PredictionCalibration(0.0, 1.0, 0.1, (-1.0, 1.0), (-2.0, 2.0))
    inside, above, beyond = (
        known.interval(np.array([value]), Reach(0.0, 0.5)) for value in (0.0, 1.5, 3.0)
    )
    assert inside.high[0] == pytest.approx(0.1)
    assert above.high[0] == pytest.approx(1.5 + 0.1 + 0.25)
    assert above.low[0] == pytest.approx(1.4), "only the outer side grows"
    assert beyond.low[0] == pytest.approx(3.0 - 0.1 - 0.5), "and both beyond all agents"
    assert (inside.beyond[0], above.beyond[0], beyond.beyond[0]) == (False, False, True)


def test_relatives_of_the_best_are_held_out_with_them() -> None:
    upper, lower = at_the_ends(np.arange(8.0), np.array([0, 1, 2, 3, 4, 5, 0, 7]))
    assert np.flatnonzero(upper[1]).tolist() == [0, 6, 7]
    assert np.flatnonzero(lower[1]).tolist() == [0, 1, 6]


def test_agents_better_than_all_seen_are_covered_and_said_to_lie_beyond() -> None:
    """Chosen on the lower three quarters of agents under a Rasch model, judged on the upper one."""
    inside, named = [], []
    for seed in range(4):
        rng = RNG(seed)
        chance = 1 / (1 + np.exp(rng.normal(size=60) * 1.2 - np.sort(rng.normal(size=80))[:, None]))
        results = ex.Results.from_numpy((rng.random(chance.shape) < chance).astype(float))
        truth = results.measure().reshape(80, 60).mean(axis=1)
        order = np.argsort(truth, kind="stable")
        new = np.isin(results.agent_codes, order[60:])
        kept = ex.selection.select(results.where(~new), 15, rng=0)
        run = np.isin(results.task_codes, [results.tasks.index(task) for task in kept.chosen.tasks])
        for placed in ex.selection.place(results.where(new & run), kept).agents:
            own = truth[results.agents.index(placed.agent)]
            inside.append(placed.predicted_low <= own <= placed.predicted_high)
            named.append(placed.beyond)
    assert np.mean(inside) > 0.85
    assert 0.1 < np.mean(named) < 1.0

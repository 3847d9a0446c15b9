"""Wins by their mean and deviation, as papers/004 prints its equations."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.information import ChannelModel, Noise

WINS = np.array([[[0, 0, 0, 1, 1]], [[1, 1, 1, 1, 0]], [[0, 1, 0, 0, 0]]], dtype=float)


def printed(means: np.ndarray, deviations: np.ndarray) -> float:
    """Equations 1 and 3, written out."""
    count, entropy = len(means), 0.0
    for seen in range(count):
        spread = deviations + deviations[seen]
        likely = np.exp(-((means[seen] - means) ** 2) / (2 * spread**2)) / np.sqrt(
            2 * np.pi * spread**2
        )
        likely /= likely.sum()
        entropy -= (likely * np.log2(likely)).sum() / count
    return float(np.log2(count) - entropy)


def test_bits_of_literal_wins_are_the_papers_equations() -> None:
    results = ex.Results.from_numpy(WINS)
    model = ChannelModel(Noise(literal_wins=True))
    wanted = printed(WINS[:, 0].mean(axis=1), WINS[:, 0].std(axis=1, ddof=1))
    found = ex.information.gain(ex.information.channels(results, model=model))
    assert found.tasks[0].bits == pytest.approx(wanted, abs=1e-12)
    smoothed = ex.information.gain(ex.information.channels(results))
    assert smoothed.tasks[0].bits != pytest.approx(wanted, abs=1e-3)


def test_agents_that_always_win_or_lose_are_told_apart_for_certain_only_literally() -> None:
    certain = np.repeat(np.array([0.0, 1.0])[:, None, None], 3, axis=2)
    results = ex.Results.from_numpy(certain)
    model = ChannelModel(Noise(literal_wins=True))
    literal = ex.information.gain(ex.information.channels(results, model=model))
    assert literal.tasks[0].bits == pytest.approx(1.0)
    assert ex.information.gain(results).tasks[0].bits < 0.9

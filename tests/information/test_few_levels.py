"""Cells with few levels: the same bits as by looking at every pair, and screens that find the best."""

import numpy as np
import pytest

import examiner as ex
from examiner.information import (
    ChannelModel,
    Noise,
    PairLikelihood,
    analyse,
    best_set,
    bits_with,
    channels,
    gain,
    separation,
)

MODELS = [
    ChannelModel(),
    ChannelModel(Noise("mean")),
    ChannelModel(Noise(literal_wins=True)),
    ChannelModel(Noise(deviations="pooled", literal_wins=True)),
    ChannelModel(spread="quadrature"),
    ChannelModel(exact=True),
]


def wins(agents: int, tasks: int, trials: int, seed: int = 0) -> np.ndarray:
    """Zeros and ones of agents that differ, some cells missing and one task always won."""
    rng = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-rng.normal(size=(agents, 1)) * 1.5 - rng.normal(size=tasks)))
    won = (rng.random((agents, tasks, trials)) < chance[:, :, None]).astype(float)
    won[rng.random((agents, tasks)) < 0.1] = np.nan
    won[:, 0] = 1.0
    return won


@pytest.fixture
def pair_by_pair(monkeypatch):
    """Switch levels off: every pair of agents is looked at."""
    return lambda: monkeypatch.setattr("examiner.information.pairs.MOST_LEVELS", 0)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_bits_by_levels_are_those_by_pairs(model, pair_by_pair) -> None:
    made = channels(ex.Results.from_numpy(wins(30, 12, 3)), None, model)
    pairs = PairLikelihood(made)
    assert (pairs.levels < 30) == (not model.exact)
    found = gain(made).tasks.bits, bits_with(pairs, pairs.table([3, 4])), pairs.table(range(12))
    pair_by_pair()
    pairs = PairLikelihood(made)
    expected = gain(made).tasks.bits, bits_with(pairs, pairs.table([3, 4])), pairs.table(range(12))
    for by_levels, by_pairs in zip(found, expected, strict=True):
        np.testing.assert_allclose(by_levels, by_pairs, atol=1e-12)


def test_pairs_separated_by_levels_are_those_by_pairs(pair_by_pair) -> None:
    made = channels(ex.Results.from_numpy(wins(30, 12, 8)), None, ChannelModel(Noise("mean")))
    found = separation(made)
    pair_by_pair()
    expected = separation(made)
    assert found.pairs_of_task.sum() > 0
    for name in ("pairs_of_task", "tasks_of_pair", "best_task"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.together, expected.together, atol=1e-12)
    assert found.never == expected.never


def test_two_measures_have_levels_together(pair_by_pair) -> None:
    rng = np.random.default_rng(0)
    table = {
        "agent": np.repeat([f"a{n}" for n in range(25)], 12).tolist(),
        "task": np.tile(np.repeat(["t", "u", "v"], 4), 25).tolist(),
        "trial": np.tile(np.arange(4), 75).tolist(),
        "run": [0] * 300,
        "win": rng.integers(2, size=300).tolist(),
        "alive": np.tile(np.repeat([0, 1], 2), 75).tolist(),
    }
    results = ex.Results.from_dict(table, measures=["win", "alive"])
    made = channels(results, ["win", "alive"])
    assert PairLikelihood(made).levels < 25
    found = gain(made).tasks.bits
    pair_by_pair()
    np.testing.assert_allclose(found, gain(made).tasks.bits, atol=1e-12)


def test_scores_that_all_differ_have_no_levels() -> None:
    made = channels(ex.Results.from_numpy(np.random.default_rng(0).normal(size=(30, 4, 5))))
    assert PairLikelihood(made).levels == 30


@pytest.mark.parametrize("scores", [False, True], ids=["wins", "scores"])
def test_screening_finds_nearly_the_best_set(scores, monkeypatch) -> None:
    given = wins(80, 60, 4)
    if scores:
        given = given + 0.3 * np.random.default_rng(1).normal(size=given.shape)
    made = channels(ex.Results.from_numpy(given))
    best = best_set(made, 4)
    monkeypatch.setattr("examiner.information.sets.is_large", lambda *shape: True)
    screened = best_set(made, 4)
    assert screened.bits <= best.bits + 1e-12
    assert screened.bits > 0.98 * best.bits


def test_a_large_table_says_how_its_set_was_found(monkeypatch) -> None:
    for file in ("sets", "uncertainty", "analysis", "analysis_notes"):
        monkeypatch.setattr(f"examiner.information.{file}.is_large", lambda *shape: True)
    found = analyse(ex.Results.from_numpy(wins(20, 6, 3)), rng=0, size=2, reps=30)
    assert any("screened by the rows of 64 agents" in note for note in found.notes)
    assert found.test.permutations == 20
    with_interval = {row.task for row in found.tasks if np.isfinite(row.bits_low)}
    assert with_interval == set(found.chosen.task)
    assert (found.chosen.bits_low <= found.chosen.bits).all()

"""Agents compared in pairs: exact tests, intervals that hold, and several tests corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.scores import compare_pairs
from examiner.scores.pairs import Discordance, mcnemar_p, newcombe


def test_mcnemars_test_is_scipys_exact_sign_test():
    for only_a, only_b in [(12, 2), (5, 5), (0, 7), (30, 41)]:
        expected = stats.binomtest(only_a, only_a + only_b).pvalue
        assert mcnemar_p(only_a, only_b) == pytest.approx(expected)


def test_the_paired_interval_is_that_of_the_paper():
    """Newcombe (1998), Table II, method 10."""
    assert newcombe(Discordance(36, 12, 2, 0)) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_the_paired_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.2, 0.1, 0.2])
    truth, covered = shares[1] - shares[2], 0
    for counts in rng.multinomial(60, shares, size=2000):
        low, high = newcombe(Discordance(*counts.tolist()))
        covered += low <= truth <= high
    assert 0.935 <= covered / 2000 <= 0.97


def test_swapping_the_agents_turns_everything_round():
    rng = np.random.default_rng(1)
    table = ex.Results.from_numpy(rng.random((2, 9, 3)), agents=["a", "b"])
    (one,), (other,) = (
        compare_pairs(table, first, [second], rng=0, reps=200) for first, second in ("ab", "ba")
    )
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p == pytest.approx(other.p)
    assert one.improvement.probability == pytest.approx(1 - other.improvement.probability)


def test_the_test_over_tasks_is_scipys_and_several_are_corrected():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(3, 12)) + np.array([[0.0], [0.8], [0.2]])
    table = ex.Results.from_numpy(scores, agents=["a", "b", "c"])
    made = compare_pairs(table, "a", ["b", "c"], rng=0, reps=100)
    raw = [stats.wilcoxon(scores[0], scores[other]).pvalue for other in (1, 2)]
    assert [pair.p for pair in made] == pytest.approx(raw)
    smallest = int(np.argmin(raw))
    assert made[smallest].adjusted == pytest.approx(min(1.0, 2 * raw[smallest]))


@pytest.mark.parametrize(
    ("agent", "others", "message"),
    [("a", [], "Nobody is named"), ("a", ["a"], "named twice"), ("a", ["x"], "Unknown agent 'x'")],
)
def test_odd_choices_are_refused(agent, others, message):
    table = ex.Results.from_numpy(np.ones((2, 3)), agents=["a", "b"])
    with pytest.raises(ex.InputError, match=message):
        compare_pairs(table, agent, others, rng=0)

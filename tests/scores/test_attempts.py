"""Several attempts at each task: pass@k, pass^k, flips and the noise of single evaluations."""

from itertools import combinations

import numpy as np
import pytest

import examiner as ex
from examiner.messages import InputError
from examiner.scores import attempts


def test_pass_k_is_the_mean_over_all_choices_of_k_attempts() -> None:
    won = (np.random.default_rng(0).random((1, 30, 5)) < 0.6).astype(float)
    made = attempts(ex.Results.from_numpy(won)).passed
    for k in range(1, 6):
        chosen = [won[0][:, list(part)] for part in combinations(range(5), k)]
        assert made.pass_hat_k[k - 1] == pytest.approx(
            np.mean([part.all(axis=1) for part in chosen])
        )
        assert made.pass_at_k[k - 1] == pytest.approx(
            np.mean([part.any(axis=1) for part in chosen])
        )


def test_flip_rate_is_the_share_of_pairs_of_attempts_that_differ() -> None:
    won = (np.random.default_rng(1).random((1, 40, 4)) < 0.5).astype(float)
    pairs = [won[0][:, a] != won[0][:, b] for a, b in combinations(range(4), 2)]
    row = attempts(ex.Results.from_numpy(won)).agents[0]
    assert row.flip_rate == pytest.approx(np.mean(pairs))
    assert row.noise_floor == pytest.approx(1.96 * np.sqrt(np.mean(pairs) / 40), rel=1e-4)


def test_two_single_evaluations_exceed_the_noise_floor_in_five_of_a_hundred_cases() -> None:
    rng = np.random.default_rng(2)
    chance = rng.beta(1, 1, 100)
    floors = [
        attempts(ex.Results.from_numpy((rng.random((1, 100, 4)) < chance[:, None]) * 1.0)).agents[0]
        for _ in range(50)
    ]
    floor = np.mean([row.noise_floor for row in floors])
    pairs = (rng.random((4000, 2, 100)) < chance).mean(axis=2)
    assert np.mean(np.abs(pairs[:, 0] - pairs[:, 1]) > floor) == pytest.approx(0.05, abs=0.015)


def test_order_of_attempts_and_tasks_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    won = (rng.random((2, 20, 3)) < 0.5).astype(float)
    plain = attempts(ex.Results.from_numpy(won)).passed
    turned = attempts(ex.Results.from_numpy(won[:, ::-1, ::-1])).passed
    for column in ("pass_hat_k", "pass_at_k_low", "pass_hat_k_high"):
        assert getattr(plain, column) == pytest.approx(getattr(turned, column))


def test_one_attempt_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="Every task has one attempt"):
        attempts(ex.Results.from_numpy([[1.0, 0.0, 1.0]]))


def test_more_attempts_than_there_are_are_refused() -> None:
    won = np.ones((1, 3, 4))
    with pytest.raises(
        InputError, match=r"pass\^5 needs 5 attempts .* has 4 attempts .* Give 1 to 4"
    ):
        attempts(ex.Results.from_numpy(won), k=5)


def test_different_numbers_of_attempts_are_said_and_bound_k() -> None:
    won = np.array([[[1.0, 0.0, 1.0], [1.0, 1.0, np.nan], [0.0, 1.0, 0.0]]])
    made = attempts(ex.Results.from_numpy(won))
    assert made.passed.k.tolist() == [1, 2]
    assert "Attempts differ, from 2 to 3 per task: k goes up to 2." in made.notes
    won[0, 1, 1] = np.nan
    with pytest.raises(InputError, match="there is no k above 1"):
        attempts(ex.Results.from_numpy(won))


def test_scores_that_are_no_successes_are_refused() -> None:
    with pytest.raises(InputError, match="not made of zeros and ones"):
        attempts(ex.Results.from_numpy([[[0.5, 1.0], [2.0, 1.0]]]))


def test_perfect_agents_have_an_interval_below_one() -> None:
    made = attempts(ex.Results.from_numpy(np.ones((1, 20, 3)))).passed
    assert made.pass_hat_k.tolist() == [1.0] * 3
    assert (made.pass_hat_k_low < 0.9).all() and (made.pass_hat_k_high == 1).all()


@pytest.mark.parametrize("success", [0.0, 1.0])
def test_attempts_that_are_all_alike_do_not_show_a_noise_floor_of_zero(success: float) -> None:
    report = attempts(ex.Results.from_numpy(np.full((1, 12, 3), success)))
    assert "must differ by" not in report.headline
    assert "No two attempts at one task had different results" in report.headline

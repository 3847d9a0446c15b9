"""What a new task adds: nothing where it repeats the set, much where it tells of what the set does not."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

AGENTS, RUNS = 40, 4


def results_of(kind: str, seed: int = 0) -> ex.Results:
    """Two abilities; tasks 1 to 3 need the first, 4 to 9 both, and task 10 is the new one."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, AGENTS, 1))
    means = np.concatenate(
        [np.repeat(first, 3, axis=1), np.repeat(first + second, 6, axis=1)], axis=1
    )
    new = {"repeat": first, "new": second, "noise": np.zeros((AGENTS, 1))}[kind]
    table = np.concatenate([means, new], axis=1)[:, :, None] + 0.4 * rng.normal(
        size=(AGENTS, 10, RUNS)
    )
    return ex.Results.from_numpy(table)


SET = ["task 1", "task 2", "task 3"]


def test_a_task_of_another_ability_adds_bits_and_removes_error_beyond_chance() -> None:
    found = ex.selection.adds(results_of("new"), "task 10", SET, rng=0, reps=30)
    assert found.bits.value > 0.3 and found.bits_p_value < 0.05
    assert found.error_removed.value > 0.3 and found.error_p_value < 0.05
    assert found.error_removed.low > 0
    assert found["bits added"].value == found.bits.value
    assert found["error removed"].p_value == found.error_p_value
    assert found.headline.startswith(f"'task 10' adds {found.bits.value:.3g} bits to 3 tasks")
    assert found.r2.value < 0.3


def test_a_task_that_repeats_the_set_is_told_by_it_and_names_what_it_repeats() -> None:
    repeat = ex.selection.adds(results_of("repeat"), "task 10", SET, rng=0, reps=30)
    new = ex.selection.adds(results_of("new"), "task 10", SET, rng=0, reps=30)
    assert repeat.r2.value > 0.85
    similar = {row.task: row for row in repeat.similar}
    assert set(SET) == {task for task, row in similar.items() if row.in_set}
    assert all(similar[task].same_cluster for task in SET)
    assert (np.diff(repeat.similar.correlation) <= 0).all()
    assert repeat.error_removed.value < new.error_removed.value / 3
    assert repeat.bits.value < new.bits.value


def test_noise_adds_nothing_that_chance_would_not() -> None:
    chances = []
    for seed in range(3):
        found = ex.selection.adds(results_of("noise", seed), "task 10", SET, rng=0, reps=30)
        assert found.r2.value < 0.2
        chances.append((found.bits_p_value, found.error_p_value))
    assert np.mean(np.array(chances) < 0.05) < 0.34
    assert np.mean(chances) > 0.2


def test_bits_of_set_and_task_together_are_those_of_the_information_room() -> None:
    results = results_of("new")
    found = ex.selection.adds(results, "task 10", SET, rng=0, reps=5)
    together = ex.information.gain(results, [*SET, "task 10"]).bits
    assert found.bits_set == pytest.approx(ex.information.gain(results, SET).bits, abs=1e-6)
    assert found.bits_set + found.bits.value == pytest.approx(together, abs=1e-6)


def test_beside_all_others_there_is_no_error_outside_and_odd_names_are_refused() -> None:
    found = ex.selection.adds(results_of("new"), "task 10", rng=0, reps=5)
    assert len(found.to) == 9 and np.isnan(found.error_removed.value)
    with pytest.raises(ex.InputError, match="Unknown task 'task 11'"):
        ex.selection.adds(results_of("new"), "task 11", rng=0)
    with pytest.raises(ex.InputError, match="no other task that 'task 1' could add to"):
        ex.selection.adds(results_of("new"), "task 1", ["task 1"], rng=0)


def test_names_in_another_order_give_the_same_bits_and_intervals() -> None:
    turned = {f"task {number}": f"t{99 - number}" for number in range(1, 11)}
    table = results_of("new").to_pandas().replace({"task": turned}).sort_values("task")
    one = ex.selection.adds(results_of("new"), "task 10", SET, reps=10)
    other = ex.selection.adds(table, turned["task 10"], [turned[name] for name in SET], reps=10)
    for row, same in zip(one.quantities, other.quantities, strict=True):
        assert (same.value_low, same.value_high) == pytest.approx(
            (row.value_low, row.value_high), nan_ok=True
        )

"""Seeds that are really used: the same bits on any number of workers, others with another seed."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import examiner as ex

RESULTS = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(3, 8, 4)))


def bounds(seed: int = 0, **options: object) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    made = ex.scores.intervals(
        RESULTS, ["mean", "median", "iqm", "optimality_gap"], rng=rng, reps=5000, **options
    )
    return [made.low, made.high]


@pytest.mark.parametrize("unit", ["runs", "tasks", "both"])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_workers(unit: str) -> None:
    alone = bounds(unit=unit)
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as pool:
            np.testing.assert_array_equal(bounds(unit=unit, map=pool.map), alone)


def test_the_same_seed_gives_the_same_bits_in_other_processes() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        np.testing.assert_array_equal(bounds(map=pool.map), bounds())
        rng = np.random.default_rng(1)
        there = ex.scores.improvement_matrix(RESULTS, rng=rng, reps=3000, map=pool.map)
    here = ex.scores.improvement_matrix(RESULTS, rng=np.random.default_rng(1), reps=3000)
    np.testing.assert_array_equal(there.low, here.low)


def test_another_seed_gives_other_numbers() -> None:
    assert not np.array_equal(bounds(0)[0], bounds(1)[0])


def test_a_generator_that_moves_on_gives_other_numbers() -> None:
    rng = np.random.default_rng(0)
    first, second = (ex.scores.intervals(RESULTS, rng=rng).low for _ in range(2))
    assert not np.array_equal(first, second)


def test_progress_is_told_block_by_block() -> None:
    told: list[tuple[str, int, int]] = []
    bounds(progress=lambda *step: told.append(step))
    assert told == [("resampling", 1, 3), ("resampling", 2, 3), ("resampling", 3, 3)]


def test_memory_is_bounded_in_blocks() -> None:
    import tracemalloc

    results = ex.Results.from_numpy(np.random.default_rng(0).normal(size=(1, 200, 10)))
    peaks = []
    for reps in (2_000, 8_000):
        tracemalloc.start()
        ex.scores.intervals(results, rng=np.random.default_rng(0), reps=reps)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 8_000 * 8 * 8  # only the replicates themselves grow

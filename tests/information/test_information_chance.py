"""Bits by chance, intervals over runs, redundancy, and pairs of agents told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.information import (
    ChannelModel,
    Noise,
    bits_by_chance,
    bits_intervals,
    observe,
    separated_by,
    separation,
)
from examiner.information import (
    redundancy as task_redundancy,
)
from examiner.messages import InputError
from examiner.results import Results


def levels(seed: int, agents: int = 6, tasks: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(agents, tasks)) * 2


def played(level: np.ndarray, trials: int, seed: int = 0) -> Results:
    rng = np.random.default_rng(seed)
    return Results.from_numpy(level[:, :, None] + rng.normal(size=(*level.shape, trials)))


def truth(level: np.ndarray) -> ex.information.Channels:
    """The channels with the means and deviations that the trials were drawn from."""
    agents, tasks = ([f"{kind} {n + 1}" for n in range(count)] for kind, count in zip(
        ("agent", "task"), level.shape, strict=True))  # fmt: skip
    return ex.information.Channels(
        tuple(agents), tuple(tasks), ("score",), level[None], np.ones((1, *level.shape))
    )


def test_identical_agents_stay_within_chance() -> None:
    within = 0
    for seed in range(20):
        results = played(np.zeros((5, 6)), trials=10, seed=seed)
        found = ex.information.analyse(results, rng=np.random.default_rng(seed), size=3, reps=40)
        within += found.chosen.bits <= found.chance.greedy_high[-1]
        assert found.chosen.bits < found.chance.greedy[-1] + 0.3
    assert within >= 16


def test_no_better_than_chance_is_said() -> None:
    same = np.random.default_rng(0).normal(size=(1, 4, 9)).repeat(4, axis=0)
    found = ex.information.analyse(Results.from_numpy(same), rng=np.random.default_rng(0), reps=20)
    assert any("chance alone reaches" in note for note in found.notes)


def test_different_agents_are_above_chance() -> None:
    found = ex.information.analyse(
        played(levels(0), 10), rng=np.random.default_rng(0), size=3, reps=20
    )
    assert (found.chosen.cumulative_bits > found.chance.greedy_high).all()
    assert found.tasks.bits.mean() > 3 * found.chance.task.mean()


def test_chance_grows_with_the_choice_it_includes() -> None:
    seen = observe(played(np.zeros((5, 20)), trials=4))
    chance = bits_by_chance(seen, 4, rng=np.random.default_rng(0), reps=20)
    assert chance.greedy[0] > chance.task.mean()  # the best of twenty, chosen on the same trials
    assert (np.diff(chance.greedy) > 0).all()


def test_chance_and_intervals_do_not_depend_on_anything_but_the_generator() -> None:
    results = played(levels(1), 6)
    first, again = (
        ex.information.analyse(results, rng=np.random.default_rng(7), size=3, reps=10)
        for _ in range(2)
    )
    assert np.array_equal(first.chance.greedy, again.chance.greedy)
    assert np.array_equal(first.intervals.task_low, again.intervals.task_low)


def test_intervals_cover_the_bits_of_the_true_means_and_deviations() -> None:
    level = levels(3)
    exact = ex.information.gain(truth(level)).bits
    covered = []
    for seed in range(25):
        results = played(level, trials=12, seed=seed)
        chosen = ex.information.best_set(ex.information.channels(results), 1)
        ends = bits_intervals(observe(results), chosen, rng=np.random.default_rng(seed), reps=60)
        covered.append((ends.task_low <= exact) & (exact <= ends.task_high))
    assert np.mean(covered) > 0.9


def chosen_set(level: np.ndarray, trials: int, seed: int) -> tuple[float, float, float, float]:
    """The true bits of five tasks chosen on few trials, the bits counted, and the ends of the interval."""
    results = played(level, trials, seed)
    chosen = ex.information.best_set(results, 5)
    ends = bits_intervals(results, chosen, rng=seed, reps=40)
    true = ex.information.set_gain(truth(level), chosen.tasks)
    return true, chosen.bits, float(ends.set_low[-1]), float(ends.set_high[-1])


@pytest.mark.parametrize("tables", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_intervals_of_a_chosen_set_cover_with_five_runs(tables: int) -> None:
    # 5 of 40 tasks: resampling without choosing again held the truth in 20 of 100 tables
    held = []
    for seed in range(tables):
        level = np.random.default_rng(seed).normal(size=(6, 40))
        true, counted, low, high = chosen_set(level, 5, seed)
        assert low <= counted <= high
        held.append(low <= true <= high)
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / tables)


def test_intervals_hold_the_bits_that_were_counted() -> None:
    wins = (np.random.default_rng(0).random((7, 30, 6)) < 0.4).astype(float)
    for results in (Results.from_numpy(wins), played(levels(2, tasks=30), 3)):
        found = ex.information.analyse(results, rng=0, reps=40)
        bits, ends = found.tasks.bits, found.intervals
        known = np.isfinite(bits)
        assert ((ends.task_low <= bits) & (bits <= ends.task_high))[known].all()
        assert ((ends.task_low <= ends.task) & (ends.task <= ends.task_high))[known].all()
        assert ((ends.set_low <= ends.set) & (ends.set <= ends.set_high)).all()


def test_bits_of_identical_agents_may_be_none() -> None:
    found = ex.information.analyse(played(np.zeros((6, 30)), 5), rng=0, reps=60)
    assert found.intervals.set_low[-1] == 0.0
    assert found.intervals.set[-1] < 0.25 * found.chosen.bits


def test_runs_are_the_unit_where_there_are_several() -> None:
    rng = np.random.default_rng(0)
    run = rng.normal(size=(3, 2, 4, 1)) + 0.01 * rng.normal(size=(3, 2, 4, 50))
    agent, task, number, trial = (part.ravel() for part in np.indices(run.shape))
    table = {"agent": agent, "task": task, "run": number, "trial": trial, "score": run.ravel()}
    columns = {name: values.tolist() for name, values in table.items()}
    columns["agent"] = [f"a{n}" for n in columns["agent"]]
    columns["task"] = [f"t{n}" for n in columns["task"]]
    results = Results.from_dict(columns)
    assert observe(results).unit == "run"
    error = ex.information.channels(results, model=ChannelModel(Noise("mean"))).deviation[0]
    expected = run.mean(axis=3).std(axis=2, ddof=1) / 2
    spread = np.ptp(run, axis=(0, 2, 3))
    assert error == pytest.approx(expected / spread, rel=1e-9)


def test_single_trials_have_neither_interval_nor_chance_and_say_so() -> None:
    results = Results.from_numpy(levels(0))
    found = ex.information.analyse(
        results, rng=np.random.default_rng(0), model=ChannelModel(Noise(deviations=0.2))
    )
    assert found.chance is None and found.intervals is None
    assert any("neither intervals nor chance" in note for note in found.notes)


def test_missing_cells_are_said() -> None:
    scores = levels(0)[:, :, None] + np.random.default_rng(1).normal(size=(6, 8, 4))
    scores[0, 0] = np.nan
    found = ex.information.analyse(Results.from_numpy(scores), rng=np.random.default_rng(0), reps=3)
    assert any("1 cell of 48 without a result tell" in note for note in found.notes)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_redundancy_is_symmetric_and_may_be_negative(seed) -> None:
    channels = ex.information.channels(played(levels(seed), 5, seed))
    shared = task_redundancy(channels)
    assert shared == pytest.approx(shared.T)
    for first, second in ((0, 1), (2, 5)):
        names = [channels.tasks[first], channels.tasks[second]]
        alone = sum(ex.information.set_gain(channels, [name]) for name in names)
        together = ex.information.set_gain(channels, names)
        assert shared[first, second] == pytest.approx(alone - together, abs=1e-12)


def test_tasks_that_each_split_other_agents_have_negative_or_little_redundancy() -> None:
    level = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    shared = task_redundancy(truth(level))
    assert abs(shared[0, 1]) < 0.01 and shared[0, 0] > 0.9


def test_pairs_told_apart_are_counted_and_named() -> None:
    level = np.array([[0.0, 0.0], [0.1, 0.0], [20.0, 0.0]])
    channels = truth(level)
    found = separation(channels)
    assert found.pairs_of_task.tolist() == [2, 0]
    assert found.never == (("agent 1", "agent 2"),)
    assert found.best_task[0, 2] == 0 and found.tasks_of_pair[2, 1] == 1
    assert found.together[0, 2] < 1e-6 and found.together[0, 1] > 0.4
    assert separated_by(channels, "task 1") == (("agent 1", "agent 3"), ("agent 2", "agent 3"))
    assert separated_by(channels, "task 2") == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda seen, rng: bits_by_chance(seen, 1, rng=rng, reps=0), "0 replicates"),
        (lambda seen, rng: separation(truth(levels(0)), 0.7), "The threshold is 0.7"),
        (
            lambda seen, rng: ex.information.analyse(played(levels(0), 3), rng=rng, reps=-1),
            "-1 replicates were asked for",
        ),
    ],
)
def test_bad_choices_end_with_a_sentence(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call(observe(played(levels(0), 3)), np.random.default_rng(0))

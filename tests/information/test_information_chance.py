"""Bits by chance, intervals over runs, redundancy, and pairs of agents that tasks separate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.information import ChannelModel, Channels, Noise, observe, separation
from examiner.information import (
    redundancy as task_redundancy,
)
from examiner.information.uncertainty import bits_by_chance, bits_intervals
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
        last = found.chosen[-1]
        within += last.bits <= last.chance_high
        assert last.bits < last.chance_bits + 0.3
    assert within >= 16


def test_no_better_than_chance_is_said() -> None:
    same = np.random.default_rng(0).normal(size=(1, 4, 9)).repeat(4, axis=0)
    found = ex.information.analyse(Results.from_numpy(same), rng=np.random.default_rng(0), reps=20)
    assert any("5 % of permuted results reach" in note for note in found.notes)


def test_different_agents_are_above_chance() -> None:
    found = ex.information.analyse(
        played(levels(0), 10), rng=np.random.default_rng(0), size=3, reps=20
    )
    assert (found.chosen.bits > found.chosen.chance_high).all()
    assert found.tasks.bits.mean() > 3 * found.tasks.chance_bits.mean()


def test_chance_grows_with_the_choice_it_includes() -> None:
    runs = observe(played(np.zeros((5, 20)), trials=4))
    chance = bits_by_chance(runs, 4, ChannelModel(), rng=np.random.default_rng(0), reps=20)
    bits, of_set = chance.tasks["chance_bits"], chance.chosen["chance_bits"]
    assert of_set[0] > bits.mean()  # the best of twenty, chosen on the same trials
    assert (np.diff(of_set) > 0).all()


def test_chance_and_intervals_do_not_depend_on_anything_but_the_generator() -> None:
    results = played(levels(1), 6)
    first, again = (
        ex.information.analyse(results, rng=np.random.default_rng(7), size=3, reps=10)
        for _ in range(2)
    )
    assert first.tasks.to_dict() == again.tasks.to_dict()
    assert first.chosen.to_dict() == again.chosen.to_dict()


def test_intervals_cover_the_bits_of_the_true_means_and_deviations() -> None:
    level = levels(3)
    table = ex.information.gain(truth(level)).tasks
    exact = np.array([table[f"task {n + 1}"].bits for n in range(level.shape[1])])
    covered = []
    for seed in range(25):
        results = played(level, trials=12, seed=seed)
        chosen = ex.information.best_set(ex.information.channels(results), 1)
        ends = bits_intervals(
            observe(results), chosen, ChannelModel(), rng=np.random.default_rng(seed), reps=60
        )
        low, high = ends.tasks["bits_low"], ends.tasks["bits_high"]
        covered.append((low <= exact) & (exact <= high))
    assert np.mean(covered) > 0.9


def chosen_set(level: np.ndarray, trials: int, seed: int) -> tuple[float, float, float, float]:
    """The true bits of five tasks chosen on few trials, the bits counted, and the ends of the interval."""
    results = played(level, trials, seed)
    chosen = ex.information.best_set(results, 5)
    rng = np.random.default_rng(seed)
    ends = bits_intervals(observe(results), chosen, ChannelModel(), rng=rng, reps=40)
    true = ex.information.gain(truth(level), chosen.tasks.task).bits
    low, high = ends.chosen["bits_low"][-1], ends.chosen["bits_high"][-1]
    return true, chosen.bits, float(low), float(high)


@pytest.mark.parametrize("tables", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_intervals_of_a_chosen_set_cover_with_five_runs(tables: int) -> None:
    # 5 of 40 tasks: resampling without choosing again held the truth in 20 of 100 tables
    held = []
    for seed in range(tables):
        level = np.random.default_rng(seed).normal(size=(6, 40))
        true, counted, low, high = chosen_set(level, 5, seed)
        assert low - 1e-12 <= counted <= high + 1e-12
        held.append(low <= true <= high)
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / tables)


@pytest.mark.parametrize(("agents", "trials", "apart"), [(8, 5, 1.0), (6, 10, 2.0)])
def test_intervals_cover_the_bits_of_wins_also_near_zero_and_one(
    agents: int, trials: int, apart: float
) -> None:
    # benchmarks/bits_coverage.py; draws that were smoothed once more covered 43 % of tasks at apart 2
    covered, bias = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        share = 1 / (1 + np.exp(-apart * rng.normal(size=(agents, 30)) - rng.normal(size=30)))
        wins = (rng.random((*share.shape, trials)) < share[:, :, None]).astype(float)
        results = Results.from_numpy(wins)
        deviation = np.sqrt(share * (1 - share))
        truth = Channels(results.agents, results.tasks, ("score",), share[None], deviation[None])
        true = ex.information.gain(truth).tasks
        found = ex.information.analyse(results, rng=0, reps=40).tasks
        bits = np.array([true[task].bits for task in found.task])
        covered.append((found.bits_low <= bits) & (bits <= found.bits_high))
        bias.append(found.corrected_bits - bits)
    assert np.mean(covered) > 0.85
    assert abs(np.mean(bias)) < 0.05  # corrections do not overshoot


def test_bits_of_single_wins_are_not_corrected_beyond_what_they_show() -> None:
    """As on GVGAI: a quarter of the cells have five trials, the others one, and some none."""
    covered, bias = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        share = 1 / (1 + np.exp(-2 * rng.normal(size=(12, 30)) - rng.normal(size=30)))
        trials = rng.choice([0, 1, 5], p=[0.1, 0.65, 0.25], size=share.shape)
        wins = (rng.random((*share.shape, 5)) < share[:, :, None]).astype(float)
        wins[np.arange(5) >= trials[:, :, None]] = np.nan
        results = Results.from_numpy(wins)
        smoothed = np.where(trials > 0, (share * trials + 0.5) / (trials + 1), np.nan)[None]
        deviation = np.sqrt(smoothed * (1 - smoothed))
        truth = Channels(results.agents, results.tasks, ("score",), smoothed, deviation)
        found = ex.information.analyse(results, rng=0, size=5, reps=20)
        true = ex.information.gain(truth, found.chosen.task).bits
        covered.append(found.chosen.bits_low[-1] <= true <= found.chosen.bits_high[-1])
        bias.append(found.chosen.corrected_bits[-1] - true)
        assert any("30 tasks" in note and "single trial" in note for note in found.notes)
    assert all(covered)
    assert abs(np.mean(bias)) < 0.03  # 0.19 where true shares were drawn on such tasks


def test_intervals_hold_the_bits_that_were_counted() -> None:
    wins = (np.random.default_rng(0).random((7, 30, 6)) < 0.4).astype(float)
    for results in (Results.from_numpy(wins), played(levels(2, tasks=30), 3)):
        found = ex.information.analyse(results, rng=0, reps=40)
        for table in (found.tasks, found.chosen):
            estimated = np.isfinite(table.bits)
            for bits in (table.bits, table.corrected_bits):
                inside = (table.bits_low <= bits) & (bits <= table.bits_high)
                assert inside[estimated].all()


def test_bits_of_identical_agents_may_be_none() -> None:
    found = ex.information.analyse(played(np.zeros((6, 30)), 5), rng=0, reps=60)
    assert found.chosen.bits_low[-1] == 0.0
    assert found.chosen.corrected_bits[-1] < 0.25 * found.chosen.bits[-1]


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
    assert found.test is None and found.tasks.bits_low is None
    assert any("bits have no intervals" in note for note in found.notes)


def test_missing_cells_are_said() -> None:
    scores = levels(0)[:, :, None] + np.random.default_rng(1).normal(size=(6, 8, 4))
    scores[0, 0] = np.nan
    found = ex.information.analyse(Results.from_numpy(scores), rng=np.random.default_rng(0), reps=3)
    assert any("1 cell of 48 has no result" in note for note in found.notes)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_redundancy_is_symmetric_and_may_be_negative(seed) -> None:
    channels = ex.information.channels(played(levels(seed), 5, seed))
    shared = task_redundancy(channels).shared
    assert shared == pytest.approx(shared.T)
    for first, second in ((0, 1), (2, 5)):
        names = [channels.tasks[first], channels.tasks[second]]
        alone = sum(ex.information.gain(channels, [name]).bits for name in names)
        together = ex.information.gain(channels, names).bits
        assert shared[first, second] == pytest.approx(alone - together, abs=1e-12)


def test_tasks_that_each_split_other_agents_have_negative_or_little_redundancy() -> None:
    level = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    shared = task_redundancy(truth(level)).shared
    assert abs(shared[0, 1]) < 0.01 and shared[0, 0] > 0.9


def test_separated_pairs_are_counted_and_named() -> None:
    level = np.array([[0.0, 0.0], [0.1, 0.0], [20.0, 0.0]])
    channels = truth(level)
    found = separation(channels)
    assert found.pairs_of_task.tolist() == [2, 0]
    assert found.never == (("agent 1", "agent 2"),)
    assert found.best_task[0, 2] == 0 and found.tasks_of_pair[2, 1] == 1
    assert found.together[0, 2] < 1e-6 and found.together[0, 1] > 0.4
    pairs = separation(channels, tasks=["task 1"]).pairs
    separated = {(row.agent, row.other) for row in pairs if row.tasks_separating}
    assert separated == {("agent 1", "agent 3"), ("agent 2", "agent 3")}
    assert not separation(channels, tasks=["task 2"]).pairs.tasks_separating.any()
    assert found.headline == "1 of 3 pairs of agents is separated by no single task."
    assert (
        found.tasks[0].task == "task 1" and found.pairs["agent 1", "agent 3"].best_task == "task 1"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: separation(truth(levels(0)), 0.7), "The threshold is 0.7"),
        (
            lambda rng: ex.information.analyse(played(levels(0), 3), rng=rng, reps=-1),
            "The number of replicates is -1",
        ),
    ],
)
def test_bad_choices_end_with_a_sentence(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call(np.random.default_rng(0))

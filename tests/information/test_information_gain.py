"""Bits of tasks and of sets: equal to plain loops, bounded, and blind to names and scales."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examiner import information
from examiner.information import (
    ChannelModel,
    Channels,
    Noise,
    PairLikelihood,
    bits_with,
    confusion,
    table_bits,
)
from examiner.messages import InputError
from examiner.results import Results
from information.information_reference import (
    mean_and_deviation,
    plain_bits,
    plain_greedy,
    share_and_deviation,
)

SEEDS = st.integers(0, 2**32 - 1)
CORRELATED = ChannelModel(correlated=True)


def table(scores: np.ndarray, wins: np.ndarray | None = None, **columns) -> Results:
    agent, task, trial = (part.ravel() for part in np.indices(scores.shape))
    held = {
        "agent": [f"a{row}" for row in agent],
        "task": [f"t{column}" for column in task],
        "run": trial.tolist(),
        "trial": [0] * len(trial),
        "score": scores.ravel().tolist(),
    }
    if wins is not None:
        held["win"] = wins.ravel().tolist()
    return Results.from_dict(held | columns)


def drawn(seed: int, agents: int = 5, tasks: int = 4, trials: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=(agents, tasks, 1)) * 2
    return level + rng.normal(size=(agents, tasks, trials)) * rng.uniform(
        0.3, 3, (agents, tasks, 1)
    )


def won(seed: int, agents: int = 5, tasks: int = 4, trials: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed + 1)
    return (rng.random((agents, tasks, trials)) < rng.random((agents, tasks, 1))).astype(float)


def bits_of(source: Results | Channels) -> np.ndarray:
    """The bits of each task, in the order of the tasks."""
    table = information.gain(source).tasks
    return np.array([table[task].bits for task in source.tasks])


def plain_channels(scores, wins=None):
    tasks = []
    for task in range(scores.shape[1]):
        channels = [[mean_and_deviation(list(cell)) for cell in scores[:, task]]]
        if wins is not None:
            channels.append([share_and_deviation(list(cell)) for cell in wins[:, task]])
        tasks.append(channels)
    return tasks


@pytest.mark.parametrize("spread", ["sum", "quadrature"])
@pytest.mark.parametrize("exact", [False, True])
@given(seed=SEEDS)
def test_bits_of_one_measure_equal_plain_loops(spread, exact, seed) -> None:
    scores = drawn(seed)
    model = ChannelModel(spread=spread, exact=exact)
    ours = bits_of(information.channels(table(scores), model=model))
    plain = [
        plain_bits(task, quadrature=spread == "quadrature", exact=exact)
        for task in plain_channels(scores)
    ]
    assert ours == pytest.approx(plain, abs=1e-12)


@given(seed=SEEDS)
def test_bits_of_several_measures_equal_plain_loops(seed) -> None:
    scores, wins = drawn(seed), won(seed)
    gain = information.gain(information.channels(table(scores, wins), ["score", "win"]))
    tasks = plain_channels(scores, wins)
    names = [f"t{column}" for column in range(4)]
    together = [gain.tasks[name].bits for name in names]
    assert together == pytest.approx([plain_bits(task) for task in tasks], abs=1e-12)
    for place, measure in enumerate(("score", "win")):
        alone = [plain_bits([task[place]]) for task in tasks]
        found = [gain.by_measure[name, measure].bits for name in names]
        assert found == pytest.approx(alone, abs=1e-12)


@given(seed=SEEDS)
def test_greedy_sets_equal_plain_loops(seed) -> None:
    scores, wins = drawn(seed, tasks=6), won(seed, tasks=6)
    chosen = information.best_set(information.channels(table(scores, wins), ["score", "win"]), 3)
    columns, bits = plain_greedy(plain_channels(scores, wins), 3)
    assert list(chosen.columns) == columns
    assert chosen.tasks.bits == pytest.approx(bits, abs=1e-12)


@given(seed=SEEDS)
def test_noise_of_the_mean_is_the_standard_error(seed) -> None:
    scores = drawn(seed)
    ours = bits_of(
        information.channels(table(scores), model=ChannelModel(Noise("mean", floor=1e-9)))
    )
    plain = [
        plain_bits(
            [[(mean, deviation / np.sqrt(6)) for mean, deviation in channel] for channel in task]
        )
        for task in plain_channels(scores)
    ]
    assert ours == pytest.approx(plain, abs=1e-12)


@given(seed=SEEDS, trials=st.integers(2, 5))
def test_bits_lie_between_zero_and_the_logarithm_of_the_agents(seed, trials) -> None:
    plain, exact = (
        information.channels(table(drawn(seed, trials=trials)), model=ChannelModel(exact=exact))
        for exact in (False, True)
    )
    for channels in (plain, exact):
        bits = bits_of(channels)
        assert (bits >= 0).all() and (bits <= channels.max_bits).all()
        assert 0 <= information.gain(channels).bits <= channels.max_bits
    assert (bits_of(exact) <= bits_of(plain) + 1e-12).all()


@given(seed=SEEDS)
def test_a_copy_of_a_task_equals_doubling_its_log_likelihood(seed) -> None:
    scores = drawn(seed, tasks=1)
    channels = information.channels(table(np.repeat(scores, 2, axis=1)))
    doubled = 2 * PairLikelihood(channels).table([0])
    assert information.gain(channels).bits == pytest.approx(table_bits(doubled), abs=1e-12)


@given(seed=SEEDS)
def test_permuting_agents_and_tasks_permutes_the_answer(seed) -> None:
    scores = drawn(seed)
    rng = np.random.default_rng(seed)
    agents, tasks = rng.permutation(5), rng.permutation(4)
    bits = bits_of(information.channels(table(scores)))
    other = bits_of(information.channels(table(scores[agents][:, tasks])))
    assert other == pytest.approx(bits[tasks], abs=1e-12)


@given(seed=SEEDS, factor=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_rescaling_a_score_changes_nothing(seed, factor, shift) -> None:
    scores = drawn(seed)
    scores[0, 0] = scores[0, 0, 0]  # an agent without deviation has the floor
    bits = bits_of(information.channels(table(scores)))
    for sign in (1, -1):
        other = bits_of(information.channels(table(sign * factor * scores + shift)))
        assert other == pytest.approx(bits, abs=1e-9)


@given(seed=SEEDS)
def test_rows_of_the_confusion_matrix_sum_to_one(seed) -> None:
    matrix = confusion(information.channels(table(drawn(seed)))).probability
    assert matrix.sum(axis=1) == pytest.approx(np.ones(5))


def test_thousands_of_tasks_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    noisy = rng.uniform(0.5, 4, (6, 1, 1))
    scores = rng.normal(size=(6, 3000, 4)) * noisy
    channels = information.channels(table(scores))
    pairs = PairLikelihood(channels)
    base = pairs.table(range(3000))
    assert base.min() < -1000
    scanned = bits_with(pairs, base)
    assert np.isfinite(scanned).all()
    assert scanned[5] == pytest.approx(table_bits(base + pairs.table([5])), abs=1e-12)


@pytest.mark.parametrize("deviation", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("chosen", [[], [1], [0, 3, 4]])
def test_bits_with_each_task_are_those_of_the_larger_set(deviation, chosen) -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(9, 6, 1)) + deviation * rng.normal(size=(9, 6, 4))
    scores[2, 3] = np.nan
    pairs = PairLikelihood(Channels.of(Results.from_numpy(scores)))
    larger = [table_bits(pairs.table([*chosen, task])) for task in range(6)]
    assert bits_with(pairs, pairs.table(chosen)) == pytest.approx(larger, abs=1e-12)


@pytest.mark.parametrize("exact", [False, True])
def test_blocks_of_any_size_give_the_same_bits_whether_likelihoods_are_kept_or_not(
    exact, monkeypatch
) -> None:
    channels = information.channels(
        table(drawn(3, agents=9, tasks=40)), model=ChannelModel(exact=exact)
    )
    pairs = PairLikelihood(channels)
    base = pairs.table([4, 7])
    one_by_one = [table_bits(base + pairs.table([task]), exact=exact) for task in range(40)]
    for cells in (30, 1 << 16):
        monkeypatch.setattr("examiner.information.pairs.BLOCK_CELLS", cells)
        pairs = PairLikelihood(channels)
        assert bits_with(pairs, base) == pytest.approx(one_by_one, abs=1e-12)
        pairs.keep()
        assert bits_with(pairs, base) == pytest.approx(one_by_one, abs=1e-12)
        some = np.array([3, 30])
        assert bits_with(pairs, base, some) == pytest.approx(one_by_one[3::27], abs=1e-12)


@given(seed=SEEDS, size=st.integers(1, 4))
def test_swaps_are_never_worse_than_greedy_nor_better_than_the_optimum(seed, size) -> None:
    channels = information.channels(table(drawn(seed, tasks=6)))
    greedy, swap, optimum = (
        information.best_set(channels, size, search).bits
        for search in ("greedy", "swap", "optimum")
    )
    assert greedy <= swap + 1e-12 and swap <= optimum + 1e-12


def test_correlated_measures_tell_less_than_separate_ones_when_they_repeat_each_other() -> None:
    scores = drawn(1, trials=40)
    twice = table(scores, scores * 2 + 1)
    separate = bits_of(information.channels(twice, ["score", "win"]))
    together = bits_of(information.channels(twice, ["score", "win"], CORRELATED))
    alone = bits_of(information.channels(twice, ["score"]))
    assert (alone < separate).all() and (together < separate + 1e-12).all()


def test_uncorrelated_measures_are_nearly_separate_channels() -> None:
    rng = np.random.default_rng(5)
    both = rng.normal(size=(2, 5, 3, 400)) + rng.normal(size=(2, 5, 3, 1))
    results = table(both[0], both[1])
    separate = bits_of(information.channels(results, ["score", "win"]))
    together = bits_of(information.channels(results, ["score", "win"], CORRELATED))
    assert together == pytest.approx(separate, abs=0.02)


VERBS = {
    "gain": lambda source: bits_of(source),
    "set_gain": lambda source: information.gain(source, ["t0", "t2"]).bits,
    "best_set": lambda source: information.best_set(source, 3).tasks.bits,
    "confusion": lambda source: information.confusion(source, ["t1"]).probability,
    "redundancy": lambda source: information.redundancy(source, ["t0", "t1"]).shared,
    "separation": lambda source: information.separation(source).tasks_of_pair,
    "separation by one task": lambda source: (
        information.separation(source, 0.3, ["t1"]).pairs.confusion
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_results_as_it_takes_their_channels(verb) -> None:
    results = table(drawn(4))
    assert np.array_equal(VERBS[verb](results), VERBS[verb](information.channels(results)))


def test_channels_carry_the_model_their_bits_are_told_by() -> None:
    results = table(drawn(4))
    model = ChannelModel(Noise("mean"), spread="quadrature", exact=True)
    channels = information.channels(results, model=model)
    assert channels.model == model
    found = information.analyse(results, rng=0, size=2, model=model, reps=0)
    np.testing.assert_allclose(found.tasks.bits, information.gain(channels).tasks.bits)
    assert found.chosen.bits[-1] == pytest.approx(information.best_set(channels, 2).bits)
    plain = information.channels(results, model=ChannelModel(Noise("mean"), spread="quadrature"))
    assert (bits_of(channels) < bits_of(plain)).any()
    # What tasks repeat is told by the paper's equation, whatever the model.
    assert np.array_equal(
        information.redundancy(channels).shared, information.redundancy(plain).shared
    )


def test_every_answer_has_a_headline_tables_and_json() -> None:
    results = table(drawn(4), won(4))
    found = information.analyse(results, ["score", "win"], size=2, reps=3, search="swap")
    answers = {
        "information": found,
        "gain": information.gain(results),
        "best_set": information.best_set(results, 2),
        "separation": found.separation,
        "redundancy": found.redundancy,
        "confusion": information.confusion(results),
        "channels": found.channels,
    }
    for kind, answer in answers.items():
        content = answer.to_dict()
        assert content["schema"] == f"examiner.{kind}/1"
        assert content["headline"].endswith(".") and repr(answer).startswith(
            content["headline"][:20]
        )
        for name, rows in answer.tables.items():
            assert len(content[name]) == len(rows)
    assert list(found.tables) == [
        *("tasks", "chosen", "improved", "by_measure", "redundancy", "never_separated")
    ]
    assert found.settings["seed"] == 0 and found.settings["search"] == "swap"
    assert found.channels.tables["cells"]["a1", "t2", "win"].mean == found.channels.mean[1, 1, 2]


def test_headlines_say_how_few_tasks_identify_an_agent() -> None:
    far = 9.0 * np.arange(4)[:, None, None] + np.array([-1.0, 0.0, 1.0])
    found = information.analyse(table(np.repeat(far, 3, axis=1)), reps=20)
    assert found.headline.startswith("1 of 3 tasks gives ")
    assert "% of the information that identifies an agent" in found.headline
    near = 0.5 * np.arange(4)[:, None, None] + 9 * drawn(0, agents=1, tasks=3, trials=40)
    hardly = information.analyse(table(near), reps=0)
    assert hardly.headline.startswith("Even the best 3 of 3 tasks hardly separate the agents: ")


def test_tasks_are_sorted_by_bits_per_cost() -> None:
    scores = drawn(4)
    seconds = np.broadcast_to(np.array([1.0, 2.0, 4.0, 8.0])[None, :, None], scores.shape)
    results = table(scores, seconds=seconds.ravel().tolist())
    tasks = information.analyse(results, ["score"], cost="seconds", reps=0).tasks
    assert tasks["t2"].cost == 4.0
    assert tasks.bits_per_cost == pytest.approx(tasks.bits / tasks.cost)
    assert (np.diff(tasks.bits_per_cost) <= 0).all()


# ---------------------------------------------------------------- edges


def test_one_trial_a_cell_is_refused_with_what_is_needed() -> None:
    with pytest.raises(InputError, match=r"is a single trial.*Repeat the trials.*`deviations=0.2`"):
        information.channels(Results.from_numpy([[1.0, 2.0], [3.0, 5.0]]))


def test_single_trials_can_have_a_stated_deviation() -> None:
    channels = information.channels(
        Results.from_numpy([[1.0], [3.0]]), model=ChannelModel(Noise(deviations=0.5))
    )
    assert channels.deviation.ravel() == pytest.approx([0.25, 0.25])


def test_single_trials_borrow_the_pooled_deviation_and_say_so() -> None:
    scores = drawn(0)
    scores[1:, :, 1:] = np.nan
    results = Results.from_numpy(scores)
    channels = information.channels(results)
    assert "16 cells of 'score' with a single trial use the deviation" in channels.notes[0]
    assert np.isfinite(bits_of(channels)).all()


def test_a_task_without_repeated_trials_is_left_out_or_borrows() -> None:
    scores = drawn(0)
    scores[:, 2, 1:] = np.nan
    results = Results.from_numpy(scores)
    channels = information.channels(results)
    assert "1 task without any repeated trial of 'score'" in " ".join(channels.notes)
    assert np.isnan(bits_of(channels)[2])
    assert "task 3" not in information.best_set(channels, 3).tasks.task
    pooled = information.channels(results, model=ChannelModel(Noise(deviations="pooled")))
    assert np.isfinite(bits_of(pooled)).all()


def test_identical_agents_and_constant_tasks_tell_nothing() -> None:
    same = np.broadcast_to(drawn(0)[:1], (5, 4, 6))
    assert bits_of(information.channels(table(same))) == pytest.approx(np.zeros(4), abs=1e-12)
    constant = information.channels(table(np.full((3, 2, 4), 7.5)))
    assert bits_of(constant) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert information.gain(constant).bits == pytest.approx(0.0, abs=1e-12)


def test_rounding_is_no_information() -> None:
    scores = np.full((3, 1, 4), 0.3)
    scores[1] = 0.1 + 0.2
    assert bits_of(information.channels(table(scores))) == pytest.approx([0.0], abs=1e-12)


def test_a_missing_cell_tells_nobody_apart() -> None:
    scores = drawn(2)
    scores[0, 0] = np.nan
    results = Results.from_numpy(scores)
    rows = confusion(information.channels(results), ["task 1"]).probability
    assert rows[0] == pytest.approx(np.full(5, 0.2))
    assert np.isfinite(bits_of(information.channels(results))).all()


def test_an_agent_that_always_wins_still_has_a_deviation() -> None:
    wins = np.stack([np.ones((1, 10)), np.zeros((1, 10))])
    channels = information.channels(Results.from_numpy(wins, measure="win"))
    assert channels.mean.ravel() == pytest.approx([10.5 / 11, 0.5 / 11])
    assert (channels.deviation > 0.2).all()


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_a_game_that_nobody_or_everybody_wins_tells_nothing_however_often_it_was_tried(outcome):
    wins = np.full((3, 2, 6), outcome)
    wins[0, :, 1:] = np.nan
    wins[:, 1, 0] = [0, 1, 0]
    bits = bits_of(information.channels(Results.from_numpy(wins, measure="win")))
    assert bits[0] == pytest.approx(0.0, abs=1e-12) and bits[1] > 1e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: information.channels(table(drawn(0)[:1])),
            "There is one agent, 'a0'.*at least two",
        ),
        (
            lambda: information.best_set(information.channels(table(drawn(0))), 9),
            "Cannot choose 9 of 4 tasks",
        ),
        (
            lambda: information.best_set(information.channels(table(drawn(0))), 1, "best"),
            "Unknown search 'best'",
        ),
        (
            lambda: information.gain(information.channels(table(drawn(0))), ["pong"]),
            "Unknown task 'pong'. Known: 't0'",
        ),
        (
            lambda: information.gain(
                information.channels(table(drawn(0)), model=ChannelModel(spread="max"))
            ),
            "Choose 'sum' or",
        ),
        (lambda: Noise(deviations="none"), "Choose 'own', 'pooled', or a number"),
        (lambda: Noise(floor=2.0), "The floor is 2.0"),
        (
            lambda: information.best_set(
                information.channels(table(drawn(0, tasks=40))), 8, "optimum"
            ),
            "76,904,685 sets of 8 among 40 tasks.*Use 'swap'",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call, message) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_pairs_of_many_tasks_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of agents times tasks in a Python loop took hours for large benchmarks."""
    scores = np.random.default_rng(0).normal(size=(6, 40, 3))
    scores[2, 5] = np.nan
    pairs = PairLikelihood(Channels.of(Results.from_numpy(scores)))
    single = sum(pairs.table([task]) for task in range(40))
    monkeypatch.setattr("examiner.information.pairs.BLOCK_CELLS", 6 * 6 * 10)
    assert [(len(tasks), len(rows)) for tasks, rows in pairs.blocks()] == [(10, 6)] * 4
    np.testing.assert_allclose(pairs.table(range(40)), single, atol=1e-12)

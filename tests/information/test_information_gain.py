"""Bits of tasks and of sets: equal to plain loops, bounded, and blind to names and scales."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examiner import information
from examiner.information import ChannelModel, Noise, confusion
from examiner.information.channels import Channels
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import bits_with, table_bits
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
    ours = information.gain(information.channels(table(scores), model=model)).bits
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
    assert gain.bits == pytest.approx([plain_bits(task) for task in tasks], abs=1e-12)
    for place, measure in enumerate(("score", "win")):
        alone = [plain_bits([task[place]]) for task in tasks]
        assert gain.by_measure[measure] == pytest.approx(alone, abs=1e-12)


@given(seed=SEEDS)
def test_greedy_sets_equal_plain_loops(seed) -> None:
    scores, wins = drawn(seed, tasks=6), won(seed, tasks=6)
    chosen = information.best_set(information.channels(table(scores, wins), ["score", "win"]), 3)
    columns, bits = plain_greedy(plain_channels(scores, wins), 3)
    assert list(chosen.columns) == columns
    assert chosen.cumulative_bits == pytest.approx(bits, abs=1e-12)


@given(seed=SEEDS)
def test_noise_of_the_mean_is_the_standard_error(seed) -> None:
    scores = drawn(seed)
    ours = information.gain(
        information.channels(table(scores), model=ChannelModel(Noise("mean", floor=1e-9)))
    ).bits
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
        bits = information.gain(channels).bits
        assert (bits >= 0).all() and (bits <= channels.max_bits).all()
        assert 0 <= information.set_gain(channels) <= channels.max_bits
    assert (information.gain(exact).bits <= information.gain(plain).bits + 1e-12).all()


@given(seed=SEEDS)
def test_a_copy_of_a_task_equals_doubling_its_log_likelihood(seed) -> None:
    scores = drawn(seed, tasks=1)
    channels = information.channels(table(np.repeat(scores, 2, axis=1)))
    doubled = 2 * PairLikelihood(channels).table([0])
    assert information.set_gain(channels) == pytest.approx(table_bits(doubled), abs=1e-12)


@given(seed=SEEDS)
def test_permuting_agents_and_tasks_permutes_the_answer(seed) -> None:
    scores = drawn(seed)
    rng = np.random.default_rng(seed)
    agents, tasks = rng.permutation(5), rng.permutation(4)
    bits = information.gain(information.channels(table(scores))).bits
    other = information.gain(information.channels(table(scores[agents][:, tasks]))).bits
    assert other == pytest.approx(bits[tasks], abs=1e-12)


@given(seed=SEEDS, factor=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_rescaling_a_score_changes_nothing(seed, factor, shift) -> None:
    scores = drawn(seed)
    scores[0, 0] = scores[0, 0, 0]  # an agent without deviation has the floor
    bits = information.gain(information.channels(table(scores))).bits
    for sign in (1, -1):
        other = information.gain(information.channels(table(sign * factor * scores + shift))).bits
        assert other == pytest.approx(bits, abs=1e-9)


@given(seed=SEEDS)
def test_rows_of_the_confusion_matrix_sum_to_one(seed) -> None:
    matrix = confusion(information.channels(table(drawn(seed))))
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


def test_both_ways_of_scanning_agree(monkeypatch) -> None:
    channels = information.channels(table(drawn(3, agents=9, tasks=40)))
    fast = bits_with(PairLikelihood(channels))
    monkeypatch.setattr(sys.modules["examiner.information.confusion"], "CACHE_BYTES", 0)
    monkeypatch.setattr(sys.modules["examiner.information.gain"], "BLOCK_CELLS", 30)
    assert bits_with(PairLikelihood(channels)) == pytest.approx(fast, abs=1e-12)
    monkeypatch.setattr(sys.modules["examiner.information.gain"], "SAFE_EXPONENT", -1.0)
    assert bits_with(PairLikelihood(channels)) == pytest.approx(fast, abs=1e-12)


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
    separate = information.gain(information.channels(twice, ["score", "win"])).bits
    together = information.gain(information.channels(twice, ["score", "win"], CORRELATED)).bits
    alone = information.gain(information.channels(twice, ["score"])).bits
    assert (alone < separate).all() and (together < separate + 1e-12).all()


def test_uncorrelated_measures_are_nearly_separate_channels() -> None:
    rng = np.random.default_rng(5)
    both = rng.normal(size=(2, 5, 3, 400)) + rng.normal(size=(2, 5, 3, 1))
    results = table(both[0], both[1])
    separate = information.gain(information.channels(results, ["score", "win"])).bits
    together = information.gain(information.channels(results, ["score", "win"], CORRELATED)).bits
    assert together == pytest.approx(separate, abs=0.02)


VERBS = {
    "gain": lambda source: information.gain(source).bits,
    "set_gain": lambda source: information.set_gain(source, ["t0", "t2"]),
    "best_set": lambda source: information.best_set(source, 3).cumulative_bits,
    "confusion": lambda source: information.confusion(source, ["t1"]),
    "redundancy": lambda source: information.redundancy(source, ["t0", "t1"]),
    "separation": lambda source: information.separation(source).tasks_of_pair,
    "separated_by": lambda source: information.separated_by(source, "t1", 0.3),
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
    assert np.array_equal(found.tasks.bits, information.gain(channels).bits)
    assert found.chosen.bits == information.best_set(channels, 2).bits
    plain = information.channels(results, model=ChannelModel(Noise("mean"), spread="quadrature"))
    assert (information.gain(channels).bits < information.gain(plain).bits).any()
    # What tasks repeat is told by the paper's equation, whatever the model.
    assert np.array_equal(information.redundancy(channels), information.redundancy(plain))


def test_chance_and_intervals_take_results_too() -> None:
    results = table(drawn(4))
    seen, chosen = information.observe(results), information.best_set(results, 2)
    chance, again = (information.bits_by_chance(one, 2, rng=0, reps=4) for one in (results, seen))
    assert np.array_equal(chance.greedy, again.greedy)
    ends, same = (information.bits_intervals(one, chosen, rng=0, reps=4) for one in (results, seen))
    assert np.array_equal(ends.set_low, same.set_low)


def test_what_comes_back_shows_itself_in_a_line_and_as_a_table() -> None:
    results = table(drawn(4))
    found = information.analyse(results, rng=0, size=2, reps=3)
    lines = {
        "InformationAnalysis: ": found,
        "TaskInformation: 4 tasks, the most telling ": found.tasks,
        "InformativeSet: 2 tasks by greedy, ": found.chosen,
        "Separation: ": found.separation,
        "Channels: 5 agents × 4 tasks by score, at most 2.32 bits": found.channels,
        "BitsByChance: ": found.chance,
        "BitsIntervals: ": found.intervals,
    }
    for line, shown in lines.items():
        assert repr(shown).startswith(line) and "\n" not in repr(shown)
        if hasattr(shown, "_repr_html_"):
            assert shown._repr_html_().count("<tr>") > 2


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
    assert "16 cells of 'score' with a single trial took the deviation" in channels.notes[0]
    assert np.isfinite(information.gain(channels).bits).all()


def test_a_task_without_repeated_trials_is_left_out_or_borrows() -> None:
    scores = drawn(0)
    scores[:, 2, 1:] = np.nan
    results = Results.from_numpy(scores)
    channels = information.channels(results)
    assert "1 task without any repeated trial of 'score'" in " ".join(channels.notes)
    assert np.isnan(information.gain(channels).bits[2])
    assert "task 3" not in information.best_set(channels, 3).tasks
    pooled = information.channels(results, model=ChannelModel(Noise(deviations="pooled")))
    assert np.isfinite(information.gain(pooled).bits).all()


def test_identical_agents_and_constant_tasks_tell_nothing() -> None:
    same = np.broadcast_to(drawn(0)[:1], (5, 4, 6))
    assert information.gain(information.channels(table(same))).bits == pytest.approx(
        np.zeros(4), abs=1e-12
    )
    constant = information.channels(table(np.full((3, 2, 4), 7.5)))
    assert information.gain(constant).bits == pytest.approx([0.0, 0.0], abs=1e-12)
    assert information.set_gain(constant) == pytest.approx(0.0, abs=1e-12)


def test_rounding_is_no_information() -> None:
    scores = np.full((3, 1, 4), 0.3)
    scores[1] = 0.1 + 0.2
    assert information.gain(information.channels(table(scores))).bits == pytest.approx(
        [0.0], abs=1e-12
    )


def test_a_missing_cell_tells_nobody_apart() -> None:
    scores = drawn(2)
    scores[0, 0] = np.nan
    results = Results.from_numpy(scores)
    rows = confusion(information.channels(results), ["task 1"])
    assert rows[0] == pytest.approx(np.full(5, 0.2))
    assert np.isfinite(information.gain(information.channels(results)).bits).all()


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
    bits = information.gain(information.channels(Results.from_numpy(wins, measure="win"))).bits
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
            lambda: information.set_gain(information.channels(table(drawn(0))), ["pong"]),
            "no task 'pong' among 4",
        ),
        (
            lambda: information.gain(
                information.channels(table(drawn(0)), model=ChannelModel(spread="max"))
            ),
            "Say 'sum' or",
        ),
        (lambda: Noise(deviations="none"), "Say 'own', 'pooled', or a number"),
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


def test_a_table_of_many_tasks_asks_once_for_each_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of agents times tasks in a Python loop took hours for large benchmarks."""
    scores = np.random.default_rng(0).normal(size=(6, 40, 3))
    scores[2, 5] = np.nan
    pairs = PairLikelihood(Channels.of(Results.from_numpy(scores)))
    single = sum(pairs.table([task]) for task in range(40))
    calls: list[int] = []
    usual = PairLikelihood.row

    def counted(self: PairLikelihood, agent: int, *rest: object) -> np.ndarray:
        calls.append(agent)
        return usual(self, agent, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PairLikelihood, "row", counted)
    np.testing.assert_allclose(pairs.table(range(40)), single, atol=1e-12)
    assert calls == list(range(6))

"""Training logs reduced to one value a run."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner import InputError, Results
from examiner.messages import ExaminerWarning
from examiner.results import Provenance
from examiner.scores import default_reduction
from examiner.scores import reduce as reduce_runs
from examiner.scores.training.reduce import parse_reduction

HOW = ["last:1", "last:3", "final:250", "auc"]


def log(scores, frames=None, *, agent="a", run=0, **columns):
    """A run of one agent on one task."""
    count = len(scores)
    table = {"agent": [agent] * count, "task": ["t"] * count, "run": [run] * count}
    table |= {"trial": list(range(count)), "score": list(scores), **columns}
    if frames is not None:
        table["frames"] = list(frames)
    return table


def stacked(*tables):
    return {name: [value for table in tables for value in table[name]] for name in tables[0]}


def reduced(results, how, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExaminerWarning)
        return reduce_runs(results, how, **options)


def by_hand(scores, frames, how):
    kind, _, size = how.partition(":")
    if kind == "last":
        return np.mean(scores[-int(size) :])
    if kind == "final":
        return np.mean([s for s, f in zip(scores, frames, strict=True) if f > frames[-1] - 250])
    if frames[-1] == frames[0]:
        return np.mean(scores)
    return np.trapezoid(scores, frames) / (frames[-1] - frames[0])


runs = st.lists(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6, width=32), st.integers(1, 500)), min_size=1, max_size=12
    ),
    min_size=1,
    max_size=6,
)


@given(runs, st.sampled_from(HOW), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_every_reduction_is_what_a_loop_over_runs_gives_in_any_order_of_rows(played, how, shuffle):
    tables, expected = [], []
    for number, episodes in enumerate(played):
        scores = [score for score, _ in episodes]
        frames = np.cumsum([length for _, length in episodes]).tolist()
        tables.append(log(scores, frames, run=number))
        expected.append(by_hand(scores, frames, how))
    table = stacked(*tables)
    order = list(range(len(table["score"])))
    shuffle.shuffle(order)
    results = Results.from_dict({name: [col[i] for i in order] for name, col in table.items()})
    answer = reduced(results, how)
    found = dict(zip(answer.column("run"), answer.measure(), strict=True))
    np.testing.assert_allclose(
        [found[n] for n in range(len(played))], expected, rtol=1e-9, atol=1e-6
    )
    assert set(answer.column("trial")) == {0}


def test_last_averages_the_last_episodes_and_says_how_many_a_short_run_has():
    table = stacked(log([1, 2, 3, 4]), log([10], run=1))
    with pytest.warns(ExaminerWarning, match="fewer than 2 episodes"):
        answer = reduce_runs(Results.from_dict(table), "last:2")
    assert answer.measure().tolist() == [3.5, 10.0]
    assert answer.notes == (
        "1 of 2 runs have fewer than 2 episodes and are averaged over all they have (the fewest: 1).",
    )


def test_final_takes_the_episodes_that_ended_within_the_last_frames():
    results = Results.from_dict(log([1, 2, 3], [100, 200, 300]))
    assert reduce_runs(results, "final:100").measure().tolist() == [3.0]
    assert reduce_runs(results, "final:101").measure().tolist() == [2.5]


def test_final_needs_frames():
    with pytest.raises(InputError, match=r"without a column 'frames'.*choose `last:K` or `auc`"):
        reduce_runs(Results.from_dict(log([1, 2])), "final:100")


def test_a_run_shorter_than_the_final_frames_is_averaged_whole_and_said():
    with pytest.warns(ExaminerWarning, match=r"1 of 1 run are shorter than 1,000 frames"):
        answer = reduce_runs(Results.from_dict(log([1, 3], [10, 20])), "final:1000")
    assert answer.measure().tolist() == [2.0]


def test_area_weighs_by_frames_and_falls_back_to_episodes_aloud():
    results = Results.from_dict(log([0, 2, 2], [0, 10, 40]))
    assert reduce_runs(results, "auc").measure().tolist() == [1.75]
    with pytest.warns(ExaminerWarning, match="no column 'frames'.*over episodes"):
        assert reduce_runs(Results.from_dict(log([0, 2, 2])), "auc").measure().tolist() == [1.5]


def test_episodes_are_ordered_by_frames_whatever_their_trial():
    results = Results.from_dict(log([9, 1, 5], [300, 100, 200]))
    assert reduce_runs(results, "last:1").measure().tolist() == [9.0]


def test_frames_missing_in_some_rows_are_not_used_and_said():
    with pytest.warns(ExaminerWarning, match="1 of 2 rows have no frames"):
        answer = reduce_runs(Results.from_dict(log([1, 3], [100, None])), "last:1")
    assert answer.measure().tolist() == [3.0]


def test_unobserved_episodes_are_passed_over_and_a_run_without_any_has_no_value():
    table = stacked(log([1, 2, None]), log([None, None, None], run=1))
    with pytest.warns(ExaminerWarning) as said:
        answer = reduce_runs(Results.from_dict(table), "last:2")
    assert answer.measure().tolist()[0] == 1.5
    assert np.isnan(answer.measure()[1])
    assert any("1 of 2 runs have no observed episode" in str(w.message) for w in said)


def test_evaluations_are_left_out_of_runs_that_hold_training_episodes_and_said():
    table = stacked(
        log([1, 3, 50, 5], evaluation=[None, None, 0, None]),
        log([7, 9, 9, 9], run=1, evaluation=[0, 0, 1, 1]),
    )
    with pytest.warns(ExaminerWarning, match="1 episode of evaluation are left out"):
        answer = reduce_runs(Results.from_dict(table), "last:3")
    assert answer.measure().tolist() == [3.0, 9.0]


def test_all_measures_are_reduced_and_one_can_be_chosen():
    results = Results.from_dict(log([1, 3], win=[0, 1]))
    assert reduced(results, "last:2").measure("win").tolist() == [0.5]
    assert reduced(results, "last:2", measure="win").measures == ("win",)


def test_columns_that_change_within_a_run_go_but_frames_and_constants_stay():
    table = log([1, 3], [10, 30], length=[10, 20], seed=[7, 7])
    answer = reduced(Results.from_dict(table), "last:2")
    assert sorted(answer.attributes) == ["frames", "seed"]
    assert answer.column("frames") == [30]
    assert answer.provenance.steps[-1].endswith("dropped, because they change within a run: length")


def test_all_keeps_every_trial_and_says_so():
    results = Results.from_dict(log([1, 3]))
    answer = reduce_runs(results, "all")
    assert answer == results
    assert answer.provenance.reduction == "all"
    assert answer.provenance.steps == ("runs not reduced (all): every trial is kept",)


def test_training_logs_are_reduced_by_default_and_then_no_longer_training_logs():
    results = Results.from_dict(log(range(300)), provenance=Provenance(training=True))
    assert default_reduction(results) == "last:100"
    answer = reduce_runs(results)
    assert answer.measure().tolist() == [249.5]
    assert answer.provenance.reduction == "last:100"
    assert not answer.provenance.training
    assert default_reduction(answer) == "all"


def test_the_reduction_is_stored_with_the_results(tmp_path):
    answer = reduced(Results.from_dict(log([1, 3])), "last:2")
    stored = Results.load(answer.save(tmp_path / "x.parquet"))
    assert stored == answer
    assert stored.provenance == answer.provenance


def test_items_and_agents_are_kept_apart():
    table = stacked(log([1, 2]), log([5, 6], agent="b"))
    table["level"] = [0, 1, 0, 1]
    answer = reduced(Results.from_dict(table), "last:9")
    assert answer.to_polars().select("agent", "level", "score").rows() == [
        ("a", 0, 1.0),
        ("a", 1, 2.0),
        ("b", 0, 5.0),
        ("b", 1, 6.0),
    ]


def test_scales_and_attributes_survive():
    results = Results.from_dict(log([1, 3]))
    answer = reduced(results, "last:2")
    assert answer.scales == results.scales
    assert answer.task_attributes == results.task_attributes


@pytest.mark.parametrize("text", ["last", "last:0", "last:-1", "last:1.5", "last:x", "final:", ""])
def test_a_reduction_that_means_nothing_is_refused_with_what_to_write(text):
    with pytest.raises(InputError, match=r"Cannot reduce runs by .*`last:K`.*`auc` or `all`"):
        parse_reduction(text)


def test_a_million_episodes_take_about_a_second():
    count, size = 1_000_000, 1000
    place = np.arange(count)
    columns = {
        "agent": np.repeat(["a", "b"], count // 2),
        "task": np.repeat(["t"], count),
        "run": place // size,
        "trial": place % size,
        "frames": (place % size) * 10,
        "score": place % 7 * 1.0,
    }
    results = replace(Results.from_dict(columns), provenance=Provenance(training=True))
    answer = reduce_runs(results)
    assert len(answer) == count // size


def test_runs_that_end_long_before_others_of_their_agent_are_excluded_and_said():
    rows = {"agent": [], "task": [], "seed": [], "frames": [], "score": []}
    for seed, last in enumerate((10, 10, 3)):
        for step in range(1, last + 1):
            for name, value in zip(rows, ("a", "t", seed, 100 * step, float(step)), strict=True):
                rows[name].append(value)
    results = ex.read(rows)
    assert results.provenance.training
    with pytest.warns(
        ex.ExaminerWarning,
        match="1 of 3 runs ended before half .* excluded.* at 300 of 1,000 frames",
    ):
        reduced = ex.scores.reduce(results, "last:1")
    assert any("ended before half" in note for note in reduced.notes)
    assert ex.responses(reduced).to_numpy().tolist() == [[10.0]]


def test_an_agent_whose_runs_all_end_early_keeps_its_scores_and_it_is_said():
    rows = {"agent": [], "task": [], "seed": [], "frames": [], "score": []}
    for agent, last in (("long", 10), ("short", 3)):
        for seed in range(2):
            for step in range(1, last + 1):
                for name, value in zip(
                    rows, (agent, "t", seed, 100 * step, float(step)), strict=True
                ):
                    rows[name].append(value)
    with pytest.warns(ex.ExaminerWarning, match="2 of 4 runs end before half of the time"):
        reduced = ex.scores.reduce(ex.read(rows))
    assert ex.responses(reduced).to_numpy()[:, 0].tolist() == [10.0, 3.0]

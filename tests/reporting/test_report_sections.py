"""What the sections find, and what they refuse to claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.reporting import Figure, ShownTable, Study
from examiner.reporting.cells import column_numbers
from examiner.reporting.findings.heatmap import finding as heatmap
from examiner.reporting.findings.ranking import finding as ranking
from examiner.reporting.findings.ranking import strips
from examiner.reporting.findings.reading import finding as reading
from examiner.reporting.prose import plain_text, three_digits
from examiner.results import Results, Scales, TaskScale
from examiner.scores import shared_ranks


def texts(section):
    """Everything a section says in words."""
    prose = [section.lead]
    for block in section.blocks:
        prose += getattr(block, "items", ())
        prose += [block if isinstance(block, str) else getattr(block, "caption", "")]
        prose += [getattr(block, "legend", "")]
        prose += [pair[1] for pair in getattr(block, "pairs", ())]
    return "\n".join(plain_text(part) for part in prose)


def block_of(section, kind):
    return next(block for block in section.blocks if isinstance(block, kind))


def test_the_ranking_is_by_mean_and_ties_share_a_rank():
    study = Study.of(Results.from_numpy([[0.5, 0.7], [0.9, 0.9], [0.7, 0.5]], agents="abc"))
    rows = block_of(ranking(study), ShownTable).rows
    ranks = block_of(ranking(study), ShownTable).table
    assert [row[0] for row in rows] == ["b", "a", "c"] and ranks.rank.tolist() == [1, 2, 2]


def test_the_ranking_says_who_leads_by_what():
    levels = np.array([[3.0, 0.0, 0.0], [0.3, 0.3, 0.3]])[..., None]
    noise = np.random.default_rng(0).normal(scale=0.01, size=(2, 3, 5))
    study = Study.of(Results.from_numpy(levels + noise, agents=["wild", "even"]), None)
    assert (
        plain_text(strips(study).lead)
        == "wild leads by mean and interquartile mean; even by median."
    )


def test_many_tied_leaders_are_counted_not_named():
    study = Study.of(Results.from_numpy(np.repeat([1.0] * 5 + [0.0], 4).reshape(6, 4)))
    assert plain_text(strips(study).lead).startswith("5 agents tie for the lead by mean")


def test_an_agent_observed_on_fewer_tasks_is_flagged(scaled):
    section = ranking(Study.of(scaled))
    table = block_of(section, ShownTable)
    assert [table.rows[place][0] for place in table.doubtful] == ["late"]
    assert "observed on fewer than 4 tasks: late" in texts(section)


def test_where_most_agents_lack_some_task_none_is_marked():
    values = np.where(np.eye(4) > 0, np.nan, 0.5)
    values[0, 1] = np.nan
    section = ranking(Study.of(Results.from_numpy(values[:, :3])))
    assert not block_of(section, ShownTable).doubtful
    assert "Agents were observed on different tasks, between 1 and 3 of them" in texts(section)


def test_what_intervals_are_about_is_said(scaled):
    assert "Unit: tasks. Some or all cells hold one run" in texts(ranking(Study.of(scaled)))
    repeated = Results.from_numpy(np.random.default_rng(0).random((2, 3, 4)))
    assert "Unit: runs." in texts(ranking(Study.of(repeated)))


def test_the_unit_of_the_numbers_is_said(scaled):
    assert "score normalised by human (1.0 = human reference, 0.0 = random)" in texts(
        ranking(Study.of(scaled))
    )


def test_the_strips_draw_the_comparable_scores_in_the_order_of_ranks(scaled):
    study = Study.of(scaled)
    data = block_of(strips(study), Figure).data
    assert data["agents"] == tuple(scaled.agents[agent] for agent in study.order)
    np.testing.assert_array_equal(data["scores"], study.comparable[study.order])


def test_the_heat_map_draws_raw_and_comparable_scores_and_ranks(scaled):
    data = block_of(heatmap(Study.of(scaled)), Figure).data
    at = data["agents"].index("even"), data["tasks"].index("t")
    assert data["raw"][at] == 10.0
    assert data["comparable"][at] == 1.0
    assert data["rank"][at] == 3.0
    missing = data["agents"].index("late"), data["tasks"].index("v")
    assert np.isnan([data[what][missing] for what in ("raw", "comparable", "rank")]).all()


def test_every_order_of_the_heat_map_is_a_permutation(scaled):
    grid = block_of(heatmap(Study.of(scaled)), Figure).grid
    for side in (grid.rows, grid.columns):
        for order in side.orders.values():
            assert sorted(order) == list(range(len(side.names)))
    assert [grid.rows.names[place] for place in grid.rows.orders["name"]] == [
        "best",
        "even",
        "late",
    ]


def test_names_are_sorted_with_numbers_by_size():
    results = Results.from_numpy(np.random.default_rng(0).random((11, 2)))
    rows = block_of(heatmap(Study.of(results)), Figure).grid.rows
    assert [rows.names[place] for place in rows.orders["name"]] == list(results.agents)


def test_the_heat_map_says_which_tasks_no_agent_masters(scaled):
    assert plain_text(heatmap(Study.of(scaled)).lead) == (
        "Every agent reaches human level on 1 of the 3 tasks that all were observed on, "
        "none does on 2 (u and w)."
    )


@pytest.mark.parametrize("normalise", ["z-score", "min-max", "rank"])
def test_where_scores_only_compare_agents_the_winners_are_named(normalise):
    scores = np.random.default_rng(0).normal(size=(4, 9)) + 2 * np.arange(4)[:, None]
    study = Study.of(Results.from_numpy(scores), normalise)
    assert "of 9 tasks, the most of any agent" in plain_text(heatmap(study).lead)


def test_what_was_read_names_tasks_without_a_scale_and_with_a_useless_one():
    scales = Scales(
        [TaskScale("t", random=5.0, reference=2.0), TaskScale("u", random=0.0, reference=1.0)]
    )
    results = Results.from_numpy([[0.1, 0.2, 0.3], [0.2, 0.3, 0.5]], tasks="tuv", scales=scales)
    told = texts(reading(Study.of(results)))
    assert "1 task without a scale: v." in told
    assert "The reference is no better than random on t" in told


def test_what_was_read_keeps_every_note(scaled):
    assert "Mind the gap." in texts(reading(Study.of(scaled.with_notes("Mind the gap."))))


def test_repeated_agents_are_listed_and_stay(scaled):
    rng = np.random.default_rng(0)
    values = rng.random((4, 6))
    values[3] = values[1]
    section = reading(Study.of(Results.from_numpy(values, agents="abcd")))
    rows = block_of(section, ShownTable).rows
    assert [(row[0], row[1], row[4]) for row in rows] == [("b", "d", True)]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_agents_that_are_all_the_same_are_seen_to_be(count):
    section = reading(Study.of(Results.from_numpy(np.tile([3.0, 5.0, 8.0], (count, 1)))))
    assert len(block_of(section, ShownTable).rows) == count * (count - 1) / 2


def test_one_task_with_huge_scores_makes_no_two_agents_alike():
    values = np.random.default_rng(1).random((5, 20))
    values[:, 0] = [1e6, 2e6, 3e6, 4e6, 5e6]
    assert "No two agents are nearly identical" in texts(
        reading(Study.of(Results.from_numpy(values)))
    )


def test_too_many_pairs_to_compare_are_left_out_and_that_is_said():
    values = np.random.default_rng(0).random((500, 40))
    values[np.random.default_rng(1).random(values.shape) < 0.5] = np.nan
    assert "were not looked for" in texts(reading(Study.of(Results.from_numpy(values))))


@given(st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1))
def test_ranks_follow_the_values(values):
    array = np.array(values)
    ranks = shared_ranks(array)
    assert (np.isnan(ranks) == np.isnan(array)).all()
    order = np.argsort(ranks)
    assert (np.diff(array[order][: (~np.isnan(array)).sum()]) <= 1e-3).all()


def test_sums_that_differ_in_the_last_digit_tie():
    assert shared_ranks(np.array([0.1 + 0.2, 0.3])).tolist() == [1.0, 1.0]


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_is_written_with_three_digits(value):
    text = three_digits(value)
    digits = [letter for letter in text.partition("e")[0] if letter.isdigit()]
    assert text == "–" or len("".join(digits).lstrip("0")) <= 3 or abs(value) >= 1000


def test_every_number_of_a_column_has_three_significant_digits():
    assert column_numbers([1.0, 0.9996, 2.346, -10.0, 0.0, 1234.5, 1e-6]) == (
        ["1.00", "1.00", "2.35", "−10.0", "0", "1,234", "1.00e−06"]
    )


def test_a_column_of_nothing_is_dashes():
    assert column_numbers([float("nan"), float("nan")]) == ["–", "–"]


def test_the_best_and_the_worst_are_not_nearly_identical() -> None:
    """Their standing differs by the same on every task, so that it correlates perfectly."""
    middle = np.random.default_rng(0).integers(0, 2, (4, 14))
    scores = np.vstack([np.ones(14), np.zeros(14), middle]).astype(float)
    assert "No two agents are nearly identical" in texts(
        reading(Study.of(Results.from_numpy(scores)))
    )


def test_a_long_tail_of_a_profile_is_left_out_and_its_end_named():
    """Twenty scores of each agent lie within 0 and 2, but for one of 7.4."""
    ends = np.linspace(0.1, 2.0, 20), np.append(np.linspace(0.1, 1.9, 19), 7.4)
    layout = ex.plots.profiles(Results.from_numpy(np.array(ends)), None).figure.drawing["layout"]
    low, high = layout["xaxis"]["range"]
    assert 0 <= low <= 0.3 and 1.7 <= high <= 2.0
    assert [note["text"] for note in layout["annotations"]][-1] == "7.4 →"

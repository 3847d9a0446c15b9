"""What counts as success, in counts of trials."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ale_published_scores_2018.csv"
TRIALS = np.array([[[0.5, 1.5, 1.0]], [[0.2, 0.1, 3.0]]])  # two agents, one task, three runs


def test_reaching_the_threshold_counts() -> None:
    matrix = ex.responses(ex.Results.from_numpy(TRIALS), success=1.0)
    assert matrix.successes.tolist() == [[2], [1]]
    assert matrix.trials.tolist() == [[3], [3]]
    assert matrix.successes.dtype == np.uint8


def test_missing_trials_are_neither_success_nor_failure() -> None:
    values = TRIALS.copy()
    values[0, 0, 1] = np.nan
    matrix = ex.responses(ex.Results.from_numpy(values), success=1.0)
    assert (matrix.successes[0, 0], matrix.trials[0, 0]) == (1, 2)


def test_a_share_makes_each_cell_one_success_or_failure() -> None:
    results = ex.Results.from_numpy(TRIALS)
    assert ex.responses(results, 1.0, share=0.5).to_numpy().tolist() == [[1.0], [0.0]]
    assert ex.responses(results, 1.0, share=1 / 3).to_numpy().tolist() == [[1.0], [1.0]]
    with pytest.raises(ex.InputError, match=r"share of trials is 0. Give a number above 0"):
        ex.responses(results, 1.0, share=0)


def test_reaching_the_reference_of_each_task() -> None:
    results = ex.Results.from_numpy([[5.0, 5.0]], tasks=["golf", "pong"]).with_scales(
        ex.results.Scales(
            [
                ex.results.TaskScale("golf", reference=5.0, direction="lower"),
                ex.results.TaskScale("pong", reference=6.0),
            ]
        )
    )
    assert ex.responses(results, "reference").to_numpy().tolist() == [[1.0, 0.0]]
    with pytest.raises(ex.InputError, match="needs the random score"):
        ex.responses(results, "random")


def test_beating_an_agent_leaves_that_agent_out() -> None:
    results = ex.Results.from_numpy([[2.0, 2.0], [3.0, 2.0]], agents=["baseline", "new"])
    matrix = ex.responses(results, beating="baseline")
    assert matrix.agents == ("new",)
    assert matrix.to_numpy().tolist() == [[1.0, 0.0]]  # a tie does not beat
    with pytest.raises(ex.InputError, match=r"Unknown agent 'basline'\. Did you mean 'baseline'"):
        ex.responses(results, beating="basline")


def test_zeros_and_ones_are_counted_and_other_scores_averaged() -> None:
    assert ex.responses(ex.Results.from_numpy([[[0.0, 1.0, 1.0]]])).successes.tolist() == [[2]]
    averaged = ex.responses(ex.Results.from_numpy([[[1.0, 4.0]]]))
    assert not averaged.is_counts
    assert averaged.to_numpy().tolist() == [[2.5]]
    with pytest.raises(ex.InputError, match="Say what a success is first"):
        ex.responses(ex.Results.from_numpy([[2.0]]), share=0.5)


def test_marking_success_adds_a_measure_that_counts_the_same() -> None:
    results = ex.Results.from_numpy(TRIALS)
    marked = ex.scores.mark_success(results, 1.0)
    assert marked.measures == ("success", "score")
    assert ex.responses(marked) == ex.responses(results, 1.0)
    shared = ex.scores.mark_success(results, 1.0, share=0.5)
    assert shared.measure().tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.skipif(
    not PUBLISHED.exists(), reason="the published scores are not beside the checkout"
)
def test_the_rule_of_papers_002_gives_another_matrix_than_its_own() -> None:
    """45 techniques less 5, 49 games less 8 constant ones: 40 × 41, but one technique is another.

    Above a correlation of 0.99 the rule drops `Wang.Humanstarts_PRIOR..DUEL.`. The paper kept it and
    dropped `Wang.Humanstarts_DUEL` instead; tests/irt has the paper's own matrix.
    """
    results = ex.Results.from_frame(
        pl.read_csv(PUBLISHED)
        .rename({"technique": "agent"})
        .unpivot(index="agent", variable_name="task", value_name="score")
    )
    dropped = set(results.agents) - set(ex.scores.without_near_identical(results).agents)
    assert dropped == {
        "Nair.humanstarts_DQN.humnorm",
        "Schaul_DQN.baseline",
        "vanHasselt.Humanstarts_Double.DQN..tuned.",
        "Wang.Humanstarts_PRIOR.",
        "Wang.Humanstarts_PRIOR..DUEL.",
    }
    matrix = ex.responses(ex.scores.without_near_identical(results), success=100)
    shares = matrix.to_numpy().mean(axis=0)
    assert matrix.shape == (40, 49)
    assert int(((shares > 0) & (shares < 1)).sum()) == 41


@pytest.mark.parametrize("success", [float("nan"), float("inf"), -float("inf"), "best"])
def test_a_recipe_or_report_with_a_success_that_nothing_can_reach_is_refused(success):
    results = ex.Results.from_numpy([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]])
    with pytest.raises(ex.InputError, match=r"The success threshold is|Success is 'best'"):
        ex.Recipe(success=success)
    with pytest.raises(ex.InputError, match=r"The success threshold is|Success is 'best'"):
        ex.report(results, success=success)

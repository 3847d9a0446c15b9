"""The order of averaging, and one number per agent."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import examiner as ex
from examiner.scores import cell_means, interquartile_mean, run_means


def test_trials_are_averaged_within_runs_before_runs_are() -> None:
    results = ex.Results.from_dict(
        {
            "agent": ["a"] * 4,
            "task": ["t"] * 4,
            "run": ["x", "x", "x", "y"],
            "trial": [0, 1, 2, 0],
            "score": [1.0, 2.0, 3.0, 10.0],
        }
    )
    assert sorted(run_means(results).value) == [2.0, 10.0]
    assert cell_means(results).tolist() == [[6.0]]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_cell_means_agree_with_a_plain_loop(seed: int, far_seeds: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = 40
    columns = {
        "agent": [f"a{code}" for code in rng.integers(0, 3, rows)],
        "task": [f"t{code}" for code in rng.integers(0, 3, rows)],
        "run": (rng.integers(0, 3, rows) * (10**12 if far_seeds else 1)).tolist(),
        "score": [
            None if missing else value
            for value, missing in zip(rng.normal(size=rows), rng.random(rows) < 0.2, strict=True)
        ],
    }
    results = ex.Results.from_dict(columns)
    expected = np.full((len(results.agents), len(results.tasks)), np.nan)
    cells: dict[tuple[str, str], dict[int, list[float]]] = {}
    for agent, task, run, score in zip(*columns.values(), strict=True):
        if score is not None:
            cells.setdefault((agent, task), {}).setdefault(run, []).append(score)
    for (agent, task), runs in cells.items():
        place = results.agents.index(agent), results.tasks.index(task)
        expected[place] = np.mean([np.mean(trials) for trials in runs.values()])
    # A mean near zero is a difference of numbers near one, which have 16 digits.
    np.testing.assert_allclose(cell_means(results), expected, rtol=1e-12, atol=1e-14)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_interquartile_mean_agrees_with_scipy(values: list[float]) -> None:
    expected = stats.trim_mean(values, 0.25)
    np.testing.assert_allclose(
        interquartile_mean(np.array(values)), expected, rtol=1e-12, atol=1e-9
    )


def test_aggregates_are_over_observed_tasks_only() -> None:
    table = ex.Results.from_numpy([[1.0, np.nan, 5.0], [2.0, 4.0, 9.0]])
    aggregates = ex.scores.aggregate(table).agents
    assert aggregates.agent == ("agent 2", "agent 1"), "best first"
    assert aggregates.tasks.tolist() == [3, 2]
    assert aggregates.mean.tolist() == [5.0, 3.0]
    assert aggregates.median.tolist() == [4.0, 3.0]

"""Variance components against the analysis of variance and simulated truth; the decision study."""

import re

import numpy as np
import pytest

import examiner as ex


def simulated(
    shape: tuple[int, int, int], truth: tuple[float, float, float, float], seed: int = 0
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    agents, tasks, runs = shape
    parts = [(agents, 1, 1), (1, tasks, 1), (agents, tasks, 1), (agents, tasks, runs)]
    return sum(np.sqrt(v) * rng.normal(size=size) for v, size in zip(truth, parts, strict=True))


def components(scores: np.ndarray) -> np.ndarray:
    found = ex.scores.variance(ex.Results.from_numpy(scores), normalise=None)
    return np.array([found.agent, found.task, found.interaction, found.run])


def test_components_equal_the_analysis_of_variance_of_a_complete_table() -> None:
    x = simulated((6, 9, 4), (1.0, 2.0, 1.5, 1.0)) + 1000
    agents, tasks, runs = x.shape
    cells, rows, columns, grand = x.mean(2), x.mean((1, 2)), x.mean((0, 2)), x.mean()
    ms_agent = tasks * runs * ((rows - grand) ** 2).sum() / (agents - 1)
    ms_task = agents * runs * ((columns - grand) ** 2).sum() / (tasks - 1)
    off = cells - rows[:, None] - columns[None, :] + grand
    ms_both = runs * (off**2).sum() / ((agents - 1) * (tasks - 1))
    ms_run = ((x - cells[:, :, None]) ** 2).sum() / (agents * tasks * (runs - 1))
    expected = [
        (ms_agent - ms_both) / (tasks * runs),
        (ms_task - ms_both) / (agents * runs),
        (ms_both - ms_run) / runs,
        ms_run,
    ]
    np.testing.assert_allclose(components(x), expected, rtol=1e-8)


def test_components_recover_the_truth_with_gaps_and_uneven_runs() -> None:
    truth = np.array([1.0, 2.0, 0.5, 1.5])
    estimates = []
    for seed in range(60):
        scores = simulated((15, 15, 4), tuple(truth), seed)
        gaps = np.random.default_rng(seed + 1000).random(scores.shape) < 0.3
        gaps[:, :, 0] &= np.random.default_rng(seed + 2000).random((15, 15)) < 0.5
        scores[gaps] = np.nan
        estimates.append(components(scores))
    error = np.std(estimates, axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(np.mean(estimates, axis=0) - truth) < 4 * error).all()


def test_negative_estimates_are_shown_as_zero_and_flagged() -> None:
    flagged = [
        ex.scores.variance(
            ex.Results.from_numpy(simulated((4, 5, 2), (0, 0, 0, 1.0), seed)), normalise=None
        )
        for seed in range(10)
    ]
    assert any(found.truncated for found in flagged)
    for found in flagged:
        assert min(found.agent, found.task, found.interaction) >= 0
        for name in found.truncated:
            assert getattr(found, name) == 0
        assert bool(found.truncated) == any("was negative" in note for note in found.notes)


def test_without_repeated_runs_their_variance_is_counted_with_the_interaction() -> None:
    found = ex.scores.variance(
        ex.Results.from_numpy(simulated((20, 20, 1), (1.0, 1.0, 2.0, 1.0))), normalise=None
    )
    assert np.isnan(found.run)
    assert 2.5 < found.interaction < 3.6
    assert any("No cell has two runs" in note for note in found.notes)


@pytest.mark.parametrize("shape", [(1, 8, 3), (8, 1, 3), (1, 1, 3), (1, 1, 1)])
def test_one_agent_or_one_task_is_no_error(shape: tuple[int, int, int]) -> None:
    results = ex.Results.from_numpy(simulated(shape, (1.0, 1.0, 1.0, 1.0)))
    study = ex.scores.decision(results, normalise=None)
    assert study.headline
    if shape[2] > 1:
        assert study.components.run > 0


def test_shares_sum_to_one() -> None:
    found = ex.scores.variance(
        ex.Results.from_numpy(simulated((5, 6, 3), (1, 1, 1, 1))), normalise=None
    )
    assert sum(found.shares().values()) == pytest.approx(1)


def test_foreseen_error_is_the_spread_of_simulated_differences() -> None:
    truth = (0.0, 1.0, 0.5, 2.0)
    differences = []
    for seed in range(1500):
        scores = simulated((2, 8, 3), truth, seed)
        differences.append(np.subtract(*scores.mean(axis=(1, 2))))
    found = ex.scores.variance(ex.Results.from_numpy(simulated((60, 60, 4), truth)), normalise=None)
    foreseen = float(found.expected_error(8, 3))
    assert foreseen == pytest.approx(np.std(differences), rel=0.08)


def test_noisy_runs_ask_for_runs_and_fickle_tasks_for_tasks() -> None:
    noisy = ex.scores.decision(
        ex.Results.from_numpy(simulated((5, 20, 3), (1, 1, 0.0, 9.0))), normalise=None
    )
    fickle = ex.scores.decision(
        ex.Results.from_numpy(simulated((5, 20, 3), (1, 1, 9.0, 0.1))), normalise=None
    )
    claim = "More runs would make comparisons as much more precise as more tasks would. "
    assert noisy.headline.startswith(claim)
    assert "; more runs would not. " in fickle.headline
    assert "Twice the runs" in noisy.headline


def test_more_tasks_and_more_runs_never_hurt() -> None:
    study = ex.scores.decision(
        ex.Results.from_numpy(simulated((5, 10, 3), (1, 1, 1, 1))), normalise=None
    )
    for axis in (0, 1):
        assert (np.diff(study.difference, axis=axis) <= 0).all()
        assert (np.diff(study.reliability, axis=axis) >= 0).all()
    assert (study.difference_fixed <= study.difference).all()
    place = study.tasks.tolist().index(10), study.runs.tolist().index(3)
    assert study.difference[place] == pytest.approx(study.now)


def test_impossible_designs_are_refused() -> None:
    with pytest.raises(ex.InputError, match="numbers of runs must be at least 1"):
        ex.scores.decision(ex.Results.from_numpy(np.ones((2, 2))), runs=[0], normalise=None)


@pytest.mark.parametrize("missing", [0.3, 0.9])
def test_the_error_of_a_difference_counts_that_agents_have_few_and_other_tasks(missing):
    rng = np.random.default_rng(7)
    off, told = [], []
    for _ in range(20):
        ability, ease = rng.normal(0, 0.5, (40, 1)), rng.normal(0, 1.0, (1, 200))
        scores = ability + ease + rng.normal(0, 0.7, (40, 200))
        seen = rng.random(scores.shape) >= missing
        rows = np.nonzero(seen)
        table = {
            "agent": [f"a{row}" for row in rows[0]],
            "task": [f"t{column}" for column in rows[1]],
            "score": scores[rows].tolist(),
        }
        means = np.array([scores[row, seen[row]].mean() for row in range(40)])
        apart = (means[:, None] - means) - (ability - ability.T)
        off.append((apart**2)[np.triu_indices(40, 1)].mean())
        told.append(ex.scores.decision(ex.Results.from_dict(table), normalise=None).now ** 2)
    assert np.sqrt(np.mean(told) / np.mean(off)) == pytest.approx(1.0, abs=0.1)


def test_the_share_of_runs_is_what_runs_without_end_would_take_away_also_with_gaps():
    rng = np.random.default_rng(2)
    scores = 5 * rng.normal(size=(1, 12, 1)) + rng.normal(size=(4, 12, 5))
    scores[0, 6:] = scores[1, :6] = np.nan
    found = ex.scores.decision(ex.Results.from_numpy(scores), normalise=None)
    said = re.search(
        r"Runs make up (\d+) %.*from ([\d.]+) to .*task[s]?, to ([\d.]+)\.", found.headline
    )
    assert said is not None, found.headline
    share, now, most = map(float, said.groups())
    assert share / 100 == pytest.approx(1 - (most / now) ** 2, abs=0.02)
    assert share < 50 and "tasks that two of them do not share" in found.headline

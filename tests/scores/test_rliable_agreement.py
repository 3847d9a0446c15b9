"""Point values and percentile intervals against numbers that rliable itself gave."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import examiner as ex
from examiner.scores import AGGREGATES, Resampling, run_scores
from examiner.scores.bootstrap import Bootstrap, each_agent
from examiner.scores.improvement import overall, wins

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "reference" / "rliable" / "reference.json").read_text()
)


def results() -> ex.Results:
    """rliable's scores are [runs, tasks] and may have unlike numbers of runs."""
    rows: dict[str, list[Any]] = {"agent": [], "task": [], "run": [], "score": []}
    for agent, scores in REFERENCE["scores"].items():
        for run, row in enumerate(scores):
            for task, score in enumerate(row):
                for name, value in zip(rows, (agent, f"t{task}", run, score), strict=True):
                    rows[name].append(value)
    return ex.Results.from_dict(rows)


def tolerance(share: float, reps: int, other: int) -> float:
    """Five standard errors of the difference of two Monte-Carlo shares."""
    return float(5 * np.sqrt(share * (1 - share) * (1 / reps + 1 / other)))


def assert_same_quantile(drawn: np.ndarray, theirs: float, share: float, reps: int) -> None:
    """Their quantile is ours too, up to Monte-Carlo error; ties count on either side."""
    allowed = tolerance(share, len(drawn), reps)
    assert np.mean(drawn < theirs - 1e-9) <= share + allowed
    assert np.mean(drawn <= theirs + 1e-9) >= share - allowed


def test_point_values_equal_rliables() -> None:
    made = ex.scores.intervals(
        results(), REFERENCE["aggregates"], rng=np.random.default_rng(0), reps=10, normalise=None
    )
    for agent, values in zip(made.agent_names, made.value, strict=True):
        np.testing.assert_allclose(values, REFERENCE["points"][agent], rtol=0, atol=1e-12)


def test_percentile_intervals_agree_with_rliable_within_monte_carlo_error() -> None:
    how, table = Resampling(reps=20_000, interval="percentile"), run_scores(results())
    statistics = tuple(AGGREGATES[name].statistic for name in REFERENCE["aggregates"])
    evaluate = partial(each_agent, statistics=statistics)
    drawn = Bootstrap.of_scores(table, how).replicates(evaluate, np.random.default_rng(1))
    for agent, replicates in zip(table.agents, drawn, strict=True):
        for place, (low, high) in enumerate(zip(*REFERENCE["percentile"][agent], strict=True)):
            assert_same_quantile(replicates[place], low, 0.025, REFERENCE["reps"])
            assert_same_quantile(replicates[place], high, 0.975, REFERENCE["reps"])


@pytest.mark.parametrize("pair", REFERENCE["improvement"])
def test_probability_of_improvement_agrees_with_rliable(pair: str) -> None:
    a, b = pair.split(",")
    found = ex.scores.improvement(
        results(), a, b, rng=np.random.default_rng(0), reps=10, normalise=None
    )
    assert found.probability == pytest.approx(REFERENCE["improvement"][pair], abs=1e-12)
    table = run_scores(results())
    met = wins(table, table.agents.index(a), table.agents.index(b))
    bootstrap = Bootstrap.of_scores(table, Resampling(reps=20_000, interval="percentile"))
    meetings = partial(overall, pairs=(met,))
    drawn = bootstrap.replicates(meetings, np.random.default_rng(2))[0]
    low, high = REFERENCE["improvement_percentile"][pair]
    assert_same_quantile(drawn, low, 0.025, REFERENCE["improvement_reps"])
    assert_same_quantile(drawn, high, 0.975, REFERENCE["improvement_reps"])


def test_performance_profiles_equal_rliables() -> None:
    for kind, key in (("runs", "run_profiles"), ("averages", "average_profiles")):
        made = ex.scores.profiles(
            results(),
            REFERENCE["thresholds"],
            kind,
            rng=np.random.default_rng(0),
            reps=10,
            normalise=None,
        )
        for agent, share in zip(made.agent_names, made.share, strict=True):
            np.testing.assert_allclose(share, REFERENCE[key][agent], atol=1e-12)


def test_percentile_bands_of_profiles_agree_with_rliable() -> None:
    made = ex.scores.profiles(
        results(),
        REFERENCE["thresholds"],
        interval="percentile",
        rng=np.random.default_rng(0),
        normalise=None,
    )
    for agent, low, high in zip(made.agent_names, made.low, made.high, strict=True):
        theirs = np.array(REFERENCE["run_profile_bands"][agent])
        # Shares of 36 to 60 runs come in steps: a quantile is off by some steps at the most.
        step = 1 / (12 * len(REFERENCE["scores"][agent]))
        assert np.abs(low - theirs[0]).max() <= 2.1 * step
        assert np.abs(high - theirs[1]).max() <= 2.1 * step

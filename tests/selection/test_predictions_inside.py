"""A prediction lies inside its own interval, however skewed scores are."""

import numpy as np
import pytest

from examiner.results import Results
from examiner.scores import Recipe
from examiner.selection import Holdout, benchmark, distil, place
from examiner.selection.intervals import Reach, calibrated


def skewed(agents: int, tasks: int, between: float, within: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    strength = np.exp(between * rng.normal(size=agents))
    return strength[:, None] * np.exp(within * rng.normal(size=(agents, tasks)))


@pytest.mark.parametrize(("between", "within"), [(1.5, 2.0), (2.0, 1.0), (0.5, 2.0)])
def test_no_prediction_of_skewed_scores_is_on_the_edge(between: float, within: float) -> None:
    cells = skewed(140, 20, between, within, seed=5)
    tasks = [f"t{task}" for task in range(20)]
    names = [f"a{agent}" for agent in range(140)]
    old = Results.from_numpy(cells[:100], agents=names[:100], tasks=tasks)
    tiny = distil(benchmark(old, Recipe()), 4, rng=0, holdout=Holdout(4, draws=2))
    few = [tasks.index(task) for task in tiny.chosen.tasks]
    new = Results.from_numpy(cells[100:][:, few], agents=names[100:], tasks=list(tiny.chosen.tasks))
    for agent in place(new, tiny).agents:
        assert agent.predicted_low < agent.predicted < agent.predicted_high


def test_an_interval_covers_agents_like_those_seen_and_holds_its_prediction() -> None:
    rng = np.random.default_rng(0)
    truth = rng.exponential(size=400)
    said = 1 + 0.5 * (truth - 1) + 0.3 * rng.normal(size=400)
    known = calibrated(truth[:200], said[:200], 0.9)
    found = known.interval(said[200:], Reach())
    assert (found.low < found.value).all() and (found.value < found.high).all()
    inside = (found.low <= truth[200:]) & (truth[200:] <= found.high)
    assert inside.mean() > 0.86  # 0.9, less two standard errors of 200 agents

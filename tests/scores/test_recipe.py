"""The recipe that turns raw results into responses treats a newcomer as it treated the first table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex
from examiner.results import Provenance, Results, Scales, TaskScale
from examiner.scores.recipe import Recipe, prepare

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(8, 5, 3)) * 10 + 20
SCALES = Scales(
    TaskScale(f"task {n}", random=5.0, reference=25.0 - n, direction="higher") for n in range(1, 5)
) + Scales([TaskScale("task 5", random=40.0, reference=10.0, direction="lower")])


def results(values: np.ndarray = TABLE) -> Results:
    names = [f"agent {n}" for n in range(1, len(values) + 1)]
    return Results.from_numpy(values, agents=names, scales=SCALES)


def stored(recipe: Recipe) -> Recipe:
    return Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))


@pytest.mark.parametrize("normalise", [None, "human", "random-only", "log", "z-score", "min-max"])
@pytest.mark.parametrize("success", [0.6, None])
def test_an_agent_of_the_first_table_responds_as_it_did(normalise, success) -> None:
    made = prepare(results(), normalise, success)
    again = stored(made.recipe).responses(results(TABLE[2:3]))
    assert again.is_counts == made.matrix.is_counts
    np.testing.assert_allclose(
        again.to_numpy()[0], made.matrix.to_numpy()[2], rtol=1e-12, atol=1e-12
    )


def test_rank_counts_every_agent_of_the_first_table() -> None:
    made = prepare(results(), "rank")
    best = np.full((1, 5), 1000.0)
    best[0, 4] = -1000.0  # lower is better there
    assert stored(made.recipe).responses(results(best)).to_numpy().tolist() == [[1.0] * 5]
    own = stored(made.recipe).responses(results(TABLE.mean(axis=2)[:1])).to_numpy()[0]
    first = made.matrix.to_numpy()[0]
    # against all 8 and itself (a tie, half) instead of the 7 others; one trial a cell
    single = prepare(results(TABLE.mean(axis=2)), "rank").matrix.to_numpy()[0]
    np.testing.assert_allclose(own, (single * 7 + 0.5) / 8)
    assert first.shape == own.shape


def test_beating_an_agent_is_kept_as_its_means() -> None:
    made = prepare(results(), beating="agent 3")
    whole = stored(made.recipe).responses(results())
    others = [agent for agent in whole.agents if agent != "agent 3"]
    rows = [whole.agents.index(agent) for agent in others]
    assert whole.take(agents=rows) == made.matrix


@pytest.mark.parametrize("success", ["reference", "random"])
def test_a_threshold_of_each_task_comes_from_the_stored_scales(success) -> None:
    made = prepare(results(), success=success, share=0.5)
    bare = Results.from_numpy(TABLE[:2], agents=["x", "y"])  # the newcomer brings no scales
    assert stored(made.recipe).responses(bare).to_numpy().tolist() == (
        made.matrix.to_numpy()[:2].tolist()
    )


def test_training_logs_are_reduced_alike() -> None:
    rows = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0] * 4, "trial": [0, 1, 2, 3]}
    log = Results.from_dict(rows | {"score": [0, 0, 6, 8]}, provenance=Provenance(training=True))
    made = prepare(log, reduce="last:2", success=7.0)
    assert made.recipe.reduction == "last:2"
    assert stored(made.recipe).responses(log).to_numpy().tolist() == [[1.0]]


def test_what_cannot_be_treated_alike_is_said() -> None:
    recipe = prepare(results(), success=1.0).recipe
    with pytest.raises(ex.InputError, match="for the measure 'score', and the results have 'win'"):
        recipe.responses(Results.from_numpy([[1.0]], measure="win"))
    with pytest.raises(ex.InputError, match="cannot be stored in a recipe"):
        prepare(results(), lambda scores: scores.values)
    wins = prepare(Results.from_numpy([[1.0], [0.0]])).recipe
    with pytest.raises(ex.InputError, match="not made of zeros and ones"):
        wins.responses(Results.from_numpy([[0.5]]))
    with pytest.raises(ex.InputError, match="no recipe"):
        Recipe.from_dict({"measure": "score"})

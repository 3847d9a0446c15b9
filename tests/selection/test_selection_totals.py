"""Targets and placement by totals: levels, weights and chance levels, stored and opened again."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import examiner as ex
from examiner.scores import chance_scales, total
from examiner.selection import benchmark, place, select

GROUPS = ["art"] * 12 + ["law"] * 3


def table(agents: int = 14, seed: int = 0) -> ex.Results:
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=(agents, 1)) * 1.5 - rng.normal(size=15)
    values = (rng.random((agents, 15)) < 1 / (1 + np.exp(-logit))).astype(float)
    agent, task = np.indices(values.shape)
    return ex.Results.from_dict(
        {
            "agent": [f"a{row}" for row in agent.ravel()],
            "task": [f"t{column}" for column in task.ravel()],
            "score": values.ravel(),
            "subtask": [GROUPS[column] for column in task.ravel()],
        }
    )


def macro(values: np.ndarray) -> np.ndarray:
    return (values[:, :12].mean(axis=1) + values[:, 12:].mean(axis=1)) / 2


def test_the_target_is_the_total_of_the_recipe() -> None:
    results = table()
    whole = benchmark(results, ex.Recipe(total=total(results, "subtask")))
    values = ex.scores.cell_means(results)
    assert_allclose(whole.truth(whole.everyone, values), macro(values))
    assert_allclose(whole.weights, [1 / 24] * 12 + [1 / 6] * 3)


def test_a_macro_mean_by_groups_and_by_a_level_is_the_same() -> None:
    results = table()
    groups = {f"t{column}": group for column, group in enumerate(GROUPS)}
    by_groups = benchmark(
        results, target="macro-mean", constraints=ex.selection.Constraints(groups=groups)
    )
    micro = total(results, "subtask", "micro")
    by_level = benchmark(results, ex.Recipe(total=micro), target="macro-mean")
    values = ex.scores.cell_means(results)
    for whole in (by_groups, by_level):
        assert_allclose(whole.truth(whole.everyone, values), macro(values))


def test_who_met_every_task_is_placed_by_the_stored_total(tmp_path: Path) -> None:
    results = table()
    recipe = ex.Recipe(total=total(results, "subtask", weights={"law": 3.0}))
    chosen = select(benchmark(results, recipe), 3, "spread", rng=0)
    opened = ex.load_saved(ex.save(chosen, tmp_path / "chosen.json"))
    new = table(2, seed=9)
    values = ex.scores.cell_means(new)
    expected = (values[:, :12].mean(axis=1) + 3 * values[:, 12:].mean(axis=1)) / 4
    placed = place(new, opened)
    assert [placed[agent].predicted for agent in new.agents] == pytest.approx(expected.tolist())
    assert placed.agents.observed.all()


def test_placement_is_on_the_scale_of_chance() -> None:
    results = table()
    scaled = results.with_scales(chance_scales(results, {"art": 0.25, "law": 0.5}, "subtask"))
    recipe = ex.Recipe(normaliser="chance", total=total(results, "subtask"))
    chosen = select(benchmark(scaled, recipe), 3, "spread", rng=0)
    new = table(1, seed=4)  # its scales are those that the recipe learnt
    values = ex.scores.cell_means(new)
    art, law = values[0, :12].mean(), values[0, 12:].mean()
    expected = ((art - 0.25) / 0.75 + (law - 0.5) / 0.5) / 2
    assert place(new, chosen)[0].predicted == pytest.approx(expected)


def test_medians_of_totals_are_refused() -> None:
    results = table()
    with pytest.raises(ex.InputError, match="The target 'median' knows no levels or weights"):
        benchmark(results, ex.Recipe(total=total(results, "subtask")), target="median")

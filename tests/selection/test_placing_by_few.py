"""Agents placed by a few tasks: gaps among them are counted, observed values are not predicted."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.selection import Selection, place, select


def one_factor(agents: int, tasks: int, seed: int, prefix: str) -> ex.Results:
    """Scores of one ability, with loadings that are the same for every seed."""
    loading = np.random.default_rng(99).uniform(0.5, 1.5, tasks)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(agents, 1)) * loading + rng.normal(size=(agents, tasks))
    return ex.Results.from_numpy(scores, agents=[f"{prefix}{n}" for n in range(agents)])


@pytest.fixture(scope="module")
def chosen() -> Selection:
    return select(one_factor(80, 20, 1, "a"), 6, "covariance", rng=0)


def with_few(results: ex.Results, chosen: Selection, count: int) -> ex.Results:
    """Only the first of the chosen tasks."""
    kept = [results.tasks.index(task) for task in chosen.chosen.tasks[:count]]
    return results.where(np.isin(results.task_codes, kept))


def comparable(results: ex.Results, chosen: Selection) -> np.ndarray:
    """Scores in the unit that predictions are made in, [agents, tasks]."""
    return chosen.recipe.values(chosen.recipe.ready(results))


@pytest.mark.parametrize("count", [6, 3, 1])
def test_intervals_hold_the_truth_however_many_of_the_chosen_tasks_were_run(
    chosen: Selection, count: int
) -> None:
    new = one_factor(300, 20, 2, "new")
    truth = comparable(new, chosen).mean(axis=1)
    placed = place(with_few(new, chosen, count), chosen)
    inside = [
        placed[agent].predicted_low <= value <= placed[agent].predicted_high
        for agent, value in zip(new.agents, truth, strict=True)
    ]
    assert 0.82 < np.mean(inside) < 0.99


def test_fewer_tasks_run_give_wider_intervals(chosen: Selection) -> None:
    new = one_factor(40, 20, 3, "new")
    widths = [
        np.mean(placed.predicted_high - placed.predicted_low)
        for placed in (place(with_few(new, chosen, count), chosen).agents for count in (6, 3, 1))
    ]
    assert widths[0] < widths[1] < widths[2]


def test_an_agent_that_met_every_task_is_told_as_observed(chosen: Selection) -> None:
    new = one_factor(3, 20, 4, "new")
    placed = place(new, chosen)
    assert (np.diff(placed.agents.predicted) <= 0).all()
    for agent, scores in zip(new.agents, comparable(new, chosen), strict=True):
        row = placed[agent]
        assert row.observed and not row.beyond and not row.calibrated
        assert row.predicted == row.predicted_low == row.predicted_high
        assert row.predicted == pytest.approx(scores.mean())
    assert len(placed.predictions) == 0


def test_an_agent_of_the_calibration_set_is_not_ranked_among_itself(chosen: Selection) -> None:
    known = with_few(one_factor(80, 20, 1, "a"), chosen, 6)
    placed = place(known, chosen).agents
    assert set(placed.among) == {80} and placed.calibrated.all()
    assert set(place(with_few(one_factor(2, 20, 5, "b"), chosen, 6), chosen).agents.among) == {81}


def test_tasks_that_were_not_run_are_predicted(chosen: Selection) -> None:
    new = with_few(one_factor(2, 20, 5, "b"), chosen, 4)
    placed = place(new, chosen)
    assert placed["b0"].missing == chosen.chosen.tasks[4:]
    predicted = [row.task for row in placed.predictions if row.agent == "b0"]
    assert set(predicted) == set(chosen.predictor.all_tasks) - set(chosen.chosen.tasks[:4])
    assert place(new.to_pandas(), chosen)["b0"] == placed["b0"]


def test_the_headline_names_the_agent_with_the_highest_prediction(chosen: Selection) -> None:
    placed = place(with_few(one_factor(3, 20, 5, "b"), chosen, 6), chosen)
    best = placed.agents[0]
    assert best.predicted == placed.agents.predicted.max()
    assert placed.headline == (
        f"{best.agent} has a predicted mean of {best.predicted:.3g} (90 % interval "
        f"{best.predicted_low:.3g} to {best.predicted_high:.3g}), rank {best.best_rank} to "
        f"{best.worst_rank} of 81, the highest of 3 agents."
    )


def test_shares_of_successes_stay_between_0_and_1_and_nothing_else_is_taken() -> None:
    rng = np.random.default_rng(0)
    easy = rng.normal(size=30)
    won = (rng.normal(size=(40, 1)) + easy + rng.logistic(size=(40, 30)) > 0).astype(float)
    chosen = select(ex.Results.from_numpy(won), 5, "covariance", rng=0)
    ends = np.stack([np.zeros(5), np.ones(5)])
    placed = place(ex.Results.from_numpy(ends, tasks=list(chosen.chosen.tasks)), chosen)
    for row in placed.agents:
        assert 0 <= row.predicted_low <= row.predicted <= row.predicted_high <= 1
    ends[0, 2] = 57
    with pytest.raises(ex.InputError, match=r"has 57 on .* between 0 and 1"):
        place(ex.Results.from_numpy(ends, tasks=list(chosen.chosen.tasks)), chosen)


def test_a_doubtful_choice_is_told_again_where_it_is_used(tmp_path: Path) -> None:
    noise = np.random.default_rng(3).normal(size=(30, 12))
    table, new, stored = (tmp_path / name for name in ("noise.csv", "new.csv", "chosen.json"))
    for path, rows in ((table, noise), (new, noise[:2] + 0.1)):
        lines = [f"{path.stem}{n}," + ",".join(map(str, row)) for n, row in enumerate(rows)]
        path.write_text("\n".join(["agent," + ",".join(f"t{n}" for n in range(12)), *lines]))
    chosen = select(ex.read(table), 2, "spread", rng=0)
    assert any(note.startswith("Warning") for note in chosen.notes)
    ex.save(chosen, stored)
    done = CliRunner().invoke(app, ["place", str(new), "--with", str(stored)])
    assert done.exit_code == 0 and "Warning: 2 tasks" in done.stderr


def test_too_few_agents_give_no_finite_interval_and_the_headline_says_so() -> None:
    results = one_factor(6, 5, 1, "a")
    chosen = select(results, 2, "spread")
    placed = place(with_few(one_factor(1, 5, 2, "new"), chosen, 2), chosen)
    assert np.isinf(placed["new0"].predicted_low)
    assert "(too few agents for a 90 % interval)" in placed.headline
    assert placed.to_dict()["agents"][0]["predicted_low"] is None

"""Selections and judgements are answers: the same typed columns in Python, JSON and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.answers import StoredAnswer

QUICK = ex.selection.Holdout(4, draws=5, reps=20)


@pytest.fixture(scope="module")
def results() -> ex.Results:
    rng = np.random.default_rng(0)
    return ex.Results.from_numpy(rng.normal(size=(16, 1)) + 0.5 * rng.normal(size=(16, 8)))


@pytest.fixture(scope="module")
def judged(results: ex.Results) -> ex.selection.Selection:
    return ex.selection.select_and_judge(results, 3, holdout=QUICK)


def test_a_path_a_frame_and_a_dictionary_select_as_results_do(
    results: ex.Results, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    ex.write(results, path)
    values = results.measure().reshape(16, 8)
    arrays = {agent: values[row][None] for row, agent in enumerate(results.agents)}
    expected = ex.selection.select(results, size=3).tasks.task
    for source in (path, ex.read(path).to_pandas(), arrays):
        assert ex.selection.select(source, size=3).tasks.task == expected


def test_the_figures_of_a_selection_are_those_of_its_judgement(
    results: ex.Results, judged: ex.selection.Selection
) -> None:
    judgement = ex.selection.judge(results, [3], ["covariance"], holdout=QUICK)
    content = judged.to_dict()
    assert content["r2"] == judgement.row("covariance", 3).r2
    assert content["mae"] == judgement.row("covariance", 3).mae == judged.record.error  # type: ignore[union-attr]
    assert content["random_mae"] == judgement.row("random", 3).mae
    assert judged.headline == (
        f"3 of 8 tasks predict the mean of held-out agents with R² {content['r2']:.3g} (95 % interval "
        f"{content['r2_low']:.3g} to {content['r2_high']:.3g}; random selections: "
        f"{content['random_r2']:.3g}) and a mean absolute error of {content['mae']:.3g}."
    )


def test_weights_and_correlations_of_tasks_are_those_of_their_definition(
    results: ex.Results,
) -> None:
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    chosen = ex.selection.select(whole, 3)
    values = results.measure().reshape(16, 8)
    truth = values.mean(axis=1)
    columns = [results.tasks.index(task) for task in chosen.tasks.task]
    expected = [np.corrcoef(values[:, column], truth)[0, 1] for column in columns]
    assert chosen.tasks.correlation == pytest.approx(expected)
    moved = (
        chosen.predictor.aggregate(
            values[:1, columns] + np.diag(values[:, columns].std(axis=0))
        ).value
        - chosen.predictor.aggregate(values[:1, columns]).value
    )
    assert chosen.tasks.weight == pytest.approx(moved / truth.std())


def test_a_stored_selection_keeps_tasks_and_record_but_no_reasons(
    judged: ex.selection.Selection, tmp_path: Path
) -> None:
    opened = ex.load_saved(ex.save(judged, tmp_path / "chosen.json"))
    assert opened.tasks.task == judged.tasks.task
    assert list(opened.tasks.columns) == ["task", "gain"]
    assert opened.record == judged.record and opened.judgement is None
    assert opened.to_dict()["mae"] == judged.to_dict()["mae"]
    assert "mean absolute error" in opened.headline


def test_answers_are_read_back_from_json(
    results: ex.Results, judged: ex.selection.Selection
) -> None:
    added = ex.selection.adds(results, "task 8", reps=5)
    placed = ex.selection.place(results, judged)
    for answer in (judged, judged.judgement, added, placed):
        assert answer is not None
        assert StoredAnswer.from_json(answer.to_json()).to_dict() == answer.to_dict()
        assert answer.headline in answer._repr_html_().replace("&#x27;", "'")

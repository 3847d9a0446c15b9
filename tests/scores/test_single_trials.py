"""Tables of one row a cell are looked at as they lie, and say what they say row by row."""

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.information import moments, observe
from examiner.scores import RowCodes, cell_means, run_scores, variance


def _tables() -> dict[str, ex.Results]:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(9, 7))
    gaps = np.where(rng.random((9, 7)) < 0.3, np.nan, scores)
    gaps[0], gaps[:, 0] = scores[0], scores[:, 0]
    rows = [
        {"agent": f"agent {a}", "task": f"task {t}", "score": scores[a, t]}
        for a in range(9)
        for t in range(7)
    ]
    return {
        "in order": ex.Results.from_numpy(scores),
        "with gaps": ex.Results.from_numpy(gaps),
        "zeros and ones": ex.Results.from_numpy((scores > 0).astype(float)),
        "shuffled": ex.Results.from_frame(
            pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1)
        ),
    }


@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
@pytest.mark.parametrize("name", ["in order", "with gaps", "zeros and ones", "shuffled"])
def test_what_is_looked_at_as_it_lies_is_what_rows_say(name: str, monkeypatch) -> None:
    results = _tables()[name]
    assert RowCodes.of(results).single() is not None

    def told() -> list[np.ndarray]:
        strata = run_scores(results).strata
        parts = [part for one in strata for part in (one.tasks, one.runs, one.scores, one.means)]
        seen = moments(observe(results))
        split = variance(results)
        components = np.array([split.agent, split.task, split.interaction, split.runs])
        return [cell_means(results), *parts, *seen, components]

    lying = told()
    monkeypatch.setattr(RowCodes, "single", lambda codes: None)
    for one, other in zip(lying, told(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_two_rows_of_a_cell_are_seen() -> None:
    agent, task = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])
    assert RowCodes(agent, task, np.array([0, 1, 0, 0]), (2, 2)).single() is None
    single = RowCodes(agent[1:], task[1:], np.zeros(3, int), (2, 2)).single()
    assert single.tolist() == [0, 3, 2]

"""Matrices held by their observed cells: the same matrix, in memory that goes by what was observed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.results import ObservedCells, connections


def holed(seed: int, trials: int = 3, shape: tuple[int, int] = (9, 7)) -> ex.ResponseMatrix:
    rng = np.random.default_rng(seed)
    tried = rng.integers(0, trials + 1, shape) * (rng.random(shape) < 0.4)
    tried[0, 0] = trials
    return ex.ResponseMatrix.from_counts(rng.binomial(tried, 0.5), tried)


def wide_rows(count: int = 4000) -> pl.DataFrame:
    """Few results of many agents on many tasks, some cells met more than once."""
    rng = np.random.default_rng(5)
    agent, task = (
        np.append(rng.integers(0, 4000, count), range(4000)),
        rng.integers(0, 3500, count + 4000),
    )
    won = rng.random(len(agent)) < 0.5
    names = {"agent": pl.Series(agent).cast(pl.String), "task": pl.Series(task).cast(pl.String)}
    return pl.DataFrame({**names, "win": won})


@given(st.integers(0, 10_000))
def test_a_matrix_is_the_same_whichever_way_it_is_held(seed: int) -> None:
    dense = holed(seed)
    sparse = dense.as_sparse()
    assert sparse == dense and dense == sparse
    assert repr(sparse) == repr(dense)
    assert sparse.to_dict() == dense.to_dict()
    assert sparse.most_trials == dense.most_trials
    np.testing.assert_array_equal(sparse.to_numpy(), dense.to_numpy())
    np.testing.assert_array_equal(sparse.observed, dense.observed)
    np.testing.assert_array_equal(sparse.trials, dense.trials)
    assert sparse.as_values() == dense.as_values()


@given(st.integers(0, 10_000))
def test_some_agents_and_tasks_in_any_order_are_those_of_the_table(seed: int) -> None:
    dense, rng = holed(seed), np.random.default_rng(seed)
    rows = rng.permutation(9)[: rng.integers(1, 10)].tolist()
    columns = rng.permutation(7)[: rng.integers(1, 8)].tolist()
    for agents, tasks in ((rows, columns), (rows, None), (None, columns), (range(2, 5), None)):
        taken = dense.as_sparse().take(agents, tasks)
        assert taken.observed_cells is not None
        assert taken == dense.take(agents, tasks)


@given(st.integers(0, 10_000))
def test_groups_of_lists_of_cells_are_those_of_the_table(seed: int) -> None:
    dense = holed(seed, shape=(9, 14))
    here, there = connections(dense), connections(dense.as_sparse())
    np.testing.assert_array_equal(here.agent_group, there.agent_group)
    np.testing.assert_array_equal(here.task_group, there.task_group)
    assert here.warnings == there.warnings


def test_trials_in_any_order_are_counted_cell_by_cell() -> None:
    rng = np.random.default_rng(2)
    row, column, won = rng.integers(0, 5, 300), rng.integers(0, 6, 300), rng.random(300) < 0.4
    cells = ObservedCells.counted((5, 6), row, column, won)
    tried, successes = np.zeros((2, 5, 6), dtype=int)
    np.add.at(tried, (row, column), 1)
    np.add.at(successes, (row[won], column[won]), 1)
    np.testing.assert_array_equal(cells.laid_out(0), successes)
    np.testing.assert_array_equal(cells.laid_out(1), tried)


def test_responses_of_a_large_table_with_few_results_are_held_by_observed_cells(
    tmp_path: Path,
) -> None:
    frame = wide_rows()
    matrix = ex.responses(ex.Results.from_frame(frame))
    assert matrix.observed_cells is not None
    counted = frame.group_by("agent", "task").agg(pl.len(), pl.col("win").sum())
    assert len(matrix.observed_cells) == len(counted)
    told = matrix.to_dict()
    for agent, task, trials, won in counted.iter_rows():
        assert told[agent][task] == pytest.approx(won / trials)
    again = ex.ResponseMatrix.load(matrix.save(tmp_path / "m.parquet"))
    assert again.observed_cells is not None and again == matrix


def test_scores_and_shares_of_a_large_table_are_held_by_observed_cells(tmp_path: Path) -> None:
    frame = wide_rows().with_columns(score=pl.col("win") * 2.5 + 0.5)
    results = ex.Results.from_frame(frame, measures=["score"])
    means = ex.responses(results)
    assert means.observed_cells is not None and not means.is_counts
    expected = frame.group_by("agent", "task").agg(pl.col("score").mean())
    told = means.to_dict()
    assert all(
        told[agent][task] == pytest.approx(mean) for agent, task, mean in expected.iter_rows()
    )
    assert ex.ResponseMatrix.load(means.save(tmp_path / "m.parquet")) == means
    shares = ex.responses(results, success=1.0, share=0.6)
    assert shares.observed_cells is not None and shares.most_trials == 1
    won = expected.filter(pl.col("score") >= 0.5 + 2.5 * 0.6 - 1e-9)
    assert float(shares.observed_cells.parts[0].sum()) == len(won)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (([0], [0], [2], 1), r"Cell 1 counts 2 successes of 1 trials"),
        (([0], [5], [1], 1), r"of agent 0 and task 5\. Name agents and tasks by position"),
        (([0, 0], [1, 1], [1, 0], 1), r"The cell of agent 'a' and task 'u' is named twice"),
        (([0], [0.5], [1], 1), r"Cells are no lists of whole numbers"),
    ],
)
def test_cells_that_cannot_be_are_refused(cells: tuple[object, ...], said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        ex.ResponseMatrix.from_cells(*cells, agents=["a", "b"], tasks=["t", "u"])  # type: ignore[arg-type]


@pytest.mark.parametrize("agents", [[-3], [-2, 0], [-1], range(-5, -3), [-2, -1]])
def test_positions_from_the_end_are_those_of_the_whole_table(agents) -> None:
    dense = ex.ResponseMatrix.from_array(
        [[1, 1, 1], [0, 0, 0], [1, np.nan, 1], [0, 1, 0], [1, 1, 0]], agents=list("abcde")
    )
    assert dense.as_sparse().take(agents) == dense.take(agents)


def test_stored_values_that_are_named_twice_or_without_a_name_are_refused(tmp_path: Path) -> None:
    stored = ex.ResponseMatrix.from_array([[0.25, 0.5], [np.nan, 1.5]]).save(tmp_path / "m.parquet")
    frame, note = pl.read_parquet(stored), pl.read_parquet_metadata(stored)
    note = {name: text for name, text in note.items() if name != "ARROW:schema"}
    for broken, said in (
        (pl.concat([frame, frame.head(1)]), "named twice"),
        (frame.with_columns(pl.lit(None, frame["agent"].dtype).alias("agent")), "without agent"),
    ):
        broken.write_parquet(tmp_path / "b.parquet", metadata=note)
        with pytest.raises(ex.InputError, match=said):
            ex.ResponseMatrix.load(tmp_path / "b.parquet")
    whole = frame.with_columns(pl.col("value").mul(4).cast(pl.Int64))
    whole.write_parquet(tmp_path / "i.parquet", metadata=note)
    np.testing.assert_array_equal(
        ex.ResponseMatrix.load(tmp_path / "i.parquet").to_numpy(), [[1, 2], [np.nan, 6]]
    )


def test_a_large_array_of_which_little_was_observed_is_stored_as_a_list() -> None:
    rng = np.random.default_rng(2)
    values = np.where(rng.random((4000, 3000)) < 0.02, rng.random((4000, 3000)) < 0.5, np.nan)
    matrix = ex.ResponseMatrix.from_array(values)
    assert matrix.observed_cells is not None
    assert len(matrix.observed_cells) == np.isfinite(values).sum()
    tried = np.isfinite(values).astype(np.uint8)
    counted = ex.ResponseMatrix.from_counts(np.nan_to_num(values).astype(np.uint8), tried)
    assert counted.observed_cells is not None and counted == matrix
    scores = ex.ResponseMatrix.from_array(0.5 * values)
    assert scores.observed_cells is not None and not scores.is_counts
    np.testing.assert_array_equal(scores.to_numpy(), 0.5 * values)

"""The order by content: neither names nor places of agents and tasks change it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examiner.results import (
    ResponseMatrix,
    Results,
    matrix_in_content_order,
    order_of_table,
    results_in_content_order,
)


@settings(max_examples=400)
@given(st.integers(0, 10_000))
def test_permuted_tables_are_put_into_the_same_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, size=(rng.integers(8, 14), rng.integers(8, 20))).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])
    permuted = table[np.ix_(rows, columns)]
    names = [[f"{kind}{place}" for place in range(20)] for kind in "at"]
    ordered = []
    for values in (table, permuted):
        order = order_of_table(values, names[0][: len(table)], names[1][: table.shape[1]])
        ordered.append(values[np.ix_(*order)])
    np.testing.assert_array_equal(*ordered)


@pytest.mark.parametrize("levels", [False, True])
def test_results_in_content_order_are_the_same_results(levels: bool) -> None:
    rng = np.random.default_rng(0)
    results = Results.from_numpy(rng.normal(size=(5, 4, 3)).round(2))
    if levels:
        frame = results.to_polars().with_columns(level=pl.col("run"), run=pl.lit(1))
        results = Results.from_frame(frame, item=["level"])
    ordered = results_in_content_order(results)
    assert sorted(ordered.agents) == sorted(results.agents) and ordered.agents != results.agents
    assert ordered == results or sorted(map(str, ordered.to_polars().rows())) == sorted(
        map(str, results.to_polars().rows())
    )
    again = results_in_content_order(ordered)
    assert (again.agents, again.tasks) == (ordered.agents, ordered.tasks)
    np.testing.assert_array_equal(again.measure(), ordered.measure())


@pytest.mark.parametrize("sparse", [False, True])
def test_matrices_are_ordered_by_content_however_they_are_stored(sparse: bool) -> None:
    values = (np.random.default_rng(1).random((9, 12)) < 0.5).astype(float)
    matrix = ResponseMatrix.from_array(values)
    turned = ResponseMatrix.from_array(values[::-1, ::-1])
    if sparse:
        matrix = matrix.as_sparse()
    first, second = (matrix_in_content_order(part).to_numpy() for part in (matrix, turned))
    np.testing.assert_array_equal(first, second)

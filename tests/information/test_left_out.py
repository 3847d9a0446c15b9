"""Statistics without groups of rows, from sums, are those of the rows that are left."""

import numpy as np

from examiner.information.decomposition import mean_correlation, standard_scores
from examiner.information.first_factors import first_share
from examiner.information.left_out import correlations_without, first_shares_without


def _table() -> np.ndarray:
    rng = np.random.default_rng(3)
    table = (rng.normal(size=(90, 1)) > rng.normal(size=(90, 40))).astype(float)
    table[:, 7] = 0.0
    table[11, 7] = 1.0  # varies by one row alone: without its group it is constant
    table[:, 8] = 1e6 + rng.normal(size=90)
    return table


def test_mean_correlations_without_groups_are_those_of_the_rows_left() -> None:
    table, group = _table(), np.arange(90) % 12
    left = [mean_correlation(table[group != number]) for number in range(12)]
    np.testing.assert_allclose(correlations_without(table, group), left, rtol=1e-9)


def test_first_shares_without_groups_are_those_of_the_rows_left() -> None:
    table, group = _table(), np.arange(90) % 12
    left = [first_share(standard_scores(table[group != number])) for number in range(12)]
    np.testing.assert_allclose(first_shares_without(table, group), left, rtol=1e-9)


def test_nothing_is_known_where_no_column_varies() -> None:
    assert np.isnan(correlations_without(np.ones((6, 3)), np.arange(6))).all()
    assert np.isnan(first_shares_without(np.ones((6, 3)), np.arange(6))).all()

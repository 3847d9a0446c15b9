"""Tables with gaps: sums over common rows say what looking pair by pair does."""

import numpy as np
import pytest

from examiner.information.decomposition import mean_correlation, standard_scores
from examiner.information.first_factors import first_share
from examiner.information.gaps import (
    first_shares_without,
    mean_over_gaps,
    means_over_gaps_without,
)
from examiner.scores import correlate_columns


def _complete() -> np.ndarray:
    rng = np.random.default_rng(3)
    table = (rng.normal(size=(90, 1)) > rng.normal(size=(90, 40))).astype(float)
    table[:, 7] = 0.0
    table[11, 7] = 1.0  # varies by one row alone: without its group it is constant
    table[:, 8] = 1e6 + rng.normal(size=90)
    return table


def _table(*, binary: bool) -> np.ndarray:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(90, 1)) - rng.normal(size=(90, 30))
    if binary:
        table = (table > 0).astype(float)
    else:
        table[:, 4] += 1e6
    table[:, 7] = 0.0
    table[11, 7] = 1.0  # varies by one row alone: without its group it is constant
    table[rng.random(table.shape) < 0.5] = np.nan
    table[11, 7] = 1.0
    return table


def _pair_by_pair(table: np.ndarray) -> np.ndarray:
    columns = table.shape[1]
    found = np.full((columns, columns), np.nan)
    for i in range(columns):
        for j in range(columns):
            both = np.isfinite(table[:, i]) & np.isfinite(table[:, j])
            x, y = table[both, i], table[both, j]
            if both.sum() >= 3 and np.ptp(x) > 0 and np.ptp(y) > 0:
                found[i, j] = np.corrcoef(x, y)[0, 1]
    return found


@pytest.mark.parametrize("binary", [True, False])
def test_correlations_over_common_rows_are_those_of_each_pair(
    binary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(binary=binary)
    monkeypatch.setattr("examiner.scores.common_rows.TOGETHER", 7)
    found, pairs = correlate_columns(table)
    np.testing.assert_allclose(found, _pair_by_pair(table), atol=1e-9)
    seen = np.isfinite(table).astype(int)
    np.testing.assert_array_equal(pairs, seen.T @ seen)


def test_ranks_of_two_values_correlate_as_the_values_do() -> None:
    table = _table(binary=True) * np.arange(1.0, 31.0) - 5.0
    ranked = correlate_columns(table, "spearman")[0]
    np.testing.assert_allclose(ranked, _pair_by_pair(table), atol=1e-12)


@pytest.mark.parametrize("binary", [True, False])
def test_the_mean_correlation_is_the_same_in_blocks_of_any_size(
    binary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(binary=binary)
    each = _pair_by_pair(table)
    np.fill_diagonal(each, np.nan)
    for together in (7, 1024):
        monkeypatch.setattr("examiner.scores.common_rows.TOGETHER", together)
        np.testing.assert_allclose(mean_over_gaps(table), np.nanmean(each), rtol=1e-9)


@pytest.mark.parametrize("binary", [True, False])
def test_mean_correlations_without_groups_are_those_of_the_rows_left(
    binary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, group = _table(binary=binary), np.arange(90) % 12
    left = [mean_correlation(table[group != number]) for number in range(12)]
    for together in (7, 1024):
        monkeypatch.setattr("examiner.scores.common_rows.TOGETHER", together)
        np.testing.assert_allclose(means_over_gaps_without(table, group), left, rtol=1e-8)


@pytest.mark.parametrize("binary", [True, False])
def test_first_shares_without_groups_are_those_of_the_rows_left(binary: bool) -> None:
    table, group = _table(binary=binary), np.arange(90) % 12
    left = [first_share(standard_scores(table[group != number])) for number in range(12)]
    np.testing.assert_allclose(first_shares_without(table, group), left, rtol=1e-8)


def test_statistics_of_complete_tables_without_groups_are_those_of_the_rows_left() -> None:
    table, group = _complete(), np.arange(90) % 12
    parts = [table[group != number] for number in range(12)]
    means = [mean_correlation(part) for part in parts]
    np.testing.assert_allclose(means_over_gaps_without(table, group), means, rtol=1e-8)
    shares = [first_share(standard_scores(part)) for part in parts]
    np.testing.assert_allclose(first_shares_without(table, group), shares, rtol=1e-8)
    assert np.isnan(first_shares_without(np.ones((6, 3)), np.arange(6))).all()


def test_nothing_is_known_where_nothing_varies_or_is_shared() -> None:
    table = np.array([[1.0, np.nan], [1.0, np.nan], [np.nan, 2.0], [np.nan, 3.0]])
    assert np.isnan(mean_over_gaps(table))
    assert np.isnan(means_over_gaps_without(table, np.arange(4))).all()


def test_no_table_of_all_pairs_of_columns_is_made_for_a_mean() -> None:
    import tracemalloc

    rng = np.random.default_rng(1)
    table = (rng.random((20, 6000)) < 0.5).astype(float)
    table[rng.random(table.shape) < 0.6] = np.nan
    tracemalloc.start()
    mean_over_gaps(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000**2 * 8 / 2


@pytest.mark.parametrize("far", [1e2, 1e4, 1e7, 1e9])
def test_a_far_row_is_left_out_as_if_it_had_never_been_there(far: float) -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(24, 8)) + rng.normal(size=(24, 1))
    table[0] = far * np.abs(rng.normal(size=8))
    table[rng.random(table.shape) < 0.25] = np.nan
    table[0, 0] = far
    group = np.arange(24) % 6
    kept = [table[group != number] for number in range(6)]
    np.testing.assert_allclose(
        means_over_gaps_without(table, group), [mean_over_gaps(part) for part in kept], rtol=1e-6
    )
    np.testing.assert_allclose(
        first_shares_without(table, group),
        [first_share(standard_scores(part)) for part in kept],
        rtol=1e-6,
    )

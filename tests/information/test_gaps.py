"""Tables with gaps: sums over common rows say what looking pair by pair does."""

import numpy as np
import pytest
from scipy import stats

from examiner.information import general_factor
from examiner.information.general_factor import mean_correlations
from examiner.results import Results
from examiner.scores import correlate_columns


def _table(agents: int, *, binary: bool, gaps: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(agents, 1)) - rng.normal(size=(agents, 30))
    if binary:
        table = (table > 0).astype(float)
    else:
        table[:, 4] += 1e6
    table[:, 7] = 0.0
    table[11, 7] = 1.0  # varies by one row alone: without it, it is constant
    table[rng.random(table.shape) < gaps] = np.nan
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
    table = _table(90, binary=binary)
    monkeypatch.setattr("examiner.scores.common_rows.TOGETHER", 7)
    found, pairs = correlate_columns(table)
    np.testing.assert_allclose(found, _pair_by_pair(table), atol=1e-9)
    seen = np.isfinite(table).astype(int)
    np.testing.assert_array_equal(pairs, seen.T @ seen)


def test_ranks_of_two_values_correlate_as_the_values_do() -> None:
    table = _table(90, binary=True) * np.arange(1.0, 31.0) - 5.0
    ranked = correlate_columns(table, "spearman")[0]
    np.testing.assert_allclose(ranked, _pair_by_pair(table), atol=1e-12)


@pytest.mark.parametrize("binary", [True, False])
def test_the_mean_correlation_is_the_same_in_blocks_of_any_size(
    binary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(24, binary=binary)
    each = _pair_by_pair(table)
    np.fill_diagonal(each, np.nan)
    for together in (7, 1024):
        monkeypatch.setattr("examiner.scores.common_rows.TOGETHER", together)
        value = general_factor(Results.from_numpy(table), reps=0).mean_task_correlation.value
        np.testing.assert_allclose(value, np.nanmean(each), rtol=1e-9)


def _by_hand(table: np.ndarray, statistic: str, far: float = 0.0) -> tuple[float, float]:
    """The interval of the jackknife, from tables without one agent each."""
    left = [
        getattr(general_factor(Results.from_numpy(np.delete(table, row, 0)), reps=0), statistic)
        for row in range(len(table))
    ]
    values = np.array([part.value for part in left])
    value = getattr(general_factor(Results.from_numpy(table), reps=0), statistic).value
    spread = np.sqrt((len(table) - 1) * values.var())
    reach = stats.t(len(table) - 1).ppf(0.975) * spread
    least = 0.0 if statistic == "first_factor_share" else -1.0
    return max(value - reach, least), min(value + reach, 1.0)


@pytest.mark.parametrize("gaps", [0.0, 0.5])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("statistic", ["mean_task_correlation", "first_factor_share"])
def test_intervals_are_those_of_tables_without_one_agent_each(
    statistic: str, binary: bool, gaps: float
) -> None:
    table = _table(24, binary=binary, gaps=gaps)
    answer = getattr(general_factor(Results.from_numpy(table), reps=0), statistic)
    np.testing.assert_allclose(answer[1:], _by_hand(table, statistic), rtol=1e-7)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e7, 1e9])
def test_a_far_row_is_left_out_as_if_it_had_never_been_there(far: float) -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(24, 8)) + rng.normal(size=(24, 1))
    table[0] = far * np.abs(rng.normal(size=8))
    table[rng.random(table.shape) < 0.25] = np.nan
    table[0, 0] = far
    answer = general_factor(Results.from_numpy(table), reps=0).mean_task_correlation
    np.testing.assert_allclose(answer[1:], _by_hand(table, "mean_task_correlation"), rtol=1e-6)


def test_nothing_is_known_where_nothing_varies_or_is_shared() -> None:
    table = np.array([[1.0, np.nan], [1.0, np.nan], [np.nan, 2.0], [np.nan, 3.0]])
    nothing = general_factor(Results.from_numpy(table), reps=0)
    assert np.isnan(nothing.mean_task_correlation).all()
    same = general_factor(Results.from_numpy(np.ones((6, 3))), reps=0)
    assert np.isnan(same.first_factor_share).all()


def test_no_table_of_all_pairs_of_columns_is_made_for_a_mean() -> None:
    import tracemalloc

    rng = np.random.default_rng(1)
    table = (rng.random((20, 6000)) < 0.5).astype(float)
    table[rng.random(table.shape) < 0.6] = np.nan
    tracemalloc.start()
    mean_correlations(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000**2 * 8 / 2
